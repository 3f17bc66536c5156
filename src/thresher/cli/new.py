"""thresher new: create a crawl from a phrase, a taxonomy, or an earlier crawl with its hubs as seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from thresher.assembly import check_crawl
from thresher.cli.output import CRAWL, echo, echo_json, json_option
from thresher.cli.seeds import choose, expanded, propose, source_options, write_accepted
from thresher.cli.stores import with_all_pages
from thresher.config.folder import CrawlFolder
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, ThresherError
from thresher.export.hubs import hubs
from thresher.locale.translation import _
from thresher.operations.create import NewCrawl, checked_seed, create_crawl
from thresher.operations.find_seeds import SeedLimits
from thresher.seeding.base import SeedQuery
from thresher.storage.reader import PageStoreReader
from thresher.topics.seeds import example_seeds
from thresher.topics.taxonomy.bundled import BUNDLED, BUNDLED_TITLE
from thresher.topics.taxonomy.taxonomy import TaxonomyReader
from thresher.topics.topic import TopicDefinition
from thresher.topics.yaml_writer import topic_name
from thresher.urls.store_address import check_collection


@dataclass(frozen=True, kw_only=True)
class EarlierCrawl:
    """An earlier crawl of the same topic.

    Args:
        taxonomy: The file of its taxonomy, or ``bundled``; empty without one.
        nodes: Its nodes there.
        allow: Private networks that it may crawl.
        hubs: The URLs of its best hubs.
        topics: Its topics as topic.yaml has them, each with its own best hubs as seeds.
    """

    topic: TopicDefinition
    contact: str
    taxonomy: str = ""
    nodes: list[str] = field(default_factory=list)
    allow: list[str] = field(default_factory=list)
    hubs: list[str] = field(default_factory=list)
    topics: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path, number: int) -> EarlierCrawl:
        """Read an earlier crawl.

        Raises:
            ConfigError: It found no hub.
        """
        crawl = with_all_pages(CrawlSetup.open(folder))
        with PageStoreReader(crawl.folder.pages) as collection:
            topics = crawl.config.all_topics
            found = {name: [hub.record.url for hub in hubs(collection, number, name)] for name in topics}
        if not any(found.values()):
            raise ConfigError(
                _("{folder} has no relevant page yet that leads to others; let it run, or give --seed", folder=folder)
            )
        config, chosen = crawl.config, crawl.config.taxonomy
        one = TopicDefinition(title=config.title, keywords=config.keywords)
        return cls(
            topic=one if chosen is None or config.topics else crawl.topic(),
            contact=config.politeness.contact,
            taxonomy=_located(folder, chosen.file) if chosen else "",
            nodes=list(chosen.nodes) if chosen else [],
            allow=list(config.network.allow),
            hubs=list(dict.fromkeys(url for urls in found.values() for url in urls)),
            topics={
                name: {**topic.model_dump(exclude_defaults=True, exclude={"seeds"}), "seeds": found[name]}
                for name, topic in config.topics.items()
            },
        )


DEFAULT_LANGUAGES = ("en", "zh")


@click.command()
@click.argument("dir", type=click.Path(path_type=Path))
@click.option(
    "--topic",
    "phrases",
    multiple=True,
    metavar="TEXT",
    help='The topic as a phrase; several languages: "phrase; 短语". Given several times: several topics.',
)
@click.option(
    "--keywords",
    "keywords",
    multiple=True,
    metavar="WORDS",
    help="Words of the topic, separated by commas, such as: perovskite, tandem cell.",
)
@click.option(
    "--taxonomy",
    type=click.Path(),
    metavar="FILE",
    help="A taxonomy, such as odp.taxonomy; without it, --node is one of the bundled taxonomy.",
)
@click.option(
    "--node", "nodes", multiple=True, metavar="PATH", help="A topic of a taxonomy; given several times: several topics."
)
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="CODE",
    help="A language of wanted pages, such as de; may be given several times. If not given: those of the phrase and of "
    "the seeds; of a node, the labels in en and zh.",
)
@click.option(
    "--seed",
    "seeds",
    multiple=True,
    metavar="URL",
    help="A page to start from; may be given several times. Of several topics: NAME=URL, a page about this one.",
)
@click.option(
    "--seeds-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of seeds, such as seeds.txt: one URL per line.",
)
@click.option(
    "--from",
    "before",
    type=CRAWL,
    metavar="DIR",
    help="The folder of an earlier crawl: its topic, its best hubs as seeds.",
)
@click.option("--hubs", type=click.IntRange(min=1), default=20, show_default=True, help="With --from: how many hubs.")
@click.option(
    "--contact", default="", metavar="ADDRESS", help="Mail or web address for site operators, such as me@example.org."
)
@click.option(
    "--strategy",
    default="thresher",
    show_default=True,
    metavar="NAME",
    help="The order in which links are followed; thresher strategies lists them.",
)
@source_options
@click.option(
    "--collection",
    default="",
    metavar="URL",
    help="Object storage for the pages of all machines, such as s3://bucket/solar.",
)
@json_option(
    {
        "folder": "The folder of the crawl.",
        "topics": "The names of several topics; empty for one topic.",
        "seeds": "The seeds.",
        "allow": "Private networks that the crawl may fetch from.",
        "ready": "Whether thresher run would start.",
        "problem": "What is missing or wrong; empty when it is ready.",
    },
)
def new(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    phrases: Sequence[str],
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
    collection: str,
    expand: bool,
    yes: bool,
    as_json: bool,
    **search: Sequence[str],
) -> None:
    """Start a crawl: write topic.yaml and seeds.txt to a folder.

    Without seeds, they are sought in the sources that --source or the environment names. Then the crawl is checked as
    by thresher run; what is still missing is named.

    \b
    Examples:
      thresher new solar --topic "solar cells; 太阳能电池" --seed https://example.org/
      thresher new music --node Arts/Music --contact me@example.org
      thresher new solar-2027 --from solar --hubs 30
    """
    earlier = EarlierCrawl.open(before, hubs) if before else None
    choice = _choose(phrases, taxonomy or "", nodes, languages, earlier)
    wanted = _expanded(choice, keywords, expand=expand, yes=yes)
    named = _named_seeds(choice, earlier, seeds, seeds_file)
    _check_words(wanted, named)
    urls = list(dict.fromkeys(named)) or ([] if choice.topics else choice.examples)
    new_crawl = NewCrawl(
        topic=wanted,
        seeds=urls,
        contact=contact or (earlier.contact if earlier else ""),
        strategy=strategy,
        allow=earlier.allow if earlier else (),
        taxonomy=choice.taxonomy_key(dir),
        topics=choice.topics,
        languages=languages,
        collection=collection and check_collection(collection),
    )
    create_crawl(CrawlFolder(dir), new_crawl)
    _print_choice(choice, choice.examples if choice.topics or not named else [], urls)
    all_seeds = new_crawl.all_seeds or ([] if choice.topics else _found_seeds(dir, **search, yes=yes))
    _print_created(dir, list(choice.topics), all_seeds, new_crawl.networks, as_json=as_json)


def _print_created(
    folder: Path, topics: Sequence[str], seeds: Sequence[str], allow: Sequence[str], *, as_json: bool
) -> None:
    problem = _print_next_steps(folder, seeds, allow)
    if as_json:
        facts = {"folder": str(folder), "topics": list(topics), "seeds": list(seeds), "allow": list(allow)}
        echo_json({**facts, "ready": not problem, "problem": problem})


def _named_seeds(choice: _Choice, earlier: EarlierCrawl | None, seeds: Sequence[str], file: Path | None) -> list[str]:
    """Return the seeds that the user named, and the hubs of an earlier crawl."""
    named = [checked_seed(seed) for seed in (*choice.take_seeds(seeds), *_lines(file))]
    return named + (earlier.hubs if earlier and not (choice.topics and choice.topics is earlier.topics) else [])


def _check_words(topic: TopicDefinition, seeds: Sequence[str]) -> None:
    if not topic.vectors() and not seeds:
        raise ConfigError(
            _('the topic has no words; give --topic "a phrase", --keywords "some, words", --node, or seeds about it')
        )


def _expanded(choice: _Choice, keywords: Sequence[str], *, expand: bool, yes: bool) -> TopicDefinition:
    topic = choice.topic_with(_words(keywords))
    if not expand:
        return topic
    if choice.topics or choice.nodes:
        raise ConfigError(_("--expand is for one topic that is a phrase; nodes have their keywords already"))
    return expanded(topic, yes=yes)


def _found_seeds(folder: Path, sources: Sequence[str], hosts: Sequence[str], *, yes: bool) -> list[str]:
    """Find seeds for the new crawl in the named sources, if any, and write those that the user accepts."""
    if not sources:
        return []
    crawl = CrawlSetup.open(folder)
    try:
        proposal = propose(crawl, SeedQuery.of(crawl.topic(), hosts), sources, SeedLimits())
    except ThresherError as error:
        echo(
            _(
                "No seeds: {error}. {folder} is there; try again: thresher seeds --into {folder}",
                error=error,
                folder=folder,
            ),
            err=True,
        )
        return []
    accepted = choose(proposal, yes=yes)
    write_accepted(crawl, accepted)
    return [seed.url for seed in accepted]


def _words(groups: Sequence[str]) -> list[str]:
    return [word.strip() for group in groups for word in group.replace("，", ",").split(",") if word.strip()]


@dataclass(frozen=True)
class _Choice:
    """The topic, and its nodes and example pages in a taxonomy; or several topics, as topic.yaml has them."""

    topic: TopicDefinition
    taxonomy: str = ""
    nodes: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    topics: dict[str, dict[str, Any]] = field(default_factory=dict)

    def topic_with(self, keywords: Sequence[str]) -> TopicDefinition:
        """Return the topic with more keywords.

        Raises:
            ConfigError: There are several topics.
        """
        if self.topics and keywords:
            raise ConfigError(
                _("--keywords are those of one topic; write the keywords of several topics into topic.yaml")
            )
        return replace(self.topic, keywords=list(dict.fromkeys([*self.topic.keywords, *keywords])))

    def taxonomy_key(self, folder: Path) -> dict[str, Any] | None:
        """Return the key ``taxonomy`` of topic.yaml; several topics name their own nodes."""
        if not self.taxonomy:
            return None
        nodes = {} if self.topics else {"nodes": self.nodes}
        return {"file": _relative_to(folder, self.taxonomy), **nodes}

    def take_seeds(self, seeds: Sequence[str]) -> list[str]:
        """Give each seed of the form NAME=URL to its topic; return the others."""
        others = []
        for seed in seeds:
            name, equals, url = seed.partition("=")
            if equals and name in self.topics:
                self.topics[name].setdefault("seeds", []).append(checked_seed(url))
            elif equals and self.topics and "/" not in name:
                raise ConfigError(
                    _(
                        "--seed {seed}: no topic is called {name!r}; the topics are {known}",
                        seed=seed,
                        name=name,
                        known=", ".join(self.topics),
                    )
                )
            else:
                others.append(seed)
        return others


def _choose(
    phrases: Sequence[str], file: str, nodes: Sequence[str], languages: Sequence[str], earlier: EarlierCrawl | None
) -> _Choice:
    """Read the topic from its phrase, from nodes of a taxonomy, or from an earlier crawl."""
    if any(not phrase.strip() for phrase in phrases):
        raise ConfigError(_("--topic is empty; give a phrase, or leave --topic out to learn the topic from the seeds"))
    if earlier and not (phrases or file or nodes):
        return _Choice(earlier.topic, earlier.taxonomy, earlier.nodes, topics=earlier.topics)
    if not file and not nodes:
        typed = [TopicDefinition.from_phrase(phrase, languages=languages) for phrase in phrases or [""]]
        return _Choice(typed[0]) if len(typed) < 2 else _Choice(_only_title(typed), topics=_of_phrases(typed))
    if phrases or not nodes:
        raise ConfigError(_("with a taxonomy the topic is a node of it: give --node PATH, and no --topic"))
    codes, file = languages or DEFAULT_LANGUAGES, file or BUNDLED
    with TaxonomyReader.bundled() if file == BUNDLED else TaxonomyReader.open(Path(file)) as taxonomy:
        paths = [taxonomy.node(node).path for node in nodes]
        topic = TopicDefinition.from_nodes(taxonomy, paths, languages=codes)
        topics = _of_nodes(taxonomy, paths, codes) if len(set(paths)) > 1 else {}
        own = [url for each in topics.values() for url in each["seeds"]]
        topic = replace(topic, keywords=[]) if topics else topic  # each topic has its own
        return _Choice(topic, file, paths, own or example_seeds(taxonomy, paths, languages=codes), topics)


def _of_phrases(phrases: Sequence[TopicDefinition]) -> dict[str, dict[str, Any]]:
    """Make one topic of each phrase."""
    topics: dict[str, dict[str, Any]] = {}
    for topic in phrases:
        keywords = {"keywords": list(topic.keywords)} if topic.keywords else {}
        topics[topic_name(next(iter(topic.title.values()), ""), topics)] = {"title": dict(topic.title), **keywords}
    return topics


def _only_title(phrases: Sequence[TopicDefinition]) -> TopicDefinition:
    """Return the titles of several topics in one, for display."""
    titles = [topic.title for topic in phrases]
    codes = dict.fromkeys(code for title in titles for code in title)
    return TopicDefinition(title={code: ", ".join(title[code] for title in titles if code in title) for code in codes})


def _of_nodes(taxonomy: TaxonomyReader, paths: Sequence[str], codes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Make one topic of each node, with its keywords, and example pages as its seeds."""
    topics: dict[str, dict[str, Any]] = {}
    for path in dict.fromkeys(paths):
        name = topic_name(path.rpartition("/")[2], topics)
        words = TopicDefinition.from_nodes(taxonomy, [path], languages=codes).keywords
        keywords = {"keywords": list(words)} if words else {}
        topics[name] = {"nodes": [path], **keywords, "seeds": example_seeds(taxonomy, [path], languages=codes)}
    return topics


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


def _print_choice(choice: _Choice, examples: Sequence[str], urls: Sequence[str]) -> None:
    if choice.nodes:
        taxonomy = BUNDLED_TITLE if choice.taxonomy == BUNDLED else choice.taxonomy
        nodes = ", ".join(choice.nodes)
        several = _("The topics are {nodes} of {taxonomy}.", nodes=nodes, taxonomy=taxonomy)
        one = _("The topic is {nodes} of {taxonomy}.", nodes=nodes, taxonomy=taxonomy)
        echo(several if choice.topics else one, err=True)
    if examples:
        number = len(examples)
        echo(_("The seeds are {number} example pages of the taxonomy; look at them first.", number=number), err=True)
    _print_topics(choice.topics, urls)


def _print_topics(topics: Mapping[str, Mapping[str, Any]], urls: Sequence[str]) -> None:
    if not topics:
        return
    echo(_("The topics are judged and counted separately: {names}.", names=", ".join(topics)), err=True)
    if missing := [name for name, topic in topics.items() if not topic.get("seeds")]:
        without = _(
            "Without seeds, only by their words: {names}. Better: --seed {first}=URL",
            names=", ".join(missing),
            first=missing[0],
        )
        echo(without, err=True)
    if urls:
        echo(_("The seeds in seeds.txt are where the crawl starts; they belong to no topic."), err=True)


def _print_next_steps(folder: Path, urls: Sequence[str], allow: Sequence[str]) -> str:
    """Print what to do next; return what thresher run would refuse, or an empty text."""
    echo(_("{topic} and {seeds} are written.", topic=folder / "topic.yaml", seeds=folder / "seeds.txt"), err=True)
    if allow:
        networks = ", ".join(allow)
        echo(_("The seeds are private addresses; network.allow lists {networks}.", networks=networks), err=True)
    if len(urls) == 1:
        echo(_("One seed is enough to start; with two or more, from several sites, verdicts are better."), err=True)
    try:
        check_crawl(CrawlSetup.open(folder))
    except ConfigError as error:
        echo(_("thresher run will refuse it until this is fixed: {error}", error=error), err=True)
        return str(error)
    echo(_("Try a page: thresher try {folder} {url}", folder=folder, url=urls[0]), err=True)
    echo(_("Next: thresher run {folder} --pages 100", folder=folder), err=True)
    return ""
