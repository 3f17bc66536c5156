"""Filters from page files to webs: which pages belong to a web, and what is removed from them.

A web for experiments must not give its answers away. Schools Wikipedia does: a line at the top of every article names
its subjects, and the pages behind those names list all articles of a subject. The plain name of a web means its fair
view; a name with a plus sign adds what the fair view leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from thresher_lab.webs.importers.pagefile import SourcePage

_SUBJECTS = re.compile(r'(<h3 id="siteSub">(?:(?!</h3>).)*?)\.?\s*Related subjects:.*?(?=</h3>)', re.DOTALL)
_INDEX_LINK = re.compile(r'<a\s[^>]*href="(?:[^"]*/index/[^"]*|(?:\.\./)*index\.html?)"[^>]*>(.*?)</a>', re.DOTALL)
_ROBOTS = re.compile(r'<meta\s[^>]*name="robots"[^>]*>\s*')


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A web as a part of a page file.

    Args:
        source: The file's name, without its suffix.
        keeps: Whether a page belongs to the web.
        clean: Removes from the markup what the web should not show.
    """

    source: str
    keeps: Callable[[SourcePage], bool] = lambda _: True
    clean: Callable[[str], str] = lambda html: html

    def select(self, pages: Iterator[SourcePage]) -> Iterator[SourcePage]:
        """Yield the pages that belong to the web, cleaned."""
        return (replace(page, html=self.clean(page.html)) for page in pages if self.keeps(page))


def without_labels(html: str) -> str:
    """Remove the subjects and the links to index pages from an article of Schools Wikipedia."""
    return without_robots(_INDEX_LINK.sub(r"\1", _SUBJECTS.sub(r"\1", html)))


def without_robots(html: str) -> str:
    """Remove the robots rule, which 425 articles keep from the drafts that they were copied from.

    An obedient crawler would have to drop these articles, although the site meant them to be found.
    """
    return _ROBOTS.sub("", html)


def _is_article(page: SourcePage) -> bool:
    return page.extra.get("kind") == "article"


def _is_of_the_four_universities(page: SourcePage) -> bool:
    return page.extra.get("site") != "misc"


VIEWS = {
    "wikispeedia": View(source="wikispeedia", keeps=_is_article, clean=without_labels),
    "wikispeedia+index": View(source="wikispeedia", clean=without_robots),
    "wikispeedia_mini": View(source="wikispeedia_mini", keeps=_is_article, clean=without_labels),
    "webkb": View(source="webkb", keeps=_is_of_the_four_universities),
    "webkb+misc": View(source="webkb"),
}


def view(name: str) -> View:
    """Return the view of a web's name; a name without a view is that of a whole file."""
    return VIEWS.get(name, View(source=name))
