"""thresher label: label pages one at a time, and show what each answer changes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap

import click

from thresher.assembly import build_judge
from thresher.cli.output import CRAWL, echo, echo_json, echo_table, json_option
from thresher.cli.stores import with_all_pages
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.feedback.model_labels import ErrorRate, error_rate
from thresher.judges.base import Learner
from thresher.locale.translation import COMMA, SEMICOLON, Translatable, _, joined, localized
from thresher.operations.labelled_urls import LabelledUrl, UrlStatus
from thresher.operations.labelling import (
    ChangedPage,
    LabellingResult,
    LabellingSession,
    Question,
    add_labels,
    check_questions,
    labelling_session,
    questions,
)
from thresher.operations.model_labelling import label_with_model, revoke_model_labels

QUESTIONS, MODEL_QUESTIONS = 10, 20
KEYS = {"y": True, "n": False}
SKIP, BACK, QUIT = "s", "u", "q"
ENDS = (QUIT, "")
"""Keys that end the questions: quit, and the end of input."""
EXCERPT_LINES = 4
TITLE_CHARACTERS = 60
EXCLUSIVE = _(
    "these options exclude each other; give one of --model, --check-model, --revoke-model, and labels of URLs"
)
NO_PAGE = _("There is no page to ask about: none was crawled whose text was kept, or all have labels.")
NO_MODEL_LABEL = _("There is no page to ask about: none has a label of a model alone.")
STATUSES = {
    UrlStatus.QUEUED: _("not crawled yet: queued"),
    UrlStatus.WAITING: _("not crawled yet: it is in the queue"),
    UrlStatus.UNKNOWN: _("not crawled; the label will count when the page is fetched"),
    UrlStatus.NO_PAGE: _("it was tried, but has no page"),
}


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--count", type=click.IntRange(min=1), help="How many questions (10; 20 with --model and --check-model).")
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
        "before": "Labelled URLs, relevant pages and head of the queue, before.",
        "after": "The same after.",
        "now_relevant": "Pages that became relevant, three at most, without those that were labelled.",
        "no_longer": "Pages that are no longer relevant, likewise.",
        "urls": "The labelled URLs, with what happens to each.",
        "model": "Only with --model: what the model was asked, labels, spending, error rate.",
    },
)
def label(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    count: int | None,
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

    Without --yes, --no and --forget you are asked about one page at a time: the one nearest to where the judge, which
    has learned from all earlier answers, draws the line. One key answers: y yes, n no, s skip, u undo the last
    answer, q quit; the keys may also be piped in. After each answer you see which verdicts it changed. Every answer is
    stored before the next question. Running workers apply it within a second; when none runs, this command does it.

    In a crawl of several topics a label is for all of them, unless --topic names one.

    A URL with --yes that was never crawled is queued like a seed; its label counts when the page is fetched.

    With --model a language model is asked in place of you: the one of model_labels in topic.yaml, within its budget.
    Its labels count less than yours, yours overrule them, and --revoke-model removes them.

    \b
    Examples:
      thresher label solar --count 10
      thresher label solar --yes https://example.org/cells --no https://example.org/tea
    """
    crawl = with_all_pages(CrawlSetup.open(dir))
    if sum((model, check_model, revoke_model, bool(yes or no or forget))) > 1:
        raise click.UsageError(localized(EXCLUSIVE))
    if model:
        _label_with_model(crawl, count or MODEL_QUESTIONS, as_json=as_json)
        return
    labels = {**dict.fromkeys(yes, True), **dict.fromkeys(no, False), **dict.fromkeys(forget, None)}
    crawl.check_topic(topic)
    errors: ErrorRate | None = None
    if labels:
        result = asyncio.run(add_labels(crawl, labels, topic=topic))
    elif revoke_model:
        result = asyncio.run(revoke_model_labels(crawl))
    elif check_model:
        result, errors = asyncio.run(_check_model(crawl, topic, count or MODEL_QUESTIONS))
    else:
        result = asyncio.run(_ask_nearest(crawl, count or QUESTIONS, topic))
    if as_json:
        echo_json(result.as_json())
    else:
        _show(result, queue=bool(labels) or revoke_model)
    if errors:
        echo(_("Error rate of the model: {errors}.", errors=str(errors)), err=as_json)


def _label_with_model(crawl: CrawlSetup, count: int, *, as_json: bool) -> None:
    result, labelling = asyncio.run(label_with_model(crawl, count))
    if as_json:
        echo_json(result.as_json() | {"model": asdict(labelling)})
        return
    _show(result, by_model=True)
    counts = _(
        "Model {model}: asked about {asked} pages, labelled {labelled}, {cached} answers from the cache.",
        model=labelling.model,
        asked=labelling.asked,
        labelled=labelling.labelled,
        cached=labelling.cached,
    )
    echo(counts)
    if unusable := labelling.asked - labelling.labelled:
        echo(_("Answers that were neither yes nor no: {number}.", number=unusable))
    echo(_("Spent over all runs: {spending}.", spending=str(labelling.spending)))
    echo(_("Error rate of the model: {errors}.", errors=str(labelling.errors)))
    if labelling.stopped:
        echo(_("Stopped early: {reason}.", reason=labelling.stopped), err=True)


async def _check_model(crawl: CrawlSetup, topic: str, count: int) -> tuple[LabellingResult, ErrorRate]:
    async with labelling_session(crawl, topic=topic) as session:
        batch = await check_questions(crawl, await session.labels(), count)

        async def following(without: Collection[str]) -> Question | None:
            return next((question for question in batch if question.record.url not in without), None)

        result = await _ask(session, len(batch) or count, following, NO_MODEL_LABEL)
        return result, error_rate(await session.labels())


async def _ask_nearest(crawl: CrawlSetup, count: int, topic: str = "") -> LabellingResult:
    async with labelling_session(crawl, topic=topic) as session:

        async def following(without: Collection[str]) -> Question | None:
            return next(iter(await session.questions(1, without=without)), None)

        return await _ask(session, count, following, NO_PAGE)


NextQuestion = Callable[[Collection[str]], Awaitable[Question | None]]
"""Returns the next page to ask about, without these URLs; None when there is none."""


async def _ask(session: LabellingSession, count: int, following: NextQuestion, nothing: str) -> LabellingResult:
    """Ask about one page at a time; the judge learns from each answer before the next page is chosen."""
    given: dict[str, bool | None] = {}  # in the order of the questions; None for a skipped page
    while len(given) < count:
        question = await following(given)
        if question is None:
            echo(_("There is no page left to ask about.") if given else nothing, err=True)
            break
        _show_question(question, len(given) + 1, count)
        key, url = _answer_key(first=not given), question.record.url
        if key in ENDS:
            break
        if key == SKIP:
            given[url] = None
        elif key in KEYS:
            given[url] = KEYS[key]
            await _store(session, url, KEYS[key])
        elif given:
            last, label = given.popitem()
            if label is not None:
                await _store(session, last, None)
    return session.total()


async def _store(session: LabellingSession, url: str, label: bool | None) -> None:
    """Store an answer, or withdraw it; print what that changed."""
    await session.answer({url: label})
    answer = _("label removed: {url}", url=url) if label is None else _("yes") if label else _("no")
    echo(f"   {localized(answer)}", err=True)
    result = await session.learn()
    changes = _changes(result) if result.applied else _("stored; the workers have not applied it yet")
    echo(f"   {localized(changes)}", err=True)


def _answer_key(*, first: bool) -> str:
    while (key := _key(first=first)) not in (*KEYS, SKIP, BACK, *ENDS):
        pass
    return key


def _key(*, first: bool) -> str:
    """Read one key from the terminal or a pipe; empty at the end of input and after Ctrl-C.

    Raises:
        ConfigError: There is no terminal, and the input is empty.
    """
    if sys.stdin.isatty():
        try:
            return click.getchar()[:1].lower()  # a key that was pressed twice counts once
        except (KeyboardInterrupt, EOFError):
            return ""
    key = sys.stdin.read(1)
    while key.isspace():
        key = sys.stdin.read(1)
    if first and not key:
        raise ConfigError(_("label asks on a terminal; elsewhere pipe in y, n and s, or use --yes URL and --no URL"))
    return key.lower()


def _show_question(question: Question, number: int, count: int) -> None:
    record, width = question.record, max(get_terminal_size().columns - 4, 20)
    echo(err=True)
    place = localized(_("rank {rank:,} of {pages:,}", rank=question.rank, pages=question.pages))
    echo(f"{number}/{count}  {_title(record.url, record.title)}  ({place})", err=True)
    echo(f"   {record.url}", err=True)
    for line in wrap(question.excerpt, width)[:EXCERPT_LINES]:
        echo(f"   {line}", err=True)
    echo(_("   Is it on topic?  y yes · n no · s skip · u undo · q quit"), err=True)


def _show(result: LabellingResult, *, by_model: bool = False, queue: bool = True) -> None:
    stored, labelled = result.labels, result.after.labelled
    if by_model:
        echo(_("Labels stored: {stored}. Pages with your label: {labelled}.", stored=stored, labelled=labelled))
    else:
        echo(_("Labels stored: {stored}. Labelled pages: {labelled}.", stored=stored, labelled=labelled))
    for each in result.urls:
        if sentence := _sentence(each):
            echo(_("{url}: {sentence}.", url=each.url, sentence=sentence))
    if not result.applied:
        echo(_("The labels are stored, but not applied to all pages yet: the workers will do so."), err=True)
    elif result.labels:
        echo(_("{changes}.", changes=_changes(result).capitalized()))
    if queue and result.after.queue:
        _show_queue(result)


def _changes(result: LabellingResult) -> Translatable:
    """Return how many pages are relevant, before and after, and some of those whose verdict changed."""
    before, after = result.before.relevant, result.after.relevant
    parts = [_("relevant {before:,} → {after:,}", before=before, after=after)]
    if result.now_relevant:
        parts.append(_("now called relevant: {titles}", titles=_titles(result.now_relevant)))
    if result.no_longer:
        parts.append(_("no longer: {titles}", titles=_titles(result.no_longer)))
    return joined(SEMICOLON, parts)


def _titles(pages: Sequence[ChangedPage]) -> Translatable:
    return joined(COMMA, [_title(page.url, page.title) for page in pages])


def _title(url: str, title: str) -> str:
    title = " ".join(title.split()) or url
    return title if len(title) <= TITLE_CHARACTERS else f"{title[: TITLE_CHARACTERS - 1].rstrip()}…"


def _show_queue(result: LabellingResult) -> None:
    echo(_("Head of the queue, with the place of each URL now and before:"))
    places = {entry.url: place for place, entry in enumerate(result.before.queue, start=1)}
    echo_table(
        [_("now"), _("before"), _("score"), _("url")],
        [
            (place, str(places.get(entry.url, _("new"))), entry.score, entry.url)
            for place, entry in enumerate(result.after.queue, start=1)
        ],
    )


def _sentence(each: LabelledUrl) -> str:
    """Return what happens to a labelled URL; empty when its page was fetched."""
    if each.relevant is None or each.status not in STATUSES:
        return ""
    status = STATUSES[each.status]
    return _("{status} ({reason})", status=status, reason=each.reason) if each.reason else status


def offer_questions(crawl: CrawlSetup) -> None:
    """Offer questions to the user of a terminal; never in scripts and CI, nor for a judge that does not learn."""
    is_terminal = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    if not is_terminal or os.environ.get("CI") or not isinstance(build_judge(crawl), Learner):
        return
    if not asyncio.run(_has_question(crawl)):
        return
    try:
        if not click.confirm(localized(_("Ten answers make the count surer. Answer now?")), err=True):
            return
    except click.Abort:  # Ctrl-C is a no; the run was done
        echo(err=True)
        return
    _show(asyncio.run(_ask_nearest(crawl, QUESTIONS)), queue=False)


async def _has_question(crawl: CrawlSetup) -> bool:
    async with crawl.connect() as connected:
        labels, _ = await connected.labels.read()
    return bool(await questions(crawl, labels, 1))
