"""The script tells the language, and function words do among Latin scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.languages import language


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("南开大学是中国的一所大学", "zh"),
        ("臺灣的研究所甄試與碩士班", "zh"),
        ("首页 新闻 Python HTML CSS JavaScript 教程 下载", "zh"),
        ("これは日本語のページです。東京大学", "ja"),
        ("안녕하세요 서울대학교 연구소 소개 페이지입니다", "ko"),
        ("Это русская страница о новостях спорта", "ru"),
        ("هذه صفحة باللغة العربية عن الرياضة", "ar"),
        ("The history of the game of basketball in the United States", "en"),
        ("About the university: contact, library 中文", "en"),
        ("Die Geschichte des Spiels und der Mannschaften ist nicht lang", "de"),
        ("L'histoire de la ville et les habitants dans une région du pays", "fr"),
        ("La historia de los equipos y las ciudades en el norte del país", "es"),
        ("La storia della città e degli abitanti che sono nel nord del paese", "it"),
        ("A história da cidade e dos habitantes não é uma coisa do passado", "pt"),
        ("De geschiedenis van het land en de mensen die er niet meer zijn", "nl"),
        ("", ""),
        ("12345 !!!", ""),
        ("中", ""),
        ("Login Register Cart Checkout Account Settings", ""),
    ],
)
def test_a_text_is_in_its_language(text, code):
    assert language(text) == code


@given(st.text())
def test_no_text_raises(text):
    assert language(text) in {
        "",
        "en",
        "zh",
        "ja",
        "ko",
        "ru",
        "ar",
        "el",
        "he",
        "hi",
        "th",
        "de",
        "fr",
        "es",
        "it",
        "pt",
        "nl",
    }
