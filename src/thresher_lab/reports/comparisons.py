"""Rows of the lab, grouped into comparable sections: one web, one judge, one budget, the same topics and seeds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from thresher.errors import ConfigError
from thresher_lab.simulation.compare import HEADLINE, summarise
from thresher_lab.simulation.tasks import NEWER, PERFECT, UPPER_BOUNDS, key_of
from thresher_lab.statistics.result_rows import Row
from thresher_lab.statistics.significance import Comparison, Score, topic_means

BASELINE = "breadth-first"

EARLY_METRICS = {"percent_of_oracle_60": "% in first 60", "harvest_60": "harvest in first 60"}
"""Figures of the first 60 fetches, and their columns; old rows lack them."""

_NEEDED = {"web", "topic", "strategy", "seed_set", "judge", "pages", "seeds", "parameters"}
_NEEDED |= {"targets", HEADLINE, "curve", "oracle_curve"}


@dataclass(frozen=True, order=True, slots=True)
class Setting:
    """The common conditions of all rows of a section.

    Args:
        web: The web's name.
        judge: ``perfect``, or the name of a judge that reads pages.
        pages: Fetches per crawl.
        seeds: Seeds per crawl.
        training: Share of each topic that was set aside to train on.
        distance: Distance of the seeds from the topic, in links.
        host_pages: Most pages per host; 0 for no limit.
    """

    web: str
    judge: str
    pages: int
    seeds: int
    training: float = 0.0
    distance: int = 0
    host_pages: int = 0

    @property
    def conditions(self) -> str:
        """The harder conditions, in words after a comma; empty without any."""
        far = f", seeds {self.distance} links away from the topic" if self.distance else ""
        return far + (f", at most {self.host_pages} pages per host" if self.host_pages else "")


@dataclass(frozen=True, kw_only=True)
class Section:
    """Crawls that can be compared, and their comparison.

    Args:
        setting: What they have in common.
        baseline: The strategy that the others are compared with.
        rows: One per crawl; every strategy has the same topics and seed sets.
        left_out: Number of rows without a partner.
        comparisons: One per strategy: the contenders, the best first, then the upper bounds, the highest first.
    """

    setting: Setting
    baseline: str
    rows: Sequence[Row]
    left_out: int
    comparisons: Sequence[Comparison]

    @property
    def strategies(self) -> list[str]:
        """All strategies, the best first; upper bounds come after the others."""
        return [comparison.strategy for comparison in self.comparisons]

    @property
    def contenders(self) -> list[Comparison]:
        """The strategies that are compared."""
        return [each for each in self.comparisons if not is_bound(each.strategy, self.baseline)]

    @property
    def bounds(self) -> list[Comparison]:
        """The upper bounds, which are not tested against the baseline."""
        return [each for each in self.comparisons if is_bound(each.strategy, self.baseline)]

    @property
    def targets(self) -> dict[str, int]:
        """All topics, in the order of the rows, and the number of their pages."""
        return {row["topic"]: row["targets"] for row in self.rows}

    @property
    def seed_sets(self) -> list[int]:
        """The numbers of the seed sets."""
        return sorted({row["seed_set"] for row in self.rows})

    def by_topic(self, metric: str) -> dict[str, dict[str, float]]:
        """Return a metric, strategy -> topic -> mean over seed sets, of those strategies that have it everywhere."""
        without = {row["strategy"] for row in self.rows if row.get(metric) is None}
        means = topic_means(
            Score(strategy=row["strategy"], topic=row["topic"], seed_set=row["seed_set"], value=row[metric])
            for row in self.rows
            if row["strategy"] not in without
        )
        return {name: means[name] for name in self.strategies if name in means}

    def means(self, metric: str) -> dict[str, float]:
        """Return the mean of a metric over topics, of those strategies that have it everywhere."""
        return {name: fmean(values.values()) for name, values in self.by_topic(metric).items()}

    def summary(self) -> list[dict[str, Any]]:
        """Return the comparisons as plain values, each with its setting; None for a figure that old rows lack."""
        common = {**asdict(self.setting), "baseline": self.baseline, "topics": len(self.targets)}
        early = {metric: self.means(metric) for metric in EARLY_METRICS}
        return [
            {
                **common,
                **asdict(comparison),
                **{metric: means.get(comparison.strategy) for metric, means in early.items()},
                "upper_bound": is_bound(comparison.strategy, self.baseline),
            }
            for comparison in self.comparisons
        ]


def make_sections(rows: Iterable[Row], baseline: str = BASELINE) -> list[Section]:
    """Group rows into sections; of several rows of a task the last one counts.

    Raises:
        ConfigError: There are no rows, a row is not one of the lab's, the baseline is missing, or the strategies of
            a section have no topic and seed set in common.
    """
    groups: defaultdict[Setting, list[Row]] = defaultdict(list)
    for row in {key_of(row): row for row in map(_checked, rows)}.values():
        newer = (row.get(name, 0) for name in NEWER)
        setting = Setting(row["web"], row["judge"], row["pages"], row["seeds"], *newer)
        groups[setting].append({**row, "strategy": strategy_label(row)})
    if not groups:
        raise ConfigError("no results to compare; make some: thresher lab compare --help")
    settings = sorted(groups, key=lambda setting: (setting.web, setting.judge != PERFECT, setting))
    return [_section(setting, groups[setting], baseline) for setting in settings]


def is_bound(strategy: str, baseline: str) -> bool:
    """Return whether a strategy is an upper bound, and not what the others are compared with."""
    return strategy in UPPER_BOUNDS and strategy != baseline


def strategy_label(row: Row) -> str:
    """Return the name of a strategy with its parameters."""
    given = ", ".join(f"{name}={value}" for name, value in sorted(row["parameters"].items()))
    return f"{row['strategy']} ({given})" if given else str(row["strategy"])


def _checked(row: Row) -> Row:
    missing = sorted(_NEEDED - set(row)) if isinstance(row, dict) else sorted(_NEEDED)
    if missing:
        raise ConfigError(f"a line of the results is no row of thresher lab compare: it has no {', '.join(missing)}")
    return row


def _section(setting: Setting, rows: Sequence[Row], baseline: str) -> Section:
    strategies = dict.fromkeys(row["strategy"] for row in rows)
    if baseline not in strategies:
        raise ConfigError(
            f"the baseline {baseline!r} has no results on {setting.web} with the {setting.judge} judge; "
            f"strategies there: {', '.join(sorted(strategies))}. Choose one: --baseline NAME"
        )
    paired = _paired(rows, list(strategies))
    if not paired:
        raise ConfigError(
            f"the strategies on {setting.web} with the {setting.judge} judge have no topic and seed set in common: "
            f"{', '.join(sorted(strategies))}"
        )
    return Section(
        setting=setting,
        baseline=baseline,
        rows=paired,
        left_out=len(rows) - len(paired),
        comparisons=sorted(
            _comparisons(paired, baseline), key=lambda each: (is_bound(each.strategy, baseline), -each.mean.mean)
        ),
    )


def _paired(rows: Sequence[Row], strategies: Sequence[str]) -> list[Row]:
    """Keep the topics and seed sets that every strategy was tried on."""
    done = {name: {(row["topic"], row["seed_set"]) for row in rows if row["strategy"] == name} for name in strategies}
    common = set.intersection(*done.values())
    return [row for row in rows if (row["topic"], row["seed_set"]) in common]


def _comparisons(rows: Sequence[Row], baseline: str) -> tuple[Comparison, ...]:
    """Compare the contenders; upper bounds are not part of the correction of their p."""
    contenders = [row for row in rows if not is_bound(row["strategy"], baseline)]
    compared = summarise(contenders, baseline)
    if len(contenders) == len(rows):
        return compared
    bounds = [row for row in rows if is_bound(row["strategy"], baseline) or row["strategy"] == baseline]
    return (*compared, *(each for each in summarise(bounds, baseline) if each.strategy != baseline))
