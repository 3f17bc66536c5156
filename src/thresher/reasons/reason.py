"""Why a URL gave no page, or why its host is parked: a kind from a closed set, and details.

Programs compare kinds only. `describe` makes the messages, from one table in English and Chinese, so that a message can
be reworded without any effect on counts, exit codes and repair.

The detail of a reason has one or more fields, separated by tabs. A reason *around* another one has a number and the
other reason as its fields: an answer that came several times in a row, a robots.txt that cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from thresher.locale.translation import ENGLISH, Translatable, _, translated

_SEPARATOR = "\t"


class ReasonKind(StrEnum):
    """The kinds of reasons, as they are stored."""

    NONE = ""
    TIMEOUT = "timeout"
    SLOW = "slow"
    CONNECTION_REFUSED = "connection-refused"
    CONNECTION = "connection"
    EXCEPTION = "exception"
    CERTIFICATE = "certificate"
    TLS = "tls"
    DNS = "dns"
    DNS_OR_PROXY = "dns-or-proxy"
    PROXY = "proxy"
    PROXY_STATUS = "proxy-status"
    HEADER_LINE = "header-line"
    TWO_ADDRESSES = "two-addresses"
    UNSUPPORTED_URL = "unsupported-url"
    INVALID_URL = "invalid-url"
    NOT_HTTP = "not-http"
    HEAD_TOO_LONG = "head-too-long"
    COMPRESSION = "compression"
    NO_BODY = "no-body"
    NO_TIME = "no-time"
    WORKER_STOPPED = "worker-stopped"
    TRUNCATED = "truncated"
    RENDERED = "rendered"
    BROWSER = "browser"
    UNCHANGED = "unchanged"
    HTTP = "http"
    BAD_REDIRECT = "bad-redirect"
    REDIRECT = "redirect"
    REFRESH = "refresh"
    REDIRECT_TO_ITSELF = "redirect-to-itself"
    TOO_MANY_REDIRECTS = "too-many-redirects"
    SLOW_REDIRECTS = "slow-redirects"
    NOT_A_PAGE = "not-a-page"
    SOFT_404 = "soft-404"
    BLOCK_PAGE = "block-page"
    OPTED_OUT = "opted-out"
    ROBOTS = "robots"
    ROBOTS_UNREADABLE = "robots-unreadable"
    ROBOTS_ELSEWHERE = "robots-elsewhere"
    ROBOTS_OUTSIDE = "robots-outside"
    ROBOTS_CUT = "robots-cut"
    NO_ANSWER = "no-answer"
    CRAWL_DELAY = "crawl-delay"
    RETRY_AFTER = "retry-after"
    REPEATED = "repeated"
    NO_PAGE = "no-page"
    PRIVATE_ADDRESS = "private-address"
    REFUSED_ADDRESS = "refused-address"
    MAZE = "maze"
    NOTHING_NEW = "nothing-new"
    VARIANTS = "variants"
    FACETS = "facets"
    SCOPE = "scope"
    UNPARSABLE = "unparsable"
    PROCESSING = "processing"
    WORKER_LOST = "worker-lost"
    LEASE_EXPIRED = "lease-expired"
    BLOCKED_BY_USER = "blocked-by-user"
    BUDGET = "budget"
    LOW_HARVEST = "low-harvest"
    POLITENESS = "politeness"
    LOST_FILES = "lost-files"
    SITEMAP = "sitemap"
    FEED = "feed"
    PROBE = "probe"
    PROBE_ANSWERED = "probe-answered"
    SPIDER = "spider"
    OTHER = "other"


_AROUND = frozenset({ReasonKind.ROBOTS_UNREADABLE, ReasonKind.RETRY_AFTER, ReasonKind.REPEATED, ReasonKind.NO_PAGE})


class Reason(NamedTuple):
    """Why a URL gave no page, or why its host is parked; false when there is no reason.

    Args:
        detail: The fields that the message quotes, separated by tabs; parts of them may come from untrusted sources.
    """

    kind: ReasonKind
    detail: str = ""

    @classmethod
    def of(cls, kind: ReasonKind, *fields: object) -> Reason:
        """Return the reason with these fields."""
        return cls(kind, _SEPARATOR.join(str(field).replace(_SEPARATOR, " ") for field in fields))

    @classmethod
    def around(cls, kind: ReasonKind, number: float, inner: Reason) -> Reason:
        """Return the reason around another one."""
        return cls(kind, f"{number:.0f}{_SEPARATOR}{inner.encoded}")

    @classmethod
    def decoded(cls, text: str) -> Reason | None:
        """Return the reason of an encoded text; None when the text is none."""
        code, _, detail = text.partition(_SEPARATOR)
        kind = _KINDS.get(code)
        return None if kind is None else cls(kind, detail)

    @property
    def encoded(self) -> str:
        """The kind and the detail as one text, for stores without columns."""
        return f"{self.kind}{_SEPARATOR}{self.detail}" if self.detail else str(self.kind)

    @property
    def fields(self) -> list[str]:
        return self.detail.split(_SEPARATOR) if self.detail else []

    @property
    def number(self) -> str:
        """The number of a reason around another one."""
        return self.detail.partition(_SEPARATOR)[0]

    @property
    def inner(self) -> Reason:
        """The reason that this one is around; the reason itself when it is around none."""
        if self.kind not in _AROUND:
            return self
        return Reason.decoded(self.detail.partition(_SEPARATOR)[2]) or NO_REASON

    def __bool__(self) -> bool:
        return self.kind is not ReasonKind.NONE

    def __str__(self) -> str:
        return _message(self, ENGLISH, short=False)


_KINDS = {kind.value: kind for kind in ReasonKind}
NO_REASON = Reason(ReasonKind.NONE)
COMPLETE_PAGES = frozenset({ReasonKind.NONE, ReasonKind.RENDERED})
"""The kinds of reasons in the records of complete pages."""
PAGES = COMPLETE_PAGES | {ReasonKind.TRUNCATED}
"""The kinds of reasons with which a page is settled as done; redirects and other outcomes have their own."""
MOVED = frozenset({ReasonKind.REDIRECT, ReasonKind.REFRESH})
REFUSED = frozenset({ReasonKind.PRIVATE_ADDRESS, ReasonKind.REFUSED_ADDRESS})
"""The address guard refused an address."""


class Message(NamedTuple):
    """The message of a kind in the languages, with a place for each field; a short one for lists where it differs."""

    en: str
    zh: str
    short_en: str = ""
    short_zh: str = ""

    def text(self, language: str, *, short: bool) -> str:
        full, brief = (self.zh, self.short_zh) if language == "zh" else (self.en, self.short_en)
        return brief if short and brief else full


_OUTSIDE = ("redirected to a URL outside the crawl", "重定向到抓取范围之外的网址")
_BUDGET = ("page budget of the host used up", "该主机的页面配额已用完")
_SIMILAR = ("too many similar URLs", "相似网址过多")

MESSAGES: Mapping[ReasonKind, Message] = {
    ReasonKind.NONE: Message("", ""),
    ReasonKind.TIMEOUT: Message("timeout", "超时"),
    ReasonKind.SLOW: Message("slower than others", "比其他服务器慢", "too slow", "太慢"),
    ReasonKind.CONNECTION_REFUSED: Message("connection refused", "连接被拒绝"),
    ReasonKind.CONNECTION: Message("connection failed", "连接失败"),
    ReasonKind.EXCEPTION: Message("{0}", "{0}", "connection failed ({0})", "连接失败（{0}）"),
    ReasonKind.CERTIFICATE: Message("its certificate {0}", "证书无效：{0}"),
    ReasonKind.TLS: Message(
        "no TLS version or cipher in common: its own are too old", "没有共同的 TLS 版本或加密套件：服务器的太旧"
    ),
    ReasonKind.DNS: Message("no such host", "没有这个主机", "DNS lookup failed", "DNS 查询失败"),
    ReasonKind.DNS_OR_PROXY: Message(
        "no such host, or none of the proxy", "没有这个主机或代理主机", "DNS lookup failed", "DNS 查询失败"
    ),
    ReasonKind.PROXY: Message("the proxy cannot be reached", "无法连接代理"),
    ReasonKind.PROXY_STATUS: Message("the proxy answered http {0}", "代理返回 HTTP {0}"),
    ReasonKind.HEADER_LINE: Message("sends a header line without a colon", "响应头有一行没有冒号"),
    ReasonKind.TWO_ADDRESSES: Message("redirects to two addresses", "重定向到两个地址"),
    ReasonKind.UNSUPPORTED_URL: Message("not http", "不是 http", "not an http URL", "不是 http 网址"),
    ReasonKind.INVALID_URL: Message("not a valid URL", "网址无效"),
    ReasonKind.NOT_HTTP: Message("does not speak HTTP", "不使用 HTTP 协议", "not an HTTP server", "不是 HTTP 服务器"),
    ReasonKind.HEAD_TOO_LONG: Message("too many headers", "响应头过多"),
    ReasonKind.COMPRESSION: Message("cannot be decompressed", "无法解压"),
    ReasonKind.NO_BODY: Message("truncated before its first byte", "在第一个字节之前中断"),
    ReasonKind.NO_TIME: Message("there is not enough time left", "剩余时间不够"),
    ReasonKind.WORKER_STOPPED: Message("the worker was stopped during the fetch", "工作进程在抓取时被暂停"),
    ReasonKind.TRUNCATED: Message("truncated", "不完整"),
    ReasonKind.RENDERED: Message("through a browser", "由浏览器渲染"),
    ReasonKind.BROWSER: Message("the browser died", "浏览器意外退出"),
    ReasonKind.UNCHANGED: Message("unchanged", "未变化"),
    ReasonKind.HTTP: Message("http {0}", "HTTP {0}", "HTTP {0}", "HTTP {0}"),
    ReasonKind.BAD_REDIRECT: Message(
        "http {0} without a usable address",
        "HTTP {0}，没有可用的地址",
        "HTTP {0} without a usable address",
        "HTTP {0}，没有可用的地址",
    ),
    ReasonKind.REDIRECT: Message("redirected to {0}", "重定向到 {0}", *_OUTSIDE),
    ReasonKind.REFRESH: Message("refreshes to {0}", "页面跳转到 {0}", *_OUTSIDE),
    ReasonKind.REDIRECT_TO_ITSELF: Message("redirects to itself", "重定向到自身"),
    ReasonKind.TOO_MANY_REDIRECTS: Message("more than {0} redirects", "超过 {0} 次重定向"),
    ReasonKind.SLOW_REDIRECTS: Message(
        "its redirects with cookies take longer than a lease", "带 Cookie 的重定向超过了租约时间"
    ),
    ReasonKind.NOT_A_PAGE: Message("not a page: {0}", "不是网页：{0}", "not a web page ({0})", "不是网页（{0}）"),
    ReasonKind.SOFT_404: Message(
        "soft 404: the page says that there is none",
        "软 404：页面表示内容不存在",
        "error page without an error status (soft 404)",
        "没有错误状态码的错误页（软 404）",
    ),
    ReasonKind.BLOCK_PAGE: Message("blocked: {0}", "被拦截：{0}"),
    ReasonKind.OPTED_OUT: Message("opted out: {0}", "网站拒绝：{0}", "AI opt-out of the site", "网站拒绝用于 AI"),
    ReasonKind.ROBOTS: Message("robots.txt", "robots.txt", "disallowed by robots.txt", "robots.txt 不允许"),
    ReasonKind.ROBOTS_UNREADABLE: Message(
        "robots.txt cannot be read: {0}",
        "无法读取 robots.txt：{0}",
        "robots.txt cannot be read ({0})",
        "无法读取 robots.txt（{0}）",
    ),
    ReasonKind.ROBOTS_ELSEWHERE: Message(
        "robots.txt is on {0}, which is asked in its turn",
        "robots.txt 在 {0} 上，轮到该主机时读取",
        "waiting for the robots.txt of another host",
        "等待另一主机上的 robots.txt",
    ),
    ReasonKind.ROBOTS_OUTSIDE: Message("it leads to {0}, outside the crawl", "它指向抓取范围之外的 {0}"),
    ReasonKind.ROBOTS_CUT: Message("the answer broke off", "响应中断"),
    ReasonKind.NO_ANSWER: Message("no answer", "没有响应"),
    ReasonKind.CRAWL_DELAY: Message(
        "asks for a delay of {0} s", "要求间隔 {0} 秒", "crawl delay longer than allowed", "要求的抓取间隔过长"
    ),
    ReasonKind.RETRY_AFTER: Message("{0}, asks for {1} of rest", "{0}，要求暂停 {1}"),
    ReasonKind.REPEATED: Message(
        "{0}, {1} times in a row", "{0}，连续 {1} 次", "{0}, several in a row", "{0}，连续多次"
    ),
    ReasonKind.NO_PAGE: Message("no page in {1} tries: {0}", "{1} 次尝试都没有得到页面：{0}"),
    ReasonKind.PRIVATE_ADDRESS: Message("refused: {0}", "被拒绝：{0}"),
    ReasonKind.REFUSED_ADDRESS: Message("refused: {0}", "被拒绝：{0}"),
    ReasonKind.MAZE: Message(
        "a maze: pages like {0} link only to URLs never seen before",
        "迷宫：像 {0} 这样的页面只链接到从未见过的网址",
        "crawler trap",
        "爬虫陷阱",
    ),
    ReasonKind.NOTHING_NEW: Message(
        "{0} of {1} pages like {2} brought nothing new", "{1} 个像 {2} 的页面中有 {0} 个没有新内容", *_SIMILAR
    ),
    ReasonKind.VARIANTS: Message(
        "{0} pages like {1}, {2} of them relevant", "{0} 个像 {1} 的页面，其中 {2} 个相关", *_SIMILAR
    ),
    ReasonKind.FACETS: Message(
        "facets: {0} pages like {1} that combine the filters {2}",
        "分面：{0} 个像 {1} 的页面组合筛选条件 {2}",
        *_SIMILAR,
    ),
    ReasonKind.SCOPE: Message("out of scope: {0}", "超出范围：{0}", "out of scope", "超出范围"),
    ReasonKind.UNPARSABLE: Message("cannot be parsed: {0}", "无法解析：{0}"),
    ReasonKind.PROCESSING: Message(
        "processing error", "处理出错", "processing failed, see crawl.log.jsonl", "处理失败，见 crawl.log.jsonl"
    ),
    ReasonKind.WORKER_LOST: Message(
        "lost with its worker {0} times", "随工作进程丢失 {0} 次", "worker lost", "工作进程丢失"
    ),
    ReasonKind.LEASE_EXPIRED: Message(
        "its lease expired {0} times before a request was reported",
        "租约在请求之前到期 {0} 次",
        "leased again and again, and never requested",
        "反复租用，从未请求",
    ),
    ReasonKind.BLOCKED_BY_USER: Message("blocked by hand", "手动屏蔽", "blocked by the user", "被用户屏蔽"),
    ReasonKind.BUDGET: Message("gave {0} pages, its budget", "已得到 {0} 个页面，达到配额", *_BUDGET),
    ReasonKind.LOW_HARVEST: Message(
        "gave {0} pages, {1} of them relevant", "已得到 {0} 个页面，其中 {1} 个相关", *_BUDGET
    ),
    ReasonKind.POLITENESS: Message("asked a moment ago", "刚刚请求过", "politeness delay", "礼貌性间隔"),
    ReasonKind.LOST_FILES: Message(
        "lost with damaged files of the cold storage; thresher verify --repair queues them again",
        "随冷存储的损坏文件丢失；thresher verify --repair 会重新排队",
    ),
    ReasonKind.SITEMAP: Message(
        "sitemap: {0} of {1} pages, {2} of {3} sitemaps", "站点地图：{1} 个页面中的 {0} 个，{3} 个站点地图中的 {2} 个"
    ),
    ReasonKind.FEED: Message("feed: {0} of {1} entries", "订阅源：{1} 个条目中的 {0} 个"),
    ReasonKind.PROBE: Message("pages that are not there are refused", "不存在的页面会返回错误"),
    ReasonKind.PROBE_ANSWERED: Message("pages that are not there have a page", "不存在的页面也有内容"),
    ReasonKind.SPIDER: Message("{0}", "{0}"),
    ReasonKind.OTHER: Message("{0}", "{0}"),
}
BLOCK_PAGES = {
    "challenge": ("challenge page", "人机验证页"),
    "consent": ("consent wall", "同意墙"),
    "login": ("login wall", "登录墙"),
    "paywall": ("paywall", "付费墙"),
    "parking": ("parked domain", "停放域名"),
    "error": ("error page", "错误页"),
}
_ADDITIONS = {
    ReasonKind.REDIRECT: (1, _(": {}")),
    ReasonKind.REFRESH: (1, _(": {}")),
    ReasonKind.BLOCK_PAGE: (1, _(" ({})")),
    ReasonKind.TRUNCATED: (0, _(", its certificate {}")),
    ReasonKind.RENDERED: (0, _(", its certificate {}")),
    ReasonKind.BLOCKED_BY_USER: (0, _(": {}")),
    ReasonKind.SITEMAP: (4, _("; {}")),
    ReasonKind.FEED: (2, _("; {}")),
}
"""The field that a reason of a kind may have in addition, and how it is added to the message."""
_PHRASES: Mapping[str, str] = {
    phrase: phrase
    for phrase in (
        *(_("too deep"), _("not http"), _("host denied"), _("host not allowed"), _("not a page")),
        *(_("politeness.contact is empty"), _("too many query keys"), _("path too long"), _("path repeats itself")),
        *(_("a private address"), _("a private name"), _("a reserved address"), _("a name without a dot")),
        *(_("a link-local or metadata address"), _("not an address"), _("it stopped a worker")),
        *(_("has expired"), _("is not valid yet"), _("is self-signed"), _("is for another host"), _("is not trusted")),
        *(_("is not from a trusted authority"), _("was revoked")),
        *(_("so no secret was sent"), _("network.tls: record accepts it")),
    )
}
"""Fields that are texts of ours, which are translated; what others wrote is not."""
_UNITS = (
    (60.0, "minutes", "分钟", 7200.0),
    (3600.0, "hours", "小时", 172_800.0),
    (86_400.0, "days", "天", float("inf")),
)


class ReasonText(Translatable):
    """The message of a reason in English, which knows the other ones."""

    reason: Reason
    short: bool

    def in_language(self, language: str) -> str:
        return _message(self.reason, language, short=self.short)


def describe(reason: Reason, language: str = ENGLISH, *, short: bool = False) -> str:
    """Return the message of a reason, in English or Chinese (``zh``); a short one is for lists of failures."""
    message = _message(reason, language, short=short)
    if language != ENGLISH:
        return message
    text = ReasonText(message)
    text.reason, text.short = reason, short
    return text


def _message(reason: Reason, language: str, *, short: bool) -> str:
    text = MESSAGES[reason.kind].text(language, short=short)
    if reason.kind in _AROUND:
        number = _length(reason.number, language) if reason.kind is ReasonKind.RETRY_AFTER else reason.number
        inner = _message(reason.inner, language, short=short)
        if reason.kind is ReasonKind.ROBOTS_UNREADABLE and number != "1" and not short:
            inner = MESSAGES[ReasonKind.REPEATED].text(language, short=False).format(inner, number)
        return text.format(inner, number)
    fields = _shown(reason, language)
    place, addition = _ADDITIONS.get(reason.kind, (len(fields), ""))
    added = translated(addition, language).format(fields[place]) if place < len(fields) and not short else ""
    return text.format(*fields, *[""] * text.count("{")) + added


def with_messages(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dictionary for `dataclasses.asdict`, with the messages of reasons."""
    return {name: str(value) if isinstance(value, Reason) else value for name, value in pairs}


def _shown(reason: Reason, language: str) -> list[str]:
    """Return the fields as the message has them."""
    fields = reason.fields
    if language != ENGLISH:
        fields = ["; ".join(_phrase(part, language) for part in field.split("; ")) for field in fields]
    if reason.kind is ReasonKind.BLOCK_PAGE:
        fields[:1] = [BLOCK_PAGES[name][language == "zh"] for name in fields[:1] if name in BLOCK_PAGES] or fields[:1]
    if reason.kind is ReasonKind.LOW_HARVEST and language != "zh" and fields[1:] == ["0"]:
        fields[1] = "none"
    return fields


def _phrase(text: str, language: str) -> str:
    return str(translated(_PHRASES.get(text, text), language))


def _length(number: str, language: str) -> str:
    seconds = float(number) if number.isdigit() else 0.0
    length, en, zh, _ = next(unit for unit in _UNITS if seconds < unit[3])
    return f"{seconds / length:.0f} {zh if language == 'zh' else en}"
