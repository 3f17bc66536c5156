"""Links lead down, up, aside, across, or out."""

import pytest

from thresher.urls.link_types import LinkType, link_type


@pytest.mark.parametrize(
    ("parent", "child", "expected"),
    [
        ("http://a.com/x/p.html", "http://b.com/x/p.html", LinkType.OUTWARD),
        ("http://a.com/x/p.html", "http://sub.a.com/x/q.html", LinkType.OUTWARD),
        ("http://www.a.com/x/p.html", "https://a.com/x/q.html", LinkType.SIBLING),
        ("http://a.com/x/p.html", "http://a.com/x/q.html?r=/y/z/", LinkType.SIBLING),
        ("http://a.com/x/", "http://a.com/x/q.html", LinkType.DOWNWARD),
        ("http://a.com/x/index.html", "http://a.com/x/q.html", LinkType.DOWNWARD),
        ("http://a.com/x/q.html", "http://a.com/x/", LinkType.UPWARD),
        ("http://a.com/x/q.html", "http://a.com/x/Default.aspx", LinkType.UPWARD),
        ("http://a.com/x/", "http://a.com/x/index.html", LinkType.SIBLING),
        ("http://a.com/x/p.html", "http://a.com/x/y/q.html", LinkType.DOWNWARD),
        ("http://a.com/x/y/p.html", "http://a.com/x/q.html", LinkType.UPWARD),
        ("http://a.com/x/y/p.html", "http://a.com/", LinkType.UPWARD),
        ("http://a.com/x/p.html", "http://a.com/xy/q.html", LinkType.CROSSWISE),
        ("http://a.com/x/y/p.html", "http://a.com/z/q.html", LinkType.CROSSWISE),
    ],
)
def test_a_link_leads_in_one_of_five_directions(parent, child, expected):
    assert link_type(parent, child) is expected
