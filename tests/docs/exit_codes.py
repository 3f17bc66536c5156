"""The page on exit codes: of errors by their classes, of runs by their endings."""

from __future__ import annotations

from collections.abc import Iterator

from thresher.engine.progress import Ending
from thresher.errors import ThresherError

ANSWERS = {
    "doctor": "something that is needed is missing",
    "search": "nothing was found",
    "topics find": "nothing was found",
    "try": "no page could be judged",
    "verify": "something is wrong and was not mended, or is lost",
    "why": "the URL is unknown to the crawl",
}
"""Commands for which 1 is an answer; a script may ask for it."""


def exit_codes_page() -> str:
    """Write the page."""
    lines = ["# Exit codes", "", "Written by `make docs` from `thresher.errors` and `thresher.engine.progress`.", ""]
    lines += ["| code | meaning | comes from |", "|---|---|---|"]
    lines += [f"| {code} | {meaning} | {source} |" for code, meaning, source in sorted(_rows())]
    return "\n".join([*lines, *_answers(), ""])


def _rows() -> Iterator[tuple[int, str, str]]:
    yield 0, "done", "every command"
    yield 2, "wrong use of a command", "every command"
    for kind in _tree(ThresherError):
        if kind is ThresherError or "exit_code" in vars(kind):
            names = ", ".join(f"`{each.__name__}`" for each in _tree(kind) if each.exit_code == kind.exit_code)
            yield kind.exit_code, _FOR_ERRORS[kind.exit_code], names
    for ending in Ending:
        command = "`run`, `work`" if ending in (Ending.STOPPED, Ending.FORCED) else "`run`"
        yield ending.exit_code, ending.words, command


_FOR_ERRORS = {1: "error", 3: "the disk is full", 4: "bad configuration", 8: "the store cannot be reached"}


def _tree(kind: type[ThresherError]) -> Iterator[type[ThresherError]]:
    yield kind
    for below in kind.__subclasses__():
        if below.__module__ == ThresherError.__module__:  # what a test or a plug-in derives is none of ours
            yield from _tree(below)


def _answers() -> Iterator[str]:
    yield from (
        "",
        "`thresher work` ends with 0 when its crawl has ended, whatever ended it.",
        "",
        "## When 1 is an answer",
    )
    yield from ("", "| command | ends with 1 when |", "|---|---|")
    yield from (f"| `{command}` | {words} |" for command, words in ANSWERS.items())
