"""thresher lab reproduce, on a generated web of 600 pages."""

from functools import partial

import pytest

from thresher_lab.reproduce import trial_runner


@pytest.fixture
def thresher(tmp_path, monkeypatch, shell):
    """Run a command as a shell would: exit code, standard output, standard error."""
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(trial_runner, "_stages", {})
    monkeypatch.chdir(tmp_path)
    return partial(shell, "lab", "reproduce")


CHOICE = ("--web", "generated-en-600", "--topics", "Arts/Music", "--pages", "20", "--workers", "1", "-o", "rows")


def test_an_experiment_is_run_once_and_then_only_reported(thresher, tmp_path):
    code, out, err = thresher("E1", *CHOICE)
    assert code == 0, err
    assert "FCMRPS > best-first > Shark > breadth-first" in out
    assert len((tmp_path / "rows" / "E1.jsonl").read_text().splitlines()) == 4
    (tmp_path / "rows" / "causes.yaml").write_text(
        "FCMRPS > best-first > Shark > breadth-first at each portion, by precision: One topic only.\n"
    )
    code, again, err = thresher("E1", "--report", "-o", "rows", "--page", "page.md")
    assert "FCMRPS > best-first > Shark > breadth-first" in again
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("# The papers' experiments, here")
    assert "- not testable: generated-en-600\n" in page
    assert "- why: One topic only.\n" in page
    assert "Not run for this page: wikispeedia," in (tmp_path / "rows" / "E1.md").read_text()


def test_an_experiment_without_rows_says_so(thresher):
    code, out, err = thresher("E7", "--report", "-o", "rows")
    assert code == 0, err
    assert "not available: no rows in E7.jsonl" in out


def test_an_unknown_experiment_is_refused(thresher):
    code, _, err = thresher("E0")
    assert code == 4
    assert "no experiment is called E0" in err
