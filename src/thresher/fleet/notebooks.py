"""What learners write down, in the store: the notebooks of workers on many machines.

Learners write and read without waiting, in the middle of a page; so a thread of its own speaks to the store. It writes
what was handed to it, and looks every few seconds whether others have written anew. Only the first question of a kind
waits for its answer: a learner asks it when it takes up its work. While the store is away, the newest entry waits.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

from thresher.classify.base import Notebook
from thresher.classify.notebook import FolderNotebook
from thresher.fleet.keys import Link
from thresher.fleet.shelf import Shelf, Stamp

logger = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
GOODBYE_SECONDS = 10.0
T = TypeVar("T")


class Notebooks(Protocol):
    """The notebooks of one worker, one for each part that learns."""

    def of(self, part: str) -> Notebook:
        """Return the notebook of a part."""
        ...

    def close(self, seconds: float = GOODBYE_SECONDS) -> bool:
        """Let what was written reach its place; tell whether it did in time."""
        ...


class FolderNotebooks:
    """Notebooks on this machine."""

    def __init__(self, folder: Path, worker: str = "") -> None:
        self._folder = folder
        self._worker = worker

    def of(self, part: str) -> Notebook:
        """Return the notebook of a part."""
        return FolderNotebook(self._folder / part, self._worker)

    def close(self, seconds: float = GOODBYE_SECONDS) -> bool:
        """Nothing is under way: what was written is on the disk."""
        return True


class StoreNotebooks:
    """Notebooks in the store, and the thread that speaks to it.

    Args:
        link: The thread's own connection.
        worker: Whose they are; without a name nothing is ever written.
        look_seconds: How often it is looked what others wrote.
    """

    def __init__(self, link: Link, crawl: str, worker: str = "", *, look_seconds: float = LOOK_SECONDS) -> None:
        self._link = link
        self._crawl = crawl
        self._worker = worker
        self._look_seconds = look_seconds
        self._books: dict[str, StoreNotebook] = {}
        self._is_closing = False
        self._is_ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notebooks", daemon=True)
        self._thread.start()
        self._is_ready.wait()

    def of(self, part: str) -> StoreNotebook:
        """Return the notebook of a part."""
        if part not in self._books:
            shelf = Shelf(self._link, self._crawl, part)
            self._books[part] = StoreNotebook(shelf, self._worker, ask=self._ask, wrote=self._wake_up)
        return self._books[part]

    def close(self, seconds: float = GOODBYE_SECONDS) -> bool:
        """Wait until all that was written is in the store, but not for ever; tell whether it is."""
        self._is_closing = True
        self._wake_up()
        self._thread.join(seconds)
        if not self._thread.is_alive():
            return True
        logger.warning("what was learned last did not reach the store in time")
        with suppress(RuntimeError):  # the loop has closed just now
            self._loop.call_soon_threadsafe(self._task.cancel)
        return False

    def _ask(self, question: Coroutine[Any, Any, T]) -> T:
        """Have the thread ask the store, and wait for the answer."""
        return asyncio.run_coroutine_threadsafe(question, self._loop).result()

    def _wake_up(self) -> None:
        with suppress(RuntimeError):  # nobody is there to be woken
            self._loop.call_soon_threadsafe(self._wake.set)

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(self._main())

    async def _main(self) -> None:
        self._task = asyncio.create_task(self._keep_up())
        await self._task

    async def _keep_up(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._is_ready.set()
        try:
            while not self._is_closing:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), self._look_seconds)
                self._wake.clear()
                await self._each(lambda book: book.put_away())
                if not self._is_closing:
                    await self._each(lambda book: book.look())
            await self._each(lambda book: book.put_away())
        finally:
            await self._link.close()

    async def _each(self, do: Callable[[StoreNotebook], Coroutine[Any, Any, None]]) -> None:
        for book in list(self._books.values()):
            try:
                await do(book)
            except Exception:  # what is not written now is written the next time
                logger.exception("notes cannot be kept in the store")


class StoreNotebook:
    """The notebook of one worker and part.

    Args:
        ask: Asks the store in the thread that speaks to it, and waits.
        wrote: Told when there is something to put away.
    """

    def __init__(
        self, shelf: Shelf, worker: str, *, ask: Callable[[Coroutine[Any, Any, Any]], Any], wrote: Callable[[], None]
    ) -> None:
        self._shelf = shelf
        self._worker = worker
        self._ask = ask
        self._wrote = wrote
        self._lock = threading.Lock()
        self._own: dict[str, bytes] = {}
        self._news: dict[str, dict[str, bytes]] = {}
        self._seen: dict[tuple[str, str], Stamp] = {}

    def write(self, kind: str, content: bytes) -> None:
        """Replace this worker's entry of a kind, soon."""
        if self._worker:
            with self._lock:
                self._own[kind] = content
            self._wrote()

    def read(self, kind: str) -> bytes | None:
        """Return this worker's entry of a kind; without a name, that of the worker who knows most."""
        with self._lock:
            if kind in self._own:
                return self._own[kind]
        content: bytes | None = self._ask(self._entry(kind))
        return content

    def read_others(self, kind: str) -> Sequence[bytes]:
        """Return what other workers wrote since this was asked before, as far as it is known here."""
        if kind not in self._news:
            self._ask(self._look_for(kind))
        with self._lock:
            news, self._news[kind] = self._news[kind], {}
        return [news[worker] for worker in sorted(news)]

    async def put_away(self) -> None:
        """Write to the store what was handed in; what is handed in meanwhile comes next."""
        while self._own:
            kind, content = next(iter(self._own.items()))
            await self._shelf.write(self._worker, kind, content)
            with self._lock:
                if self._own.get(kind) is content:
                    del self._own[kind]

    async def look(self) -> None:
        """Look what others wrote, of the kinds that were asked for."""
        for kind in list(self._news):
            await self._look_for(kind)

    async def _look_for(self, kind: str) -> None:
        for worker, stamp in (await self._shelf.stamps(kind)).items():
            if worker == self._worker or self._seen.get((kind, worker)) == stamp:
                continue
            content = await self._shelf.read(worker, kind)
            with self._lock:
                self._seen[kind, worker] = stamp
                if content is not None:
                    self._news.setdefault(kind, {})[worker] = content
        self._news.setdefault(kind, {})

    async def _entry(self, kind: str) -> bytes | None:
        if self._worker:
            return await self._shelf.read(self._worker, kind)
        stamps = await self._shelf.stamps(kind)
        fullest = max(stamps, key=lambda worker: stamps[worker], default=None)
        return await self._shelf.read(fullest, kind) if fullest else None
