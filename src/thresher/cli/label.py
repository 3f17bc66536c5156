"""thresher label: yes or no to pages, and what that changes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo, echo_json, echo_table
from thresher.errors import ConfigError
from thresher.labelled_urls import LabelledUrl, UrlStatus
from thresher.teaching import BOUNDARY_QUESTIONS, Boundary, Lesson, Question, Standing, Taught, questions

QUESTIONS = 20
BATCH = 5
"""Answers after which the judge is retrained and new questions are chosen."""
KEYS = {"y": True, "n": False}
SKIP, BACK, QUIT = "s", "u", "q"
ENDS = (QUIT, "\x03", "")
"""Keys that end the questions: quit, Ctrl-C, and the end of what is piped in."""
REASONS = {
    "likely": "probably on topic",
    "unsure": "uncertain",
    "spread": "different from the pages asked about before",
    "boundary": "near the threshold",
}
STATUSES = {
    UrlStatus.QUEUED: "not crawled yet: queued",
    UrlStatus.WAITING: "not crawled yet: it is in the queue",
    UrlStatus.UNKNOWN: "not crawled; the label will count when the page is fetched",
    UrlStatus.NO_PAGE: "it was tried and brought no page",
}


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--count", type=click.IntRange(min=1), help="How many questions (20; 10 with --boundary, at most).")
@click.option("--boundary", is_flag=True, help="Ask about pages near the threshold; report how it moves.")
@click.option("--yes", "yes", metavar="URL", multiple=True, help="Label this page as on topic; ask nothing.")
@click.option("--no", "no", metavar="URL", multiple=True, help="Label it as off topic.")
@click.option("--forget", metavar="URL", multiple=True, help="Remove its label.")
@click.option("--json", "as_json", is_flag=True, help="Print what changed as JSON.")
def label(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    count: int | None,
    boundary: bool,
    yes: Sequence[str],
    no: Sequence[str],
    forget: Sequence[str],
    as_json: bool,
) -> None:
    """Label pages as on topic or not; the judge is retrained, and verdicts and queue are updated.

    Without --yes, --no and --forget you are asked about the pages whose labels teach most. One key answers: y yes,
    n no, s skip, u undo the last answer, q quit; the keys may also be piped in. Running workers apply every answer
    within a second; when none runs, this command does it.

    With --boundary you are asked about up to ten pages near the threshold, on both sides of it.

    A URL with --yes that was never crawled is queued like a seed; its label counts when the page is fetched.
    """
    crawl = Crawl.open(dir)
    told = {**dict.fromkeys(yes, True), **dict.fromkeys(no, False), **dict.fromkeys(forget, None)}
    lesson = Lesson(crawl, boundary=boundary)
    if told:
        taught = asyncio.run(_tell(lesson, told))
    elif boundary:
        taught = asyncio.run(_ask_at_boundary(crawl, lesson, min(count or BOUNDARY_QUESTIONS, BOUNDARY_QUESTIONS)))
    else:
        taught = asyncio.run(_ask(crawl, lesson, count or QUESTIONS))
    if as_json:
        echo_json(taught.as_json())
    else:
        _show(taught)


async def _tell(lesson: Lesson, told: dict[str, bool | None]) -> Taught:
    await lesson.begin()
    await lesson.answer(told)
    return await lesson.learn()


async def _ask_at_boundary(crawl: Crawl, lesson: Lesson, count: int) -> Taught:
    """Ask all questions before the judge is retrained: the pages are chosen by one threshold."""
    await lesson.begin()
    batch = await questions(crawl, count, boundary=True)
    if not batch:
        echo("There is no page to ask about: none was crawled whose text was kept, or all have labels.", err=True)
    else:
        await _ask_batch(lesson, batch, 0, len(batch), set())
    return await lesson.learn()


async def _ask(crawl: Crawl, lesson: Lesson, count: int) -> Taught:
    asked, skipped = 0, set[str]()
    await lesson.begin()
    taught = await lesson.learn()
    while asked < count:
        wanted = min(BATCH, count - asked)
        batch = [each for each in await questions(crawl, wanted + len(skipped)) if each.record.url not in skipped]
        if not batch:
            echo("There is no page left to ask about.", err=True)
            break
        given, goes_on = await _ask_batch(lesson, batch[:wanted], asked, count, skipped)
        taught = await lesson.learn() if given else taught
        asked += len(batch[:wanted])
        if not goes_on:
            break
    return taught


async def _ask_batch(
    lesson: Lesson, batch: Sequence[Question], asked: int, count: int, skipped: set[str]
) -> tuple[int, bool]:
    """Ask some questions; return how many answers came, and whether to go on."""
    given: list[str] = []
    for number, question in enumerate(batch, start=asked + 1):
        _show_question(question, number, count)
        while (key := _key(first=number == 1)) not in (*KEYS, SKIP, *ENDS):
            if key == BACK and given:
                await lesson.answer({(last := given.pop()): None})
                echo(f"   label removed: {last}", err=True)
        if key in ENDS:
            return len(given), False
        if key == SKIP:
            skipped.add(question.record.url)
            continue
        echo(f"   {'yes' if KEYS[key] else 'no'}", err=True)
        await lesson.answer({question.record.url: KEYS[key]})
        given.append(question.record.url)
    return len(given), True


def _key(*, first: bool) -> str:
    """Read one key, from the terminal or from what is piped in; empty at its end.

    Raises:
        ConfigError: There is no terminal, and nothing is piped in.
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


def _show(taught: Taught) -> None:
    before, after = taught.before, taught.after
    echo(f"Labels stored: {taught.labels}. Labelled pages: {after.labelled}.")
    for each in taught.urls:
        if sentence := _sentence(each):
            echo(f"{each.url}: {sentence}.")
    if before.precision is not None or after.precision is not None:
        echo(f"Precision on labelled pages: {_share(before)} → {_share(after)}")
    if taught.boundary:
        echo(boundary_sentence(taught.boundary))
    if not taught.heard:
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
    """Say what is special about a labelled URL; nothing when its page was fetched."""
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


def _share(standing: Standing) -> str:
    return "unknown" if standing.precision is None else f"{standing.precision:.0%}"
