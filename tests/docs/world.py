"""The world in which the blocks of the documentation run: two small sites, a crawl of them, a frozen web."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from testing.malicious_pdfs import pdf
from testing.seed_services.searxng import SearxngService
from testing.seed_services.text_index import IndexedPage, TextIndex
from tests.e2e.conftest import CommandLine, Site, quick, serving
from thresher_lab.simulation.topic_splits import split
from thresher_lab.webs.generator import generate
from thresher_lab.webs.importers import write_web
from thresher_lab.webs.importers.pagefile import SourcePage

TOPIC = "perovskite solar cells; 钙钛矿太阳能电池"
ENGLISH = "Perovskite solar cells turn light into current; a tandem cell stacks perovskite on silicon for efficiency."
CHINESE = "钙钛矿太阳能电池的稳定性和效率：叠层电池把钙钛矿放在硅上面，研究与产业都在进步。"
TEA = "How to brew a pot of green tea, which water to take, and how long to wait for it."
WEB = "wikispeedia"
PAPER = "/papers/cells.pdf"
_KIND = {"kind": "article"}


def page(title: str, words: str, *links: tuple[str, str]) -> str:
    """Write a page of some sentences and links."""
    anchors = "".join(f'<li><a href="{target}">{anchor}</a></li>' for target, anchor in links)
    return (
        f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{words}</p><ul>{anchors}</ul></body></html>"
    )


def pages_of(other: str) -> dict[str, str]:
    """Return the pages of the first site; one of them leads to the other site."""
    good = [(f"/solar/{number}.html", f"perovskite cells, part {number}") for number in range(1, 7)]
    chinese = [(f"/zh/{number}.html", f"钙钛矿电池之{number}") for number in range(1, 5)]
    tea = [(f"/tea/{number}.html", f"tea, cup {number}") for number in range(1, 5)]
    home = page(
        "Solar cells",
        ENGLISH,
        *good,
        *chinese,
        *tea,
        (PAPER, "a paper on cells"),
        (other, "another site on perovskite solar cells"),
    )
    found = {"/": home, "/index.html": home}
    found |= {path: page(f"Perovskite {words[-1]}", f"{ENGLISH} {path} {words}") for path, words in good}
    found |= {path: page(words, f"{CHINESE}{words}{path}") for path, words in chinese}
    return found | {path: page(words, f"{TEA} {words}") for path, words in tea}


@dataclass(frozen=True)
class World:
    """What the blocks find.

    Args:
        prepared: A folder with a crawl that is over, and files that the pages speak of.
        search: The address of a search engine over the first site.
    """

    site: Site
    prepared: Path
    search: str

    @property
    def seed(self) -> str:
        """A page to start from."""
        return self.site.url("/")

    @property
    def good(self) -> str:
        """A page about the topic."""
        return self.site.url("/solar/1.html")


@contextmanager
def made_world(folder: Path) -> Iterator[World]:
    """Serve the sites, crawl them once, and write the files that stand for a reader's own."""
    with serving() as site, serving() as other, ExitStack() as kept:
        other.pages = {"/": page("Another site", f"{ENGLISH} {CHINESE}", ("/more.html", "more of it"))}
        other.pages["/more.html"] = page("More", f"{ENGLISH} Yet another page.")
        site.pages = {**pages_of(other.url("/")), PAPER: (200, {"Content-Type": "application/pdf"}, pdf())}
        search = kept.enter_context(SearxngService(_index(site)).serving())
        world = World(site, folder, search)
        _crawl(world)
        _write_taxonomy(folder)
        _write_frozen_web(folder / "webs")
        for name in ("wind", "tides"):
            _copy(folder / "solar", folder / name)
        [archived, *_] = (folder / "solar" / "warc").glob("*.warc.gz")
        shutil.copy(archived, folder / "crawl.warc.gz")
        yield world


def _index(site: Site) -> TextIndex:
    index = TextIndex()
    texts = {path: text for path, text in site.pages.items() if isinstance(text, str)}
    index.add(IndexedPage(url=site.url(path), title=text[:200], text=text) for path, text in texts.items())
    return index


def _crawl(world: World) -> None:
    thresher = CommandLine(world.prepared)
    made = thresher("new", "solar", "--topic", TOPIC, "--seed", world.seed)
    assert made.returncode == 0, made.stderr
    politeness = "{delay_seconds: 0, contact: me@example.org}"
    quick(world.prepared / "solar", output="{warc: true}", politeness=politeness)
    ran = thresher("run", "solar")
    assert ran.returncode == 0, ran.stderr


def _copy(crawl: Path, other: Path) -> None:
    """Make another crawl of the same pages."""
    shutil.copytree(crawl, other)
    text = (other / "topic.yaml").read_text(encoding="utf-8")
    (other / "topic.yaml").write_text(text.replace("name: solar", f"name: {other.name}"), encoding="utf-8")


_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">
"""
_STRUCTURE = """<Topic r:id="Top/Sports"><d:Title>Sports</d:Title><narrow r:resource="Top/Sports/Basketball"/>
<altlang r:resource="Chinese_Simplified:Top/World/Chinese_Simplified/体育"/></Topic>
<Topic r:id="Top/Sports/Basketball"><d:Title>Basketball</d:Title>
<altlang r:resource="Chinese_Simplified:Top/World/Chinese_Simplified/体育/篮球"/></Topic>
<Topic r:id="Top/World/Chinese_Simplified/体育"><d:Title>体育</d:Title></Topic>
<Topic r:id="Top/World/Chinese_Simplified/体育/篮球"><d:Title>篮球</d:Title></Topic></RDF>"""
_CONTENT = """<Topic r:id="Top/Sports/Basketball"><link r:resource="http://a.example/"/></Topic>
<ExternalPage about="http://a.example/"><d:Title>Hoops</d:Title><d:Description>All about it.</d:Description>
<topic>Top/Sports/Basketball</topic></ExternalPage></RDF>"""


def _write_taxonomy(folder: Path) -> None:
    """Write the two files of a tiny Open Directory."""
    for name, text in (("structure", _STRUCTURE), ("content", _CONTENT)):
        (folder / f"{name}.rdf.u8.gz").write_bytes(gzip.compress((_HEAD + text).encode()))


def _write_frozen_web(folder: Path) -> None:
    """Write a made-up web under the name of a known one, with topics of its split."""
    web = generate(3, pages=600, hosts=12, tunnel_depth=0)
    names = [*split(WEB, "dev")[:2], split(WEB, "test")[0]]
    topics = dict(zip(sorted({topic for url in web.urls() for topic in web.get(url).topics}), names, strict=True))
    folder.mkdir()
    write_web(folder / f"{WEB}.pages.jsonl.zst", (_source(web.get(url), topics) for url in web.urls()))


def _source(found: SourcePage, topics: dict[str, str]) -> SourcePage:
    named = tuple(topics[topic] for topic in found.topics if topic in topics)
    return SourcePage(
        url=found.url, html=found.html, title=found.title, language=found.language, topics=named, extra=_KIND
    )
