"""A document is written as plain HTML, whatever its text contains."""

from thresher.parsing.documents.document import MAX_CHARACTERS, MAX_LINKS, DocumentHtml, join_lines
from thresher.parsing.html import parse_markup

URL = "http://a.example/x.pdf"


def test_text_is_escaped_and_links_are_links():
    html = DocumentHtml(title="<b>A & B</b>", meta={"author": 'O"Brien'})
    html.add_heading(2, [("1 < 2", "")])
    html.add_paragraph([("see ", ""), ("<here>", '/x?a="b"&c'), ("\x00\ud800\uffff.", "")])
    page = parse_markup(URL, str(html))
    assert page.title == "<b>A & B</b>"
    assert page.headings == ("1 < 2",)
    assert page.text == "<b>A & B</b> 1 < 2 see <here>."
    assert [(link.url, link.anchor) for link in page.links] == [("http://a.example/x?a=%22b%22&c", "<here>")]


def test_items_and_rows_in_succession_are_one_list_and_one_table():
    html = DocumentHtml()
    html.add_item([("one", "")])
    html.add_item([("two", "")])
    html.add_row([[("a", "")], [("b", "")]])
    html.add_row([[("c", "")], [("d", "")]])
    html.add_paragraph([("end", "")])
    source = str(html)
    assert source.count("<ul>") == source.count("</ul>") == source.count("<table>") == source.count("</table>") == 1
    assert parse_markup(URL, source).text == "one one two a b c d end"


def test_without_a_title_the_first_part_is_the_title():
    html = DocumentHtml()
    html.add_paragraph([("  ", "")])
    html.add_heading(1, [("The ", ""), ("beginning", "")])
    assert "<title>The beginning</title>" in str(html)


def test_text_and_links_are_limited():
    html = DocumentHtml()
    html.add_paragraph([("x" * (MAX_CHARACTERS - 1), "")])
    assert not html.is_full
    html.add_paragraph([("yy", "")])
    assert html.is_full
    html.add_paragraph([("zz", "")])
    assert "<p>y</p>" in str(html)
    assert "z" not in str(html)
    linked = DocumentHtml()
    linked.add_paragraph([("a", "http://a.example/")] * (MAX_LINKS + 5))
    assert str(linked).count("<a ") == MAX_LINKS


def test_lines_are_joined_as_their_language_is_written():
    assert join_lines([[("two", "")], [("words", "")]]) == [("two", ""), (" ", ""), ("words", "")]
    assert join_lines([[("太阳能", "")], [("电池", "")]]) == [("太阳能", ""), ("电池", "")]
    assert join_lines([[("effi-", "")], [("ciency", "")]]) == [("effi", ""), ("ciency", "")]
    assert join_lines([[("1990-", "")], [("95", "")]]) == [("1990-", ""), (" ", ""), ("95", "")]
    assert join_lines([[("a", "u")], [("link", "u")]]) == [("a", "u"), (" ", "u"), ("link", "u")]
