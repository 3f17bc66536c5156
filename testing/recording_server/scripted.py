"""One scripted answer on its way over a connection, and its line in the log."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from time import monotonic_ns

from testing.recording_server.log import Hit
from testing.recording_server.reply import send
from testing.recording_server.script import Answer, HeaderList, Request, Router

USUAL_PORTS = {"80", "443"}
NOT_FOUND = Answer(status=404, body="<!doctype html><title>Not found</title><p>No such page.")


def ask(router: Router, method: str, target: str, head: bytes, transport: asyncio.Transport) -> Request:
    """Return a request as a script sees it."""
    address, port = transport.get_extra_info("sockname")[:2]
    headers = _headers(head)
    host = next((value for name, value in headers if name.lower() == "host"), address).lower()
    name, _, number = host.partition(":")
    host = name if number in USUAL_PORTS | {str(port), ""} else host
    return Request(
        method=method,
        host=host,
        address=address,
        target=target,
        headers=headers,
        number=router.count(host, target),
        port=port,
        tls=transport.get_extra_info("ssl_object") is not None,
    )


def find(router: Router, request: Request) -> Answer | None:
    """Return what the script answers; a function of the script that fails is reported, and answered with 500."""
    try:
        return router.find(request)
    except Exception:
        traceback.print_exc(file=sys.stderr)
        return Answer(status=500, body=traceback.format_exc(), content_type="text/plain")


def _headers(head: bytes) -> HeaderList:
    lines = head.decode("utf-8", "backslashreplace").split("\r\n")[1:]
    parted = (line.partition(":") for line in lines)
    return tuple((name.strip(), value.strip()) for name, _, value in parted)


class Sending:
    """A reply while it is sent: the `Line` that `send` writes to.

    Args:
        ended: Called once, when the reply is over or the client has gone.
    """

    def __init__(
        self, transport: asyncio.Transport, request: Request, answer: Answer, ended: Callable[[Hit], None]
    ) -> None:
        self._transport = transport
        self._request = request
        self._answer = answer
        self._ended = ended
        self._start_ns = self._sent_ns = monotonic_ns()
        self._sent_bytes = 0
        self._taken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self, start_ns: int) -> None:
        """Begin to answer a request that came in at `start_ns`."""
        self._start_ns = start_ns
        self._task = asyncio.get_running_loop().create_task(self._send())

    async def write(self, data: bytes) -> None:
        """Send bytes, and wait until the kernel has taken them."""
        if self._sent_bytes:
            await asyncio.sleep(0)  # others want to be served as well
        self._sent_ns = monotonic_ns()
        self._sent_bytes += len(data)
        self._taken.clear()
        self._transport.write(data)
        if self._transport.get_write_buffer_size():
            await self._taken.wait()
            self._sent_ns = monotonic_ns()

    def taken(self) -> None:
        """The kernel has taken all."""
        self._taken.set()

    def close(self) -> None:
        """End the connection in order."""
        self._sent_ns = monotonic_ns()
        self._transport.close()

    def reset(self) -> None:
        """End the connection by a reset."""
        self._sent_ns = monotonic_ns()
        at_once = struct.pack("ii", 1, 0)
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        self._transport.abort()

    def lost(self) -> None:
        """The client has gone, or we have ended the connection ourselves."""
        if self._task and not self._task.done():
            self._task.cancel()
            self._sent_ns = monotonic_ns()
            self._ended(self._hit(left=True))

    async def _send(self) -> None:
        try:
            await send(self._answer, self._request, self)
        except Exception:  # an answer that cannot be sent, such as an unknown coding
            traceback.print_exc(file=sys.stderr)
            self.reset()
        self._task = None
        self._ended(self._hit(left=False))

    def _hit(self, *, left: bool) -> Hit:
        request = self._request
        return Hit(
            self._start_ns,
            self._sent_ns,
            self._sent_ns if left else monotonic_ns(),
            request.host,
            self._answer.status if self._sent_bytes else 0,
            request.target.replace("\t", "\\t"),
            "" if request.address == request.host else request.address,
            tuple(request.headers),
            self._sent_bytes,
            left,
        )
