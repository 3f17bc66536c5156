"""The crawls of an experiment: webs, topics, budgets and the strategies that are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from thresher_lab.reproduce.trials import Trial
from thresher_lab.reproduce.webs import open_named, topics_of
from thresher_lab.simulation.comparison_plan import Contender
from thresher_lab.simulation.tasks import PERFECT

SHARE = 0.25
"""Share of a single web that is fetched: with more of it, even a blind crawl finds everything."""


@dataclass(frozen=True, kw_only=True)
class ExperimentOverrides:
    """The user's changes to an experiment.

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
        topics: How many of its topics at most, in the order of their shuffle.
        pages: How many fetches; by default a share of the web.
        share: Which.
        seed_sets: How many sets of seeds per topic.
    """

    web: str
    topics: int | None = None
    pages: int | None = None
    share: float = SHARE
    seed_sets: int = 1


@dataclass(frozen=True, kw_only=True)
class TrialSettings:
    """Common settings of all crawls of an experiment; see `Trial`."""

    seeds: int
    judge: str = PERFECT
    training: float = 0.0
    target_depth: int = 0
    examples: int = 0
    measure: str = ""


def plan(
    grounds: Sequence[Ground], contenders: Sequence[Contender], terms: TrialSettings, choice: ExperimentOverrides
) -> list[Trial]:
    """List the crawls of an experiment, with the user's changes."""
    return [
        Trial(
            web=ground.web,
            topic=topic,
            strategy=contender.strategy,
            parameters=contender.parameters,
            seed_set=seed_set,
            pages=choice.pages or ground.pages or pages_of(ground.web, ground.share),
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


def chosen_grounds(grounds: Sequence[Ground], choice: ExperimentOverrides) -> list[Ground]:
    """Keep the webs that the user wants; one that the experiment does not know is used with defaults."""
    known = {ground.web: ground for ground in grounds}
    return [known.get(web, Ground(web=web)) for web in choice.webs or known]


@cache
def pages_of(web: str, share: float) -> int:
    """Count a share of the pages of a web."""
    opened = open_named(web)
    try:
        return max(1, int(share * len(opened)))
    finally:
        opened.close()
