"""Detection of block pages: responses with a page's status that stand in for the page that was requested.

The rules are conservative: a page that is missed costs one judgement, a page that is wrongly blocked is lost. So every
kind needs two independent signs, in the text (title, first heading, phrases) and in the structure (forms, controls,
scripts of a protection service, the amount of text), and a page with an article's worth of text is never blocked. Text
inside links does not count: a menu can be long on any page. A Chinese character counts as much as three letters.

Phrases are English and Chinese; those of consent and login walls also German, Spanish, French, Portuguese, Italian,
Dutch, Polish, Turkish, Russian, Japanese, Korean and Arabic. The markup is parsed a second time only when the text
gives a reason to: 16 of 3,942 pages of frozen webs, 0.001 ms per page. To keep every tree, or to collect these facts
from every page, would cost more.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from thresher.parsing.markup import markup
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import BlockKind, FetchedPage, ParsedPage
from thresher.text.tokens import CJK
from thresher.urls.canonical import host_key

MAX_PROSE = 6_000
"""A page with more text outside links is never blocked, whatever it says."""
MAX_TEXT = 20_000
"""The same for all text, links included."""
MAX_BYTES = 1 << 19
"""Larger responses are not parsed a second time."""
_CHINESE_WEIGHT = 3
_MAX_SCRIPT_CHARACTERS = 200_000

_CHINESE = re.compile(f"[{CJK}]+")
_BETWEEN_SEGMENTS = re.compile(r" [-–—|·•:»«/] |[|｜—_–:：!！]|- ?(?=[^\x00-\x7f])|(?<=[^\x00-\x7f]) ?-")
"""White space of titles is collapsed."""
_EDGES = " \t.…。!！?？,，~～-–—:：\"'“”"


@dataclass(frozen=True, slots=True)
class BlockPage:
    """A detected block page.

    Args:
        evidence: The signs that were found, for users.
    """

    kind: BlockKind
    evidence: str

    @property
    def reason(self) -> Reason:
        """The reason that is stored with the response."""
        return Reason.of(ReasonKind.BLOCK_PAGE, self.kind, self.evidence)


def block_page(page: ParsedPage, fetched: FetchedPage) -> BlockPage | None:
    """Return what kind of block page a response is; None for an ordinary page."""
    if evidence := header_evidence(fetched):
        return BlockPage(BlockKind.CHALLENGE, evidence)
    prose = prose_size(page)
    if prose > MAX_PROSE or len(page.text) > MAX_TEXT:
        return None
    view = _View(page, fetched, prose)
    for kind, detect in _DETECTORS.items():
        if evidence := detect(view):
            return BlockPage(kind, evidence)
    return None


_HEADERS = {
    "cf-mitigated": ("challenge",),
    "x-amzn-waf-action": ("challenge", "captcha"),
    "x-vercel-mitigated": ("challenge",),
}


def header_evidence(fetched: FetchedPage) -> str:
    """Return the header by which a protection service marks its own response; empty without one."""
    for name, values in _HEADERS.items():
        if (value := fetched.headers.get(name, "").strip().lower()) in values:
            return f"header {name}: {value}"
    return ""


def prose_size(page: ParsedPage) -> int:
    """Return the amount of text outside links, in letters; once it is above the limit, it need not be exact."""
    size = len(page.text) - sum(len(link.anchor) for link in page.links)
    if size > MAX_PROSE or page.text.isascii():
        return size
    chinese = sum(map(len, _CHINESE.findall(page.text)))
    linked = sum(len(run) for link in page.links for run in _CHINESE.findall(link.anchor))
    return size + (_CHINESE_WEIGHT - 1) * (chinese - linked)


class _View:
    """A page as the rules see it; what needs the markup is read on first use."""

    def __init__(self, page: ParsedPage, fetched: FetchedPage, prose: int) -> None:
        self.page = page
        self.prose = prose
        self.links = len(page.links)
        self._fetched = fetched

    @cached_property
    def text(self) -> str:
        return self.page.text.lower()

    @cached_property
    def titles(self) -> list[str]:
        """The parts of the title between separators: the site's name is one of them."""
        parts = _BETWEEN_SEGMENTS.split(self.page.title.lower())
        return [part for part in (part.strip(_EDGES) for part in [self.page.title.lower(), *parts]) if part]

    @cached_property
    def heads(self) -> list[str]:
        """The parts of the title, and the heading of a page that has hardly more than one part."""
        headings = self.page.headings if self.links <= 10 else ()
        return [*self.titles, *(heading.lower().strip(_EDGES) for heading in headings[:1] if len(headings) <= 2)]

    @cached_property
    def tree(self) -> LexborHTMLParser:
        body = self._fetched.body if len(self._fetched.body) <= MAX_BYTES else b""
        return LexborHTMLParser(markup(body, self._fetched.headers.get("content-type", "")))

    def has(self, selector: str) -> bool:
        return any(not _is_hidden(node) for node in self.tree.css(selector)[:50])

    @cached_property
    def scripts(self) -> str:
        """The addresses and the text of scripts and frames, in lower case."""
        pieces, size = [], 0
        for node in self.tree.css("script, iframe, frame"):
            piece = f"{node.attributes.get('src') or ''} {node.text() if node.tag == 'script' else ''}"
            pieces.append(piece)
            size += len(piece)
            if size > _MAX_SCRIPT_CHARACTERS:
                break
        return " ".join(pieces).lower()[:_MAX_SCRIPT_CHARACTERS]

    @cached_property
    def body(self) -> bytes:
        """The response in lower case, up to the limit."""
        return self._fetched.body[:MAX_BYTES].lower()

    @cached_property
    def has_password(self) -> bool:
        return self.has("input[type=password i]")

    @cached_property
    def text_inputs(self) -> int:
        """The number of visible fields for text, without those of a CAPTCHA."""
        fields = self.tree.css("textarea, input")
        return sum(_is_text_field(node) for node in fields[:100])

    @cached_property
    def controls(self) -> list[str]:
        """The labels of buttons."""
        found = self.tree.css("button, input[type=submit i], input[type=button i], a[role=button], a[class*=btn i]")
        labels = (node.attributes.get("value") or node.text() or "" for node in found[:100])
        return [" ".join(label.lower().split()).strip(_EDGES) for label in labels]

    @property
    def is_script_only(self) -> bool:
        """Whether there is a script, and hardly anything for a reader."""
        return self.links <= 3 and self.prose < 600 and b"<script" in self.body


def _is_hidden(node: LexborNode | None) -> bool:
    """Return whether an element, or one that it is in, is not shown."""
    while node is not None:
        attributes = node.attributes
        style = (attributes.get("style") or "").replace(" ", "").lower()
        if "hidden" in attributes or "display:none" in style or node.tag in ("template", "noscript"):
            return True
        node = node.parent
    return False


def _is_text_field(node: LexborNode) -> bool:
    attributes = node.attributes
    name = f"{attributes.get('name') or ''} {attributes.get('id') or ''}".lower()
    kind = (attributes.get("type") or "text").lower()
    shown = node.tag == "textarea" or kind in ("text", "email", "tel", "search", "url")
    return shown and "captcha" not in name and not _is_hidden(node)


def _first(pattern: re.Pattern[str], candidates: Sequence[str]) -> str:
    """Return the first candidate that a pattern matches as a whole."""
    return next((each for each in candidates if len(each) < 200 and pattern.fullmatch(each)), "")


_TABLES = tomllib.loads((resources.files("thresher.parsing") / "block_phrases.toml").read_text(encoding="utf-8"))


def _heads(name: str) -> re.Pattern[str]:
    """Return the pattern of a table of `block_phrases.toml`."""
    return re.compile("|".join(f"(?:{each})" for each in _TABLES[name]["patterns"]))


@dataclass(frozen=True, slots=True)
class _Phrases:
    """Phrases to find in a text; a text without any of the `words` is not searched, which saves most of the time."""

    words: Sequence[str]
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, name: str) -> _Phrases:
        return cls(_TABLES[name].get("words", [""]), _heads(name))

    def first(self, text: str) -> str:
        """Return the first phrase in a text in lower case; empty when there is none."""
        found = self.pattern.search(text) if any(word in text for word in self.words) else None
        return " ".join(found[0].split())[:60] if found else ""


# Challenges

_CHALLENGE_HEADS = _heads("challenge_heads")
_CHALLENGE_PHRASES = _Phrases.of("challenge_phrases")
_CHALLENGE_SCRIPTS = (
    "_cf_chl_opt",
    "captcha-delivery.com",
    "/_sec/cp_challenge",
    "sucuri_cloudproxy_js",
    "/.well-known/ddos-guard/js-challenge",
    "awswafintegration.checkforcerefresh",
    "acw_sc__v2",
    "aliyun_waf",
    "wzws-waf-cgi",
    "/_guard/",
)
_CHALLENGE_ELEMENTS = (
    "#challenge-form, #cf-challenge-running, #cf-error-details, #px-captcha, #sec-if-cpt-container, #anubis_challenge, "
    "#ddg-captcha, #aliyun_waf_aa, iframe#main-iframe[src*='_Incapsula_Resource']"
)
_CAPTCHA_WIDGETS = (
    ".g-recaptcha, .h-captcha, .cf-turnstile, .geetest_holder, #nocaptcha, #nc_1_wrapper, form[action*=captcha i], "
    "form[id*=captcha i], iframe[src*=captcha i], script[src*=captcha i], script[src*=geetest i], "
    "input[name*=captcha i], img[src*=captcha i], div[id*=captcha i], div[class*=captcha i]"
)


_SERVICE_MARKS = tuple(
    mark.encode()
    for mark in (
        *_CHALLENGE_SCRIPTS,
        "challenge-form",
        "cf-challenge-running",
        "cf-error-details",
        "px-captcha",
        "sec-if-cpt-container",
        "anubis_challenge",
        "ddg-captcha",
        "_incapsula_resource",
    )
)
_SERVICE_IDS = _Phrases.of("service_ids")


def _challenge(view: _View) -> str:
    if view.prose > 1_500 or view.links > 25:
        return ""
    if service := _challenge_service(view):
        return service
    head, phrase = _first(_CHALLENGE_HEADS, view.heads), _CHALLENGE_PHRASES.first(view.text)
    if not head and not phrase:
        return ""
    if head and view.links <= 5 and (number := _SERVICE_IDS.first(view.text)):
        return f"{head!r}, {number!r}"
    widget = view.has(_CAPTCHA_WIDGETS)
    if head and (widget or view.is_script_only) and (phrase or view.prose < 250) and view.text_inputs <= 1:
        return f"{head!r}, {'a CAPTCHA' if widget else 'only a script'}"
    is_only_captcha = widget and view.text_inputs <= 1 and not view.has_password and view.prose < 700
    return f"{phrase!r}, a CAPTCHA" if phrase and is_only_captcha else ""


def _challenge_service(view: _View) -> str:
    """Return the part of a protection service's own page; only short pages are searched."""
    if view.prose > 1_200 or view.links > 15 or not any(mark in view.body for mark in _SERVICE_MARKS):
        return ""
    if found := next((mark for mark in _CHALLENGE_SCRIPTS if mark in view.scripts), ""):
        return f"script {found!r}"
    element = next((node for node in view.tree.css(_CHALLENGE_ELEMENTS) if not _is_hidden(node)), None)
    return f"element {element.attributes.get('id')!r}" if element else ""


# Parked domains

_SALE_PHRASES = _Phrases.of("sale_phrases")
_THIS_DOMAIN = re.compile(r"th(?:is|e) domain|(?:本|此|该|您访问的)域名|域名已")
_PARKING_SERVICES = (
    "sedoparking.com",
    "parkingcrew.net",
    "bodis.com",
    "parklogic.com",
    "d38psrni17bvxu.cloudfront.net",
    "skenzo.com",
    "parking-lander",
    "hugedomains.com",
    "afternic.com",
    "cdn-sec.dan.com",
)
_DEFAULT_PAGES = _heads("default_pages")


def _parking(view: _View) -> str:
    if view.prose > 2_000:
        return ""
    if view.prose < 1_200 and (found := _first(_DEFAULT_PAGES, view.titles)):
        return f"the default page of a server, {found!r}"
    sale = _SALE_PHRASES.first(view.text)
    if not sale:
        return ""
    if service := next((each for each in _PARKING_SERVICES if each in view.scripts), ""):
        return f"{sale!r}, script of {service}"
    own = _own_domain(view.page.url)
    offer = next((head for head in view.heads if _SALE_PHRASES.first(head) or own in head), "")
    if offer and own in view.text and view.prose < 1_200:
        return f"{sale!r}, {own}"
    return f"{sale!r}" if view.prose < 400 and any(map(_THIS_DOMAIN.search, view.heads)) else ""


def _own_domain(url: str) -> str:
    return host_key(url).rpartition(":")[0].removeprefix("www.") or host_key(url).removeprefix("www.")


# Error pages

_ERROR_HEADS = _heads("error_heads")
_ERROR_PHRASES = _Phrases.of("error_phrases")


def _error(view: _View) -> str:
    if view.prose > 600 or len(view.page.headings) > 3:
        return ""
    head = _first(_ERROR_HEADS, view.heads)
    if not head:
        return ""
    phrase = _ERROR_PHRASES.first(view.text)
    return f"{head!r}, {view.prose} characters of text" if phrase or view.prose < 80 else ""


# Login walls

_LOGIN_HEADS = _heads("login_heads")
_LOGIN_EXCLUDED = re.compile(
    r"form|example|tutorial|how to|guide|design|template|code|issue|problem|troubleshoot|"
    r"help|faq|教程|示例|怎么|如何|方法|表单|代码|问题|设计"
)
_LOGIN_PHRASES = _Phrases.of("login_phrases")
_LOGIN_LINKS = re.compile(r"(?:log|sign) ?-?in(?: .{0,20})?|continue with \w+|登录|登陆|立即登录|马上登录|去登录")


def _login(view: _View) -> str:
    if view.prose > 1_500:
        return ""
    head = next((each for each in view.heads if _is_login_head(each)), "")
    phrase = _LOGIN_PHRASES.first(view.text)
    if not head and not phrase:
        return ""
    if view.has_password and view.text_inputs <= 6 and (head or view.prose < 500):
        return f"{head or phrase!r}, a password field"
    if not (phrase and view.prose < 500):
        return ""
    anchors = [link.anchor.lower().strip(_EDGES) for link in view.page.links]
    offers = _first(_LOGIN_LINKS, [*view.controls, *anchors])
    return f"{phrase!r}, nothing but a way to log in" if offers and (head or view.links <= 10) else ""


def _is_login_head(head: str) -> bool:
    return len(head) < 80 and bool(_LOGIN_HEADS.fullmatch(head)) and not _LOGIN_EXCLUDED.search(head)


# Consent walls

_CONSENT_HEADS = _heads("consent_heads")
_CONSENT_EXCLUDED = re.compile(
    r"policy|policies|statement|terms|law|政策|声明|条款|协议|法规?$|erklärung|richtlinie|bestimmung|politique|politica|"
    r"política|informativa|beleid|polityk|politika|политик|ポリシー|方針|방침|정책|سياسة"
)
_ACCEPT = _heads("accept")
_CONSENT_WORDS = _Phrases.of("consent_words")
_CONSENT_OR_PAY = _Phrases.of("consent_or_pay")
_SENTENCES = re.compile(r"(?<=[.!?؟])\s+|(?<=[。！？])").split
_CONSENT_PLACES = re.compile(
    r"(?:^|[/.?&=_-])(?:consent|cookie-?wall|privacy-?gate|gdpr|guce|collectconsent|privacy-mgmt)(?:[/.?&=_-]|$)"
)


def _consent(view: _View) -> str:
    if view.links > 40 or not _CONSENT_WORDS.first(view.text):
        return ""
    share = _consent_share(view.page.blocks)
    if share < 0.6 or (view.prose > 600 and _consent_share(_SENTENCES(view.page.text)) < 0.5):
        return ""
    title, head = _consent_head(view.titles), _consent_head(view.heads)
    pay = _CONSENT_OR_PAY.first(view.text) if share >= 0.9 else ""
    place = _CONSENT_PLACES.search(_place(view.page.url))
    if not (title or head or place or share >= 0.9):
        return ""
    accept = _first(_ACCEPT, view.controls)
    if not accept:
        return ""
    action = any(_CONSENT_PLACES.search(target) for target in _form_targets(view.tree))
    if title or place or pay or (head and share >= 0.8) or (action and share >= 0.9 and len(view.page.headings) <= 1):
        return f"{title or head or pay or 'a consent form'!r}, the control {accept!r}"
    return ""


def _consent_head(heads: Sequence[str]) -> str:
    return next(
        (
            head
            for head in heads
            if len(head) < 120 and _CONSENT_HEADS.fullmatch(head) and not _CONSENT_EXCLUDED.search(head)
        ),
        "",
    )


def _consent_share(parts: Sequence[str]) -> float:
    """Return the share of the text that is in parts about consent."""
    sizes = [(len(part), bool(_CONSENT_WORDS.pattern.search(part.lower()))) for part in parts]
    total = sum(size for size, _ in sizes)
    return sum(size for size, about in sizes if about) / total if total else 0.0


def _place(url: str) -> str:
    parts = urlsplit(url.lower())
    return f"{parts.netloc.partition('.')[0]}.{parts.path}"


def _form_targets(tree: LexborHTMLParser) -> Iterator[str]:
    return ((node.attributes.get("action") or "").lower() for node in tree.css("form[action]"))


# Paywalls

_PAY_PHRASES = _Phrases.of("pay_phrases")
_PAY_ELEMENTS = (
    "[class*=paywall i], [id*=paywall i], [class*=regwall i], [data-paywall], [class*=subscriber-only i], "
    "[class*=subscription-wall i], [class*=subscribe-wall i], [class*=premium-lock i], [class*=pay-wall i], "
    "[class*=paid-content i], [class*=article-lock i], [class*=metered i], [class*=vip-lock i]"
)
_NOT_FREE = re.compile(r"[\"']isaccessibleforfree[\"']\s*:\s*[\"']?false")


def _paywall(view: _View) -> str:
    if view.prose > 3_000:
        return ""
    phrase = _PAY_PHRASES.first(view.text)
    if not phrase:
        return ""
    says_so = bool(_NOT_FREE.search(view.scripts))
    within = any(
        _PAY_PHRASES.first(" ".join(node.text(separator=" ").lower().split())) and not _is_hidden(node)
        for node in view.tree.css(_PAY_ELEMENTS)[:20]
    )
    if within and (says_so or view.prose < 2_000):
        return f"{phrase!r} in a paywall element"
    return f"{phrase!r}, declared as not free" if says_so and view.prose < 2_000 else ""


_DETECTORS: dict[BlockKind, Callable[[_View], str]] = {
    BlockKind.CHALLENGE: _challenge,
    BlockKind.PARKING: _parking,
    BlockKind.ERROR: _error,
    BlockKind.LOGIN: _login,
    BlockKind.CONSENT: _consent,
    BlockKind.PAYWALL: _paywall,
}
