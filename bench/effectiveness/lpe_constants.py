"""Which threshold of LPE finds most, and does demotion beat dropping? ``python -m bench.effectiveness.lpe_constants``.

Needs THRESHER_WEBS. The settings of E8 (three seeds, true verdicts, 30 example pages) on dev topics; test topics are
not touched.
"""

from __future__ import annotations

from bench.effectiveness.dev_sweep import parse_arguments, print_found, sweep
from thresher_lab.reproduce.plans import TrialSettings
from thresher_lab.simulation.comparison_plan import Contender

NAME = "lpe"
THRESHOLDS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02)
DEMOTED = (0.5, 0.2, 0.02)
"""Without dropping, a threshold only decides whether a block or a link's own words count."""


def contenders() -> list[Contender]:
    """List the thresholds, with and without dropping, and two baselines for scale."""
    dropping = [Contender(strategy=NAME, parameters={"threshold": value}) for value in THRESHOLDS]
    demoting = [Contender(strategy=NAME, parameters={"threshold": value, "drop": False}) for value in DEMOTED]
    return [*dropping, *demoting, Contender(strategy="context-only"), Contender(strategy="breadth-first")]


def main() -> None:
    print_found(sweep(parse_arguments(__doc__), contenders(), TrialSettings(seeds=3, examples=30)))


if __name__ == "__main__":
    main()
