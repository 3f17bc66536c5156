"""A clock that stands still until a test moves it."""

from dataclasses import dataclass


@dataclass
class Clock:
    """Time as a number that a test sets."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now
