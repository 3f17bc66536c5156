"""What was found when a crawl was looked over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

MOST_EXAMPLES = 5


class State(StrEnum):
    """How bad it is."""

    NOTE = "note"
    """Nothing is wrong, or it heals by itself when the crawl goes on."""
    WRONG = "wrong"
    """It does not heal by itself; ``--repair`` mends it."""
    MENDED = "mended"
    """It was wrong."""
    LOST = "lost"
    """It cannot be mended."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was found.

    Args:
        part: Of the crawl: pages, frontier, warc.
        words: What it is, for people, without the number.
        number: How many of them.
        examples: The first few, to look at.
    """

    part: str
    state: State
    words: str
    number: int = 1
    examples: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that was found.

    Args:
        looked_at: What there was to look at, by name.
        unchecked: What could not be compared, and why.
    """

    findings: Sequence[Finding] = ()
    looked_at: dict[str, int] = field(default_factory=dict)
    unchecked: Sequence[str] = ()

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong, or nothing is any more."""
        return not any(finding.state in (State.WRONG, State.LOST) for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        findings = [{**asdict(finding), "state": str(finding.state)} for finding in self.findings]
        return {
            "clean": self.is_clean,
            "looked_at": dict(self.looked_at),
            "findings": findings,
            "unchecked": list(self.unchecked),
        }


@dataclass
class Tally:
    """Counts things of one kind, and remembers the first few."""

    number: int = 0
    examples: list[str] = field(default_factory=list)

    def take(self, example: str) -> None:
        """Count one."""
        self.number += 1
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.append(example)

    def found(self, part: str, state: State, words: str) -> list[Finding]:
        """Return what was counted as a finding; none when there was nothing."""
        if not self.number:
            return []
        return [Finding(part=part, state=state, words=words, number=self.number, examples=tuple(self.examples))]
