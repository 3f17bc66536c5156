"""What the tests of the documentation share: the world of the blocks, a store, and the example plug-ins installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from testing.servers.fixtures import emptied
from testing.servers.store import StoreServer, store_server
from tests.docs.world import World, made_world

EXAMPLES = Path(__file__).parents[2] / "examples"
PLUGINS = [EXAMPLES / "strategy-plugin", EXAMPLES / "judge-plugin"]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Two sites that are served, and a folder with a crawl of them."""
    with made_world(tmp_path_factory.mktemp("prepared")) as world:
        yield world


class LazyStore:
    """A store that is started when it is first asked for, and is empty for every page."""

    def __init__(self, start: Callable[[], StoreServer]) -> None:
        self._start = start
        self._server: StoreServer | None = None

    def url(self) -> str:
        """Return its address."""
        self._server = self._server or self._start()
        return self._server.url

    def empty(self) -> None:
        """Forget what the last page left there."""
        if self._server is not None:
            emptied(self._server)


@pytest.fixture(scope="session")
def lazy_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LazyStore]:
    """A Redis for the pages that speak of one."""
    with ExitStack() as kept:
        yield LazyStore(lambda: kept.enter_context(store_server("redis", tmp_path_factory.mktemp("store"))))


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example packages as their pages say, but into a folder of their own."""
    target = tmp_path_factory.mktemp("installed")
    sources = [shutil.copytree(plugin, tmp_path_factory.mktemp("source") / plugin.name) for plugin in PLUGINS]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, "--target", target, *sources], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target
