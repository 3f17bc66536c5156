"""E7: the experiment of LPE, section 6.2.2: is ITFIDF better than TFIDF?

No crawl is run: the rows are those of `itfidf_runs`, texts classified by naive Bayes.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from thresher_lab.reproduce.claims import ClaimResult, Row, Verdict, untestable
from thresher_lab.reproduce.tables import ExperimentReport, Table, with_interval
from thresher_lab.reproduce.trial_runner import Progress
from thresher_lab.statistics.significance import Interval, bootstrap_mean
from thresher_papers.judges.trained.learner import require_scikit_learn

PAPER = {"reuters": 5.3, "reuters-binary": 5.3, "newsgroups-a": 5.6, "newsgroups-b": 5.6, "dmoz": 1.1}
"""Points of F1 that ITFIDF gains, by the corpus that replaces the paper's."""
CORPORA = "five corpora"


def e7_run(path: Path, progress: Progress) -> list[str]:
    """Classify the texts of all corpora; return what could not be run."""
    from thresher_lab.reproduce.itfidf_runs import missing_splits, run_corpora  # here: they need scikit-learn

    if "THRESHER_WEBS" not in os.environ:
        return ["not available: THRESHER_WEBS must name the folder with the corpora"]
    require_scikit_learn("experiment E7")
    counted = itertools.count(1)
    try:
        total = sum(len(todo) for _, todo in missing_splits(path))
    except OSError as error:
        return [f"not available: the corpora must be in the folder that THRESHER_WEBS names ({error})"]
    run_corpora(path, progress=lambda: progress(next(counted), total))
    return []


def e7_report(rows: Sequence[Row]) -> ExperimentReport:
    """Differences of macro F1, with intervals over classes."""
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    plain = {corpus: _gain(rows, corpus, "ITFIDF", "TFIDF") for corpus in corpora}
    size = {corpus: _gain(rows, corpus, "TFIDF x mean IG", "TFIDF") for corpus in corpora}
    tuned = {corpus: _gain(rows, corpus, "ITFIDF, tuned", "TFIDF, tuned") for corpus in corpora}
    table = Table(
        title="Macro F1 of ITFIDF minus TFIDF, in points [95 % over classes]",
        columns=["corpus", "paper", "ITFIDF - TFIDF", "size of the gain alone", "both tuned"],
        rows=[
            [corpus, PAPER.get(corpus), *(with_interval(gains[corpus], sign="+") for gains in (plain, size, tuned))]
            for corpus in corpora
        ],
    )
    findings = [
        _finding("ITFIDF is better than TFIDF, same pruning and model", plain),
        _finding("ITFIDF is better when smoothing is chosen on training data for both", tuned),
        untestable("ITFIDF gains 2.0 points on RCV1", "RCV1", "the corpus is not at hand"),
    ]
    notes = ("The gain makes vectors several times longer, so that a smoothing of 1 weighs less: this alone is the "
             "fourth column.",)  # fmt: skip
    return ExperimentReport(name="E7", title="ITFIDF against TFIDF", tables=[table], findings=findings, notes=notes)


def _gain(rows: Sequence[Row], corpus: str, one: str, other: str) -> Interval:
    found = [row["f1"] for row in rows if row["corpus"] == corpus]
    classes = len(found[0][one])
    means = [sum(f1[one][number] - f1[other][number] for f1 in found) / len(found) for number in range(classes)]
    return bootstrap_mean([100 * mean for mean in means])


def _finding(claim: str, gains: Mapping[str, Interval]) -> ClaimResult:
    known = {corpus: gain for corpus, gain in gains.items() if corpus in PAPER}
    if not known:
        return untestable(claim, CORPORA, "no rows")
    sure = [gain.low > 0 for gain in known.values()]
    above = sum(gain.mean > 0 for gain in known.values())
    in_part = any(sure) and 2 * above > len(sure)
    verdict = Verdict.HOLDS if all(sure) else Verdict.IN_PART if in_part else Verdict.FAILS
    reason = ", ".join(f"{corpus} {gain.mean:+.1f}" for corpus, gain in known.items())
    reason = f"{reason}; surely above 0 on {sum(sure)} of {len(sure)}"
    return ClaimResult(claim=claim, place=CORPORA, verdict=verdict, reason=reason)
