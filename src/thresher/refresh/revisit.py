"""Validators of a page for its next visit; they travel in the lease, so any worker can make the visit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from thresher.records import FetchedPage, Json, Lease, Outcome, Settlement, StrategyData
from thresher.storage.page_store import UNCHANGED, PageRecord
from thresher.urls.canonical import fingerprint

_KEY = "visited"
_MAX_LENGTH = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Validators:
    """What was known of a page when its revisit was queued.

    Args:
        etag: The header of that name, as the server sent it.
        last_modified: The header of that name, as the server sent it.
    """

    text_hash: int
    relevant: bool = False
    etag: str = ""
    last_modified: str = ""

    def added_to(self, strategy_data: StrategyData) -> StrategyData:
        """Return strategy data with the validators added to the strategy's own values."""
        return {**strategy_data, _KEY: [str(self.text_hash), self.relevant, self.etag, self.last_modified]}


def validators_of(lease: Lease) -> Validators | None:
    """Return the validators in a lease; None for the first fetch of a URL."""
    stored = lease.strategy_data.get(_KEY) if lease.strategy_data else None
    return _read(stored) if stored else None


def without_validators(strategy_data: StrategyData) -> StrategyData:
    """Return strategy data for other URLs, such as the target of a redirect."""
    return (
        {name: value for name, value in strategy_data.items() if name != _KEY}
        if _KEY in strategy_data
        else strategy_data
    )


def _read(stored: Json) -> Validators | None:
    match stored:
        case [str(text_hash), bool(relevant), str(etag), str(last_modified)] if text_hash.lstrip("-").isdecimal():
            return Validators(text_hash=int(text_hash), relevant=relevant, etag=etag, last_modified=last_modified)
    return None


def conditional_headers(lease: Lease) -> dict[str, str]:
    """Return the headers of a conditional request: If-None-Match and If-Modified-Since."""
    validators = validators_of(lease)
    if validators is None:
        return {}
    headers = {"If-None-Match": validators.etag, "If-Modified-Since": validators.last_modified}
    return {name: value for name, value in headers.items() if value}


def validator(headers: Mapping[str, str], name: str) -> str:
    """Return a validator header; empty when it cannot be sent back unchanged."""
    value = headers.get(name, "").strip()
    return value if len(value) <= _MAX_LENGTH and value.isascii() and value.isprintable() else ""


def unchanged(lease: Lease, fetched: FetchedPage, validators: Validators) -> tuple[PageRecord, Settlement]:
    """Return record and settlement of a visit that found a page unchanged; the page's earlier row stays valid."""
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
        text_hash=validators.text_hash,
        elapsed_seconds=fetched.elapsed_seconds,
        bytes=len(fetched.body),
        etag=validator(fetched.headers, "etag") or validators.etag,
        last_modified=validator(fetched.headers, "last-modified") or validators.last_modified,
    )
    outcome = Outcome.DONE
    settled = Settlement(lease=lease, outcome=outcome, reason=UNCHANGED, page=True, relevant=validators.relevant)
    return record, settled


def with_validators(record: PageRecord, fetched: FetchedPage) -> PageRecord:
    """Add the validators of a response to its record."""
    etag, last_modified = validator(fetched.headers, "etag"), validator(fetched.headers, "last-modified")
    return replace(record, etag=etag, last_modified=last_modified) if etag or last_modified else record
