"""WebKB, "The 4 Universities Data Set": pages of computer science departments of 1997, by what they are.

The tree is ``<class>/<university>/<file>``. A file is named by its page's address, with ``^`` for ``/``, and holds the
answer as it came: headers of the time, an empty line, markup.
"""

from __future__ import annotations

import email.parser
import re
from collections.abc import Iterator
from pathlib import Path

from thresher.errors import StoreError
from thresher_lab.webs.importers.pagefile import SourcePage

CLASSES = ("course", "department", "faculty", "other", "project", "staff", "student")

_HEADERS_END = re.compile(rb"\r?\n\r?\n").search


def from_webkb(folder: Path) -> Iterator[SourcePage]:
    """Yield the pages of the tree; ``extra`` has the university as ``site``, and the ``headers``.

    Raises:
        StoreError: None of the classes is a folder in it.
    """
    classes = [folder / name for name in CLASSES if (folder / name).is_dir()]
    if not classes:
        raise StoreError(f"{folder} is no WebKB: it needs folders such as {', '.join(CLASSES)}")
    for path in (path for kind in classes for path in sorted(kind.glob("*/*")) if path.is_file()):
        yield _page(path)


def _page(path: Path) -> SourcePage:
    headers, html = split_answer(path.read_bytes())
    return SourcePage(
        url=path.name.replace("^", "/"),
        html=html,
        language="en",
        topics=(path.parent.parent.name,),
        extra={"site": path.parent.name, "headers": headers},
    )


def split_answer(answer: bytes) -> tuple[dict[str, str], str]:
    """Split a stored response into its headers, names in lower case, and its markup."""
    end = _HEADERS_END(answer)
    if answer.lstrip().startswith(b"<") or end is None:
        return {}, answer.decode("cp1252", "replace")  # some were stored without headers
    head = email.parser.Parser().parsestr(answer[: end.start()].decode("latin-1"), headersonly=True)
    return {name.lower(): value for name, value in head.items()}, answer[end.end() :].decode("cp1252", "replace")
