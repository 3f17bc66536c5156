"""The stages that a page goes through, one after the other, without a store of URLs or a network."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Self, cast

from bench.speed.stages import PORT, SITE
from thresher.frontier.base import CrawlStore
from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.parsing.html import parse
from thresher.parsing.main_content import stored_markup
from thresher.pipeline.host_policy import HostPolicy, HostPolicyConfig
from thresher.pipeline.outcomes import LinkSelector, PipelineRules
from thresher.records import Candidate, Judgement, Lease, Outcome, ParsedPage
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.strategies.link_model.strategy import LinkModelStrategy
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition
from thresher.urls.scope import UrlScope

HTML = "text/html; charset=utf-8"
PHRASE = "perovskite solar cells"
CHARACTERS, WORDS, PARAGRAPHS = 2_500, 20_000, 41
"""Of Chinese pages; this number of paragraphs makes them as large as the others."""

Stage = Callable[[str, bytes], None]


class OnePage:
    """A page and what became of it so far; every stage goes on from the one before."""

    page: ParsedPage
    judgement: Judgement
    found: list[Candidate]

    def __init__(self, folder: Path) -> None:
        topic = TopicDefinition.from_phrase(PHRASE)
        self._judge = AdaptiveJudge(TopicProfile(vectors=topic.vectors(), seeds=frozenset([SITE.url(0, PORT)])))
        self._strategy = LinkModelStrategy(TopicProfile(vectors=topic.vectors(), labels=topic.labels, phrases=[PHRASE]))
        rules = PipelineRules(scope=UrlScope(), host_limits=HostPolicyConfig(traps=True))
        no_frontier = cast(CrawlStore, None)  # the stages ask it nothing
        policy = HostPolicy(rules.host_limits, frontier=no_frontier, strategy=self._strategy, parse=parse)
        self._selector = LinkSelector(rules, policy, self._strategy)
        self._writer = PageStoreWriter(folder / "pages.db")
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def stages(self) -> dict[str, Stage]:
        """Give the stages in their order."""
        return {"parse": self.parse, "judge": self.judge, "score": self.score, "archive": self.archive}

    def parse(self, url: str, body: bytes) -> None:
        """Parse the page."""
        self.page = parse(url, body, HTML)

    def judge(self, url: str, body: bytes) -> None:
        """Learn from it, and judge it."""
        self._judge.learn(self.page)
        self.judgement = self._judge.judge(self.page)

    def score(self, url: str, body: bytes) -> None:
        """Score those of its links that may be followed."""
        self._number += 1
        lease = Lease(url=url, host="host", score=0.5, fence=self._number, until=1.0, hops=1)
        self.found = self._selector.score(self.page, self.judgement, lease)
        self._strategy.revise([])

    def archive(self, url: str, body: bytes) -> None:
        """Store it with its markup."""
        markup = stored_markup(self.page, body, HTML)
        links = [
            FoundLink(url=one.url, anchor="a few words", score=one.score, parts=one.breakdown) for one in self.found
        ]
        record = PageRecord(
            fingerprint=self._number,
            url=url,
            status=200,
            outcome=Outcome.DONE,
            fetched_at=1.0,
            page=True,
            text=self.page.text,
            markup=markup,
            links=links,
        )
        self._writer.write([record])


def bodies(pages: int) -> list[tuple[str, bytes]]:
    """Give the addresses and the markup of some pages of the site."""
    return [(SITE.url(page, PORT), SITE.render(page, PORT)) for page in range(pages)]


def chinese_bodies(pages: int) -> list[tuple[str, bytes]]:
    """Give Chinese pages of the same size and with as many links; common words are as common as in a language."""
    draw = Random(5)
    characters = [chr(0x4E00 + place) for place in range(CHARACTERS)]
    words = ["".join(draw.choices(characters, k=2)) for _ in range(WORDS)]
    shares = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))

    def text(size: int) -> str:
        return "".join(draw.choices(words, cum_weights=shares, k=size // 2)) + "，"

    def link(number: int) -> str:
        page = draw.randrange(SITE.pages)
        return f'<p>{text(16)}<a href="{SITE.url(page, PORT)}">{text(8)}</a>{text(16)}</p>'

    def body() -> str:
        paragraphs = "".join(f"<p>{text(160)}。</p>" for _ in range(PARAGRAPHS))
        links = "".join(map(link, range(SITE.links)))
        return f"<html><head><title>{text(16)}</title></head><body><h1>{text(16)}</h1>{paragraphs}{links}</body></html>"

    return [(SITE.url(page, PORT), body().encode()) for page in range(pages)]
