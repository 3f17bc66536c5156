"""Asking the asynchronous parts from a program that may have an event loop of its own, as notebooks do."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def answer(question: Coroutine[Any, Any, T]) -> T:
    """Wait for an answer that comes in a thread and an event loop of its own."""
    with ThreadPoolExecutor(1, thread_name_prefix="thresher") as pool:
        return pool.submit(asyncio.run, question).result()
