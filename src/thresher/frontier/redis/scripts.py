"""The scripts that run inside the store, put together from `lua/*.lua` and the parts that each says it needs.

Their texts never change at run time: what a call brings along travels as arguments, so no URL can become code.
"""

from __future__ import annotations

import hashlib
import re
import struct
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from thresher.frontier.base import MAX_TRIES
from thresher.records import Merge

_NEEDS = re.compile(r"^-- needs: (.*)$", re.MULTILINE)
_MERGES = {Merge.MAX: b"m", Merge.MEAN: b"a", Merge.FIRST: b"f"}

NAMES = (
    "add",
    "adjust",
    "commit",
    "counts",
    "enter",
    "find",
    "lease",
    "leave",
    "look",
    "next_time",
    "park",
    "recall",
    "release",
    "remember",
    "reopen",
    "rescore",
    "unpark",
)


@dataclass(frozen=True, slots=True)
class Script:
    """A script's text, and the name that the store gives it.

    Args:
        new: What is added to its arguments when the store does not know it: the store is new, or was started again.
    """

    name: str
    text: str
    sha: str
    new: tuple[bytes, ...] = ()


@cache
def script(name: str) -> Script:
    """Put a script together."""
    text = _lua(f"{name}.lua")
    needs = _NEEDS.search(text)
    assert needs is not None, f"{name}.lua does not say what it needs"
    whole = "\n".join([*(_lua(f"parts/{part}.lua") for part in needs[1].split()), text])
    sha = hashlib.sha1(whole.encode(), usedforsecurity=False).hexdigest()
    return Script(name, whole, sha, (b"new",) if name == "lease" else ())


def _lua(name: str) -> str:
    return files("thresher.frontier.redis").joinpath("lua", *name.split("/")).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What every call tells the store about the frontier; `parts/call.lua` reads it.

    Args:
        merge: What becomes of the score when a waiting URL is found again.
        leases_per_host: How many URLs of one host may be out at the same time.
        waiting_per_host: How many URLs of one host may wait.
        delay_seconds: How long a host is left alone after a lost lease when none was ever settled.
        chunk_size: How many URLs of a host wait in one hash, on average, before it is split.
        seen_keys: Over how many sets the seen URLs of a shard are spread; fixed when a crawl begins.
        most_at_once: How many ended leases and woken hosts one call sees to.
    """

    merge: Merge = Merge.MAX
    leases_per_host: int = 1
    waiting_per_host: int = 10_000
    delay_seconds: float = 0.0
    chunk_size: int = 128
    seen_keys: int = 8_192
    most_at_once: int = 200

    def to_bytes(self) -> bytes:
        """Pack the settings."""
        return struct.pack(
            ">IIdIcIII",
            self.leases_per_host,
            self.waiting_per_host,
            self.delay_seconds,
            MAX_TRIES,
            _MERGES[self.merge],
            self.chunk_size,
            self.seen_keys,
            self.most_at_once,
        )
