"""What a visit is told of the page that it looks at again; it travels in the lease, so any worker can make it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from thresher.archive.pages import UNCHANGED, PageRecord
from thresher.records import Carry, FetchedPage, Json, Lease, Outcome, Settlement
from thresher.urls.canonical import fingerprint

_KEY = "visited"
_MAX_LENGTH = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was known of a page when it was put into the queue again.

    Args:
        text_hash: Of its text.
        etag: The server's name for that version.
        last_modified: When it changed last, in the server's words.
    """

    text_hash: int
    relevant: bool = False
    etag: str = ""
    last_modified: str = ""

    def carried(self, carry: Carry) -> Carry:
        """Return what goes into the queue, beside what the strategy wants back."""
        return {**carry, _KEY: [str(self.text_hash), self.relevant, self.etag, self.last_modified]}


def told_of(lease: Lease) -> Told | None:
    """Return what a visit is told; None when a URL is fetched for the first time."""
    said = lease.carry.get(_KEY) if lease.carry else None
    return _read(said) if said else None


def without_told(carry: Carry) -> Carry:
    """Return what goes on to other URLs, such as the target of a redirect."""
    return {name: value for name, value in carry.items() if name != _KEY} if _KEY in carry else carry


def _read(said: Json) -> Told | None:
    match said:
        case [str(text_hash), bool(relevant), str(etag), str(last_modified)] if text_hash.lstrip("-").isdecimal():
            return Told(text_hash=int(text_hash), relevant=relevant, etag=etag, last_modified=last_modified)
    return None


def question_headers(lease: Lease) -> dict[str, str]:
    """Return the headers that ask a server for a page only if it has changed."""
    told = told_of(lease)
    if told is None:
        return {}
    asked = {"If-None-Match": told.etag, "If-Modified-Since": told.last_modified}
    return {name: value for name, value in asked.items() if value}


def validator(headers: Mapping[str, str], name: str) -> str:
    """Return a header by which a server knows a version again; empty when it cannot be sent back as it came."""
    value = headers.get(name, "").strip()
    return value if len(value) <= _MAX_LENGTH and value.isascii() and value.isprintable() else ""


def unchanged(lease: Lease, fetched: FetchedPage, told: Told) -> tuple[PageRecord, Settlement]:
    """Record and settle a visit that found a page as it was; the row that the page came with still counts."""
    record = PageRecord(
        fingerprint=fingerprint(lease.url),
        url=lease.url,
        status=fetched.status,
        outcome=Outcome.DONE,
        reason=UNCHANGED,
        fetched_at=fetched.fetched_at,
        score=lease.score,
        parent=lease.parent,
        depth=lease.hops,
        text_hash=told.text_hash,
        elapsed_seconds=fetched.elapsed_seconds,
        bytes=len(fetched.body),
        etag=validator(fetched.headers, "etag") or told.etag,
        last_modified=validator(fetched.headers, "last-modified") or told.last_modified,
    )
    outcome = Outcome.DONE
    settled = Settlement(lease=lease, outcome=outcome, reason=UNCHANGED, page=True, relevant=told.relevant)
    return record, settled


def with_validators(record: PageRecord, fetched: FetchedPage) -> PageRecord:
    """Note by what the server will know this version of a page again."""
    etag, last_modified = validator(fetched.headers, "etag"), validator(fetched.headers, "last-modified")
    return replace(record, etag=etag, last_modified=last_modified) if etag or last_modified else record
