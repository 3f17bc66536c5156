"""A connection to a Redis-compatible store that retries until the store responds.

A store may be restarted, stopped or disconnected at any time. A call that fails is retried with exponential backoff
until it succeeds: the caller waits, starts nothing new, and loses nothing. So every command must be idempotent, because
a response may be lost.
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

from redis import exceptions as redis_errors
from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from thresher.errors import ConfigError, StoreError, StoreRefused, StoreUnreachable
from thresher.frontier.redis.scripts import LuaScript
from thresher.locale.translation import _
from thresher.urls.store_address import StoreAddress, shown_store

logger = logging.getLogger(__name__)

T = TypeVar("T")
Part = bytes | str | int | float
Call = tuple[LuaScript, bytes, Sequence[Part]]
"""A script, the key that selects the node it runs on, and its arguments."""

ANSWER_SECONDS = 30.0
"""Response timeout: shorter than a lease, longer than any script, and long enough that a store which is only paused
does not receive the same command many times."""

CONNECTIONS = 8
"""Maximum number of concurrent calls of one worker; further calls wait."""

READ_ONLY_SECONDS = 60.0
"""How long a worker waits for a read-only store, as during a failover; a command does not wait for it."""

SCANNED_AT_ONCE = 1_000

_CONNECT_SECONDS = 5.0
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.1, 3.0
_TRANSIENT = (
    redis_errors.ConnectionError,
    redis_errors.TimeoutError,
    OSError,
    redis_errors.ClusterDownError,
    redis_errors.RedisClusterException,
    redis_errors.ReadOnlyError,
    redis_errors.OutOfMemoryError,
    redis_errors.MaxConnectionsError,
)
_TRANSIENT_PREFIXES = ("MISCONF", "LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "BUSY", "UNBLOCKED", "OOM")


class RedisConnection:
    """A connection that retries after transient errors, usable from one event loop after another.

    Args:
        url: ``redis://host:port/0``; ``rediss://`` with TLS; ``redis+cluster://host:port`` for a cluster.
        patience_seconds: How long a call is retried before it fails; None for no limit.
    """

    def __init__(self, url: str, *, patience_seconds: float | None = None) -> None:
        address = StoreAddress.parse(url)
        if address is None:
            raise ConfigError(
                _("store {url!r} is not a valid store URL; try redis://127.0.0.1:6379/0", url=shown_store(url))
            )
        self.is_cluster = address.is_cluster
        self.name = address.shown
        self.is_up = True
        self.losses = 0
        """How often the connection was lost: after a crash the store may have lost its last writes."""
        self._url = address.url
        self._has_password = bool(address.password)
        self._patience_seconds = math.inf if patience_seconds is None else patience_seconds
        self._read_only_seconds = READ_ONLY_SECONDS if patience_seconds is None else 0.0
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def call(self, *command: Part) -> Any:
        return await self._with_retries(lambda client: client.execute_command(*command))

    async def call_all(self, commands: Sequence[Sequence[Part]]) -> list[Any]:
        """Send several read-only commands in one pipeline."""
        if self.is_cluster or len(commands) < 2:
            return [await self.call(*command) for command in commands]
        return await self._with_retries(lambda client: _read_pipelined(client, commands))

    async def keys(self, pattern: bytes) -> set[bytes]:
        """Return the keys that match a pattern, on all nodes."""

        async def scan(client: Any) -> set[bytes]:
            return {key async for key in client.scan_iter(match=pattern, count=SCANNED_AT_ONCE)}

        return await self._with_retries(scan)

    async def run(self, script: LuaScript, key: bytes, *arguments: Part) -> Any:
        return await self._with_retries(lambda client: _run(client, (script, key, arguments)))

    async def run_all(self, calls: Sequence[Call]) -> list[Any]:
        """Run several scripts in one pipeline, those with the same key in order; if one fails, all are retried."""
        if len(calls) == 1:
            return [await self._with_retries(lambda client: _run(client, calls[0]))]
        if not calls:
            return []
        run_many = _run_by_key if self.is_cluster else _run_pipelined
        return await self._with_retries(lambda client: run_many(client, calls))

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            with suppress(*_TRANSIENT, RuntimeError):
                await client.aclose()
                if not self.is_cluster:
                    await client.connection_pool.disconnect()

    async def _with_retries(self, send: Callable[[Any], Awaitable[T]]) -> T:
        began, pause = time.monotonic(), _FIRST_PAUSE_SECONDS
        while True:
            client = self._connected()
            try:
                answer = await send(client)
            except (redis_errors.RedisError, OSError, RuntimeError) as error:
                trouble = self._transient(error)
            else:
                self._mark_up()
                return answer
            self._mark_down(trouble)
            await self._drop_idle(client)
            waited = time.monotonic() - began
            if isinstance(trouble, redis_errors.ReadOnlyError) and waited >= self._read_only_seconds:
                raise StoreRefused(
                    _("the store {store} is a read-only replica; name its primary", store=self.name)
                ) from trouble
            if waited >= self._patience_seconds:
                raise StoreUnreachable(
                    _("the store {store} cannot be reached: {error}", store=self.name, error=trouble)
                ) from trouble
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - not a secret
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)

    def _transient(self, error: Exception) -> Exception:
        """Return a transient error; raise any other one with a message for users."""
        if isinstance(error, (redis_errors.AuthenticationError, redis_errors.AuthorizationError)):
            raise StoreRefused(self._refusal(error)) from error
        if isinstance(error, _TRANSIENT) or str(error).startswith(_TRANSIENT_PREFIXES):
            return error
        if isinstance(error, RuntimeError):
            if "closed" in str(error):  # uvloop reports a closed connection like this
                return error
            raise error
        raise StoreError(_("the store {store} refused: {error}", store=self.name, error=error)) from error

    async def _drop_idle(self, client: Any) -> None:
        """Close idle connections: they may be dead."""
        with suppress(*_TRANSIENT, RuntimeError):
            if not self.is_cluster:
                await client.connection_pool.disconnect(inuse_connections=False)

    def _refusal(self, error: Exception) -> str:
        right = "://USER:PASSWORD@".join(self.name.split("://", 1))
        if not self._has_password:
            return _(
                "the store {store} requires a password, and none was given; "
                "give the right one with: THRESHER_STORE={right}",
                store=self.name,
                right=right,
            )
        return _(
            "the store {store} rejects the credentials: {error}; give the right one with: THRESHER_STORE={right}",
            store=self.name,
            error=error,
            right=right,
        )

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

    def _mark_up(self) -> None:
        if not self.is_up:
            logger.warning("the store %s is back", self.name)
        self.is_up = True

    def _mark_down(self, error: Exception) -> None:
        if self.is_up:
            self.losses += 1
            what = (
                "is a read-only replica now" if isinstance(error, redis_errors.ReadOnlyError) else "cannot be reached"
            )
            logger.warning("the store %s %s: %s; waiting for it", self.name, what, error)
        self.is_up = False


async def _run(client: Any, call: Call) -> Any:
    script, key, arguments = call
    try:
        return await client.execute_command("EVALSHA", script.sha, 1, key, *arguments)
    except redis_errors.NoScriptError:  # the store is new, or was restarted
        return await client.execute_command("EVAL", script.text, 1, key, *arguments, *script.new)


async def _run_pipelined(client: Any, calls: Sequence[Call]) -> list[Any]:
    async with client.pipeline(transaction=False) as pipe:
        for script, key, arguments in calls:
            pipe.execute_command("EVALSHA", script.sha, 1, key, *arguments)
        answers = await pipe.execute(raise_on_error=False)
    if any(isinstance(answer, redis_errors.NoScriptError) for answer in answers):
        return [
            await _run(client, call) if isinstance(answer, redis_errors.NoScriptError) else _checked(answer)
            for call, answer in zip(calls, answers, strict=True)
        ]
    return [_checked(answer) for answer in answers]


async def _read_pipelined(client: Any, commands: Sequence[Sequence[Part]]) -> list[Any]:
    async with client.pipeline(transaction=False) as pipe:
        for command in commands:
            pipe.execute_command(*command)
        answers: list[Any] = await pipe.execute()
    return answers


def _checked(answer: Any) -> Any:
    if isinstance(answer, Exception):
        raise answer
    return answer


async def _run_by_key(client: Any, calls: Sequence[Call]) -> list[Any]:
    by_key: dict[bytes, list[int]] = defaultdict(list)
    for number, (_script, key, _arguments) in enumerate(calls):
        by_key[key].append(number)
    answers: list[Any] = [None] * len(calls)

    async def run_in_order(numbers: Sequence[int]) -> None:
        for number in numbers:
            answers[number] = await _run(client, calls[number])

    await asyncio.gather(*map(run_in_order, by_key.values()))
    return answers
