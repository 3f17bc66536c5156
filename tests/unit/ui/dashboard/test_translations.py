"""Words, numbers and dates in both languages."""

import pytest

from thresher.errors import CrawlBusy
from thresher_ui.dashboard.translations import choose, texts_in


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-GB,en;q=0.9,zh;q=0.5", "en"),
        ("de,zh;q=0.4,en;q=0.3", "zh"),
        ("fr, de;q=0.7", "en"),
        ("zh;q=0, en;q=0.1", "en"),
        ("zh;q=often", "en"),
    ],
)
def test_the_browser_says_which_language_it_reads(accepted, language):
    assert choose("", accepted).language == language


def test_a_chosen_language_comes_before_the_browser():
    assert choose("en", "zh").language == "en"
    assert choose("tlh", "zh").language == "zh"


def test_numbers_are_easy_to_read():
    texts = texts_in("en")
    assert texts.number(1_234_567) == "1,234,567"
    assert texts.number(-0.25, 2) == "−0.25"
    assert texts.number(None) == "–"
    assert texts.share(0.1234) == "12.3%"
    assert texts.plain(500.0) == "500"
    assert texts.plain(0.05) == "0.05"
    assert texts.plain(None) == ""


@pytest.mark.parametrize(
    ("language", "spans"),
    [
        ("en", ["0.5 s", "2 s", "45 s", "3 min", "2.5 h"]),
        ("zh", ["0.5 秒", "2 秒", "45 秒", "3 分钟", "2.5 小时"]),
    ],
)
def test_a_time_span_has_one_unit(language, spans):
    assert [texts_in(language).duration(seconds) for seconds in (0.5, 2, 45, 180, 9000)] == spans


def test_moments_are_written_as_the_language_does():
    assert texts_in("en").moment(0) == "1970-01-01 00:00 UTC"
    assert texts_in("zh").moment(0) == "1970年01月01日 00:00 UTC"


def test_a_crawl_has_a_title_in_any_language():
    assert texts_in("zh").titled({"en": "Cells", "zh": "电池"}, "solar") == "电池"
    assert texts_in("zh").titled({"en": "Cells"}, "solar") == "Cells"
    assert texts_in("en").titled({}, "solar") == "solar"


def test_plural_forms_are_chosen():
    say = texts_in("en").translations.ngettext
    assert say("%(written)s host is parked", "%(written)s hosts are parked", 2) == "%(written)s hosts are parked"


def test_texts_of_the_core_have_the_translations_of_the_core():
    assert texts_in("zh").translated(str(CrawlBusy("solar"))).startswith("solar 正在运行")
    assert texts_in("en").translated("plain") == texts_in("zh").translated("plain") == "plain"
    assert texts_in("zh").named("challenge") == "人机验证页"
    assert texts_in("zh").part("words of the link") == "链接文字"
    assert texts_in("zh").part("topic 茶") == "主题 茶"
    assert texts_in("en").part("topic solar") == "topic solar"
