"""Limits for markup, so that it can be parsed in bounded time and memory.

By the rules of HTML a small page can be expensive: formatting elements that are not closed are opened again in every
paragraph, so 20 KB can expand to a million nodes; each start tag may search all open elements; each attribute is
compared with all before it. Ordinary pages are far below the limits and need only a cheap check.

Charset detection: the declared charset of a page, checked against its bytes.

Servers and templates often declare a wrong charset. UTF-8 can be verified: text in other charsets is almost never valid
UTF-8. Chinese charsets are distinguished by the share of common characters in the decoded text.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, to_unicode

_CHINESE = ("gb18030", "big5hkscs")
_DEFAULT = "cp1252"  # as browsers do
_TRUSTED = re.compile(
    r"gb18030|big5hkscs|euc_\w+|shift_jis\w*|cp\d+|iso8859-\d+|iso2022_\w+|koi8-[rtu]|mac-\w+|hz|johab|tis-620"
).fullmatch  # Python has codecs, such as rot13 and unicode_escape, that no page may choose
_SEVEN_BIT = re.compile(r"iso2022_\w+|hz").fullmatch

_SAMPLE_BYTES = 65_536
_SAMPLE_CHARACTERS = 2_000
_NOT_ASCII = re.compile("[^\x00-\x7f]").finditer
_MIN_COMMON_SHARE = 0.35  # real Chinese is above 0.6, text decoded with the wrong charset below 0.2
_SURE_EXTRA_BYTES = 24  # this many bytes of valid UTF-8 sequences cannot be a coincidence
_MAX_BROKEN_SHARE = 0.1  # of the sequences of a page that mixes its charset with something else

_COMMON_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种"
    "事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第"
    "公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合"
    "回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活更别打女变四神总何"
    "电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基书非则听白却"
    "界达光放强即像难且权思王完设式色路记南品住告类求据程北边张该交规万取望觉术领共确传师观清今切院让识带导争运"
    "网站首页登录册闻联系版图片视频载服校究研"
)
_COMMON_TRADITIONAL = (
    "這個們來為國說時會對於著過發後裡種經麼學現當沒動還進樣開從實軍無與長機關點業將兩間問並應戰頭體見產話"
    "內給門兒東聲員論處義幾認條氣題別變總電數報結務場計資許統區隊決馬書則聽卻界達強難權設記類據邊張該規萬覺術領確傳師"
    "觀讓識帶導爭運網頁錄冊聞聯繫圖視頻載試碩"
)
_COMMON = frozenset(_COMMON_SIMPLIFIED + _COMMON_TRADITIONAL + "，。、：；！？（）《》“”·—　０１２３４５６７８９")


def decode(body: bytes, content_type: str) -> str:
    """Decode the bytes of a page; invalid sequences become U+FFFD.

    Args:
        body: The page after content decoding.
        content_type: The Content-Type header; may be empty.
    """
    encoding, mark = read_bom(body)
    if encoding and mark:
        return to_unicode(body[len(mark) :], encoding)
    if b"\0" in body[:1024] and (encoding := _wide(body[:1024])):
        return to_unicode(body, encoding)
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and not body[: error.start].isascii():
            return body[: error.start].decode()  # a download that was truncated inside a character
        return _decode_other(body, content_type)
    if _may_be_another(body, text):
        return _decode_doubtful(body, text, content_type)
    return text


def _wide(head: bytes) -> str:
    """Recognise UTF-16 without a byte order mark: markup is ASCII, so every second byte of it is zero."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) < len(head) // 8 or min(even, odd) * 4 > max(even, odd):
        return ""
    return "utf-16-be" if even > odd else "utf-16-le"


def _may_be_another(body: bytes, text: str) -> bool:
    """Return whether valid UTF-8 could be a coincidence: few non-ASCII bytes, or a 7-bit charset with shift codes."""
    if text.isascii():
        return b"\x1b" in body or b"~{" in body
    return len(body) - len(text) < _SURE_EXTRA_BYTES


def _decode_doubtful(body: bytes, text: str, content_type: str) -> str:
    declared = _declared(body, content_type)
    if any(_SEVEN_BIT(name) for name in declared):
        return to_unicode(body, next(filter(_SEVEN_BIT, declared)))
    if declared and declared[0] in _CHINESE and _common_share(body, declared[0]) > _common_share(body, "utf-8"):
        return to_unicode(body, declared[0])
    return text


def _decode_other(body: bytes, content_type: str) -> str:
    text = body.decode("utf-8", "replace")
    if text.count("\ufffd") < _MAX_BROKEN_SHARE * (len(body) - len(text)):
        return text
    shares = {name: _common_share(body, name) for name in _CHINESE}
    best = max(_CHINESE, key=shares.__getitem__)
    if shares[best] >= _MIN_COMMON_SHARE:
        return to_unicode(body, best)
    return to_unicode(body, next((name for name in _declared(body, content_type) if _fits(body, name)), _DEFAULT))


def _declared(body: bytes, content_type: str) -> list[str]:
    """Return the charsets that header and markup declare, the header's first, without UTF-8."""
    names = (http_content_type_encoding(content_type), html_body_declared_encoding(body))
    return [name for name in names if name and _TRUSTED(name)]


def _fits(body: bytes, encoding: str) -> bool:
    """Return whether a charset is plausible: it decodes all but a few of the non-ASCII characters."""
    text = to_unicode(body[:_SAMPLE_BYTES], encoding)
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    return text.count("\ufffd") <= max(1, _MAX_BROKEN_SHARE * foreign)  # one may be cut off


def _common_share(body: bytes, encoding: str) -> float:
    """Return the share of common Chinese characters among the non-ASCII ones."""
    text = to_unicode(body[:_SAMPLE_BYTES], encoding)
    characters = [match[0] for match, _ in zip(_NOT_ASCII(text), range(_SAMPLE_CHARACTERS), strict=False)]
    return sum(character in _COMMON for character in characters) / max(1, len(characters))


MAX_CHARACTERS = 4 << 20
MAX_TAGS = 100_000
MAX_DEPTH = 1_000
MAX_ATTRIBUTES = 1_000
MAX_UNFOLDED_NODES = 500_000

_MAX_BRACKETS = 2 * MAX_TAGS  # not each begins a tag, but each is checked

# Below these sizes even the worst page is parsed in less than a second.
_HARMLESS_TAGS = 12_000
_HARMLESS_CHARACTERS = 1 << 18
_HARMLESS_GAP = 1 << 16

_FORMATTING = ("b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
_EQUAL_OPEN = 3 * len(_FORMATTING)  # a parser keeps at most three equal elements of a kind open
# Finds all formatting tags with attributes, and some others: a fast check, since it is done for nearly every page.
_TAGS_WITH_ATTRIBUTES = re.compile(r"<([bcefinstuBCEFINSTU][a-zA-Z]{0,5})[\s/]").findall
_FORMATTING_TAG = re.compile(rf"</?(?:{'|'.join(_FORMATTING)})(?=[\s/>])[^>]*>?", re.IGNORECASE)

_TAG = re.compile(r"""<(/?)([a-zA-Z][^\s/>]*+)((?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)""").finditer
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
_CLOSED_BY_THE_NEXT = {"p", "li", "dt", "dd", "td", "th", "tr", "option", "tbody", "thead"}
_FLAT = _VOID | _CLOSED_BY_THE_NEXT


def limit_markup(source: str) -> str:
    """Return the part of a page's markup that can be parsed safely; all of it, for an ordinary page."""
    source = source[:MAX_CHARACTERS]
    tags = source.count("<")
    if tags > _MAX_BRACKETS:
        source = source[: -1 - len(source.split("<", _MAX_BRACKETS)[-1])]
        tags = _MAX_BRACKETS
    if tags * (_EQUAL_OPEN + tags) > MAX_UNFOLDED_NODES and tags * _most_open(source) > MAX_UNFOLDED_NODES:
        source = _FORMATTING_TAG.sub("", source)  # formatting changes neither text nor links
    if tags > _HARMLESS_TAGS or len(source) > _HARMLESS_CHARACTERS or _has_long_tag(source):
        return source[: _end_of_bounds(source)]
    return source


def _most_open(source: str) -> int:
    """Return an upper bound of the formatting elements that can be open at the same time."""
    return _EQUAL_OPEN + sum(name.lower() in _FORMATTING for name in _TAGS_WITH_ATTRIBUTES(source))


def _has_long_tag(source: str) -> bool:
    return len(source) > _HARMLESS_GAP and max(map(len, source.split("<"))) > _HARMLESS_GAP


def _end_of_bounds(source: str) -> int:
    """Return the position of the first tag that exceeds a limit: depth, attributes, or number of tags."""
    open_elements: Counter[str] = Counter()
    depth = 0
    for number, tag in enumerate(_TAG(source)):
        slash, name, attributes = tag.groups()
        if number >= MAX_TAGS or (len(attributes) > MAX_ATTRIBUTES and len(attributes.split()) > MAX_ATTRIBUTES):
            return tag.start()
        name = name.lower()
        if name in _FLAT:
            continue
        if not slash:
            open_elements[name] += 1
            depth += 1
        elif open_elements[name]:
            open_elements[name] -= 1
            depth -= 1
        if depth > MAX_DEPTH:
            return tag.start()
    return len(source)


MOST_CACHED_BYTES = 1 << 18
"""Longer bodies are decoded again when they are stored, so that the cache stays small."""


def markup(body: bytes, content_type: str) -> str:
    """Return the decoded and limited markup of a page; that of recent pages is cached, since it is also stored.

    Args:
        body: The page after content decoding.
        content_type: The Content-Type header; may be empty.
    """
    return _recent(body, content_type) if len(body) <= MOST_CACHED_BYTES else _decoded(body, content_type)


def _decoded(body: bytes, content_type: str) -> str:
    return limit_markup(decode(body, content_type))


_recent = lru_cache(maxsize=8)(_decoded)
