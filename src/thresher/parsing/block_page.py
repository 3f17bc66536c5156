"""Detection of block pages: responses with a page's status that stand in for the page that was requested.

The rules are conservative: a page that is missed costs one judgement, a page that is wrongly blocked is lost. So every
kind needs two independent signs, in the text (title, first heading, phrases) and in the structure (forms, controls,
scripts of a protection service, the amount of text), and a page with an article's worth of text is never blocked. Text
inside links does not count: a menu can be long on any page. A Chinese character counts as much as three letters.

Phrases are English and Chinese. The markup is parsed a second time only when the text gives a reason to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from thresher.parsing.markup import markup
from thresher.records import BlockKind, FetchedPage, ParsedPage
from thresher.text.tokens import CJK
from thresher.urls.canonical import host_key

MAX_PROSE = 6_000
"""A page with more text outside links is never blocked, whatever it says."""
MAX_BYTES = 1 << 19
"""Larger responses are not parsed a second time."""
_CHINESE_WEIGHT = 3
_MAX_SCRIPT_CHARACTERS = 200_000

_CHINESE = re.compile(f"[{CJK}]+")
_BETWEEN_SEGMENTS = re.compile(r"\s+[-–—|·•:»«/]\s+|\s*[|｜—_–:：!！]\s*|\s*[-]\s*(?=[^\x00-\x7f])|(?<=[^\x00-\x7f])\s*[-]\s*")
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
    def reason(self) -> str:
        """The reason that is stored with the response."""
        return f"{self.kind.reason} ({self.evidence})"


def block_page(page: ParsedPage, fetched: FetchedPage) -> BlockPage | None:
    """Return what kind of block page a response is; None for an ordinary page."""
    if evidence := header_evidence(fetched):
        return BlockPage(BlockKind.CHALLENGE, evidence)
    prose = prose_size(page)
    if prose > MAX_PROSE:
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
        """The parts of the title, and the first heading."""
        first = [self.page.headings[0].lower().strip(_EDGES)] if self.page.headings else []
        return [*self.titles, *first]

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


def _phrase(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return " ".join(found[0].split())[:60] if found else ""


def _any_of(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each})" for each in alternatives))


# Challenges

_CHALLENGE_HEADS = _any_of(
    r"just a moment",
    r"attention required",
    r"checking (?:your|the) browser.{0,60}",
    r"(?:please )?(?:verify|verifying|confirm|prove) (?:that )?(?:you are|you're|you’re) (?:a )?(?:human|not a (?:ro)?bot).{0,40}",
    r"(?:are you )?(?:a )?(?:robot or human|human or robot)",
    r"are you (?:a )?(?:robot|human)",
    r"robot check",
    r"(?:human|bot|browser|security|visitor) (?:verification|check|checkpoint|challenge)(?: required)?",
    r"captcha(?: challenge| required)?",
    r"access (?:to this page has been )?denied.{0,40}",
    r"ddos.guard|ddos protection.{0,40}",
    r"one more step",
    r"pardon our interruption",
    r"verification required",
    r"unusual traffic.{0,60}",
    r"making sure (?:you're|you’re|you are) not a bot",
    r"(?:sorry, )?you have been blocked",
    r"request unsuccessful.{0,60}",
    r"client challenge|vercel security checkpoint",
    r"(?:百度|网站|浏览器)?安全(?:验证|检查|校验|检测)(?:中|页面)?",
    r"(?:人机|滑动|滑块|访问|访客|真人)(?:身份)?(?:验证|识别|校验|检测)(?:页面)?",
    r"(?:请)?(?:先)?(?:完成|输入|进行)?(?:安全)?验证码?(?:页面|以继续)?",
    r"正在(?:进行)?(?:安全)?(?:检查|检测|验证).{0,20}",
    r"访问(?:过于|太)?频繁.{0,12}",
    r"(?:检测到)?异常(?:流量|访问|请求).{0,12}",
    r"请稍候|请稍等",
)
_CHALLENGE_PHRASES = _any_of(
    r"checking (?:your browser|if the site connection is secure)",
    r"enable javascript and cookies to continue",
    r"verify(?:ing)? (?:that )?you are (?:a )?human",
    r"(?:you are|you're|you’re) not a (?:ro)?bot",
    r"unusual (?:traffic|activity) (?:from|detected|coming)",
    r"(?:look|looks|behaves?) like (?:automated|a (?:ro)?bot)",
    r"complete the (?:captcha|security check|challenge|verification)",
    r"needs? to (?:review|verify) the security of your connection",
    r"(?:solve|enter) (?:the|this) (?:captcha|puzzle|characters)",
    r"press (?:&|and) hold",
    r"using a security service to protect",
    r"请(?:您|先)?(?:完成|进行|通过|点击).{0,10}验证",
    r"(?:拖动|滑动|移动|向右).{0,8}滑块",
    r"(?:输入|填写).{0,8}验证码.{0,12}(?:继续|访问|浏览)",
    r"访问(?:过于|太)频繁",
    r"(?:异常|可疑)的?(?:流量|访问|请求)",
    r"正在(?:检查|检测|验证).{0,8}浏览器",
    r"(?:确认|证明|验证).{0,4}不是(?:机器人|自动程序|机器)",
    r"(?:启用|开启|打开).{0,8}(?:javascript|脚本|cookie).{0,12}(?:继续|访问)",
)
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
_SERVICE_IDS = _any_of(
    r"(?:ray|incident|support|event) id:? ?#?[0-9a-f-]{6,}",
    r"reference ?#[0-9a-f.]{6,}",
    r"(?:请求|事件|追踪|拦截|日志)(?:编号|id)[:： ]+[0-9a-z-]{6,}",
)


def _challenge(view: _View) -> str:
    if view.prose > 1_500 or view.links > 25:
        return ""
    if service := _challenge_service(view):
        return service
    head, phrase = _first(_CHALLENGE_HEADS, view.heads), _phrase(_CHALLENGE_PHRASES, view.text)
    if not head and not phrase:
        return ""
    if head and view.links <= 5 and (number := _phrase(_SERVICE_IDS, view.text)):
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

_SALE_PHRASES = _any_of(
    r"(?:buy|purchase|get|inquire about) this domain",
    r"(?:this|the) domain(?: name)?(?: [\w.-]+)? (?:is|may be|could be)(?: now)? (?:for sale|parked|available)",
    r"domain(?: name)? (?:is )?(?:for sale|parked|available for purchase)",
    r"[\w-]+\.[a-z]{2,10} (?:is|may be) (?:for sale|parked)",
    r"parked (?:free|domain)|this domain has (?:expired|recently been registered)",
    r"(?:本|此|该|您访问的)?域名(?:[\w. -]{0,40})?(?:正在|可以?|已)?(?:出售|转让|停放|过期|到期)",
    r"(?:出售|转让|购买)(?:此|该|本)?域名",
)
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
_DEFAULT_PAGES = _any_of(
    r"welcome to (?:nginx|openresty|tengine|caddy)",
    r"apache2? .{0,30}default page.{0,20}",
    r"(?:http server )?test page for (?:the )?.{0,30}",
    r"iis windows(?: server)?",
)


def _parking(view: _View) -> str:
    if view.prose > 2_000:
        return ""
    if view.prose < 1_200 and (found := _first(_DEFAULT_PAGES, view.titles)):
        return f"the default page of a server, {found!r}"
    sale = _phrase(_SALE_PHRASES, view.text)
    if not sale:
        return ""
    if service := next((each for each in _PARKING_SERVICES if each in view.scripts), ""):
        return f"{sale!r}, script of {service}"
    own = _own_domain(view.page.url)
    offer = next((head for head in view.heads if _SALE_PHRASES.search(head) or own in head), "")
    if offer and own in view.text and view.prose < 1_200:
        return f"{sale!r}, {own}"
    return f"{sale!r}" if view.prose < 400 and any(map(_THIS_DOMAIN.search, view.heads)) else ""


def _own_domain(url: str) -> str:
    return host_key(url).rpartition(":")[0].removeprefix("www.") or host_key(url).removeprefix("www.")


# Error pages

_ERROR_HEADS = _any_of(
    r"(?:error |http )?(?:400|401|403|404|410|500|502|503|504)(?: error| \(?not found\)?| page not found| forbidden| "
    r"unauthorized| bad request| internal server error| bad gateway| service (?:temporarily )?unavailable| gateway time-?out)?",
    r"error (?:400|403|404|410|500|502|503|504).{0,30}",
    r"not found|forbidden|permission denied|bad gateway|service unavailable|internal server error|gateway time-?out",
    r"(?:sorry,? )?(?:the |this |that )?(?:page|file|object|content|article|document|item|product|site|url)(?: you \w+(?: \w+){0,3})? "
    r"(?:is |was |has been |could |can |cannot |can't |can’t |does )?(?:not |no longer )?(?:be )?"
    r"(?:found|missing|unavailable|available|removed|exists?)",
    r"oops.{0,40}|something went wrong|we(?:'|’)?re sorry",
    r"(?:an? )?(?:unexpected |application |server |fatal |database |system )?error(?: occurred| has occurred)?",
    r"error establishing a database connection",
    r"(?:site |website |we(?:'|’)re |temporarily )?(?:is )?(?:down for|under|scheduled) maintenance|maintenance(?: mode)?",
    r"(?:this )?account (?:has been )?suspended|access denied",
    r"404.{0,16}|(?:40[013]|50[0234])(?:错误|页面|\s*[^\x00-\x7f]{0,10})",
    r"(?:很?抱歉|对不起)?[，, ]?(?:您|你)?要?(?:访问|查找|请求|浏览|查看)?的?(?:页面|网页|内容|文章|文件|帖子|信息|资源|链接)"
    r"(?:不存在|未找到|没有找到|找不到了?|已?被?删除|已失效|走丢了|无法(?:访问|显示|找到|打开))了?",
    r"(?:找不到|未找到|无法找到|没有找到)(?:该|此|您)?.{0,8}(?:页面?|网页|文件|资源)",
    r"(?:系统|服务器|网站|页面|程序|数据库|网络)?(?:内部|发生)?(?:错误|出错了?|异常|繁忙)(?:提示|信息)?",
    r"(?:系统|网站|站点|本站)?正?在?(?:维护|升级)(?:中|公告)?",
    r"(?:访问|请求)?(?:被拒绝|出错了?|禁止)|禁止访问|无权访问|提示信息|系统提示|出错提示",
)
_ERROR_PHRASES = _any_of(
    r"not (?:be )?found",
    r"does(?:n't|n’t| not) exist",
    r"no longer (?:available|exists?)",
    r"(?:has|have) been (?:removed|deleted|suspended)",
    r"could not be (?:displayed|reached|completed|processed)",
    r"the requested (?:url|page|resource|file|address)",
    r"(?:try|check) (?:again|back) (?:later|soon|shortly|in a)",
    r"went wrong|under maintenance|scheduled maintenance|be back (?:soon|shortly)",
    r"contact (?:the|your) (?:site |server |system )?(?:administrator|webmaster|hosting)",
    r"(?:don't|don’t|do not) have permission",
    r"error (?:code|id|number|establishing)|database connection",
    r"不存在|找不到|未找到|没有找到|无法(?:找到|访问|显示|打开|处理)|走丢",
    r"已(?:经)?(?:被)?(?:删除|移除|下线|失效)",
    r"稍后(?:再试|重试|访问)|维护|升级",
    r"没有权限|无权|联系(?:网站)?管理员|错误(?:代码|码|信息|编号)",
)


def _error(view: _View) -> str:
    if view.prose > 600:
        return ""
    head = _first(_ERROR_HEADS, view.heads)
    if not head:
        return ""
    phrase = _phrase(_ERROR_PHRASES, view.text)
    return f"{head!r}, {view.prose} characters of text" if phrase or view.prose < 80 else ""


# Login walls

_LOGIN_HEADS = _any_of(
    r"(?:please )?(?:log ?-?in|sign ?-?in|log on|logon)(?: (?:to|with|into|at|for) .{1,60}| required| page| now| here)?",
    r"(?:member|user|customer|account|client|student|staff|employee|admin(?:istrator)?|subscriber|patient|web ?mail) "
    r"(?:log ?-?in|sign ?-?in|access)",
    r".{1,30} (?:log ?-?in|sign ?-?in)",
    r"(?:log in|sign in|sign up|register) (?:or|and|/) (?:log in|sign in|sign up|register|create an account)",
    r"authentication required|(?:login|sign-?in|registration) required|welcome back",
    r"(?:central|single|web) (?:authentication|sign-?on)(?: service)?",
    r"(?:请)?(?:先|立即)?(?:会员|用户|帐号|账号|账户|密码|扫码|手机|短信|统一|学生|教师|员工|管理员?|后台|系统|欢迎)?(?:登录|登陆|登錄|登入)"
    r"(?:页面|界面|中心|系统|入口|注册)?",
    r"(?:登录|登陆|登錄|登入).{0,12}|.{0,12}(?:登录|登陆)(?:页面|界面|系统|入口)?",
    r"(?:统一|集中)?身份认证(?:平台|系统|中心)?|用户中心",
)
_LOGIN_EXCLUDED = re.compile(
    r"form|example|tutorial|how to|guide|design|template|code|issue|problem|troubleshoot|help|faq|教程|示例|怎么|如何|方法|表单|代码|问题|设计"
)
_LOGIN_PHRASES = _any_of(
    r"(?:you (?:must|need to|have to)|please) (?:be (?:logged|signed) in|log ?in|sign ?in|register|sign up|create an account)"
    r"(?: first| or \w+(?: \w+)?)* (?:to|before|in order to|for) (?:view|see|read|access|continue|proceed|visit|us)",
    r"(?:log ?in|sign ?in|register|sign up|create an account) (?:or \w+(?: \w+)? )?to (?:view|see|read|access|continue)",
    r"(?:only|available|visible|restricted) (?:to|for) (?:registered|logged-?in|signed-?in) (?:users|members|visitors)",
    r"(?:您|你)?(?:需要|必须|请|尚未|还没有?)(?:先)?(?:登录|登陆|登入)(?:后|才|以|之后|再).{0,6}(?:查看|浏览|阅读|访问|继续|使用)",
    r"(?:登录|登陆)(?:后|以)(?:才)?(?:可|能|可以|即可|方可)?(?:查看|浏览|阅读|访问|继续)(?!附件|图片|联系|评论)",
    r"(?:仅限|只有|仅对)(?:注册|登录|会员)?(?:用户|会员)(?:才能|可以|可|能)?(?:查看|浏览|访问|阅读)",
    r"(?:您|你)(?:尚未|还没有|没有|未)登录",
)
_LOGIN_LINKS = re.compile(r"(?:log|sign) ?-?in(?: .{0,20})?|continue with \w+|登录|登陆|立即登录|马上登录|去登录")


def _login(view: _View) -> str:
    if view.prose > 1_500:
        return ""
    head = next((each for each in view.heads if _is_login_head(each)), "")
    phrase = _phrase(_LOGIN_PHRASES, view.text)
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

_CONSENT_HEADS = _any_of(
    r"before you continue.{0,60}",
    r"(?:we|[\w .&'’]{1,40}) (?:values?|cares? about|respects?) your privacy.{0,40}",
    r"your privacy(?: choices| settings| matters| is important.{0,20}| rights)?",
    r"(?:manage )?(?:cookies?|privacy|consent|data) (?:consent|settings|preferences|choices|wall|gate|options)",
    r"(?:we need |give )?your consent(?: is (?:needed|required))?|consent(?: required| needed| form| management)?",
    r"(?:accept|allow) cookies.{0,30}|continue with (?:ads|advertising|cookies).{0,40}",
    r"(?:我们|本站|本网站|.{1,12})(?:重视|尊重|关注|在乎)(?:您|你)的隐私.{0,10}",
    r"(?:在)?(?:您|你)?(?:继续|进入|访问)(?:使用|浏览|访问|网站)?(?:之)?前.{0,12}",
    r"(?:您|你)?的?隐私(?:设置|选择|偏好|提示|授权|保护提示)(?:中心)?",
    r"cookies? ?(?:设置|同意|偏好|提示|授权|使用.{0,6})|(?:接受|同意)(?:使用)? ?cookies?.{0,8}",
    r"(?:我们)?需要(?:您|你)的同意|用户(?:隐私|授权).{0,6}|个人信息(?:保护|授权|使用)(?:提示|授权|同意)?",
)
_CONSENT_EXCLUDED = re.compile(r"policy|policies|statement|terms|law|政策|声明|条款|协议|法规?$")
_ACCEPT = _any_of(
    r"(?:yes,? )?(?:i )?(?:accept|agree|consent|allow|i understand)(?: (?:all|and|&|to|continue|cookies|close|proceed|everything|with|visit|"
    r"enter|the|use|of|selected|site))*",
    r"(?:accept|agree|consent).{0,24}|continue with (?:ads|advertising|cookies|tracking).{0,20}",
    r"(?:我)?(?:已阅读并)?(?:全部|一键)?(?:同意|接受|允许)(?:全部|所有|使用)?(?: ?cookies?)?(?:并|，|且)?(?:继续|进入|访问|浏览|关闭)?.{0,6}",
    r"(?:同意|接受)并.{0,8}",
)
_CONSENT_WORDS = re.compile(
    r"cookie|consent|privacy|personal(?:i[sz]ed)? (?:data|ads|content|information)|data protection|gdpr|our partners|vendors|legitimate interest|"
    r"tracking|advertis|隐私|个人信息|个人数据|同意|第三方|追踪|广告|接受"
)
_CONSENT_PLACES = re.compile(r"(?:^|[/.?&=_-])(?:consent|cookie-?wall|privacy-?gate|gdpr|guce|collectconsent|privacy-mgmt)(?:[/.?&=_-]|$)")


def _consent(view: _View) -> str:
    if view.links > 40 or not _CONSENT_WORDS.search(view.text):
        return ""
    share = _consent_share(view.page)
    if share < 0.6:
        return ""
    title, head = _consent_head(view.titles), _consent_head(view.heads)
    place = _CONSENT_PLACES.search(_place(view.page.url))
    if not (title or head or place or share >= 0.9):
        return ""
    accept = _first(_ACCEPT, view.controls)
    if not accept:
        return ""
    action = any(_CONSENT_PLACES.search(target) for target in _form_targets(view.tree))
    if title or place or (head and share >= 0.8) or (action and share >= 0.9 and len(view.page.headings) <= 1):
        return f"{title or head or 'a consent form'!r}, the control {accept!r}"
    return ""


def _consent_head(heads: Sequence[str]) -> str:
    return next(
        (head for head in heads if len(head) < 120 and _CONSENT_HEADS.fullmatch(head) and not _CONSENT_EXCLUDED.search(head)),
        "",
    )


def _consent_share(page: ParsedPage) -> float:
    """Return the share of the text that is in blocks about consent."""
    sizes = [(len(block), bool(_CONSENT_WORDS.search(block.lower()))) for block in page.blocks]
    total = sum(size for size, _ in sizes)
    return sum(size for size, about in sizes if about) / total if total else 0.0


def _place(url: str) -> str:
    parts = urlsplit(url.lower())
    return f"{parts.netloc.partition('.')[0]}.{parts.path}"


def _form_targets(tree: LexborHTMLParser) -> Iterator[str]:
    return ((node.attributes.get("action") or "").lower() for node in tree.css("form[action]"))


# Paywalls

_PAY_PHRASES = _any_of(
    r"(?:subscribe|sign up|register|upgrade|become a (?:member|subscriber)|start your (?:free )?trial)(?: now| today| for \S+)? to "
    r"(?:continue|keep|finish|unlock|read|get full access)",
    r"to (?:continue|keep|finish) reading(?: this (?:article|story|content))?,? (?:please )?(?:subscribe|sign up|log in|become|start|purchase)",
    r"(?:this|the rest of this|the full) (?:article|story|content|post) is (?:only )?(?:for|available to|exclusive to|reserved for) "
    r"(?:paid |paying |registered )?(?:subscribers|members)",
    r"(?:you(?:'|’)?ve|you have) (?:reached|used|read) (?:your|all|the|\w+) .{0,30}(?:free|article|limit)",
    r"unlock (?:this|the full|the rest of this) (?:article|story|post)|(?:subscriber|member)s?(?:-| )(?:only|exclusive)",
    r"already a (?:subscriber|member)",
    r"(?:付费|订阅|购买|开通会员|成为会员|加入会员|登录|解锁)(?:后|以|，|即可|可)?(?:继续|方可|才能|可|即可)?(?:阅读|查看|解锁)(?:全文|剩余|完整|更多|本文|正文)?",
    r"(?:本文|本篇|此文|以下|该|这篇)(?:文章)?(?:内容)?(?:为|是|系|属于)?(?:付费|会员|订阅者?)(?:专享|专属|内容|文章|可见|阅读)",
    r"(?:剩余|还有|余下).{0,10}(?:付费|订阅|会员|购买|未读)|试读(?:结束|已结束|部分)|(?:会员|订阅)(?:专享|专属)",
)
_PAY_ELEMENTS = (
    "[class*=paywall i], [id*=paywall i], [class*=regwall i], [data-paywall], [class*=subscriber-only i], "
    "[class*=subscription-wall i], [class*=subscribe-wall i], [class*=premium-lock i], [class*=pay-wall i], "
    "[class*=paid-content i], [class*=article-lock i], [class*=metered i], [class*=read-more-vip i], [class*=vip-lock i]"
)
_NOT_FREE = re.compile(r"[\"']isaccessibleforfree[\"']\s*:\s*[\"']?false")


def _paywall(view: _View) -> str:
    if view.prose > 3_000:
        return ""
    phrase = _phrase(_PAY_PHRASES, view.text)
    if not phrase:
        return ""
    says_so = bool(_NOT_FREE.search(view.scripts))
    within = any(
        _PAY_PHRASES.search(" ".join(node.text(separator=" ").lower().split())) and not _is_hidden(node)
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
