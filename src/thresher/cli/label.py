"""thresher label: label pages, and show what changes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo, echo_json, echo_table, json_option
from thresher.cli.stores import with_all_pages
from thresher.errors import ConfigError
from thresher.feedback.model_labels import ErrorRate, error_rate
from thresher.operations.labelled_urls import LabelledUrl, UrlStatus
from thresher.operations.labelling import (
    BOUNDARY_QUESTIONS,
    Boundary,
    LabellingResult,
    LabellingSession,
    LabellingStatus,
    Question,
    check_questions,
    questions,
    read_labels,
)
from thresher.operations.model_labelling import label_with_model, revoke_model_labels
from thresher.project import CrawlProject

QUESTIONS = 20
BATCH = 5
"""Answers after which the judge is retrained and new questions are chosen."""
KEYS = {"y": True, "n": False}
SKIP, BACK, QUIT = "s", "u", "q"
ENDS = (QUIT, "\x03", "")
"""Keys that end the questions: quit, Ctrl-C, and end of input."""
REASONS = {
    "likely": "probably on topic",
    "unsure": "uncertain",
    "spread": "different from the pages asked about before",
    "boundary": "near the threshold",
    "check": "a model has labelled it",
}
STATUSES = {
    UrlStatus.QUEUED: "not crawled yet: queued",
    UrlStatus.WAITING: "not crawled yet: it is in the queue",
    UrlStatus.UNKNOWN: "not crawled; the label will count when the page is fetched",
    UrlStatus.NO_PAGE: "it was tried, but has no page",
}


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--count", type=click.IntRange(min=1), help="How many questions (20; 10 with --boundary, at most).")
@click.option("--boundary", is_flag=True, help="Ask about pages near the threshold; report how it moves.")
@click.option(
    "--yes",
    "yes",
    metavar="URL",
    multiple=True,
    help="Label this page as on topic; ask nothing. Such as https://example.org/cells.",
)
@click.option("--no", "no", metavar="URL", multiple=True, help="Label this page as off topic.")
@click.option(
    "--forget", metavar="URL", multiple=True, help="Remove the label of this page, such as https://example.org/cells."
)
@click.option("--model", is_flag=True, help="Let the language model of topic.yaml answer (model_labels).")
@click.option("--check-model", is_flag=True, help="Ask about random pages that the model labelled; report its errors.")
@click.option("--revoke-model", is_flag=True, help="Remove all labels that a model gave.")
@click.option(
    "--topic", default="", metavar="NAME", help="The labels are about this one of several topics, such as solar."
)
@json_option(
    {
        "labels": "Labels that were stored.",
        "applied": "Whether judge and queue are up to date; else running workers will do it.",
        "before": "Precision on labelled pages and head of the queue, before.",
        "after": "The same after.",
        "urls": "The labelled URLs, with what happens to each.",
        "boundary": "With --boundary: how the threshold moved; else null.",
        "model": "Only with --model: what the model was asked, labels, spending, error rate.",
    },
)
def label(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    count: int | None,
    boundary: bool,
    yes: Sequence[str],
    no: Sequence[str],
    forget: Sequence[str],
    model: bool,
    check_model: bool,
    revoke_model: bool,
    topic: str,
    as_json: bool,
) -> None:
    """Label pages as on topic or not; the judge is retrained.

    Verdicts and queue are updated.

    Without --yes, --no and --forget you are asked about the most informative pages. One key answers: y yes, n no,
    s skip, u undo the last answer, q quit; the keys may also be piped in. Running workers apply every answer
    within a second; when none runs, this command does it.

    With --boundary you are asked about up to ten pages near the threshold, on both sides of it.

    In a crawl of several topics a label is for all of them, unless --topic names one.

    A URL with --yes that was never crawled is queued like a seed; its label counts when the page is fetched.

    With --model a language model is asked in place of you: the one of model_labels in topic.yaml, within its budget.
    Its labels count less than yours, yours overrule them, and --revoke-model removes them.

    \b
    Examples:
      thresher label solar --count 10
      thresher label solar --yes https://example.org/cells --no https://example.org/tea
    """
    crawl = with_all_pages(CrawlProject.open(dir))
    if sum((model, check_model, revoke_model, boundary, bool(yes or no or forget))) > 1:
        raise click.UsageError(
            "these options exclude each other; "
            "give one of --model, --check-model, --revoke-model, --boundary, and labels of URLs"
        )
    if model:
        _label_with_model(crawl, count or QUESTIONS, as_json=as_json)
        return
    labels = {**dict.fromkeys(yes, True), **dict.fromkeys(no, False), **dict.fromkeys(forget, None)}
    session = LabellingSession(crawl, boundary=boundary, topic=topic)
    if labels:
        result = asyncio.run(_submit(session, labels))
    elif revoke_model:
        result = asyncio.run(revoke_model_labels(crawl))
    elif check_model:
        result = asyncio.run(_check_model(crawl, session, count or QUESTIONS))
    elif boundary:
        result = asyncio.run(_ask_at_boundary(crawl, session, min(count or BOUNDARY_QUESTIONS, BOUNDARY_QUESTIONS)))
    else:
        result = asyncio.run(_ask(crawl, session, count or QUESTIONS))
    if as_json:
        echo_json(result.as_json())
    else:
        _show(result)
    if check_model:
        echo(f"Error rate of the model: {asyncio.run(_error_rate(crawl))}.", err=as_json)


def _label_with_model(crawl: CrawlProject, count: int, *, as_json: bool) -> None:
    result, labelling = asyncio.run(label_with_model(crawl, count))
    if as_json:
        echo_json(result.as_json() | {"model": asdict(labelling)})
        return
    _show(result, by_model=True)
    echo(
        f"Model {labelling.model}: asked about {labelling.asked} pages, labelled {labelling.labelled}, "
        f"{labelling.cached} answers from the cache."
    )
    if unusable := labelling.asked - labelling.labelled:
        echo(f"Answers that were neither yes nor no: {unusable}.")
    echo(f"Spent over all runs: {labelling.spending}.")
    echo(f"Error rate of the model: {labelling.errors}.")
    if labelling.stopped:
        echo(f"Stopped early: {labelling.stopped}.", err=True)


async def _check_model(crawl: CrawlProject, session: LabellingSession, count: int) -> LabellingResult:
    await session.begin()
    batch = await check_questions(crawl, count)
    if not batch:
        echo("There is no page to ask about: none has a label of a model alone.", err=True)
    else:
        await _ask_batch(session, batch, 0, len(batch), set())
    return await session.learn()


async def _error_rate(crawl: CrawlProject) -> ErrorRate:
    return error_rate(await read_labels(crawl))


async def _submit(session: LabellingSession, labels: dict[str, bool | None]) -> LabellingResult:
    await session.begin()
    await session.answer(labels)
    return await session.learn()


async def _ask_at_boundary(crawl: CrawlProject, session: LabellingSession, count: int) -> LabellingResult:
    """Ask all questions before the judge is retrained, so that one threshold chooses the pages."""
    await session.begin()
    batch = await questions(crawl, count, boundary=True)
    if not batch:
        echo("There is no page to ask about: none was crawled whose text was kept, or all have labels.", err=True)
    else:
        await _ask_batch(session, batch, 0, len(batch), set())
    return await session.learn()


async def _ask(crawl: CrawlProject, session: LabellingSession, count: int) -> LabellingResult:
    asked, skipped = 0, set[str]()
    await session.begin()
    result = await session.learn()
    while asked < count:
        wanted = min(BATCH, count - asked)
        batch = [each for each in await questions(crawl, wanted + len(skipped)) if each.record.url not in skipped]
        if not batch:
            echo("There is no page left to ask about.", err=True)
            break
        given, continues = await _ask_batch(session, batch[:wanted], asked, count, skipped)
        result = await session.learn() if given else result
        asked += len(batch[:wanted])
        if not continues:
            break
    return result


async def _ask_batch(
    session: LabellingSession, batch: Sequence[Question], asked: int, count: int, skipped: set[str]
) -> tuple[int, bool]:
    """Ask some questions; return the number of answers, and whether to continue."""
    given: list[str] = []
    for number, question in enumerate(batch, start=asked + 1):
        _show_question(question, number, count)
        while (key := _key(first=number == 1)) not in (*KEYS, SKIP, *ENDS):
            if key == BACK and given:
                await session.answer({(last := given.pop()): None})
                echo(f"   label removed: {last}", err=True)
        if key in ENDS:
            return len(given), False
        if key == SKIP:
            skipped.add(question.record.url)
            continue
        echo(f"   {'yes' if KEYS[key] else 'no'}", err=True)
        await session.answer({question.record.url: KEYS[key]})
        given.append(question.record.url)
    return len(given), True


def _key(*, first: bool) -> str:
    """Read one key from the terminal or a pipe; empty at the end of input.

    Raises:
        ConfigError: There is no terminal, and the input is empty.
    """
    if sys.stdin.isatty():
        return click.getchar().lower()
    key = sys.stdin.read(1)
    while key.isspace():
        key = sys.stdin.read(1)
    if first and not key:
        raise ConfigError("label asks on a terminal; elsewhere pipe in y, n and s, or use --yes URL and --no URL")
    return key.lower()


def _show_question(question: Question, number: int, count: int) -> None:
    record = question.record
    echo(err=True)
    echo(f"{number}/{count}  {record.title or '(no title)'}", err=True)
    echo(f"   {record.url}", err=True)
    echo(f"   {question.excerpt}", err=True)
    echo(f"   Relevance {record.relevance:.2f}: {REASONS[question.why]}.", err=True)
    echo("   Is it on topic?  y yes · n no · s skip · u undo · q quit", err=True)


def _show(result: LabellingResult, *, by_model: bool = False) -> None:
    before, after = result.before, result.after
    pages = "Pages with your label" if by_model else "Labelled pages"
    echo(f"Labels stored: {result.labels}. {pages}: {after.labelled}.")
    for each in result.urls:
        if sentence := _sentence(each):
            echo(f"{each.url}: {sentence}.")
    if before.precision is not None or after.precision is not None:
        echo(f"Precision on labelled pages: {_share(before)} → {_share(after)}")
    if result.boundary:
        echo(boundary_sentence(result.boundary))
    if not result.applied:
        echo("The labels are stored, but not applied to all pages yet: the workers will do so.", err=True)
    if not after.queue:
        return
    echo("Head of the queue, with the place of each URL now and before:")
    places = {entry.url: place for place, entry in enumerate(before.queue, start=1)}
    echo_table(
        ["now", "before", "score", "url"],
        [
            (place, str(places.get(entry.url, "new")), entry.score, entry.url)
            for place, entry in enumerate(after.queue, start=1)
        ],
    )


def _sentence(each: LabelledUrl) -> str:
    """Return what happens to a labelled URL; empty when its page was fetched."""
    if each.relevant is None or each.status not in STATUSES:
        return ""
    return STATUSES[each.status] + (f" ({each.reason})" if each.reason else "")


def boundary_sentence(moved: Boundary) -> str:
    """Report what boundary labels changed, in one line."""
    sides = [
        f"{yes} of {count} pages {side} the threshold"
        for count, yes, side in ((moved.below, moved.below_yes, "below"), (moved.above, moved.above_yes, "above"))
        if count
    ]
    found = f"{' and '.join(sides)} were on topic" if sides else "No page was labelled"
    return (
        f"{found}: threshold {moved.threshold:.2f} → {moved.now:.2f}, "
        f"relevant {moved.relevant:,} → {moved.relevant_now:,}"
    )


def _share(labelling_status: LabellingStatus) -> str:
    return "unknown" if labelling_status.precision is None else f"{labelling_status.precision:.0%}"
