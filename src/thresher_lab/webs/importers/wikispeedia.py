"""Schools Wikipedia, the web behind the game Wikispeedia, from the HTML distribution (``wpcd``).

The tree holds articles as ``wp/<letter>/<Name>.htm``, indexes in ``wp/index/`` and some pages around them. Subjects
are not in the tree but in the ``categories.tsv`` of the Wikispeedia data: article, then ``subject.Science.Biology``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from thresher.errors import StoreError
from thresher.parsing.markup import decode
from thresher_lab.webs.importers.pagefile import SourcePage

SITE = "http://schools-wikipedia.org/"

_ARTICLE = re.compile(r"wp/(?!index/)[^/]+/[^/]+\.html?").fullmatch
_INDEX = re.compile(r"wp/index/.*|index\.html?").fullmatch


def from_wikispeedia(folder: Path) -> Iterator[SourcePage]:
    """Yield the pages of the tree, in the order of their paths; ``extra["kind"]`` is article, index or other.

    Descriptions of images are left out. Articles are labelled by ``categories.tsv``, which may be anywhere in the
    folder.

    Raises:
        StoreError: The folder has no ``wp`` or no ``categories.tsv``.
    """
    categories = next(folder.rglob("categories.tsv"), None)
    root = next((path.parent for path in sorted(folder.rglob("wp")) if path.is_dir()), None)
    if categories is None or root is None:
        raise StoreError(f"{folder} is no Schools Wikipedia: it needs a folder wp with pages and a categories.tsv")
    subjects = read_categories(categories)
    for path in sorted(root.rglob("*.htm*")):
        name = path.relative_to(root).as_posix()
        if not name.startswith("images/"):
            yield _page(name, path.read_bytes(), subjects)


def read_categories(path: Path) -> dict[str, tuple[str, ...]]:
    """Read which article has which subjects, as labels like ``Science/Biology``."""
    subjects: defaultdict[str, list[str]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        article, tab, subject = line.partition("\t")
        if tab and not line.startswith("#"):
            subjects[article].append(subject.strip().removeprefix("subject.").replace(".", "/"))
    return {article: tuple(labels) for article, labels in subjects.items()}


def _page(name: str, body: bytes, subjects: dict[str, tuple[str, ...]]) -> SourcePage:
    kind = "article" if _ARTICLE(name) else "index" if _INDEX(name) else "other"
    article = name.rpartition("/")[2].rpartition(".")[0]
    return SourcePage(
        url=SITE + quote(name),  # names of files hold escapes, so theirs are escaped again
        html=decode(body, "text/html"),
        language="en",
        topics=subjects.get(article, ()) if kind == "article" else (),
        extra={"kind": kind},
    )
