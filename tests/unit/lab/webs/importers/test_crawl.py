"""A finished crawl becomes a web in which other strategies can be tried."""

import pytest

from thresher.errors import CrawlNotFound
from thresher.parsing.html import parse
from thresher.records import Outcome
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.urls.canonical import fingerprint
from thresher_lab.webs.importers.crawl import from_crawl


def record(url, *, relevant, text="", links=(), page=True):
    return PageRecord(
        fingerprint=fingerprint(url),
        url=url,
        status=200 if page else 404,
        outcome=Outcome.DONE if page else Outcome.FAILED,
        fetched_at=1.0,
        page=page,
        title="Sea & sky",
        language="en",
        relevance=0.9 if relevant else 0.1,
        relevant=relevant,
        text=text,
        links=[FoundLink(url=link, anchor=f"to {link}", score=0.5, parts={}) for link in links],
    )


@pytest.fixture
def crawl(tmp_path):
    folder = tmp_path / "ships"
    folder.mkdir()
    (folder / "topic.yaml").write_text("topic: ships\n")
    writer = PageStoreWriter(folder / "pages" / "w1.db")
    writer.write(
        [
            record("http://a.example/x", relevant=False),
            record(
                "http://a.example/", relevant=True, text="Sea & sky Ships <3 harbours", links=["http://a.example/x"]
            ),
            record("http://a.example/gone", relevant=False, page=False),
        ]
    )
    writer.close()
    return folder


def test_pages_that_were_judged_relevant_are_labelled_with_the_crawls_name(crawl):
    assert {page.url: page.topics for page in from_crawl(crawl)} == {
        "http://a.example/": ("ships",),
        "http://a.example/x": (),
    }


def test_the_markup_brings_title_text_and_links_back(crawl):
    page = next(from_crawl(crawl))
    parsed = parse(page.url, page.html.encode())
    assert parsed.title == "Sea & sky"
    assert parsed.text.startswith("Sea & sky Ships <3 harbours")
    assert [(link.url, link.anchor) for link in parsed.links] == [("http://a.example/x", "to http://a.example/x")]


def test_a_folder_without_a_crawl_is_an_error(tmp_path):
    with pytest.raises(CrawlNotFound):
        next(from_crawl(tmp_path))
