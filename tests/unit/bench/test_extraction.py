"""The measurements of main content, in small: the truth is found where it is plain, and every export is opened."""

from collections import Counter

import pytest

from bench.collection import content_export
from bench.collection.extraction import Output, extractors, quality, read_output
from bench.collection.page_layouts import DEV, TEST, page
from thresher.text.tokens import count


@pytest.mark.parametrize("layout", [*DEV, *TEST], ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_our_extraction_finds_text_tables_and_links_in_every_layout(layout, language):
    scores = [measured(*page(layout, language, seed)) for seed in range(8)]
    for terms, rows, links in scores:
        assert terms > 0.9
        assert rows in (None, 1.0)
        assert links is None or links > 0.6


def measured(html, article):
    found = read_output(extractors()["thresher"](html))
    truth = read_truth(article)
    return [quality(wanted, got)[2] if wanted else None for wanted, got in zip(truth, found, strict=True)]


def read_truth(article):
    return Output(Counter(count(article.text)), Counter(article.rows), Counter(article.links))


def test_exports_of_content_are_measured_and_opened(capsys):
    content_export.bench(30)
    printed = capsys.readouterr().out
    assert "30 pages with text" in printed
    assert "duckdb 30" in printed
    assert "30 files" in printed
