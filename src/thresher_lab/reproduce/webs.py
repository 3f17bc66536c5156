"""The webs of the experiments, what their topics are called in both languages, and whether their labels are circular.

Beside the frozen webs there are generated ones, ``generated-en`` and ``generated-zh``. A number behind the name sets
their pages, and ``-taxonomy50`` lets half of their URLs and of the links between groups of pages follow the taxonomy of
their topics; see `generate`. ``nankai_zh+section`` is the Chinese university, labelled by the breadcrumbs of a page
instead of by its host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from thresher.errors import ConfigError, UnknownName
from thresher.topics.taxonomy.paths import label_language
from thresher.topics.token_table import TokenTable
from thresher.topics.topic import Labels
from thresher.urls.canonical import canonicalize
from thresher_lab.simulation.topic_splits import split
from thresher_lab.webs.generator import generate
from thresher_lab.webs.importers.pagefile import SUFFIX, read_pages
from thresher_lab.webs.open_web import open_web
from thresher_lab.webs.virtualweb import Web
from thresher_lab.webs.vocabulary import TOPICS
from thresher_lab.webs.webstore import webs_folder

SECTIONS_WEB = "nankai_zh+section"
SECTIONS = {
    "teaching": "教学",
    "research": "科研",
    "about": "概况",
    "student_work": "学生工作",
    "faculty": "师资",
    "party": "党建",
    "news": "新闻",
    "notice": "通知",
    "admission_jobs": "招生就业",
    "download": "下载",
    "international": "国际交流",
    "alumni": "校友",
}
"""The sections of the university's sites and what a Chinese user would call them."""

CIRCULAR = frozenset({"nankai_zh", "w3school_zh", "mdn_zh"})
"""Webs whose labels are their URLs: there, relevance by label proves nothing about evidence from URLs."""

CHINESE = frozenset({"nankai_zh", "w3school_zh", "mdn_zh", SECTIONS_WEB, "generated-zh"})
GENERATED_SEED = 7
GENERATED_PAGES = 40_000
_GENERATED = re.compile(r"generated-(en|zh)(?:-(\d{2,7}))?(?:-taxonomy(\d{1,3}))?").fullmatch
_PAGES_PER_HOST = 100


def open_named(name: str) -> Web:
    """Open a web of the experiments by its name."""
    match = _GENERATED(name)
    if match:
        pages = int(match[2] or GENERATED_PAGES)
        hosts = max(pages // _PAGES_PER_HOST, 2)
        made = generate(
            GENERATED_SEED,
            pages=pages,
            hosts=hosts,
            languages=(match[1],),
            taxonomy_strength=taxonomy_strength(name) or 0,
        )
        return Renamed(name, made)
    if name == SECTIONS_WEB:
        return Sectioned(open_web("nankai_zh"))
    return open_web(name)


def taxonomy_strength(web: str) -> float | None:
    """Return the share of a generated web's URLs and links that follow its taxonomy; None for a web that is not."""
    match = _GENERATED(web)
    return int(match[3] or 0) / 100 if match else None


def sampling_name(web: str) -> str:
    """Return the name by which seeds and examples are drawn: the same whatever the strength of the taxonomy."""
    return web.partition("-taxonomy")[0]


def language_of(web: str) -> str:
    """Return the language of a web's topics: ``en`` or ``zh``."""
    match = _GENERATED(web)
    return match[1] if match else "zh" if web in CHINESE else "en"


def topics_of(web: str, names: Sequence[str], most: int | None = None) -> list[str]:
    """Return the topics of a web to crawl for: ``dev`` or ``test`` is a side of its split, anything else a topic.

    Generated webs and sections have no split, because nothing was ever tuned on them: there, both sides are all.
    """
    chosen: dict[str, None] = {}
    for name in names:
        chosen.update(dict.fromkeys(_side(web, name)[:most] if name in ("dev", "test") else [name]))
    return list(chosen)


def _side(web: str, side: str) -> list[str]:
    if _GENERATED(web):
        return _generated_topics(web)
    if web == SECTIONS_WEB:
        return list(SECTIONS)
    return split(web, "dev" if side == "dev" else "test")


@cache
def _generated_topics(web: str) -> list[str]:
    """Return the topics of a generated web; a small one may lack the rarer ones."""
    known = open_named(web).topics()
    return [topic for topic in TOPICS if topic in known]


def labels_of(web: str, topic: str) -> list[Labels]:
    """Return the path of a topic's labels in every known language: one node of a taxonomy."""
    levels = topic.split("/")[1:] if web == "archipelago" else topic.split("/")
    return [[_names(web, level) for level in levels]]


def _names(web: str, level: str) -> Mapping[str, str]:
    if web == SECTIONS_WEB and level in SECTIONS:
        return {"zh": SECTIONS[level]}
    words = level.replace("_", " ")
    row = TokenTable.shipped().find(words)
    zh = {"zh": row.chinese[0]} if row and row.chinese and language_of(web) == "zh" else {}
    return {label_language(words): words, **zh}


class WebWrapper:
    """A wrapper of a web; other attributes are those of the wrapped web."""

    def __init__(self, web: Web) -> None:
        self._web = web

    @property
    def name(self) -> str:
        return self._web.name

    def __len__(self) -> int:
        return len(self._web)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._web, name)


class Renamed(WebWrapper):
    """A web under another name."""

    def __init__(self, name: str, web: Web) -> None:
        super().__init__(web)
        self._name = name

    @property
    def name(self) -> str:
        return self._name


class Sectioned(WebWrapper):
    """The Chinese university with its pages labelled by section."""

    @property
    def name(self) -> str:
        return SECTIONS_WEB

    def topics(self) -> dict[str, int]:
        """Return every section and the number of its pages."""
        return {section: len(self.targets(section)) for section in SECTIONS}

    def targets(self, topic: str) -> frozenset[int]:
        """Return the numbers of all pages of a section."""
        if topic not in SECTIONS:
            raise UnknownName("topic", topic, SECTIONS)
        numbers = map(self._web.page_id, (url for url, found in _sections().items() if topic in found))
        return frozenset(number for number in numbers if number is not None)

    def is_topic(self, url: str, topic: str) -> bool:
        return topic in _sections().get(url, ())


@cache
def _sections() -> dict[str, tuple[str, ...]]:
    return dict(_read_sections())


def _read_sections() -> Iterator[tuple[str, tuple[str, ...]]]:
    path = webs_folder() / f"nankai_zh{SUFFIX}"
    if not path.exists():
        raise ConfigError(f"{SECTIONS_WEB} is read from {path}, which is not there")
    for page in read_pages(path):
        found = page.extra.get("section")
        url = canonicalize(page.url)
        if url and isinstance(found, list) and found:
            yield url, tuple(map(str, found))
