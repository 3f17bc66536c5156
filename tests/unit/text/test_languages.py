"""The script tells the language, letters among neighbours, and function words among Latin scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text import OPEN
from thresher.text.languages import RECOGNISED, language, phrase_language, phrase_languages


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
        ("Historia miasta i jego mieszkańców nie jest już tylko opowieścią o tym, co było", "pl"),
        ("Stadens historia är inte bara en berättelse om det som har varit för länge sedan", "sv"),
        ("Byens historie er ikke bare en fortælling om det, der skete efter krigen", "da"),
        ("Kaupungin historia ei ole vain kertomus siitä, mitä on ollut, mutta myös siitä, että se voi", "fi"),
        ("Historie města není jen o tom, co bylo, ale také o lidech, které jsou pro něj důležité", "cs"),
        ("A város története nem csak arról szól, hogy mi volt, és ez még nem minden", "hu"),
        ("Şehrin tarihi bir masal gibi değil, daha çok bu insanlar için önemli olan bir kaynak", "tr"),
        ("Istoria orașului nu este numai despre ce a fost, ci și pentru cei care sunt în viață", "ro"),
        ("Sejarah kota ini tidak hanya untuk mereka yang tinggal di dalam dan juga untuk semua", "id"),
        ("Історія міста є не лише про те, що було, а й про його мешканців", "uk"),
        ("Къщата в края на града е стара, но хората обичат първата улица със сърце", "bg"),
        ("این شهر چند کتابخانه بزرگ و یک پارک زیبا دارد که همه می‌شناسند", "fa"),
        ("a b c d e f g h i j k l m n o p q r s t u v w x y z", ""),
        ("", ""),
        ("12345 !!!", ""),
        ("中", ""),
        ("Login Register Cart Checkout Account Settings", ""),
    ],
)
def test_a_text_is_in_its_language(text, code):
    assert language(text) == code


def test_a_menu_in_another_language_does_not_decide_about_a_long_page():
    menu = "Home About us Sign up for the newsletter All of the latest news Terms of use Follow us on the web " * 12
    article = "Der Rat der Stadt hat nach langer Debatte über den Bau der Brücke entschieden, die nicht alle wollen. "
    assert len(menu) > 1000
    assert language(menu[:1200] + article * 60) == "de"


@given(st.text())
def test_no_text_raises(text):
    assert language(text) in {"", *RECOGNISED}
    assert set(phrase_languages(text)) <= RECOGNISED


@pytest.mark.parametrize(
    ("phrase", "code"),
    [
        ("history of cathedrals", "en"),
        ("vegetables", "en"),
        ("Brot und Brötchen", "de"),
        ("Pflege der Rosen nach dem Winter", "de"),
        ("gazları ve iklim değişikliği", "tr"),
        ("żeglarstwo na jeziorach", "pl"),
        ("зелёные растения", "ru"),
        ("хвороби рослин і їх лікування", "uk"),
        ("和食の作り方", "ja"),
        ("図書館学", "ja"),
        ("图书馆", "zh"),
        ("도서관", "ko"),
        ("المكتبة العامة", "ar"),
        ("πράσινα φυτά", "el"),
    ],
)
def test_a_phrase_is_in_its_language(phrase, code):
    assert phrase_language(phrase) == code


@pytest.mark.parametrize(
    ("phrase", "codes"),
    [
        ("音楽教育", {"ja"}),
        ("天文台", {"ja", "zh"}),
        ("растения", {"ru", "uk", "bg", "sr"}),
        ("Kuchenrezepte", {"de", "en", "fr"}),
        ("vino de la casa", {"es", "fr"}),
    ],
)
def test_a_phrase_that_may_be_in_several_languages_is_left_open(phrase, codes):
    assert codes <= set(phrase_languages(phrase))
    assert phrase_language(phrase) == (OPEN if len(codes) > 1 else codes.pop())
