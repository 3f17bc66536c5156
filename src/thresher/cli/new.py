"""thresher new: create a crawl from a phrase, a taxonomy, or an earlier crawl with its hubs as seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo
from thresher.config.folder import CrawlFolder
from thresher.errors import ConfigError
from thresher.export.hubs import Hub, hubs
from thresher.operations.create import NewCrawl, checked_seed, create_crawl
from thresher.project import CrawlProject
from thresher.storage.reader import PageStoreReader
from thresher.topics.seeds import example_seeds
from thresher.topics.taxonomy.bundled import BUNDLED, BUNDLED_TITLE
from thresher.topics.taxonomy.taxonomy import TaxonomyReader
from thresher.topics.topic import TopicDefinition


@dataclass(frozen=True, kw_only=True)
class EarlierCrawl:
    """An earlier crawl of the same topic.

    Args:
        taxonomy: The file of its taxonomy, or ``bundled``; empty without one.
        nodes: Its nodes there.
        allow: Private networks that it may crawl.
        hubs: Its best hubs.
    """

    topic: TopicDefinition
    contact: str
    taxonomy: str = ""
    nodes: list[str] = field(default_factory=list)
    allow: list[str] = field(default_factory=list)
    hubs: list[Hub] = field(default_factory=list)

    @classmethod
    def open(cls, folder: Path, number: int) -> EarlierCrawl:
        """Read an earlier crawl.

        Raises:
            ConfigError: It found no hub.
        """
        crawl = CrawlProject.open(folder)
        with PageStoreReader(crawl.folder.pages) as collection:
            found = hubs(collection, number)
        if not found:
            raise ConfigError(f"{folder} has no relevant page yet that leads to others; let it run, or give --seed")
        config, chosen = crawl.config, crawl.config.taxonomy
        return cls(
            topic=TopicDefinition(title=config.title, keywords=config.keywords) if chosen is None else crawl.topic(),
            contact=config.manners.contact,
            taxonomy=_located(folder, chosen.file) if chosen else "",
            nodes=list(chosen.nodes) if chosen else [],
            allow=list(config.network.allow),
            hubs=found,
        )


DEFAULT_LANGUAGES = ("en", "zh")


@click.command()
@click.argument("dir", type=click.Path(path_type=Path))
@click.option("--topic", metavar="TEXT", help='The topic as a phrase; several languages: "phrase; 短语".')
@click.option("--keywords", "keywords", multiple=True, metavar="WORDS", help="Words of the topic, separated by commas.")
@click.option(
    "--taxonomy",
    type=click.Path(),
    metavar="FILE",
    help="A taxonomy; without it, --node is one of the bundled taxonomy.",
)
@click.option(
    "--node", "nodes", multiple=True, metavar="PATH", help="A topic of a taxonomy; may be given several times."
)
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="CODE",
    help="With --node: languages of its labels; en and zh if not given.",
)
@click.option("--seed", "seeds", multiple=True, metavar="URL", help="Where to start; may be given several times.")
@click.option("--seeds-file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A file of seeds.")
@click.option(
    "--from", "before", type=CRAWL, metavar="DIR", help="An earlier crawl: its topic, its best hubs as seeds."
)
@click.option("--hubs", type=click.IntRange(min=1), default=20, show_default=True, help="With --from: how many hubs.")
@click.option("--contact", default="", metavar="ADDRESS", help="Mail or web address for site operators.")
@click.option("--strategy", default="thresher", show_default=True, help="The order in which links are followed.")
def new(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    topic: str | None,
    keywords: Sequence[str],
    taxonomy: str | None,
    nodes: Sequence[str],
    languages: Sequence[str],
    seeds: Sequence[str],
    seeds_file: Path | None,
    before: Path | None,
    hubs: int,
    contact: str,
    strategy: str,
) -> None:
    """Start a crawl: write topic.yaml and seeds.txt into a new folder.

    Then it is checked as by thresher run; what is still missing is named.
    """
    if topic is not None and not topic.strip():
        raise ConfigError("--topic is empty; give a phrase, or leave --topic out to learn the topic from the seeds")
    words = [word.strip() for group in keywords for word in group.replace("，", ",").split(",") if word.strip()]
    earlier = EarlierCrawl.open(before, hubs) if before else None
    choice = _choose(topic or "", taxonomy or "", nodes, languages, earlier)
    wanted = replace(choice.topic, keywords=list(dict.fromkeys([*choice.topic.keywords, *words])))
    named = [checked_seed(seed) for seed in (*seeds, *_lines(seeds_file))]
    named += [hub.record.url for hub in earlier.hubs] if earlier else []
    if not wanted.vectors() and not named:
        raise ConfigError(
            'the topic has no words; give --topic "a phrase", --keywords "some, words", --node, or seeds about it'
        )
    urls = list(dict.fromkeys(named)) or choice.examples
    new_crawl = NewCrawl(
        topic=wanted,
        seeds=urls,
        contact=contact or (earlier.contact if earlier else ""),
        strategy=strategy,
        allow=earlier.allow if earlier else (),
        taxonomy={"file": _relative_to(dir, choice.taxonomy), "nodes": choice.nodes} if choice.nodes else None,
    )
    create_crawl(CrawlFolder(dir), new_crawl)
    _print_choice(choice, 0 if named else len(urls))
    _print_next_steps(dir, urls, new_crawl.networks)


@dataclass(frozen=True)
class _Choice:
    """The topic, and its nodes and example pages in a taxonomy."""

    topic: TopicDefinition
    taxonomy: str = ""
    nodes: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)


def _choose(
    phrase: str, file: str, nodes: Sequence[str], languages: Sequence[str], earlier: EarlierCrawl | None
) -> _Choice:
    """Read the topic from its phrase, from nodes of a taxonomy, or from an earlier crawl."""
    if earlier and not (phrase or file or nodes):
        return _Choice(earlier.topic, earlier.taxonomy, earlier.nodes)
    if not file and not nodes:
        if languages:
            raise ConfigError(
                "--language chooses from the labels of a node; give --node PATH, or --taxonomy FILE and --node. "
                'Without a node the languages follow from the phrase: --topic "a phrase; 短语"'
            )
        return _Choice(TopicDefinition.from_phrase(phrase))
    if phrase or not nodes:
        raise ConfigError("with a taxonomy the topic is a node of it: give --node PATH, and no --topic")
    codes, file = languages or DEFAULT_LANGUAGES, file or BUNDLED
    with TaxonomyReader.bundled() if file == BUNDLED else TaxonomyReader.open(Path(file)) as taxonomy:
        paths = [taxonomy.node(node).path for node in nodes]
        topic = TopicDefinition.from_nodes(taxonomy, paths, languages=codes)
        return _Choice(topic, file, paths, example_seeds(taxonomy, paths, languages=codes))


def _located(folder: Path, file: str) -> str:
    """Return the absolute path of a taxonomy that a topic.yaml names."""
    return file if file == BUNDLED else str((folder / Path(file).expanduser()).resolve())


def _relative_to(folder: Path, file: str) -> str:
    """Return the path of a file: relative if it is inside the crawl's folder, so that both can move, else absolute.

    The bundled taxonomy has no path, so that an upgrade of Thresher does not change it.
    """
    if file == BUNDLED:
        return file
    path, root = Path(file).resolve(), folder.resolve()
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def _lines(path: Path | None) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _print_choice(choice: _Choice, examples: int) -> None:
    if choice.nodes:
        taxonomy = BUNDLED_TITLE if choice.taxonomy == BUNDLED else choice.taxonomy
        echo(f"The topic is {', '.join(choice.nodes)} of {taxonomy}.", err=True)
    if examples:
        echo(f"The seeds are {examples} example pages of the taxonomy; look at them first.", err=True)


def _print_next_steps(folder: Path, urls: Sequence[str], allow: Sequence[str]) -> None:
    echo(f"{folder / 'topic.yaml'} and {folder / 'seeds.txt'} are written.", err=True)
    if allow:
        echo(f"The seeds are private addresses; network.allow lists {', '.join(allow)}.", err=True)
    if len(urls) == 1:
        echo("One seed is enough to start; with two or more, from several sites, verdicts are better.", err=True)
    try:
        CrawlProject.open(folder).check()
    except ConfigError as error:
        echo(f"thresher run will refuse it until this is fixed: {error}", err=True)
        return
    echo(f"Try a page: thresher try {folder} {urls[0]}", err=True)
    echo(f"Next: thresher run {folder} --pages 100", err=True)
