"""The metrics of a worker, for Prometheus.

Counters and histograms are this worker's own: add them up over workers. Gauges named ``thresher_crawl_…`` are about the
whole crawl, as the store counts it, and are the same from every worker: use the maximum. All labels come from closed
sets, and all series of a closed set exist from the start.

prometheus_client is imported only when metrics are enabled; a crawl without them does not need it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from thresher import __version__
from thresher.errors import ConfigError
from thresher.frontier.base import Counts
from thresher.monitoring.failures import FailureKind
from thresher.records import BlockKind, Outcome

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Histogram, Metric

STORE_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
LAG_BUCKETS = (0.005, 0.025, 0.1, 0.5, 2.0)
URL_STATES = ("waiting", "leased", "done", "failed", "dropped")
HOST_STATES = ("ready", "delayed", "parked")


class WorkerMetrics:
    """The metrics of one worker, in a registry of their own.

    Raises:
        ConfigError: prometheus_client is not installed.
    """

    def __init__(self, *, crawl: str, worker: str) -> None:
        try:
            from prometheus_client import CollectorRegistry, ProcessCollector
        except ImportError as error:
            raise ConfigError('metrics need prometheus_client: pip install "thresher-crawler[metrics]"') from error
        self._crawl = crawl
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._about_worker(worker)
        self._about_pages()
        self._about_store()
        self._about_crawl()

    def _about_worker(self, worker: str) -> None:
        from prometheus_client import Gauge, Histogram

        about = ["crawl", "worker", "version"]
        known = Gauge("thresher_worker_info", "Which worker this is.", about, registry=self.registry)
        known.labels(self._crawl, worker, __version__).set(1)
        self.open_leases = Gauge(
            "thresher_open_leases", "URLs that this worker holds.", ["crawl"], registry=self.registry
        ).labels(self._crawl)
        self.loop_lag = Histogram(
            "thresher_loop_lag_seconds",
            "Lag of the worker's event loop; high when its core is busy.",
            ["crawl"],
            buckets=LAG_BUCKETS,
            registry=self.registry,
        ).labels(self._crawl)

    def _about_pages(self) -> None:
        self.pages = self._counter("thresher_pages", "Pages fetched.")
        self.relevant = self._counter("thresher_relevant_pages", "Pages that were judged relevant when they arrived.")
        self.links = self._counter("thresher_links", "Links of settled pages that were passed to the frontier.")
        self.leases = self._counter("thresher_leases", "URLs leased to this worker.")
        self.empty_leases = self._counter("thresher_empty_leases", "Calls of lease that returned no URL.")
        self.released = self._counter("thresher_released_leases", "Leases that were released unused.")
        self.refused = self._counter("thresher_refused_commits", "Settlements whose lease was no longer held.")
        self.parks = self._counter("thresher_parks", "Hosts that were parked, for a time or for good.")
        settled = self._labelled("thresher_settlements", "Leases that ended, by outcome.", "outcome")
        self.settlements = {outcome: settled.labels(self._crawl, outcome) for outcome in Outcome}
        failed = self._labelled("thresher_errors", "Fetches that failed or will be retried, by kind.", "kind")
        self.errors = {kind: failed.labels(self._crawl, kind) for kind in FailureKind}
        blocked = self._labelled("thresher_block_pages", "Block pages received in place of pages, by kind.", "kind")
        self.block_pages = {kind: blocked.labels(self._crawl, kind) for kind in BlockKind}

    def _about_store(self) -> None:
        from prometheus_client import Gauge, Histogram

        self._store_seconds = Histogram(
            "thresher_store_seconds",
            "Latency of the store, by operation, including the wait for a store that is away.",
            ["crawl", "operation"],
            buckets=STORE_BUCKETS,
            registry=self.registry,
        )
        self._store_errors = self._labelled("thresher_store_errors", "Calls that the store failed.", "operation")
        self.store_up = Gauge(
            "thresher_store_up", "1 when the store answered lately, else 0.", ["crawl"], registry=self.registry
        ).labels(self._crawl)

    def _about_crawl(self) -> None:
        from prometheus_client import Gauge

        registry = self.registry
        urls = Gauge("thresher_crawl_urls", "URLs of the crawl, by state.", ["crawl", "state"], registry=registry)
        hosts = Gauge("thresher_crawl_hosts", "Hosts with waiting URLs.", ["crawl", "state"], registry=registry)
        self._urls = {state: urls.labels(self._crawl, state) for state in URL_STATES}
        self._hosts = {state: hosts.labels(self._crawl, state) for state in HOST_STATES}
        self._crawl_pages = Gauge(
            "thresher_crawl_pages", "Pages of the whole crawl.", ["crawl"], registry=registry
        ).labels(self._crawl)
        self._crawl_relevant = Gauge(
            "thresher_crawl_relevant_pages", "Relevant pages of the whole crawl.", ["crawl"], registry=registry
        ).labels(self._crawl)
        self.ended = Gauge(
            "thresher_crawl_ended",
            "1 when this worker exits because the run has ended, for all machines; else 0.",
            ["crawl"],
            registry=registry,
        ).labels(self._crawl)
        self._pause_seconds = Gauge(
            "thresher_crawl_pause_seconds",
            "Seconds until URLs are leased again, after a restart of the store; else 0.",
            ["crawl"],
            registry=registry,
        ).labels(self._crawl)
        self._seconds_to_next = Gauge(
            "thresher_crawl_next_seconds",
            "Seconds until a host may be fetched from; NaN: nothing waits.",
            ["crawl"],
            registry=registry,
        ).labels(self._crawl)

    def _labelled(self, name: str, help_: str, label: str) -> Counter:
        from prometheus_client import Counter

        return Counter(name, help_, ["crawl", label], registry=self.registry)

    def _counter(self, name: str, help_: str) -> Counter:
        from prometheus_client import Counter

        return Counter(name, help_, ["crawl"], registry=self.registry).labels(self._crawl)

    def store_seconds(self, operation: str) -> Histogram:
        return self._store_seconds.labels(self._crawl, operation)

    def store_errors(self, operation: str) -> Counter:
        return self._store_errors.labels(self._crawl, operation)

    def show_crawl(self, counts: Counts, seconds_to_next: float | None) -> None:
        for state, gauge in (self._urls | self._hosts).items():
            gauge.set(getattr(counts, state))
        self._crawl_pages.set(counts.pages)
        self._crawl_relevant.set(counts.relevant)
        self._pause_seconds.set(counts.pause_seconds)
        self._seconds_to_next.set(math.nan if seconds_to_next is None else seconds_to_next)

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        from prometheus_client import generate_latest

        return generate_latest(cast("CollectorRegistry", self))  # it only needs `collect`

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics without their ``_created`` series, which are half of all series and not used."""
        for family in self.registry.collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family
