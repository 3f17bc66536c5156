"""Every link of the documentation leads somewhere, and every file that it names is there."""

import re
from functools import cache

import pytest

from tests.docs.blocks import PAGES, ROOT

LINK = re.compile(r"!?\[[^\[\]]*\]\((?!https?://|mailto:)(?P<path>[^)#\s]*)(#(?P<anchor>[^)\s]+))?\)")
FILE = re.compile(r"`((?:src|tests|bench|deploy|docs|examples)/[\w./-]*\w/?)`")
MODULE = re.compile(r"python -m ((?:bench|tests)(?:\.\w+)+)")
HEADING = re.compile(r"^(?P<level>#+) (?P<words>.+)$", flags=re.MULTILINE)
NOT_YET = {"deploy/.env"}
"""Files that a reader makes."""
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@cache
def prose(page):
    """The text of a page without its code blocks."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@cache
def anchors(page):
    """The anchors that a page's headings make, in their order, as GitHub and the site spell them."""
    return [slug(heading["words"]) for heading in HEADING.finditer(prose(page))]


def slug(words):
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


@each_page
def test_every_link_leads_somewhere(page):
    for link in LINK.finditer(prose(page)):
        target = (page.parent / link["path"]).resolve() if link["path"] else page
        assert target.exists(), link[0]
        assert target.is_relative_to(ROOT), link[0]
        if link["anchor"]:
            assert link["anchor"] in anchors(target), link[0]


@each_page
def test_every_file_that_is_named_is_there(page):
    text = page.read_text(encoding="utf-8")
    for name in set(FILE.findall(text)) - NOT_YET:
        assert list(ROOT.glob(name)), name
    for module in MODULE.findall(text):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module


def test_names_of_pages_are_words_in_small_letters_joined_by_hyphens():
    for page in (ROOT / "docs").rglob("*.md"):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.md", page.name), page
