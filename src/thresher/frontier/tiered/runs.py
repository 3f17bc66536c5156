"""Runs: sorted files of cold URLs, the Bloom filters of their URLs, and how the copies of a URL are merged."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from thresher.frontier.base import is_same_score
from thresher.frontier.redis.codec import HostRecord, Name, Record, join_record, split_record, to_bytes
from thresher.records import Merge

FILTER_BITS = 12
"""Bits of a Bloom filter per URL."""
FILTER_PROBES = 6
"""Bits that are set for each URL; `lua/parts/tiers.lua` has the same number."""
FALSE_POSITIVE_RATE = (1 - math.exp(-FILTER_PROBES / FILTER_BITS)) ** FILTER_PROBES
"""Probability that the filter of one run takes a URL for one of its own."""

ROW_GROUP = 8_192
_MIN_BITS = 4_096
_SEAL = b"thresher run 1\n"
_SEALED = 1 << 31
_LISTED = struct.Struct(">8sI")
_KEY = struct.Struct(">II")
_BAR = struct.Struct(">dI")

SCHEMA = pa.schema(
    [
        ("host", pa.binary()),
        ("rest", pa.binary()),
        ("key", pa.uint64()),
        ("score", pa.float64()),
        ("age", pa.uint32()),
        ("flags", pa.uint8()),
        ("tail", pa.binary()),
    ]
)
"""A cold URL: host and rest are its `Name`, key is 64 bits of its hash; the others are its record."""


@dataclass(frozen=True, slots=True)
class ColdRun:
    """A run as the store lists it: 8 bytes that name it, and the size of its Bloom filter."""

    name: bytes
    bits: int

    @classmethod
    def new(cls, migrator: int, number: int, rows: int) -> ColdRun:
        bits = max(_MIN_BITS, rows * FILTER_BITS) | 1  # odd: few probes coincide
        return cls(_KEY.pack(migrator, _SEALED | number), bits)

    @property
    def migrator(self) -> int:
        return int(_KEY.unpack(self.name)[0])

    @property
    def is_sealed(self) -> bool:
        """Whether its object has a checksum, and the id of the crawl in its name; runs of version 0.2.0 do not."""
        return bool(_KEY.unpack(self.name)[1] & _SEALED)

    @property
    def urls(self) -> int:
        """How many URLs it has; of a small run an upper bound."""
        return self.bits // FILTER_BITS

    def to_bytes(self) -> bytes:
        return _LISTED.pack(self.name, self.bits)


def read_list(content: bytes | None) -> list[ColdRun]:
    """Return the runs of a partition, the oldest first."""
    return [ColdRun(*fields) for fields in _LISTED.iter_unpack(content or b"")]


def write_list(runs: Iterable[ColdRun]) -> bytes:
    """Encode the runs of a partition for the store."""
    return b"".join(run.to_bytes() for run in runs)


class RunDamaged(Exception):
    """The object of a run is missing, or does not have the content that was written under its name."""


def seal(content: bytes, name: str) -> bytes:
    """Return the content of an object with a checksum of its name and content in front."""
    return _SEAL + _checksum(content, name) + content


def unseal(sealed: bytes, name: str) -> bytes:
    """Return the content of a sealed object.

    Raises:
        RunDamaged: It is not what was written under this name.
    """
    content = sealed[len(_SEAL) + hashlib.sha256().digest_size :]
    if sealed[: len(sealed) - len(content)] != _SEAL + _checksum(content, name):
        raise RunDamaged("its checksum is wrong")
    return content


def _checksum(content: bytes, name: str) -> bytes:
    digest = hashlib.sha256(name.encode())
    digest.update(content)
    return digest.digest()


def key_of(name: Name) -> int:
    """Return 64 bits of the hash of a URL."""
    return name.number << 32 | int(name.member) & 0xFFFFFFFF


def key_bytes(key: int) -> bytes:
    """Return the field of a URL among the new scores."""
    return key.to_bytes(8, "big")


def rank_bytes(score: float, age: int) -> bytes:
    """Encode the rank of a host's best cold URL."""
    return _BAR.pack(score, age)


@dataclass(frozen=True, slots=True)
class ColdUrl:
    """A cold URL, or one that is about to be."""

    host: bytes
    rest: bytes
    key: int
    score: float
    age: int
    flags: int
    tail: bytes

    @classmethod
    def of(cls, host: bytes, rest: bytes, key: int, record: bytes) -> ColdUrl:
        age, flags, score, tail = split_record(record)
        return cls(host, rest, key, score, age, flags, tail)

    @property
    def rank(self) -> tuple[float, int]:
        return -self.score, self.age

    @property
    def record(self) -> bytes:
        return join_record(self.age, self.flags, self.score, self.tail)


class Rows:
    """Cold URLs as a table, in the order of `SCHEMA`."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    @classmethod
    def of(cls, urls: Sequence[ColdUrl]) -> Rows:
        columns = {name: [getattr(url, name) for url in urls] for name in SCHEMA.names}
        return cls(pa.table(columns, schema=SCHEMA))

    @classmethod
    def read(cls, content: bytes, hosts: set[bytes] | None = None) -> Rows:
        """Read a run, or its URLs of some hosts.

        Raises:
            RunDamaged: It is not such a file; without a checksum, some changes of bytes are not noticed.
        """
        try:
            file = pq.ParquetFile(pa.BufferReader(content))
            if not file.schema_arrow.equals(SCHEMA):
                raise RunDamaged("it has other columns")
            if hosts is None:
                return cls(file.read())
            groups = [n for n in range(file.num_row_groups) if _may_have(file.metadata.row_group(n), hosts)]
            table = file.read_row_groups(groups)
        except MemoryError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise RunDamaged(f"it cannot be read: {error}") from error
        wanted = pc.is_in(table["host"], value_set=pa.array(sorted(hosts), type=pa.binary()))
        return cls(table.filter(wanted))

    def to_parquet(self) -> bytes:
        sink = pa.BufferOutputStream()
        pq.write_table(
            self.table,
            sink,
            compression="zstd",
            row_group_size=ROW_GROUP,
            use_dictionary=["host"],
            write_statistics=["host"],
        )
        return bytes(sink.getvalue())

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def keys(self) -> NDArray[np.uint64]:
        return np.asarray(self.table["key"].to_numpy(), dtype=np.uint64)

    @property
    def scores(self) -> NDArray[np.float64]:
        return np.asarray(self.table["score"].to_numpy(), dtype=np.float64)

    @property
    def ages(self) -> NDArray[np.uint32]:
        return np.asarray(self.table["age"].to_numpy(), dtype=np.uint32)

    def urls(self) -> list[ColdUrl]:
        columns: list[list[Any]] = [self.table[name].to_pylist() for name in SCHEMA.names]
        return [ColdUrl(*row) for row in zip(*columns, strict=True)]

    def sorted(self) -> Rows:
        """Sort by host; then the greatest score first; among equals the oldest."""
        order = [("host", "ascending"), ("score", "descending"), ("age", "ascending")]
        return Rows(self.table.sort_by(order))

    def take(self, chosen: NDArray[Any]) -> Rows:
        """Return the rows of a mask or of indexes."""
        return Rows(self.table.filter(pa.array(chosen)) if chosen.dtype == bool else self.table.take(pa.array(chosen)))

    def part(self, begin: int, end: int | None = None) -> Rows:
        """Return some rows that follow each other."""
        return Rows(self.table.slice(begin, None if end is None else end - begin))

    def bloom_filter(self, bits: int) -> bytes:
        """Return the Bloom filter of the URLs, as a string of bits as the store counts them."""
        return filter_of(self.keys, bits)

    def by_host(self) -> dict[bytes, tuple[int, int]]:
        """Return where the rows of each host begin and end; the rows must be sorted."""
        encoded = pc.run_end_encode(self.table["host"].combine_chunks())
        ends = encoded.run_ends.to_pylist()
        return dict(zip(encoded.values.to_pylist(), zip([0, *ends], ends, strict=False), strict=True))


def filter_of(keys: NDArray[np.uint64], bits: int) -> bytes:
    """Return the Bloom filter of some keys."""
    at, step = keys & np.uint64(0xFFFFFFFF), keys >> np.uint64(32)
    is_set = np.zeros(bits, dtype=bool)
    for _ in range(FILTER_PROBES):
        is_set[at % np.uint64(bits)] = True
        at = at + step
    return np.packbits(is_set).tobytes()


def _may_have(group: Any, hosts: set[bytes]) -> bool:
    statistics = group.column(0).statistics
    if statistics is None or not statistics.has_min_max:
        return True
    first, last = _as_bytes(statistics.min), _as_bytes(statistics.max)
    return any(first <= host <= last for host in hosts)


def _as_bytes(value: bytes | str) -> bytes:
    return value if isinstance(value, bytes) else to_bytes(value)


class NewScore(NamedTuple):
    """A new score of a cold URL, kept in the store until the URL is read.

    Args:
        was: The score that the URL must still have, if any.
        ages: Copies of this age or later are not changed: they were found after the new score was computed.
    """

    score: float
    was: float | None = None
    ages: float = math.inf

    @classmethod
    def read_all(cls, content: bytes) -> list[NewScore]:
        """Return the new scores of a URL in their order, as `parts/tiers.lua` writes them."""
        parts = [each.split(b" ") for each in content.split(b";")]
        return [cls(float(score), float(was) if was else None, float(ages)) for score, was, ages in parts]


def merge_rows(
    parts: Sequence[Rows],
    merge: Merge,
    new_scores: Mapping[int, Sequence[NewScore]],
    hosts: Mapping[bytes, HostRecord],
) -> Rows:
    """Join rows, those of the oldest run first: one of each URL, with the new scores of its key applied, sorted."""
    rows = Rows(pa.concat_tables([part.table for part in parts])) if parts else Rows(SCHEMA.empty_table())
    if new_scores:
        rows = _rescored(rows, new_scores)
    return _without_copies(rows, merge, hosts).sorted()


def _without_copies(rows: Rows, merge: Merge, hosts: Mapping[bytes, HostRecord]) -> Rows:
    order = np.argsort(rows.keys, kind="stable")  # copies keep the order of their runs
    keys = rows.keys[order]
    is_copy = np.zeros(len(rows), dtype=bool)
    is_copy[1:] = keys[1:] == keys[:-1]
    if not is_copy.any():
        return rows
    has_copies = is_copy.copy()
    has_copies[:-1] |= is_copy[1:]
    copies: dict[int, ColdUrl] = {}
    for url in rows.take(order[has_copies]).urls():
        known = copies.get(url.key)
        if known is not None and not was_loaded(known, hosts.get(url.host)):
            url = merge_copies(known, url, merge)
        copies[url.key] = url
    single = rows.take(order[~has_copies])
    return Rows(pa.concat_tables([single.table, Rows.of(list(copies.values())).table]))


def merge_copies(old: ColdUrl, new: ColdUrl, merge: Merge) -> ColdUrl:
    """Merge two copies of a URL: of the same age, the newer is what the older became; else it was found again.

    A loaded copy must not be merged into a later one: the result may rank as the older one, before best_cold of the
    host, and would be taken for loaded.
    """
    if old.age == new.age:
        return new
    before, found = Record.read(old.record), Record.read(new.record)
    winner = found if found.score > before.score and merge is not Merge.FIRST else before
    score = winner.score
    if merge is Merge.MEAN:
        times = before.found + found.found
        score = (before.score * before.found + found.score * found.found) / times
    merged = replace(
        winner,
        score=score,
        depth_left=max(before.depth_left, found.depth_left),
        hops=min(before.hops, found.hops),
        kind=max(filter(None, (before.kind, found.kind)), default=before.kind),
        tries=max(before.tries, found.tries),
        unbegun=max(before.unbegun, found.unbegun),
        reason=found.reason or before.reason,
        found=before.found + found.found if merge is Merge.MEAN else 1,
    )
    return ColdUrl.of(old.host, old.rest, old.key, merged.to_bytes())


def _rescored(rows: Rows, new_scores: Mapping[int, Sequence[NewScore]]) -> Rows:
    at = np.flatnonzero(np.isin(rows.keys, np.fromiter(new_scores, dtype=np.uint64)))
    if not at.size:
        return rows
    scores, changed = rows.scores.copy(), []
    for key, age, score in zip(rows.keys[at].tolist(), rows.ages[at].tolist(), scores[at].tolist(), strict=True):
        for new in new_scores[key]:
            if age < new.ages and (new.was is None or is_same_score(new.was, score)):
                score = new.score
        changed.append(score)
    scores[at] = changed
    column = SCHEMA.get_field_index("score")
    return Rows(rows.table.set_column(column, "score", pa.array(scores)))


def is_loaded(rows: Rows, best_colds: NDArray[Any], best_cold_ages: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows rank before the bars of their hosts: they were loaded."""
    scores = rows.scores
    loaded: NDArray[np.bool_] = (scores > best_colds) | ((scores == best_colds) & (rows.ages < best_cold_ages))
    return loaded


def still_cold(rows: Rows, host: HostRecord) -> Rows:
    """Return the rows of a host that were not loaded."""
    return rows.take(~is_loaded(rows, np.array([host.best_cold]), np.array([host.best_cold_age])))


def was_loaded(url: ColdUrl, host: HostRecord | None) -> bool:
    """Return whether a URL ranks before best_cold of its host."""
    return host is not None and url.rank < (-host.best_cold, host.best_cold_age)
