"""One pass over the tree finds text, headings and links where they stand."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from thresher.parsing.dom import MAX_LINKS, walk


def walked(markup):
    return walk(LexborHTMLParser(markup), markup)


def text_of(markup):
    return walked(markup).text()


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<b>J</b>ohn", "John"),
        ("<b>John</b> <i>Doe</i>", "John Doe"),
        ("南开<em>大学</em>", "南开大学"),
        ("<p>a</p><p>b</p>", "a b"),
        ("<p>a</p>b", "a b"),
        ("<li>a<li>b", "a b"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a b"),
        ("a<br>b<hr>c", "a b c"),
        ("<div>a</div><span>b</span>", "a b"),
        ("<x-card>a</x-card><x-card>b</x-card>", "a b"),
        ("a<!-- hidden -->b", "ab"),
        ("  a\n\t&nbsp; b  ", "a b"),
    ],
)
def test_elements_that_break_the_line_part_words_and_others_do_not(markup, text):
    assert text_of(markup) == text


@pytest.mark.parametrize(
    "markup",
    [
        "<script>hidden</script>",
        "<style>hidden</style>",
        "<noscript><p>hidden</p></noscript>",
        "<template><p>hidden</p></template>",
        "<iframe src=x>hidden</iframe>",
        "<svg><title>hidden</title></svg>",
        "<title>hidden</title>",
    ],
)
def test_what_nobody_sees_is_no_text(markup):
    assert text_of(f"<body>before {markup} after") == "before after"


def test_links_in_hidden_places_are_not_found():
    assert walked("<body><noscript><a href=/x>x</a></noscript>").links == []


def test_headings_hold_all_their_text():
    found = walked("<h1>One <a href=/x>two</a></h1>between<h2>three</h2>")
    assert [found.text(heading) for heading in found.headings] == ["One two", "three"]


def test_links_are_found_in_order_with_their_own_words():
    found = walked("<a href=1>one <b>bold</b></a> <a name=x>no link</a> <a href=2><div>two</div></a>")
    assert [(link.target, found.text(link)) for link in found.links] == [("1", "one bold"), ("2", "two")]


def test_frames_and_areas_are_links():
    found = walked("<map><area href=a></map><iframe src=b></iframe>")
    assert [link.target for link in found.links] == ["a", "b"]
    found = walked("<frameset><frame src=a><frame src=b></frameset>")
    assert [link.target for link in found.links] == ["a", "b"]


def test_a_jump_within_the_page_is_no_link():
    assert walked("<a href='#top'>top</a><a href=''>self</a>").links == []


def test_the_links_of_a_page_are_limited():
    found = walked("<a href=x>y</a>" * (MAX_LINKS + 5))
    assert len(found.links) == MAX_LINKS
    assert found.text() == "y" * (MAX_LINKS + 5)
