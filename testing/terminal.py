"""A command in a pseudo-terminal: typed keys, and what a person sees."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

ROWS, COLUMNS = 40, 100


class Terminal:
    """A process whose standard input, output and error are one pseudo-terminal."""

    def __init__(self, *arguments: object, environment: Mapping[str, str]) -> None:
        self.process, self._file = pty.fork()
        if self.process == 0:  # the child
            words = [sys.executable, "-m", "thresher", *map(str, arguments)]
            os.execvpe(sys.executable, words, dict(environment))
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.screen = ""
        self._read = 0

    def wait_for(self, text: str, *, seconds: float = 60.0) -> str:
        """Wait until a text is printed after what was waited for before; return all that was printed in between."""
        until = time.monotonic() + seconds
        while (end := self.screen.find(text, self._read)) < 0:
            if time.monotonic() > until or not self._print():
                raise AssertionError(f"{text!r} was not printed after {self.screen[self._read :]!r}")
        printed = self.screen[self._read : end + len(text)]
        self._read = end + len(text)
        return printed

    def press(self, keys: str) -> None:
        """Type keys, when the program has had the time to switch the terminal to single keys."""
        time.sleep(0.2)
        os.write(self._file, keys.encode())

    def end(self, *, seconds: float = 60.0) -> int:
        """Wait until the process ends; return its exit code."""
        until = time.monotonic() + seconds
        while self._print():
            assert time.monotonic() < until, f"it still runs: {self.screen[-2000:]!r}"
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def _print(self) -> bool:
        """Read what is printed within a second; False at the end."""
        if not select.select([self._file], [], [], 1.0)[0]:
            return True
        try:
            read = os.read(self._file, 65_536)
        except OSError:  # the other side is closed
            return False
        self.screen += read.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(read)

    def close(self) -> None:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self._file)


@contextmanager
def terminal(*arguments: object, **environment: str) -> Iterator[Terminal]:
    """Run a command of Thresher in a terminal, outside CI."""
    usual = {name: value for name, value in os.environ.items() if name != "CI"}
    opened = Terminal(*arguments, environment={**usual, "NO_COLOR": "1", "TERM": "xterm", **environment})
    try:
        yield opened
    finally:
        opened.close()
