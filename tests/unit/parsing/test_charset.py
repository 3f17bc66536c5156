"""Bytes become the text they were, whatever their page declares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.parsing.markup import decode, decode_with_charset

SIMPLIFIED = "<title>南开大学</title><p>这是一个中国大学的网站，我们在这里学习和工作。</p>"
TRADITIONAL = "<title>臺灣大學</title><p>這是一個臺灣大學的網站，我們在這裡學習與工作。</p>"
DECLARATIONS = ["", "text/html", *(f"text/html; charset={name}" for name in ("utf-8", "gb2312", "big5", "iso-8859-1"))]


def meta(charset):
    return f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">'


@pytest.mark.parametrize("declared", DECLARATIONS)
@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (SIMPLIFIED, "utf-8"),
        (SIMPLIFIED, "gbk"),
        (SIMPLIFIED + "㐀𠀀", "gb18030"),
        (TRADITIONAL, "utf-8"),
        (TRADITIONAL, "big5"),
        (SIMPLIFIED, "utf-16-le"),
        (TRADITIONAL, "utf-16-be"),
    ],
)
def test_chinese_is_read_right_under_every_header(text, encoding, declared):
    assert decode(text.encode(encoding), declared) == text


@pytest.mark.parametrize("charset", ["utf-8", "gb2312", "big5", "iso-8859-1"])
def test_chinese_is_read_right_under_every_meta_element(charset):
    text = meta(charset) + SIMPLIFIED
    assert decode(text.encode("gbk"), "") == decode(text.encode(), "") == text


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("Привет, мир! Это русская страница о спорте", "windows-1251"),
        ("Привет, мир! Это русская страница о спорте", "koi8-r"),
        ("日本語のページです。東京大学の研究", "shift_jis"),
        ("日本語のページです。東京大学の研究", "euc-jp"),
        ("日本語のページです。東京大学の研究", "iso-2022-jp"),
        ("안녕하세요 서울대학교 연구소", "euc-kr"),
        ("Zażółć gęślą jaźń", "iso-8859-2"),
        ("中国大学", "hz-gb-2312"),
    ],
)
def test_a_declaration_that_fits_is_believed(text, charset):
    assert decode(text.encode(charset), f"text/html; charset={charset}") == text


def test_the_header_comes_before_the_meta_element():
    text = meta("koi8-r") + "Привет"
    assert decode(text.encode("windows-1251"), "text/html; charset=windows-1251") == text


def test_the_xml_declaration_counts():
    text = '<?xml version="1.0" encoding="windows-1251"?><p>Привет</p>'
    assert decode(text.encode("windows-1251"), "application/xhtml+xml") == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_beats_every_declaration_and_is_dropped(encoding):
    assert decode(SIMPLIFIED.encode(encoding), "text/html; charset=big5") == SIMPLIFIED


def test_undeclared_latin_text_is_read_as_browsers_do():
    assert decode("Café “naïve” – für".encode("cp1252"), "") == "Café “naïve” – für"


SENTENCES = {
    "ru": "Сад за домом был полон яблонь, и осенью дети собирали яблоки в большие корзины. ",
    "ja": "庭の林檎の木には秋になると赤い実がたくさんなり、子どもたちが大きな籠に集めていました。",
    "ko": "집 뒤의 정원에는 사과나무가 많아서 가을이면 아이들이 큰 바구니에 사과를 모았다. ",
    "zh": "屋后的花园里种满了苹果树，每到秋天孩子们就把苹果装进大篮子里，然后送到集市上去卖。",
    "zh-tw": "屋後的花園裡種滿了蘋果樹，每到秋天孩子們就把蘋果裝進大籃子裡，然後送到市場上去賣。",
    "de": "Im Garten hinter dem Häuschen blühten im Frühjahr Äpfel; später füllten die Kinder große Körbe. ",
    "pl": "Za domem rosły jabłonie, a jesienią dzieci zbierały dojrzałe jabłka do dużych koszyków i śpiewały. ",
    "el": "Ο κήπος πίσω από το σπίτι ήταν γεμάτος μηλιές και το φθινόπωρο τα παιδιά μάζευαν μήλα. ",
    "ar": "كانت الحديقة خلف البيت مليئة بأشجار التفاح وفي الخريف كان الأطفال يجمعون التفاح في سلال كبيرة. ",
    "he": "הגינה שמאחורי הבית הייתה מלאה עצי תפוח ובסתיו אספו הילדים את התפוחים לסלים גדולים. ",
    "tr": "Evin arkasındaki bahçe elma ağaçlarıyla doluydu; güzün çocuklar elmaları büyük sepetlere toplardı. ",
    "th": "สวนหลังบ้านเต็มไปด้วยต้นแอปเปิล เด็ก ๆ เก็บผลไม้ใส่ตะกร้าใบใหญ่ในฤดูใบไม้ร่วง ",
}
LEGACY = [
    *[("ru", name) for name in ("windows-1251", "koi8-r", "iso-8859-5")],
    *[("ja", name) for name in ("shift_jis", "euc-jp", "iso-2022-jp")],
    *[("ko", "euc-kr"), ("zh", "gb18030"), ("zh", "gb2312"), ("zh-tw", "big5"), ("de", "iso-8859-1")],
    *[("pl", "iso-8859-2"), ("pl", "windows-1250"), ("el", "windows-1253"), ("el", "iso-8859-7")],
    *[("ar", "windows-1256"), ("he", "windows-1255"), ("tr", "iso-8859-9"), ("th", "cp874")],
]


@pytest.mark.parametrize(("language", "charset"), LEGACY)
def test_a_charset_that_nobody_declares_is_detected(language, charset):
    text = f"<!doctype html><title>x</title><script>{'var x = 1; ' * 500}</script><p>{SENTENCES[language] * 4}</p>"
    assert decode(text.encode(charset), "text/html") == text


@pytest.mark.parametrize(("language", "charset"), [pair for pair in LEGACY if pair[1] != "cp874"])
def test_a_page_that_names_its_charset_is_believed_against_the_usual_header_of_a_server(language, charset):
    text = f"{meta(charset)}<p>{SENTENCES[language] * 4}</p>"
    assert decode(text.encode(charset), "text/html; charset=iso-8859-1") == text


def test_a_declaration_far_down_the_page_counts():
    text = f"<!-- {'+' * 8_000} --><meta charset=iso-8859-2><p>Zażółć gęślą jaźń</p>"
    assert decode(text.encode("iso-8859-2"), "") == text


def test_the_charset_is_returned_with_the_text():
    assert decode_with_charset(SIMPLIFIED.encode("gbk"), "")[1] == "gb18030"
    assert decode_with_charset(SIMPLIFIED.encode(), "text/html; charset=gbk")[1] == "utf-8"


@pytest.mark.parametrize("declared", ["gb2312", "big5", "shift_jis", "euc-kr"])
def test_latin_text_that_calls_itself_asian_is_read_as_browsers_read_undeclared_text(declared):
    text = "A café, “naïve” – the résumé"
    assert decode(text.encode("cp1252"), f"text/html; charset={declared}") == text


def test_a_body_cut_inside_a_character_loses_only_that():
    assert decode("中国大学".encode()[:-1], "") == "中国大"


def test_a_page_with_a_few_broken_bytes_stays_utf_8():
    body = SIMPLIFIED.encode() * 3 + b"\xff\xfe!"
    assert decode(body, "") == SIMPLIFIED * 3 + "\ufffd\ufffd!"


@pytest.mark.parametrize("charset", ["rot13", "unicode_escape", "utf-7", "base64", "nonsense", ""])
def test_a_charset_that_no_page_may_choose_is_ignored(charset):
    assert decode(b"+ADw- caf\xe9 \\n", f"text/html; charset={charset}") == "+ADw- café \\n"


@given(st.binary(), st.sampled_from([*DECLARATIONS, "text/html; charset=hz", "text/html; charset=utf-16"]))
def test_no_bytes_raise(body, declared):
    assert isinstance(decode(body, declared), str)
