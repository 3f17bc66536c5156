"""thresher new: from a phrase to a folder with everything a crawl needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from thresher.build import Crawl
from thresher.cli.earlier import Earlier
from thresher.cli.show import CRAWL, echo
from thresher.errors import ConfigError
from thresher.folder import CrawlFolder
from thresher.founding import Founding, checked_seed, found
from thresher.topics.seeds import example_seeds
from thresher.topics.taxonomy import Taxonomy
from thresher.topics.topic import Topic

DEFAULT_LANGUAGES = ("en", "zh")


@click.command()
@click.argument("dir", type=click.Path(path_type=Path))
@click.option("--topic", metavar="TEXT", help='The topic as a phrase; several languages: "phrase; 短语".')
@click.option("--keywords", "keywords", multiple=True, metavar="WORDS", help="Words of the topic, parted by commas.")
@click.option("--taxonomy", type=click.Path(path_type=Path), metavar="FILE", help="A taxonomy; see thresher topics.")
@click.option("--node", "nodes", multiple=True, metavar="PATH", help="A topic of it; may be given several times.")
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="CODE",
    help="With --taxonomy: languages of its labels; en and zh if not given.",
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
    taxonomy: Path | None,
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

    Then it is checked as thresher run checks it; what is still missing is named.
    """
    if topic is not None and not topic.strip():
        raise ConfigError("--topic is empty; give a phrase, or leave --topic out to learn the topic from the seeds")
    words = [word.strip() for group in keywords for word in group.replace("，", ",").split(",") if word.strip()]
    earlier = Earlier.open(before, hubs) if before else None
    choice = _choose(topic or "", taxonomy, nodes, languages, earlier)
    wanted = replace(choice.topic, keywords=[*choice.topic.keywords, *words])
    named = [checked_seed(seed) for seed in (*seeds, *_lines(seeds_file))]
    named += [hub.record.url for hub in earlier.hubs] if earlier else []
    if not wanted.vectors() and not named:
        raise ConfigError(
            'the topic has no words; give --topic "a phrase", --keywords "some, words", --taxonomy, or seeds about it'
        )
    urls = list(dict.fromkeys(named)) or choice.examples
    founding = Founding(
        topic=wanted,
        seeds=urls,
        contact=contact or (earlier.contact if earlier else ""),
        strategy=strategy,
        allow=earlier.allow if earlier else (),
        taxonomy={"file": _seen_from(dir, choice.taxonomy), "nodes": choice.nodes} if choice.taxonomy else None,
    )
    found(CrawlFolder(dir), founding)
    if urls and not named:
        echo(f"The seeds are {len(urls)} example pages of the taxonomy; look at them first.", err=True)
    _say_what_next(dir, urls, founding.networks)


@dataclass(frozen=True)
class _Choice:
    """What the topic is, and what a taxonomy says of it."""

    topic: Topic
    taxonomy: Path | None = None
    nodes: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)


def _choose(
    phrase: str, file: Path | None, nodes: Sequence[str], languages: Sequence[str], earlier: Earlier | None
) -> _Choice:
    """Read the topic from its phrase, from nodes of a taxonomy, or from an earlier crawl."""
    if earlier and not (phrase or file):
        return _Choice(earlier.topic, earlier.taxonomy, earlier.nodes)
    if file is None:
        if nodes or languages:
            raise ConfigError(
                "--node and --language choose from a taxonomy; give --taxonomy FILE. Without one the languages follow "
                'from the phrase: --topic "a phrase; 短语"'
            )
        return _Choice(Topic.from_phrase(phrase))
    if phrase or not nodes:
        raise ConfigError("with --taxonomy the topic is a node of it: give --node PATH, and no --topic")
    codes = languages or DEFAULT_LANGUAGES
    with Taxonomy.open(file) as taxonomy:
        paths = [taxonomy.node(node).path for node in nodes]
        topic = Topic.from_nodes(taxonomy, paths, languages=codes)
        return _Choice(topic, file, paths, example_seeds(taxonomy, paths, languages=codes))


def _seen_from(folder: Path, file: Path) -> str:
    """Write the path of a file so that it is found from the crawl's folder, also when a copy inside moves with it."""
    place, root = file.resolve(), folder.resolve()
    return str(place.relative_to(root) if place.is_relative_to(root) else place)


def _lines(path: Path | None) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _say_what_next(folder: Path, urls: Sequence[str], allow: Sequence[str]) -> None:
    echo(f"{folder / 'topic.yaml'} and {folder / 'seeds.txt'} are written.", err=True)
    if allow:
        echo(f"The seeds are private addresses; network.allow lists {', '.join(allow)}.", err=True)
    if len(urls) == 1:
        echo("One seed is enough to start; with two or more, from several sites, verdicts are better.", err=True)
    try:
        Crawl.open(folder).check()
    except ConfigError as error:
        echo(f"thresher run will refuse it until this is mended: {error}", err=True)
        return
    echo(f"Try a page: thresher try {folder} {urls[0]}", err=True)
    echo(f"Next: thresher run {folder} --pages 100", err=True)
