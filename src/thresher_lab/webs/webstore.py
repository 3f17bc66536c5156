"""The store of a web: one SQLite file, built from a page file when the web is first opened.

A store is found again by its name, which carries a fingerprint of the page file and of the code that read it: when
either changes, the web is imported again. Stores can be deleted at any time.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path

import xxhash

from thresher.compression import zstd
from thresher.errors import ConfigError, UnknownName
from thresher.parsing.html import parse
from thresher.urls import canonical
from thresher.urls.canonical import canonicalize, host_key
from thresher_lab.webs.importers import aliases, page_filter, pagefile
from thresher_lab.webs.importers.aliases import AliasTable, Resolve, other_names, recorded_name, settle_links
from thresher_lab.webs.importers.page_filter import VIEWS, view
from thresher_lab.webs.importers.pagefile import SUFFIX, SourcePage, read_pages

logger = logging.getLogger(__name__)

Read = Callable[[], Iterable[SourcePage]]
"""Returns all pages of a web, in a stable order; called twice, so that no web has to fit into memory."""

_SCHEMA = resources.files(__package__) / "sql" / "webstore.sql"
_LEVEL = 3  # the next levels save a few percent and take several times as long
_SAMPLES = 400
_MIN_SAMPLES = 64
_SAMPLE_CHARACTERS = 65_536
_DICTIONARY_BYTES = 112_640


def webs_folder(webs: Path | None = None) -> Path:
    """Return the folder of page files: the given one, or that of THRESHER_WEBS.

    Raises:
        ConfigError: Neither names one.
    """
    named = webs or os.environ.get("THRESHER_WEBS")
    if not named:
        raise ConfigError(f"no folder of webs: set THRESHER_WEBS to the folder that holds the *{SUFFIX} files")
    return Path(named)


def cache_folder(cache: Path | None = None) -> Path:
    """Return the folder of stores: the given one, that of THRESHER_CACHE, or one in the user's own cache."""
    return Path(cache or os.environ.get("THRESHER_CACHE") or Path.home() / ".cache" / "thresher" / "webs")


def find_store(name: str, *, webs: Path | None = None, cache: Path | None = None) -> Path:
    """Return the store of a web; it is built first when there is none.

    Raises:
        UnknownName: There is no page file for it.
        StoreError: The page file cannot be read.
    """
    folder, part = webs_folder(webs), view(name)
    source = folder / f"{part.source}{SUFFIX}"
    if not source.is_file():
        raise UnknownName("web", name, known_webs(folder))
    store = cache_folder(cache) / f"{name}-{_fingerprint(source)}.db"
    if not store.exists():
        logger.warning("%s is imported, because it is opened for the first time; this may take some minutes", name)
        build_store(store, lambda: part.select(read_pages(source)))
    return store


def known_webs(folder: Path) -> list[str]:
    """List the webs whose page files are in a folder."""
    files = {path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}")}
    return sorted(files | {name for name, part in VIEWS.items() if part.source in files})


def _fingerprint(source: Path) -> str:
    status = source.stat()
    return f"{fingerprint_of(f'{status.st_size} {status.st_mtime_ns}')}-{code_fingerprint()}"


def code_fingerprint() -> str:
    """Return a fingerprint of all code that affects a store."""
    own = [Path(str(module.__file__)) for module in (canonical, pagefile, page_filter, aliases, sys.modules[__name__])]
    parser = sorted(Path(parse.__code__.co_filename).parent.glob("*.py"))
    sources = [path.read_text(encoding="utf-8") for path in (*own, *parser)]
    return fingerprint_of("".join([*sources, _SCHEMA.read_text(encoding="utf-8")]))


def fingerprint_of(text: str) -> str:
    """Return a short hash of a text."""
    return xxhash.xxh3_64_hexdigest(text.encode())[:10]


def build_store(path: Path, read: Read) -> None:
    """Import a web; the store is renamed when it is complete, so several processes may do it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(prefix=f"{path.stem}-", suffix=".part", dir=path.parent)
    try:
        with closing(sqlite3.connect(unfinished, isolation_level=None)) as db:
            _fill(db, read)
        os.fsync(handle)
        Path(unfinished).replace(path)
    finally:
        os.close(handle)
        Path(unfinished).unlink(missing_ok=True)


def _fill(db: sqlite3.Connection, read: Read) -> None:
    db.execute("PRAGMA journal_mode = OFF")  # not read before it is complete
    db.execute("PRAGMA synchronous = OFF")
    db.executescript(_SCHEMA.read_text(encoding="utf-8"))
    db.execute("BEGIN")
    samples = _Samples()
    hosts = {host_key(url) for url in _add_pages(db, samples.watch(_canonical(read())))}
    dictionary = samples.dictionary()
    if dictionary:
        db.execute("INSERT INTO dictionary VALUES (?)", [dictionary.dict_content])
    _add_markup(db, _canonical(read()), AliasTable(db, hosts), dictionary)
    db.execute("COMMIT")
    db.execute("ANALYZE")


def _canonical(pages: Iterable[SourcePage]) -> Iterator[tuple[str, SourcePage]]:
    """Yield pages with their canonical addresses; pages without one could never be fetched."""
    return ((url, page) for page in pages if (url := canonicalize(page.url)))


def _add_pages(db: sqlite3.Connection, pages: Iterable[tuple[str, SourcePage]]) -> Iterator[str]:
    """Number the pages and store their names and topics; yield their URLs."""
    number = 0
    for url, page in pages:
        values = (number, url, page.title, page.language, page.charset)
        if not db.execute("INSERT OR IGNORE INTO page VALUES (?, ?, ?, ?, ?)", values).rowcount:
            continue  # another spelling of an address that has its page
        db.executemany("INSERT OR IGNORE INTO topic VALUES (?, ?)", [(label, number) for label in page.topics])
        names = [(*name, number) for name in other_names(url)]
        db.executemany("INSERT OR IGNORE INTO other_name VALUES (?, ?, ?)", names)
        db.executemany("INSERT INTO recorded VALUES (?, ?, ?)", list(_recorded(page)))
        number += 1
        yield url
    db.execute("INSERT OR IGNORE INTO other_name SELECT rank, name, id FROM recorded JOIN page USING (url)")


def _recorded(page: SourcePage) -> Iterator[tuple[int, bytes, str]]:
    for written, meant in page.aliases.items():
        alias, url = canonicalize(written), canonicalize(meant)
        if alias and url:
            yield (*recorded_name(alias), url)


def _add_markup(
    db: sqlite3.Connection,
    pages: Iterable[tuple[str, SourcePage]],
    table: AliasTable,
    dictionary: zstd.ZstdDict | None,
) -> None:
    compress = zstd.FrameCompressor(_LEVEL, dictionary=dictionary).compress
    for url, page in pages:
        number = db.execute("SELECT id FROM page WHERE url = ?", [url]).fetchone()[0]
        html = settle_links(url, page.html, table.resolve).encode("utf-8", "replace")
        values = (number, compress(html), packed_numbers(_linked_pages(url, html, table.resolve)))
        db.execute("INSERT OR IGNORE INTO markup VALUES (?, ?, ?)", values)


def _linked_pages(url: str, html: bytes, resolve: Resolve) -> Iterable[int]:
    """Return the pages that an obedient crawler can reach by one link, in document order, each once."""
    parsed = parse(url, html, "text/html; charset=utf-8")
    links = () if parsed.nofollow else parsed.links
    found = (resolve(link.url) for link in links if not link.nofollow)
    return dict.fromkeys(page[0] for page in found if page)


def packed_numbers(numbers: Iterable[int]) -> bytes:
    """Encode page numbers for the store."""
    packed = array("I", numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpacked_numbers(blob: bytes) -> tuple[int, ...]:
    """Decode page numbers of the store."""
    numbers = array("I", blob)
    if sys.byteorder == "big":
        numbers.byteswap()
    return tuple(numbers)


class _Samples:
    """A sample of pages to train a compression dictionary, which halves a store."""

    def __init__(self) -> None:
        self._pages: list[bytes | bytearray | memoryview] = []
        self._stride = 1

    def watch(self, pages: Iterable[tuple[str, SourcePage]]) -> Iterator[tuple[str, SourcePage]]:
        """Pass pages on, and sample some: every page at first, then every second, fourth, and so on."""
        for number, (url, page) in enumerate(pages):
            if number % self._stride == 0:
                self._pages.append(page.html[:_SAMPLE_CHARACTERS].encode("utf-8", "replace"))
            if len(self._pages) > _SAMPLES:
                self._pages, self._stride = self._pages[::2], self._stride * 2
            yield url, page

    def dictionary(self) -> zstd.ZstdDict | None:
        """Return the compression dictionary; None when there are too few pages."""
        if len(self._pages) < _MIN_SAMPLES:
            return None
        try:
            return zstd.train_dict(self._pages, _DICTIONARY_BYTES)
        except zstd.ZstdError:  # small pages, or hardly different ones
            return None
