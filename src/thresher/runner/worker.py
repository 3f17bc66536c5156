"""One worker: a process that leases, fetches and settles URLs until none is left or it is signalled to stop.

Run by the supervisor as ``python -m thresher.runner.worker DIR NAME``; its order is the first line of standard input,
since all users of a machine can read a command line. SIGTERM once: drain, then leave. Twice: leave at once. Either way
open leases are released. When the supervisor dies, its end of our standard input closes, and the worker drains as
after SIGTERM.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sqlite3
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.assembly import build_label_feed, build_pipeline, build_worker
from thresher.config.access import AccessTable
from thresher.config.event_log import log_to
from thresher.config.identity import Identity
from thresher.config.renamed_keys import RenamedKeyWarning
from thresher.coordination.heartbeat import HeartbeatTask
from thresher.crawl import CrawlSetup
from thresher.engine import watchdog
from thresher.engine.dns.resolver import GuardedResolver
from thresher.engine.download.downloader import Downloader
from thresher.engine.download.request import usual_headers
from thresher.engine.fetcher import Fetcher
from thresher.engine.lease_loop import LeaseLoop, WorkerContext
from thresher.errors import StoreError, ThresherError, disk_full, is_disk_full, system_error
from thresher.frontier.base import CrawlStore, async_closing
from thresher.locale.translation import _, localized
from thresher.monitoring.http_endpoint import Endpoint
from thresher.monitoring.prometheus import WorkerMetrics
from thresher.parsing.html import parse as parse_html
from thresher.runner.shutdown import DrainTimer, run_with_timeout
from thresher.runner.worker_pool import WorkerOrder
from thresher.text.terminal import printable

if TYPE_CHECKING:
    from thresher.engine.browser.renderer import Renderer

HEALTH_VARIABLE = "THRESHER_HEALTH_FILE"
"""The environment variable with the file that a worker touches while its event loop runs, for health checks."""

SAVE_STATE_SECONDS, NO_TIME_SECONDS = 2.0, 0.1
"""How long a leaving worker waits until the state of its models is saved; and when the store is away."""


def run_worker(
    crawl: CrawlSetup,
    work: WorkerContext,
    *,
    heartbeat_task: HeartbeatTask | None = None,
    endpoint: Endpoint | None = None,
) -> bool:
    """Crawl in this process until the frontier is empty, a limit is reached or a signal comes.

    Returns:
        Whether all open leases were released.
    """
    gc.freeze()  # imported modules stay for the life of the process
    gc.set_threshold(20_000, 20, 20)  # a page makes thousands of objects and hardly ever a cycle
    with asyncio.Runner(loop_factory=_new_event_loop) as runner:
        return runner.run(_crawl(crawl, work, heartbeat_task, endpoint))


def _new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a loop of uvloop where the extra ``speed`` is installed, and one of asyncio elsewhere."""
    if find_spec("uvloop") is None:
        return asyncio.new_event_loop()
    import uvloop

    return uvloop.new_event_loop()


async def _crawl(
    crawl: CrawlSetup, work: WorkerContext, heartbeat_task: HeartbeatTask | None, endpoint: Endpoint | None
) -> bool:
    loop = LeaseLoop(work)
    try:
        has_ended = await _fetch_all(crawl, loop, heartbeat_task, endpoint)
        released = await _leave(loop, heartbeat_task)
        if endpoint and has_ended and loop.fatal is None:
            await endpoint.show_end()
    except OSError as error:  # on a full disk, model state cannot be saved either
        raise store_error(loop.fatal or error) from error
    finally:
        if endpoint:
            endpoint.stop()
    if loop.fatal is not None:
        raise store_error(loop.fatal)
    return released


async def _fetch_all(
    crawl: CrawlSetup, loop: LeaseLoop, heartbeat_task: HeartbeatTask | None, endpoint: Endpoint | None
) -> bool:
    """Fetch until the end, with the tasks that run beside it; return whether its end must be shown."""
    resolver = loop.context.resolver or GuardedResolver.of(crawl.config.network)
    headers, max_bytes = usual_headers(crawl.config), crawl.config.engine.max_bytes
    access = AccessTable.of(crawl.config.access, crawl.folder.root)
    downloader = Downloader(
        resolver,
        loop.slow_hosts,
        headers=headers,
        max_bytes=max_bytes,
        access=access,
        identity=Identity.of(crawl.config.identity),
        records_certificates=crawl.config.network.tls == "record",
        on_send=loop.report_sent,
    )
    fetcher = Fetcher(loop.context, loop, downloader.fetch)
    fetching = asyncio.ensure_future(fetcher.run())
    watching = asyncio.create_task(_watch(fetcher, fetching))
    drain_on_signals(fetcher, fetching)
    if heartbeat_task:
        heartbeat_task.start(lambda: (fetcher.pages, _state(fetcher)))
    if endpoint:
        await endpoint.start()
    try:
        await asyncio.wait([fetching])  # cancelled when the worker leaves at once
    finally:
        await _end(watching, downloader, loop.context.browser)
        if heartbeat_task:
            heartbeat_task.stop()
    if fetching.cancelled():
        return False
    fetching.result()
    return endpoint is not None and await _has_ended(crawl, fetcher)


async def _has_ended(crawl: CrawlSetup, fetcher: Fetcher) -> bool:
    """Return whether the run has ended on all machines, rather than on this one alone."""
    if not fetcher.is_draining:
        return True  # nothing is left, or the limit of pages is reached
    if not crawl.backend.has_other_machines:
        return bool(crawl.folder.runner())  # else we are orphaned
    async with async_closing(crawl.backend.cluster_view(owner=False)) as cluster:
        with suppress(StoreError, TimeoutError):
            return bool((await asyncio.wait_for(cluster.snapshot(()), SAVE_STATE_SECONDS)).stop)
    return False


def drain_on_signals(fetcher: Fetcher, fetching: asyncio.Future[None]) -> None:
    """Drain after the first SIGTERM or Ctrl-C; leave at once after the second."""

    def handle() -> None:
        if fetcher.is_draining:
            fetching.cancel()
        fetcher.drain()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, handle)


async def _watch(fetcher: Fetcher, fetching: asyncio.Future[None]) -> None:
    """Re-arm the watchdog, touch the health file, and limit the time of the drain."""
    drain_timer = DrainTimer(is_running=lambda: not fetcher.is_draining, stop=fetching.cancel)
    health_file = os.environ.get(HEALTH_VARIABLE)
    while True:
        watchdog.arm()
        if health_file:
            _touch(Path(health_file))
        drain_timer.check()
        await asyncio.sleep(watchdog.ARM_SECONDS)


def _touch(path: Path) -> None:
    with suppress(OSError):  # a full disk is reported by what writes pages
        path.touch()


def _state(fetcher: Fetcher) -> str:
    return "leaving" if fetcher.is_draining else "working" if fetcher.loop.open else "waiting"


async def _end(watching: asyncio.Task[None], downloader: Downloader, browser: Renderer | None) -> None:
    watching.cancel()
    watchdog.disarm()
    downloader.close()
    if browser:
        await browser.close()


async def _leave(loop: LeaseLoop, heartbeat_task: HeartbeatTask | None) -> bool:
    released = loop.fatal is None and await run_with_timeout(loop.release_all())
    if heartbeat_task:
        await heartbeat_task.deregister(released=released)
    if loop.context.label_feed:
        await loop.context.label_feed.close()
    await loop.context.processor.close()
    return released


def store_error(error: Exception) -> ThresherError:
    """Return the error to report to the user for one that ends the crawl."""
    if isinstance(error, ThresherError):
        return error
    if is_disk_full(error):
        return disk_full()
    return StoreError(_("the store failed: {error}", error=error))


def drain_when_orphaned() -> None:
    """Send SIGTERM to this process when standard input ends: the supervisor is gone."""

    def wait_for_end() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait_for_end, daemon=True).start()


def main(arguments: list[str]) -> int:
    """Run one worker: DIR and NAME; the supervisor's order is one line of JSON on standard input."""
    folder, worker, line = Path(arguments[0]), arguments[1], _first_line()
    warnings.simplefilter("ignore", RenamedKeyWarning)  # the supervisor warned already
    if not line:
        return 0  # the supervisor is gone already
    try:
        order = WorkerOrder.read(line)
        crawl = CrawlSetup.open(folder, order.options)
        log_to(crawl.folder.log, worker)
        drain_when_orphaned()
        _work(crawl, worker, order)
    except (ThresherError, OSError, sqlite3.Error) as error:
        known = error if isinstance(error, ThresherError) else system_error(error)
        print(printable(localized(known)), file=sys.stderr)
        return known.exit_code
    return 0


def _first_line() -> bytes:
    """Read a line byte by byte, without consuming anything after it."""
    line = b""
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        line += byte
    return line


def _work(crawl: CrawlSetup, worker: str, order: WorkerOrder) -> None:
    heartbeat_task, endpoint = crawl.backend.heartbeat_task(worker), _endpoint(crawl, worker, order.metrics)
    parse = watchdog.CurrentUrl(order.current_url).recording(parse_html)
    around: Callable[[CrawlStore], CrawlStore] = endpoint.around if endpoint else lambda frontier: frontier
    state_stores, released = crawl.backend.state_stores(worker), False
    try:
        pipeline = build_pipeline(crawl, worker, parse, state_stores=state_stores, around=around)
        label_feed = None if crawl.is_refresh else build_label_feed(crawl, pipeline.updater, worker)
        work = build_worker(crawl, worker, pipeline, pages=order.pages, label_feed=label_feed, renders=True)
        released = run_worker(crawl, work, heartbeat_task=heartbeat_task, endpoint=endpoint)
    finally:
        state_stores.close(SAVE_STATE_SECONDS if released else NO_TIME_SECONDS)


def _endpoint(crawl: CrawlSetup, worker: str, listen_on: tuple[str, int] | None) -> Endpoint | None:
    if listen_on is None:
        return None
    address, port = listen_on
    worker_metrics = WorkerMetrics(crawl=crawl.name, worker=worker)
    return Endpoint(worker_metrics, address=address, port=port, pages=crawl.backend.counted_pages)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
