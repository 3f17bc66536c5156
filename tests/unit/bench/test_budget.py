"""Every sample of a crawl counts for one part, so that the parts add up."""

import pytest

from bench.speed.budget import part_of

LOOP = ["asyncio/runners.py:run", "thresher/engine/lease_loop.py:settle", "thresher/pipeline/pipeline.py:process"]
STRATEGY = "thresher/strategies/link_model/strategy.py"


@pytest.mark.parametrize(
    ("frames", "part"),
    [
        (["thresher/parsing/html.py:parse", "thresher/urls/canonical.py:canonicalize"], "parse"),
        (["thresher/pipeline/outcomes.py:score", f"{STRATEGY}:score"], "score"),
        (["thresher/pipeline/outcomes.py:score", "thresher/urls/scope.py:admits"], "scope, traps, selection, reasons"),
        ([f"{STRATEGY}:revise", f"{STRATEGY}:_features"], "rescoring of waiting links"),
        (["thresher/judges/adaptive/judge.py:judge", "importlib:_find_and_load"], "start: imports"),
        ([], "pipeline"),
    ],
)
def test_a_stack_counts_for_its_first_part(frames, part):
    assert part_of([*LOOP, *frames]) == part


def test_what_calls_the_parts_counts_where_none_of_them_runs():
    assert part_of(LOOP[:2]) == "lease loop, worker, supervisor"
    assert part_of(LOOP[:1]) == "event loop"
    assert part_of(["runpy:_run_code"]) == "other"
