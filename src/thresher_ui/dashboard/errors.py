"""Errors of the dashboard and their HTTP statuses."""

from __future__ import annotations

from thresher.errors import ConfigError, StoreError, ThresherError
from thresher.locale.translation import _


class Refused(ThresherError):
    """A refused request, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class CrawlNotServed(Refused):
    """The dashboard serves no crawl of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(404, _("no crawl called {name!r} is shown here", name=name[:100]))


def status_of(error: ThresherError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, StoreError):
        return 503
    return 400 if isinstance(error, ConfigError) else 409
