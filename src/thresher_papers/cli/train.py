"""thresher train: gather training data, train a strategy's model on it, and report its quality."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from thresher.cli.output import CRAWL, echo, echo_json, echo_table, json_option
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.seeding.searxng import SearxSearch
from thresher_papers.strategies.layers.context_graphs import LAST_LAYER
from thresher_papers.training.collect import (
    PAGES,
    QUERIES,
    SEARCHES,
    TRAINING,
    CollectedModel,
    CollectRequest,
    SearchBackLinks,
)
from thresher_papers.training.collect import collect as collect_and_train
from thresher_papers.training.fetch_listed import fetch_listed
from thresher_papers.training.layers import TRAINED, needs_training
from thresher_papers.training.source_files import BackLinkSource, LinkFile, read_examples

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
PROGRESS_SECONDS = 5.0


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--train", type=click.Choice(TRAINED), help="The strategy to train; that of topic.yaml if not given.")
@click.option(
    "--examples",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="Example pages: one URL per line, or a class, a tab and a URL.",
)
@click.option(
    "--class",
    "classes",
    multiple=True,
    metavar="PATH",
    help="rules: use only these classes and wanted ones, such as Science/Physics.",
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="CLASS",
    help="A wanted class, such as Science/Energy; the nodes of topic.yaml if not given.",
)
@click.option(
    "--from", "earlier", type=CRAWL, multiple=True, metavar="DIR", help="An earlier crawl: its pages, links and topics."
)
@click.option(
    "--links",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="Links between pages, such as links.tsv: a source URL, a tab, a target URL.",
)
@click.option(
    "--search",
    metavar="URL",
    help="A SearXNG search, such as http://127.0.0.1:8080/search; it is asked for pages that link to others.",
)
@click.option(
    "--query", default='"{url}"', show_default=True, metavar="TEXT", help="The query to --search, with {url} in it."
)
@click.option(
    "--queries",
    type=click.IntRange(min=1),
    default=QUERIES,
    show_default=True,
    help="Queries at most, all runs counted.",
)
@click.option(
    "--pages", type=click.IntRange(min=0), default=PAGES, show_default=True, help="URLs to fetch at most; 0 for none."
)
@click.option("--layers", type=click.IntRange(1, 10), default=LAST_LAYER, show_default=True, help="The last layer.")
@click.option(
    "--walk-steps",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="rules: also count the links of a random walk of this length.",
)
@click.option("--random-state", type=int, default=0, show_default=True, help="Seed of every random choice.")
@json_option(
    {
        "strategy": "The strategy that was trained.",
        "folder": "The folder of the model.",
        "collected": "Per stage: URLs found, requested, and pages known.",
        "failures": "Why URLs could not be fetched, as in status.",
        "quality": "Accuracy with its interval, and precision and recall per class, on pages that were held out.",
        "layers": "Only for layers and context-graph: pages, links and typical words of each layer.",
        "targets": "Only for rules: the wanted classes.",
        "scores": "Only for rules: the score of each class.",
        "rules": "Only for rules: which classes link to which.",
    },
)
def train(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    as_json: bool,
    **options: Any,
) -> None:
    """Collect training data and train a strategy.

    The strategies layers and context-graph learn how far pages are from targets: the pages of --examples, or else the
    relevant pages of DIR and of --from. Pages that link to targets, and those that link to these, come from the same
    crawls, from --links and from --search.

    The strategy rules learns which classes of pages link to which, from example pages of several classes and from pages
    that they link to. Classes are those of --examples, of the crawl's taxonomy if it has example pages, and the topics
    of --from.

    Pages that the crawls have with their text are not fetched again; the others are fetched by the rules of topic.yaml
    into DIR/training. The same command continues after a stop or a crash.

    \b
    Examples:
      thresher train solar --train layers --examples good.txt --from wind
      thresher train solar --train rules --examples classes.tsv --pages 0
    """
    crawl = CrawlSetup.open(dir)
    request = _request(crawl, options)
    with_progress = partial(fetch_listed, report=_progress(time.monotonic))
    model = collect_and_train(crawl, request, fetch=with_progress)
    if as_json:
        echo_json(model.as_json())
    else:
        _echo(model)
    chosen = "" if request.strategy == crawl.config.strategy.name else f" --strategy {request.strategy}"
    echo(f"Trained into {model.model}. Next: thresher run {dir}{chosen}", err=True)


def _request(crawl: CrawlSetup, options: Mapping[str, Any]) -> CollectRequest:
    strategy = options["train"] or crawl.config.strategy.name
    if not needs_training(strategy):
        raise ConfigError(
            f"strategy {strategy} of {crawl.folder.topic} needs no training; name one that does: --train "
            f"{', --train '.join(TRAINED)}"
        )
    examples: dict[str, list[str]] = {}
    for path in options["examples"]:
        for label, urls in read_examples(path).items():
            examples.setdefault(label, []).extend(urls)
    return CollectRequest(
        strategy=strategy,
        examples=examples,
        earlier=[CrawlSetup.open(folder) for folder in options["earlier"]],
        back_links=_back_links(crawl, options),
        classes=options["classes"],
        targets=options["targets"],
        pages=options["pages"],
        layers=options["layers"],
        walk_steps=options["walk_steps"],
        random_state=options["random_state"],
    )


def _back_links(crawl: CrawlSetup, options: Mapping[str, Any]) -> list[BackLinkSource]:
    sources: list[BackLinkSource] = [LinkFile(path) for path in options["links"]]
    if options["search"]:
        search = SearxSearch(options["search"], crawl.config)
        answers = crawl.folder.root / TRAINING / SEARCHES
        sources.append(SearchBackLinks(search, options["query"], answers, most=options["queries"]))
    return sources


def _progress(clock: Callable[[], float]) -> Callable[[int], None]:
    """Return a function that counts pages and prints their number every few seconds."""
    pages, next_line = 0, clock() + PROGRESS_SECONDS

    def report(new: int) -> None:
        nonlocal pages, next_line
        pages += new
        if clock() >= next_line:
            next_line = clock() + PROGRESS_SECONDS
            echo(f"{pages:,} pages fetched in this run", err=True)

    return report


def _echo(model: CollectedModel) -> None:
    columns = ["collected", "URLs found", "asked for", "known pages"]
    echo_table(columns, [(stage.name, stage.found, stage.requested, stage.pages) for stage in model.stages])
    for line in model.failures.lines():
        echo(f"  not fetched, all runs: {line}")
    echo()
    quality = {found.label: found for found in model.quality.classes()}
    if model.table:
        rows = [(name, found.pages, _share(found.precision), found.recall) for name, found in quality.items()]
        echo_table(["class", "pages", "precision", "recall"], rows)
    else:
        echo_table(["layer", "pages", "precision", "recall", "links into it", "typical words"], _layer_rows(model))
    echo()
    _echo_confusion(model)
    for line in model.quality.lines(model.class_label):
        echo(line)
    for line in model.table.lines() if model.table else ():
        echo(line)


def _share(value: float | None) -> float | str:
    return "-" if value is None else value


def _layer_rows(model: CollectedModel) -> list[Sequence[Any]]:
    quality = {found.label: found for found in model.quality.classes()}
    rows: list[Sequence[Any]] = []
    for layer in model.layers:
        found = quality.get(str(layer.layer))
        shares = (_share(found.precision), found.recall) if found else ("-", "-")
        name = "beyond" if layer is model.layers[-1] else str(layer.layer)
        rows.append((name, layer.pages, *shares, layer.links, ", ".join(layer.terms)))
    return rows


def _echo_confusion(model: CollectedModel, most: int = 12) -> None:
    """Print the confusion matrix; of many classes only the JSON has it."""
    confusion = model.quality.confusion
    labels = list(dict.fromkeys([*confusion, *(label for row in confusion.values() for label in row)]))
    if len(labels) > most:
        echo(f"The confusion of {len(confusion)} classes is in the report of --json.")
        return
    rows = [(label, *(row.get(other, 0) for other in labels)) for label, row in confusion.items()]
    echo_table([f"{model.class_label}, classified as", *labels], rows)
    echo()
