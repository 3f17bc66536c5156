"""Crawls by the name that they have in a shared store: the options, and how such a crawl is opened."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from thresher.build import Crawl
from thresher.config_file import load_config
from thresher.errors import ConfigError
from thresher.fleet.binding import STORE_VARIABLE, StoreRecord
from thresher.fleet.definition import Definition, DefinitionStore
from thresher.fleet.links import HELLO_SECONDS, store_link
from thresher.folder import CrawlFolder

F = TypeVar("F", bound=Callable[..., Any])


def store_options(required: bool = False) -> Callable[[F], F]:
    """Add the options that name a crawl in a store."""

    def add(command: F) -> F:
        command = click.option("--crawl", "name", metavar="NAME", required=required, help="Its name there.")(command)
        return click.option(
            "--store", metavar="URL", required=required, envvar=STORE_VARIABLE, help="The store, such as redis://…."
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
    link = store_link(store, patience_seconds=HELLO_SECONDS)
    try:
        return await DefinitionStore(link, name).fetch()
    finally:
        await link.close()


@contextmanager
def opened(folder: Path | None, store: str | None, name: str | None) -> Iterator[Crawl]:
    """Open a crawl by its folder, or for a look by its name in a store.

    Raises:
        ConfigError: Neither was given.
    """
    if folder is not None:
        flags = {"store": None if _is_ambient(folder) else store, "name": name}
        yield Crawl.open(folder, changes={flag: value for flag, value in flags.items() if value})
    elif store and name:
        with tempfile.TemporaryDirectory(prefix="thresher-") as place:
            yield joined(Path(place), fetch_definition(store, name), store, name)
    else:
        raise ConfigError("which crawl? Give its folder, or --store URL and --crawl NAME")


def _is_ambient(folder: Path) -> bool:
    """Tell whether the store comes from the environment while the folder records one: then the record decides."""
    source = click.get_current_context().get_parameter_source("store")
    return source is ParameterSource.ENVIRONMENT and CrawlFolder(folder).store.is_file()


def joined(root: Path, definition: Definition, store: str, name: str) -> Crawl:
    """Make a folder that works for a crawl in a store, and open it."""
    folder = CrawlFolder(root)
    definition.write(folder)
    known = StoreRecord.read(folder)
    topic_store = load_config(folder.topic).store
    StoreRecord.of(store, name=name, id=known.id if known else "", topic_store=topic_store).write(folder)
    folder.join({**definition.changes, "name": name})
    return Crawl.open(root, changes={"store": store})
