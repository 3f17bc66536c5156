"""What a script can say: answers good and bad, for hosts and paths. Plain values, no input or output.

A script is a mapping of mappings: host, then path, then what is answered. See the package's docstring for examples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

HeaderList = Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Fill:
    """A body made of one pattern again and again.

    Args:
        size: Bytes in all; None never ends.
        pattern: What is repeated.
        start: What comes first, once.
    """

    size: int | None
    pattern: str | bytes = b"\0"
    start: str | bytes = b""


@dataclass(frozen=True, kw_only=True)
class Packed:
    """A compressed body, made while it is sent.

    Args:
        body: What is compressed.
        codings: ``gzip``, ``deflate``, ``raw-deflate``, ``br`` or ``zstd``, applied one after the other.
        declared: Whether Content-Encoding tells of them; a file such as sitemap.xml.gz does not.
    """

    body: str | bytes | Fill
    codings: Sequence[str] = ("gzip",)
    declared: bool = True


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One response, right or wrong in every part.

    Args:
        headers: A mapping, or pairs where a name is to come twice. They are sent as they are, CR and LF included.
        content_type: None sends none.
        framing: ``length``, ``chunked``, ``close`` (no length, the end of the connection is the end of the body) or
            ``broken`` (chunks whose sizes are no numbers after the first). Without a word: length when it is known.
        content_length: A length other than the true one; the connection is closed after the body.
        many_headers: The number of additional fields, and the bytes of the value of each.
        raw_head: Sent in place of status line and headers, as it is.
        head: False sends no head at all.
        wait_seconds: Time before the first byte.
        head_bytes_per_second: Pace of the head; slow ones go byte by byte.
        bytes_per_second: Pace of the body.
        hang_after: Body bytes after which nothing more comes and the connection stays open.
        reset_after: Body bytes after which the connection is reset.
        close_after: Body bytes after which the connection is closed.
        echo: The body is the request as JSON.
    """

    status: int = 200
    headers: Mapping[str, str] | HeaderList = ()
    content_type: str | None = "text/html; charset=utf-8"
    body: str | bytes | Fill | Packed = b""
    framing: str | None = None
    content_length: int | None = None
    many_headers: tuple[int, int] = (0, 0)
    raw_head: str | bytes | None = None
    head: bool = True
    wait_seconds: float = 0.0
    head_bytes_per_second: float | None = None
    bytes_per_second: float | None = None
    hang_after: int | None = None
    reset_after: int | None = None
    close_after: int | None = None
    echo: bool = False


@dataclass(frozen=True)
class Generated:
    """An answer made by a function from the request: ``calendar`` of `testing.recording_server.mazes`, or
    ``module:function``.

    The function gets the `Request` and the arguments, and returns what may stand in a script.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, request: Request) -> Reply:
        module, _, name = self.name.rpartition(":")
        function = getattr(import_module(module or "testing.recording_server.mazes"), name)
        made: Reply = function(request, **self.arguments)
        return made


Reply = Answer | Generated | str | bytes | int
"""Text and bytes stand for a page, a number for an empty answer with that status."""
Script = Mapping[str, Mapping[str, Reply | Sequence[Reply]]]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request; `target` is the path with its query, `number` is 1 for the first to this host and target."""

    method: str
    host: str
    address: str
    target: str
    headers: HeaderList
    number: int
    port: int = 0
    tls: bool = False

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """What follows the question mark."""
        return self.target.partition("?")[2]


class Router:
    """Finds what a script answers.

    Hosts are looked up as the Host header's name, the address, ``*.suffix`` and ``*``, in this order. Paths are
    exact (with the query, then without), then in the script's order: ``/prefix*``, or ``~`` and a regular expression
    for the whole target. In a list the k-th request for a host and target gets the k-th answer, the last one for good.
    """

    def __init__(self, script: Script) -> None:
        self._hosts = {host.lower(): _Paths(paths) for host, paths in script.items()}
        self._suffixes = [host for host in self._hosts if host.startswith("*.")]
        self._counts: Counter[tuple[str, str]] = Counter()

    def count(self, host: str, target: str) -> int:
        """Return how often this was asked, this time included."""
        self._counts[host, target] += 1
        return self._counts[host, target]

    def find(self, request: Request) -> Answer | None:
        """Return the answer to a request; None when the script has none."""
        suffixes = [suffix for suffix in self._suffixes if request.host.endswith(suffix[1:])]
        for host in (request.host, request.address, *suffixes, "*"):
            paths = self._hosts.get(host)
            if paths and (found := paths.find(request.target)) is not None:
                return resolve(found, request)
        return None


class _Paths:
    """The paths of one host."""

    def __init__(self, paths: Mapping[str, Reply | Sequence[Reply]]) -> None:
        self._exact = {path: reply for path, reply in paths.items() if path[-1:] != "*" and path[:1] != "~"}
        self._patterns = [(_pattern(path), reply) for path, reply in paths.items() if path not in self._exact]

    def find(self, target: str) -> Reply | Sequence[Reply] | None:
        for path in (target, target.partition("?")[0]):
            if path in self._exact:
                return self._exact[path]
        return next((reply for pattern, reply in self._patterns if pattern.fullmatch(target)), None)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(path[1:] if path.startswith("~") else re.escape(path[:-1]) + ".*", re.DOTALL)


def resolve(reply: Reply | Sequence[Reply], request: Request) -> Answer:
    """Return the answer that a script's value stands for."""
    while not isinstance(reply, Answer):
        if isinstance(reply, str | bytes):
            return Answer(body=reply)
        if isinstance(reply, int):
            return Answer(status=reply)
        reply = reply(request) if isinstance(reply, Generated) else reply[min(request.number, len(reply)) - 1]
    return reply
