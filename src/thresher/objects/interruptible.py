"""Requests to object storage that can be given up: one that hangs must not hold the end of a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import partial
from typing import Any

from thresher.errors import StoreUnreachable
from thresher.objects.base import Objects


class InterruptibleObjects:
    """Object storage with the operations of `Objects`; each request has a thread of its own, until `interrupt`.

    The storage may still carry out a request that was given up, as that of a process that was killed: a writer that
    continues later finds the object.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._lock = threading.Lock()
        self._began: dict[Future[Any], float] = {}
        self._cause = ""

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._objects, name)
        return partial(self._request, member) if callable(member) else member

    @property
    def silent_seconds(self) -> float:
        """How long the oldest open request has had no answer; 0 when none is open."""
        with self._lock:
            return time.monotonic() - min(self._began.values()) if self._began else 0.0

    def interrupt(self, cause: str) -> None:
        """Let the open requests and all later ones raise `StoreUnreachable` with a cause."""
        with self._lock:
            self._cause = cause
            for answer in self._began:
                _settle(answer.set_exception, StoreUnreachable(cause))

    def _request(self, operation: Callable[..., Any], *args: Any, **options: Any) -> Any:
        answer: Future[Any] = Future()
        with self._lock:
            if self._cause:
                raise StoreUnreachable(self._cause)
            self._began[answer] = time.monotonic()
        try:
            threading.Thread(target=_send, args=(answer, partial(operation, *args, **options)), daemon=True).start()
            return answer.result()
        finally:
            with self._lock:
                del self._began[answer]


def _send(answer: Future[Any], operation: Callable[[], Any]) -> None:
    try:
        _settle(answer.set_result, operation())
    except BaseException as error:  # raised again in the thread that waits for the answer
        _settle(answer.set_exception, error)


def _settle(setter: Callable[[Any], None], result: Any) -> None:
    with suppress(InvalidStateError):  # it was given up, or answered just before
        setter(result)
