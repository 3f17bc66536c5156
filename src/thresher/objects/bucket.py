"""Object storage in a bucket of a cloud, by way of `obstore`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import ObjectStore, from_url

from thresher.errors import ConfigError, ObjectMissing, StoreRefused, StoreUnreachable, is_disk_full

CONNECT_SECONDS, ANSWER_SECONDS, RETRY_SECONDS = 5, 60, 5
"""How long a request may connect, how long it may take, and how long it is retried before an error is reported."""
PART_BYTES = 8 << 20
"""Larger files are uploaded in parts."""
_CLOUDS = {"s3": "AWS", "gs": "GOOGLE", "az": "AZURE"}
_ALL_HOSTS = "*,0.0.0.0/0,::/0"


class BucketObjects:
    """The objects under one URL of a bucket.

    Args:
        store: A store of `obstore`.
        url: For messages.
    """

    def __init__(self, store: ObjectStore, url: str) -> None:
        self._store = store
        self.url = url

    @classmethod
    def open(cls, url: str) -> BucketObjects:
        """Open a bucket by its URL; nothing is sent yet.

        Raises:
            ConfigError: The URL or an environment variable is invalid.
        """
        try:
            return cls(from_url(url, client_options=_client_options(url), retry_config=_retry_config()), url)
        except (BaseError, ValueError) as error:
            raise ConfigError(f"{url} cannot be opened: {_first_line(error)}") from error

    def put_new(self, key: str, content: bytes) -> bool:
        with self._errors(key):
            try:
                obstore.put(self._store, key, content, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return False
        return True

    def put_file(self, key: str, path: Path) -> None:
        if self.size(key) != path.stat().st_size:
            with self._errors(key):
                obstore.put(self._store, key, path, chunk_size=PART_BYTES, max_concurrency=2)

    def get(self, key: str) -> bytes:
        with self._errors(key):
            return bytes(obstore.get(self._store, key).bytes())

    def download(self, key: str, path: Path) -> None:
        with self._errors(key), path.open("wb") as file:
            for block in obstore.get(self._store, key).stream(min_chunk_size=PART_BYTES):
                file.write(block)

    def size(self, key: str) -> int | None:
        try:
            with self._errors(key):
                return int(obstore.head(self._store, key)["size"])
        except ObjectMissing:
            return None

    def sizes(self, prefix: str, *, after: str = "") -> dict[str, int]:
        with self._errors(prefix):
            listed = obstore.list(self._store, prefix, offset=after or None).collect()
        return {str(each["path"]): int(each["size"]) for each in sorted(listed, key=lambda each: each["path"])}

    def folders(self, prefix: str) -> list[str]:
        with self._errors(prefix):
            found = obstore.list_with_delimiter(self._store, prefix)["common_prefixes"]
        return sorted(str(each).rstrip("/").rpartition("/")[2] for each in found)

    def delete(self, key: str) -> None:
        try:
            with self._errors(key):
                obstore.delete(self._store, key)
        except ObjectMissing:
            pass

    @contextmanager
    def _errors(self, key: str) -> Iterator[None]:
        """Convert errors of the storage."""
        try:
            yield
        except AlreadyExistsError:
            raise
        except FileNotFoundError as error:
            raise ObjectMissing(self.url, key) from error
        except (PermissionDeniedError, UnauthenticatedError, PermissionError) as error:
            raise StoreRefused(f"{self.url} refuses access: {_first_line(error)}") from error
        except (BaseError, OSError) as error:
            if isinstance(error, OSError) and is_disk_full(error):
                raise
            raise StoreUnreachable(f"{self.url} does not answer: {_first_line(error)}") from error


def _client_options(url: str) -> Any:
    """Return the options of the HTTP client; ``HTTP_PROXY`` and the like are not used, only a proxy of this cloud."""
    proxy = os.environ.get(f"{_CLOUDS[urlsplit(url).scheme]}_PROXY_URL")
    return {
        # the library has no other way to switch proxies of the environment off than one that no host goes through
        **({"proxy_url": proxy} if proxy else {"proxy_url": "http://127.0.0.1:9", "proxy_excludes": _ALL_HOSTS}),
        "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
        "timeout": timedelta(seconds=ANSWER_SECONDS),
        "allow_http": True,  # only for an endpoint that the environment names
    }


def _retry_config() -> Any:
    return {"max_retries": 2, "retry_timeout": timedelta(seconds=RETRY_SECONDS)}


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
