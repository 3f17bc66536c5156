"""Which constants of InfoSpiders find most? ``python -m bench.effectiveness.infospiders_constants`` (THRESHER_WEBS).

The survey gives none, so each is varied around its default, one at a time, on dev topics; test topics are not touched.
Verdicts are true, as in the comparison of all strategies.
"""

from __future__ import annotations

from bench.effectiveness.dev_sweep import parse_arguments, print_found, sweep
from thresher_lab.reproduce.plans import TrialSettings
from thresher_lab.simulation.comparison_plan import Contender

NAME = "infospiders"
VALUES: dict[str, tuple[float, ...]] = {
    "agents": (3, 30),
    "cost": (0.05, 0.2),
    "beta": (2.0, 10.0),
    "rate": (0.1, 1.0),
    "split_above": (0.75, 1.5),
}
"""Values beside the defaults."""


def contenders(only: str = "") -> list[Contender]:
    """List the defaults, each constant with its other values, and best-first for scale."""
    varied = [
        Contender(strategy=NAME, parameters={name: value})
        for name, values in VALUES.items()
        if only in ("", name)
        for value in values
    ]
    return [Contender(strategy=NAME), *varied, Contender(strategy="best-first")]


def main() -> None:
    arguments = parse_arguments(__doc__)
    print_found(sweep(arguments, contenders(arguments.only), TrialSettings(seeds=3)))


if __name__ == "__main__":
    main()
