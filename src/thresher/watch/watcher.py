"""Rounds on a schedule: visit known pages again, fetch new ones, write the digest.

A round is recorded before it begins and after each stage. A process that was killed continues the open round when it is
started again; rounds that were missed in between are made up for by a single one, at once.

`make_digest` finds what changed in the collection since the last digest.

The current state of the collection is compared with what was reported, not with times: a page is new when it was never
reported, changed when its text is another one than the reported, gone or moved when its last visit found that. So a
change is reported once, however often rounds are interrupted, and a page that a later verdict makes relevant is
reported then.

`write_files` writes digests: Markdown and JSON, one of each per digest, and an Atom feed of the newest.

The files are written from the database and can be written again. Titles, URLs and quoted sentences come from pages:
they are escaped, so that they cannot become markup.
"""

from __future__ import annotations

import hashlib
import json
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from thresher.atomic_file import atomic_write
from thresher.config.schema import WatchConfig
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, CrawlBusy
from thresher.operations.refresh import check as check_refresh
from thresher.operations.refresh import refresh_run
from thresher.reasons.reason import MOVED
from thresher.refresh.changes import ChangeKind, kept_share
from thresher.runner.limits import Limits, StopReason
from thresher.runner.supervisor import RunResult, SupervisorOptions, run_crawl
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.storage.visits import visit_history
from thresher.text.terminal import printable
from thresher.watch.database import Digest, DigestEntry, Reported, Round, Stage, WatchDatabase
from thresher.watch.webhooks import Deliverer, Webhook

FEED_DIGESTS = 50
"""Digests whose entries are in the feed."""
FEED_ENTRIES = 500
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~-])")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
_HEADINGS = {
    ChangeKind.NEW: "New pages",
    ChangeKind.CHANGED: "Changed pages",
    ChangeKind.MOVED: "Moved pages",
    ChangeKind.GONE: "Pages that are gone",
}


def digest_folder(root: Path) -> Path:
    """Return the folder of the digests of a crawl."""
    return root / "digests"


def write_files(root: Path, database: WatchDatabase) -> None:
    """Write the files of all digests that have none yet, and the feed."""
    folder = digest_folder(root)
    folder.mkdir(exist_ok=True)
    newest = database.digests(FEED_DIGESTS)
    missing = [digest for digest in newest if not _path(folder, digest, "json").is_file()]
    for digest in missing:
        _write(_path(folder, digest, "md"), markdown(digest))
        _write(_path(folder, digest, "json"), json.dumps(digest.as_json(), ensure_ascii=False, indent=1) + "\n")
    if missing or not (folder / "feed.xml").is_file():
        _write(folder / "feed.xml", feed(newest))


def _path(folder: Path, digest: Digest, suffix: str) -> Path:
    return folder / f"{digest.number:06d}.{suffix}"


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def summary(digest: Digest) -> str:
    """Return the numbers of changes, such as "3 new, 1 gone"."""
    counts = {kind: digest.count(kind) for kind in ChangeKind}
    listed = ", ".join(f"{number:,} {kind}" for kind, number in counts.items() if number)
    more = digest.total - len(digest.entries)
    return f"{listed}, and {more:,} more in the next digest" if more else listed


def markdown(digest: Digest) -> str:
    """Return a digest as Markdown."""
    return "\n".join(_markdown_lines(digest)) + "\n"


def _markdown_lines(digest: Digest) -> Iterator[str]:
    yield f"# {_plain(digest.title or digest.crawl)}: {summary(digest)}"
    yield f"\nDigest {digest.number} of the crawl {_plain(digest.crawl)}, {_time(digest.created_at)}."
    for kind, heading in _HEADINGS.items():
        if entries := [entry for entry in digest.entries if entry.change is kind]:
            yield f"\n## {heading}\n"
            for entry in entries:
                yield f"- [{_plain(entry.title or entry.url)}](<{_target(entry.url)}>), {_facts(entry)}"
                yield from (f"    - {_plain(sentence)}" for sentence in entry.added)


def _facts(entry: DigestEntry) -> str:
    relevance = f"relevance {entry.relevance:.2f}"
    if entry.before is not None:
        relevance += f", before {entry.before:.2f}"
    if entry.kept is not None:
        relevance += f", {entry.kept:.0%} of the text kept"
    return relevance if entry.relevant else f"{relevance}, not relevant now"


def _plain(text: str) -> str:
    """Escape text so that Markdown shows it as it is, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(printable(text).split()))


def _target(url: str) -> str:
    return url.replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")


def feed(digests: Sequence[Digest]) -> str:
    """Return the newest changes as an Atom feed (RFC 4287); it needs no address of its own."""
    crawl = digests[0].crawl if digests else "thresher"
    title = (digests[0].title or crawl) if digests else crawl
    updated = _time(digests[0].created_at) if digests else _time(0)
    pairs = [(digest, entry) for digest in digests for entry in digest.entries][:FEED_ENTRIES]
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>{_urn(crawl)}</id>",
        f"<title>{_text(title)}</title>",
        "<author><name>Thresher</name></author>",
        f"<updated>{updated}</updated>",
        *(_feed_entry(digest, entry) for digest, entry in pairs),
        "</feed>",
    ]
    return "\n".join(lines) + "\n"


def _feed_entry(digest: Digest, entry: DigestEntry) -> str:
    quoted = " ".join([f"{_facts(entry)}.", *entry.added])
    return (
        f"<entry><id>{_urn(f'{digest.crawl} {digest.number} {entry.url}')}</id>"
        f"<title>{_text(f'{entry.change}: {entry.title or entry.url}')}</title>"
        f"<link href={quoteattr(_NO_XML.sub('', entry.url))}/><updated>{_time(entry.at)}</updated>"
        f'<category term="{entry.change}"/><summary type="text">{_text(quoted)}</summary></entry>'
    )


def _urn(text: str) -> str:
    digits = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"urn:uuid:{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"


def _text(text: str) -> str:
    return escape(_NO_XML.sub("", text))


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


MAX_ENTRIES = 2_000
"""Entries of a digest; the changes after these are in the next digest."""
MAX_SENTENCES, MAX_CHARACTERS = 3, 240
"""New sentences that an entry quotes, and the characters of each."""
MAX_TEXT = 200_000
"""Characters of a text that are split into sentences."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")


class ReportedChange(NamedTuple):
    """A change of the collection, and what is reported of the page once it is in a digest."""

    entry: DigestEntry
    fingerprint: int
    reported: Reported


def compare(collection: PageStoreReader, database: WatchDatabase) -> Iterator[ReportedChange]:
    """Compare the collection with what was reported; duplicates and irrelevant new pages are left out."""
    missing = {record.fingerprint: record for record in _last_visits_without_page(collection)}
    for record in collection.ranked():
        before = database.reported(record.fingerprint)
        visit = missing.get(record.fingerprint)
        if (change := _change(record, before, visit)) is None:
            continue
        is_gone = change in (ChangeKind.GONE, ChangeKind.MOVED)
        at = visit.fetched_at if visit and is_gone else record.fetched_at
        entry = _entry(collection, record, change, at, before)
        yield ReportedChange(entry, record.fingerprint, Reported(text_hash=record.text_hash, at=at, gone=is_gone))


def make_digest(
    collection: PageStoreReader, database: WatchDatabase, *, crawl: str, title: str, webhooks: Sequence[str]
) -> Digest | None:
    """Compare, and store the digest, what it reports and its deliveries at once; None when nothing changed."""
    changes = sorted(compare(collection, database), key=_rank)
    if not changes:
        return None
    listed = changes[:MAX_ENTRIES]
    digest = Digest(
        number=database.next_digest(),
        crawl=crawl,
        title=title,
        created_at=time.time(),
        total=len(changes),
        entries=[change.entry for change in listed],
    )
    with database.transaction():
        database.report((change.fingerprint, change.reported) for change in listed)
        database.add_digest(digest, webhooks)
    return digest


def _rank(change: ReportedChange) -> tuple[float, str]:
    """Sort by relevance, now or before."""
    return -max(change.entry.relevance, change.entry.before or 0.0), change.entry.url


def record_baseline(collection: PageStoreReader, database: WatchDatabase) -> None:
    """Record the collection as it is when watching begins: digests report what differs from it."""
    database.record_baseline(
        (record.fingerprint, Reported(text_hash=record.text_hash, at=record.fetched_at, gone=False))
        for record in collection.ranked(relevant=True)
    )


def _change(record: PageRecord, before: Reported | None, visit: PageRecord | None) -> ChangeKind | None:
    """Return what happened to a page since it was reported; None for nothing, and for an irrelevant page."""
    if before is None:
        return ChangeKind.NEW if record.relevant and not visit else None
    if before.gone:
        return ChangeKind.NEW if record.relevant and record.fetched_at > before.at else None
    if visit:
        return ChangeKind.MOVED if visit.reason.kind in MOVED else ChangeKind.GONE
    return ChangeKind.CHANGED if record.text_hash != before.text_hash else None


def _last_visits_without_page(collection: PageStoreReader) -> Iterator[PageRecord]:
    """Yield the last visit of each page that was gone or moved when it was visited last."""
    for fingerprint in collection.gone_or_moved():
        history = collection.history(fingerprint)
        last = history[-1]
        if any(record.page for record in history) and (visit_history(history).gone or last.reason.kind in MOVED):
            yield last


def _entry(
    collection: PageStoreReader, record: PageRecord, change: ChangeKind, at: float, before: Reported | None
) -> DigestEntry:
    texts = collection.texts(record.fingerprint) if change in (ChangeKind.NEW, ChangeKind.CHANGED) else []
    is_changed = change is ChangeKind.CHANGED
    return DigestEntry(
        change=change,
        url=record.url,
        title=record.title,
        at=at,
        relevance=round(record.relevance, 4),
        relevant=record.relevant,
        language=record.language,
        before=_relevance_reported(collection, record.fingerprint, before) if before else None,
        kept=kept_share(texts) if is_changed else None,
        added=_added(texts[-2] if is_changed and len(texts) > 1 else "", texts[-1]) if texts else (),
    )


def _relevance_reported(collection: PageStoreReader, fingerprint: int, reported: Reported) -> float | None:
    """Return the relevance of the version that was reported last; None when the store has it no more."""
    versions = [each for each in collection.history(fingerprint) if each.page and each.fetched_at <= reported.at]
    return round(versions[-1].relevance, 4) if versions else None


def _added(before: str, now: str) -> list[str]:
    """Return the first sentences of a text that the text before did not have."""
    known = set(_sentences(before))
    fresh = dict.fromkeys(sentence for sentence in _sentences(now) if sentence not in known)
    return [sentence[:MAX_CHARACTERS] for sentence in list(fresh)[:MAX_SENTENCES]]


def _sentences(text: str) -> list[str]:
    return [piece for part in _SENTENCE_END.split(text[:MAX_TEXT]) if (piece := " ".join(part.split()))]


BUSY_SECONDS = 30.0
"""Pause before the next try while another run of the crawl is under way."""
STOPPED = StopReason.STOPPED.exit_code
_STOPS = (StopReason.STOPPED, StopReason.FORCED, StopReason.LEFT)


class Watcher:
    """Watches the topic of one crawl.

    Args:
        workers: Worker processes of each run.
        report: Called with a line about each step.
    """

    def __init__(self, crawl: CrawlSetup, plan: WatchConfig, *, workers: int, report: Callable[[str], None]) -> None:
        if not crawl.backend.has_all_pages:
            raise ConfigError(
                "a crawl with a shared store cannot be watched: its pages cannot be visited again. "
                "Start another one from it: thresher new NEW --from DIR"
            )
        self._crawl = crawl
        self._plan = plan
        self._workers = workers
        self._report = report
        self._webhooks = [Webhook.of(webhook) for webhook in plan.webhooks]
        self._stop = threading.Event()
        self._exit_code = 0
        self.digests: list[Digest] = []
        """The digests that this process made."""

    def run(self, *, once: bool = False) -> int:
        """Make rounds until a signal stops them, or one; return the exit code."""
        with self._crawl.folder.only_one_watch(), closing(WatchDatabase(self._crawl.folder.root)) as database:
            if not database.has_baseline():
                with PageStoreReader(self._crawl.folder.pages) as collection:
                    record_baseline(collection, database)
            write_files(self._crawl.folder.root, database)
            deliverer = Deliverer(self._crawl.folder.root, self._crawl.backend.id, self._webhooks, self._report)
            if not once:
                deliverer.start()
            self._catch_signals()
            try:
                code = self._rounds(database, once=once)
                if once:
                    deliverer.deliver()
            finally:
                deliverer.stop()
            return code

    def _rounds(self, database: WatchDatabase, *, once: bool) -> int:
        while True:
            current = _open_round(database)
            if not current and not once and not self._wait(_seconds_to_next(database, self._plan)):
                return STOPPED
            current = current or self._begin(database)
            try:
                stopped = self._make(database, current)
            except CrawlBusy:
                if once:
                    raise
                self._report(f"another run of this crawl is under way; trying again in {BUSY_SECONDS:.0f} s")
                if not self._wait(BUSY_SECONDS):
                    return STOPPED
                continue
            if stopped:
                return stopped
            if once:
                return self._exit_code

    def _begin(self, database: WatchDatabase) -> Round:
        with PageStoreReader(self._crawl.folder.pages) as collection:
            pages = collection.tally().pages
        stage = Stage.VISITS if self._plan.visits and pages else Stage.NEW_PAGES
        return database.begin_round(stage, pages + self._plan.new_pages)

    def _make(self, database: WatchDatabase, current: Round) -> int:
        """Make a round, or the rest of one; return the exit code of a run that the user stopped, else 0."""
        self._report(f"round {current.number}, {current.stage}")
        stage = current.stage
        if stage is Stage.VISITS:
            if ending := self._visit():
                return ending
            database.set_stage(current.number, stage := Stage.NEW_PAGES)
        if stage is Stage.NEW_PAGES:
            if self._plan.new_pages and (ending := self._fetch(current.page_limit)):
                return ending
            database.set_stage(current.number, Stage.DIGEST)
        self._write_digest(database)
        database.end_round(current.number)
        return 0

    def _visit(self) -> int:
        crawl = replace(self._crawl, options=replace(self._crawl.options, refresh=True))
        check_refresh(crawl)
        return self._ended("visits", self._run(crawl, Limits(minutes=self._plan.minutes), refresh=True))

    def _fetch(self, page_limit: int) -> int:
        return self._ended("new pages", self._run(self._crawl, Limits(pages=page_limit, minutes=self._plan.minutes)))

    def _run(self, crawl: CrawlSetup, limits: Limits, *, refresh: bool = False) -> RunResult:
        during_run = refresh_run(crawl, self._plan.visits) if refresh else None
        try:
            return run_crawl(crawl, SupervisorOptions(workers=self._workers, limits=limits), during_run=during_run)
        finally:
            self._catch_signals()  # the run had handlers of its own, and its end removed ours

    def _ended(self, what: str, result: RunResult) -> int:
        self._report(f"{what}: {result.closing_line}")
        self._exit_code = max(self._exit_code, result.exit_code)
        if result.stop_reason in _STOPS:
            return result.stop_reason.exit_code
        return STOPPED if self._stop.is_set() else 0

    def _write_digest(self, database: WatchDatabase) -> None:
        with PageStoreReader(self._crawl.folder.pages) as collection:
            digest = make_digest(
                collection,
                database,
                crawl=self._crawl.name,
                title=_title(self._crawl),
                webhooks=[webhook.key for webhook in self._webhooks],
            )
        write_files(self._crawl.folder.root, database)
        if digest:
            self.digests.append(digest)
        self._report(f"digest {digest.number}: {summary(digest)}" if digest else "nothing changed; no digest")

    def _wait(self, seconds: float) -> bool:
        """Wait; return False when a signal came."""
        return not self._stop.wait(seconds)

    def _catch_signals(self) -> None:
        """Let SIGINT and SIGTERM end the watch after the step under way."""

        def on_signal(number: int, frame: FrameType | None) -> None:
            self._stop.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, on_signal)


def _title(crawl: CrawlSetup) -> str:
    return next(iter(crawl.config.title.values()), crawl.name)


def _open_round(database: WatchDatabase) -> Round | None:
    last = database.last_round()
    return last[0] if last and not last[1] else None


def _seconds_to_next(database: WatchDatabase, plan: WatchConfig) -> float:
    """Return the seconds to the next round; 0 when it is due, or when the clock was set back behind the last one."""
    last = database.last_round()
    since = time.time() - last[0].began_at if last else plan.every_seconds
    return max(0.0, plan.every_seconds - since) if since >= 0 else 0.0
