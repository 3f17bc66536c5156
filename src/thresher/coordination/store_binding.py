"""Which store a crawl is in: recorded in its folder by the first run, without the password, and used afterwards.

The record has the store, the crawl's name there and the crawl's id. The id is in the store too, so that a store that
was emptied, or that holds another crawl of the same name, is detected.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass, replace

from thresher.config.folder import CrawlFolder
from thresher.config.loading import load_config
from thresher.config.run_options import RunOptions
from thresher.config.schema import CrawlConfig
from thresher.errors import ConfigError
from thresher.frontier.base import Frontier
from thresher.locale.translation import _
from thresher.urls.store_address import SQLITE, StoreAddress, same_store, shown_store

STORE_VARIABLE = "THRESHER_STORE"
"""May hold the address of the store with its password, since all users of a machine can read a command line."""
_FIELDS = ("store", "name", "id", "topic_store", "collection")
_SETTLED = "SELECT done + failed + leased FROM tally"


@dataclass(frozen=True, kw_only=True)
class StoreRecord:
    """The record of a crawl's store in its folder.

    Args:
        store: ``sqlite``, or the address of a shared store without its password.
        name: The crawl's name there.
        id: A random id, generated when the crawl started; empty while unknown.
        topic_store: The store in topic.yaml when the crawl started; a flag may have overridden it.
        collection: The URL of the collection of the last run; empty for none.
    """

    store: str
    name: str = ""
    id: str = ""
    topic_store: str = SQLITE
    collection: str = ""

    @classmethod
    def of(
        cls,
        store: str,
        *,
        name: str = "",
        id: str = "",  # noqa: A002
        topic_store: str = SQLITE,
        collection: str = "",
    ) -> StoreRecord:
        """Create the record of a store, without the password of its address."""
        return cls(store=_recorded(store), name=name, id=id, topic_store=_recorded(topic_store), collection=collection)

    @classmethod
    def read(cls, folder: CrawlFolder) -> StoreRecord | None:
        """Read the record of a folder; None when no run has started there.

        Raises:
            ConfigError: It cannot be read.
        """
        try:
            content = json.loads(folder.store.read_text(encoding="utf-8"))
            record = cls(**{name: str(content[name]) for name in _FIELDS if name in content})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise ConfigError(
                _('{file} cannot be read: {error}; expected {{"store": "redis://…"}}', file=folder.store, error=error)
            ) from error
        if record.store != SQLITE and StoreAddress.parse(record.store) is None:
            raise ConfigError(_("{file} names no store; expected redis://host:port/0", file=folder.store))
        return record

    def write(self, folder: CrawlFolder) -> None:
        """Write the record into a folder atomically."""
        folder.write_json(folder.store, asdict(self))


async def bind(folder: CrawlFolder, config: CrawlConfig, frontier: Frontier) -> None:
    """Record in the folder of a crawl which store it is in, and its name and id there.

    Args:
        config: With the store that the crawl was opened with.
        frontier: Opened with the id that the folder recorded, so a store that has lost the crawl is detected here.
    """
    known = StoreRecord.read(folder)
    crawl_id = await frontier.identify(known.id if known and known.id else secrets.token_hex(8))
    record = StoreRecord.of(
        config.store,
        name="" if config.store == SQLITE else config.name or folder.name,
        id=crawl_id,
        topic_store=known.topic_store if known else load_config(folder.topic).store,
        collection=config.collection,
    )
    if record != known:
        record.write(folder)


def bound(folder: CrawlFolder, config: CrawlConfig, options: RunOptions) -> RunOptions:
    """Return the options with the recorded store of the crawl, and its name there.

    Raises:
        ConfigError: The given store or name differs from the recorded one.
    """
    record = StoreRecord.read(folder)
    if record is None:
        return _unbound(folder, config, options)
    given = options.store
    _refuse_another(folder, record, given)
    if config.store not in (SQLITE, record.topic_store) and not same_store(config.store, record.topic_store):
        _refuse_another(folder, record, config.store)
    if record.store == SQLITE:
        return replace(options, store=SQLITE) if config.store != SQLITE else options
    if record.name and options.name and options.name != record.name:
        raise ConfigError(
            _(
                "this crawl is called {known!r} in its store, not {given!r}; use that name, or a new folder",
                known=record.name,
                given=options.name,
            )
        )
    store = _with_password(record.store, given, config.store, os.environ.get(STORE_VARIABLE, ""))
    return replace(options, store=store, name=record.name or options.name)


def _unbound(folder: CrawlFolder, config: CrawlConfig, options: RunOptions) -> RunOptions:
    """Return the options of a crawl without a record: it is new, or was started by an earlier version.

    Raises:
        ConfigError: It has local progress and a shared store is given, or the other way round.
    """
    store = options.store or config.store
    if store == SQLITE and _has_shared_progress(folder):
        store = os.environ.get(STORE_VARIABLE, "")
        if not store:
            raise ConfigError(
                _(
                    "{folder} was begun in a shared store that an earlier version did not record; name it: "
                    "{variable}=redis://…, which the next run records",
                    folder=folder.root,
                    variable=STORE_VARIABLE,
                )
            )
    if store == SQLITE:
        return options
    if _has_local_progress(folder):
        _refuse_another(folder, StoreRecord(store=SQLITE), store)
    return replace(options, store=_with_password(store, os.environ.get(STORE_VARIABLE, "")))


def _refuse_another(folder: CrawlFolder, record: StoreRecord, given: str) -> None:
    if not given or same_store(given, record.store):
        return
    own_file = _("the file {name} of its folder", name=folder.frontier.name)
    raise ConfigError(
        _(
            "this crawl is in {known}, not in {given}: continue without --store, and with {variable} "
            "unset or naming the same store. Another store needs a new folder. If the store itself has moved, change "
            "its address in {file}",
            known=own_file if record.store == SQLITE else shown_store(record.store),
            given=shown_store(given),
            variable=STORE_VARIABLE,
            file=folder.store,
        )
    )


def _with_password(store: str, *others: str) -> str:
    """Return a store address with the user and password of the first other address of the same store that has one."""
    address = StoreAddress.parse(store)
    if address is None or address.password:
        return store
    for other in others:
        named = StoreAddress.parse(other)
        if named and named.password and named.key == address.key:
            return named.given
    return store


def _recorded(store: str) -> str:
    address = StoreAddress.parse(store)
    return address.recorded if address else SQLITE


def _has_shared_progress(folder: CrawlFolder) -> bool:
    """Return whether pages were fetched for a shared store: only then a folder has a mark, pages and no frontier."""
    return folder.mark.is_file() and any(folder.pages.glob("*.db")) and not _has_local_progress(folder)


def _has_local_progress(folder: CrawlFolder) -> bool:
    """Return whether URLs were leased from the folder's own frontier; True when it cannot be read."""
    if not folder.frontier.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{folder.frontier.absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'tally'").fetchone():
                return False
            (settled,) = db.execute(_SETTLED).fetchone() or (0,)
    except sqlite3.Error:
        return True
    return bool(settled)
