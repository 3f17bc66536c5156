"""CDXJ: the sorted index by which replay tools such as pywb find a page in WARC files.

Each WARC file has an index of the same name beside it, written when the file is complete; all of them together are the
index of the crawl. An index can always be rebuilt from its file.

`surt_key` is the sort-friendly form of a URL, its SURT: the key by which CDX indexes are sorted and searched.

The host comes first, its labels reversed and separated by commas, then `)`, path and query:
`http://www.example.org/B/?d=2&c=1` becomes `org,example)/b?c=1&d=2`. URLs that archives take for one page have one key:
scheme, userinfo, a first label `www`, default port, fragment, last slash, case and session ids are left out, escapes
are made uniform, and the arguments of the query are sorted.

Replay tools such as pywb compute the key of the URL that is requested by the library surt of the Internet Archive, so
an index is of use only if its keys are the same. They are the same for all canonical URLs that were compared
(see `docs/howto/archive.md`). Known differences are in URLs that Thresher does not request in this form: IPv4 addresses
that are not four decimal numbers, `..` above the root, two schemes, two session ids of one name, and `=` in a CFID.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import unquote_to_bytes

from thresher.storage.warc.reader import SUFFIX, Member, status_code, walk, warc_paths

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#]*)([^?#]*)(?:\?([^#]*))?", re.IGNORECASE).match
_PORT = re.compile(r":(\d*)$")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_WWW = re.compile(r"^www\d*\.(?=.)")
_DOTS = re.compile(r"\.{2,}")
_PATH_SESSION = re.compile(r"/\((?:[0-9a-z]{24}|(?:[a-z]\([0-9a-z]{24}\))+)\)(?=/.+\.aspx)")
_QUERY_SESSION = re.compile(  # also at the end of a longer name: replay tools expect it
    r"(?:(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}|cfid=[^&=]+&cftoken=[^&]+)(?:&|$)"
)
_ESCAPED = [chr(byte) if 32 < byte < 127 and byte not in b"#%" else f"%{byte:02x}" for byte in range(256)]


def surt_key(url: str) -> str:
    """Return the key of a URL; that of a text without `://` is the text itself, in lower case."""
    parts = _URL(url.strip())
    if parts is None:
        return _normal(url.strip())
    scheme, authority, path, query = parts.groups("")
    query = _query(query)
    return f"{_host(authority, scheme.lower())}){_path(path)}{'?' if query else ''}{query}"


def _host(authority: str, scheme: str) -> str:
    name = authority.rpartition("@")[2]
    port = ""
    if (found := _PORT.search(name)) is not None:
        name = name[: found.start()]
        port = found[1] if int(found[1] or 0) not in (0, _DEFAULT_PORTS.get(scheme)) else ""
    if name.startswith("["):
        labels = name.strip("[]").lower()
    else:
        labels = ",".join(reversed(_WWW.sub("", _ascii_name(name)).split(".")))
    return f"{labels}:{port}" if port else labels


def _ascii_name(name: str) -> str:
    name = _DOTS.sub(".", name).strip(".")
    try:
        return name.encode("idna").decode("ascii").lower().strip(".")
    except UnicodeError:
        return _normal(name)


def _path(path: str) -> str:
    segments: list[str] = []
    for segment in _normal(path).split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in ("", "."):
            segments.append(segment)
    return _PATH_SESSION.sub("", "/" + "/".join(segments))


def _query(query: str) -> str:
    arguments = _QUERY_SESSION.sub("", _normal(query)).split("&")
    return "&".join(sorted(arguments, key=lambda argument: argument.partition("=")))


def _normal(text: str) -> str:
    """Return a text in lower case, with escapes only where they are needed."""
    content = text.encode("utf-8", "surrogatepass")
    while (unescaped := unquote_to_bytes(content)) != content:
        content = unescaped
    return "".join(map(_ESCAPED.__getitem__, content)).lower()


ENDING = ".cdxj"
_INDEXED = ("response", "revisit")


def index_path(path: Path) -> Path:
    """Return the path of the index of a WARC file."""
    return path.with_name(path.name.removesuffix(SUFFIX) + ENDING)


def line_of(filename: str, offset: int, length: int, headers: Mapping[str, str], http: Mapping[str, str]) -> str:
    """Return the index line of a record; header names are in lower case, as in `Member`."""
    url = headers["warc-target-uri"]
    time = "".join(filter(str.isdigit, headers["warc-date"]))[:14]
    revisit = headers.get("warc-type") == "revisit"
    fields = {
        "url": url,
        "mime": "warc/revisit" if revisit else http.get("content-type", "unk").partition(";")[0].strip().lower(),
        "status": status_code(http),
        "digest": headers.get("warc-payload-digest", "-"),
        "length": str(length),
        "offset": str(offset),
        "filename": filename,
    }
    return f"{surt_key(url)} {time} {json.dumps(fields, ensure_ascii=False)}\n"


def member_line(filename: str, member: Member) -> str | None:
    """Return the index line of a record; None for a record that is not indexed."""
    if member.kind not in _INDEXED or "warc-target-uri" not in member.headers:
        return None
    return line_of(filename, member.offset, member.length, member.headers, member.http)


def lines_of_file(path: Path) -> list[str]:
    """Rebuild the index of a WARC file from its records."""
    members = (found for found in walk(path) if isinstance(found, Member))
    return sorted(line for member in members if (line := member_line(path.name, member)) is not None)


def write_index(path: Path, lines: Iterable[str]) -> None:
    """Write the index of a WARC file atomically."""
    target = index_path(path)
    temporary = target.with_name(target.name + ".part")
    with temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(sorted(lines))
    temporary.replace(target)


def merged(folder: Path) -> Iterator[str]:
    """Yield the sorted lines of all indexes of a crawl; files without an index yet are indexed on the fly."""
    with ExitStack() as stack:
        streams: list[Iterable[str]] = []
        for path in warc_paths(folder):
            index = index_path(path)
            if index.exists():
                streams.append(stack.enter_context(index.open(encoding="utf-8")))
            else:
                streams.append(lines_of_file(path))
        yield from heapq.merge(*streams)
