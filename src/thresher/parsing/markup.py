"""Limits for markup, so that it can be parsed in bounded time and memory.

By the rules of HTML a small page can be expensive: formatting elements that are not closed are opened again in every
paragraph, so 20 KB can expand to a million nodes; each start tag may search all open elements; each attribute is
compared with all before it. Ordinary pages are far below the limits and need only a cheap check. Others are read token
by token, as the standard defines them, so that scripts, comments and long values do not count as tags or attributes.

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

# Limits that hold even if the parser reads as markup what the standard says is the text of a script, or a value.
_MAX_BRACKETS = 2 * MAX_TAGS
_MAX_HIDDEN_TAGS = 10_000
_MAX_BLANKS_IN_TAG = 10_000

_SHORT_TAG = 1_000  # characters; has few attributes

# Below these sizes even the worst page is parsed in less than a second.
_HARMLESS_TAGS = 12_000
_HARMLESS_CHARACTERS = 1 << 18
_HARMLESS_GAP = 1 << 16
_LONG_GAP = re.compile(rf"<[^<]{{{_HARMLESS_GAP}}}").search

# The tokens of HTML, as its standard defines them; possessive, so that no input makes a search go back.
_BLANK = r"[\t\n\f\r ]"
_ATTRIBUTE = rf"""[^\t\n\f\r />][^\t\n\f\r />=]*+(?:{_BLANK}*+={_BLANK}*+(?:"[^"]*+"?|'[^']*+'?|[^\t\n\f\r >]*+))?+"""
_ATTRIBUTES = rf"(?:[\t\n\f\r /]++|{_ATTRIBUTE})*+"
_ATTRIBUTES_OF = re.compile(_ATTRIBUTE).findall
_TOKENS = re.compile(rf"<(?:(/?)([a-zA-Z][^\t\n\f\r />]*+)({_ATTRIBUTES})>?|!--|[!?/])").finditer
_COMMENT_END = re.compile(r"(?<=<!--)-?>|--!?>").search
_TAG_START = re.compile("<[a-zA-Z]").findall

_FORMATTING = ("b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
_MAX_EQUAL_OPEN = 3  # a parser keeps at most three equal elements of a kind open
_EQUAL_OPEN = _MAX_EQUAL_OPEN * len(_FORMATTING)
# Finds all formatting tags with attributes, and some others: a fast check, since it is done for nearly every page.
_TAGS_WITH_ATTRIBUTES = re.compile(r"<([bcefinstuBCEFINSTU][a-zA-Z]{0,5})[\s/]").findall
_FORMATTING_START = rf"<((?i:{'|'.join(_FORMATTING)}))(?=([\t\n\f\r /])|>)"
_FORMATTING_STARTS = re.compile(_FORMATTING_START).findall
_CLOSED_AFTER_TEXT = re.compile(rf"{_FORMATTING_START}{_ATTRIBUTES}>[^<]*+</(?i:\1)>").findall
_FORMATTING_TAG = re.compile(rf"</?(?:{'|'.join(_FORMATTING)})(?=[\s/>])[^>]*>?", re.IGNORECASE)

_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
_CLOSED_BY_THE_NEXT = {"p", "li", "dt", "dd", "td", "th", "tr", "option", "tbody", "thead"}
_FLAT = _VOID | _CLOSED_BY_THE_NEXT
_RAW_TEXT = {
    name: re.compile(rf"</(?i:{name})(?=[\t\n\f\r />])").search
    for name in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
}
_SPECIAL = frozenset({"", "svg", "math", "frameset", *_RAW_TEXT})
_SCRIPT_MARK = re.compile(r"<!--|-->|<(/?)(?i:script)(?=[\t\n\f\r />])").search
_FOREIGN = ("svg", "math")
_HTML_INSIDE_FOREIGN = {"foreignobject", "desc", "title", "annotation-xml", "mi", "mo", "mn", "ms", "mtext"}
_ENDS_FOREIGN = re.compile(
    "b|big|blockquote|body|br|center|code|d[dlt]|div|em|embed|font|frameset|h[1-6r]|head|i|img|li|listing|menu|meta|nobr"
    "|ol|p|pre|ruby|s|small|span|strong|strike|su[bp]|table|tt|u|ul|var"
).fullmatch
_DOUBTFUL_TAG = re.compile(r"<(?=(?:svg|math|frameset)[\t\n\f\r />])", re.IGNORECASE)


def limit_markup(source: str) -> str:
    """Return the part of a page's markup that can be parsed safely; all of it, for an ordinary page."""
    source = source[:MAX_CHARACTERS]
    tags = source.count("<")
    if tags > _MAX_BRACKETS:
        source = source[: -1 - len(source.split("<", _MAX_BRACKETS)[-1])]
        tags = _MAX_BRACKETS
    if tags * (_EQUAL_OPEN + tags) > MAX_UNFOLDED_NODES and _may_unfold(source, tags):
        source = _FORMATTING_TAG.sub("<!>", source)  # formatting changes neither text nor links, nor does a comment
    if tags > _HARMLESS_TAGS or len(source) > _HARMLESS_CHARACTERS or _has_long_tag(source):
        return _limited(source)
    return source


def _limited(source: str) -> str:
    try:
        return source[: _MarkupScan(source).end()]
    except _DoubtfulMarkup:
        source = _DOUBTFUL_TAG.sub("<!", source)  # a comment, for every parser
        return source[: _MarkupScan(source).end()]


def _may_unfold(source: str, tags: int) -> bool:
    """Return whether formatting elements that stay open may become too many nodes."""
    with_attributes = sum(name.lower() in _FORMATTING for name in _TAGS_WITH_ATTRIBUTES(source))
    if tags * (_EQUAL_OPEN + with_attributes) <= MAX_UNFOLDED_NODES:
        return False
    left_open = Counter((name.lower(), bool(blank)) for name, blank in _FORMATTING_STARTS(source))
    left_open.subtract((name.lower(), bool(blank)) for name, blank in _CLOSED_AFTER_TEXT(source))
    most = sum(count if attributes else min(count, _MAX_EQUAL_OPEN) for (_, attributes), count in left_open.items())
    return tags * most > MAX_UNFOLDED_NODES


def _has_long_tag(source: str) -> bool:
    return len(source) > _HARMLESS_GAP and _LONG_GAP(source) is not None


class _DoubtfulMarkup(Exception):
    """SVG, MathML or frames so malformed that one cannot easily tell what of the following is raw text."""


class _MarkupScan:
    """Finds the first tag of a page that exceeds a limit: depth, attributes, or number of tags.

    Comments, and the text of scripts, styles and the like, are skipped just as a parser skips them: otherwise they
    could hide tags from this scan that the parser then finds.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._open: Counter[str] = Counter()
        self._depth = 0
        self._hidden_tags = 0
        self._foreign = 0
        self._in_foreign: set[str] = set()
        self._may_contain_html = ""

    def end(self) -> int:
        """Return the position of that tag, or the length of the page."""
        tags = position = 0
        while position < len(self._source):
            position, start = len(self._source), position
            for token in _TOKENS(self._source, start):
                slash, name, attributes = token.groups()
                name, end = name.lower() if name else "", token.end()
                if name in _SPECIAL or self._foreign:
                    end = self._end_of_special(slash, name, token)
                elif name not in _FLAT:
                    self._count(slash, name)
                tags += 1
                if tags > MAX_TAGS or self._depth > MAX_DEPTH or self._hides_too_much(attributes):
                    return token.start()
                if end != token.end():
                    position = end
                    break
        return len(self._source)

    def _count(self, slash: str, name: str) -> None:
        if not slash:
            self._open[name] += 1
            self._depth += 1
        elif self._open[name]:
            self._open[name] -= 1
            self._depth -= 1

    def _hides_too_much(self, attributes: str | None) -> bool:
        """Return whether a tag has too many attributes, or too many tags were inside values, scripts and the like."""
        if attributes and len(attributes) > _SHORT_TAG:
            if "<" in attributes:
                self._hidden_tags += len(_TAG_START(attributes))
            if len(attributes.split()) > _MAX_BLANKS_IN_TAG or len(_ATTRIBUTES_OF(attributes)) > MAX_ATTRIBUTES:
                return True
        return self._hidden_tags > _MAX_HIDDEN_TAGS

    def _end_of_special(self, slash: str, name: str, token: re.Match[str]) -> int:
        """Handle a comment, a tag of raw text or one in SVG; return where the scan goes on."""
        if not name:
            return self._end_of_comment(token)
        if self._foreign or name in _FOREIGN or name == "frameset":
            self._check_foreign(slash, name, token[3])
        if name in _RAW_TEXT and not slash and not self._foreign:
            return self._skipped(token.end(), self._end_of_raw_text(name, token.end()))
        if name not in _FLAT:
            self._count(slash, name)
        return token.end()

    def _end_of_comment(self, token: re.Match[str]) -> int:
        start = token.end()
        if token[0] == "<!--":
            found = _COMMENT_END(self._source, start)
            return self._skipped(start, found.end() if found else len(self._source))
        if self._foreign and self._source.startswith("[CDATA[", start):
            raise _DoubtfulMarkup
        end = self._source.find(">", start)
        return self._skipped(start, end if end >= 0 else len(self._source))

    def _check_foreign(self, slash: str, name: str, attributes: str) -> None:
        """Follow where SVG and MathML begin and end, as long as that is beyond doubt."""
        container, self._may_contain_html = self._may_contain_html, ""
        if container and not (slash and name == container):
            raise _DoubtfulMarkup
        if slash:
            if self._foreign and name not in self._in_foreign:
                raise _DoubtfulMarkup
            self._foreign -= bool(self._foreign) and name in _FOREIGN
            return
        if _ENDS_FOREIGN(name) or (name in _FOREIGN and attributes.endswith("/")):
            raise _DoubtfulMarkup
        if not self._foreign:
            self._in_foreign.clear()
        self._in_foreign.add(name)
        self._foreign += name in _FOREIGN
        self._may_contain_html = name if name in _HTML_INSIDE_FOREIGN else ""

    def _end_of_raw_text(self, name: str, position: int) -> int:
        found = _RAW_TEXT[name](self._source, position)
        end = found.start() if found else len(self._source)
        if name == "script" and self._source.find("<!--", position, end) >= 0:
            return self._end_of_script(position)
        return end

    def _end_of_script(self, position: int) -> int:
        """Return where a script ends; a script inside a comment inside it has an end tag of its own."""
        in_comment = in_inner = False
        while mark := _SCRIPT_MARK(self._source, position):
            position = mark.end()
            if mark[0] == "<!--":
                in_comment, position = True, position - len("--")
            elif mark[0] == "-->":
                in_comment = in_inner = False
            elif not mark[1]:
                in_inner = in_comment
            elif in_inner:
                in_inner = False
            else:
                return mark.start()
        return len(self._source)

    def _skipped(self, start: int, end: int) -> int:
        self._hidden_tags += len(_TAG_START(self._source, start, end))
        return end


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
