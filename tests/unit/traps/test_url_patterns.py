"""URLs that a site makes up without end are known by their shape."""

import pytest

from thresher.traps.detector import trap


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/",
        "http://a.example/a/b/a/c?x=1&y=2",
        "http://a.example/1/2/3/4/5/6/7/8/9/10/11/12",
        "http://a.example/?" + "&".join(f"k{n}=1" for n in range(8)),
        "http://a.example/?" + "&".join("k=1" for _ in range(20)),
    ],
)
def test_ordinary_urls_are_no_traps(url):
    assert trap(url) == ""


def test_a_segment_may_stand_twice_but_not_three_times():
    assert trap("http://a.example/x/y/x") == ""
    assert trap("http://a.example/x/x/x") == "path repeats itself"
    assert trap("http://a.example/x/y/x/z/x/index.html") == "path repeats itself"


def test_a_path_ends_after_twelve_segments():
    assert trap("http://a.example/1/2/3/4/5/6/7/8/9/10/11/12/13") == "path too long"


def test_a_query_has_at_most_eight_keys():
    assert trap("http://a.example/?" + "&".join(f"k{n}=1" for n in range(9))) == "too many query keys"
