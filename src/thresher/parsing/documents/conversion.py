"""Conversion of documents to HTML in a child process with limits on CPU time, memory and open files.

PDFium and the readers of other formats are given files from strangers. So they run in a child of the worker, which the
kernel ends when it exceeds a limit; the next document gets a new one. The child cannot write files.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from thresher import registry
from thresher.parsing.documents.document import DocumentLimits, UnreadableDocument
from thresher.parsing.documents.formats import KIND, document_format
from thresher.parsing.isolated import IsolatedProcess, ProcessLimits, Unparsable, serve
from thresher.records import FetchedPage

MAX_MEMORY_BYTES = 112 << 20
"""Of the child, above what it needs before the first document."""
EXTRA_SECONDS = 5.0
"""Wall-clock time for a document, above its CPU time."""
TURN_SECONDS = 15.0
"""How long a document waits for those before it."""

_HTML = "text/html; charset=utf-8"
_RUN = "from thresher.parsing.documents.conversion import main; main()"


class DocumentConverter:
    """Converts the documents of one worker.

    Args:
        formats: The formats that are read, such as ``pdf``.
        command: The command of the child; another one in tests.
    """

    def __init__(
        self,
        formats: Sequence[str] = tuple(registry.DOCUMENT_FORMATS),
        limits: DocumentLimits | None = None,
        command: Sequence[str] = (sys.executable, "-c", _RUN),
    ) -> None:
        self.formats = frozenset(formats)
        self._limits = limits or DocumentLimits()
        self._process = IsolatedProcess(command)

    async def convert(self, fetched: FetchedPage, kind: str) -> FetchedPage:
        """Return a fetched document as if its server had sent HTML.

        Raises:
            Unparsable: It cannot be read, or exceeded a limit.
        """
        label, limits = document_format(kind).label, self._limits
        times = ProcessLimits(
            seconds=limits.seconds + EXTRA_SECONDS, cpu_seconds=limits.seconds, turn_seconds=TURN_SECONDS
        )
        try:
            parts = [kind.encode(), json.dumps(asdict(limits)).encode(), fetched.body]
            answer: dict[str, Any] = json.loads(await self._process.request(parts, times))
        except Unparsable as error:
            raise Unparsable(f"{label}, {error.why}", final=error.final) from error
        if why := answer.get("unreadable"):
            raise Unparsable(f"{label}, {'truncated' if fetched.truncated else why}", final=True)
        return replace(
            fetched,
            headers={**fetched.headers, "content-type": _HTML},
            body=answer["html"].encode("utf-8", "replace"),
            truncated=fetched.truncated or answer["is_cut"],
        )

    def close(self) -> None:
        self._process.close()


def main() -> None:
    """Convert the documents on standard input until it ends."""
    readers = {name: document_format(name).load() for name in registry.known(KIND)}

    def answer(kind: bytes, limits: bytes, body: bytes) -> bytes:
        wanted = DocumentLimits(**json.loads(limits))
        signal.setitimer(signal.ITIMER_PROF, wanted.seconds)
        response: dict[str, Any]
        try:
            html = readers[kind.decode()](body, wanted)
            response = {"html": str(html), "is_cut": html.is_cut}
        except UnreadableDocument as error:
            response = {"unreadable": str(error)}
        except MemoryError:
            response = {"unreadable": "more memory than allowed"}
        except Exception as error:  # whatever is wrong with one document, the next one may be right
            response = {"unreadable": f"damaged ({type(error).__name__})"}
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        return json.dumps(response).encode()

    _limit_resources()
    serve(answer)


def _limit_resources() -> None:
    """Limit memory, files and processes; to be called when everything that is needed has been loaded."""
    pages = int(Path("/proc/self/statm").read_text().split()[5]) if Path("/proc/self/statm").exists() else 0
    memory = pages * resource.getpagesize() + MAX_MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
