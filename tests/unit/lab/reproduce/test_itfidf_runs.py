"""E7 runs from the installed package: texts are classified, and each split once."""

import ast
from pathlib import Path

import numpy as np
import pytest

from tests.unit.judges.small_corpus import documents
from thresher_lab.reproduce import itfidf_runs
from thresher_lab.reproduce.experiments import report, run
from thresher_lab.reproduce.plans import ExperimentOverrides
from thresher_lab.reproduce.text_corpora import Corpus

LAB = Path(itfidf_runs.__file__).parents[1]
TEXTS, LABELS = documents(60)
CLASSES = sorted(set(LABELS))
SPLIT = (np.arange(0, 60, 2), np.arange(1, 60, 2))
TRUTH = np.array([[label == name for name in CLASSES] for label in LABELS])


@pytest.fixture
def small(monkeypatch):
    """The corpus of Reuters' name is small, and there is no other."""
    corpora = {"reuters": lambda: Corpus("reuters", TEXTS, CLASSES, TRUTH, [SPLIT])}
    monkeypatch.setattr(itfidf_runs, "CORPORA", corpora)
    monkeypatch.setattr(itfidf_runs, "NAMES", ["TFIDF", "TFIDF x mean IG", "ITFIDF", "TFIDF, tuned", "ITFIDF, tuned"])
    monkeypatch.setattr(itfidf_runs, "METHODS", {name: itfidf_runs.METHODS[name] for name in itfidf_runs.NAMES})
    monkeypatch.setenv("THRESHER_WEBS", "nowhere")


def e7(folder, progress):
    return run("E7", folder, ExperimentOverrides(), processes=1, progress=progress)


def test_e7_classifies_texts_and_is_judged(small, tmp_path):
    seen = []
    assert e7(tmp_path, lambda done, total: seen.append((done, total))) == []
    assert seen == [(1, 1)]
    made = report("E7", tmp_path)
    assert made.tables[0].rows[0][0] == "reuters"
    assert e7(tmp_path, lambda done, total: seen.append((done, total))) == []
    assert len(seen) == 1


def test_without_corpora_e7_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.delenv("THRESHER_WEBS", raising=False)
    [trouble] = e7(tmp_path, lambda done, total: None)
    assert "THRESHER_WEBS" in trouble
    monkeypatch.setenv("THRESHER_WEBS", str(tmp_path))
    [trouble] = e7(tmp_path, lambda done, total: None)
    assert "reuters21578" in trouble


def test_the_lab_imports_nothing_that_is_not_installed_with_it():
    found = {
        node.module.partition(".")[0]
        for path in LAB.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert not found & {"bench", "tests", "testing"}
