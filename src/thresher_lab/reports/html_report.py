"""A comparison as one self-contained HTML page."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from importlib import resources

from thresher import __version__
from thresher.charts.html import Html, element, folded, joined, table
from thresher.errors import ConfigError
from thresher_lab.reports.charts import colour_classes, line_chart
from thresher_lab.reports.comparisons import Section
from thresher_lab.reports.tables import (
    bounds_table,
    figures_table,
    summary_table,
    topics_table,
    with_range,
    worst_table,
)
from thresher_lab.simulation.tasks import ORACLE
from thresher_lab.simulation.topic_splits import Side, split
from thresher_lab.statistics.curves import KINDS, Band, Kind, bands

TITLE = "Crawl strategies compared"
CURVE_TITLES: dict[Kind, tuple[str, str]] = {
    "harvest": ("Harvest: share of the fetches that found a target", "targets / fetches"),
    "recall": ("Recall: share of the targets that were found", "targets found / targets"),
}
TABLE_PLACES = 10
"""Number of values in the table of a curve."""

DEFINITIONS = {
    "topic, target": "A topic is a label of the web's own; its targets are all pages that bear it.",
    "seed set": "The targets that a crawl starts from, drawn at random; a number stands for the same seeds in every "
    "strategy. Seeds count as fetches, and as hits.",
    "judge": "perfect: the crawler gets the label of a page once it has fetched it. Any other gets the "
    "topic's name and where the seeds are, and reads. Figures are always taken from the labels.",
    "oracle": "A crawl that knows every page and every link: it takes any target in reach, else the way to the next "
    "ones, by the better of two greedy rules. It can be done; the true optimum may be a little better.",
    "% of oracle": "Area under the crawl's hits per area under the oracle's, 100 · Σ h(k) / Σ o(k) over all fetches "
    "k; h and o are the targets found by then.",
    "upper bounds": "Crawls that know labels before they fetch: the oracle; labels-known knows the label of every URL "
    "it has found, but not the links ahead; reads-paragraph and reads-link-text have read the beginning of every page "
    "they have found, or the text of the links to it, and learn from the labels of all other pages.",
    "% in first 60": "% of oracle over the first 60 fetches alone, or as many as the budget allows.",
    "harvest in first 60": "Targets found in the first 60 fetches / 60.",
    "harvest rate": "Targets found / pages fetched. The curve divides by k also where a crawl ran dry before: who "
    "stops early must not win.",
    "recall": "Targets found / targets of the topic.",
    "recall at 5 %": "Recall when 5 % of the web's pages were fetched, or as many as the budget allows.",
    "area": "Mean of the recall over all fetches, from 0 to 1.",
    "HR@R": "Precision when as many pages were fetched as there are targets, or as the budget allows.",
    "information": "Sum over all fetches of the cosine between a page and the topic's name.",
    "hosts": "Different hosts among the targets found.",
    "ms per page": "Time that the whole line takes for a page in this simulation, without network; scoring is the "
    "judge's and the strategy's own share.",
    "interval": "95 %, from 10,000 bootstrap draws of topics. Seed sets are averaged within their topic first: topics "
    "are the sample, neither pages nor seed sets are.",
    "p": "Wilcoxon's signed-rank test of the differences to the baseline over topics, two-sided, corrected by Holm "
    "for the number of strategies. Upper bounds take no part.",
    "wins / losses": "Topics where a strategy is better or worse than the baseline.",
}


@dataclass(frozen=True, kw_only=True)
class ReportProvenance:
    """How a report was made; without names of machines and folders, so that it can be published.

    Args:
        command: The command line.
        date: When.
        machine: Cores and versions.
    """

    command: str
    date: str
    machine: str


def current_provenance(command: str) -> ReportProvenance:
    """Return the provenance of a report that is made now."""
    return ReportProvenance(
        command=command,
        date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        machine=f"{os.cpu_count()} cores, Python {platform.python_version()}, Thresher {__version__}",
    )


def html_report(sections: Sequence[Section], made: ReportProvenance) -> str:
    """Return the page."""
    style = (resources.files(__package__) / "templates" / "report.css").read_text(encoding="utf-8")
    head = joined(
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        element("title", TITLE),
        element("style", Html(style)),
    )
    strategies = [name for section in sections for name in section.strategies]
    classes = colour_classes(strategies, sections[0].baseline, ORACLE)
    body = [_header(sections, made), *(_section(section, classes) for section in sections), _definitions()]
    page = element("html", element("head", head), element("body", element("main", *body)), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _header(sections: Sequence[Section], made: ReportProvenance) -> Html:
    contents = [element("li", element("a", title_of(each), href=f"#{_anchor(each)}")) for each in sections]
    return element(
        "header",
        element("h1", TITLE),
        element("p", f"{made.date} · {made.machine}", class_="made"),
        _made_by("This page is made by", made.command),
        element("nav", element("ul", *contents)) if len(sections) > 1 else None,
    )


def title_of(section: Section) -> str:
    """Name a section by its web and its judge."""
    setting = section.setting
    return f"{setting.web}, {setting.judge} judge, {setting.pages:,} fetches{setting.conditions}"


def _anchor(section: Section) -> str:
    setting = section.setting
    return "-".join(map(str, astuple(setting)))


def _section(section: Section, classes: Mapping[str, str]) -> Html:
    return element(
        "section",
        element("h2", title_of(section), id=_anchor(section)),
        *_what_was_done(section),
        summary_table(section, classes),
        *([element("h3", "Upper bounds"), bounds_table(section, classes)] if section.bounds else []),
        element("h3", "Curves"),
        element("div", *(_curve(section, kind, classes) for kind in KINDS), class_="charts"),
        element("h3", "Worst topics"),
        worst_table(section),
        element("h3", "Topics"),
        folded(f"% of oracle on each of the {len(section.targets)} topics", topics_table(section), is_open=True),
        element("h3", "Further figures"),
        figures_table(section),
    )


def _what_was_done(section: Section) -> list[Html]:
    setting, topics, seed_sets = section.setting, len(section.targets), len(section.seed_sets)
    crawls = f"{topics} {'topic' if topics == 1 else 'topics'} × {seed_sets} seed {'set' if seed_sets == 1 else 'sets'}"
    text = f"{crawls} of {setting.seeds}, {setting.pages:,} fetches each. Baseline: {section.baseline}."
    lines = [element("p", text)]
    if section.left_out:
        lines.append(element("p", f"{section.left_out} further rows are left out: not every strategy has them."))
    command = repeat_command(section)
    return [*lines, _made_by("These rows are made by", command)] if command else lines


def _made_by(words: str, command: str) -> Html:
    return element("div", element("p", words, class_="made"), element("pre", element("code", command)))


def repeat_command(section: Section) -> str | None:
    """Return the command that makes the rows of a section; None when they were made from Python."""
    setting, seed_sets = section.setting, section.seed_sets
    if seed_sets != list(range(len(seed_sets))) or any(row["parameters"] for row in section.rows):
        return None
    options = {
        "--web": setting.web,
        "--strategies": ",".join(section.strategies),
        "--topics": _topics_option(section),
        "--seeds": str(len(seed_sets)),
        "--seeds-per-set": str(setting.seeds),
        "--pages": str(setting.pages),
        "--judge": setting.judge,
        **({"--training": f"{setting.training:g}"} if setting.training else {}),
        **({"--distance": str(setting.distance)} if setting.distance else {}),
        **({"--host-pages": str(setting.host_pages)} if setting.host_pages else {}),
        "--baseline": section.baseline,
    }
    return "thresher lab compare " + " ".join(f"{name} {shlex.quote(value)}" for name, value in options.items())


def _topics_option(section: Section) -> str:
    sides: tuple[Side, Side] = ("dev", "test")
    for side in sides:
        with suppress(ConfigError):
            topics = split(section.setting.web, side)
            if set(topics) == set(section.targets):
                return side
            if set(topics[: len(section.targets)]) == set(section.targets):
                return f"{side}:{len(section.targets)}"
    return ",".join(section.targets)


def _curve(section: Section, kind: Kind, classes: Mapping[str, str]) -> Html:
    title, y_title = CURVE_TITLES[kind]
    found = bands(section, kind)
    chart = line_chart(found, classes, title=f"{title}; {title_of(section)}", y_title=y_title)
    return element("figure", element("figcaption", title), chart, folded("The same as a table", _curve_table(found)))


def _curve_table(found: Sequence[Band]) -> Html:
    fetches = found[0].fetches
    count = min(TABLE_PLACES, len(fetches))
    places = sorted({round((each + 1) * len(fetches) / count) - 1 for each in range(count)})
    rows = [
        [
            f"{fetches[at]:,}",
            *(with_range(100 * band.mean[at], 100 * band.low[at], 100 * band.high[at]) for band in found),
        ]
        for at in places
    ]
    return table(["fetches", *(f"{band.strategy}, %" for band in found)], rows)


def _definitions() -> Html:
    terms = [joined(element("dt", name), element("dd", words)) for name, words in DEFINITIONS.items()]
    return element("section", element("h2", "What the figures mean", id="definitions"), element("dl", *terms))
