import pytest

from thresher.records import Outcome
from thresher.search.index import SearchIndex
from thresher.search.query import SearchQuery
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.urls.canonical import fingerprint


def page(name, text, *, title="", at=1.0, relevance=0.5, links=(), **more):
    url = name if "://" in name else f"http://a.example/{name}"
    return PageRecord(
        **{
            "fingerprint": fingerprint(url),
            "url": url,
            "status": 200,
            "outcome": Outcome.DONE,
            "fetched_at": at,
            "page": True,
            "title": title,
            "language": "en",
            "relevance": relevance,
            "relevant": relevance > 0.1,
            "text": text,
            "links": [
                FoundLink(url=f"http://a.example/{target}", anchor=anchor, score=0.5, parts={})
                for target, anchor in links
            ],
            **more,
        }
    )


class World:
    """A crawl's folder with segments and an index."""

    def __init__(self, root):
        self.root = root
        self.index = SearchIndex(root, root / "pages")
        self.writers = {}

    def keep(self, *records, worker="w1"):
        if worker not in self.writers:
            self.writers[worker] = PageStoreWriter(self.root / "pages" / f"{worker}.db")
        self.writers[worker].write(records)

    def find(self, typed, **how):
        self.index.catch_up()
        names = {}
        for writer in self.writers.values():
            names.update(writer._db.execute("SELECT fingerprint, url FROM page"))
        found = self.index.search(SearchQuery.read(typed), **how)
        return [names[each.fingerprint].removeprefix("http://a.example/") for each in found]

    def reopen(self):
        self.index.close()
        self.index = SearchIndex(self.root, self.root / "pages")

    def close(self):
        self.index.close()
        for writer in self.writers.values():
            writer.close()


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    yield world
    world.close()
