"""What does the strategy ``thresher`` cost? ``python -m bench.speed.flagship_cost``.

Generated pages of 60 links each, on an endless web, go by turns through ``thresher``, ``thresher`` without vectors, and
breadth-first. Printed: processor time per page of each as the frontier grows to a million waiting URLs, and the
memory of the process. Links lead to new URLs and to known ones, half each, as on real pages.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from itertools import islice
from random import Random

from thresher.records import Judgement, Lease, Link, ParsedPage
from thresher.strategies.base import Strategy
from thresher.strategies.baselines import BreadthFirst
from thresher.strategies.link_model.strategy import LinkModelStrategy
from thresher.text.word_vectors import load_word_vectors
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition

LINKS = 60
TOPIC = "harbour seals; 海豹"
TABLE = load_word_vectors()
WORDS = [*(islice(TABLE, 5_000) if TABLE else ()), *["harbour", "seals", "海豹", "港口"] * 5]
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
    if isinstance(strategy, LinkModelStrategy):
        strategy.revise(())
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=35_000, help="30 new URLs each")
    options = parser.parse_args()
    topic = TopicDefinition.from_phrase(TOPIC)
    topic_profile = TopicProfile(vectors=topic.vectors(), labels=topic.labels, phrases=[TOPIC])
    strategies = {
        "thresher": LinkModelStrategy(topic_profile),
        "without word vectors": LinkModelStrategy(topic_profile, vectors=False, early_pages=0),
        "breadth-first": BreadthFirst(),
    }
    seconds = dict.fromkeys(strategies, 0.0)
    step, printed = max(1, options.pages // 10), 0
    for number, (page, relevance) in enumerate(pages(options.pages), start=1):
        for name, strategy in strategies.items():
            seconds[name] += spent(strategy, page, relevance)
        if number % step == 0 or number in (100, 1000):
            done, printed = number - printed, number
            costs = ", ".join(f"{name} {1000 * each / done:.2f}" for name, each in seconds.items())
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{number:>7,} pages, about {number * LINKS // 2:>9,} URLs found, ms per page: {costs}; {peak:.0f} MiB"
            )
            seconds = dict.fromkeys(strategies, 0.0)


if __name__ == "__main__":
    main()
