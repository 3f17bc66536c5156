"""A link carries its own words, the words around it, and its place."""

import pytest

from thresher.parsing.html import MAX_ANCHOR_CHARACTERS, MAX_PATH_ELEMENTS, parse

PAGE = "http://a.example/dir/page.html"


def links_of(markup):
    return parse(PAGE, markup.encode()).links


def link_of(markup):
    [link] = links_of(markup)
    return link


def test_addresses_are_absolute_and_canonical():
    assert link_of("<a href='../X?utm_source=y#z'>x</a>").url == "http://a.example/X"


def test_what_leads_to_no_page_is_left_out_and_does_not_count():
    links = links_of("<a href='mailto:a@b.c'>m</a><a href='javascript:x()'>j</a><a href=x>x</a><a href=y>y</a>")
    assert [(link.position, link.anchor) for link in links] == [(0, "x"), (1, "y")]


def test_the_same_address_may_stand_twice():
    assert [link.anchor for link in links_of("<a href=x>one</a><a href=x>two</a>")] == ["one", "two"]


@pytest.mark.parametrize(
    ("markup", "anchor"),
    [
        ("<a href=x title=t>  own\n words </a>", "own words"),
        ("<a href=x title=t><img alt='a  picture'></a>", "a picture"),
        ("<a href=x title=t><img></a>", "t"),
        ("<a href=x>words <img alt=picture></a>", "words"),
        ("<map><area href=x alt=region></map>", "region"),
        ("<iframe src=x title=frame></iframe>", "frame"),
        ("<a href=x></a>", ""),
    ],
)
def test_the_anchor_is_text_or_else_a_picture_or_else_a_title(markup, anchor):
    assert link_of(markup).anchor == anchor


def test_an_anchor_ends_somewhere():
    assert len(link_of(f"<a href=x>{'word ' * 1_000}</a>").anchor) == MAX_ANCHOR_CHARACTERS


def test_the_context_is_ten_words_on_each_side_without_the_anchor():
    before, after = [f"b{n}" for n in range(20)], [f"a{n}" for n in range(20)]
    link = link_of(f"<p>{' '.join(before)} <a href=x>anchor</a> {' '.join(after)}</p>")
    assert link.context.split() == before[-10:] + after[:10]


def test_in_chinese_the_context_is_ten_pairs_on_each_side():
    link = link_of("<p>天地玄黄宇宙洪荒日月盈昃辰宿列张<a href=x>锚</a>寒来暑往秋收冬藏闰余成岁律吕调阳</p>")
    assert link.context == "宙洪荒日月盈昃辰宿列张 寒来暑往秋收冬藏闰余成"


def test_the_context_stays_inside_the_block():
    link = link_of("<div>far <div>near <a href=x>anchor</a> by</div> away</div>")
    assert link.context == "near by"


def test_paragraphs_and_list_items_do_not_bound_the_context():
    one, two = links_of("<ul><li><a href=1>one</a> first<li><a href=2>two</a> second</ul>")
    assert (one.context, two.context) == ("first two second", "one first second")


def test_text_of_inner_blocks_is_not_context_of_the_outer_one():
    link = link_of("<div>before <div>inner text</div> <a href=x>anchor</a></div>")
    assert link.context == "before"


def test_the_nearest_heading_above_goes_with_a_link():
    links = links_of("<a href=0>a</a><h1>One</h1><a href=1>a</a><h2></h2><a href=2>a</a><h2>Two</h2><a href=3>a</a>")
    assert [link.heading for link in links] == ["", "One", "One", "Two"]


def test_the_tag_path_leads_from_the_root_to_the_link():
    assert link_of("<ul><li><a href=x>a</a></ul>").tag_path == "html/body/ul/li/a"


def test_a_very_deep_tag_path_is_cut():
    link = link_of("<div>" * 500 + "<a href=x>a</a>")
    assert link.tag_path.count("/") < MAX_PATH_ELEMENTS
    assert link.tag_path.endswith("/a")


@pytest.mark.parametrize("rel", ["nofollow", "UGC", "external sponsored"])
def test_a_page_may_ask_not_to_follow_a_link(rel):
    assert link_of(f"<a rel='{rel}' href=x>a</a>").nofollow


def test_other_relations_are_followed():
    assert not link_of("<a rel='external noopener' href=x>a</a>").nofollow
    assert not link_of("<a rel href=x>a</a>").nofollow


@pytest.mark.parametrize(
    ("markup", "url", "anchor"),
    [
        ("<head><link rel=next href='?page=2'>", "http://a.example/dir/page.html?page=2", ""),
        ("<head><link rel=Alternate hreflang=de href=/de/>", "http://a.example/de/", ""),
        ("<p>x<noscript><a href=/plain>without scripts</a></noscript>", "http://a.example/plain", "without scripts"),
        ("<a data-href=/x>words</a>", "http://a.example/x", "words"),
        ("<a href='#' data-href=/x>words</a>", "http://a.example/x", "words"),
        ("<a href='javascript:void(0)' data-href=/x>words</a>", "http://a.example/x", "words"),
        ("<table><tr data-href=/row><td>a <td>row</table>", "http://a.example/row", "a row"),
        ("<svg><a xlink:href=/drawn><text>words</text></a></svg>", "http://a.example/drawn", "words"),
    ],
)
def test_links_in_other_places_are_found(markup, url, anchor):
    link = link_of(markup)
    assert (link.url, link.anchor) == (url, anchor)


def test_weak_links_come_last_and_only_if_nothing_else_links_there():
    head = "<link rel=next href=2><link rel=next href=3><link rel=alternate hreflang=de href=page.html>"
    body = "<noscript><a href=1>again</a> <a href=4>four</a></noscript><div data-href=2>two</div><a href=1>one</a>"
    links = links_of(f"<head>{head}</head><p>words {body} <a href=2>two</a>")
    assert [link.url.rpartition("/")[2] for link in links] == ["1", "2", "4", "3"]
    assert [link.position for link in links] == [0, 1, 2, 3]
    assert [link.context for link in links[2:]] == ["", ""]


def test_text_for_browsers_without_scripts_is_not_text_of_the_page():
    assert parse(PAGE, b"<p>seen<noscript><a href=/x>unseen</a></noscript>").text == "seen"


def test_a_weak_link_is_in_no_block():
    page = parse(PAGE, b"<head><link rel=next href=2></head><div>one block of words</div>")
    assert page.links[0].block == len(page.blocks)


def test_weak_links_may_be_marked_too():
    assert link_of("<noscript><a rel=nofollow href=/x>x</a></noscript>").nofollow


def test_what_is_no_link_of_the_page_stays_out():
    share = "<div class=fb-like data-href=http://a.example/shared></div><style data-href=/style.css></style>"
    assert links_of(f"{share}<head><link rel=prev href=/0><link rel=stylesheet href=/x.css>") == ()


def test_a_long_page_keeps_the_links_of_its_text():
    menu = "".join(f"<li><a href=/menu/{number}>menu {number}</a>" for number in range(2_000))
    page = parse(PAGE, f"<ul>{menu}</ul><p>In the text <a href=/text>a link</a></p>".encode())
    assert page.links[-1].url == "http://a.example/text"


@pytest.mark.parametrize(
    ("charset", "words", "query"),
    [
        ("gb18030", "中文", "%D6%D0%CE%C4"),
        ("shift_jis", "日本", "%93%FA%96{"),
        ("windows-1251", "мир", "%EC%E8%F0"),
        ("euc-kr", "한국", "%C7%D1%B1%B9"),
        ("windows-1251", "мир 日", "%EC%E8%F0%20%26%2326085%3B"),
        ("utf-8", "мир", "%D0%BC%D0%B8%D1%80"),
        ("utf-16", "мир", "%D0%BC%D0%B8%D1%80"),
    ],
)
def test_a_query_is_written_in_the_charset_of_its_page_and_a_path_in_utf_8(charset, words, query):
    source = f"<meta charset={charset}><a href='/p/ä?q={words}&amp;x=1'>{words}</a>"
    [link] = parse(PAGE, source.encode(charset, "xmlcharrefreplace"), f"text/html; charset={charset}").links
    assert link.url == f"http://a.example/p/%C3%A4?q={query}&x=1"
