"""The findings of a check."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

MAX_EXAMPLES = 5


class FindingState(StrEnum):
    """The severity of a finding."""

    NOTE = "note"
    """Nothing is wrong, or it is corrected when the crawl continues."""
    WRONG = "wrong"
    """``--repair`` corrects it."""
    REPAIRED = "repaired"
    """It was wrong and has been repaired."""
    LOST = "lost"
    """It cannot be repaired."""


@dataclass(frozen=True, kw_only=True)
class VerifyFinding:
    """One kind of problem.

    Args:
        part: Of the crawl: pages, frontier, warc.
        words: A message without the number.
        number: How many there are; 0 when the message has none.
        examples: The first few.
    """

    part: str
    state: FindingState
    words: str
    number: int = 0
    examples: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class VerifyReport:
    """The result of a check.

    Args:
        looked_at: How much was checked, by name.
        unchecked: What could not be compared, and why.
    """

    findings: Sequence[VerifyFinding] = ()
    looked_at: dict[str, int] = field(default_factory=dict)
    unchecked: Sequence[str] = ()

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong, or everything has been repaired."""
        return not any(finding.state in (FindingState.WRONG, FindingState.LOST) for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        findings = [{**asdict(finding), "state": str(finding.state)} for finding in self.findings]
        return {
            "clean": self.is_clean,
            "looked_at": dict(self.looked_at),
            "findings": findings,
            "unchecked": list(self.unchecked),
        }


@dataclass
class FindingTally:
    """A counter of one kind of problem, with the first few examples."""

    number: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str, number: int = 1) -> None:
        self.number += number
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(example)

    def found(self, part: str, state: FindingState, words: str) -> list[VerifyFinding]:
        """Return the counter as a list of one finding; empty when it is zero.

        Args:
            words: With both forms of words that depend on the number, such as ``page|pages``.
        """
        if not self.number:
            return []
        words = re.sub(r"(\w{1,20})\|(\w{1,20})", r"\1" if self.number == 1 else r"\2", words)
        return [VerifyFinding(part=part, state=state, words=words, number=self.number, examples=tuple(self.examples))]
