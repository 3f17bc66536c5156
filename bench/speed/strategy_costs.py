"""What does a strategy cost per page? ``python -m bench.speed.strategy_costs`` (needs THRESHER_WEBS).

Every strategy crawls the same dev topics of wikispeedia and of w3school_zh; pages are parsed anew, as a crawl would.
Times are the processor's, strategies take turns within one process, and what counts is the ratio to breadth-first.
"""

from __future__ import annotations

import argparse
import statistics

from thresher import registry
from thresher.cli.output import echo_table
from thresher_lab.reproduce.trial_runner import ExperimentRunner
from thresher_lab.reproduce.trials import TIME, Trial
from thresher_lab.simulation.topic_splits import split

WEBS = ("wikispeedia", "w3school_zh")
BASE = "breadth-first"
LOW_THRESHOLD = {"threshold": 0.1}
"""By default these two stop after a few pages."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=2)
    parser.add_argument("--pages", type=int, default=200)
    options = parser.parse_args()
    for web in WEBS:
        stage = ExperimentRunner.open(web)
        spent: dict[str, list[tuple[float, float]]] = {}
        for topic in split(web, "dev")[: options.topics]:
            for name in registry.known("strategy"):
                given = LOW_THRESHOLD if name in ("lpe", "cbp") else {}
                trial = Trial(
                    web=web, topic=topic, strategy=name, seed_set=0, pages=options.pages, parameters=given,
                    training=0.3, measure=TIME,
                )  # fmt: skip
                row = stage.run(trial)
                spent.setdefault(name, []).append((row["ms_per_page"], row["scoring_ms_per_page"]))
        means = {name: [statistics.mean(column) for column in zip(*rows, strict=True)] for name, rows in spent.items()}
        base = means[BASE]
        lines = [
            [name, f"{total:.2f}", f"{total / base[0]:.2f}", f"{scoring:.2f}"]
            for name, (total, scoring) in sorted(means.items(), key=lambda each: each[1][0])
        ]
        print(f"{web}, {options.topics} topics, {options.pages} pages")
        echo_table(["strategy", "ms per page", f"× {BASE}", "of it scoring and judging"], lines)


if __name__ == "__main__":
    main()
