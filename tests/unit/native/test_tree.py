"""The compiled walk finds what the walk over the nodes of selectolax finds."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from thresher.native import compiled
from thresher.parsing import dom, html

pytestmark = pytest.mark.skipif(compiled is None, reason="the walk is not compiled")

PIECES = (
    *(
        "text ",
        " ",
        "é 港口",
        "&nbsp;",
        "\0",
        "<br>",
        "<!-- c -->",
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<h2>",
        "</h2>",
        "<li>",
    ),
    *("<table><tr><td>", "</table>", "<b>", "</b>", "<select><option>", "</select>", "<textarea>", "<p title='a > b'>"),
    *(
        "<a href=/x>",
        "<a href='#top' data-href=/y>",
        "<a href=javascript:go()>",
        "<a name=n>",
        "</a>",
        "<DIV><A HREF=/up>",
    ),
    *("<a href=/z rel=nofollow title='a title'>", "<img alt=picture src=p.png>", "<area href=/a alt=w>"),
    *("<svg><a xlink:href=/s>", "<svg><title>", "</svg>", "<math><mi>", "</math>", "<x-card>", "</x-card>"),
    *("<noscript><a href=/n>n</a>", "</noscript>", "<script>", "</script>", "<template><a href=/t>", "</template>"),
    *("<iframe src=/f>", "</iframe>", "<frameset><frame src=/g>"),
)
DOCUMENTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=40).map("".join)


def content(found):
    """Return all that a walk found, with the paths of its links."""
    paths = {}
    headings = {id(heading): number for number, heading in enumerate(found.headings)}
    links = [
        (
            link.target,
            link.path or html._tag_path(link.node, paths),
            (link.start, link.end, link.block_number, link.block_start, link.block_end, link.headings_above),
            headings.get(id(link.heading)),
            link.picture,
            [link.attributes.get(name) or "" for name in ("rel", "alt", "title")],
        )
        for link in found.links
    ]
    hidden = [node.mem_id for node in found.hidden_links]
    return found.pieces, found.blocks, found.outer_blocks, list(map(repr, found.headings)), links, hidden


def test_nodes_have_the_layout_that_the_compiled_walk_expects():
    assert dom._TREE is not None


@given(DOCUMENTS)
def test_both_walks_find_the_same(markup):
    tree = LexborHTMLParser(markup)
    assert content(dom.walk(tree, markup)) == content(dom.walk_nodes(tree))


@pytest.mark.parametrize("markup", ["<x-card><a href=/x>y</a></x-card>", "<svg><foreignObject><a href=/x>y</a>"])
def test_a_link_in_an_element_without_a_known_name_is_found_in_python(markup, monkeypatch):
    tree = LexborHTMLParser(markup)
    with pytest.raises(dom._TREE.NotSupported):
        dom._TREE.walk(tree.root.mem_id, dom.Walk(), {})
    assert [link.target for link in dom.walk(tree, markup).links] == ["/x"]


def test_another_layout_is_noticed():
    tree = LexborHTMLParser("<div><p>text</p><a href=1 src=2 rel=3 alt=4></a></div>")
    nodes = [tree.css_first("div"), tree.css_first("p"), tree.css_first("p").child, tree.css_first("a")]
    assert dom._TREE.probe([node.mem_id for node in nodes], "text") is None
    assert dom._TREE.probe([node.mem_id for node in reversed(nodes)], "text") is None


def test_one_compiled_module_without_the_other_is_not_used():
    program = (
        "import sys; sys.modules['thresher.native.tree'] = None; import thresher.parsing.dom as d; print(d.compiled)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"
