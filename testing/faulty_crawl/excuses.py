"""Which kill or trouble has to answer for a page that was fetched twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from testing.recording_server.report import Repeat


class Trouble(Protocol):
    """From one moment to another, workers could not do what they should."""

    @property
    def before_ns(self) -> int:
        """When all was well."""
        ...

    @property
    def after_ns(self) -> int:
        """When it was over."""
        ...


def by_trouble(repeats: Sequence[Repeat], troubles: Sequence[Trouble], bounds: Sequence[int]) -> dict[int | None, int]:
    """Count the repeats that each trouble has to answer for; those under None have no excuse.

    Two workers can be in trouble at the same time, and a repeat does not say whose it is: it goes to the first
    trouble that may have caused it and is not yet at its bound, and to the first of all when every one is.
    """
    counts: dict[int | None, int] = {}
    for repeat in repeats:
        excuses = [number for number, trouble in enumerate(troubles) if _excuses(trouble, repeat)]
        with_room = (number for number in excuses if counts.get(number, 0) < bounds[number])
        number = next(with_room, next(iter(excuses), None))
        counts[number] = counts.get(number, 0) + 1
    return counts


def _excuses(trouble: Trouble, repeat: Repeat) -> bool:
    """Whether trouble fell between the start of a fetch and that of its repetition, in part at least."""
    return repeat.before.start_ns <= trouble.after_ns and trouble.before_ns <= repeat.after.start_ns
