"""Where cold URLs are stored: named immutable objects, in a folder or elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from thresher.errors import ConfigError


class ColdStorage(Protocol):
    """Named objects that never change; names have parts separated by ``/``.

    All workers of a crawl must reach the same objects. Failures are raised as `OSError`.
    """

    def put(self, name: str, content: bytes) -> None:
        """Store an object durably; nobody sees a part of it."""
        ...

    def get(self, name: str) -> bytes:
        """Return an object.

        Raises:
            FileNotFoundError: There is none of this name.
        """
        ...

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the names that begin with a prefix, in no order."""
        ...

    def delete(self, name: str) -> None:
        """Delete an object; one that does not exist is ignored."""
        ...


class FolderStorage:
    """Objects as files of a folder, which all machines of the crawl must mount.

    Args:
        durable: Whether an object survives a loss of power as soon as it is stored.
    """

    def __init__(self, root: Path, *, durable: bool = True) -> None:
        self._root = root
        self._durable = durable

    def put(self, name: str, content: bytes) -> None:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
        with unfinished.open("wb") as file:
            file.write(content)
            if self._durable:
                file.flush()
                os.fsync(file.fileno())
        unfinished.replace(path)
        if self._durable:
            self._sync_folder(path.parent)

    def get(self, name: str) -> bytes:
        return (self._root / name).read_bytes()

    def list(self, prefix: str) -> Iterator[str]:
        folder = (self._root / prefix).parent if not prefix.endswith("/") else self._root / prefix
        for path in folder.rglob("*"):
            name = path.relative_to(self._root).as_posix()
            if name.startswith(prefix) and path.is_file() and not path.name.startswith("."):
                yield name

    def delete(self, name: str) -> None:
        (self._root / name).unlink(missing_ok=True)

    def _sync_folder(self, folder: Path) -> None:
        """Make the name of a new file survive a loss of power."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def open_storage(address: str) -> ColdStorage:
    """Open a cold storage by its address: a path or a ``file://`` URL.

    Raises:
        ConfigError: It is neither.
    """
    parts = urlsplit(address)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return FolderStorage(Path(unquote(parts.path)))
    if "://" in address:
        raise ConfigError(f"cold storage {address!r} is neither a folder nor a file:// URL")
    return FolderStorage(Path(address))
