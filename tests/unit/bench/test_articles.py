"""The shingle score counts as the article extraction benchmark does."""

import gzip
import json

import pytest

from bench.conformance.articles import PAGES, TRUTH, Quality, articles, main_texts, mean_quality, shingle_scores


def test_shingles_of_four_words_are_compared_as_a_bag():
    assert shingle_scores("a b c d e", "a b c d e") == Quality(1.0, 1.0)
    assert shingle_scores("a b c d e", "a b c d e x y") == Quality(0.5, 1.0)
    assert shingle_scores("a b c d e", "a b c d") == Quality(1.0, 0.5)
    assert shingle_scores("a, b", "a - b").f1 == 1.0


def test_a_page_without_text_counts_for_recall_only():
    scores = [shingle_scores("a b c d", ""), shingle_scores("a b c d", "a b c d")]
    assert scores[0] == Quality(None, 0.0)
    assert mean_quality(scores) == Quality(1.0, 0.5)
    assert mean_quality(scores).f1 == pytest.approx(2 / 3)


def test_the_headline_is_left_out_as_in_the_truth(tmp_path):
    html = f"<article><h1>Cells</h1><p>{'Cells lose their power in water. ' * 9}</p></article>"
    (tmp_path / PAGES).mkdir()
    (tmp_path / PAGES / "k.html.gz").write_bytes(gzip.compress(html.encode()))
    stated = {"url": "http://a.example/", "articleBody": "Cells lose their power in water. " * 9}
    (tmp_path / TRUTH).write_text(json.dumps({"k": stated}))
    [page] = articles(tmp_path)
    extract = main_texts()["Thresher"]
    assert shingle_scores(page.truth, extract(page.url, page.html)) == Quality(1.0, 1.0)
