"""The tree of Schools Wikipedia becomes a web with the subjects of Wikispeedia."""

import pytest

from thresher.errors import StoreError
from thresher_lab.webs.importers.wikispeedia import from_wikispeedia

CATEGORIES = """# article, then category
%C3%85land\tsubject.Countries
%C3%85land\tsubject.Geography.European_Geography.European_Countries
Cat\tsubject.Science.Biology
"""


@pytest.fixture
def tree(tmp_path):
    files = {
        "wpcd/wp/c/Cat.htm": "<title>Cat</title>",
        "wpcd/wp/%25/%25C3%2585land.htm".replace("%25", "%"): "<title>Åland</title>",
        "wpcd/wp/index/subject.Countries.htm": "<title>Countries</title>",
        "wpcd/index.htm": "<title>Start</title>",
        "wpcd/disclaimer.htm": "<title>Disclaimer</title>",
        "wpcd/images/42/1.png.htm": "<title>A picture</title>",
        "wpcd/css/main.css": "p {}",
        "graph/categories.tsv": CATEGORIES,
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def pages(tree):
    return {page.url.removeprefix("http://schools-wikipedia.org/"): page for page in from_wikispeedia(tree)}


def test_articles_have_the_subjects_of_the_table(pages):
    assert pages["wp/c/Cat.htm"].topics == ("Science/Biology",)


def test_escapes_in_the_names_of_files_are_escaped_again(pages):
    article = pages["wp/%25/%25C3%2585land.htm"]
    assert article.topics == ("Countries", "Geography/European_Geography/European_Countries")
    assert article.html == "<title>Åland</title>"


def test_every_page_says_of_which_kind_it_is(pages):
    assert {url: page.extra["kind"] for url, page in pages.items()} == {
        "wp/c/Cat.htm": "article",
        "wp/%25/%25C3%2585land.htm": "article",
        "wp/index/subject.Countries.htm": "index",
        "index.htm": "index",
        "disclaimer.htm": "other",
    }


def test_another_tree_is_refused(tmp_path):
    with pytest.raises(StoreError, match="no Schools Wikipedia"):
        next(from_wikispeedia(tmp_path))
