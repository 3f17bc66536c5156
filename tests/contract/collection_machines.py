"""Machines that upload to a collection, over object storage of every kind."""

from contextlib import closing

from thresher.collection.manifest import FILE, ManifestEntry
from thresher.collection.replica import Replica
from thresher.collection.uploader import CollectionUploader
from thresher.records import Outcome
from thresher.runner.uploads import build_uploader
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint


def upload_waiting(crawl):
    """Upload what waits in a crawl folder now; return the number of segments."""
    with closing(build_uploader(crawl, owner=not crawl.folder.joined.is_file())) as uploader:
        return uploader.step(everything=True)


def url_of(number):
    return f"http://a.example/{number}"


def record(number, *, fetched_at=0.0, outcome=Outcome.DONE, text="solar cells"):
    return PageRecord(
        fingerprint=fingerprint(url_of(number)),
        url=url_of(number),
        status=200,
        outcome=outcome,
        fetched_at=fetched_at or float(number),
        page=outcome is Outcome.DONE,
        relevance=0.25,
        title=f"title {number}",
        text=f"{text} {number}",
        links=[FoundLink("http://b.example/", "a link", 0.5, {})],
    )


class Machine:
    """A page store with its uploader; `lost` destroys its disk."""

    def __init__(self, folder, objects, **options):
        self.pages = folder / "pages"
        self.collected = self.pages / "collected"
        self.collected.mkdir(parents=True)
        self.objects, self.options = objects, options
        self.writer = PageStoreWriter(self.pages / "w1.db")
        self.uploader = self.new_uploader()

    def new_uploader(self):
        return CollectionUploader(
            self.objects, lambda: sorted(self.pages.glob("*.db")), folder=self.collected, **self.options
        )

    def read(self):
        with PageStoreReader(self.pages) as pages:
            return {page.url: (page.title, page.relevance, pages.text(page.fingerprint)) for page in pages.ranked()}

    def update(self):
        return Replica(self.pages).update(self.objects)


def entry(digest="a", number=0, stream="files.1"):
    return ManifestEntry(
        stream=stream, number=number, kind=FILE, name="labels.jsonl", sha256=digest * 64, size=1, written_at=1.0
    )
