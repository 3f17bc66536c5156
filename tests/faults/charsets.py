"""Pages whose bytes are not what they declare: our own English and Chinese text in many wrappings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from thresher_lab.webs.vocabulary.prose import prose

_TRADITIONAL_TITLES = [
    "臺灣鐵路的歷史與現況", "音樂廳裡的鋼琴聲", "學習攝影的第一個月", "海邊漁村的夏天", "怎樣選購望遠鏡",
    "古城牆的發掘報告", "足球隊的訓練計畫", "關於園藝的幾個問題", "廚房裡的香料", "從帆船看氣象",
    "圖書館開放時間", "醫學院的新課程", "銀行與匯率", "程式設計入門", "電車博物館參觀記",
]  # fmt: skip
_TRADITIONAL_SENTENCES = [
    "這是一個介紹鐵路與車站的網頁，我們在這裡說明它的歷史。", "許多人先學習樂理，然後才開始練習鋼琴。",
    "沒有這些資料，今天誰也不能說清楚當時的情況。", "為了準備這次展覽，他們花了兩個星期整理圖片。",
    "先選擇題目，再閱讀書籍，最後寫下自己的意見。", "這個問題與氣候有關，專家們還沒有得出結論。",
    "學生應該在開學之前，把該讀的書都讀完。",
]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A page as it comes, and its true title."""

    kind: str
    title: str
    body: bytes
    content_type: str


@dataclass(frozen=True)
class _Lie:
    """How a page is written, and what it says: in the header, in the markup, and what else stands in it."""

    language: str
    encoding: str
    header: str = ""
    meta: str = ""
    fragment: str = ""
    short: bool = False


LIES = [
    _Lie("zh", "gbk", header="utf-8"),
    _Lie("zh", "gbk"),
    _Lie("zh", "gbk", meta="utf-8"),
    _Lie("zh", "gbk", header="iso-8859-1", meta="gb2312"),
    _Lie("zh", "gbk", header="big5", short=True),
    _Lie("zh", "gbk", header="utf-8", meta="utf-8", short=True),
    _Lie("zh", "gbk", fragment="utf-8"),
    _Lie("zh", "gbk", header="utf-8", fragment="utf-8"),
    _Lie("zh", "gb18030", header="gb2312"),
    _Lie("zh", "gb18030", header="utf-8"),
    _Lie("zh", "utf-8", header="gb2312"),
    _Lie("zh", "utf-8", header="big5", meta="gbk"),
    _Lie("zh", "utf-8", header="gb2312", short=True),
    _Lie("zh", "utf-8", fragment="gbk"),
    _Lie("zh", "utf-16-le", header="utf-8"),
    _Lie("zh", "utf-16-be", meta="utf-16"),
    _Lie("zh", "utf-16-le", short=True),
    _Lie("zh-tw", "big5", header="utf-8"),
    _Lie("zh-tw", "big5", header="gb2312", meta="big5"),
    _Lie("zh-tw", "big5", short=True),
    _Lie("zh-tw", "big5", fragment="utf-8"),
    _Lie("zh-tw", "utf-8", header="big5"),
    _Lie("zh-tw", "gbk", header="big5"),
    _Lie("en", "cp1252", header="utf-8"),
    _Lie("en", "cp1252", header="gb2312"),
    _Lie("en", "cp1252", meta="big5"),
    _Lie("en", "cp1252", short=True),
    _Lie("en", "cp1252", meta="utf-16"),
    _Lie("en", "cp1252", header="utf-8", fragment="utf-8"),
    _Lie("en", "utf-8", header="iso-8859-1"),
    _Lie("en", "utf-8", header="gbk", meta="iso-8859-1"),
    _Lie("en", "utf-8", header="big5", short=True),
    _Lie("en", "utf-8", fragment="cp1252"),
    _Lie("en", "utf-8-sig", header="gbk"),
    _Lie("en", "utf-16-le"),
    _Lie("en", "utf-16-be", header="iso-8859-1"),
    _Lie("en", "ascii", header="utf-16"),
]


def pages(number: int) -> Iterator[Case]:
    """Write `number` pages, one lie after the other, each with words of its own."""
    for seed in range(number):
        yield _page(LIES[seed % len(LIES)], Random(seed))


def _page(lie: _Lie, random: Random) -> Case:
    title, sentences = _words(lie, random)
    text = "".join(f"<p>{sentence}</p>\n" for sentence in sentences[: 1 if lie.short else len(sentences)])
    meta = f'<meta http-equiv="Content-Type" content="text/html; charset={lie.meta}">' if lie.meta else ""
    whole = f"<html><head>{meta}<title>{title}</title></head><body>\n{text}<!--here--></body></html>"
    body = whole.encode(lie.encoding)
    if lie.fragment:  # what another program put into the page
        body = body.replace(b"<!--here-->", f"<div>{sentences[0]}</div>".encode(lie.fragment))
    content_type = f"text/html; charset={lie.header}" if lie.header else "text/html"
    kind = f"{lie.language} {lie.encoding} header={lie.header} meta={lie.meta} mixed={lie.fragment} short={lie.short}"
    return Case(kind, title, body, content_type)


def _words(lie: _Lie, random: Random) -> tuple[str, list[str]]:
    if lie.language == "zh-tw":
        return random.choice(_TRADITIONAL_TITLES), random.sample(_TRADITIONAL_SENTENCES, k=6)
    writer = prose(lie.language, random.choice(["Arts/Music", "Science/Astronomy", "Society/Finance"]), 0.5)
    title, sentences = writer.title(random.getrandbits(60)), writer.text(random, 600)
    if lie.encoding == "gb18030":
        return f"{title}㐀𠮷", sentences
    if lie.language == "en" and lie.encoding != "ascii":
        return f"Café “{title}” – naïve", [f"It’s a résumé: {sentence}" for sentence in sentences]
    return title, sentences
