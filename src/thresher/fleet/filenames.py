"""Which files of a crawl's folder may come from the store: what the user wrote and what was trained, nothing else.

Names from the store are a stranger's words. None may lead out of the folder, into what this machine crawled, or to a
hidden file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from thresher.config import CrawlConfig
from thresher.errors import StoreError
from thresher.folder import CrawlFolder

_LONGEST = 200
_DEEPEST = 8
_OWN = frozenset({"pages", "archive", "crawl.log.jsonl", "joined.json", "store.json"})
"""What a machine makes by itself; in model, only what was trained before the crawl is shared as files."""


def checked_name(name: object) -> str:
    """Return the name of a file, seen from the crawl's folder.

    Raises:
        StoreError: Nobody of us would call a file so.
    """
    if not isinstance(name, str) or not _is_plain(name):
        raise StoreError(f"the store names a file {str(name)[:80]!r}, which is none of a crawl's own")
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
    """Yield the files that define a crawl, as far as they lie in its folder."""
    seeds = (entry for entry in config.seeds if "://" not in entry)
    taxonomy = [config.taxonomy.file] if config.taxonomy else []
    yield from dict.fromkeys([folder.topic.name, *filter(is_inside, [*seeds, *taxonomy])])
    if (folder.root / "tokens.tsv").is_file():
        yield "tokens.tsv"
    trained = folder.model / "trained"
    yield from (path.relative_to(folder.root).as_posix() for path in sorted(trained.rglob("*")) if path.is_file())


def files_elsewhere(config: CrawlConfig) -> list[str]:
    """Return the files that topic.yaml names outside of its folder; every machine must have them by itself."""
    named = [entry for entry in config.seeds if "://" not in entry]
    named += [config.taxonomy.file] if config.taxonomy else []
    return [name for name in named if not is_inside(name)]


def is_inside(name: str) -> bool:
    """Tell whether topic.yaml means a file in its own folder, by a name that may be shared."""
    return not name.startswith("~") and _is_plain(Path(name).as_posix()) and Path(name).as_posix() == name
