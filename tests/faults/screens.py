"""D2: texts of strangers on every screen of the dashboard, in a real browser that counts what ran."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from testing.screens.browser import Visitor, chromium, visitor
from testing.screens.world import Dashboard, dashboard
from tests.faults.hostile_pages import PRODUCT, payloads, write_crawl
from tests.faults.table import Outcome

CRAWL_TEXTS = 52
"""Texts of one crawl: as many as a screen lists."""
_RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
_FOREIGN = """() => {
  const all = (what) => [...document.querySelectorAll(what)];
  const scripts = all("script").filter((each) => each.getAttribute("src") !== "/static/thresher.js");
  const isCode = (attribute) => attribute.name.startsWith("on") || attribute.name === "style";
  const handlers = all("*").filter((each) => [...each.attributes].some(isCode));
  const links = all("a").filter((each) => !["http:", "https:"].includes(each.protocol));
  const others = all("iframe, object, embed, base, meta[http-equiv], style, img, math, plaintext");
  return scripts.length + handlers.length + links.length + others.length;
}"""


@dataclass
class Seen:
    """What hostile texts did.

    Args:
        screens: How many pages were looked at.
        executed: How often one of them ran, asked something or reached anybody.
        reports: What the policy of a page had to stop.
        leaks: Screens with elements, templates or hidden characters of theirs.
    """

    texts: int = 0
    screens: int = 0
    executed: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)

    @property
    def figure(self) -> str:
        """Say it in one line."""
        return (
            f"executed {len(self.executed)}, policy reports {len(self.reports)}, foreign elements or raw characters on "
            f"{len(self.leaks)} of {self.screens:,} screens, of {self.texts} texts in English and Chinese"
        )


def look_at_all(root: Path, texts: Sequence[str], *, languages: Sequence[str], pages: int | None = None) -> Seen:
    """Show texts on every screen.

    Args:
        root: Where the crawl folders are written.
        pages: How many pages of each crawl are looked at one by one; None for all.
    """
    groups = [list(texts[start : start + CRAWL_TEXTS]) for start in range(0, len(texts), CRAWL_TEXTS)]
    folders = {f"c{number}": write_crawl(root / f"c{number}", group) for number, group in enumerate(groups)}
    seen = Seen(texts=len(texts))
    with dashboard([root / name for name in folders]) as served, chromium() as browser:
        for language in languages:
            somebody = visitor(browser, served, language=language)
            for address in _addresses(served, folders, pages):
                _look(somebody, address, seen)
            seen.executed += _serious(somebody)
            somebody.context.close()
    return seen


def _addresses(served: Dashboard, folders: dict[str, list[str]], pages: int | None) -> Iterator[str]:
    yield "/"
    for name, urls in folders.items():
        yield from (
            f"/{name}/{path}" for path in ("", "pages", "pages?offset=50", "frontier", "hosts", "label", "workers")
        )
        yield from (f"/{name}/search?q={quote(words)}" for words in ("music", "音乐", '"><script>'))
        yield from (f"/{name}/page?url={quote(url, safe='', errors='replace')}" for url in urls[:pages])
        links = served.ask(f"/api/crawls/{name}/frontier?limit=100")["next"]
        yield from (f"/{name}/page?url={quote(link['url'], safe='', errors='replace')}" for link in links[:pages])


def _look(somebody: Visitor, address: str, seen: Seen) -> None:
    page = somebody.visit(address)
    if page.locator(".question").count():
        page.keyboard.press("y")
        page.locator(".taught").wait_for()
    if page.locator("svg.chart").count():
        page.locator("svg.chart").hover()
    seen.screens += 1
    seen.executed += [address] * int(page.evaluate("window.executed || 0"))
    seen.reports += somebody.violations()
    text = page.locator("html").evaluate("(all) => all.textContent + document.title")
    if page.evaluate(_FOREIGN) or _RAW.search(text) or PRODUCT in text:
        seen.leaks.append(address)


def _serious(somebody: Visitor) -> list[str]:
    """Leave out that a page was not found: hostile addresses are asked for, too."""
    return [message for message in somebody.complaints.messages if "status of 4" not in message]


def d2() -> Outcome:
    """Show all texts on all screens in both languages."""
    with TemporaryDirectory() as root:
        seen = look_at_all(Path(root), payloads(), languages=["en", "zh"])
    return Outcome(held=not (seen.executed or seen.reports or seen.leaks), figure=seen.figure)
