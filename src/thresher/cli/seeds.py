"""thresher seeds: find pages to start a crawl from; the user accepts them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import click

from thresher.cli.output import CRAWL, echo, echo_json, json_option
from thresher.config.folder import CrawlFolder
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.locale.translation import COMMA, SEMICOLON, Translatable, _, joined, localized
from thresher.operations.create import NewCrawl, create_crawl
from thresher.operations.find_seeds import (
    CANDIDATES,
    NUMBER,
    PER_HOST,
    ProposedSeed,
    SeedLimits,
    SeedProposal,
    add_seeds,
    find_seeds,
)
from thresher.registry import SEED_SOURCES
from thresher.runner.fetch_once import fetch_once
from thresher.seeding.base import SeedQuery, make_source
from thresher.topics.expansion import Expander, TopicExpansion, expand_by_pages, expand_by_taxonomy
from thresher.topics.topic import TopicDefinition

SOURCES_VARIABLE = "THRESHER_SEED_SOURCES"
MAX_REJECTED = 5
F = TypeVar("F", bound=Callable[..., Any])


def source_options(command: F) -> F:
    """Add the options that `seeds` and `new` share."""
    options = (
        click.option(
            "--source",
            "sources",
            multiple=True,
            envvar=SOURCES_VARIABLE,
            metavar="NAME[=ADDRESS]",
            help=f"Where to look, such as searxng=http://127.0.0.1:8080/search: {', '.join(SEED_SOURCES)}. "
            f"Also in {SOURCES_VARIABLE}, with blanks between.",
        ),
        click.option(
            "--host",
            "hosts",
            multiple=True,
            metavar="HOST",
            help="For sitemaps and common-crawl: the URLs of this host, such as example.org.",
        ),
        click.option("--expand", is_flag=True, help="Suggest keywords and the second language of the topic first."),
        click.option("--yes", is_flag=True, help="Accept the proposed pages that the judge finds relevant, unasked."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("topic", required=False)
@source_options
@click.option("--into", type=CRAWL, metavar="DIR", help="A crawl: its topic and rules; seeds are added to seeds.txt.")
@click.option(
    "--contact",
    default="",
    metavar="ADDRESS",
    help="Without --into: mail or web address for site operators, such as me@example.org.",
)
@click.option("--number", type=click.IntRange(min=1), default=NUMBER, show_default=True, help="Seeds at most.")
@click.option("--per-host", type=click.IntRange(min=1), default=PER_HOST, show_default=True, help="Seeds of one host.")
@click.option(
    "--candidates", type=click.IntRange(min=1), default=CANDIDATES, show_default=True, help="URLs to fetch at most."
)
@json_option(
    {
        "seeds": "The proposed seeds, best first: url, title, relevance, sources and more.",
        "found": "URLs that the sources named.",
        "fetched": "Pages that were fetched and judged.",
        "rejected": "Why URLs are not proposed.",
        "failures": "Sources that did not answer, with the reasons.",
        "accepted": "The URLs that were accepted.",
        "keywords": "Only with --expand: the keywords of the topic.",
        "expansion": "Only with --expand: words that set the accepted pages apart; null when there are none.",
    },
)
def seeds(
    topic: str | None,
    sources: Sequence[str],
    hosts: Sequence[str],
    expand: bool,
    yes: bool,
    into: Path | None,
    contact: str,
    number: int,
    per_host: int,
    candidates: int,
    as_json: bool,
) -> None:
    """Find pages to start a crawl from, and judge them.

    Those that you accept are added to seeds.txt.

    TOPIC is a phrase; several languages: "phrase; 短语". Without it, the topic is that of --into. Nothing is sent to a
    service unless its source is named. Candidates are fetched as in a crawl: robots.txt, delays, scope and the address
    guard apply.

    \b
    Examples:
      thresher seeds --into solar --source wikipedia
      thresher seeds "solar cells" --source searxng=http://127.0.0.1:8080/search --contact me@example.org
    """
    if not topic and not into:
        raise ConfigError(_('give a topic, or a crawl: thresher seeds "a phrase", or thresher seeds --into DIR'))
    limits = SeedLimits(number=number, per_host=per_host, candidates=candidates)
    with _crawl(topic or "", into, contact) as crawl:
        wanted = TopicDefinition.from_phrase(topic) if topic else crawl.topic()
        wanted = expanded(wanted, yes=yes) if expand else wanted
        proposal = propose(crawl, SeedQuery.of(wanted, hosts), sources, limits)
        accepted = choose(proposal, yes=yes, as_json=as_json)
        typical = _typical_words(wanted, proposal, accepted) if expand else None
        if as_json:
            words = {"keywords": list(wanted.keywords), "expansion": asdict(typical) if typical else None}
            echo_json({**proposal.as_json(), "accepted": [seed.url for seed in accepted], **(words if expand else {})})
        if into:
            write_accepted(crawl, accepted)
        elif not as_json:
            for seed in accepted:
                echo(seed.url)
    sys.exit(0 if accepted or (proposal.seeds and not yes) else 1)


@contextmanager
def _crawl(topic: str, into: Path | None, contact: str) -> Iterator[CrawlSetup]:
    """Open the crawl; without a folder make one for the topic that is removed at the end."""
    if into:
        yield CrawlSetup.open(into)
        return
    if not contact:
        raise ConfigError(_("sites must know whom to write to: give --contact ADDRESS, or a crawl with --into DIR"))
    with TemporaryDirectory(prefix="thresher-seeds-") as folder:
        create_crawl(CrawlFolder(Path(folder)), NewCrawl(topic=TopicDefinition.from_phrase(topic), contact=contact))
        yield CrawlSetup.open(Path(folder))


def propose(crawl: CrawlSetup, query: SeedQuery, sources: Sequence[str], limits: SeedLimits) -> SeedProposal:
    """Ask the named sources, and fetch and judge what they find.

    Raises:
        ConfigError: No source is named, or one cannot be used.
    """
    if not sources:
        raise ConfigError(
            _(
                "no source of seeds is named; give --source NAME (known: {known}), or set "
                "{variable}. Nothing is sent to a service that you did not name",
                known=", ".join(SEED_SOURCES),
                variable=SOURCES_VARIABLE,
            )
        )
    made = {text: make_source(text, crawl.config)[1] for text in sources}
    return find_seeds(crawl, query, made, fetch=fetch_once, limits=limits, report=partial(echo, err=True))


EXPANDERS: Sequence[Expander] = (expand_by_taxonomy,)


def expanded(topic: TopicDefinition, *, yes: bool) -> TopicDefinition:
    """Show suggestions for a topic, one source after another; return the topic with those that the user accepts."""
    found = [expansion for expand in EXPANDERS if (expansion := expand(topic))]
    if not found:
        echo(_("No topic of the bundled taxonomy has this name; nothing to add."), err=True)
    for expansion in found:
        _print_expansion(expansion)
        if yes or (sys.stdin.isatty() and click.confirm(localized(_("Use this?")), default=True, err=True)):
            topic = expansion.apply(topic)
        else:
            echo(_("Not used. Use it: --yes"), err=True)
    return topic


def _print_expansion(expansion: TopicExpansion) -> None:
    echo(_("From {origin}:", origin=expansion.reason), err=True)
    for code, title in expansion.titles.items():
        echo(_("  title {code}: {title}", code=code, title=title), err=True)
    if expansion.keywords:
        echo(_("  keywords: {words}", words=joined(COMMA, expansion.keywords)), err=True)
    if expansion.exclusions:
        echo(_("  words of other pages: {words}", words=joined(COMMA, expansion.exclusions)), err=True)


def _typical_words(
    topic: TopicDefinition, proposal: SeedProposal, accepted: Sequence[ProposedSeed]
) -> TopicExpansion | None:
    """Print which words set the accepted pages apart from the others, for the keywords of topic.yaml."""
    urls = {seed.url for seed in accepted}
    texts = [(url in urls, page.text) for url, page in proposal.pages.items()]
    found = expand_by_pages(topic, [text for own, text in texts if own], [text for own, text in texts if not own])
    if found:
        _print_expansion(found)
        echo(_("They are not used; add those that you want to keywords in topic.yaml."), err=True)
    return found


def choose(proposal: SeedProposal, *, yes: bool, as_json: bool = False) -> list[ProposedSeed]:
    """Print the proposal, and return what the user accepts; with JSON there is no question.

    Seeds teach the judge what the topic is, so a page that it does not find relevant needs a person's word.
    """
    found = list(proposal.seeds)
    if not as_json:
        _print(proposal)
    if yes or not found:
        for seed in found:
            if not seed.relevant:
                refused = _(
                    "not accepted by --yes: {url}: not relevant to the judge ({relevance:.2f})",
                    url=seed.url,
                    relevance=seed.relevance,
                )
                echo(refused, err=True)
        return [seed for seed in found if seed.relevant]
    if as_json or not sys.stdin.isatty():
        return []
    while True:
        question = localized(_("Accept which? all, none, or numbers such as 1,3-5"))
        answer = click.prompt(question, default="all", err=True)
        chosen = chosen_numbers(answer, len(found))
        if chosen is not None:
            return [found[number - 1] for number in chosen]
        most = len(found)
        echo(_("{answer!r} is neither all nor none nor numbers from 1 to {most}.", answer=answer, most=most), err=True)


def chosen_numbers(answer: str, most: int) -> list[int] | None:
    """Return the numbers that an answer such as ``1,3-5`` names; None when it is not understood."""
    text = answer.strip().lower()
    if text in ("all", "none", ""):
        return [] if text == "none" else list(range(1, most + 1))
    chosen: list[int] = []
    for part in text.replace("，", ",").split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        if not first.isdecimal() or (dash and not last.isdecimal()):
            return None
        chosen.extend(range(int(first), int(last or first) + 1))
    return list(dict.fromkeys(chosen)) if all(1 <= number <= most for number in chosen) else None


def _print(proposal: SeedProposal) -> None:
    """Print the proposed seeds with reasons to standard error: standard output has the accepted URLs alone."""
    for number, seed in enumerate(proposal.seeds, start=1):
        echo(f"{number:>3}  {seed.url}", err=True)
        echo(f"     {seed.title or localized(_('(no title)'))}", err=True)
        sources = [_("{name}: {how}", name=name, how=how) for name, how in seed.sources.items()]
        for line in (
            _evidence(seed),
            _("found by {sources}", sources=joined(SEMICOLON, sources)),
            _("words: {words}", words=joined(COMMA, seed.terms) or _("none of the topic")),
        ):
            echo(f"     {localized(line)}", err=True)
    left = {url: why for url, why in proposal.rejected.items() if not why.startswith("more than")}
    for url, why in list(left.items())[:MAX_REJECTED]:
        echo(_("  not proposed: {url}: {reason}", url=url, reason=why), err=True)
    if len(left) > MAX_REJECTED:
        echo(_("  not proposed: {number} others; --json lists them", number=len(left) - MAX_REJECTED), err=True)
    proposed = _(
        "{proposed} proposed, of {fetched} pages that could be judged and {found} URLs that were found.",
        proposed=len(proposal.seeds),
        fetched=proposal.fetched,
        found=proposal.found,
    )
    echo(proposed, err=True)


def _evidence(seed: ProposedSeed) -> Translatable:
    return _(
        "{verdict}: relevance {relevance:.2f}; {names} words of the topic in title and URL, "
        "{links} links with other candidates",
        verdict=_("relevant") if seed.relevant else _("not sure"),
        relevance=seed.relevance,
        names=seed.names,
        links=seed.links,
    )


def write_accepted(crawl: CrawlSetup, accepted: Sequence[ProposedSeed]) -> None:
    """Add accepted seeds to the crawl."""
    if not accepted:
        nothing = _(
            "Nothing was written: no seed was accepted. --yes accepts those that the judge finds relevant; "
            "write others into {file} yourself",
            file=crawl.folder.seeds,
        )
        echo(nothing, err=True)
        return
    added = add_seeds(crawl, [seed.url for seed in accepted])
    done = _(
        "{number} new seeds in {file}. Next: thresher run {folder} --pages 100",
        number=len(added),
        file=crawl.folder.seeds,
        folder=crawl.folder.root,
    )
    echo(done, err=True)
