"""The fair view of a web does not give its answers away."""

import os
import re
from pathlib import Path

import pytest

from thresher_lab.webs.importers.page_filter import view, without_labels
from thresher_lab.webs.importers.pagefile import SourcePage, read_pages

ARTICLE = """<html><head><meta content="noindex,nofollow" name="robots" /></head><body>
<h3 id="siteSub"><a href="../../index.htm">Schools Selection</a>. Related subjects:
<a href="../index/subject.Science.Biology.htm">Biology</a>&#59; <a href="../index/subject.Pets.htm">Pets</a></h3>
<p>Cats are <a href="../../wp/b/Body_mass_index.htm">light</a>.</p></body></html>"""


def page(url="http://a.example/", **extra):
    return SourcePage(url=url, html=ARTICLE, extra=extra)


def test_an_article_loses_its_subjects_and_keeps_its_text():
    html = without_labels(ARTICLE)
    assert '<h3 id="siteSub">Schools Selection</h3>' in html
    assert '<a href="../../wp/b/Body_mass_index.htm">light</a>' in html
    assert "Biology" not in html


def test_an_article_may_be_found_by_obedient_crawlers():
    assert "robots" not in without_labels(ARTICLE)


def test_the_words_related_subjects_may_stand_in_an_article():
    html = "<h3 id='siteSub'>x</h3><h3>Other</h3><p>On related subjects: <b>Related subjects: none</b></p><h3>End</h3>"
    assert without_labels(html) == html


def test_wikispeedia_is_its_articles():
    pages = [page(kind="article"), page(kind="index"), page(kind="other")]
    assert [each.extra["kind"] for each in view("wikispeedia").select(iter(pages))] == ["article"]


def test_the_index_can_be_asked_for():
    pages = [page(kind="article"), page(kind="index")]
    kept = list(view("wikispeedia+index").select(iter(pages)))
    assert len(kept) == 2
    assert "subject.Science" in kept[0].html


def test_webkb_is_the_four_universities():
    pages = [page(site="cornell"), page(site="misc")]
    assert [each.extra["site"] for each in view("webkb").select(iter(pages))] == ["cornell"]
    assert len(list(view("webkb+misc").select(iter(pages)))) == 2
    assert view("webkb+misc").source == "webkb"


def test_any_other_name_is_a_whole_file():
    other = view("mine")
    assert other.source == "mine"
    assert next(other.select(iter([page()]))) == page()


WIKISPEEDIA = Path(os.environ.get("THRESHER_WEBS", "")) / "wikispeedia.pages.jsonl.zst"
LEAK = re.compile(r"""Related subjects:|href\s*=\s*["'][^"']*(?:subject\.|/index/|(?:^|/)index\.htm)""")


@pytest.mark.skipif(not WIKISPEEDIA.is_file(), reason="set THRESHER_WEBS to a folder with wikispeedia.pages.jsonl.zst")
def test_no_article_of_schools_wikipedia_names_its_subjects():
    articles = 0
    for article in view("wikispeedia").select(read_pages(WIKISPEEDIA)):
        articles += 1
        assert article.topics, article.url
        assert not LEAK.search(article.html), article.url
    assert articles == 4_654
