"""What the project collects."""

from dataclasses import dataclass


@dataclass
class Page:
    """A page, and how well it fits the topic as far as anybody knows."""

    url: str
    title: str
    relevance: float | None = None
