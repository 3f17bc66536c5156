"""Language identification by script, and for Latin scripts by function words.

A focused crawler only has to distinguish its own languages from the rest, on every page. Checking the first characters
costs next to nothing and makes no errors on short Chinese text, as trained identifiers do.
"""

from __future__ import annotations

from collections import Counter

SAMPLE_CHARACTERS = 2_000
"""How much of a text is used."""

_MIN_UNITS = 4  # below this many words or characters of a script, the language is unknown
_MIN_SCRIPT_SHARE = 0.15  # of all words and characters; a Chinese page may contain much English, not the reverse
_MIN_KANA_SHARE = 0.1  # Japanese text is seldom below a third, Chinese text seldom above a hundredth
_MIN_FUNCTION_WORD_SHARE = 0.04  # running text is near a third; menus and lists fall below
_ENGLISH_BONUS = 1.5  # short words of one language are often words of another, and most pages are English
_LETTERS_PER_WORD = 5

# In UTF-8 the first byte, or the first two, determine the script, and counting bytes is fast in Python.
_HAN = [bytes([lead]) for lead in range(0xE4, 0xEA)] + [b"\xf0\xa0", b"\xf0\xa1", b"\xf0\xa2"]
_KANA = [b"\xe3\x81", b"\xe3\x82", b"\xe3\x83"]
_SPACED_SCRIPTS = {
    "ko": [b"\xea", b"\xeb", b"\xec", b"\xed"],
    "ru": [b"\xd0", b"\xd1", b"\xd2"],
    "ar": [b"\xd8", b"\xd9", b"\xda", b"\xdb"],
    "el": [b"\xce", b"\xcf"],
    "he": [b"\xd7"],
    "hi": [b"\xe0\xa4", b"\xe0\xa5"],
    "th": [b"\xe0\xb8", b"\xe0\xb9"],
}
_PLAIN = bytes(code if code > 127 or chr(code).isalpha() else 32 for code in range(256)).lower()

_FUNCTION_WORDS = {
    "en": "the of and to in is for with that on by from are was this it as at be or an you your not have has will we",
    "de": "der die und das ist nicht von mit den zu ein eine einer für auf im dem sich des auch als bei wir sie oder",
    "fr": "le la les des et est une un du dans que pour pas sur au aux avec qui par plus vous nous ce cette sont de",
    "es": "el la los las de que y en por con para una un del se su al es como más no lo sus este esta",
    "it": "il di che e la per non una un sono con del della dei delle gli le da al si nel alla come più anche",
    "pt": "o os as não uma um para com do da dos das em que é e por mais como ao na no se sua seu são de",
    "nl": "de het een van en dat niet op met zijn voor te is aan er ook bij naar door deze of uit wordt om",
}
_LANGUAGES_OF_WORD = {
    word.encode(): [code for code, others in _FUNCTION_WORDS.items() if word in others.split()]
    for words in _FUNCTION_WORDS.values()
    for word in words.split()
}

RECOGNISED = frozenset(["zh", "ja", *_SPACED_SCRIPTS, *_FUNCTION_WORDS])
"""The codes that `language` can return."""


def language(text: str) -> str:
    """Return the code of the text's language, such as ``en`` or ``zh``; empty when it is unknown."""
    sample = text[:SAMPLE_CHARACTERS].encode("utf-8", "replace").translate(_PLAIN)
    words = sample.split()
    return ("" if sample.isascii() else _by_script(sample, words)) or _by_function_words(words)


def _by_script(sample: bytes, words: list[bytes]) -> str:
    units = {code: _count(sample, leads) / _LETTERS_PER_WORD for code, leads in _SPACED_SCRIPTS.items()}
    han, kana = _count(sample, _HAN), _count(sample, _KANA)
    units["ja" if kana > _MIN_KANA_SHARE * (han + kana) else "zh"] = han + kana
    code = max(units, key=units.__getitem__)
    latin_words = sum(map(bytes.isascii, words))
    enough = max(_MIN_UNITS, _MIN_SCRIPT_SHARE * (sum(units.values()) + latin_words))
    return code if units[code] >= enough else ""


def _count(sample: bytes, leads: list[bytes]) -> int:
    return sum(map(sample.count, leads))


def _by_function_words(words: list[bytes]) -> str:
    if len(words) < _MIN_UNITS:
        return ""
    hits = Counter(code for word in words for code in _LANGUAGES_OF_WORD.get(word, ()))
    if not hits:
        return ""
    code, times = hits.most_common(1)[0]
    if hits["en"] * _ENGLISH_BONUS >= times:
        code, times = "en", hits["en"]
    return code if times >= _MIN_FUNCTION_WORD_SHARE * len(words) else ""
