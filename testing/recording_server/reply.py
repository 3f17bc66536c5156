"""Send a scripted answer at its pace, with its faults."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Protocol

from testing.recording_server.bodies import PIECE_BYTES, as_bytes, pieces, size_of
from testing.recording_server.script import Answer, Packed, Request

STEP_SECONDS = 0.1


class Line(Protocol):
    """The connection as seen from a reply."""

    async def write(self, data: bytes) -> None:
        """Send bytes, and wait until the kernel has taken them."""
        ...

    def close(self) -> None:
        """End the connection in order."""
        ...

    def reset(self) -> None:
        """End the connection by a reset."""
        ...


async def send(answer: Answer, request: Request, line: Line) -> None:
    """Send one answer; on return the connection is over, or ready for the next request."""
    if answer.echo:
        answer = replace(answer, body=_echo(request), content_type="application/json")
    if answer.wait_seconds:
        await asyncio.sleep(answer.wait_seconds)
    if answer.head:
        await _write_slowly(_head(answer), answer.head_bytes_per_second, line)
    if request.method != "HEAD":
        await _write_slowly(_cut(_framed(answer), _stop(answer)), answer.bytes_per_second, line)
    await _finish(answer, line)


async def _finish(answer: Answer, line: Line) -> None:
    if answer.hang_after is not None:
        await asyncio.Event().wait()  # until the client goes
    if answer.reset_after is not None:
        line.reset()
    elif not _keeps_alive(answer):
        line.close()


def _keeps_alive(answer: Answer) -> bool:
    wrong = answer.content_length not in (None, size_of(answer.body)) or answer.close_after is not None
    return answer.head and answer.raw_head is None and not wrong and _framing(answer) in {"length", "chunked"}


async def _write_slowly(made: Iterable[bytes], bytes_per_second: float | None, line: Line) -> None:
    for piece in made:
        if not piece:
            await asyncio.sleep(0)
        elif not bytes_per_second:
            await line.write(piece)
        else:
            step = max(1, int(bytes_per_second * STEP_SECONDS))
            for place in range(0, len(piece), step):
                part = piece[place : place + step]
                await asyncio.sleep(len(part) / bytes_per_second)
                await line.write(part)


def _framing(answer: Answer) -> str:
    if answer.framing:
        return answer.framing
    known = answer.content_length is not None or size_of(answer.body) is not None
    return "length" if known else "chunked"


def _head(answer: Answer) -> Iterator[bytes]:
    if answer.raw_head is not None:
        yield as_bytes(answer.raw_head)
        return
    lines = [f"HTTP/1.1 {answer.status} {_reason(answer.status)}", *(f"{n}: {v}" for n, v in _headers(answer))]
    yield "".join(f"{line}\r\n" for line in lines).encode("utf-8")
    count, size = answer.many_headers
    at_once = max(1, PIECE_BYTES // (size + 1))
    for first in range(0, count, at_once):
        numbers = range(first, min(first + at_once, count))
        yield b"".join(b"X-Filler-%d: %s\r\n" % (number, b"a" * size) for number in numbers)
    yield b"\r\n"


def _headers(answer: Answer) -> Iterator[tuple[str, str]]:
    given = list(answer.headers.items()) if isinstance(answer.headers, Mapping) else [*answer.headers]
    names = {name.lower() for name, _ in given}
    if answer.content_type and "content-type" not in names:
        yield "Content-Type", answer.content_type
    if isinstance(answer.body, Packed) and answer.body.declared and "content-encoding" not in names:
        yield "Content-Encoding", ", ".join(coding.removeprefix("raw-") for coding in answer.body.codings)
    match _framing(answer):
        case "length":
            length = size_of(answer.body) if answer.content_length is None else answer.content_length
            yield "Content-Length", str(length)
        case "chunked" | "broken":
            yield "Transfer-Encoding", "chunked"
        case _:
            yield "Connection", "close"
    yield from ((name, value) for name, value in given)


def _framed(answer: Answer) -> Iterator[bytes]:
    framing = _framing(answer)
    if framing in {"length", "close"}:
        yield from pieces(answer.body)
        return
    good = True
    for piece in pieces(answer.body):
        size = b"%x" % len(piece) if good else b"no number"
        yield size + b"\r\n" + piece + b"\r\n" if piece else b""
        good = good and (framing == "chunked" or not piece)
    yield b"0\r\n\r\n" if framing == "chunked" else b"no number\r\n\r\n"


def _stop(answer: Answer) -> int | None:
    stops = [stop for stop in (answer.hang_after, answer.reset_after, answer.close_after) if stop is not None]
    return min(stops, default=None)


def _cut(made: Iterable[bytes], stop: int | None) -> Iterator[bytes]:
    left = stop
    for piece in made:
        yield piece if left is None else piece[:left]
        if left is not None:
            left -= len(piece)
            if left <= 0:
                return


def _echo(request: Request) -> bytes:
    reported = {"method": request.method, "target": request.target, "headers": [list(pair) for pair in request.headers]}
    return json.dumps(reported).encode("ascii")


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
