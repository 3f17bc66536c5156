"""thresher lab train: learn a strategy's model for a crawl from the pages and topics of a frozen web."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from thresher.cli.output import CRAWL, echo, echo_json, echo_table, json_option
from thresher.errors import ConfigError
from thresher_lab.cli.web import WEB
from thresher_papers.training.layers import RULED, TRAINED

if TYPE_CHECKING:
    from thresher_lab.simulation.tasks import TaskRunner
    from thresher_papers.strategies.layers.learn import LearnedLayers
    from thresher_papers.training.rules import LearnedRules


@click.command()
@click.argument("dir", type=CRAWL)
@WEB
@click.option("--topic", required=True, metavar="NAME", help="The topic of the web to learn.")
@click.option("--strategy", type=click.Choice(TRAINED), help="Train this one instead of the one in topic.yaml.")
@click.option(
    "--walk-steps",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Strategy rules: also count the links of a random walk of this length.",
)
@json_option(
    {
        "folder": "The folder of the model.",
        "layers": "Only for layers and context-graph: pages, links and typical words of each layer.",
        "examples": "Only for rules: example pages of each class.",
        "targets": "Only for rules: the wanted classes.",
        "scores": "Only for rules: the score of each class.",
        "rules": "Only for rules: which classes link to which.",
    },
)
def train(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    web_name: str,
    topic: str,
    strategy: str | None,
    walk_steps: int,
    as_json: bool,
) -> None:
    """Learn a strategy's model for the crawl in DIR from a frozen web.

    The pages of the topic are the targets of layers; for rules, the topics of the web are the classes. A model for the
    live web is trained by thresher train.

    \b
    Examples:
      thresher lab train solar --web webkb --topic faculty --strategy layers
    """
    from thresher.crawl import CrawlSetup
    from thresher_lab.simulation.tasks import TaskRunner  # here: the help of the lab needs no numpy
    from thresher_papers.judges.trained.learner import require_scikit_learn

    crawl = CrawlSetup.open(dir)
    name = strategy or crawl.config.strategy.name
    if name not in TRAINED:
        raise ConfigError(f"strategy {name} needs no training; name one that does: --strategy {', '.join(TRAINED)}")
    require_scikit_learn(f"strategy {name}")
    folder, bench = crawl.folder.model / "trained", TaskRunner.open(web_name)
    if topic not in bench.web.topics():
        raise ConfigError(f"{web_name} has no topic {topic!r}; its topics are {', '.join(sorted(bench.web.topics()))}")
    if name in RULED:
        _echo_rules(_learn_rules(bench, topic, walk_steps), folder, as_json=as_json)
    else:
        _echo_layers(_learn_layers(bench, topic, folder), folder, as_json=as_json)
    bench.flush()
    chosen = "" if name == crawl.config.strategy.name else f" --strategy {name}"
    echo(f"Trained into {folder}. Next: thresher run {dir}{chosen}", err=True)


def _learn_layers(bench: TaskRunner, topic: str, folder: Path) -> LearnedLayers:
    from thresher_papers.training.layers import train_layers

    targets = bench.web.targets(topic)
    echo(f"Learning from {len(bench.web):,} pages, {len(targets):,} of them of the topic.", err=True)
    return train_layers(bench.training_pages(), targets, folder)


def _learn_rules(bench: TaskRunner, topic: str, walk_steps: int) -> LearnedRules:
    """Learn rules between the topics of a frozen web, from up to 150 pages of each."""
    from thresher_lab.simulation.classes import class_labels, draw_examples
    from thresher_papers.training.rules import learn_class_rules

    labels = dict.fromkeys([topic, *class_labels(bench.web)])
    examples = {label: draw_examples(bench.web, label, share=1.0) for label in labels}
    found = len(frozenset().union(*examples.values()))
    echo(f"Learning from {found:,} pages of {len(examples):,} topics, and from what they link to.", err=True)
    return learn_class_rules(bench.graph, bench.words, examples, targets=[topic], walk_steps=walk_steps)


def _echo_layers(learned: LearnedLayers, folder: Path, *, as_json: bool) -> None:
    if as_json:
        echo_json({"folder": str(folder), "layers": [asdict(layer) for layer in learned.layers]})
        return
    last = learned.layers[-1].layer
    rows: list[tuple[Any, ...]] = [
        ("beyond" if layer.layer == last else str(layer.layer), layer.pages, layer.links, ", ".join(layer.terms))
        for layer in learned.layers
    ]
    echo_table(["layer", "pages", "links into it", "typical words"], rows)


def _echo_rules(learned: LearnedRules, folder: Path, *, as_json: bool) -> None:
    """Save the rules, and print which classes lead to the wanted ones."""
    learned.save(folder)
    if as_json:
        table = learned.table
        content = {"targets": sorted(table.targets), "scores": table.scores(), "rules": table.rules()}
        echo_json({"folder": str(folder), "examples": learned.examples, **content})
        return
    for line in learned.table.lines():
        echo(line)
