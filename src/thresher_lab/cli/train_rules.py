"""thresher train for the strategy rules: from an earlier crawl and its taxonomy, or from the topics of a frozen web."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.cli.output import echo, echo_json
from thresher.config.folder import CrawlFolder
from thresher.errors import ConfigError
from thresher.project import CrawlProject

if TYPE_CHECKING:
    from thresher.training.crawl_pages import CrawlPages
    from thresher.training.rules import LearnedRules

FEWEST_EXAMPLES = 5
"""Fetched example pages, of all classes together."""


def rules_from_crawl(crawl: CrawlProject, other: CrawlFolder, folder: Path, *, walk_steps: int = 0) -> LearnedRules:
    """Learn rules between the classes of a crawl's taxonomy, from their example pages that were fetched.

    Raises:
        ConfigError: The crawl has no taxonomy, or too few of its example pages were fetched.
    """
    from thresher.judges.taxonomy import target_classes
    from thresher.storage.reader import PageStoreReader
    from thresher.training.crawl_pages import CrawlPages
    from thresher.training.rules import TextWords, learn_class_rules

    urls = crawl.class_urls()
    if not urls:
        raise ConfigError(
            f"rules lead from class to class, and {crawl.folder.topic} names no taxonomy with classes. Give it one "
            "(thresher new --taxonomy FILE --node PATH), or learn from a frozen web: thresher train --web WEB --topic T"
        )
    targets = target_classes(urls, crawl.judge_profile().targets)
    with PageStoreReader(other.pages) as collection:
        pages = CrawlPages(collection)
        examples = _fetched(pages, urls)
        found = sum(map(len, examples.values()))
        echo(f"Learning from {len(pages):,} pages, {found:,} of them examples of {len(examples):,} classes.", err=True)
        if found < FEWEST_EXAMPLES or len(examples) < 2:
            raise ConfigError(
                f"{other.root} has fetched {found} example pages of {len(examples)} classes, too few to learn rules "
                f"from. Add example pages of more classes to {other.seeds}, and crawl first with another strategy: "
                f"thresher run {other.root} --strategy soft-focus"
            )
        texts = crawl.classes()
        learned = learn_class_rules(
            pages.graph, TextWords(pages), examples, targets=targets, more_texts=texts, walk_steps=walk_steps
        )
    learned.save(folder)
    return learned


def _fetched(pages: CrawlPages, urls: Mapping[str, Sequence[str]]) -> dict[str, list[int]]:
    """Return the example pages of each class that a crawl has."""
    from thresher.strategies.layers.source import ELSEWHERE

    found: dict[str, list[int]] = {}
    for label, own in urls.items():
        numbers = {pages.number_of(url) for url in own} - {ELSEWHERE}
        if numbers:
            found[label] = sorted(numbers)
    return found


def rules_from_web(name: str, topic: str | None, folder: Path, *, walk_steps: int = 0) -> LearnedRules:
    """Learn rules between the topics of a frozen web, from up to 150 pages of each.

    Raises:
        ConfigError: No topic is named.
    """
    from thresher.training.rules import learn_class_rules
    from thresher_lab.simulation.classes import class_labels, draw_examples
    from thresher_lab.simulation.tasks import TaskRunner

    bench = TaskRunner.open(name)
    if topic is None:
        known = ", ".join(sorted(bench.web.topics()))
        raise ConfigError(f"which topic of {name}? Name it with --topic; known: {known}")
    labels = dict.fromkeys([topic, *class_labels(bench.web)])
    examples = {label: draw_examples(bench.web, label, share=1.0) for label in labels}
    found = len(frozenset().union(*examples.values()))
    echo(f"Learning from {found:,} pages of {len(examples):,} topics, and from what they link to.", err=True)
    learned = learn_class_rules(bench.graph, bench.words, examples, targets=[topic], walk_steps=walk_steps)
    learned.save(folder)
    bench.flush()
    return learned


def echo_rules(learned: LearnedRules, folder: Path, *, as_json: bool) -> None:
    """Print which classes lead to the wanted ones."""
    if as_json:
        table = learned.table
        echo_json(
            {
                "folder": str(folder),
                "targets": sorted(table.targets),
                "examples": learned.examples,
                "scores": table.scores(),
                "rules": table.rules(),
            }
        )
        return
    for line in learned.table.lines():
        echo(line)
