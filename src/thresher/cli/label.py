"""thresher label: yes or no, and what that changes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo, echo_json, echo_table
from thresher.errors import ConfigError
from thresher.teaching import Lesson, Question, Standing, Taught, questions

BATCH = 5
"""Answers after which the judge thinks again and new questions are chosen."""
KEYS = {"y": True, "n": False}
SKIP, BACK, QUIT = "s", "u", "q"
REASONS = {
    "likely": "it seems to be about the topic",
    "unsure": "it could be or not",
    "spread": "it is unlike what you were asked before",
}


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--count", type=click.IntRange(min=1), default=20, show_default=True, help="How many questions.")
@click.option("--yes", "yes", metavar="URL", multiple=True, help="Say that this page is about the topic; ask nothing.")
@click.option("--no", "no", metavar="URL", multiple=True, help="Say that it is not.")
@click.option("--forget", metavar="URL", multiple=True, help="Take back what was said of it.")
@click.option("--json", "as_json", is_flag=True, help="Print what changed as JSON.")
def label(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    count: int,
    yes: Sequence[str],
    no: Sequence[str],
    forget: Sequence[str],
    as_json: bool,
) -> None:
    """Say yes or no to pages; the judge learns from it, and the queue gets a new order.

    You are asked about the pages whose answers teach most. One key answers: y yes, n no, s skip, u take the last answer
    back, q quit. Workers that run hear every answer within a second; when none runs, the queue is put in order here.
    """
    crawl = Crawl.open(dir)
    told = {**dict.fromkeys(yes, True), **dict.fromkeys(no, False), **dict.fromkeys(forget, None)}
    taught = asyncio.run(_tell(crawl, told) if told else _ask(crawl, count))
    if as_json:
        echo_json(taught.as_json())
    else:
        _show(taught)


async def _tell(crawl: Crawl, told: dict[str, bool | None]) -> Taught:
    lesson = Lesson(crawl)
    await lesson.begin()
    await lesson.answer(told)
    return await lesson.learn()


async def _ask(crawl: Crawl, count: int) -> Taught:
    if not sys.stdin.isatty():
        raise ConfigError("label asks on a terminal; elsewhere say it by --yes URL and --no URL")
    lesson, asked, skipped = Lesson(crawl), 0, set[str]()
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
        while (key := click.getchar().lower()) not in (*KEYS, SKIP, QUIT, "\x03"):
            if key == BACK and given:
                await lesson.answer({(last := given.pop()): None})
                echo(f"   taken back: {last}", err=True)
        if key in (QUIT, "\x03"):
            return len(given), False
        if key == SKIP:
            skipped.add(question.record.url)
            continue
        echo(f"   {'yes' if KEYS[key] else 'no'}", err=True)
        await lesson.answer({question.record.url: KEYS[key]})
        given.append(question.record.url)
    return len(given), True


def _show_question(question: Question, number: int, count: int) -> None:
    record = question.record
    chance = record.relevance if record.probability is None else record.probability
    echo(err=True)
    echo(f"{number}/{count}  {record.title or '(no title)'}", err=True)
    echo(f"   {record.url}", err=True)
    echo(f"   {question.excerpt}", err=True)
    echo(f"   Asked because {REASONS[question.why]} ({chance:.2f}).  y yes · n no · s skip · u undo · q quit", err=True)


def _show(taught: Taught) -> None:
    before, after = taught.before, taught.after
    echo(f"{_some(taught.labels, 'label')} given, {_some(after.labelled, 'page')} labelled in all.")
    if before.precision is not None or after.precision is not None:
        echo(f"Of those the judge itself calls relevant you said yes to {_share(before)} before, {_share(after)} now.")
    if not taught.heard:
        echo("Nobody has heard them yet; whoever works for this crawl next will.", err=True)
    places = {entry.url: place for place, entry in enumerate(before.queue, start=1)}
    echo_table(
        ["now", "before", "score", "url"],
        [
            (place, str(places.get(entry.url, "new")), entry.score, entry.url)
            for place, entry in enumerate(after.queue, start=1)
        ],
    )


def _share(standing: Standing) -> str:
    return "none" if standing.precision is None else f"{standing.precision:.0%}"


def _some(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
