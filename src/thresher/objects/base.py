"""Object storage by URL: file:// and paths, s3://, gs:// and az://, with the operations that Thresher needs.

Objects are never replaced: `put_new` creates one or finds that it exists. Credentials come from the environment
(``AWS_*``, ``GOOGLE_*``, ``AZURE_*``) and are never written to a file; a URL that has a password in it is refused. A
folder needs the extra ``parquet``, for what is stored there; buckets need the extra ``collection``.

`FolderObjects` is object storage in a folder: one file per object, for one machine, or for all that mount the folder.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import unquote, urlsplit

from thresher.atomic_file import renamed_when_complete
from thresher.errors import ConfigError, ObjectMissing, StoreRefused, StoreUnreachable, is_disk_full, require
from thresher.locale.translation import _
from thresher.urls.store_address import check_collection


class FolderObjects:
    """The objects of a folder.

    Args:
        durable: Whether an object survives a loss of power as soon as it is stored.
        used: The URL of a folder that has objects. If it is this one and is not there, its disk is not mounted: a
            folder in its place would be on another disk, so none is created.
    """

    def __init__(self, root: Path, *, durable: bool = True, used: str = "") -> None:
        self.url = root.absolute().as_uri()
        self._root = root
        self._durable = durable
        self._is_new = self.url != used

    def put_new(self, key: str, content: bytes) -> bool:
        with self._errors(key):
            return self._create(key, lambda file: file.write(content))

    def put_file(self, key: str, path: Path) -> None:
        with path.open("rb") as source, self._errors(key):
            if self.size(key) != path.stat().st_size:
                self._create(key, lambda file: shutil.copyfileobj(source, file), replace=True)

    def get(self, key: str) -> bytes:
        with self._errors(key):
            return self._path(key).read_bytes()

    def download(self, key: str, path: Path) -> None:
        with self._errors(key):
            shutil.copyfile(self._path(key), path)

    def size(self, key: str) -> int | None:
        path = self._path(key)
        with self._errors(key):
            return path.stat().st_size if path.is_file() else None

    def sizes(self, prefix: str, *, after: str = "") -> dict[str, int]:
        with self._errors(prefix):
            files = [path for path in self._path(prefix).rglob("*") if path.is_file() and not _is_unfinished(path)]
            found = {path.relative_to(self._root).as_posix(): path.stat().st_size for path in files}
        return {key: found[key] for key in sorted(found) if key > after}

    def folders(self, prefix: str) -> list[str]:
        folder = self._path(prefix)
        with self._errors(prefix):
            return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []

    def delete(self, key: str) -> None:
        with self._errors(key):
            self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._root.joinpath(*key.split("/"))

    def _create(self, key: str, write: Callable[[BinaryIO], object], *, replace: bool = False) -> bool:
        """Write a file under another name, then give it its own; False when that exists and is not to be replaced."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{secrets.token_hex(8)}.part")
        try:
            with (
                renamed_when_complete(unfinished, path, replace=replace, durable=self._durable),
                unfinished.open("xb") as file,
            ):
                write(file)
        except FileExistsError:
            return False
        return True

    @contextmanager
    def _errors(self, key: str) -> Iterator[None]:
        if not (self._is_new or self._root.exists()):
            raise StoreUnreachable(
                _("{url} is no folder; mount its disk, or create the folder to upload all pages again", url=self.url)
            )
        try:
            yield
        except FileNotFoundError as error:
            if not self._root.is_dir():  # not mounted, for example
                raise StoreUnreachable(_("{url} is no folder", url=self.url)) from error
            raise ObjectMissing(self.url, key) from error
        except PermissionError as error:
            raise StoreRefused(_("{url} refuses access: {error}", url=self.url, error=error.strerror)) from error
        except OSError as error:
            if is_disk_full(error):
                raise
            raise StoreUnreachable(_("{url} cannot be used: {error}", url=self.url, error=error.strerror)) from error


def _is_unfinished(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(".part")


_PARQUET_USES = _("a collection or a cold storage")


class Objects(Protocol):
    """The objects under one URL; keys have parts separated by ``/``.

    Raises:
        StoreUnreachable: The storage does not answer.
        StoreRefused: It refuses access.
    """

    @property
    def url(self) -> str: ...

    def put_new(self, key: str, content: bytes) -> bool:
        """Create an object, of which nobody sees a part; False when it exists already."""
        ...

    def put_file(self, key: str, path: Path) -> None:
        """Upload a file under a name that depends on its content; nothing if it exists."""
        ...

    def get(self, key: str) -> bytes:
        """Return the content of an object.

        Raises:
            ObjectMissing: There is none.
        """
        ...

    def download(self, key: str, path: Path) -> None:
        """Write an object to a file, block by block.

        Raises:
            ObjectMissing: There is none.
        """
        ...

    def size(self, key: str) -> int | None:
        """Return the size of an object in bytes; None when it does not exist."""
        ...

    def sizes(self, prefix: str, *, after: str = "") -> dict[str, int]:
        """Return the sizes of the objects under a prefix, in the order of their keys; only of those after a key."""
        ...

    def folders(self, prefix: str) -> list[str]:
        """Return the names of the folders under a prefix."""
        ...

    def delete(self, key: str) -> None:
        """Delete an object; one that does not exist is ignored."""
        ...


def open_objects(address: str, *, used: str = "") -> Objects:
    """Open object storage by its URL, or a folder by its absolute path; nothing is sent yet.

    Args:
        used: The URL of a storage that has objects: if that is a folder, it is not created anew.

    Raises:
        ConfigError: The URL or an environment variable is invalid, or a package is not installed.
    """
    url = address if address.startswith("/") else check_collection(address)
    if url.startswith(("/", "file:")):
        require("pyarrow", extra="parquet", what=_PARQUET_USES)
        return FolderObjects(Path(unquote(urlsplit(url).path) if url.startswith("file:") else url), used=used)
    require("pyarrow", extra="collection", what=_PARQUET_USES)
    try:
        from thresher.objects.bucket import BucketObjects
    except ModuleNotFoundError as error:
        raise ConfigError(
            _(
                '{scheme}:// needs another package: pip install "thresher-crawler[collection]" ({error})',
                scheme=urlsplit(url).scheme,
                error=error,
            )
        ) from error
    return BucketObjects.open(url)
