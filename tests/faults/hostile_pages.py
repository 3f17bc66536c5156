"""Crawl folders full of text that a browser would run, obey or read backwards, if it were more than text."""

from __future__ import annotations

import asyncio
import json
from itertools import product
from pathlib import Path

from thresher.crawl import CrawlSetup
from thresher.reasons.legacy import legacy_reason
from thresher.records import Candidate, Outcome
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.urls.canonical import canonicalize, fingerprint

RUNS = "window.executed=(window.executed||0)+1"
PRODUCT = "9801547"
"""What templates would make of the sum in some of the texts; it stands in none of them."""

_MARKUP = [
    f"<script>{RUNS}</script>",
    f"</script><script>{RUNS}</script>",
    f"</title></textarea></style><script>{RUNS}</script>",
    f'"><script>{RUNS}</script>',
    f"'><script>{RUNS}</script>",
    f"<ScRiPt >{RUNS}</sCrIpT>",
    f"<script src=data:text/javascript,{RUNS}></script>",
    f"<img src=x onerror={RUNS}>",
    f'" onerror="{RUNS}" onfocus="{RUNS}" autofocus x="',
    f"' onmouseover='{RUNS}' x='",
    f"<svg onload={RUNS}>",
    f"<svg><script>{RUNS}</script></svg>",
    f"<svg><animate onbegin={RUNS} attributeName=x dur=1s>",
    f"</svg><img src=x onerror={RUNS}>",
    f"<math><mtext></p><style><!--</style><img title='--&gt;&lt;img src=1 onerror={RUNS}&gt;'>",
    f"<details open ontoggle={RUNS}>",
    f"<body onload={RUNS}><input autofocus onfocus={RUNS}>",
    f"<iframe srcdoc='<script>parent.{RUNS}</script>'></iframe>",
    f"<iframe src=javascript:parent.{RUNS}></iframe>",
    f"<object data='data:text/html,<script>{RUNS}</script>'></object>",
    f"<form action=javascript:{RUNS}><button>go</button></form>",
    f"<a href=javascript:{RUNS}>go</a>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:1/'>",
    "<base href=http://127.0.0.1:1/>",
    "<link rel=stylesheet href=http://127.0.0.1:1/x.css>",
    "<style>*{display:none}</style>",
    "<style>@import url(http://127.0.0.1:1/x.css)</style>",
    "</style><b style='position:fixed;inset:0;background:red'>",
    "x:expression(alert(1));background:url(http://127.0.0.1:1/)",
    "<!--", "--><b>", "<![CDATA[", "]]><b>", "<plaintext>", "<noscript><p title='</noscript><b>'>", "<template>",
]  # fmt: skip
_ADDRESSES = [
    f"javascript:{RUNS}", f"JaVaScRiPt:{RUNS}", f"\tjavascript:{RUNS}", f"java\nscript:{RUNS}",
    f"\x01javascript:{RUNS}",
    f"data:text/html,<script>{RUNS}</script>", "vbscript:msgbox", "//127.0.0.1:1/", "\\\\127.0.0.1:1\\", "#", "?skip=1",
]  # fmt: skip
_TEMPLATES = ["{{1337*7331}}", "{% print(1337*7331) %}", "${1337*7331}", "#{1337*7331}", "<%= 1337*7331 %>",
    "{{config}}", "%(pages)s %s %n", "{0} {pages} {}", "{% endblock %}", "{#"]  # fmt: skip
_HIDDEN = ["\x00", "a\x00b", "\u202egpj.exe", "\u2066abc", "\u2067\u2068", "\u200f\u200e\u061c", "\ud800",
    "\udfff\ud800", "\x1b[31m", "\x08\x7f\x85", "\u2028\u2029", "\ufeff\u200b", "\U000e0041", "a" * 5000,
    "宽" * 800, "e" + "\u0301" * 300]  # fmt: skip
_JSON = [
    '"}</script>',
    "\\u003cscript\\u003e",
    '","relevant":true,"x":"',
    "&lt;script&gt;",
    "&#60;b&#62;",
    "%3Cscript%3E",
]
_AROUND = ["{}", "music {} concert", "音乐{}乐团", "{}{}"]


def payloads() -> list[str]:
    """Return three hundred texts, and a few more."""
    bare = [*_MARKUP, *_ADDRESSES, *_TEMPLATES, *_HIDDEN, *_JSON]
    return [around.replace("{}", text) for around, text in product(_AROUND, bare)][:312]


def write_crawl(folder: Path, texts: list[str]) -> list[str]:
    """Fill a crawl's stores as if pages had brought these texts, past the parser; return the pages' addresses."""
    folder.mkdir(parents=True)
    title = {"en": next((text for text in texts if text.isprintable()), "x")[:200], "zh": "音乐"}
    config = {
        "title": title,
        "keywords": ["music concert 音乐"],
        "politeness": {"contact": "me@a.example"},
        "strategy": {"name": "best-first"},  # which takes addresses for what they are
    }
    (folder / "topic.yaml").write_text(json.dumps(config), encoding="utf-8")
    (folder / "seeds.txt").write_text("http://a.example/\n", encoding="utf-8")
    urls = [_url(number, text) for number, text in enumerate(texts)]
    writer = PageStoreWriter(folder / "pages" / "w1.db")
    writer.write([_record(number, text, urls) for number, text in enumerate(texts)])
    writer.close()
    asyncio.run(_queued(folder, texts, urls))
    return urls


def _url(number: int, text: str) -> str:
    """Make an address of a text: as it is where it has a scheme, else as a crawl would have it."""
    if number % 3 == 0 and "\ud800" not in text and "\udfff" not in text:
        return f"http://h{number}.example/{text[:500]}"  # past every check
    return canonicalize(f"http://h{number}.example/{text[:500]}") or f"http://h{number}.example/"


def _record(number: int, text: str, urls: list[str]) -> PageRecord:
    stored = text.encode("utf-8", "replace").decode()
    links = [FoundLink(url=_link(number, stored), anchor=stored, score=0.5, parts={stored[:60]: 0.5, "b": -0.25})]
    return PageRecord(
        fingerprint=fingerprint(urls[number]), url=urls[number], status=200, outcome=Outcome.DONE, page=True,
        fetched_at=1.0 + number, parent=fingerprint(urls[number - 1]) if number % 6 else 0, relevance=0.5,
        relevant=True, parts={stored[:60]: 0.5}, title=stored, language="en", reason=legacy_reason(""),
        text=f"music concert {stored}", main=f"music {stored}", links=links, depth=number % 6,
    )  # fmt: skip


def _link(number: int, text: str) -> str:
    return text[:500] if text.split(":")[0].strip().isalpha() and ":" in text else f"http://w{number}.example/"


async def _queued(folder: Path, texts: list[str], urls: list[str]) -> None:
    frontier = CrawlSetup.open(folder).backend.frontier()
    for number, (text, url) in enumerate(zip(texts, urls, strict=True)):
        reason = text.encode("utf-8", "replace").decode()
        waiting = Candidate(url=_link(number, reason), score=0.5, parent=fingerprint(url))
        await frontier.add([waiting, Candidate(url=f"http://w{number}.example/{reason[:300]}", score=0.4)])
        await frontier.park(f"w{number}.example", legacy_reason(f"parked: {reason}"))
    await frontier.close()
