"""Word vectors: the table of the package, and the vectors of texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from thresher.text import word_vectors
from thresher.text.tokens import tokenize
from thresher.text.word_vectors import WordVectors, load_word_vectors

MAX_BYTES = 4_000_000


@pytest.fixture(scope="module")
def table() -> WordVectors:
    loaded = load_word_vectors()
    assert loaded is not None
    return loaded


def similarity(table: WordVectors, one: str, other: str) -> float:
    return float(table.embed_terms(tokenize(one)) @ table.embed_terms(tokenize(other)))


@pytest.mark.parametrize(
    ("text", "similar", "other"),
    [
        ("volcanic eruption", "lava and ash", "string quartet"),
        ("moons of Jupiter", "a planet's orbit", "parliament election"),
        ("violin concerto", "cello", "basalt"),
    ],
)
def test_texts_on_the_same_subject_are_closer_than_others(
    table: WordVectors, text: str, similar: str, other: str
) -> None:
    assert similarity(table, text, similar) > similarity(table, text, other) + 0.2


def test_words_are_found_by_the_stems_of_the_tokenizer(table: WordVectors) -> None:
    assert table.rows(tokenize("volcanoes"))[0] == table.rows(tokenize("volcano"))[0] > 0


def test_a_text_of_unknown_words_has_the_zero_vector(table: WordVectors) -> None:
    assert not table.embed_terms(["no-such-word", "海豹"]).any()


def test_an_unknown_word_does_not_change_the_vector_of_the_others(table: WordVectors) -> None:
    np.testing.assert_allclose(table.embed_terms(["violin", "no-such-word"]), table.embed_terms(["violin"]), rtol=1e-5)


def test_vectors_have_length_1(table: WordVectors) -> None:
    assert np.linalg.norm(table.embed_terms(tokenize("moons of Jupiter"))) == pytest.approx(1.0, abs=1e-5)


def test_a_frequent_word_counts_less_than_a_rare_one(table: WordVectors) -> None:
    both = table.embed_terms(["new", "volcano"])
    assert both @ table.embed_terms(["volcano"]) > both @ table.embed_terms(["new"])


def test_a_word_with_a_greater_weight_counts_more(table: WordVectors) -> None:
    rows = np.array(table.rows(["violin", "volcano"]), dtype=np.int32)
    weighted = table.embed_weighted(rows, np.array([1.0, 3.0]))
    assert weighted @ table.embed_terms(["volcano"]) > weighted @ table.embed_terms(["violin"])
    np.testing.assert_allclose(table.embed_weighted(rows, np.array([2.0, 2.0])), table.embed(rows), atol=1e-4)


def test_texts_on_any_subject_have_something_in_common(table: WordVectors) -> None:
    texts = (
        "The volcano is one of the most active of the country; people were last asked to leave its villages in May.",
        "Members of the new parliament met this week, and will decide on the largest part of the budget on Monday.",
        "The first performance of the concerto was given in London, where the composer had worked for many years.",
    )
    assert min(float(table.embed_terms(tokenize(text)) @ table.common()) for text in texts) > 0.3


def test_the_table_is_small_enough_to_ship() -> None:
    assert Path(word_vectors.__file__).with_suffix(".npz").stat().st_size < MAX_BYTES


def test_a_package_without_the_table_has_no_vectors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(word_vectors, "files", lambda _: tmp_path)
    assert load_word_vectors.__wrapped__() is None
