"""What every judge promises."""

from __future__ import annotations

from typing import Protocol

from thresher.records import Judgement, ParsedPage


class Judge(Protocol):
    """Says how well a page fits the topic, and what that was made of."""

    def judge(self, page: ParsedPage) -> Judgement:
        """Judge one page; never raises for anything a page can contain."""
        ...
