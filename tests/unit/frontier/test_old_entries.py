import pytest

from thresher.frontier.old_entries import read_old_entry
from thresher.records import RequestKind

URL = "https://a.example/x"


@pytest.mark.parametrize(
    ("url", "hops", "strategy_data", "kind"),
    [
        (URL, 0, {}, RequestKind.SEED),
        (URL, 1, {"layer": 2}, RequestKind.PAGE),
        (f"{URL}#robots-483210", 0, {}, RequestKind.ROBOTS),
        (f"{URL}#request-0f3a", 0, {"request": {}}, RequestKind.TICKET),
        (URL, 0, {"probe": True}, RequestKind.PROBE),
        (URL, 0, {"feed": 1}, RequestKind.FEED),
        (URL, 0, {"sitemap": 1, "for": "b.example"}, RequestKind.SITEMAP),
    ],
)
def test_the_kind_of_an_entry_is_known_from_its_signs(url, hops, strategy_data, kind):
    assert read_old_entry(url, hops, 0, strategy_data).kind is kind


def test_the_carry_of_a_side_request_becomes_fields():
    entry = read_old_entry(URL, 2, 0, {"sitemap": 1, "for": "b.example"})
    assert (entry.depth_left, entry.strategy_data, entry.for_host) == (2, {}, "b.example")


def test_a_strategy_keeps_its_data():
    assert read_old_entry(URL, 2, 1, {"layer": 2}) == (RequestKind.PAGE, 1, {"layer": 2}, "")
