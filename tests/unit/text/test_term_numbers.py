"""Terms of texts become numbers, many texts at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.text.test_tokens import MIXED
from thresher.text import term_ids as module
from thresher.text.term_ids import TermNumbers
from thresher.text.tokens import tokenize


def numbered(numbers, texts):
    """Give the numbers of each text."""
    found, at = numbers.of(texts)
    return [found[at == place].tolist() for place in range(len(texts))]


def test_numbered_terms_are_those_of_the_texts_in_order():
    numbers = TermNumbers(1000)
    texts = ["The harbour seals of the harbour", "Grüne Häfen, seals", "海豹 seals 港口", "", "the of"]
    assert numbered(numbers, texts) == [list(map(numbers.number, tokenize(text))) for text in texts]
    assert list(numbers)[:2] == ["harbour", "seal"]
    assert len(numbers) == len(list(numbers))


@given(st.lists(MIXED | st.text(alphabet="ab \0\1\x1f\x85\u2028", max_size=80), max_size=5))
def test_any_texts_are_numbered_as_they_are_cut(texts):
    numbers = TermNumbers(1000)
    for _ in range(2):  # new words, then known ones
        assert numbered(numbers, texts) == [list(map(numbers.number, tokenize(text))) for text in texts]


def test_the_same_word_has_the_number_of_its_stem_in_each_language():
    numbers, text = TermNumbers(1000), "die Bauern cars 서울은 Häuser"
    for _ in range(2):
        for language in ("de", "en", "ko", "fr", ""):
            assert numbers.of([text], language)[0].tolist() == list(map(numbers.number, tokenize(text, language)))


def test_no_text_has_no_numbers():
    assert [each.tolist() for each in TermNumbers(10).of([])] == [[], []]


@pytest.mark.parametrize("bits", [1, 4])
def test_words_that_want_the_same_slot_are_distinguished(monkeypatch, bits):
    monkeypatch.setattr(module, "SLOT_BITS", bits)
    monkeypatch.setattr(module, "_SLOT_SHIFT", module.np.uint64(64 - bits))
    numbers, texts = TermNumbers(1000), [f"word{number} seal" for number in range(50)]
    for _ in range(2):
        assert numbered(numbers, texts) == [list(map(numbers.number, tokenize(text))) for text in texts]


def test_when_all_numbers_are_given_out_terms_share_them():
    numbers = TermNumbers(4)
    found = numbers.of([" ".join(f"word{number}" for number in range(50))])[0].tolist()
    assert found[:3] == [1, 2, 3]
    assert set(found) == {1, 2, 3}
    assert len(numbers) == 3
