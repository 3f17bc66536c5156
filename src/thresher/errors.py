"""Exceptions of Thresher.

    ThresherError
    ├── ConfigError              topic.yaml or a flag is invalid
    │   ├── UnknownName          a strategy, judge or backend that is not registered
    │   ├── UnknownCrawl         the store has no crawl of that name
    │   ├── NoSeeds              a crawl without seeds
    │   ├── MissingExtra         a package of an extra is not installed
    │   └── RefusedAddress       a seed with an address that may not be contacted
    ├── CrawlNotFound            the folder contains no crawl
    ├── CrawlBusy                another run of the same crawl is under way
    ├── StoreError               the frontier or the page store cannot be used
    │   ├── DiskFull             no space to write; nothing is lost
    │   ├── DamagedFile          a file of the crawl is damaged
    │   ├── StoreUnreachable     it may come back; nothing is lost
    │   ├── StoreRefused         it requires a password, or is a read-only replica
    │   ├── ObjectMissing        object storage does not have an object
    │   └── StoreLost            it no longer contains the crawl
    └── ExportError              a collection cannot be exported as requested

Errors of the web (timeouts, bad HTML, robots) are not exceptions but outcomes, see `records.Outcome`.
"""

from __future__ import annotations

import errno
import resource
import sqlite3
from collections.abc import Iterable
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

from thresher.locale.translation import Translatable, _


class ThresherError(Exception):
    """Base class of all deliberate errors; `exit_code` is that of the command line."""

    exit_code = 1


class ConfigError(ThresherError):
    """The configuration or a command is invalid."""

    exit_code = 4


class UnknownName(ConfigError):
    """A name of neither a built-in nor an installed plug-in."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        hint, names = did_you_mean(name, known), ", ".join(known)
        super().__init__(
            _("no {kind} is called {name!r};{hint} known: {known}", kind=_(kind), name=name, hint=hint, known=names)
        )


class UnknownCrawl(ConfigError):
    """A crawl that is not in the store."""

    def __init__(self, name: str) -> None:
        super().__init__(
            _("the store holds no crawl called {name!r}; start one: thresher run DIR --store URL", name=name)
        )


class NoSeeds(ConfigError):
    """A crawl without seeds."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            _(
                "no seeds: write one URL per line into {file}, or find some: thresher seeds --into {folder}",
                file=file,
                folder=file.parent,
            )
        )


class RefusedAddress(ConfigError):
    """A seed whose address is never contacted unless the user lists it."""

    def __init__(self, url: str, why: str, remedy: str) -> None:
        super().__init__(
            _(
                'refused {url}: {reason}. If this is your own site: network.allow: ["{remedy}"].',
                url=url,
                reason=_(why),
                remedy=remedy,
            )
        )


class MissingExtra(ConfigError):
    """A package is not installed that an extra brings."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            _(
                '{what} needs {package}: pip install "thresher-crawler[{extra}]"',
                what=what,
                package=package,
                extra=extra,
            )
        )


class CrawlNotFound(ThresherError):
    """A folder without a topic.yaml."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            _("{folder} holds no crawl (no topic.yaml). Start one: thresher new {folder} --topic …", folder=folder)
        )


class CrawlBusy(ThresherError):
    """Another run uses the folder: it is for one supervisor and its workers."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            _(
                "a run of {folder} is under way, and a folder takes one run at a time. "
                "Wait for it, or stop it: thresher stop {folder}",
                folder=folder,
            )
        )


class StoreError(ThresherError):
    """The frontier or the page store cannot be used."""


_FULL, _MAKE_ROOM = _("the disk is full"), _("Make room")


class DiskFull(StoreError):
    """The disk is full, or a size limit is reached."""

    exit_code = 3

    def __init__(self, cause: str = _FULL, remedy: str = _MAKE_ROOM) -> None:
        super().__init__(
            _("{cause}; nothing is lost. {remedy} and run the same command again", cause=cause, remedy=remedy)
        )


REPAIR = _("repair it: thresher verify DIR --repair")
"""What to do about damaged files of a crawl or a collection."""


class DamagedFile(StoreError):
    """A file of the crawl is damaged."""


class StoreUnreachable(StoreError):
    """The store does not respond; it may come back."""

    exit_code = 8


class StoreRefused(StoreError):
    """The store responds but refuses access: the password is missing or wrong, or it is read-only."""

    exit_code = 8


class ObjectMissing(StoreError):
    """An object does not exist."""

    def __init__(self, url: str, key: str) -> None:
        super().__init__(_("{url} has no object {key}", url=url, key=key))


class StoreLost(StoreError):
    """The store no longer contains the crawl, though the crawl's folder was used with it before."""

    exit_code = 8

    def __init__(self, store: str, what: str) -> None:
        super().__init__(
            _(
                "{store} has lost this crawl: {what}. Restore it from a copy, or queue again what the page store "
                "knows: thresher verify DIR --repair, then run again",
                store=store,
                what=what,
            )
        )


class ExportError(ThresherError):
    """A collection cannot be exported as requested."""


def require(package: str, *, extra: str, what: str) -> None:
    """Check before any work is done that a package is installed.

    Args:
        package: Its name in an import.
        what: What needs it, for the message.

    Raises:
        MissingExtra: It is not.
    """
    if find_spec(package) is None:
        raise MissingExtra(what, package, extra)


def did_you_mean(name: str, known: Iterable[str]) -> Translatable:
    """Return a suggestion of the closest known name, with a leading space; empty when none is close."""
    near = get_close_matches(name, list(known), n=1)
    return _(" did you mean {name!r}?", name=near[0]) if near else _("")


def is_disk_full(error: BaseException) -> bool:
    """Return whether a write failed for lack of space: disk, quota or the file size limit of this process."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0)
        # SQLite reports a file size limit (EFBIG) as a failed write.
        limited = code == sqlite3.SQLITE_IOERR_WRITE and _file_size_limit() is not None
        return limited or code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
    return False


def disk_full() -> DiskFull:
    """Return the error for a write that failed for lack of space; it names the file size limit if there is one."""
    limit = _file_size_limit()
    if limit is None:
        return DiskFull()
    cause = _(
        "there is no room: the disk is full, or a file has reached the limit of {limit:,} bytes (ulimit -f)",
        limit=limit,
    )
    return DiskFull(cause, _("Make room or raise the limit"))


def system_error(error: OSError | sqlite3.Error) -> ThresherError:
    """Convert an error of the operating system or of SQLite: what failed, where, and what helps."""
    if is_disk_full(error):
        return disk_full()
    if isinstance(error, sqlite3.Error):
        return _sqlite_error(error)
    if error.errno in (errno.EMFILE, errno.ENFILE):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return ThresherError(_("too many open files: the limit is {limit:,}. Raise it: ulimit -n 1024", limit=limit))
    if error.errno == errno.EROFS:
        return ThresherError(
            _(
                "{place} cannot be written: the file system is read-only. "
                "Use a folder on another disk, or mount this one for writing",
                place=error.filename or _("the folder"),
            )
        )
    message = _(str(error.strerror or error))
    if error.filename:
        message = _("{place}: {message}", place=error.filename, message=message)
    if error.errno in _REMEDIES:
        message = _("{message}. {remedy}", message=message, remedy=_REMEDIES[error.errno])
    return ThresherError(message)


_REMEDIES = {
    errno.EACCES: _("Check its owner and permissions, or choose another place"),
    errno.ENOENT: _("Check the path"),
    errno.EADDRINUSE: _("Choose another port"),
}


def _sqlite_error(error: sqlite3.Error) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "decode to UTF-8" in str(error):
        return DamagedFile(
            _(
                "a file of the crawl is damaged: {error}. Find out which: thresher verify DIR; "
                "save what can still be read: thresher verify DIR --repair",
                error=error,
            )
        )
    return StoreError(
        _("a file of the crawl cannot be used: {error}. Check the crawl: thresher verify DIR", error=error)
    )


def _file_size_limit() -> int | None:
    soft = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if soft == resource.RLIM_INFINITY else soft
