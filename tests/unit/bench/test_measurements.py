"""Measured rows say which versions made them, and those of earlier versions are found."""

import json

import pytest

from bench import measurements
from bench.measurements import MEASUREMENTS, PAGES, RESULTS, digests, is_stale, versions, with_section
from thresher_lab.statistics.result_rows import read_rows

NOW = {part: known["version"] for part, known in versions().items()}
[LAB] = [found for found in MEASUREMENTS if found.files == "flagship-archipelago.jsonl"]


def row(strategy="thresher", judge="perfect", *, older=""):
    made = {part: version - (part == older) for part, version in NOW.items()}
    return {"strategy": strategy, "judge": judge, "made": {"on": "2026-11-19", "commit": "1a2b3c4d", **made}}


def test_what_judge_and_strategy_do_is_what_their_versions_did():
    known = {part: own["digest"] for part, own in versions().items()}
    assert digests() == known, "raise a version: python -m bench.measurements --raise judge, or strategy"


@pytest.mark.parametrize(
    ("found", "stale"),
    [
        (row(), False),
        (row("fcmrps", "adaptive"), False),
        (row(older="strategy"), True),
        (row("fcmrps", older="strategy"), False),
        (row(older="judge"), False),
        (row("fcmrps", "adaptive", older="judge"), True),
        (row("fcmrps", "centroid", older="judge"), True),
        (row("oracle", "adaptive", older="judge"), False),
    ],
)
def test_a_row_is_stale_when_what_it_depends_on_has_changed(found, stale):
    assert is_stale(LAB, found) is stale


def test_a_row_of_an_unknown_version_is_stale():
    assert is_stale(LAB, {"strategy": "fcmrps", "judge": "perfect"})


def test_every_file_of_rows_has_a_measurement_and_every_row_says_what_made_it():
    paths = [path for measurement in MEASUREMENTS for path in measurement.paths()]
    assert len(paths) == len({*paths})
    assert {*paths} == {*RESULTS.glob("**/*.jsonl")} - {RESULTS / "reproduce" / "runs.jsonl"}
    assert [path.name for path in paths if any("made" not in found for found in read_rows(path))] == []


def test_new_rows_are_stamped_and_stale_ones_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr(measurements, "RESULTS", tmp_path)
    monkeypatch.setattr(measurements, "_git", lambda *words: "" if words[0] == "status" else "5e6f7a8b")
    path = tmp_path / "flagship-archipelago.jsonl"
    new = {"strategy": "thresher", "judge": "perfect"}
    path.write_text("".join(json.dumps(one) + "\n" for one in (row(older="strategy"), new)))
    measurements.stamp()
    measurements.drop()
    [left] = read_rows(path)
    assert left["made"]["commit"] == "5e6f7a8b"


def test_rows_of_changed_sources_are_not_stamped(monkeypatch):
    monkeypatch.setattr(measurements, "_git", lambda *words: " M src/thresher/judges/base.py")
    with pytest.raises(SystemExit, match="not committed"):
        measurements.stamp()


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_a_page_of_measurements_ends_with_its_rows(page):
    assert page.read_text(encoding="utf-8") == with_section(page), "python -m bench.measurements --write"
