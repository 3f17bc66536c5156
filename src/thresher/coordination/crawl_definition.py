"""A crawl's definition in the store: the user's files and trained models, so that any machine can join.

Files are stored in a Redis hash under their digests; the manifest, which is written last, maps names to digests. So a
reader finds one complete definition, also while it is being replaced. Files are data: names, sizes and digests are
checked, and nothing in them is ever executed.

Only the user's files and trained models may come from the store. Names from the store are untrusted: none may lead out
of the folder, into what this machine crawled, or to a hidden file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from thresher.config.folder import CrawlFolder
from thresher.config.loading import load_config
from thresher.config.run_options import RunOptions
from thresher.config.schema import CrawlConfig
from thresher.coordination.keys import StoreConnection, key_of
from thresher.errors import ConfigError, StoreError, UnknownCrawl
from thresher.topics.taxonomy.bundled import BUNDLED
from thresher.topics.yaml_writer import with_settings
from thresher.urls.store_address import StoreAddress

FORMAT_VERSION = 1
MAX_FILE_BYTES = 16 << 20
MAX_BYTES = 64 << 20
MAX_FILES = 1000
_MANIFEST = "manifest"
_TOPIC = "topic.yaml"
_MAX_MANIFEST_BYTES = 1 << 20
_LONGEST = 200
_DEEPEST = 8
_OWN = frozenset({"pages", "archive", "crawl.log.jsonl", "joined.json", "store.json"})
"""What each machine writes itself; in model, only what was trained before the crawl is shared as files."""


def checked_name(name: object) -> str:
    """Return a file name, relative to the crawl's folder, if it is safe.

    Raises:
        StoreError: A crawl has no file of that name.
    """
    if not isinstance(name, str) or not _is_plain(name):
        raise StoreError(
            f"the store names a file {str(name)[:80]!r}, which is none of a crawl's own; "
            "check that it is the right store"
        )
    return name


def _is_plain(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return (
        0 < len(name) <= _LONGEST
        and 0 < len(parts) <= _DEEPEST
        and "/".join(parts) == name  # so neither absolute nor with empty or single-dot parts
        and name.isprintable()
        and "\\" not in name
        and ":" not in name
        and not any(part.startswith(".") for part in parts)
        and parts[0].lower() not in _OWN
        and not parts[0].lower().startswith("frontier.db")
        and (parts[0].lower() != "model" or parts[:2] == ("model", "trained"))
    )


def shared_files(folder: CrawlFolder, config: CrawlConfig) -> Iterator[str]:
    """Yield the files in a crawl's folder that define it."""
    yield from dict.fromkeys([folder.topic.name, *filter(is_inside, _named_files(config))])
    if (folder.root / "tokens.tsv").is_file():
        yield "tokens.tsv"
    trained = folder.model / "trained"
    yield from (path.relative_to(folder.root).as_posix() for path in sorted(trained.rglob("*")) if path.is_file())


def files_elsewhere(config: CrawlConfig) -> list[str]:
    """Return the files outside the crawl's folder that topic.yaml names; every machine needs its own copy."""
    return [name for name in _named_files(config) if not is_inside(name)]


def _named_files(config: CrawlConfig) -> list[str]:
    taxonomy = [config.taxonomy.file] if config.taxonomy and config.taxonomy.file != BUNDLED else []
    unused = config.topics and "seeds" not in config.model_fields_set
    seeds = [*(() if unused else config.seeds), *(entry for topic in config.topics.values() for entry in topic.seeds)]
    return [entry for entry in dict.fromkeys(seeds) if "://" not in entry] + taxonomy


def is_inside(name: str) -> bool:
    """Return whether a name in topic.yaml is a file in its own folder that may be shared."""
    return not name.startswith("~") and _is_plain(Path(name).as_posix()) and Path(name).as_posix() == name


@dataclass(frozen=True, kw_only=True)
class Definition:
    """What a machine needs to join a crawl.

    Args:
        files: Contents by name, relative to the crawl's folder.
        too_large: Sizes of files in the folder that are too large for the store; a joining machine needs copies.
        elsewhere: Files outside the folder, which every machine must have at the same path.
        options: Those that flags set for all machines: strategy and collection.
    """

    files: Mapping[str, bytes]
    too_large: Mapping[str, int] = field(default_factory=dict)
    elsewhere: Sequence[str] = ()
    options: RunOptions = field(default_factory=RunOptions)

    @classmethod
    def of(cls, folder: CrawlFolder, config: CrawlConfig, options: RunOptions) -> Definition:
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
            options=_common(options),
        )

    def write(self, folder: CrawlFolder) -> None:
        """Write the files into a folder, each atomically.

        Raises:
            ConfigError: A file that is too large for the store is not on this machine either.
        """
        folder.root.mkdir(parents=True, exist_ok=True)
        root = folder.root.resolve()
        for name, content in self.files.items():
            path = root / checked_name(name)
            if not path.resolve().is_relative_to(root):
                raise StoreError(
                    f"{folder.root / name} leads out of the crawl's folder; put a copy of the file in its place"
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{path.name}.new")
            temporary.write_bytes(content)
            temporary.replace(path)
        for name, size in self.too_large.items():
            if not (path := root / checked_name(name)).is_file() or path.stat().st_size != size:
                raise ConfigError(f"{name} ({size >> 20} MiB) is too large for the store; copy it to {path}, then join")


def _common(options: RunOptions) -> RunOptions:
    return RunOptions(strategy=options.strategy, collection=options.collection)


class DefinitionStore:
    """The definition of one crawl in the store."""

    def __init__(self, connection: StoreConnection, crawl: str) -> None:
        self._connection = connection
        self._crawl = crawl
        self._key = key_of(crawl, "definition")

    async def publish(self, definition: Definition, *, mark: str = "") -> None:
        """Write a definition to the store, replacing the previous one.

        Args:
            mark: Of the folder that it comes from; see `machine_id`.

        Raises:
            ConfigError: The store holds another crawl of the same name.
        """
        await self.refuse_another(definition, mark=mark)
        digests = {name: _digest(content) for name, content in definition.files.items()}
        for name, digest in digests.items():
            await self._connection.call("HSET", self._key, digest, definition.files[name])
        manifest = {
            "form": FORMAT_VERSION,
            "mark": mark,
            "files": digests,
            "too_large": dict(definition.too_large),
            "elsewhere": list(definition.elsewhere),
            "changes": definition.options.stored(),
        }
        await self._connection.call("HSET", self._key, _MANIFEST, json.dumps(manifest))
        kept = {_MANIFEST, *digests.values()}
        names = [name.decode() for name in await self._connection.call("HKEYS", self._key)]
        if old := [name for name in names if name not in kept]:
            await self._connection.call("HDEL", self._key, *old)

    async def refuse_another(self, definition: Definition, *, mark: str) -> None:
        """Keep two crawls apart; the same crawl may come from a folder that was moved or created again.

        Raises:
            ConfigError: The store holds another crawl of the same name.
        """
        if entry := await self._content(_MANIFEST, _MAX_MANIFEST_BYTES):
            manifest = _read(entry)
            same_topic = _mapping(manifest, "files").get(_TOPIC) == _digest(definition.files.get(_TOPIC, b""))
            if manifest.get("mark") != mark and not same_topic:
                raise ConfigError(
                    f"the store holds a crawl called {self._crawl!r} that was begun from another folder; join it by "
                    "thresher join, or give this one another name in topic.yaml"
                )

    async def fetch(self) -> Definition:
        """Return the definition.

        Raises:
            UnknownCrawl: There is no such crawl.
            StoreError: It is damaged, or was written by a newer Thresher or another program.
        """
        entry = await self._content(_MANIFEST, _MAX_MANIFEST_BYTES)
        if entry is None:
            raise UnknownCrawl(self._crawl)
        manifest = _read(entry)
        files = {checked_name(name): str(digest) for name, digest in _mapping(manifest, "files").items()}
        if len(files) > MAX_FILES:
            raise StoreError(
                f"the store lists {len(files)} files for {self._crawl!r}; more than any crawl has; "
                "check that it is the right store"
            )
        contents = await self._contents(files)
        return Definition(
            files=contents,
            too_large={checked_name(name): int(size) for name, size in _mapping(manifest, "too_large").items()},
            elsewhere=[str(name) for name in manifest.get("elsewhere", ())],
            options=_common(RunOptions.of(_mapping(manifest, "changes"))),
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
        """Return a field of the hash; None when it does not exist.

        Raises:
            StoreError: It is larger than `max_bytes`.
        """
        size = int(await self._connection.call("HSTRLEN", self._key, field_name))
        if size > max_bytes:
            raise StoreError(
                f"the store holds {size >> 20} MiB in one file for {self._crawl!r}; too much to take; "
                "check that it is the right store"
            )
        content = await self._connection.call("HGET", self._key, field_name)
        return bytes(content) if isinstance(content, bytes) and len(content) <= max_bytes else None


def _shared_content(folder: CrawlFolder, name: str) -> bytes:
    """Read a file of the folder; topic.yaml without the password of its store, which other machines would keep."""
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
    if form > FORMAT_VERSION:
        raise StoreError(
            f"the crawl's definition has form {form}, this Thresher reads up to {FORMAT_VERSION}; use a newer one"
        )
    assert isinstance(manifest, dict)
    return manifest


def _mapping(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = manifest.get(name, {})
    if not isinstance(found, dict):
        raise StoreError(
            f"the crawl's definition in the store cannot be read: {name} is not a mapping; "
            "run the crawl again where it began"
        )
    return found
