"""Digests as files: Markdown and JSON, one of each per digest, and an Atom feed of the newest.

The files are written from the database and can be written again. Titles, URLs and quoted sentences come from pages:
they are escaped, so that they cannot become markup.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from thresher.atomic_file import atomic_write
from thresher.refresh.changes import ChangeKind
from thresher.text.terminal import printable
from thresher.watch.database import Digest, DigestEntry, WatchDatabase

FEED_DIGESTS = 50
"""Digests whose entries are in the feed."""
FEED_ENTRIES = 500
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~-])")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
_HEADINGS = {
    ChangeKind.NEW: "New pages",
    ChangeKind.CHANGED: "Changed pages",
    ChangeKind.MOVED: "Moved pages",
    ChangeKind.GONE: "Pages that are gone",
}


def digest_folder(root: Path) -> Path:
    """Return the folder of the digests of a crawl."""
    return root / "digests"


def write_files(root: Path, database: WatchDatabase) -> None:
    """Write the files of all digests that have none yet, and the feed."""
    folder = digest_folder(root)
    folder.mkdir(exist_ok=True)
    newest = database.digests(FEED_DIGESTS)
    missing = [digest for digest in newest if not _path(folder, digest, "json").is_file()]
    for digest in missing:
        _write(_path(folder, digest, "md"), markdown(digest))
        _write(_path(folder, digest, "json"), json.dumps(digest.as_json(), ensure_ascii=False, indent=1) + "\n")
    if missing or not (folder / "feed.xml").is_file():
        _write(folder / "feed.xml", feed(newest))


def _path(folder: Path, digest: Digest, suffix: str) -> Path:
    return folder / f"{digest.number:06d}.{suffix}"


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def summary(digest: Digest) -> str:
    """Return the numbers of changes, such as "3 new, 1 gone"."""
    counts = {kind: digest.count(kind) for kind in ChangeKind}
    listed = ", ".join(f"{number:,} {kind}" for kind, number in counts.items() if number)
    more = digest.total - len(digest.entries)
    return f"{listed}, and {more:,} more in the next digest" if more else listed


def markdown(digest: Digest) -> str:
    """Return a digest as Markdown."""
    return "\n".join(_markdown_lines(digest)) + "\n"


def _markdown_lines(digest: Digest) -> Iterator[str]:
    yield f"# {_plain(digest.title or digest.crawl)}: {summary(digest)}"
    yield f"\nDigest {digest.number} of the crawl {_plain(digest.crawl)}, {_time(digest.created_at)}."
    for kind, heading in _HEADINGS.items():
        if entries := [entry for entry in digest.entries if entry.change is kind]:
            yield f"\n## {heading}\n"
            for entry in entries:
                yield f"- [{_plain(entry.title or entry.url)}](<{_target(entry.url)}>), {_facts(entry)}"
                yield from (f"    - {_plain(sentence)}" for sentence in entry.added)


def _facts(entry: DigestEntry) -> str:
    relevance = f"relevance {entry.relevance:.2f}"
    if entry.before is not None:
        relevance += f", before {entry.before:.2f}"
    if entry.kept is not None:
        relevance += f", {entry.kept:.0%} of the text kept"
    return relevance if entry.relevant else f"{relevance}, not relevant now"


def _plain(text: str) -> str:
    """Escape text so that Markdown shows it as it is, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(printable(text).split()))


def _target(url: str) -> str:
    return url.replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")


def feed(digests: Sequence[Digest]) -> str:
    """Return the newest changes as an Atom feed (RFC 4287); it needs no address of its own."""
    crawl = digests[0].crawl if digests else "thresher"
    title = (digests[0].title or crawl) if digests else crawl
    updated = _time(digests[0].created_at) if digests else _time(0)
    pairs = [(digest, entry) for digest in digests for entry in digest.entries][:FEED_ENTRIES]
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>{_urn(crawl)}</id>",
        f"<title>{_text(title)}</title>",
        "<author><name>Thresher</name></author>",
        f"<updated>{updated}</updated>",
        *(_feed_entry(digest, entry) for digest, entry in pairs),
        "</feed>",
    ]
    return "\n".join(lines) + "\n"


def _feed_entry(digest: Digest, entry: DigestEntry) -> str:
    quoted = " ".join([f"{_facts(entry)}.", *entry.added])
    return (
        f"<entry><id>{_urn(f'{digest.crawl} {digest.number} {entry.url}')}</id>"
        f"<title>{_text(f'{entry.change}: {entry.title or entry.url}')}</title>"
        f"<link href={quoteattr(_NO_XML.sub('', entry.url))}/><updated>{_time(entry.at)}</updated>"
        f'<category term="{entry.change}"/><summary type="text">{_text(quoted)}</summary></entry>'
    )


def _urn(text: str) -> str:
    digits = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"urn:uuid:{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"


def _text(text: str) -> str:
    return escape(_NO_XML.sub("", text))


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
