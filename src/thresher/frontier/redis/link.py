"""One patient connection to a store that speaks the Redis protocol.

A store may be restarted, stopped or cut off at any moment. A call that does not get through is repeated, with longer
and longer pauses, until it does: whoever waits for it starts nothing new meanwhile and loses nothing. So whatever is
sent must do no harm when it is done twice, for an answer may be lost on its way.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from redis import exceptions as wrong
from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from thresher.errors import ConfigError, StoreError, StoreRefused, StoreUnreachable
from thresher.frontier.redis.scripts import Script
from thresher.urls.store_address import StoreAddress, shown_store

logger = logging.getLogger(__name__)

T = TypeVar("T")
Part = bytes | str | int | float
Call = tuple[Script, bytes, Sequence[Part]]
"""A script, the key that says which node it runs on, and its arguments."""

ANSWER_SECONDS = 30.0
"""How long an answer may take: shorter than a lease, longer than any script; and a store that is only paused is not
asked the same thing many times over."""

CONNECTIONS = 8
"""How many calls of one worker may be under way at the same time; the others wait for their turn."""

READ_ONLY_SECONDS = 60.0
"""How long a worker waits for a store that takes no writes, as during a failover; a command does not wait for it."""

_CONNECT_SECONDS = 5.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 3.0
_PASSING = (
    wrong.ConnectionError,
    wrong.TimeoutError,
    OSError,
    wrong.ClusterDownError,
    wrong.RedisClusterException,
    wrong.ReadOnlyError,
    wrong.OutOfMemoryError,
    wrong.MaxConnectionsError,
)
_NOT_NOW = ("MISCONF", "LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "BUSY", "UNBLOCKED", "OOM")


class StoreLink:
    """A connection that waits out what passes, usable from one event loop after another.

    Args:
        url: ``redis://host:port/0``; ``rediss://`` with TLS; ``redis+cluster://host:port`` for a cluster.
        patience_seconds: How long a call may be repeated before it gives up; None for ever.
    """

    def __init__(self, url: str, *, patience_seconds: float | None = None) -> None:
        address = StoreAddress.parse(url)
        if address is None:
            raise ConfigError(f"store {shown_store(url)!r} is none that can be used; try redis://127.0.0.1:6379/0")
        self.is_cluster = address.is_cluster
        self.name = address.shown
        self.is_up = True
        self.losses = 0
        """How often the store was lost: what it said before may have been forgotten in a crash."""
        self._url = address.url
        self._has_password = bool(address.password)
        self._patience_seconds = math.inf if patience_seconds is None else patience_seconds
        self._read_only_seconds = READ_ONLY_SECONDS if patience_seconds is None else 0.0
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def call(self, *command: Part) -> Any:
        """Send one command."""
        return await self._patiently(lambda client: client.execute_command(*command))

    async def call_all(self, commands: Sequence[Sequence[Part]]) -> list[Any]:
        """Send several commands that only read, in one go."""
        if self.is_cluster or len(commands) < 2:
            return [await self.call(*command) for command in commands]
        return await self._patiently(lambda client: _read_in_a_row(client, commands))

    async def run(self, script: Script, key: bytes, *arguments: Part) -> Any:
        """Run one script."""
        return await self._patiently(lambda client: _run(client, (script, key, arguments)))

    async def run_all(self, calls: Sequence[Call]) -> list[Any]:
        """Run several scripts in one go, those with the same key in their order; if one fails, all are run again."""
        if len(calls) == 1:
            return [await self._patiently(lambda client: _run(client, calls[0]))]
        if not calls:
            return []
        together = _run_by_key if self.is_cluster else _run_in_a_row
        return await self._patiently(lambda client: together(client, calls))

    async def close(self) -> None:
        """Let go of the connections."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            with suppress(*_PASSING, RuntimeError):
                await client.aclose()
                if not self.is_cluster:
                    await client.connection_pool.disconnect()

    async def _patiently(self, ask: Callable[[Any], Awaitable[T]]) -> T:
        began, pause = time.monotonic(), _FIRST_PAUSE_SECONDS
        while True:
            client = self._connected()
            try:
                answer = await ask(client)
            except (wrong.RedisError, OSError, RuntimeError) as error:
                trouble = self._passing(error)
            else:
                self._note_up()
                return answer
            self._note_down(trouble)
            await self._drop_idle(client)
            waited = time.monotonic() - began
            if isinstance(trouble, wrong.ReadOnlyError) and waited >= self._read_only_seconds:
                raise StoreRefused(f"the store {self.name} is a read-only replica; name its primary") from trouble
            if waited >= self._patience_seconds:
                raise StoreUnreachable(f"the store {self.name} cannot be reached: {trouble}") from trouble
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - not a secret
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _passing(self, error: Exception) -> Exception:
        """Return an error that may pass by itself; raise what will not, in words."""
        if isinstance(error, (wrong.AuthenticationError, wrong.AuthorizationError)):
            raise StoreRefused(self._refusal(error)) from error
        if isinstance(error, _PASSING) or str(error).startswith(_NOT_NOW):
            return error
        if isinstance(error, RuntimeError):
            if "closed" in str(error):  # uvloop's word for a connection that ended under us
                return error
            raise error
        raise StoreError(f"the store {self.name} refused: {error}") from error

    async def _drop_idle(self, client: Any) -> None:
        """Close connections that nobody uses: they may be dead and not know it."""
        with suppress(*_PASSING, RuntimeError):
            if not self.is_cluster:
                await client.connection_pool.disconnect(inuse_connections=False)

    def _refusal(self, error: Exception) -> str:
        scheme, _, place = self.name.partition("://")
        why = f"does not let us in: {error}" if self._has_password else "wants a password, and none was given"
        return f"the store {self.name} {why}; give the right one with: THRESHER_STORE={scheme}://USER:PASSWORD@{place}"

    def _connected(self) -> Any:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._loop, self._client = loop, self._connect()
        return self._client

    def _connect(self) -> Any:
        options: dict[str, Any] = {
            "socket_timeout": ANSWER_SECONDS,
            "socket_connect_timeout": _CONNECT_SECONDS,
            "socket_keepalive": True,
        }
        if self.is_cluster:
            return RedisCluster.from_url(self._url, **options)
        pool = BlockingConnectionPool.from_url(
            self._url, max_connections=CONNECTIONS, timeout=None, retry=Retry(NoBackoff(), 0), **options
        )
        return Redis(connection_pool=pool)

    def _note_up(self) -> None:
        if not self.is_up:
            logger.warning("the store %s is back", self.name)
        self.is_up = True

    def _note_down(self, error: Exception) -> None:
        if self.is_up:
            self.losses += 1
            what = "is a read-only replica now" if isinstance(error, wrong.ReadOnlyError) else "cannot be reached"
            logger.warning("the store %s %s: %s; waiting for it", self.name, what, error)
        self.is_up = False


async def _run(client: Any, call: Call) -> Any:
    script, key, arguments = call
    try:
        return await client.execute_command("EVALSHA", script.sha, 1, key, *arguments)
    except wrong.NoScriptError:  # a store that is new, or was restarted
        return await client.execute_command("EVAL", script.text, 1, key, *arguments, *script.new)


async def _run_in_a_row(client: Any, calls: Sequence[Call]) -> list[Any]:
    async with client.pipeline(transaction=False) as pipe:
        for script, key, arguments in calls:
            pipe.execute_command("EVALSHA", script.sha, 1, key, *arguments)
        answers = await pipe.execute(raise_on_error=False)
    if any(isinstance(answer, wrong.NoScriptError) for answer in answers):
        return [
            await _run(client, call) if isinstance(answer, wrong.NoScriptError) else _answer(answer)
            for call, answer in zip(calls, answers, strict=True)
        ]
    return [_answer(answer) for answer in answers]


async def _read_in_a_row(client: Any, commands: Sequence[Sequence[Part]]) -> list[Any]:
    async with client.pipeline(transaction=False) as pipe:
        for command in commands:
            pipe.execute_command(*command)
        answers: list[Any] = await pipe.execute()
    return answers


def _answer(answer: Any) -> Any:
    if isinstance(answer, Exception):
        raise answer
    return answer


async def _run_by_key(client: Any, calls: Sequence[Call]) -> list[Any]:
    by_key: dict[bytes, list[int]] = defaultdict(list)
    for number, (_, key, _) in enumerate(calls):
        by_key[key].append(number)
    answers: list[Any] = [None] * len(calls)

    async def one_after_another(numbers: Sequence[int]) -> None:
        for number in numbers:
            answers[number] = await _run(client, calls[number])

    await asyncio.gather(*map(one_after_another, by_key.values()))
    return answers
