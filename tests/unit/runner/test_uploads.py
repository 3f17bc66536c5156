"""What a machine uploads beside its pages, on a real S3 server: WARC files, labels, models; and its status."""

import asyncio
import json
from contextlib import closing

import pytest

from testing.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from tests.contract.collection_machines import upload_waiting
from tests.unit.storage.warc.captures import answered, archived, writer
from thresher.coordination.model_exchange import SharedStateTable
from thresher.crawl import CrawlSetup
from thresher.feedback.labels import Label
from thresher.objects.base import open_objects
from thresher.operations.gather import gather
from thresher.runner.uploads import build_uploader
from thresher.search.index import SearchIndex
from thresher.search.query import SearchQuery
from thresher.status import status_of
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.warc.cdxj import merged


@pytest.fixture
def url(s3, tmp_path):
    return s3.url(tmp_path.name)


def crawl_in(folder, url, store="sqlite"):
    folder.mkdir(parents=True)
    settings = {"name": folder.name, "title": {"en": "solar cells"}, "seeds": ["http://h0.example/0"]}
    (folder / "topic.yaml").write_text(json.dumps({**settings, "store": store, "collection": url}), encoding="utf-8")
    with_pages = PageStoreWriter(folder / "pages" / "w1.db")
    with_pages.write([answered(number)[0] for number in range(1, 31)])
    with_pages.close()
    return CrawlSetup.open(folder)


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def give_label(crawl):
    labels = crawl.backend.labels()
    await labels.append([Label(url="http://h1.example/1?a=1&b=2", relevant=True, at=1.0)])
    await labels.close()


def test_warc_files_come_back_with_their_indexes_and_an_open_one_waits(tmp_path, url):
    crawl = crawl_in(tmp_path / "one", url)
    written = archived(crawl.folder.root, *(answered(number) for number in range(1, 31)), max_bytes=4000)
    complete = contents(crawl.folder.warc)
    assert len(written) > 1
    still_open = writer(crawl.folder.root, "w2")
    still_open.write([answered(31)])
    upload_waiting(crawl)
    asyncio.run(gather(url, tmp_path / "copy"))
    assert contents(tmp_path / "copy" / "warc") == complete
    assert len(list(merged(tmp_path / "copy" / "warc"))) == 30
    still_open.close()
    upload_waiting(crawl)
    asyncio.run(gather(url, tmp_path / "copy"))
    assert contents(tmp_path / "copy" / "warc") == contents(crawl.folder.warc)


def test_uploading_again_creates_no_object(tmp_path, url):
    crawl = crawl_in(tmp_path / "one", url)
    archived(crawl.folder.root, *(answered(number) for number in range(1, 31)))
    asyncio.run(give_label(crawl))
    upload_waiting(crawl)
    before = open_objects(url).sizes("")
    assert upload_waiting(crawl) == 0
    assert open_objects(url).sizes("") == before


def test_labels_and_models_of_a_crawl_on_one_machine_are_in_its_copy(tmp_path, url):
    crawl = crawl_in(tmp_path / "one", url)
    asyncio.run(give_label(crawl))
    model = crawl.folder.model / "judge" / "w1" / "sample"
    model.parent.mkdir(parents=True)
    model.write_bytes(b"what was learned")
    upload_waiting(crawl)
    asyncio.run(gather(url, tmp_path / "copy"))
    assert contents(tmp_path / "copy" / "model") == {"judge/w1/sample": b"what was learned"}
    assert (tmp_path / "copy" / "labels.jsonl").read_bytes() == crawl.folder.labels.read_bytes()


async def share_models(crawl):
    connection = crawl.backend.connection(patience_seconds=5.0)
    try:
        for worker in ("w1", "elsewhere"):
            await SharedStateTable(connection, crawl.name, "judge").write(worker, "sample", worker.encode())
            await SharedStateTable(connection, crawl.name, "strategy").write(worker, "links", worker.encode())
    finally:
        await connection.close()


def test_models_in_a_shared_store_are_uploaded_by_the_machine_of_their_worker(tmp_path, url, redis_url):  # noqa: F811
    crawl = crawl_in(tmp_path / "one", url, redis_url)
    asyncio.run(share_models(crawl))
    upload_waiting(crawl)
    asyncio.run(gather(url, tmp_path / "copy"))
    assert contents(tmp_path / "copy" / "model") == {"judge/w1/sample": b"w1", "strategy/w1/links": b"w1"}


def test_a_copied_folder_uploads_its_files_too(tmp_path, url):
    one = crawl_in(tmp_path / "one", url)
    upload_waiting(one)
    two = crawl_in(tmp_path / "two", url)
    (two.folder.pages / "collected").mkdir()
    stream = "collected/files-stream"
    (two.folder.pages / stream).write_bytes((one.folder.pages / stream).read_bytes())
    for crawl, name in ((one, "first"), (two, "second")):
        model = crawl.folder.model / "judge" / name / "sample"
        model.parent.mkdir(parents=True)
        model.write_text(name)
        upload_waiting(crawl)
    asyncio.run(gather(url, tmp_path / "copy"))
    assert sorted(contents(tmp_path / "copy" / "model")) == ["judge/first/sample", "judge/second/sample"]


def test_the_status_of_the_python_api_has_the_collection(tmp_path, url):
    crawl = crawl_in(tmp_path / "one", url)
    waiting = asyncio.run(status_of(crawl)).collection
    assert (waiting.rows, waiting.waiting_rows, waiting.not_uploaded) == (0, 30, None)
    upload_waiting(crawl)
    status = asyncio.run(status_of(crawl))
    assert (status.collection.url, status.collection.rows, status.collection.waiting_rows) == (url, 30, 0)
    assert "30 rows in 1 segments" in status._repr_html_()


def test_a_copy_of_the_collection_is_searched_without_indexing(tmp_path, url):
    crawl = crawl_in(tmp_path / "one", url)
    with closing(build_uploader(crawl, owner=True, with_search=True)) as uploader:
        uploader.step(everything=True)
    asyncio.run(gather(url, tmp_path / "copy"))
    with SearchIndex(tmp_path / "copy", tmp_path / "copy" / "pages") as index:
        assert index.catch_up() == 0
        assert index.pages() == 30
        found = index.search(SearchQuery.read("words"), limit=100)
    with SearchIndex(crawl.folder.root, crawl.folder.pages) as index:
        assert index.catch_up() == 30
        assert index.search(SearchQuery.read("words"), limit=100) == found
    assert len(list((tmp_path / "copy" / "search").glob("*.db"))) == 1
