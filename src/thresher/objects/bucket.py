"""Object storage in a bucket of a cloud, by way of `obstore`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import ObjectStore, from_url

from thresher.errors import ConfigError, ObjectMissing, StoreError, StoreRefused, StoreUnreachable, is_disk_full
from thresher.locale.translation import _
from thresher.urls.store_address import without_secrets

CONNECT_SECONDS, ANSWER_SECONDS, RETRY_SECONDS = 5, 60, 5
"""How long a request may connect, how long it may take, and how long it is retried before an error is reported."""
PART_BYTES = 8 << 20
"""Larger files are uploaded in parts."""
_ENDPOINTS = ("AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT")
_ENDPOINT = re.compile(
    r"https?://([\w.~!$&'()*+,;=:%-]*@)?(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:\d{1,5})?(/[\w.~!$&'()*+,;=:@%/-]*)?", re.ASCII
).fullmatch
_STATUS = re.compile(r"status code: (\d{3})")
_MESSAGE = re.compile(r"<(?:Code|Message)>([^<]*)</")
_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound")
_LATER = (408, 429)
"""Statuses below 500 that ask for another try."""
_REMEDIES = {
    **dict.fromkeys(_NO_BUCKET, _("create the bucket, or correct the URL")),
    "RequestTimeTooSkewed": _("set the clock of this machine"),
    "AuthorizationHeaderMalformed": _("check the region (AWS_REGION)"),
    "redirect": _("check the region (AWS_REGION) and the endpoint"),
}
_REMEDY = _("check credentials and permissions")
_REFUSALS = (PermissionDeniedError, UnauthenticatedError, PermissionError, FileNotFoundError)
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
        _check_endpoints()
        try:
            return cls(from_url(url, client_options=_client_options(url), retry_config=_retry_config()), url)
        except (BaseError, ValueError) as error:
            raise ConfigError(_("{url} cannot be opened: {error}", url=url, error=_answer(error)[1])) from None

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
        except (BaseError, OSError) as error:
            if isinstance(error, OSError) and is_disk_full(error):
                raise
            raise self._converted(error, key) from None  # its text has the endpoint with its password

    def _converted(self, error: BaseError | OSError, key: str) -> StoreError:
        status, message = _answer(error)
        if isinstance(error, FileNotFoundError) and not any(code in message for code in _NO_BUCKET):
            return ObjectMissing(self.url, key)
        if isinstance(error, _REFUSALS) or (300 <= status < 500 and status not in _LATER):
            remedy = next((_REMEDIES[code] for code in _REMEDIES if code in message), _REMEDY)
            return StoreRefused(
                _("{url} refuses the request: {error}; {remedy}", url=self.url, error=message, remedy=remedy)
            )
        if status:
            return StoreUnreachable(_("{url} answers with an error: {error}", url=self.url, error=message))
        return StoreUnreachable(_("{url} does not answer: {error}", url=self.url, error=message))


def _check_endpoints() -> None:
    """Check the endpoints that the environment names: a request to one that is not a URL would end the process."""
    for name in _ENDPOINTS:
        if (address := os.environ.get(name)) and not _ENDPOINT(address):
            raise ConfigError(f"{name} is not the URL of an endpoint, such as https://s3.example.org:9000")


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


def _answer(error: BaseException) -> tuple[int, str]:
    """Return the status of the storage's answer, 0 without one, and its message or what failed, without secrets."""
    text = str(error).partition("\n\nDebug source:")[0] or type(error).__name__
    if found := _STATUS.search(text):
        parts = [f"HTTP {found[1]}", *(" ".join(part.split()).rstrip(".") for part in _MESSAGE.findall(text))]
        return int(found[1]), without_secrets(": ".join(parts))[:300]
    status = 301 if "redirect without LOCATION" in text else 0
    return status, without_secrets(text.splitlines()[0])[:300]
