"""A tdmrep.json is read as the TDM Reservation Protocol has it, and what is not valid in it reserves nothing."""

import json

import pytest

from thresher.parsing.opt_outs import denied_uses
from thresher.politeness.robots import MAX_STATEMENTS
from thresher.politeness.tdmrep import MAX_CHARACTERS, reservation_signals, reservations_in

RULES = [
    {"location": "/open/*.pdf$", "tdm-reservation": 0},
    {"location": "/open/", "tdm-reservation": "0", "tdm-policy": "https://a.example/p.json"},
    {"location": "/a%20b", "tdm-reservation": 0},
    {"location": "/", "tdm-reservation": 1},
]
PATHS = {"/": True, "/open/x": False, "/open/x.pdf": False, "/a%20b/c": False, "/Open/x": True, "/x?y=1#z": True}


def reserved(text, path="/x"):
    return denied_uses(reservation_signals(text, f"http://a.example{path}")) == {"tdm"}


def test_the_first_rule_that_is_about_a_url_counts():
    text = json.dumps(RULES)
    assert {path: reserved(text, path) for path in PATHS} == PATHS


def test_a_url_without_a_rule_has_no_signal():
    assert reservation_signals('[{"location": "/a/", "tdm-reservation": 1}]', "http://a.example/b") == []


def test_a_policy_is_a_signal_of_its_own():
    signals = reservation_signals(json.dumps(RULES), "http://a.example/open/x")
    assert [(each.statement, each.value) for each in signals] == [
        ("tdm-reservation", "0"),
        ("tdm-policy", "https://a.example/p.json"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not JSON",
        '{"location": "/", "tdm-reservation": 1}',
        '[1, "/", null, [], {}]',
        '[{"location": "/"}]',
        '[{"tdm-reservation": 1}]',
        '[{"location": "x", "tdm-reservation": 1}]',
        '[{"location": "/\\nAllow: /", "tdm-reservation": 1}]',
        '[{"location": ["/"], "tdm-reservation": 1}]',
        '[{"location": "/", "tdm-reservation": true}]',
        "[" * 50_000,
        json.dumps([*RULES, "x" * MAX_CHARACTERS]),
    ],
)
def test_what_is_not_valid_reserves_nothing(text):
    assert not reserved(text)


def test_rules_after_one_that_is_not_valid_count():
    assert reserved('[{"location": 1}, {"location": "/", "tdm-reservation": 1}]')


def test_odd_locations_break_nothing():
    for location in ("/\ud800", "/#x", "/\0", "/%", "/%zz", "*" * 200, "/$$", "/a" * 5_000):
        assert reserved(json.dumps([{"location": location, "tdm-reservation": 1}])) in (True, False)


def test_the_number_of_rules_is_limited():
    text = json.dumps([{"location": f"/{number}", "tdm-reservation": 1} for number in range(MAX_STATEMENTS + 5)])
    assert len(reservations_in(text)) == MAX_STATEMENTS
