"""One fetch by libcurl: which address is dialled, when the request is sent, and how much of the response is read.

Guarantees: only the pinned addresses, which the address guard has checked, are connected to. Right before a request is
sent, also when libcurl sends it again by itself, the address, the state of a kept connection, the number of attempts
and the time left are checked. Behind a proxy, libcurl asks for a tunnel before that, so the time left is also checked
before a connection is opened. The certificate of a server is verified unless the request says otherwise. What arrived
before a limit was reached is kept and marked as truncated.

libcurl calls the methods of a transfer. No exception may leave them: libcurl would not end the transfer.

`ResponseHead` reads the head of a response, line by line, with limits.

libcurl refuses a line of more than 100 KiB. The limits here are for all lines together, and count the heads of interim
responses too. A head that is too long ends the fetch, and nothing of it is kept.

`ChunkedDecoder` removes the framing of a chunked body (RFC 9112, section 7.1), with limits on what is not body.

libcurl checks the framing too, and finds the end; but it passes the bytes on as they came.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import re
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any

import certifi
import pycurl

from thresher.config.secrets import Secret
from thresher.config.upstream_proxy import UpstreamProxy
from thresher.engine.download.decompression import Decompressor, Undecodable, codings
from thresher.engine.download.errors import (
    AddressRefused,
    FetchFailed,
    HeadTooLong,
    NoBody,
    NotHttp,
    ProxyRefused,
    failure_for,
    timed_out,
)
from thresher.reasons.reason import ReasonKind

MAX_LINE_BYTES = 16 << 10
MAX_TRAILER_BYTES = 64 << 10

_SIZE = re.compile(rb"[0-9a-fA-F]{1,15}")


class MalformedChunks(Exception):
    """The framing of a chunked body is wrong.

    Args:
        body: The part of the body before the error, in the data that contain it.
    """

    def __init__(self, body: bytes = b"") -> None:
        super().__init__("malformed chunks")
        self.body = body


class ChunkedDecoder:
    """Decodes one body."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._left = 0
        self._after_data = False
        self._in_trailers = False
        self._trailer_bytes = 0

    def take(self, data: bytes) -> bytes:
        """Return the body in received data.

        Raises:
            MalformedChunks: A size is not a number, or a chunk is longer than its size.
            HeadTooLong: A line, or all trailers, are too long.
        """
        pieces: list[bytes] = []
        start = 0
        while start < len(data):
            if self._in_trailers:
                self._count_trailers(len(data) - start)
                break
            if self._left:
                pieces.append(data[start : start + self._left])
                self._left -= len(pieces[-1])
                start += len(pieces[-1])
                self._after_data = not self._left
            else:
                try:
                    start = self._take_line(data, start)
                except MalformedChunks:
                    raise MalformedChunks(b"".join(pieces)) from None
        return b"".join(pieces)

    def _take_line(self, data: bytes, start: int) -> int:
        """Read up to the end of a line; return where to go on."""
        end = data.find(b"\n", start) + 1
        self._line += data[start : end or len(data)]
        if len(self._line) > MAX_LINE_BYTES:
            raise HeadTooLong
        if not end:
            return len(data)
        line, self._line = bytes(self._line).strip(), bytearray()
        if self._after_data:
            if line:
                raise MalformedChunks
            self._after_data = False
        else:
            self._left = _size(line)
            self._in_trailers = not self._left
        return end

    def _count_trailers(self, more_bytes: int) -> None:
        self._trailer_bytes += more_bytes
        if self._trailer_bytes > MAX_TRAILER_BYTES:
            raise HeadTooLong


def _size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not _SIZE.fullmatch(digits):
        raise MalformedChunks
    return int(digits, 16)


MAX_HEAD_BYTES = 256 << 10
MAX_HEAD_LINES = 2000

_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+([1-9][0-9]{2})(?![0-9])")
_SWITCHING_PROTOCOLS = 101


class ResponseHead:
    """Collects the lines of a head; those of interim responses are counted and dropped.

    Attributes:
        status: 0 until the status line of the response has come.
        lines: Name and value of each header, in the order of the response.
        is_complete: Whether the empty line at the end has come.
    """

    def __init__(self) -> None:
        self.status = 0
        self.lines: list[tuple[str, str]] = []
        self.is_complete = False
        self._bytes = 0
        self._count = 0

    def take(self, line: bytes) -> None:
        """Add a line, with its line break.

        Raises:
            HeadTooLong: There are too many lines or bytes.
            NotHttp: The status line is malformed, or announces a protocol that was not requested.
        """
        self._count += 1
        self._bytes += len(line)
        if self._bytes > MAX_HEAD_BYTES or self._count > MAX_HEAD_LINES:
            raise HeadTooLong
        text = line.rstrip(b"\r\n")
        if self.is_complete:  # trailers, which HTTP/2 sends in this way
            return
        if not self.status:
            self.status = _status(text)
        elif text:
            self._add(text)
        elif self.status < 200:  # interim: another head follows
            self.status, self.lines = 0, []
        else:
            self.is_complete = True

    def _add(self, text: bytes) -> None:
        name, colon, value = text.partition(b":")
        if colon and name.strip():
            self.lines.append((name.strip().decode("latin-1"), value.strip().decode("latin-1")))

    def values(self, wanted: str) -> list[str]:
        """Return the values of all headers of a name in lower case."""
        return [value for name, value in self.lines if name.lower() == wanted]


def _status(line: bytes) -> int:
    status = _STATUS.match(line)
    if not status or int(status[1]) == _SWITCHING_PROTOCOLS:
        raise NotHttp
    return int(status[1])


logger = logging.getLogger(__name__)

PACE_SECONDS = 10.0
MIN_BYTES_PER_SECOND = 1024
"""A body that arrives more slowly than this after `PACE_SECONDS` is aborted."""

MAX_SENDS = 2
"""How often a request may leave in one attempt: libcurl repeats it when a kept connection turns out to be closed."""

MAX_HELD_BYTES = 16 << 20
"""Limit for all bodies that are not settled yet; beyond it, large ones are truncated."""
SMALL_BYTES = 1 << 20

_ABORT = -1
_SPARE_SECONDS = 1.0  # libcurl's own timeout, in case that nobody calls `check`
_DISALLOW_USERNAME_IN_URL, _SUPPRESS_CONNECT_HEADERS = 278, 265  # pycurl has no names for them

_HAS_HTTP2 = bool(pycurl.version_info()[4] & pycurl.VERSION_HTTP2)

_FIXED_OPTIONS: tuple[tuple[int, Any], ...] = (
    (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
    (pycurl.FOLLOWLOCATION, 0),  # a redirect is a frontier entry of its own
    (pycurl.PATH_AS_IS, 1),
    (_DISALLOW_USERNAME_IN_URL, 1),
    (pycurl.HTTP09_ALLOWED, 0),
    (pycurl.HTTP_CONTENT_DECODING, 0),  # bodies are decoded here, with limits
    (pycurl.HTTP_TRANSFER_DECODING, 0),
    (pycurl.NOSIGNAL, 1),
    (pycurl.NETRC, pycurl.NETRC_IGNORED),
    (pycurl.HEADEROPT, pycurl.HEADER_SEPARATE),  # no header of a request goes to a proxy with CONNECT
    (_SUPPRESS_CONNECT_HEADERS, 1),
)


class StaleConnection(Exception):
    """A kept connection has unsolicited input; nothing was sent over it."""


class CouldNotConnect(FetchFailed):
    """No connection to one of the addresses; another one may work."""


class _DroppedSocket(socket.socket):
    """pycurl duplicates the descriptor of a socket, and drops the socket without closing it."""

    def __del__(self) -> None:
        self.close()


class BodyMemoryLimit:
    """Counts the bytes of all bodies that are not settled yet."""

    def __init__(self, max_bytes: int = MAX_HELD_BYTES) -> None:
        self._bytes = 0
        self._max_bytes = max_bytes

    def add(self, more_bytes: int) -> bool:
        """Count more bytes, or fewer; return whether all are within the limit."""
        self._bytes += more_bytes
        return self._bytes <= self._max_bytes


@dataclass(frozen=True, kw_only=True)
class TransferRequest:
    """What to request, from where, and within which limits.

    Args:
        endpoints: The pinned addresses and ports, in the order in which they are tried.
        refusal: The address guard: why an address is refused, or an empty string.
        secret_lines: Header lines that are sent, and kept nowhere.
        is_verified: Whether the certificate of the server must be valid; always where there is a secret.
        proxy: The proxy that the endpoints belong to; None to connect to the server.
        allows_http2: Whether HTTP/2 is spoken where it is offered.
        end_by: Until when the end may be put off if this worker did not run for a part of the time.
    """

    url: str
    lines: Sequence[tuple[str, str]]
    endpoints: Sequence[tuple[str, int]]
    refusal: Callable[[str], str]
    max_bytes: int
    timeout_seconds: float
    secret_lines: Sequence[tuple[str, Secret]] = field(default=(), repr=False)
    is_verified: bool = True
    proxy: UpstreamProxy | None = None
    allows_http2: bool = True
    end_by: float = 0.0


class Transfer:
    """One response: from its request to the last byte of its body, or to a limit."""

    def __init__(self, request: TransferRequest, body_memory: BodyMemoryLimit, *, start: float | None = None) -> None:
        self.request = request
        self.head = ResponseHead()
        self.start = monotonic() if start is None else start
        self.end = self.start + request.timeout_seconds
        self.latency = 0.0
        self._pinned = {(_unmapped(address), port) for address, port in request.endpoints}
        self._body_memory = body_memory
        self._held = 0
        self._received = 0
        self._sends = 0
        self._body: Decompressor | None = None
        self._chunks: ChunkedDecoder | None = None
        self._refused: Exception | None = None
        self._ended: asyncio.Future[bool] | None = None
        self.has_unsolicited_input: Callable[[str, int], bool] = lambda address, port: False
        self.local: tuple[str, int] | None = None

    def begin(self) -> asyncio.Future[bool]:
        """Start an attempt; the result is whether the body is complete."""
        self._sends, self._refused = 0, None
        self._ended = asyncio.get_running_loop().create_future()
        return self._ended

    def set_up(self, curl: Any, place: tuple[str, int], *, connect_seconds: float, fresh: bool) -> None:
        """Set all options of a handle for an attempt."""
        seconds = max(0.001, self.end - monotonic(), self.request.end_by - monotonic())
        for option, value in _FIXED_OPTIONS:
            curl.setopt(option, value)
        curl.setopt(pycurl.URL, self.request.url)
        lines = [f"{name}: {value}" for name, value in self.request.lines]
        lines += [f"{name}: {secret.reveal()}" for name, secret in self.request.secret_lines]
        curl.setopt(pycurl.HTTPHEADER, lines)
        has_http2 = _HAS_HTTP2 and self.request.allows_http2  # if the server offers it by ALPN
        curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS if has_http2 else pycurl.CURL_HTTP_VERSION_1_1)
        _set_route(curl, place, self.request.proxy)
        _set_verification(curl, is_verified=self.request.is_verified)
        curl.setopt(pycurl.FRESH_CONNECT, int(fresh))
        curl.setopt(pycurl.TIMEOUT_MS, int((seconds + _SPARE_SECONDS) * 1000))
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, max(1, int(connect_seconds * 1000)))
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self.open_socket)
        curl.setopt(pycurl.SOCKOPTFUNCTION, _close_on_exec)
        curl.setopt(pycurl.PREREQFUNCTION, self.before_send)
        curl.setopt(pycurl.HEADERFUNCTION, self.take_header)
        curl.setopt(pycurl.WRITEFUNCTION, self.take_body)

    @property
    def is_over(self) -> bool:
        return self._ended is None or self._ended.done()

    def body(self) -> bytes:
        """Return the body as far as it arrived, once; the decompressor and its window are released."""
        body, self._body = self._body, None
        return b"" if body is None else body.body()

    def release(self) -> None:
        """Stop counting the body of this transfer."""
        self._body_memory.add(-self._held)
        self._held = 0

    def exclude_seconds(self, seconds: float) -> None:
        """Do not count time in which this worker did not run, as far as the lease allows."""
        self.start += seconds
        self.end = max(self.end, min(self.end + seconds, self.request.end_by))

    def check(self, now: float) -> None:
        """Abort when time is up or the body arrives too slowly."""
        seconds = now - self.start
        slow = self._held and seconds > PACE_SECONDS and self._received < seconds * MIN_BYTES_PER_SECOND
        if now >= self.end or slow:
            self.abort(timed_out())

    def abort(self, error: Exception) -> None:
        """End the attempt: keep what arrived, or fail when nothing did."""
        if self._ended is None or self._ended.done():
            return
        if self._held:
            self._truncate()
        else:
            self._ended.set_exception(error)

    def _truncate(self) -> None:
        if self._ended is not None:
            self._ended.set_result(False)

    def finished(self, code: int, os_error: int, message: str) -> None:
        """Take libcurl's result of an attempt; 0 for success."""
        if self._ended is None or self._ended.done():
            return
        if not code and self.head.is_complete:
            self._ended.set_result(True)
        else:
            self.abort(self._failure(code, os_error, message))

    def _failure(self, code: int, os_error: int, message: str) -> Exception:
        if self._refused:
            return self._refused
        if self.head.is_complete and code != pycurl.E_OPERATION_TIMEDOUT:
            return NoBody()
        failure = failure_for(code, os_error, message)
        if isinstance(failure, ProxyRefused):
            return failure
        if self.request.proxy and code == pycurl.E_COULDNT_CONNECT:
            failure = FetchFailed(ReasonKind.PROXY)
        if not self._sends and code in (pycurl.E_COULDNT_CONNECT, pycurl.E_OPERATION_TIMEDOUT):
            return CouldNotConnect(*failure.reason, retry=failure.retry)
        return failure

    def open_socket(self, purpose: int, address: tuple[int, int, int, tuple[Any, ...]]) -> socket.socket | int:
        """Create a socket for a pinned address."""
        try:
            family, kind, protocol, place = address
            host = place[0].decode() if isinstance(place[0], bytes) else place[0]
            if why := self._address_refusal(host, place[1]):
                self._refused = AddressRefused(why)
                return int(pycurl.SOCKET_BAD)
            if self.request.proxy and self._is_late:  # a request for a tunnel would follow
                self._refused = timed_out()
                return int(pycurl.SOCKET_BAD)
            return _DroppedSocket(family, kind, protocol)
        except Exception as error:
            logger.exception("cannot open a socket: %s", self.request.url)
            self._refused = FetchFailed(ReasonKind.EXCEPTION, type(error).__name__)
            return int(pycurl.SOCKET_BAD)

    def before_send(self, remote: str, local: str, remote_port: int, local_port: int) -> int:
        """Check right before a request is sent whether it may be."""
        try:
            self._refused = self._send_refusal((remote, remote_port), (local, local_port))
        except Exception as error:
            logger.exception("cannot check a connection: %s", self.request.url)
            self._refused = FetchFailed(ReasonKind.EXCEPTION, type(error).__name__)
        self._sends += 1
        self.local = local, local_port
        return int(pycurl.PREREQFUNC_ABORT if self._refused else pycurl.PREREQFUNC_OK)

    def _send_refusal(self, remote: tuple[str, int], local: tuple[str, int]) -> Exception | None:
        if why := self._address_refusal(*remote):
            return AddressRefused(why)
        if self.has_unsolicited_input(*local):
            return StaleConnection()
        if self._sends >= MAX_SENDS:
            return FetchFailed(ReasonKind.CONNECTION)
        return timed_out() if self._is_late else None

    @property
    def _is_late(self) -> bool:
        return monotonic() > self.end or self.is_over

    def _address_refusal(self, host: str, port: int) -> str:
        address = _unmapped(host)
        if (address, port) not in self._pinned:
            return "not the address that was checked"
        return self.request.refusal(str(address))

    def take_header(self, line: bytes) -> int | None:
        """Take a line of the head."""
        self.latency = monotonic() - self.start
        return self._taken(self.head.take, line)

    def take_body(self, data: bytes) -> int | None:
        """Take a piece of the body, as it was sent."""
        return self._taken(self._add, data)

    def _taken(self, take: Callable[[bytes], None], data: bytes) -> int | None:
        """Pass data on; return whether libcurl aborts the transfer."""
        try:
            if not self.is_over:
                take(data)
        except FetchFailed as error:
            self.abort(error)
        except Undecodable:
            self.abort(FetchFailed(ReasonKind.COMPRESSION, retry=False))
        except Exception as error:
            logger.exception("cannot read the response: %s", self.request.url)
            self.abort(FetchFailed(ReasonKind.EXCEPTION, type(error).__name__))
        return _ABORT if self.is_over else None

    def _add(self, data: bytes) -> None:
        body = self._begin_body() if self._body is None else self._body
        is_malformed = False
        if self._chunks:
            try:
                data = self._chunks.take(data)
            except MalformedChunks as error:
                data, is_malformed = error.body, True
        self._received += len(data)
        before = len(body)
        wanted = body.take(data)
        self._held += len(body) - before
        fits = self._body_memory.add(len(body) - before)
        if not wanted or (not fits and len(body) > SMALL_BYTES):
            self._truncate()
        elif is_malformed:
            self.abort(NoBody())

    def _begin_body(self) -> Decompressor:
        transfer_codings = codings(self.head.values("transfer-encoding"))
        self._chunks = ChunkedDecoder() if transfer_codings[-1:] == ["chunked"] else None
        self._body = Decompressor(codings(self.head.values("content-encoding")), self.request.max_bytes)
        return self._body


def _set_route(curl: Any, place: tuple[str, int], proxy: UpstreamProxy | None) -> None:
    """Let a handle connect to one place: the server, or the proxy."""
    address, port = place
    spelled = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    if proxy is None:
        curl.setopt(pycurl.PROXY, "")
        curl.setopt(pycurl.NOPROXY, "*")  # whatever the environment says
        curl.setopt(pycurl.CONNECT_TO, [f"::{spelled}"])
        return
    curl.setopt(pycurl.PROXY, f"http://{spelled}")
    curl.setopt(pycurl.NOPROXY, "")  # every host, whatever the environment says
    if proxy.user and proxy.password:
        curl.setopt(pycurl.PROXYAUTH, pycurl.HTTPAUTH_BASIC)
        curl.setopt(pycurl.PROXYUSERNAME, proxy.user.reveal())
        curl.setopt(pycurl.PROXYPASSWORD, proxy.password.reveal())


def _set_verification(curl: Any, *, is_verified: bool) -> None:
    """Verify certificates by the authorities that this machine trusts, or not at all."""
    curl.setopt(pycurl.SSL_VERIFYPEER, int(is_verified))
    curl.setopt(pycurl.SSL_VERIFYHOST, 2 if is_verified else 0)
    if is_verified:
        file, folder = _authorities(os.environ.get("SSL_CERT_FILE", ""), os.environ.get("SSL_CERT_DIR", ""))
        curl.setopt(pycurl.CAINFO, file) if file else curl.setopt(pycurl.CAPATH, folder)


@lru_cache(maxsize=4)
def _authorities(env_file: str, env_folder: str) -> tuple[str, str]:
    """Return the file, or the folder, with the certificates of the authorities; certifi's where the machine has none.

    Args:
        env_file: The variable SSL_CERT_FILE; it and the folder are read by `ssl`, and given here as keys of the cache.
    """
    trusted = ssl.get_default_verify_paths()
    if trusted.cafile:
        return trusted.cafile, ""
    if trusted.capath and any(Path(trusted.capath).iterdir()):
        return "", trusted.capath
    return certifi.where(), ""


def _close_on_exec(descriptor: int, purpose: int) -> int:
    os.set_inheritable(descriptor, False)  # pycurl passes on a duplicate without this flag
    return 0


def _unmapped(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Parse an address; an IPv4 address inside an IPv6 one is the same address."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    return getattr(parsed, "ipv4_mapped", None) or parsed
