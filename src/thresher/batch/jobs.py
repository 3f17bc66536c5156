"""The batch jobs: each maps tables of pages to smaller tables, then reduces all of these to one.

The map stage reads no files and shares nothing, so it runs anywhere in any order. The reduce stage gets the rows of all
pages sorted by fingerprint: its result depends neither on the partition of the pages nor on their order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thresher.assembly import build_judge
from thresher.coordination.model_exchange import CLOSE_SECONDS, StateStores
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, DamagedFile
from thresher.feedback.updates import REJUDGE_BATCH, is_changed, judge_stored
from thresher.judges.base import Learner, StateStore
from thresher.linkgraph import LinkGraph
from thresher.records import Judgement, Revision, best_topic
from thresher.search.near_duplicates import BAND_NUMBERS, BANDS, Signature, group_signatures, signature
from thresher.storage.page_store import (
    PageStoreWriter,
    StoredContent,
    StoredPage,
    packed_parts,
    packed_topics,
    unpacked_links,
    unpacked_parts,
    unpacked_topics,
)
from thresher.storage.reader import PageStoreReader
from thresher.text.tokens import tokenize
from thresher.urls.canonical import fingerprint

SIGNATURE_BYTES = 4 * BANDS * BAND_NUMBERS
MAX_REDIRECTS = 10
"""Redirects that are followed from a link."""

Integers = NDArray[np.int64]


class BatchJob(Protocol):
    """A job over all pages of a crawl."""

    columns: Sequence[str]
    """The columns of the part files that it reads."""
    schema: Any
    """The Arrow schema of what `map` returns."""

    def map(self, pages: Any) -> Any:
        """Return the rows of some pages, from an Arrow table to another."""
        ...

    def reduce(self, rows: Any) -> Any:
        """Return the result, from the rows of all pages sorted by fingerprint."""
        ...

    def counts(self, result: Any) -> Mapping[str, int]:
        """Return the numbers of a summary."""
        ...


class Rejudge:
    """Judges every stored page again with the current model, as the end of a run does for the pages of its machine.

    Args:
        learner: The judge with its state; it is sent to the processes that map.
    """

    columns: Sequence[str] = (
        *("fingerprint", "url", "segment", "title", "language", "relevance", "relevant"),
        *("reward", "parts", "topics", "terms", "text"),
    )
    schema = pa.schema(
        [
            ("fingerprint", pa.int64()),
            ("url", pa.string()),
            ("segment", pa.string()),
            ("stored_relevance", pa.float64()),
            ("stored_relevant", pa.bool_()),
            ("relevance", pa.float64()),
            ("relevant", pa.bool_()),
            ("reward", pa.float64()),
            ("parts", pa.string()),
            ("topics", pa.string()),
            ("judged", pa.bool_()),  # whether enough of the page was stored
            ("unreadable", pa.bool_()),
            ("changed", pa.bool_()),  # whether the stored judgement is to be replaced
        ]
    )

    def __init__(self, learner: Learner) -> None:
        self._learner = learner

    def map(self, pages: Any) -> Any:
        return pa.Table.from_pylist([self._row(page) for page in pages.to_pylist()], schema=self.schema)

    def _row(self, page: Mapping[str, Any]) -> dict[str, Any]:
        names = ("url", "title", "language", "relevance", "relevant", "terms", "text", "topics")
        stored = StoredPage(0, *(page[name] for name in names))
        row = {name: page[name] for name in self.schema.names if name in page}
        row |= {"stored_relevance": stored.relevance, "stored_relevant": stored.relevant}
        row |= {"judged": False, "changed": False, "unreadable": False}
        try:
            judgement = judge_stored(self._learner, stored)
            is_different = judgement is not None and is_changed(judgement, stored)
        except DamagedFile:
            return {**row, "unreadable": True}
        if judgement is None:
            return row
        return {
            **row,
            "relevance": judgement.relevance,
            "relevant": judgement.relevant,
            "reward": judgement.reward,
            "parts": packed_parts(judgement.breakdown),
            "topics": packed_topics(judgement.topics),
            "judged": True,
            "changed": is_different,
        }

    def reduce(self, rows: Any) -> Any:
        return rows

    def counts(self, result: Any) -> Mapping[str, int]:
        return {
            "pages": len(result),
            "judged": _true(result["judged"]),
            "changed": _true(result["changed"]),
            "relevant_before": _true(result["stored_relevant"]),
            "relevant": _true(result["relevant"]),
        }


class Duplicates:
    """Groups near duplicates by the MinHash signatures of their main texts; a page without text is alone."""

    columns: Sequence[str] = ("fingerprint", "url", "relevance", "text", "main", "markup")
    schema = pa.schema(
        [
            ("fingerprint", pa.int64()),
            ("url", pa.string()),
            ("relevance", pa.float64()),
            ("unreadable", pa.bool_()),
            ("signature", pa.binary(SIGNATURE_BYTES)),
        ]
    )

    def map(self, pages: Any) -> Any:
        return _mapped(pages, ["text", "main", "markup"], _signature, self.schema)

    def reduce(self, rows: Any) -> Any:
        """Replace the signatures by the group of each page: the least fingerprint in it, and how many pages it has."""
        pages = rows["fingerprint"].to_numpy()
        has_text = pc.is_valid(rows["signature"]).to_numpy()
        known = rows["signature"].drop_null().combine_chunks()
        content = np.frombuffer(b"".join(known.to_pylist()), np.uint32).reshape(-1, BANDS * BAND_NUMBERS)
        heads = np.arange(len(pages))
        heads[has_text] = np.flatnonzero(has_text)[group_signatures(content)]
        members = np.bincount(heads, minlength=len(pages))[heads]
        result = rows.drop_columns(["signature"])
        return result.append_column("group", pa.array(pages[heads])).append_column("group_pages", pa.array(members))

    def counts(self, result: Any) -> Mapping[str, int]:
        several = result.filter(pc.greater(result["group_pages"], 1))
        groups = pc.count_distinct(several["group"]).as_py()
        return {"pages": len(result), "groups": groups, "near_duplicates": len(several) - groups}


def _signature(page: Mapping[str, Any]) -> bytes | None:
    text = StoredContent(page["url"], page["text"], page["main"], page["markup"]).content().text
    known: Signature | None = signature(tokenize(text))
    return None if known is None else known.tobytes()


class Links:
    """Ranks the pages by the links between them: PageRank, and HITS; a link weighs the relevance of its target.

    Args:
        redirects: The fingerprints of redirected URLs, each with that of its target.
    """

    columns: Sequence[str] = ("fingerprint", "url", "relevance", "links")
    schema = pa.schema(
        [
            ("fingerprint", pa.int64()),
            ("url", pa.string()),
            ("relevance", pa.float64()),
            ("unreadable", pa.bool_()),
            ("targets", pa.list_(pa.int64())),
        ]
    )

    def __init__(self, redirects: Mapping[int, int] | None = None) -> None:
        self._redirects = dict(redirects or {})

    def map(self, pages: Any) -> Any:
        return _mapped(pages, ["links"], _targets, self.schema, nothing=())

    def reduce(self, rows: Any) -> Any:
        """Replace the links by scores; links to pages that were not fetched do not count."""
        pages = rows["fingerprint"].to_numpy()
        tails = np.repeat(np.arange(len(pages)), pc.list_value_length(rows["targets"]).to_numpy())
        graph = LinkGraph.from_arrays(len(pages), tails, self._numbers(pages, pc.list_flatten(rows["targets"])))
        hubs, authorities = graph.hits(rows["relevance"].to_numpy())
        every = np.arange(len(pages), dtype=np.int32)
        scores = {
            "pagerank": graph.pagerank(),
            "hub": hubs,
            "authority": authorities,
            "links_in": np.bincount(graph.edges_from(every)[1], minlength=len(pages)),
            "links_out": np.bincount(graph.edges_from(every)[0], minlength=len(pages)),
        }
        result = rows.drop_columns(["targets"])
        for name, values in scores.items():
            result = result.append_column(name, pa.array(values))
        return result

    def _numbers(self, pages: Integers, targets: Any) -> Integers:
        """Return the numbers of link targets after redirects; -1 for those that are no page."""
        ends = targets.to_numpy()
        for _ in range(len(self._redirects) and MAX_REDIRECTS):
            moved = ~np.isin(ends, pages)
            ends = ends.copy()
            ends[moved] = [self._redirects.get(end, end) for end in ends[moved].tolist()]
        places = np.minimum(np.searchsorted(pages, ends), max(len(pages) - 1, 0))
        return np.where(pages[places] == ends, places, -1) if len(pages) else places

    def counts(self, result: Any) -> Mapping[str, int]:
        return {"pages": len(result), "links": pc.sum(result["links_out"]).as_py() or 0}


def _targets(page: Mapping[str, Any]) -> list[int]:
    return [fingerprint(link.url) for link in unpacked_links(page["links"])]


def _mapped(
    pages: Any, columns: Sequence[str], compute: Callable[[Mapping[str, Any]], Any], schema: Any, nothing: Any = None
) -> Any:
    """Replace columns of pages by the last column of a schema, which is computed from them; damaged pages have none."""
    kept = pages.select(["fingerprint", "url", "relevance"])
    values, unreadable = [], []
    for page in pages.select(["url", *columns]).to_pylist():
        try:
            values.append(compute(page))
            unreadable.append(False)
        except (DamagedFile, ValueError):
            values.append(nothing)
            unreadable.append(True)
    kept = kept.append_column("unreadable", pa.array(unreadable, pa.bool_()))
    return kept.append_column(schema.names[-1], pa.array(values, schema.types[-1])).cast(schema)


def _true(column: Any) -> int:
    return int(pc.sum(column).as_py() or 0)


def open_job(name: str, crawl: CrawlSetup) -> BatchJob:
    """Return a job with what it needs of the crawl.

    Raises:
        ConfigError: The judge of the crawl does not learn.
    """
    if name == "duplicates":
        return Duplicates()
    if name == "links":
        with PageStoreReader(crawl.folder.pages) as collection:
            return Links(collection.redirects())
    with closing(_ReadOnlyStates(crawl.backend.state_stores())) as states:
        judge = build_judge(crawl, states)
    if not isinstance(judge, Learner):
        raise ConfigError(
            f"the judge {crawl.config.judge.name} does not learn: what it stored is its final judgement. "
            "rejudge is for judges that learn; list them: thresher judges"
        )
    return Rejudge(judge)


class _ReadOnlyStates:
    """State stores that a judge can read and never writes to."""

    def __init__(self, stores: StateStores) -> None:
        self._stores = stores

    def of(self, part: str) -> StateStore:
        return _ReadOnlyState(self._stores.of(part))

    def close(self, seconds: float = CLOSE_SECONDS) -> bool:
        return self._stores.close(seconds)


class _ReadOnlyState:
    """The state of a learner; in another process there is nothing to read."""

    write_seconds = 0.0

    def __init__(self, store: StateStore | None = None) -> None:
        self._store = store

    def __reduce__(self) -> tuple[type[_ReadOnlyState], tuple[()]]:
        return _ReadOnlyState, ()  # a store may have connections and threads

    def write(self, kind: str, content: bytes) -> None:
        pass

    def read(self, kind: str) -> bytes | None:
        return self._store.read(kind) if self._store else None

    def read_others(self, kind: str) -> Sequence[bytes]:
        return self._store.read_others(kind) if self._store else ()


def apply_judgements(crawl: CrawlSetup, rejudged: Any) -> int:
    """Write the changed judgements of pages of this machine to its segments, and adjust the frontier; return how many.

    The caller holds the lock of a run since before the pages were read.
    """
    return asyncio.run(_apply(crawl, rejudged.filter(rejudged["changed"])))


async def _apply(crawl: CrawlSetup, changed: Any) -> int:
    applied = 0
    async with crawl.connect() as connected:
        for path in crawl.folder.segments():
            own = changed.filter(pc.equal(changed["segment"], path.stem))
            with closing(PageStoreWriter(path)) as segment:
                for revisions in _revisions(own):
                    await connected.frontier.adjust_relevant(await segment.revise(revisions))
                    applied += len(revisions)
    return applied


def _revisions(rows: Any) -> Iterator[list[Revision]]:
    for batch in rows.to_batches(max_chunksize=REJUDGE_BATCH):
        yield [Revision(url=row["url"], judgement=_judgement(row)) for row in batch.to_pylist()]


def _judgement(row: Mapping[str, Any]) -> Judgement:
    parts, topics = unpacked_parts(row["parts"]), unpacked_topics(row["topics"])
    if topics:
        best = best_topic(topics)
        return Judgement.of_topics({**topics, best: replace(topics[best], breakdown=parts)})
    return Judgement(relevance=row["relevance"], relevant=row["relevant"], reward=row["reward"], breakdown=parts)
