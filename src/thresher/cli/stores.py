"""Options that name a crawl in a shared store, and opening such a crawl."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from thresher.cli.output import echo
from thresher.config.folder import CrawlFolder
from thresher.config.loading import load_config
from thresher.config.run_options import RunOptions
from thresher.coordination.connection import CONNECT_SECONDS, connect_store
from thresher.coordination.crawl_definition import Definition, DefinitionStore
from thresher.coordination.store_binding import STORE_VARIABLE, StoreRecord
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, StoreRefused, StoreUnreachable
from thresher.frontier.base import async_closing
from thresher.locale.translation import _

F = TypeVar("F", bound=Callable[..., Any])


def store_options(required: bool = False) -> Callable[[F], F]:
    """Add the options that name a crawl in a store."""

    def add(command: F) -> F:
        command = click.option(
            "--crawl", "name", metavar="NAME", required=required, help="Its name there, such as solar."
        )(command)
        return click.option(
            "--store",
            metavar="URL",
            required=required,
            envvar=STORE_VARIABLE,
            help="The store, such as redis://10.0.0.5:6379/0.",
        )(command)

    return add


def fetch_definition(store: str, name: str) -> Definition:
    """Get the definition of a crawl from a store.

    Raises:
        ConfigError: There is none of that name.
        StoreUnreachable: The store does not answer.
    """
    return asyncio.run(_fetch(store, name))


async def _fetch(store: str, name: str) -> Definition:
    async with async_closing(connect_store(store, patience_seconds=CONNECT_SECONDS)) as connection:
        return await DefinitionStore(connection, name).fetch()


@contextmanager
def opened(folder: Path | None, store: str | None, name: str | None) -> Iterator[CrawlSetup]:
    """Open a crawl by its folder, or read-only by its name in a store.

    Raises:
        ConfigError: Neither was given.
    """
    if folder is not None:
        given = "" if _is_ambient(folder) else store
        yield CrawlSetup.open(folder, RunOptions(store=given or "", name=name or ""))
    elif store and name:
        with tempfile.TemporaryDirectory(prefix="thresher-") as temporary:
            yield joined(Path(temporary), fetch_definition(store, name), store, name)
    else:
        raise ConfigError(_("which crawl? Give its folder, or --store URL and --crawl NAME"))


def with_all_pages(crawl: CrawlSetup) -> CrawlSetup:
    """Copy the pages of other machines from the collection to this folder; say so if some or all cannot be read."""
    try:
        update = crawl.backend.update_pages()
        if update and update.flaws:
            echo(_("{flaws}.", flaws=update.flaws), err=True)
    except (StoreUnreachable, StoreRefused, OSError, sqlite3.OperationalError) as error:
        echo(_("Only pages on this machine are read: {error}.", error=error), err=True)
    return crawl


def _is_ambient(folder: Path) -> bool:
    """Return whether the store comes from the environment while the folder records one: the record wins."""
    source = click.get_current_context().get_parameter_source("store")
    return source is ParameterSource.ENVIRONMENT and CrawlFolder(folder).store.is_file()


def joined(root: Path, definition: Definition, store: str, name: str) -> CrawlSetup:
    """Create a folder that joins a crawl in a store, and open it."""
    folder = CrawlFolder(root)
    definition.write(folder)
    known = StoreRecord.read(folder)
    topic_store = load_config(folder.topic).store
    StoreRecord.of(store, name=name, id=known.id if known else "", topic_store=topic_store).write(folder)
    folder.join(replace(definition.options, name=name))
    return CrawlSetup.open(root, RunOptions(store=store))
