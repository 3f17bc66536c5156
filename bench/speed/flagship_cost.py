"""What does the strategy ``thresher`` cost? ``python -m bench.speed.flagship_cost``.

Made pages of 60 links each, on a web that has no end, go through ``thresher`` and breadth-first by turns. Printed:
processor time per page beside that of breadth-first as the frontier grows to a million waiting URLs, and the memory of
the process then. Links lead to new URLs and to known ones, half each, as on real pages.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from random import Random

from thresher.records import Judgement, Lease, Link, ParsedPage
from thresher.strategies.base import Strategy
from thresher.strategies.baselines import BreadthFirst
from thresher.strategies.flagship.strategy import Thresher
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition

LINKS = 60
TOPIC = "harbour seals; 海豹"
WORDS = [f"word{number}" for number in range(5_000)] + ["harbour", "seals", "海豹", "港口"] * 5
PAGE_WORDS = 600
CONTEXT_WORDS = 20


def pages(count: int, seed: int = 1) -> Iterator[tuple[ParsedPage, float]]:
    """Make pages, each with its relevance."""
    draw = Random(seed)
    urls = [f"http://host{number % 50}.test/start/{number}" for number in range(1000)]
    for number in range(count):
        words = draw.choices(WORDS, k=PAGE_WORDS)
        targets = [_new_url(draw, number, link) if link % 2 else draw.choice(urls) for link in range(LINKS)]
        urls.extend(targets[1::2])
        links = tuple(
            Link(
                url=target,
                anchor=" ".join(draw.choices(words, k=3)),
                context=" ".join(draw.choices(words, k=CONTEXT_WORDS)),
                heading=words[position],
                tag_path="html/body/div/ul/li/a" if position % 3 else "html/body/p/a",
                position=position,
            )
            for position, target in enumerate(targets)
        )
        url = draw.choice(urls)
        page = ParsedPage(url=url, title=" ".join(words[:5]), text=" ".join(words), links=links, language="en")
        yield page, float(draw.random() < 0.2)


def _new_url(draw: Random, page: int, link: int) -> str:
    return f"http://host{draw.randrange(2000)}.test/part{draw.randrange(20)}/{page}-{link}.html"


def spent(strategy: Strategy, page: ParsedPage, relevance: float) -> float:
    """Give the processor's seconds for one page."""
    judgement = Judgement(relevance=relevance, relevant=relevance > 0)
    lease = Lease(url=page.url, host="", score=0.0, fence=1, until=0.0)
    started = time.process_time()
    list(strategy.score(page, judgement, lease))
    if isinstance(strategy, Thresher):
        strategy.revise(())
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=35_000, help="30 new URLs each")
    options = parser.parse_args()
    topic = TopicDefinition.from_phrase(TOPIC)
    topic_profile = TopicProfile(vectors=topic.vectors(), labels=topic.labels, phrases=[TOPIC])
    thresher, plain = Thresher(topic_profile), BreadthFirst()
    own = plains = 0.0
    step, told = max(1, options.pages // 10), 0
    for number, (page, relevance) in enumerate(pages(options.pages), start=1):
        own += spent(thresher, page, relevance)
        plains += spent(plain, page, relevance)
        if number % step == 0 or number in (100, 1000):
            done, told = number - told, number
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{number:>7,} pages, about {number * LINKS // 2:>9,} URLs found: {1000 * own / done:.2f} ms per page, "
                f"breadth-first {1000 * plains / done:.2f}; process {peak:.0f} MiB at most, the made URLs included",
                flush=True,
            )
            own = plains = 0.0


if __name__ == "__main__":
    main()
