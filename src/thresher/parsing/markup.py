"""Limits for markup, so that it can be parsed in bounded time and memory.

By the rules of HTML a small page can be expensive: formatting elements that are not closed are opened again in every
paragraph, so 20 KB can expand to a million nodes; each start tag may search all open elements; each attribute is
compared with all before it. Ordinary pages are far below the limits and need only a cheap check. Others are read token
by token, as the standard defines them, so that scripts, comments and long values do not count as tags or attributes.

Charset detection: the declared charset of a page, checked against its bytes.

Servers and templates often declare a wrong charset. UTF-8 can be verified: text in other charsets is almost never valid
UTF-8. Other pages have the charset that they declare, if their bytes fit it; without one it is detected. It is also
detected when the declaration is one of those that many servers add to every page, or when header and page disagree.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, to_unicode

UTF_8 = "utf-8"
_CHINESE = ("gb18030", "big5hkscs")
_DEFAULT = "cp1252"  # as browsers do
_DECLARED_BY_MANY_SERVERS = (_DEFAULT, *_CHINESE)  # by their configuration, whatever they send
_TRUSTED = re.compile(
    r"gb18030|big5hkscs|euc_\w+|shift_jis\w*|cp\d+|iso8859-\d+|iso2022_\w+|koi8-[rtu]|mac-\w+|hz|johab|tis-620"
).fullmatch  # Python has codecs, such as rot13 and unicode_escape, that no page may choose
_SEVEN_BIT = re.compile(r"iso2022_\w+|hz").fullmatch
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]").search
_LATE_META = re.compile(rb"<meta\s[^>]{0,200}charset", re.IGNORECASE).search
_MULTI_BYTE = ("gb18030", "big5hkscs", "cp932", "shift_jis_2004", "euc_jis_2004", "euc_kr", "cp949")
_SINGLE_BYTE = (
    *("cp1251", "koi8-r", "koi8-u", "iso8859-5", "cp1252", "cp1250", "iso8859-2", "cp1254", "iso8859-9", "cp1257"),
    *("cp1253", "iso8859-7", "cp1256", "cp1255", "cp874", "cp1258"),
)

_SAMPLE_BYTES = 1 << 16
_MAX_DETECTION_BYTES = 2_000
_MIN_CONFIDENCE = 0.13  # of a single-byte charset; below it most pages have but a few accents, in Latin script
_LONG_ASCII = re.compile(rb"([\x00-\x7f]{12})[\x00-\x7f]++(?<=([\x00-\x7f]{12}))")
_FOREIGN_BYTES = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]|(?:[\xe2-\xef][\x80-\xbf]{2}){4,}+")  # controls, UTF-8
_MAX_BROKEN_SHARE = 0.1  # of the sequences of a page that mixes its charset with something else


def decode(body: bytes, content_type: str) -> str:
    """Decode the bytes of a page; invalid sequences become U+FFFD.

    Args:
        body: The page after content decoding.
        content_type: The Content-Type header; may be empty.
    """
    return decode_with_charset(body, content_type)[0]


def decode_with_charset(body: bytes, content_type: str) -> tuple[str, str]:
    """Decode the bytes of a page; return also the charset, as Python calls it."""
    encoding, mark = read_bom(body)
    if encoding and mark:
        return to_unicode(body[len(mark) :], encoding), encoding
    if b"\0" in body[:1024] and (encoding := _wide(body[:1024])):
        return to_unicode(body, encoding), encoding
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and not body[: error.start].isascii():
            return body[: error.start].decode(), UTF_8  # a download that was truncated inside a character
        encoding = _legacy_charset(body, content_type)
        return to_unicode(body, encoding), encoding
    if (b"\x1b" in body or b"~{" in body) and (encoding := _seven_bit_charset(body, content_type)):
        return to_unicode(body, encoding), encoding
    return text, UTF_8


def _wide(head: bytes) -> str:
    """Recognise UTF-16 without a byte order mark: markup is ASCII, so every second byte of it is zero."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) < len(head) // 8 or min(even, odd) * 4 > max(even, odd):
        return ""
    return "utf-16-be" if even > odd else "utf-16-le"


def _seven_bit_charset(body: bytes, content_type: str) -> str:
    declared = next(filter(_SEVEN_BIT, _declared(body, content_type)), "")
    return declared or ("iso2022_jp" if _ISO_2022_JP(body) else "")


def _legacy_charset(body: bytes, content_type: str) -> str:
    """Return the charset of a page that is not valid UTF-8: the declared one, unless that is doubtful."""
    text = body.decode(UTF_8, "replace")
    if text.count("\ufffd") < _MAX_BROKEN_SHARE * (len(body) - len(text)):
        return UTF_8
    declared = [name for name in _declared(body, content_type) if _fits(body, name)]
    if len(set(declared)) == 1 and declared[0] not in _DECLARED_BY_MANY_SERVERS:
        return declared[0]
    detected = _detected(body)
    if not declared or detected in (*declared, *_CHINESE):
        return detected
    specific = [name for name in declared if name not in _DECLARED_BY_MANY_SERVERS]
    return specific[0] if specific and detected != _DEFAULT else declared[0]


def _declared(body: bytes, content_type: str) -> list[str]:
    """Return the charsets that header and markup declare, the header's first, without UTF-8."""
    in_markup = html_body_declared_encoding(body)
    if not in_markup and (late := _LATE_META(body)):
        in_markup = html_body_declared_encoding(body[late.start() :])
    return [name for name in (http_content_type_encoding(content_type), in_markup) if name and _TRUSTED(name)]


def _fits(body: bytes, encoding: str) -> bool:
    """Return whether a charset is plausible: it decodes all but a few of the non-ASCII characters."""
    text = to_unicode(body[:_SAMPLE_BYTES], encoding)
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    return text.count("\ufffd") <= max(1, _MAX_BROKEN_SHARE * foreign)  # one may be cut off


def _detected(body: bytes) -> str:
    """Guess the charset of a page by its first words with non-ASCII bytes; long ASCII is markup or scripts."""
    import chardet  # its tables take a moment to load, and few pages need them

    sample = _FOREIGN_BYTES.sub(b" ", _LONG_ASCII.sub(rb"\1 \2", body[:_SAMPLE_BYTES])[:_MAX_DETECTION_BYTES])
    found = chardet.detect(sample, include_encodings=_MULTI_BYTE + _SINGLE_BYTE, compat_names=False)
    name = found["encoding"] or _DEFAULT
    return name if name in _MULTI_BYTE or found["confidence"] >= _MIN_CONFIDENCE else _DEFAULT


MAX_CHARACTERS = 4 << 20
MAX_TAGS = 100_000
MAX_DEPTH = 1_000
MAX_ATTRIBUTES = 1_000
MAX_UNFOLDED_NODES = 500_000

# Limits of what is hidden in scripts, comments and values: harmless even if the parser reads it as tags after all.
_MAX_BRACKETS = 2 * MAX_TAGS
_MAX_HIDDEN_TAGS = 10_000
_MAX_HIDDEN_ATTRIBUTES = 10_000

# Below these sizes even the worst page is parsed in less than a second.
_HARMLESS_TAGS = 12_000
_HARMLESS_CHARACTERS = 1 << 18
_HARMLESS_GAP = 1 << 16
_LONG_GAP = re.compile(rf"<[^<]{{{_HARMLESS_GAP}}}").search

# The tokens of HTML, as its standard defines them; possessive, so that no input makes a search go back. Elements of raw
# text and comments are one token with what they contain.
_BLANK = r"[\t\n\f\r ]"
_ATTRIBUTE = rf"""[^\t\n\f\r />][^\t\n\f\r />=]*+(?:{_BLANK}*+={_BLANK}*+(?:"[^"]*+"?|'[^']*+'?|[^\t\n\f\r >]*+))?+"""
_ATTRIBUTES = rf"(?:[\t\n\f\r /]++|{_ATTRIBUTE})*+"
_ATTRIBUTES_OF = re.compile(_ATTRIBUTE).findall
_RAW_TEXT = "script|style|textarea|title|xmp|iframe|noembed|noframes"
_TOKENS = re.compile(
    rf"<(?:(?P<raw>(?i:{_RAW_TEXT}))(?=[\t\n\f\r />])(?P<raw_attributes>{_ATTRIBUTES})>"
    r"(?P<text>(?:[^<]++|<(?!/(?i:(?P=raw))[\t\n\f\r />]))*+)"
    r"|!--(?!-?>)(?P<comment>(?:[^-]++|-(?!-!?>))*+)"
    rf"|(?P<slash>/?)(?P<name>[a-zA-Z][^\t\n\f\r />]*+)(?P<attributes>{_ATTRIBUTES})>?)"
).finditer
_TAG_START = re.compile("<[a-zA-Z]").findall
_LONG_HIDDEN_TAG = re.compile(rf"<[a-zA-Z](?:[^\s<>]*+\s){{{_MAX_HIDDEN_ATTRIBUTES}}}").search

_FORMATTING = ("b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
_MAX_EQUAL_OPEN = 3  # a parser keeps at most three equal elements of a kind open
_EQUAL_OPEN = _MAX_EQUAL_OPEN * len(_FORMATTING)
# Finds all formatting tags with attributes, and some others: a fast check, since it is done for nearly every page.
_TAGS_WITH_ATTRIBUTES = re.compile(r"<([bcefinstuBCEFINSTU][a-zA-Z]{0,5})[\s/]").findall
_FORMATTING_START = rf"<((?i:{'|'.join(_FORMATTING)}))(?=([\t\n\f\r /])|>)"
_FORMATTING_STARTS = re.compile(_FORMATTING_START).findall
_PLAIN_ATTRIBUTES = rf"""(?:[^<>"'=]++|={_BLANK}*+(?:"[^"<]*+"|'[^'<]*+'|[^<>"'=\t\n\f\r ]++(?={_BLANK}|>)))*+"""
_CLOSED_AFTER_TEXT = re.compile(rf"{_FORMATTING_START}{_PLAIN_ATTRIBUTES}>[^<]*+</(?i:\1)>").findall
_FORMATTING_TAG = re.compile(rf"</?(?:{'|'.join(_FORMATTING)})(?=[\s/>])[^>]*>?", re.IGNORECASE)

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
    if tags * (_EQUAL_OPEN + tags) > MAX_UNFOLDED_NODES and _may_unfold(source, tags):
        source = _FORMATTING_TAG.sub("<!>", source)  # formatting changes neither text nor links, nor does a comment
    if tags > _HARMLESS_TAGS or len(source) > _HARMLESS_CHARACTERS or _has_long_tag(source):
        return source[: _end_of_bounds(source)]
    return source


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


def _end_of_bounds(source: str) -> int:
    """Return the position of the first token that exceeds a limit: depth, attributes, tags, or tags that are hidden."""
    open_elements: Counter[str] = Counter()
    depth = hidden_tags = 0
    for number, token in enumerate(_TOKENS(source)):
        attributes, hidden = token["attributes"] or token["raw_attributes"], token["text"] or token["comment"] or ""
        if attributes and len(attributes) > MAX_ATTRIBUTES:
            if len(_ATTRIBUTES_OF(attributes)) > MAX_ATTRIBUTES or len(attributes.split()) > _MAX_HIDDEN_ATTRIBUTES:
                return token.start()
            hidden_tags += len(_TAG_START(attributes))
        if hidden:
            if len(hidden) > _HARMLESS_GAP and _LONG_HIDDEN_TAG(hidden):
                return token.start()
            hidden_tags += len(_TAG_START(hidden))
        elif (name := (token["name"] or "").lower()) and name not in _FLAT:
            if not token["slash"]:
                open_elements[name] += 1
                depth += 1
            elif open_elements[name]:
                open_elements[name] -= 1
                depth -= 1
        if number >= MAX_TAGS or depth > MAX_DEPTH or hidden_tags > _MAX_HIDDEN_TAGS:
            return token.start()
    return len(source)


MAX_CACHED_BYTES = 1 << 18
"""Longer bodies are decoded again when they are stored, so that the cache stays small."""


def markup(body: bytes, content_type: str) -> str:
    """Return the decoded and limited markup of a page; that of recent pages is cached, since it is also stored.

    Args:
        body: The page after content decoding.
        content_type: The Content-Type header; may be empty.
    """
    return markup_with_charset(body, content_type)[0]


def markup_with_charset(body: bytes, content_type: str) -> tuple[str, str]:
    """Return the same, and the charset of the page."""
    return _recent(body, content_type) if len(body) <= MAX_CACHED_BYTES else _decoded(body, content_type)


def _decoded(body: bytes, content_type: str) -> tuple[str, str]:
    text, charset = decode_with_charset(body, content_type)
    return limit_markup(text), charset


_recent = lru_cache(maxsize=8)(_decoded)
