"""Object storage by URL: file:// and paths, s3://, gs:// and az://, with the operations that Thresher needs.

Objects are never replaced: `put_new` creates one or finds that it exists. Credentials come from the environment
(``AWS_*``, ``GOOGLE_*``, ``AZURE_*``) and are never written to a file; a URL that has a password in it is refused. A
folder needs the extra ``parquet``, for what is stored there; buckets need the extra ``collection``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from thresher.errors import ConfigError, require
from thresher.objects.folder import FolderObjects
from thresher.urls.store_address import check_collection

_PARQUET_USES = "a collection or a cold storage"


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
            f'{urlsplit(url).scheme}:// needs another package: pip install "thresher-crawler[collection]" ({error})'
        ) from error
    return BucketObjects.open(url)
