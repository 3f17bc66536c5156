"""What can go wrong in Thresher itself.

    ThresherError
    ├── ConfigError              topic.yaml or a flag says something that cannot be done
    │   ├── UnknownName          a strategy, judge or backend that nobody registered
    │   └── RefusedAddress       a seed that the address guard will not dial
    ├── CrawlNotFound            the folder holds no crawl
    ├── CrawlBusy                another run of the same crawl is under way
    ├── StoreError               the frontier or the page store cannot be used
    │   ├── DiskFull             no room to write; nothing is lost
    │   └── StoreUnreachable     it may come back; nothing is lost
    └── ExportError              a collection cannot be written as asked

The faults of the web (timeouts, bad HTML, robots) are not here: they are outcomes, see `records.Outcome`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class ThresherError(Exception):
    """Everything that Thresher raises on purpose; `exit_code` is what the command line ends with."""

    exit_code = 1


class ConfigError(ThresherError):
    """What the user asked for cannot be done as written."""

    exit_code = 4


class UnknownName(ConfigError):
    """A name that no built-in and no installed plug-in answers to."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"no {kind} is called {name!r}; known: {', '.join(sorted(known))}")


class RefusedAddress(ConfigError):
    """A seed whose address is never dialled unless the user lists it."""

    def __init__(self, url: str, why: str, remedy: str) -> None:
        super().__init__(f'refused {url}: {why}. If this is your own site: network.allow: ["{remedy}"].')


class CrawlNotFound(ThresherError):
    """A folder without a topic.yaml."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder} holds no crawl (no topic.yaml). Start one: thresher new {folder} --topic …")


class CrawlBusy(ThresherError):
    """One run at a time: its workers share the folder, two supervisors would not."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"a run of {folder} is under way. Look: thresher status {folder}")


class StoreError(ThresherError):
    """The frontier or the page store cannot be used as it is."""


class DiskFull(StoreError):
    """There is no room for another page."""

    exit_code = 3

    def __init__(self) -> None:
        super().__init__("the disk is full; nothing is lost. Make room and run the same command again")


class StoreUnreachable(StoreError):
    """The store does not answer now; it may come back."""

    exit_code = 8


class ExportError(ThresherError):
    """A collection cannot be written as asked."""
