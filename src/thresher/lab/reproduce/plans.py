"""Which crawls an experiment asks for: webs, topics, budgets and the strategies that are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from thresher.lab.plan import Contender
from thresher.lab.reproduce.trials import Trial
from thresher.lab.reproduce.webs import open_named, topics_of
from thresher.lab.tasks import PERFECT

SHARE = 0.25
"""Of a single web is fetched: with more of it in hand, even a blind crawl finds everything."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What the user wants otherwise than an experiment says.

    Args:
        webs: On which webs.
        topics: ``dev``, ``test`` or names of topics.
        pages: How many fetches each crawl has.
        seed_sets: From how many sets of seeds each topic is crawled.
    """

    webs: Sequence[str] = ()
    topics: Sequence[str] = ("test",)
    pages: int | None = None
    seed_sets: int | None = None


@dataclass(frozen=True, kw_only=True)
class Ground:
    """A web that an experiment runs on.

    Args:
        topics: How many of its topics at most, in the order of their draw.
        pages: How many fetches; by default a quarter of the web.
        seed_sets: How many sets of seeds per topic.
    """

    web: str
    topics: int | None = None
    pages: int | None = None
    seed_sets: int = 1


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What all crawls of an experiment have in common; see `Trial`."""

    seeds: int
    judge: str = PERFECT
    training: float = 0.0
    target_depth: int = 0
    examples: int = 0
    measure: str = ""


def plan(grounds: Sequence[Ground], contenders: Sequence[Contender], terms: Terms, choice: Choice) -> list[Trial]:
    """List the crawls of an experiment, as the user wants them."""
    return [
        Trial(
            web=ground.web,
            topic=topic,
            strategy=contender.strategy,
            parameters=contender.parameters,
            seed_set=seed_set,
            pages=choice.pages or ground.pages or quarter(ground.web),
            seeds=terms.seeds,
            judge=terms.judge,
            training=terms.training,
            target_depth=terms.target_depth,
            examples=terms.examples,
            measure=terms.measure,
        )
        for ground in chosen_grounds(grounds, choice)
        for topic, seed_set, contender in product(
            topics_of(ground.web, choice.topics, ground.topics),
            range(choice.seed_sets or ground.seed_sets),
            contenders,
        )
    ]


def chosen_grounds(grounds: Sequence[Ground], choice: Choice) -> list[Ground]:
    """Keep the webs that the user wants; one that the experiment does not know is taken as it is."""
    known = {ground.web: ground for ground in grounds}
    return [known.get(web, Ground(web=web)) for web in choice.webs or known]


@cache
def quarter(web: str) -> int:
    """Count a quarter of the pages of a web."""
    opened = open_named(web)
    try:
        return max(1, int(SHARE * len(opened)))
    finally:
        opened.close()
