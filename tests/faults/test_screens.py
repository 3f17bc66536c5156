"""Texts of strangers stay texts on every screen of the dashboard."""

import pytest

from testing.screens.browser import CHROMIUM, NO_CHROMIUM
from tests.faults import screens
from tests.faults.hostile_pages import payloads


def test_there_are_three_hundred_texts():
    assert len(set(payloads())) >= 300


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_text_of_a_page_becomes_more_than_text(tmp_path, language):
    texts = payloads()[:: 6 if language == "en" else 7]
    seen = screens.look_at_all(tmp_path, texts, languages=[language], pages=12)
    assert seen.executed == []
    assert seen.reports == []
    assert seen.leaks == []
    assert seen.screens > 20
