"""Row V1: something is destroyed in a crawl, and verify must find it, name it and repair it, or say that it is lost.

Each loss is planted in a fresh copy of a prepared crawl. Then come the commands of a user: ``verify``, ``verify
--repair``, ``run``, and ``verify`` again. A loss is repaired when every page of the site is in ``export`` afterwards,
and, where there is a collection, in a copy of it that ``pull`` makes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from testing.commands import called
from testing.crawl_process import REPOSITORY
from tests.faults.planted_crawls import KINDS, PreparedCrawls, SiteCrawl, prepared_crawls
from tests.faults.planted_losses import LOSSES, Loss
from tests.faults.table import Outcome

MAX_ROUNDS = 3
"""How often a crawl is repaired and run: pages that nothing names can be found only after a run has found links."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a ``verify`` printed."""

    code: int
    findings: Sequence[dict[str, Any]] = ()
    words: str = ""

    def names(self, parts: Sequence[str]) -> bool:
        """Return whether something is called wrong or lost, and one of these names is in it."""
        bad = [finding for finding in self.findings if finding["state"] in ("wrong", "lost")]
        printed = json.dumps(bad, ensure_ascii=False)
        return self.code == 1 and any(part in printed for part in parts)

    @property
    def reports_lost(self) -> bool:
        """Whether something is called lost."""
        return self.code == 1 and any(finding["state"] == "lost" for finding in self.findings)

    def __str__(self) -> str:
        short = [f"{each['state']} {each['part']} {each['number']} {each['words']}" for each in self.findings]
        return f"exit code {self.code}: {'; '.join(short) or self.words[-300:]}"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of a loss.

    Args:
        is_found: Whether the first ``verify`` ended with 1 and named it.
        missing: Pages that are not in ``export`` in the end, nor in a copy of the collection.
    """

    loss: Loss
    has_changed: bool
    is_found: bool
    missing: int
    run_code: int
    run_words: str
    reports: Sequence[Report]

    @property
    def is_repaired(self) -> bool:
        """Whether all is there again, and ``verify`` says so."""
        return self.missing == 0 and self.run_code == 0 and self.reports[-1].code == 0

    @property
    def is_reported_lost(self) -> bool:
        """Whether no page is missing, and every ``verify`` says that something else is lost."""
        return self.missing == 0 and self.run_code == 0 and self.reports[0].code == 1 and self.reports[-1].reports_lost

    @property
    def held(self) -> bool:
        """Whether the promise was kept."""
        ended_well = self.is_repaired if self.loss.is_repairable else self.is_reported_lost
        return self.has_changed and self.is_found and ended_well

    def __str__(self) -> str:
        steps = ["verify", *["repair", "verify"] * (len(self.reports) // 2)]
        lines = [f"  {step}: {report}" for step, report in zip(steps, self.reports, strict=True)]
        first = (
            f"{self.loss.kind}: {self.loss.name}: {'held' if self.held else 'BROKEN'}; found {self.is_found}, "
            f"missing {self.missing}, run {self.run_code} {self.run_words}"
        )
        return "\n".join([first, *lines])


def verify(crawl: SiteCrawl, *options: str) -> Report:
    """Call ``verify``; one that ends with an error has found nothing."""
    try:
        done = crawl.call("verify", *options, "--json")
    except Exception as error:  # a user would see a traceback
        return Report(code=-1, words=f"{type(error).__name__}: {error}")
    if not done.stdout.startswith("{"):
        return Report(code=done.returncode, words=done.stderr)
    return Report(code=done.returncode, findings=json.loads(done.stdout)["findings"], words=done.stderr)


def planted(crawls: PreparedCrawls, loss: Loss) -> Verdict:
    """Plant one loss, and do what a user would."""
    with crawls.copy_of(loss.kind) as crawl:
        before = crawl.state()
        taken = loss.plant(crawl)
        has_changed = crawl.state() != before
        reports, rounds, code = [verify(crawl)], 0, 0
        while rounds < MAX_ROUNDS and (rounds == 0 or any(map(_is_wrong, reports[-1].findings))):
            reports.append(verify(crawl, "--repair"))
            code = 0 if crawl.kind.wide else crawl.run()
            reports.append(verify(crawl))
            rounds += 1
        return Verdict(
            loss=loss,
            has_changed=has_changed,
            is_found=reports[0].names(taken.names),
            missing=_unknown(crawl, taken.urls) if crawl.kind.wide else missing(crawl),
            run_code=code,
            run_words=crawl.words() if code else "",
            reports=reports,
        )


def _is_wrong(finding: dict[str, Any]) -> bool:
    return finding["state"] == "wrong"


def missing(crawl: SiteCrawl) -> int:
    """Return how many pages of the site are not in the export, or not in the collection."""
    urls = crawl.site_urls()
    lost = urls - _exported(crawl.folder)
    if crawl.kind.collection:
        called("pull", crawl.collection, crawl.root / "gathered", folder=REPOSITORY)
        lost |= urls - _exported(crawl.root / "gathered")
    return len(lost)


def _exported(folder: object) -> set[str]:
    done = called("export", folder, "-f", "jsonl", "--duplicates", folder=REPOSITORY)
    return {json.loads(line)["url"] for line in done.stdout.splitlines()} if not done.returncode else set()


def _unknown(crawl: SiteCrawl, urls: Iterable[str]) -> int:
    """Return how many URLs are not in the frontier."""

    async def unknown(frontier: Any) -> int:
        return sum([await frontier.find(url) is None for url in urls])

    return int(crawl.on_frontier(unknown))


def untouched(crawls: PreparedCrawls, kind: str) -> Report:
    """Verify a copy to which nothing was done."""
    with crawls.copy_of(kind) as crawl:
        return verify(crawl)


def v1() -> Outcome:
    """Plant all losses; and none in a copy of each kind."""
    with prepared_crawls() as crawls:
        clean = sum(untouched(crawls, kind).code == 0 for kind in KINDS)
        verdicts = []
        for loss in LOSSES:
            verdicts.append(planted(crawls, loss))
            print(verdicts[-1], file=sys.stderr, flush=True)
    repairable = [each for each in verdicts if each.loss.is_repairable]
    others = [each for each in verdicts if not each.loss.is_repairable]
    return Outcome(
        held=clean == len(KINDS) and all(each.held for each in verdicts),
        figure=(
            f"{len(verdicts)} planted: found {sum(each.is_found for each in verdicts)}; repairable {len(repairable)}, "
            f"repaired and fetched again {sum(each.is_repaired for each in repairable)}; of the other {len(others)} "
            f"reported as lost {sum(each.is_reported_lost for each in others)}; untouched: {clean} of {len(KINDS)} "
            "crawls without a finding"
        ),
    )
