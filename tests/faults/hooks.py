"""Row W1: receivers of webhooks that answer nonsense, hang, redirect or refuse, and take everything in the end."""

from __future__ import annotations

import json
import re
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from testing.crawl_process import wait_for
from tests.faults.table import Outcome
from thresher.config.secrets import Secret
from thresher.watch import webhooks
from thresher.watch.database import Digest, WatchDatabase
from thresher.watch.webhooks import Deliverer, Webhook

TAKEN = b"HTTP/1.1 204 Taken\r\nContent-Length: 0\r\n\r\n"
HANG = b""
ANSWERS = {
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n",
    "no status": b"HTTP/1.1 banana\r\n\r\n",
    "a status line of 70 KB": b"HTTP/1.1 200 " + b"a" * 70_000 + b"\r\n\r\n",
    "a header of 70 KB": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
    "5,000 headers": b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 5000 + b"\r\n",
    "half an answer": b"HTTP/1.1 20",
    "a wrong length": b"HTTP/1.1 503 No\r\nContent-Length: -5\r\n\r\n",
    "a redirect elsewhere": b"HTTP/1.1 307 There\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
    "a redirect to itself": b"HTTP/1.1 301 Here\r\nLocation: /hook\r\nContent-Length: 0\r\n\r\n",
    "401": b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
    "500": b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
    "silence": HANG,
}
TIMEOUT_SECONDS = 0.5
"""Instead of 15 s."""
WAIT_SECONDS = 60.0


@dataclass
class Receiver:
    """Gives each of its answers once, then takes what comes."""

    answers: list[bytes]
    received: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/hook"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._converse, args=[connection], daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            message = _message(connection)
            self.received.append(message)
            answer = self.answers.pop(0) if self.answers else TAKEN
            if answer == HANG:
                time.sleep(4 * TIMEOUT_SECONDS)
                return
            if answer == TAKEN:
                self.taken.append(message)
            connection.sendall(answer)


def _message(connection: socket.socket) -> str:
    """Read a request; return the id of its message."""
    content = b""
    while b"\r\n\r\n" not in content:
        content += connection.recv(1 << 16)
    head, _, body = content.partition(b"\r\n\r\n")
    length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])  # type: ignore[index]
    while len(body) < length:
        body += connection.recv(1 << 16)
    json.loads(body)
    return re.search(rb"(?i)webhook-id: (\S+)", head)[1].decode()  # type: ignore[index]


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """What two receivers got, one that fails in every way and one that does not.

    Args:
        good_seconds: How long the good receiver waited for the last digest.
        alive: Whether the deliverer still ran in the end.
    """

    digests: int
    failures: int
    taken: Counter[str]
    in_order: bool
    good_taken: int
    good_seconds: float
    alive: bool

    @property
    def held(self) -> bool:
        """Whether every digest was taken once, in its order, and nobody waited for the bad receiver for long."""
        once = len(self.taken) == self.digests and set(self.taken.values()) == {1}
        return once and self.in_order and self.good_taken == self.digests and self.alive


@contextmanager
def _receivers(answers: Sequence[bytes]) -> Iterator[tuple[Receiver, Receiver]]:
    bad, good = Receiver(list(answers)), Receiver([])
    try:
        yield bad, good
    finally:
        bad.close()
        good.close()


def deliver(names: Sequence[str], digests: int) -> Delivered:
    """Deliver digests to a receiver that first gives these answers, and to one that takes everything."""
    quick = {"TIMEOUT_SECONDS": TIMEOUT_SECONDS, "FIRST_PAUSE_SECONDS": 0.05, "MAX_PAUSE_SECONDS": 0.2}
    with (
        tempfile.TemporaryDirectory() as folder,
        _receivers([ANSWERS[name] for name in names]) as (bad, good),
        patch.multiple(webhooks, POLL_SECONDS=0.05, **quick),
    ):
        hooks = [
            Webhook(key=key, url=Secret(each.url), secret=Secret("key")) for key, each in {"b": bad, "g": good}.items()
        ]
        with closing(WatchDatabase(Path(folder))) as database, database.transaction():
            for number in range(1, digests + 1):
                digest = Digest(number=number, crawl="c", title="t", created_at=time.time(), total=0, entries=[])
                database.add_digest(digest, [hook.key for hook in hooks])
        deliverer, began = Deliverer(Path(folder), "id", hooks, lambda line: None), time.monotonic()
        deliverer.start()
        wait_for(lambda: len({*good.taken}) == digests, seconds=WAIT_SECONDS)
        good_seconds = time.monotonic() - began
        wait_for(lambda: len({*bad.taken}) == digests, seconds=WAIT_SECONDS)
        time.sleep(5 * TIMEOUT_SECONDS)  # what is posted twice comes now
        alive = deliverer.is_alive()
        deliverer.stop()
    numbers = [int(message.rpartition("_")[2]) for message in bad.taken]
    return Delivered(
        digests=digests,
        failures=len(bad.received) - len(bad.taken),
        taken=Counter(bad.taken),
        in_order=numbers == sorted(numbers),
        good_taken=len(good.taken),
        good_seconds=good_seconds,
        alive=alive,
    )


def w1() -> Outcome:
    """Give every answer three times over."""
    found = deliver([*ANSWERS] * 3, 20)
    return Outcome(
        held=found.held,
        figure=(
            f"{len(ANSWERS)} kinds of bad answers, {found.failures} failed attempts; then {len(found.taken)} of "
            f"{found.digests} digests taken, {max(found.taken.values(), default=0)} time each, "
            f"{'in order' if found.in_order else 'out of order'}; another receiver had all after "
            f"{found.good_seconds:.1f} s"
        ),
    )
