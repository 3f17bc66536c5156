"""A crawl's definition in the store: what the user wrote and what was trained, so that any machine can join.

Files lie in a hash under their digests; the manifest, which is written last, says what they are called. So whoever
reads finds one definition whole, also while it is replaced by another. Files are data: names, sizes and digests are
checked, and nothing in them is ever run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thresher.config import CrawlConfig
from thresher.config_file import load_config
from thresher.errors import ConfigError, StoreError, UnknownCrawl
from thresher.fleet.filenames import checked_name, files_elsewhere, shared_files
from thresher.fleet.keys import Link, key_of
from thresher.folder import CrawlFolder
from thresher.topics.files import with_settings
from thresher.urls.store_address import StoreAddress

FORM = 1
MAX_FILE_BYTES = 16 << 20
MAX_BYTES = 64 << 20
MAX_FILES = 1000
_MANIFEST = "manifest"
_TOPIC = "topic.yaml"
_MAX_MANIFEST_BYTES = 1 << 20
_CHANGES = frozenset({"strategy"})
"""What flags may put in the place of topic.yaml's words, for all machines."""


@dataclass(frozen=True, kw_only=True)
class Definition:
    """What a machine needs to join a crawl.

    Args:
        files: Contents by name, seen from the crawl's folder.
        too_large: Sizes of files of the folder that do not fit into a store; a machine must have them before.
        elsewhere: Files outside of the folder, which every machine must have at the same place.
        changes: What flags put in the place of topic.yaml's words.
    """

    files: Mapping[str, bytes]
    too_large: Mapping[str, int] = field(default_factory=dict)
    elsewhere: Sequence[str] = ()
    changes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: CrawlFolder, config: CrawlConfig, changes: Mapping[str, str]) -> Definition:
        """Read the definition of a crawl from its folder.

        Raises:
            ConfigError: It is too large for a store.
        """
        sizes = {name: (folder.root / name).stat().st_size for name in shared_files(folder, config)}
        small = [name for name, size in sizes.items() if size <= MAX_FILE_BYTES]
        if sum(sizes[name] for name in small) > MAX_BYTES or len(small) > MAX_FILES:
            raise ConfigError(f"{folder.root}: more than {MAX_BYTES >> 20} MiB of small files; keep the taxonomy apart")
        return cls(
            files={name: _shared_content(folder, name) for name in small},
            too_large={name: size for name, size in sizes.items() if size > MAX_FILE_BYTES},
            elsewhere=files_elsewhere(config),
            changes={name: value for name, value in changes.items() if name in _CHANGES},
        )

    def write(self, folder: CrawlFolder) -> None:
        """Write the files into a folder, each whole or not at all.

        Raises:
            ConfigError: Something that is not in the store is not on this machine either.
        """
        folder.root.mkdir(parents=True, exist_ok=True)
        root = folder.root.resolve()
        for name, content in self.files.items():
            path = root / checked_name(name)
            if not path.resolve().is_relative_to(root):
                raise StoreError(f"{folder.root / name} leads out of the crawl's folder")
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f".{path.name}.new")
            beside.write_bytes(content)
            beside.replace(path)
        for name, size in self.too_large.items():
            if not (path := root / checked_name(name)).is_file() or path.stat().st_size != size:
                raise ConfigError(f"{name} ({size >> 20} MiB) is too large for the store; copy it to {path}, then join")


class DefinitionStore:
    """Where the definition of one crawl lies."""

    def __init__(self, link: Link, crawl: str) -> None:
        self._link = link
        self._crawl = crawl
        self._key = key_of(crawl, "definition")

    async def publish(self, definition: Definition, *, mark: str = "") -> None:
        """Put a definition into the store, in the place of the one before.

        Args:
            mark: Of the folder that it comes from.

        Raises:
            ConfigError: The store holds another crawl of the same name.
        """
        await self.refuse_another(definition, mark=mark)
        digests = {name: _digest(content) for name, content in definition.files.items()}
        for name, digest in digests.items():
            await self._link.call("HSET", self._key, digest, definition.files[name])
        manifest = {
            "form": FORM,
            "mark": mark,
            "files": digests,
            "too_large": dict(definition.too_large),
            "elsewhere": list(definition.elsewhere),
            "changes": dict(definition.changes),
        }
        await self._link.call("HSET", self._key, _MANIFEST, json.dumps(manifest))
        kept = {_MANIFEST, *digests.values()}
        names = [name.decode() for name in await self._link.call("HKEYS", self._key)]
        if old := [name for name in names if name not in kept]:
            await self._link.call("HDEL", self._key, *old)

    async def refuse_another(self, definition: Definition, *, mark: str) -> None:
        """See to it that two crawls do not mix; the same one may come from a folder that was moved or made anew.

        Raises:
            ConfigError: The store holds another crawl of the same name.
        """
        if entry := await self._content(_MANIFEST, _MAX_MANIFEST_BYTES):
            there = _read(entry)
            same_topic = _mapping(there, "files").get(_TOPIC) == _digest(definition.files.get(_TOPIC, b""))
            if there.get("mark") != mark and not same_topic:
                raise ConfigError(
                    f"the store holds a crawl called {self._crawl!r} that was begun from another folder; join it by "
                    "thresher work, or give this one another name in topic.yaml"
                )

    async def fetch(self) -> Definition:
        """Return the definition.

        Raises:
            UnknownCrawl: There is no such crawl.
            StoreError: What is there was not written by us, or by a newer Thresher.
        """
        entry = await self._content(_MANIFEST, _MAX_MANIFEST_BYTES)
        if entry is None:
            raise UnknownCrawl(self._crawl)
        manifest = _read(entry)
        files = {checked_name(name): str(digest) for name, digest in _mapping(manifest, "files").items()}
        if len(files) > MAX_FILES:
            raise StoreError(f"the store lists {len(files)} files for {self._crawl!r}; more than any crawl has")
        contents = await self._contents(files)
        changes = _mapping(manifest, "changes")
        return Definition(
            files=contents,
            too_large={checked_name(name): int(size) for name, size in _mapping(manifest, "too_large").items()},
            elsewhere=[str(name) for name in manifest.get("elsewhere", ())],
            changes={name: str(changes[name]) for name in _CHANGES & changes.keys()},
        )

    async def _contents(self, digests: Mapping[str, str]) -> dict[str, bytes]:
        contents: dict[str, bytes] = {}
        for name, digest in digests.items():
            content = await self._content(digest, min(MAX_FILE_BYTES, MAX_BYTES - sum(map(len, contents.values()))))
            if content is None or _digest(content) != digest:
                raise StoreError(
                    f"{name} of {self._crawl!r} in the store is damaged; run the crawl again where it began"
                )
            contents[name] = content
        return contents

    async def _content(self, field_name: str, max_bytes: int) -> bytes | None:
        """Return a field of the hash; None when there is none, or it is larger than it may be."""
        size = int(await self._link.call("HSTRLEN", self._key, field_name))
        if size > max_bytes:
            raise StoreError(f"the store holds {size >> 20} MiB in one file for {self._crawl!r}; too much to take")
        content = await self._link.call("HGET", self._key, field_name)
        return bytes(content) if isinstance(content, bytes) and len(content) <= max_bytes else None


def _shared_content(folder: CrawlFolder, name: str) -> bytes:
    """Read a file of the folder; of topic.yaml without the password of its store, which other machines would keep."""
    content = (folder.root / name).read_bytes()
    if name != _TOPIC:
        return content
    address = StoreAddress.parse(load_config(folder.topic).store)
    if address is None or not address.password:
        return content
    return with_settings(content.decode("utf-8"), {"store": address.recorded}).encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(entry: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(entry)
        form = int(manifest["form"])
    except (ValueError, TypeError, KeyError) as error:
        raise StoreError("the crawl's definition cannot be read; run the crawl again where it began") from error
    if form > FORM:
        raise StoreError(f"the crawl's definition has form {form}, this Thresher reads up to {FORM}; use a newer one")
    assert isinstance(manifest, dict)
    return manifest


def _mapping(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = manifest.get(name, {})
    if not isinstance(found, dict):
        raise StoreError(f"the crawl's definition in the store cannot be read: {name} is no mapping")
    return found
