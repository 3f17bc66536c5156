"""The tasks of a comparison; names are checked before the first crawl."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import yaml

from thresher import registry
from thresher.errors import ConfigError, UnknownName
from thresher_lab.simulation.tasks import ORACLE, PERFECT, UPPER_BOUNDS, Task
from thresher_lab.simulation.topic_splits import Side, split
from thresher_lab.simulation.training import TRAINING_SHARE
from thresher_lab.webs.virtualweb import Web
from thresher_papers.training.layers import needs_training

ALL = "all"
_PART_OF_A_SIDE = re.compile(r"(?P<side>dev|test)(:(?P<most>\d+))?")


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A strategy with its parameters."""

    strategy: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """Every strategy on every topic from every seed set under every judge.

    Args:
        seed_sets: Number of seed sets.
        seeds: Seeds per set.
        pages: Fetches per crawl.
        training: Share of the pages of each topic that are set aside to train on; by default only where one of the
            strategies must be trained.
        distance: Distance of the seeds from the topic, in links; at 0 they are pages of it.
        host_pages: Most pages per host; 0 for no limit.
    """

    web: str
    strategies: Sequence[Contender]
    topics: Sequence[str]
    judges: Sequence[str]
    seed_sets: int
    seeds: int
    pages: int
    training: float | None = None
    distance: int = 0
    host_pages: int = 0

    def tasks(self) -> list[Task]:
        """List the crawls, those that share an oracle together.

        Where one strategy must be trained, the same pages are set aside for all, so that all have the same targets.
        """
        training = self.training
        if training is None:
            training = TRAINING_SHARE if any(needs_training(each.strategy) for each in self.strategies) else 0.0
        return [
            Task(
                web=self.web,
                topic=topic,
                strategy=contender.strategy,
                parameters=contender.parameters,
                seed_set=seed_set,
                judge=judge,
                pages=self.pages,
                seeds=self.seeds,
                training=training,
                distance=self.distance,
                host_pages=self.host_pages,
            )
            for topic, seed_set, judge, contender in product(
                self.topics, range(self.seed_sets), self.judges, self.strategies
            )
        ]


def checked_strategies(texts: Iterable[str]) -> list[Contender]:
    """Return each strategy once; ``all`` stands for all that are known, and the oracle; other bounds must be named.

    Parameters follow a name in brackets: ``lpe(threshold=0.1)``.

    Raises:
        UnknownName: There is no such strategy, nor is it an upper bound.
        ConfigError: None is named, or a parameter is unknown.
    """
    everything = [*registry.known("strategy"), ORACLE]
    wanted = list(dict.fromkeys(each for text in texts for each in (everything if text == ALL else [text])))
    read = [_read(text) for text in wanted]
    _checked("strategy", [each.strategy for each in read], UPPER_BOUNDS)
    for each in read:
        allowed = registry.parameters_of(registry.find("strategy", each.strategy)) if each.parameters else {}
        if unknown := each.parameters.keys() - allowed.keys():
            names = ", ".join(allowed) or "none"
            raise ConfigError(f"strategy {each.strategy} has no parameter {min(unknown)!r}; its parameters: {names}")
    return read


def _read(text: str) -> Contender:
    """Read a name and, in brackets, its parameters; their values are written as in topic.yaml."""
    name, _, rest = text.partition("(")
    pairs = [piece.partition("=") for piece in rest.rstrip(") ").split(",") if piece.strip()]
    try:
        return Contender(
            strategy=name.strip(), parameters={key.strip(): yaml.safe_load(value) for key, _, value in pairs}
        )
    except yaml.YAMLError as error:
        raise ConfigError(f"the parameters of {text} cannot be read; write them as in lpe(threshold=0.1)") from error


def checked_judges(names: Iterable[str]) -> list[str]:
    """Return each judge once.

    Raises:
        UnknownName: There is no such judge, nor is it the perfect one.
        ConfigError: None is named.
    """
    return _checked("judge", names, [PERFECT])


def _checked(kind: str, names: Iterable[str], more: Sequence[str]) -> list[str]:
    known = [*registry.known(kind), *more]
    chosen = list(dict.fromkeys(names))
    if not chosen:
        raise ConfigError(f"no {kind} is named; known: {', '.join(sorted(known))}")
    for name in chosen:
        if name not in known:
            raise UnknownName(kind, name, known)
    return chosen


def chosen_topics(web: Web, names: Iterable[str], *, seeds: int) -> list[str]:
    """Return each topic once; ``dev`` and ``test`` stand for a side of the split, ``all`` for every topic.

    ``test:20`` stands for the first 20 of that side; sides are in random order. Of all topics, those are left
    out that have no page to find beside the seeds.

    Raises:
        UnknownName: The web has no such topic.
        ConfigError: The web has no split, or no topic is left.
    """
    known = web.topics()
    chosen: dict[str, None] = {}
    for name in names:
        part = _PART_OF_A_SIDE.fullmatch(name)
        if part:
            side: Side = "dev" if part["side"] == "dev" else "test"
            chosen.update(dict.fromkeys(split(web.name, side)[: int(part["most"]) if part["most"] else None]))
        elif name == ALL:
            chosen.update(dict.fromkeys(topic for topic, pages in known.items() if pages > seeds))
        else:
            chosen[name] = None
    for topic in chosen:
        if topic not in known:
            raise UnknownName("topic", topic, known)
    if not chosen:
        raise ConfigError(f"no topic of {web.name} is chosen; known: {', '.join(sorted(known))}")
    return list(chosen)
