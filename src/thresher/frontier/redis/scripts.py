"""Lua scripts that run inside the store, assembled from `lua/*.lua` and the parts listed in their `needs:` line.

Their text never changes at run time: data is passed as arguments only, so no URL can become code.
"""

from __future__ import annotations

import hashlib
import re
import struct
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from thresher.frontier.base import MAX_TRIES, MAX_UNBEGUN
from thresher.records import Merge

_NEEDS = re.compile(r"^-- needs: (.*)$", re.MULTILINE)
_MERGES = {Merge.MAX: b"m", Merge.MEAN: b"a", Merge.FIRST: b"f"}

NAMES = (
    "absent",
    "add",
    "adjust",
    "audit",
    "begin",
    "commit",
    "counts",
    "acquire_lock",
    "evict",
    "find",
    "lease",
    "release_lock",
    "load",
    "peek_shard",
    "next_time",
    "park",
    "get_state",
    "fix_cold_counts",
    "release",
    "put_state",
    "reopen",
    "rescore",
    "set_runs",
    "spill",
    "unpark",
)


@dataclass(frozen=True, slots=True)
class LuaScript:
    """A script and its hash, by which the store knows it.

    Args:
        new: Extra arguments when the store does not have the script: it is new, or was restarted.
    """

    name: str
    text: str
    sha: str
    new: tuple[bytes, ...] = ()


@cache
def script(name: str) -> LuaScript:
    """Assemble a script."""
    text = _lua(f"{name}.lua")
    needs = _NEEDS.search(text)
    assert needs is not None, f"{name}.lua has no needs: line"
    whole = "\n".join([*(_lua(f"parts/{part}.lua") for part in needs[1].split()), text])
    sha = hashlib.sha1(whole.encode(), usedforsecurity=False).hexdigest()
    return LuaScript(name, whole, sha, (b"new",) if name == "lease" else ())


def _lua(name: str) -> str:
    return files("thresher.frontier.redis").joinpath("lua", *name.split("/")).read_text(encoding="utf-8")


MIN_HOT = 24
"""Number of URLs of a host that stay hot in any case: the store needs about 100 bytes for each."""

PARTITIONS = 256
"""Number of parts of the cold storage of a shard: each is read and written as a whole, so a million URLs are enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the frontier that every call passes to the store; decoded in `parts/call.lua`.

    Args:
        merge: How the score changes when a waiting URL is found again.
        leases_per_host: Maximum number of open leases of one host.
        waiting_per_host: Maximum number of waiting URLs of one host.
        delay_seconds: Delay of a host after an expired lease, until a settlement sets it.
        chunk_size: Average number of waiting URLs of a host in one hash before it is split.
        seen_keys: Number of sets that hold the seen URLs of a shard; fixed when a crawl begins.
        most_at_once: Maximum number of expired leases and woken hosts that one call handles.
        hot_urls: Number of waiting URLs of a shard above which the worse ones of its hosts become cold; 0 for never.
        least_hot: Number of URLs of a host that stay hot in any case.
        partitions: Number of parts of the cold storage of a shard; fixed when a crawl begins.
    """

    merge: Merge = Merge.MAX
    leases_per_host: int = 1
    waiting_per_host: int = 10_000
    delay_seconds: float = 0.0
    chunk_size: int = 128
    seen_keys: int = 8_192
    most_at_once: int = 200
    hot_urls: int = 0
    least_hot: int = MIN_HOT
    partitions: int = PARTITIONS

    def to_bytes(self) -> bytes:
        return struct.pack(
            ">IIdIIcIIIdII",
            self.leases_per_host,
            self.waiting_per_host,
            self.delay_seconds,
            MAX_TRIES,
            MAX_UNBEGUN,
            _MERGES[self.merge],
            self.chunk_size,
            self.seen_keys,
            self.most_at_once,
            self.hot_urls,
            self.least_hot,
            self.partitions,
        )
