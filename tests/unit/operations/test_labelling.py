"""Labels, a status, a check and a refresh each open a resource of the crawl once."""

import asyncio
from collections import Counter
from contextlib import closing

import pytest

from tests.unit.export.test_all_formats import of
from thresher.backend import LocalBackend
from thresher.config.run_options import RunOptions
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.operations.labelling import add_labels, labelling_session
from thresher.operations.model_labelling import label_as_model, revoke_model_labels
from thresher.operations.refresh import refresh_run
from thresher.status import status_of
from thresher.storage.page_store import PageStoreWriter
from thresher.verify.crawl import verify

PAGES = [f"http://h{number}.example/" for number in range(3)]
TOPIC = f"title: {{en: cells}}\nseeds: ['{PAGES[0]}']\npoliteness: {{contact: me@example.org}}\n"


@pytest.fixture
def crawl(tmp_path):
    (tmp_path / "topic.yaml").write_text(TOPIC, encoding="utf-8")
    for worker in ("w1", "w2"):
        with closing(PageStoreWriter(tmp_path / "pages" / f"{worker}.db")) as writer:
            writer.write([of(url, relevance=0.9, text_hash=5) for url in PAGES])
    return CrawlSetup.open(tmp_path)


@pytest.fixture
def opened(monkeypatch):
    """How often each resource was opened."""
    counts = Counter()

    def counted(name, method):
        def call(self, *arguments, **options):
            counts[name] += 1
            return method(self, *arguments, **options)

        return call

    for name in ("frontier", "frontier_reader", "labels", "run_view", "visits", "pending_uploads"):
        monkeypatch.setattr(LocalBackend, name, counted(name, getattr(LocalBackend, name)))
    return counts


@pytest.mark.parametrize(
    "call",
    [
        lambda crawl: add_labels(crawl, {PAGES[1]: True, "http://new.example/": True}),
        lambda crawl: label_as_model(crawl, "small", PAGES[1], False),
        revoke_model_labels,
    ],
)
def test_labels_are_stored_and_applied_over_one_connection(crawl, opened, call):
    result = asyncio.run(call(crawl))
    assert result.applied
    assert opened == Counter(frontier=1, labels=1, run_view=int(result.labels > 0))


@pytest.mark.parametrize("call", [status_of, verify])
def test_a_crawl_is_read_over_one_connection(crawl, opened, call):
    with closing(asyncio.Runner()) as runner:
        runner.run(add_labels(crawl, {PAGES[1]: True}))
        opened.clear()
        runner.run(call(crawl))
    assert opened
    assert set(opened.values()) == {1}


def test_a_refresh_opens_each_queue_once_before_and_once_after_its_run(crawl, opened):
    with refresh_run(CrawlSetup.open(crawl.folder.root, RunOptions(refresh=True)), 2):
        assert opened == {"frontier": 1, "visits": 1}
    assert opened == {"frontier": 2, "visits": 2}


async def test_a_session_for_a_topic_that_is_not_there_is_refused(crawl):
    with pytest.raises(ConfigError, match="has no topic 'tea'"):
        async with labelling_session(crawl, topic="tea"):
            pass
