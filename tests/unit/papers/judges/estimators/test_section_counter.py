"""Pages become rows: one column per term, in alphabetical order, weighted by section."""

import pytest

from thresher.records import ParsedPage
from thresher_papers.judges.estimators.section_counter import SectionCounter

PAGE = ParsedPage(url="http://a.example/", title="Solar", text="Solar power")


def test_pages_mappings_and_texts_are_counted_alike():
    counter = SectionCounter()
    rows = counter.fit_transform([PAGE, {"headline": "power"}, "solar 太阳"])
    assert counter.get_feature_names_out().tolist() == ["power", "solar", "太阳"]
    assert rows.toarray().tolist() == [[1, 4, 0], [4, 0, 0], [0, 1, 1]]


def test_terms_outside_the_vocabulary_are_dropped():
    counter = SectionCounter().fit([PAGE])
    assert counter.transform(["solar wind"]).toarray().tolist() == [[0, 1]]


def test_even_weights_count_occurrences():
    counter = SectionCounter(headline=1, keywords=1, anchor=1)
    assert counter.fit_transform([PAGE]).toarray().tolist() == [[1, 1]]


def test_negative_weights_are_refused():
    with pytest.raises(ValueError, match="must be at least 0"):
        SectionCounter(body=-1).fit([PAGE])
