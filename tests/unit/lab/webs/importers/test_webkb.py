"""The tree of WebKB becomes a web whose topics are kinds of pages."""

import pytest

from thresher.errors import StoreError
from thresher_lab.webs.importers.webkb import from_webkb, split_answer

ANSWER = b"Date: Sunday, 01-Dec-96 19:26:46 GMT\nContent-type: text/html\n\n<title>CS 101</title>\n\n<p>caf\xe9"


@pytest.fixture
def tree(tmp_path):
    for place in ("course/cornell", "student/misc"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "course/cornell/http:^^www.cs.cornell.edu^CS101^").write_bytes(ANSWER)
    (tmp_path / "student/misc/http:^^www.cs.miami.edu^~ann^index.html").write_bytes(ANSWER)
    return tmp_path


def test_the_names_of_files_are_addresses(tree):
    assert [page.url for page in from_webkb(tree)] == [
        "http://www.cs.cornell.edu/CS101/",
        "http://www.cs.miami.edu/~ann/index.html",
    ]


def test_the_folders_are_class_and_university(tree):
    assert [(page.topics, page.extra["site"]) for page in from_webkb(tree)] == [
        (("course",), "cornell"),
        (("student",), "misc"),
    ]


def test_headers_and_markup_are_parted_at_the_first_empty_line(tree):
    page = next(from_webkb(tree))
    assert page.html == "<title>CS 101</title>\n\n<p>café"
    assert page.extra["headers"] == {"date": "Sunday, 01-Dec-96 19:26:46 GMT", "content-type": "text/html"}


def test_an_answer_may_lack_headers():
    assert split_answer(b"<html>\n\n<p>x") == ({}, "<html>\n\n<p>x")


def test_another_tree_is_refused(tmp_path):
    with pytest.raises(StoreError, match="no WebKB"):
        next(from_webkb(tmp_path))
