"""What the dashboard answers when it does not do what it was asked."""

from __future__ import annotations

from thresher.errors import ConfigError, StoreError, ThresherError


class Refused(ThresherError):
    """A request that is not answered as asked; `status` is the HTTP status that says so."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class UnknownCrawl(Refused):
    """No crawl of that name is looked at here."""

    def __init__(self, name: str) -> None:
        super().__init__(404, f"no crawl called {name[:100]!r} is shown here")


def status_of(error: ThresherError) -> int:
    """Return the HTTP status for an error of ours."""
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, StoreError):
        return 503
    return 400 if isinstance(error, ConfigError) else 409
