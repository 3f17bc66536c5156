"""Language identification by script, then by letters of one language, or by function words.

A focused crawler only has to distinguish its own languages from the rest, on every page. Checking the first characters
costs next to nothing and makes no errors on short Chinese text, as trained identifiers do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import import_module

from thresher.text import OPEN
from thresher.text.stopwords import stop_words
from thresher.text.tokens import tokenize

SAMPLE_CHARACTERS = 2_000
LARGE_SAMPLE_CHARACTERS = 6_000
"""How much of a text is used, and how much where the language is not clear."""

_MIN_UNITS = 4  # below this many words or characters of a script, the language is unknown
_MIN_SCRIPT_SHARE = 0.15  # of all words and characters; a Chinese page may contain much English, not the reverse
_MIN_KANA_SHARE = 0.1  # Japanese text is seldom below a third, Chinese text seldom above a hundredth
_MIN_OWN_SHARE = 0.01  # of letters that the main language of a script lacks; Bulgarian has the fewest, one of 60
_MIN_LETTER_SHARE = 0.02  # of letters besides a to z, from which a text is hardly English
_MIN_FUNCTION_WORD_SHARE = 0.04  # running text is near a third; menus and lists fall below
_ENGLISH_BONUS = 1.5  # short words of one language are often words of another, and most pages are English
_CLEAR = 3.0  # how many times the score of the second language makes the first one certain
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
_OWN_LETTERS = {
    "ru": {"uk": "іїєґ", "sr": "јљњћђџ", "bg": "ъ"},
    "ar": {"ur": "ٹڈڑںے", "fa": "پچژگ"},
}
"""Letters that the main language of a script lacks, or has hardly ever; the first language with enough of them."""
_MAIN_LETTERS = {"ru": "ыэё", "ar": "ةىإ"}
"""Letters that only the main language of a script has."""
_LAST_USUAL_KANJI = b"\x98\x72"
"""The last character of the first level of JIS X 0208 in Shift JIS; the second level has rare ones."""
_PLAIN = bytes(code if code > 127 or chr(code).isalpha() else 32 for code in range(256)).lower()

_FUNCTION_WORDS = {
    "en": "the of and to in is for with that on by from are was this it as at be or an you your not have has will we",
    "de": "der die und das ist nicht von mit den zu ein eine einer für auf im dem sich des auch als bei wir sie oder"
    " es an wird war sind nach aus noch wie nur über ich einen zum zur",
    "fr": "le la les des et est une un du dans que pour pas sur au aux avec qui par plus vous nous ce cette sont de"
    " il elle en ne se son",
    "es": "el la los las de que y en por con para una un del se su al es como más no lo sus este esta pero fue ha",
    "it": "il di che e la per non una un sono con del della dei delle gli le da al si nel alla come più anche è ha"
    " questo",
    "pt": "o os as não uma um para com do da dos das em que é e por mais como ao na no se sua seu são de foi pela",
    "nl": "de het een van en dat niet op met zijn voor te is aan er ook bij naar door deze of uit wordt om maar worden",
    "pl": "w i na z do nie się jest to że o od po dla jak przez są oraz ale który jego może tym już także",
    "cs": "a v se na je že s z do to o i k ve pro jako ale by jsou které po si podle také jeho nebo byl",
    "sk": "a v sa na je že s z do to o aj k vo pre ako ale by sú ktoré po si podľa tiež jeho alebo bol",
    "sv": "och i att det som en på är av för den med till har inte om ett var de jag från men så kan vi eller",
    "da": "og i at det er en på af for den med til har ikke om et var de jeg fra men så kan vi eller som efter",
    "no": "og i å det er en på av for den med til har ikke om et var de jeg fra men så kan vi eller som etter ble",
    "fi": "ja on ei se että oli hän mutta ovat myös kun joka tai niin kuin sen olla mukaan voi vain ole jos",
    "ro": "și de în la a cu pe din că nu este o un pentru sunt mai care se au fost ca prin sau dar această",
    "hu": "a az és hogy nem is egy ez volt meg de ha csak már még mint vagy kell el azt ki lehet után",
    "tr": "ve bir bu da de için ile olarak daha çok olan gibi en ne var kadar sonra ama ise her değil",
    "id": "yang dan di ini itu dengan untuk dari dalam tidak akan pada juga ke adalah oleh saya ada atau bisa mereka",
    "vi": "và của là có được cho trong một các không với người này để đã những khi đến từ về",
    "hr": "i u je na se da za su od s a o koji kao ne što bi iz ili ali biti sa nije",
    "sl": "in je v na se da za so z od ki pa tudi kot ne po s bi ali kar še bil",
    "et": "ja on ei et oli see ka kui mis aga või oma ta ning selle kes seda pole",
    "lv": "un ir no ar par kas uz tā bija lai arī kā vai to pēc bet ka nav",
    "lt": "ir yra kad su iš tai į bet kaip buvo apie už ne arba jo po dar taip",
    "ca": "el la els les de que i en per amb una un del és no es als dels seva més com ha aquest",
}
_LATIN_LETTERS = {
    "en": "éèêçñïöü", "de": "äöüß", "fr": "àâæçéèêëîïôœùûüÿ", "es": "áéíñóúü", "it": "àèéìíòóù",
    "pt": "ãõáâàçéêíóôúü", "nl": "éèëïöü", "pl": "ąćęłńóśźż", "cs": "áčďéěíňóřšťúůýž", "sk": "áäčďéíĺľňóôŕšťúýž",
    "sv": "åäöé", "da": "æøåé", "no": "æøåéòô", "fi": "äöåšž", "ro": "ăâîșțşţ", "hu": "áéíóöőúüű",
    "tr": "çğıöşüâîû\u0307", "id": "é", "hr": "čćđšž", "sl": "čšž", "et": "äöõüšž", "lv": "āčēģīķļņšūž",
    "lt": "ąčęėįšųūž", "ca": "àçéèíïóòúü·",
    "vi": "ăâđêôơưàảãáạằẳẵắặầẩẫấậèẻẽéẹềểễếệìỉĩíịòỏõóọồổỗốộờởỡớợùủũúụừửữứựỳỷỹýỵ",
}  # fmt: skip
"""Letters besides a to z in which a language is written; English has those of its loan words."""
_MAX_ENGLISH_RANK = 15_000  # of a word by frequency; rarer ones in the table of word vectors are often foreign
_LANGUAGES_OF_WORD: dict[bytes, list[str]] = {}
for _code, _words in _FUNCTION_WORDS.items():
    for _word in dict.fromkeys(_words.split()):
        if len(_word) > 1 or not _word.isascii():  # lists of single letters are in no language
            _LANGUAGES_OF_WORD.setdefault(_word.encode(), []).append(_code)

RECOGNISED = frozenset(["zh", "ja", *_SPACED_SCRIPTS, *_FUNCTION_WORDS, *_OWN_LETTERS["ru"], *_OWN_LETTERS["ar"]])
"""The codes that `language` can return."""


def language(text: str) -> str:
    """Return the code of the text's language, such as ``en`` or ``zh``; empty when it is unknown."""
    sample = text[:SAMPLE_CHARACTERS].encode("utf-8", "replace").translate(_PLAIN)
    words = sample.split()
    if not sample.isascii() and (code := _by_script(sample, words)):
        return code
    hits, scores = _count_function_words(words)
    if len(text) > SAMPLE_CHARACTERS and not _is_clear(scores):  # such as a menu in English before a German article
        words = text[:LARGE_SAMPLE_CHARACTERS].encode("utf-8", "replace").translate(_PLAIN).split()
        hits, scores = _count_function_words(words)
    if not sample.isascii() and not _is_clear(scores):
        _weigh_by_letters(scores, text[:SAMPLE_CHARACTERS].lower())
    code = max(scores, key=scores.__getitem__)
    if scores["en"] * _ENGLISH_BONUS >= scores[code]:
        code = "en"
    least = max(1, _MIN_FUNCTION_WORD_SHARE * len(words))
    return code if len(words) >= _MIN_UNITS and hits[code] >= least else ""


def _by_script(sample: bytes, words: list[bytes]) -> str:
    units = {code: _count(sample, leads) / _LETTERS_PER_WORD for code, leads in _SPACED_SCRIPTS.items()}
    han, kana = _count(sample, _HAN), _count(sample, _KANA)
    units["ja" if kana > _MIN_KANA_SHARE * (han + kana) else "zh"] = han + kana
    code = max(units, key=units.__getitem__)
    latin_words = sum(map(bytes.isascii, words))
    enough = max(_MIN_UNITS, _MIN_SCRIPT_SHARE * (sum(units.values()) + latin_words))
    return _by_letters(sample, code, units[code] * _LETTERS_PER_WORD) if units[code] >= enough else ""


def _by_letters(sample: bytes, code: str, letters: float) -> str:
    """Return the language of a script's text by the letters that the script's main language lacks."""
    for other, own in _OWN_LETTERS.get(code, {}).items():
        if _count(sample, [letter.encode() for letter in own]) >= _MIN_OWN_SHARE * letters:
            return other
    return code


def _count(sample: bytes, leads: Iterable[bytes]) -> int:
    return sum(map(sample.count, leads))


def _count_function_words(words: Iterable[bytes]) -> tuple[dict[str, int], dict[str, float]]:
    """Count function words by language; also with a word of n languages as 1/√n, to compare languages.

    A single word of a language other than English is no evidence, however often it occurs.
    """
    hits, different = dict.fromkeys(_FUNCTION_WORDS, 0), dict.fromkeys(_FUNCTION_WORDS, 0)
    scores = dict.fromkeys(_FUNCTION_WORDS, 0.0)
    for word, times in Counter(filter(_LANGUAGES_OF_WORD.__contains__, words)).items():
        codes = _LANGUAGES_OF_WORD[word]
        weighted = times / len(codes) ** 0.5
        for code in codes:
            hits[code] += times
            scores[code] += weighted
            different[code] += 1
    return hits, {code: score if different[code] > 1 or code == "en" else 0.0 for code, score in scores.items()}


def _weigh_by_letters(scores: dict[str, float], text: str) -> None:
    """Lower the scores of languages that lack letters of a text; of English only where these are frequent."""
    letters = [letter for letter in text if letter > "\x7f" and letter.isalpha()]
    for code in scores if len(letters) >= _MIN_LETTER_SHARE * len(text) else scores.keys() - {"en"}:
        scores[code] *= sum(map(_LATIN_LETTERS[code].__contains__, letters)) / max(len(letters), 1)


def _is_clear(scores: dict[str, float]) -> bool:
    *_, second, first = sorted(scores.values())
    return first > 0 and first >= _CLEAR * second


def phrase_language(phrase: str) -> str:
    """Return the language of a phrase of a few words; ``und`` when it may be in several."""
    codes = phrase_languages(phrase)
    return codes[0] if len(codes) == 1 else OPEN


@lru_cache(maxsize=1 << 10)
def phrase_languages(phrase: str) -> Sequence[str]:
    """Return the languages that a phrase of a few words may be in, by its letters and its stop words.

    A phrase in which no other language has more stop words is English when most of its words are frequent in English.
    """
    codes = possible_languages(phrase)
    words = re.findall(r"[^\W\d_]{2,}", phrase.lower())
    scores = dict.fromkeys(codes, 0.0)
    for word in words:
        having = [code for code in codes if word in stop_words(code)]
        scores |= {code: scores[code] + 1 / len(having) for code in having}
    best = [code for code, score in scores.items() if score == max(scores.values())]
    return ["en"] if "en" in best and _is_english(phrase) else best


def possible_languages(phrase: str) -> Sequence[str]:
    """Return the languages that have the letters of a phrase."""
    text = phrase.lower()
    sample = text.encode("utf-8", "replace")
    if _count(sample, _KANA):
        return ["ja"]
    if _count(sample, _HAN):
        return _han_languages(text)
    for code, leads in _SPACED_SCRIPTS.items():
        if _count(sample, leads):
            return _script_languages(text, code)
    letters = {letter for letter in text if not letter.isascii() and (letter.isalpha() or letter == "\u0307")}
    return [code for code, own in _LATIN_LETTERS.items() if letters.issubset(own)]


def _han_languages(text: str) -> Sequence[str]:
    """Return zh, ja or both, by the national character sets that have all characters of a phrase."""
    japanese = all(b"" < letter.encode("shift_jis", "ignore") <= _LAST_USUAL_KANJI for letter in text)
    if not japanese:
        return ["zh"]
    is_chinese = any(text.encode(charset, "ignore").decode(charset) == text for charset in ("gb2312", "big5"))
    return ["zh", "ja"] if is_chinese else ["ja"]


def _script_languages(text: str, code: str) -> Sequence[str]:
    others = _OWN_LETTERS.get(code, {})
    if marked := [other for other, own in others.items() if any(letter in text for letter in own)]:
        return marked[:1]
    return [code] if any(letter in text for letter in _MAIN_LETTERS.get(code, "")) else [code, *others]


def _is_english(phrase: str) -> bool:
    """Return whether most words are frequent English ones; without a table of words, all are."""
    table, terms = import_module("thresher.text.word_vectors").load_word_vectors(), tokenize(phrase)
    return table is None or 2 * sum(0 < row <= _MAX_ENGLISH_RANK for row in table.rows(terms)) > len(terms)
