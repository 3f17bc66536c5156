"""thresher train: learn a strategy's model before a crawl."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from thresher import registry
from thresher.cli.output import CRAWL, echo, echo_json, echo_table
from thresher.config.folder import CrawlFolder
from thresher.errors import ConfigError
from thresher.judges.trained.learner import require_scikit_learn
from thresher.project import CrawlProject
from thresher.training.layers import RULED, TRAINED, needs_training
from thresher_lab.cli.train_rules import echo_rules, rules_from_crawl, rules_from_web

if TYPE_CHECKING:
    from thresher.strategies.layers.learn import LayerSummary, LearnedLayers


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--strategy", metavar="NAME", help="Train this one instead of the one in topic.yaml.")
@click.option("--from", "other", type=CRAWL, metavar="DIR", help="Learn from this crawl instead of the same one.")
@click.option("--web", "web_name", metavar="WEB", help="Learn from a frozen web; thresher lab webs lists them.")
@click.option("--topic", help="The topic of the frozen web to learn.")
@click.option(
    "--walk-steps",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Strategy rules: also count the links of a random walk of this length.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def train(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    strategy: str | None,
    other: Path | None,
    web_name: str | None,
    topic: str | None,
    walk_steps: int,
    as_json: bool,
) -> None:
    """Learn what a strategy must know before it crawls: from an earlier crawl, or from a frozen web.

    The strategies context-graph and layers learn how far pages are from the topic, by following links back from its
    pages. The strategy rules learns which classes of pages link to which: the classes of the crawl's taxonomy, from
    their example pages that were fetched, or the topics of a frozen web. A crawl keeps the text of irrelevant pages
    only with output.keep_irrelevant: true; without it only their titles are used.
    """
    crawl = CrawlProject.open(dir)
    name = strategy or crawl.config.strategy.name
    registry.find("strategy", name)
    if not needs_training(name):
        echo(f"Strategy {name} needs no training; these do: {', '.join(TRAINED)}.", err=True)
        return
    require_scikit_learn(f"strategy {name}")
    folder = crawl.folder.model / "trained"
    earlier = CrawlFolder(other or dir).existing()
    if name in RULED:
        rules = (
            rules_from_web(web_name, topic, folder, walk_steps=walk_steps)
            if web_name
            else rules_from_crawl(crawl, earlier, folder, walk_steps=walk_steps)
        )
        echo_rules(rules, folder, as_json=as_json)
    else:
        layers = _from_web(web_name, topic, folder) if web_name else _from_crawl(earlier, folder)
        _echo(layers, folder, as_json=as_json)
    chosen = "" if name == crawl.config.strategy.name else f" --strategy {name}"
    echo(f"Learned into {folder}. Next: thresher run {dir}{chosen}", err=True)


def _from_crawl(crawl: CrawlFolder, folder: Path) -> LearnedLayers:
    from thresher.storage.reader import PageStoreReader
    from thresher.training.crawl_pages import CrawlPages
    from thresher.training.layers import train_layers

    with PageStoreReader(crawl.pages) as collection:
        pages = CrawlPages(collection)
        targets = pages.relevant
        if not targets:
            raise ConfigError(
                f"{crawl.root} has no relevant pages to learn from. Crawl first with another strategy: "
                f"thresher run {crawl.root} --strategy best-first"
            )
        echo(f"Learning from {len(pages):,} pages, {len(targets):,} of them relevant.", err=True)
        if pages.without_text:
            echo(f"Of {pages.without_text:,} pages only the title was kept.", err=True)
        return train_layers(pages, targets, folder)


def _from_web(name: str, topic: str | None, folder: Path) -> LearnedLayers:
    from thresher.training.layers import train_layers
    from thresher_lab.simulation.tasks import TaskRunner

    bench = TaskRunner.open(name)
    if topic is None:
        raise ConfigError(
            f"which topic of {name}? Name it with --topic; known: {', '.join(sorted(bench.web.topics()))}"
        )
    targets = bench.web.targets(topic)
    echo(f"Learning from {len(bench.web):,} pages, {len(targets):,} of them of the topic.", err=True)
    learned = train_layers(bench.training_pages(), targets, folder)
    bench.flush()
    return learned


def _echo(learned: LearnedLayers, folder: Path, *, as_json: bool) -> None:
    if as_json:
        echo_json({"folder": str(folder), "layers": [asdict(layer) for layer in learned.layers]})
        return
    echo_table(["layer", "pages", "links into it", "typical words"], _rows(learned.layers))


def _rows(layers: Sequence[LayerSummary]) -> list[tuple[str, int, int, str]]:
    last = layers[-1].layer
    return [
        ("beyond" if layer.layer == last else str(layer.layer), layer.pages, layer.links, ", ".join(layer.terms))
        for layer in layers
    ]
