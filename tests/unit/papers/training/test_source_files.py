"""Example pages and links are read from files of several forms, and what is wrong is named with its place."""

import json

import pytest

from thresher.errors import ConfigError
from thresher_papers.training.source_files import NO_CLASS, LinkFile, read_examples

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "file"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_urls_alone_are_targets(write):
    assert read_examples(write(f"# targets\n{A}\n\n{B}\n{A}\n")) == {NO_CLASS: [A, B]}


def test_a_class_stands_before_a_tab(write):
    found = read_examples(write(f"path\turl\nSports/Tennis\t{A}\n体育/网球\t{B}\nSports/Tennis\t{C}\n"))
    assert found == {"Sports/Tennis": [A, C], "体育/网球": [B]}


def test_json_objects_are_those_of_a_taxonomy(write):
    assert read_examples(write(json.dumps({"path": "Top/Arts", "url": A, "title": "A"}))) == {"Arts": [A]}


@pytest.mark.parametrize("line", ["Sports\tnot a url", "ftp://a.example/", '{"path": "Arts"}', "{"])
def test_a_wrong_line_is_named(write, line):
    with pytest.raises(ConfigError, match=r"file:2: "):
        read_examples(write(f"{A}\n{line}\n"))


def test_a_file_without_examples_is_an_error(write, tmp_path):
    with pytest.raises(ConfigError, match="lists no example pages"):
        read_examples(write("# nothing\n"))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_examples(tmp_path / "none")


def test_back_links_come_from_tabs_and_from_exported_links(write):
    rows = [
        f"{A}\t{C}",
        json.dumps({"source": B, "target": C, "anchor": "c"}),
        f"{A}\t{B}",
        f"{C}\t{C}",
        "{",
        "no link",
    ]
    links = LinkFile(write("source\ttarget\n" + "\n".join(rows)))
    assert links.linking_to([C, A]) == {C: [A, B]}
    assert links.linking_to([B]) == {B: [A]}


def test_urls_are_compared_in_their_canonical_form(write):
    links = LinkFile(write("HTTP://B.example:80/x#part\thttp://A.example\n"))
    assert links.linking_to([A]) == {A: ["http://b.example/x"]}


def test_the_back_links_of_one_page_are_limited(write):
    links = LinkFile(write("".join(f"{A}{n}\t{B}\n" for n in range(9))), most=3)
    assert len(links.linking_to([B])[B]) == 3


def test_a_file_without_links_is_an_error(write, tmp_path):
    with pytest.raises(ConfigError, match="has no links; each line"):
        LinkFile(write("a\tb\n"))
    with pytest.raises(ConfigError, match="no file of links"):
        LinkFile(tmp_path / "none")
