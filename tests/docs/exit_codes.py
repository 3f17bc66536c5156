"""The page on exit codes: of errors by their classes, of runs by their endings."""

from __future__ import annotations

from collections.abc import Iterator

from thresher.errors import StoreLost, StoreRefused, ThresherError
from thresher.runner.limits import MIN_ATTEMPTS, MIN_SHARE, NOT_UPLOADED, NOTHING_FETCHED, StopReason

ANSWERS = {
    "batch": "damaged pages were left out",
    "doctor": "something that is needed is missing",
    "pull": "segments are missing from the collection",
    "search": "nothing was found",
    "topics find": "nothing was found",
    "seeds": "no page could be proposed",
    "try": "no page could be judged",
    "verify": "something is wrong and was not repaired, or is lost",
    "why": "the URL is unknown to the crawl",
}
"""Commands for which 1 is an answer; a script may ask for it."""

RUNS = f"""\
The exit code states whether the requested work was done. A limit that is reached is success, so `thresher run … &&
thresher export …` works. How a run ended is in its closing line, and as `ended` with a code and words in
`run --json` and `status --json`.

Nothing, or almost nothing, could be fetched ({NOTHING_FETCHED}) means one of these:

- the run brought no page, and URLs failed in it or wait for hosts that do not answer or want to be left alone;
- the crawl has no page at all, and URLs failed in an earlier run;
- at least {MIN_ATTEMPTS} URLs were finished in the run, and less than {MIN_SHARE:.0%} of them brought a page.

A run that starts with its limit of pages already reached ends with 0. So does a run of a finished crawl with nothing
left to fetch. In a refresh an unchanged page counts as fetched. The summary lists why URLs failed.

Pages that wait for their upload ({NOT_UPLOADED}) are safe on this machine, but not in the collection: the object
storage did not answer or refused them. The summary has their number and the cause. The next run uploads them, or
`thresher verify --repair`. A run that its user stopped, that could fetch nothing, or that ended with an error keeps
the code of that.

`thresher join` ends with 0 when its crawl has ended, whatever ended it, unless the whole crawl could fetch nothing or
pages of its machine wait for their upload. A machine that a signal ended alone ends with 11, or with 13 after a second
signal. `thresher stop` ends a crawl on many machines with 0 on each. So a restart policy can tell: 0 is the end of
the crawl, and 4 needs a person. After anything else the same command continues: [operate a
deployment](../howto/operate.md#exit-codes-and-restarts).

Up to version 0.1.0 the page limit ended a run with 14 and the time limit with 15. A run that could fetch nothing
ended with 0.

Known errors print what happened, why, and what to do. `thresher --debug COMMAND` prints a traceback instead. Any other
error is a traceback and ends with 1; please report it.""".splitlines()


def exit_codes_page() -> str:
    """Write the page."""
    lines = ["# Exit codes", "", "Written by `make docs` from `thresher.errors` and `thresher.runner.limits`.", ""]
    lines += ["| code | meaning | comes from |", "|---|---|---|"]
    lines += [f"| {code} | {meaning} | {source} |" for code, meaning, source in sorted(_rows())]
    return "\n".join([*lines, *_answers(), ""])


def _rows() -> Iterator[tuple[int, str, str]]:
    yield 0, "done", "every command"
    yield 2, "wrong use of a command", "every command"
    for kind in _tree(ThresherError):
        if kind is ThresherError or "exit_code" in vars(kind):
            names = ", ".join(f"`{each.__name__}`" for each in _tree(kind) if each.exit_code == kind.exit_code)
            yield kind.exit_code, _FOR_KINDS.get(kind, _FOR_ERRORS[kind.exit_code]), names
    yield NOT_UPLOADED, "the work was done, but pages wait on this machine for their upload", "`run`, `join`"
    yield NOTHING_FETCHED, "nothing, or almost nothing, could be fetched", "`run`, `join`"
    for stop_reason in StopReason:
        command = "`run`, `join`" if stop_reason.exit_code else "`run`"
        yield stop_reason.exit_code, stop_reason.message, command


_FOR_ERRORS = {1: "error", 3: "the disk is full", 4: "bad configuration", 8: "the store cannot be reached"}
_FOR_KINDS: dict[type[ThresherError], str] = {
    StoreLost: "the store has lost the crawl",
    StoreRefused: "the store refuses us: the password is missing or wrong, or it is a read-only replica",
}


def _tree(kind: type[ThresherError]) -> Iterator[type[ThresherError]]:
    yield kind
    for below in kind.__subclasses__():
        if below.__module__ == ThresherError.__module__:  # what a test or a plug-in derives is none of ours
            yield from _tree(below)


def _answers() -> Iterator[str]:
    yield from ("", *RUNS, "", "## When 1 is an answer", "", "| command | ends with 1 when |", "|---|---|")
    yield from (f"| `{command}` | {words} |" for command, words in ANSWERS.items())
