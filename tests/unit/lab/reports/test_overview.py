"""Many comparisons in one table."""

from typing import Any

from thresher_lab.reports.comparisons import make_sections
from thresher_lab.reports.overview import overview


def row(strategy: str, topic: str, value: float, **more: Any) -> dict[str, Any]:
    common = {"web": "small", "seed_set": 0, "judge": "perfect", "pages": 1_000, "seeds": 5, "parameters": {}}
    found = {"targets": 10, "curve": [[1, 1]], "oracle_curve": [[1, 1]]}
    return {**common, "strategy": strategy, "topic": topic, "percent_of_oracle": value, **found, **more}


def table(*rows: dict[str, Any]) -> list[str]:
    return list(overview(make_sections(rows)))


TOPICS = [f"topic {number}" for number in range(8)]
BOTH = [
    *(row("breadth-first", topic, 40.0 + number) for number, topic in enumerate(TOPICS)),
    *(row("best-first", topic, 50.0 + 2 * number) for number, topic in enumerate(TOPICS)),
    *(row("oracle", topic, 100.0) for topic in TOPICS),
]


def test_the_best_strategy_stands_first_and_in_bold() -> None:
    lines = table(*BOTH)
    assert lines[0] == "**Judge: perfect**"
    assert lines[2] == "| strategy | small |"
    assert lines[4:6] == ["| topics × seed sets | 8 × 1 |", "| fetches | 1,000 |"]
    assert lines[6].startswith("| best-first | **57.0** ▲ [")
    assert lines[7].startswith("| breadth-first | 43.5 [")


def test_the_oracle_is_no_contender() -> None:
    assert not [line for line in table(*BOTH) if "oracle" in line]


def test_upper_bounds_stand_below_the_others_and_are_never_the_best() -> None:
    lines = table(*BOTH, *(row("labels-known", topic, 90.0) for topic in TOPICS))
    assert lines[6].startswith("| best-first | **57.0**")
    assert lines[8] == "| *upper bounds* |  |"
    assert lines[9] == "| labels-known | 90.0 [90.0, 90.0] |"


def test_the_first_60_fetches_have_columns_where_rows_have_them() -> None:
    early = {"percent_of_oracle_60": 62.5, "harvest_60": 0.25}
    lines = table(*BOTH, *(row("fish", topic, 30.0, **early) for topic in TOPICS))
    assert lines[2] == "| strategy | small | small, % in first 60 | small, harvest in first 60 |"
    assert any(line.startswith("| fish | 30.0") and line.endswith("| 62.5 | 0.250 |") for line in lines)
    assert any(line.startswith("| best-first | **57.0**") and line.endswith("| – | – |") for line in lines)


def test_a_strategy_that_was_not_run_on_a_web_has_no_figure_there() -> None:
    elsewhere = [row("breadth-first", topic, 40.0, web="other") for topic in TOPICS]
    assert any(line.startswith("| best-first | – | **57.0**") for line in table(*BOTH, *elsewhere))


def test_judges_and_conditions_have_tables_of_their_own() -> None:
    far = [row("breadth-first", topic, 20.0, distance=2) for topic in TOPICS]
    own = [row("breadth-first", topic, 30.0, judge="adaptive") for topic in TOPICS]
    bound = [row("breadth-first", topic, 25.0, host_pages=10) for topic in TOPICS]
    titles = [line for line in table(*BOTH, *far, *bound, *own) if line.startswith("**Judge")]
    assert titles == [
        "**Judge: perfect**",
        "**Judge: perfect, at most 10 pages per host**",
        "**Judge: perfect, seeds 2 links away from the topic**",
        "**Judge: adaptive**",
    ]
