"""Block pages and ordinary pages that resemble them, in English, Chinese and `LANGUAGES`, each with its truth."""

from __future__ import annotations

# fmt: off
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from thresher.records import BlockKind, FetchedPage

EN = (
    "The harbour was built in three stages, and the oldest stones still carry the marks of the masons. "
    "Ships from the northern towns unloaded timber here, and the warehouses along the quay were filled with grain. ",
    "A second basin was added when the railway came, with cranes that could lift forty tons. "
    "Most of the traffic moved to the new terminal later, but the fishing fleet stayed in the old port. ",
    "Today the buildings hold workshops and a small museum that shows models of the ships and the tools of the trade. "
    "Guided walks start at the lighthouse every morning in summer. ",
)
ZH = (
    "这座港口分三期建成，最古老的石块上仍留有石匠的记号。北方城镇的船只在这里卸下木材，码头边的仓库里堆满了粮食。",
    "铁路通车以后又增建了第二个港池，起重机可以吊起四十吨的货物。后来大部分运输转移到新的码头，渔船队却留在了老港。",
    "如今这些建筑里有作坊和一座小型博物馆，展出船只的模型和各种工具。夏季每天早晨都有从灯塔出发的导览活动。",
)
URL = "http://www.harbour-news.example/story/17"


@dataclass(frozen=True, kw_only=True)
class PageCase:
    """A response with its truth: the kind of block page, or None for an ordinary page."""

    name: str
    kind: BlockKind | None
    html: str
    url: str = URL
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def fetched(self) -> FetchedPage:
        headers = {"content-type": "text/html; charset=utf-8", **self.headers}
        return FetchedPage(url=self.url, status=200, headers=headers, body=self.html.encode(), fetched_at=0.0)


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """What sites of a language say: a text, a consent wall, the title of a privacy policy and of a login page."""

    text: str
    wall: str
    notice: str
    accept: str
    policy: str
    login: str

    @property
    def banner(self) -> str:
        """The notice and its controls, as on a wall or at the foot of a page."""
        return f"<div class=consent><p>{self.notice}</p><button>{self.accept}</button></div>"


LANGUAGES = {
    "de": Phrases(
        text="Der Hafen wurde in drei Abschnitten gebaut, und die ältesten Steine tragen noch die Zeichen der Steinmetze.",
        wall="Weiter mit Werbung lesen", accept="Akzeptieren und weiter", policy="Datenschutzerklärung", login="Anmelden",
        notice="Mit Ihrer Zustimmung speichern wir und unsere Partner Cookies, zeigen Werbung und messen, was gelesen wird."),
    "es": Phrases(
        text="El puerto se construyó en tres etapas, y las piedras más antiguas conservan las marcas de los canteros.",
        wall="Nos importa su privacidad", accept="Aceptar y continuar", policy="Política de privacidad", login="Iniciar sesión",
        notice="Con su consentimiento, nosotros y nuestros socios guardamos cookies y mostramos publicidad según sus datos personales."),
    "fr": Phrases(
        text="Le port a été construit en trois étapes, et les pierres les plus anciennes portent encore les marques des maçons.",
        wall="Le respect de votre vie privée", accept="Tout accepter", policy="Politique de confidentialité", login="Connexion",
        notice="Avec votre consentement, nos partenaires et nous déposons des cookies et affichons une publicité personnalisée."),
    "pt": Phrases(
        text="O porto foi construído em três fases, e as pedras mais antigas ainda guardam as marcas dos pedreiros.",
        wall="Valorizamos a sua privacidade", accept="Aceitar tudo", policy="Política de privacidade", login="Iniciar sessão",
        notice="Com o seu consentimento, nós e os nossos parceiros guardamos cookies e mostramos anúncios personalizados."),
    "it": Phrases(
        text="Il porto fu costruito in tre fasi, e le pietre più antiche portano ancora i segni degli scalpellini.",
        wall="Rispettiamo la tua privacy", accept="Accetta e continua", policy="Informativa sulla privacy", login="Accedi",
        notice="Con il tuo consenso, noi e i nostri partner salviamo cookie e mostriamo pubblicità in base ai dati personali."),
    "nl": Phrases(
        text="De haven is in drie fasen gebouwd, en de oudste stenen dragen nog de merken van de steenhouwers.",
        wall="Wij respecteren uw privacy", accept="Alles accepteren", policy="Privacybeleid", login="Inloggen",
        notice="Met uw toestemming plaatsen wij en onze partners cookies en tonen wij advertenties die bij u passen."),
    "pl": Phrases(
        text="Port zbudowano w trzech etapach, a na najstarszych kamieniach wciąż widać znaki kamieniarzy.",
        wall="Dbamy o Twoją prywatność", accept="Akceptuję i przechodzę dalej", policy="Polityka prywatności", login="Zaloguj się",
        notice="Za Twoją zgodą my i nasi partnerzy zapisujemy pliki cookies i wyświetlamy dopasowane reklamy."),
    "tr": Phrases(
        text="Liman üç aşamada yapıldı ve en eski taşlar hâlâ taş ustalarının işaretlerini taşıyor.",
        wall="Gizliliğinize önem veriyoruz", accept="Kabul et ve devam et", policy="Gizlilik politikası", login="Giriş yap",
        notice="Onayınızla biz ve iş ortaklarımız çerez saklar ve kişisel verilere göre reklam gösteririz."),
    "ru": Phrases(
        text="Порт строили в три этапа, и на самых старых камнях до сих пор видны знаки каменотёсов.",
        wall="Мы ценим вашу конфиденциальность", accept="Принять и продолжить", policy="Политика конфиденциальности", login="Вход",
        notice="С вашего согласия мы и наши партнёры сохраняем файлы cookie и показываем персональную рекламу."),
    "ja": Phrases(
        text="この港は三期に分けて造られ、最も古い石には今も石工の印が残っている。灯台からは毎朝案内の散歩が始まる。",
        wall="お客様のプライバシーを尊重します", accept="同意して続ける", policy="プライバシーポリシー", login="ログイン",
        notice="当社とパートナーは、同意をいただいたうえでクッキーを保存し、個人データに基づく広告を表示します。"),
    "ko": Phrases(
        text="이 항구는 세 단계로 지어졌으며 가장 오래된 돌에는 아직도 석공의 표시가 남아 있다.",
        wall="개인정보를 소중히 여깁니다", accept="모두 동의", policy="개인정보 처리방침", login="로그인",
        notice="동의하시면 저희와 파트너가 쿠키를 저장하고 개인 정보에 따른 맞춤 광고를 보여 드립니다."),
    "ar": Phrases(
        text="بني الميناء على ثلاث مراحل، ولا تزال أقدم الحجارة تحمل علامات البنائين.",
        wall="نحن نحترم خصوصيتك", accept="موافق", policy="سياسة الخصوصية", login="تسجيل الدخول",
        notice="بعد موافقتك نحفظ نحن وشركاؤنا ملفات تعريف الارتباط ونعرض إعلانات بحسب البيانات الشخصية."),
}


def document(title: str, body: str, *, head: str = "", language: str = "en") -> str:
    return f'<!doctype html><html lang="{language}"><head><title>{title}</title>{head}</head><body>{body}</body></html>'


def menu(language: str = "en", links: int = 12) -> str:
    """Return the navigation of a site, with a link to its login page."""
    words = ("News", "Harbour", "Ships", "Museum", "Walks") if language == "en" else ("新闻", "港口", "船舶", "博物馆", "导览")
    login = "Log in" if language == "en" else "登录"
    items = [f'<a href="/s/{number}">{words[number % 5]} {number}</a>' for number in range(links)]
    return f'<nav>{" ".join(items)} <a href="/login">{login}</a></nav>'


def article(language: str = "en", paragraphs: int = 6) -> str:
    text = EN if language == "en" else ZH
    return "".join(f"<p>{text[number % 3]}</p>" for number in range(paragraphs))


def page(title: str, body: str, language: str = "en", *, links: int = 12, head: str = "") -> str:
    """Return an ordinary page: a menu, a heading and a body."""
    return document(title, f"{menu(language, links)}<h1>{title}</h1>{body}", head=head, language=language)


def walls() -> list[PageCase]:
    """Return block pages of every kind in both languages."""
    makers = {
        BlockKind.CHALLENGE: _challenges,
        BlockKind.CONSENT: _consents,
        BlockKind.LOGIN: _logins,
        BlockKind.PAYWALL: _paywalls,
        BlockKind.PARKING: _parked,
        BlockKind.ERROR: _errors,
    }
    return [
        PageCase(name=f"{kind}: {name}", kind=kind, html=html, **more)
        for kind, make in makers.items()
        for name, html, more in make()
    ]


Made = Iterator[tuple[str, str, dict[str, object]]]


def _challenges() -> Made:
    wait = "<h1>www.harbour-news.example</h1><p>Verifying you are human. This may take a few seconds.</p>"
    yield "options of a service", document("Just a moment...", f"{wait}<script>window._cf_chl_opt={{cType:'managed'}}</script>"), {}
    yield "marked by a header", document("Harbour News", wait), {"headers": {"cf-mitigated": "challenge"}}
    yield "marked by a firewall", document("", "<div id=challenge-container></div>"), {"headers": {"x-amzn-waf-action": "captcha"}}
    form = '<form id="challenge-form" action="/?c=1" method="post"><input type="hidden" name="r"><noscript>Enable</noscript></form>'
    yield "challenge form", document("Please wait", f"<p>Checking your browser before accessing the site.</p>{form}"), {}
    yield "delivery script", document("harbour-news.example", "<script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script><p>Please enable JS and disable any ad blocker</p>"), {}
    hold = '<div id="px-captcha"></div><p>Press &amp; Hold to confirm you are a human (and not a bot).</p><p>Reference ID 1f0a-77c2</p>'
    yield "press and hold", document("Access to this page has been denied", f"<h1>Before we continue...</h1>{hold}"), {}
    denied = '<h1>Access Denied</h1><p>You don\'t have permission to access "http://www.harbour-news.example/" on this server.</p><p>Reference #18.2d351ab8.1557333295.a4e16ab</p>'
    yield "reference number", document("Access Denied", denied), {}
    yield "incident frame", document("", '<iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=9">Request unsuccessful. Incident ID: 877000190-128</iframe>'), {}
    yield "recaptcha", document("Are you a robot?", '<form method=post><div class="g-recaptcha" data-sitekey="k"></div><p>Please verify that you are not a robot.</p><button>Submit</button></form>'), {}
    yield "hcaptcha", document("Security check", '<h1>One more step</h1><p>Please complete the security check to access the site.</p><div class="h-captcha"></div>'), {}
    yield "turnstile", document("Human Verification", '<p>Please complete the challenge below.</p><div class="cf-turnstile"></div><script src="/t.js"></script>'), {}
    yield "typed captcha", document("Robot Check", '<p>Enter the characters you see below. Sorry, we just need to make sure you\'re not a robot.</p><form action="/errors/validateCaptcha"><img src="/captcha/a.jpg"><input name=field-keywords><button>Continue</button></form>'), {}
    yield "only a script", document("Checking your browser", "<p>Please enable JavaScript and cookies to continue.</p><script>go()</script>"), {}
    yield "proof of work", document("Making sure you're not a bot!", '<h1>Making sure you\'re not a bot!</h1><p>Loading...</p><script id="anubis_challenge" type="application/json">{}</script><script src="/x.js"></script>'), {}
    yield "unusual traffic", document("Unusual traffic", '<p>Our systems have detected unusual traffic from your computer network.</p><form id="captcha-form" action="/sorry"><div class="g-recaptcha"></div></form>'), {}
    zh = "zh"
    yield "滑动验证", document("滑动验证页面", '<p>请向右拖动滑块完成验证</p><div id="nocaptcha"></div><script src="/nc.js"></script>', language=zh), {}
    yield "安全验证", document("百度安全验证", '<p>网络不给力，请稍后重试</p><p>请完成下方验证后继续操作</p><div class="captcha-box"></div><script src="/m.js"></script>', language=zh), {}
    yield "访问频繁", document("访问过于频繁", '<p>您的访问过于频繁，请输入验证码后继续访问。</p><form action="/verify"><img src="/captcha.png"><input name="captcha"><button>提交</button></form>', language=zh), {}
    yield "云盾脚本", document("", "<script>var arg1='3F1A';function reload(x){document.cookie='acw_sc__v2='+x}</script>", language=zh), {}
    yield "人机验证", document("人机验证", '<p>请证明您不是机器人</p><div class="geetest_holder"></div><script src="/gt.js"></script>', language=zh), {}
    yield "检查浏览器", document("安全检查中", "<p>正在检查您的浏览器，请稍候……</p><script>check()</script>", language=zh), {}
    yield "异常流量", document("检测到异常流量", '<p>检测到您的网络存在异常流量，请完成安全验证。</p><form action="/captcha/check"><button>验证</button></form>', language=zh), {}


def _consents() -> Made:
    ask = "<p>We and our 842 partners store cookies and use personal data for personalised ads and content, as you consent.</p>"
    more = "<p>You can change your privacy choices at any time. Some partners rely on their legitimate interest.</p>"
    both = '<button name="agree">Accept all</button><button name="reject">Reject all</button>'
    yield "before you continue", document("Before you continue", f'<form action="/save">{ask}{more}{both}</form>'), {}
    yield "value your privacy", document("We value your privacy", f"<h1>We value your privacy</h1>{ask}<button>I agree</button><button>Manage options</button>"), {}
    yield "privacy choices", document("Your privacy choices", f"{ask}{more}<button>Agree and continue</button>"), {}
    yield "consent host", document("Harbour News", f"{ask}<form method=post><input type=hidden name=csrf><button>Accept all</button></form>"), {"url": "http://consent.harbour-news.example/v2/collectConsent?sessionId=1"}
    yield "cookie wall path", document("Harbour News", f"<h1>Harbour News</h1>{ask}{more}{both}"), {"url": "http://www.harbour-news.example/cookiewall?next=%2F"}
    yield "site title and a consent form", document("Harbour News", f'<h1>Harbour News and your privacy</h1><form action="/consent/accept">{ask}{more}{both}</form>'), {}
    yield "cookie consent", document("Cookie consent - Harbour News", f"<h2>Cookie settings</h2>{ask}<a class=btn href='/ok'>Accept cookies</a>"), {}
    yield "with ads or pay", document("Continue with ads or subscribe", f"<h1>Your consent is required</h1>{ask}<p>Read with advertising and tracking, or choose the subscription without tracking.</p><button>Accept and continue</button><a href='/pay'>Subscribe</a>"), {}
    yield "long list of partners", document("Your privacy", ask + "".join(f"<p>Partner {n}: cookies for 13 months, advertising.</p>" for n in range(40)) + both), {}
    zh = "zh"
    notice = "<p>我们和合作伙伴使用 Cookie 收集个人信息，用于个性化广告和内容，需要您的同意。</p>"
    yield "重视隐私", document("我们重视您的隐私", f"<h1>我们重视您的隐私</h1>{notice}<button>同意并继续</button><button>拒绝</button>", language=zh), {}
    yield "继续之前", document("在您继续之前", f"{notice}<button>全部接受</button>", language=zh), {}
    yield "隐私设置", document("隐私设置 - 海港新闻", f"{notice}<p>您可以随时更改隐私选择。</p><button>我已阅读并同意</button>", language=zh), {}
    yield "Cookie 设置", document("Cookie设置", f"{notice}<button>接受所有Cookie</button>", language=zh), {}
    yield "同意页地址", document("海港新闻", f"{notice}<form method=post><button>同意</button></form>", language=zh), {"url": "http://consent.haigang.example/?next=1"}
    yield "需要同意", document("需要您的同意", f"<h1>需要您的同意</h1>{notice}<button>接受</button>", language=zh), {}


    pure = "<h1>Willkommen bei den Hafennachrichten</h1><p>Lesen Sie wie gewohnt mit Werbung und Cookies.</p><p>Oder werbefrei im Abo: keine Weitergabe von Daten an unsere Partner.</p><button>Einwilligen und weiter</button>"
    yield "consent or pay", document("Hafennachrichten", pure, language="de"), {}
    for code, own in LANGUAGES.items():
        yield f"wall, {code}", document(own.wall, f"<h1>{own.wall}</h1>{own.banner}", language=code), {}
        yield f"site title and a wall, {code}", document("Harbour News", f"<h1>{own.wall}</h1>{own.banner}<a href='/imprint'>Imprint</a>", language=code), {}


def _logins() -> Made:
    form = '<form method=post><input name=user placeholder="E-mail"><input type=password name=pass><button>{}</button></form>'
    english = form.format("Log in")
    yield "log in", document("Log in - Harbour News", f"<h1>Log in</h1>{english}<a href='/reset'>Forgot your password?</a>"), {}
    yield "sign in to", document("Sign in to Harbour", f"<h1>Welcome</h1>{english}"), {}
    yield "member login", document("Member Login", f"{menu()}{english}"), {}
    yield "must be logged in", document("Harbour Forum", f"<h1>Harbour Forum</h1><p>You must be logged in to view this topic.</p>{english}"), {}
    yield "no password field", document("Harbour Forum", "<p>Please sign in to continue.</p><a href='/oauth'>Sign in</a>"), {}
    yield "single sign-on", document("Central Authentication Service", f"{english}<p>For security reasons, please log out when you are done.</p>"), {}
    yield "login required", document("Login required", f"<p>This area is available to registered users only.</p>{english}"), {}
    yield "registration wall", document("Create an account", "<h1>Harbour</h1><p>Sign up to continue.</p><button>Continue with Mail</button><a href='/login'>Log in</a>"), {}
    yield "webmail", document("Webmail Login", english), {}
    zh, chinese = "zh", form.format("登录")
    yield "用户登录", document("用户登录 - 海港论坛", chinese, language=zh), {}
    yield "请先登录", document("海港论坛", f"<h1>请先登录</h1>{chinese}", language=zh), {}
    yield "登录后查看", document("海港论坛", f"<p>您需要登录后才可以查看该内容。</p>{chinese}", language=zh), {}
    yield "统一身份认证", document("统一身份认证平台", chinese, language=zh), {}
    yield "尚未登录", document("提示", "<p>抱歉，您尚未登录，无法继续访问。</p><a href='/login'>立即登录</a>", language=zh), {}
    yield "后台登录", document("后台登录系统", chinese, language=zh), {}
    yield "会员登录", document("会员登录", f"{menu('zh')}{chinese}", language=zh), {}
    for code, own in LANGUAGES.items():
        yield f"login, {code}", document(f"{own.login} - Harbour", f"{menu()}<h1>{own.login}</h1>{form.format(own.login)}", language=code), {}


def _paywalls() -> Made:
    teaser = f"<article><h1>The old harbour</h1><p>{EN[0]}</p></article>"
    wall = '<div class="paywall"><h2>Subscribe to continue reading</h2><p>Already a subscriber? Log in.</p></div>'
    not_free = '<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":false}</script>'
    yield "container", page("The old harbour", teaser + wall), {}
    yield "declared", page("The old harbour", f"{teaser}<p>To continue reading, subscribe now.</p>", head=not_free), {}
    yield "both", page("The old harbour", teaser + wall, head=not_free), {}
    yield "limit", page("The old harbour", f'{teaser}<section id="paywall-offer">You have reached your limit of free articles this month.</section>'), {}
    yield "members", page("The old harbour", f'{teaser}<div class="subscriber-only">This article is available to subscribers only.</div>'), {}
    yield "unlock", page("The old harbour", f'{teaser}<div class="article-lock">Unlock this article with a free trial.</div>'), {}
    yield "registration", page("The old harbour", f'{teaser}<div class="regwall">Register to keep reading. It is free.</div>'), {}
    zh = "zh"
    lead = f"<article><p>{ZH[0]}</p></article>"
    yield "付费阅读", page("老港口", f'{lead}<div class="paywall">付费后阅读全文</div>', zh), {}
    yield "会员专享", page("老港口", f'{lead}<div class="paid-content">本文为会员专享内容，开通会员后阅读全文。</div>', zh), {}
    yield "订阅后继续", page("老港口", f"{lead}<p>订阅后继续阅读</p>", zh, head=not_free), {}
    yield "试读结束", page("老港口", f'{lead}<div class="vip-lock">试读结束，剩余内容购买后阅读。</div>', zh), {}


def _parked() -> Made:
    own = {"url": "http://oldharbour.example/"}
    yield "for sale", document("oldharbour.example is for sale", "<h1>oldharbour.example</h1><p>This domain is for sale. Make an offer.</p><form><input name=offer><button>Buy this domain</button></form>"), own
    yield "parking script", document("oldharbour.example", "<p>This domain is parked.</p><ul><li>Ships<li>Boats</ul><script src='http://img.sedoparking.com/x.js'></script>"), own
    yield "buy this domain", document("oldharbour.example", "<h1>Buy this domain</h1><p>The domain oldharbour.example may be for sale by its owner.</p>"), own
    yield "expired", document("oldharbour.example has expired", "<h1>This domain has expired</h1><p>oldharbour.example: contact your registrar to renew it.</p>"), own
    yield "free parking", document("oldharbour.example", "<p>Parked free, courtesy of the registrar. Want to buy this domain?</p><iframe src='//www.parkingcrew.net/i'></iframe>"), own
    yield "server default", document("Welcome to nginx!", "<h1>Welcome to nginx!</h1><p>If you see this page, the web server is successfully installed and working. Further configuration is required.</p>"), own
    yield "apache default", document("Apache2 Debian Default Page: It works", "<p>This is the default welcome page used to test the correct operation of the server after installation.</p>"), own
    zh = {"url": "http://laogangkou.example/"}
    yield "域名出售", document("laogangkou.example 域名出售", "<h1>laogangkou.example</h1><p>您访问的域名正在出售，欢迎联系。</p>", language="zh"), zh
    yield "域名转让", document("本域名可转让", "<p>laogangkou.example 本域名可转让，价格面议。</p>", language="zh"), zh
    yield "域名到期", document("域名已到期", "<h1>该域名已过期</h1><p>laogangkou.example 已到期，请联系注册商续费。</p>", language="zh"), zh


def _errors() -> Made:
    yield "404", document("404 Not Found", "<h1>Not Found</h1><p>The requested URL was not found on this server.</p>"), {}
    yield "page not found with a menu", page("Page not found", "<p>Sorry, the page you are looking for does not exist.</p>", links=40), {}
    yield "502", document("502 Bad Gateway", "<center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center>"), {}
    yield "database", document("Database Error", "<h1>Error establishing a database connection</h1>"), {}
    yield "maintenance", document("Site under maintenance", "<h1>Under maintenance</h1><p>We are working on the site and will be back soon.</p>"), {}
    yield "went wrong", document("Something went wrong", "<h1>Oops!</h1><p>Something went wrong. Please try again later.</p>"), {}
    yield "suspended", document("Account Suspended", "<h1>Account Suspended</h1><p>This account has been suspended. Contact your hosting provider.</p>"), {}
    yield "forbidden", document("403 Forbidden", "<h1>Forbidden</h1><p>You don't have permission to access this resource.</p>"), {}
    yield "error code", document("Error", "<h1>Error</h1><p>An error occurred while processing your request. Error code: 17.</p>"), {}
    zh = "zh"
    yield "页面不存在", page("页面不存在", "<p>抱歉，您访问的页面不存在或已被删除。</p>", zh), {}
    yield "404 页面", document("404页面", "<p>您要查找的页面找不到了，返回首页。</p>", language=zh), {}
    yield "提示信息", document("提示信息 - 海港论坛", "<p>抱歉，指定的主题不存在或已被删除或正在被审核。</p>", language=zh), {}
    yield "系统维护", document("系统维护中", "<p>系统正在维护升级，请稍后访问。</p>", language=zh), {}
    yield "服务器错误", document("服务器错误", "<p>服务器内部错误，请联系网站管理员。</p>", language=zh), {}


BANNER_EN = (
    '<div id="cookie-banner"><h2>We value your privacy</h2><p>We use cookies to improve the site and to show '
    'personalised content. You can accept or reject them.</p><button>Accept all</button><button>Reject</button></div>'
)
BANNER_ZH = (
    '<div class="cookie"><h2>我们重视您的隐私</h2><p>本站使用 Cookie 改进服务，您可以接受或拒绝。</p>'
    "<button>全部接受</button></div>"
)
LOGIN_BOX = '<form id="login-box"><input name=u><input type=password name=p><button>Log in</button></form>'
RECAPTCHA = '<div class="g-recaptcha" data-sitekey="k"></div>'


def near_misses() -> list[PageCase]:
    """Return ordinary pages that share words or elements with block pages."""
    found = [*_articles_about(), *_ordinary_with_elements(), *_short_pages(), *_chinese_pages(), *_pages_in_other_languages()]
    return [PageCase(name=name, kind=None, html=html, **more) for name, html, more in found]


def _articles_about() -> Made:
    """Yield articles about the subjects of block pages."""
    subjects = {
        "CAPTCHA": "A CAPTCHA asks visitors to verify that they are human. Early ones showed distorted letters. ",
        "Checking your browser: how bot protection works": "The page says “Checking your browser before accessing” and runs a script. ",
        "How a login form works": "A login form sends a name and a password. The page says that you must be logged in to view it. ",
        "GDPR and cookie consent explained": "Under the GDPR a site needs your consent before it stores cookies for advertising partners. ",
        "The economics of the paywall": "Readers see “Subscribe to continue reading” after a few free articles; already a subscriber? ",
        "HTTP 404": "The status 404 Not Found means that the requested page could not be found on the server. ",
        "404 Not Found": "The page describes the status code, when servers send it, and what to do when a page does not exist. ",
        "Domain names for sale: a market report": "Thousands of domains are for sale. This domain is for sale, their pages say. ",
        "Access denied: a history of doors": "Doors and locks decide who may enter; access denied was once written in stone. ",
        "Robots or humans?": "Are you a robot? The question has moved from fiction to forms. ",
    }
    for title, opening in subjects.items():
        yield f"article: {title}", page(title, f"<p>{opening * 3}</p>{article(paragraphs=4)}"), {}
        yield f"article with a banner: {title}", page(title, f"<p>{opening * 3}</p>{article(paragraphs=4)}{BANNER_EN}"), {}
    code = "<pre>window._cf_chl_opt = {cType: 'managed'}; &lt;div id=\"px-captcha\"&gt;</pre>"
    yield "code of a challenge, quoted", page("Notes on challenge pages", f"{code}{article(paragraphs=2)}"), {}


def _ordinary_with_elements() -> Made:
    """Yield ordinary pages with the elements of block pages."""
    text = article(paragraphs=4)
    yield "cookie banner", page("The old harbour", text + BANNER_EN), {}
    yield "banner on a short page", page("Opening hours", f"<p>{EN[2]}</p>{BANNER_EN}"), {}
    yield "login box in the header", page("The old harbour", LOGIN_BOX + text), {}
    yield "login box on a short page", page("Opening hours", f"{LOGIN_BOX}<p>{EN[2]}</p>"), {}
    yield "login box on a home page", page("Harbour News", LOGIN_BOX + article(paragraphs=2), links=30), {}
    contact = "<form><input name=name><input name=mail><textarea name=message></textarea>{}<button>Send</button></form>"
    yield "contact form", page("Contact us", contact.format(RECAPTCHA) + "<p>Please verify that you are human before you send the form.</p>"), {}
    comments = "<h3>Comments</h3><p>You must be logged in to post a comment.</p><a href='/login'>Log in</a>"
    yield "comments for members", page("The old harbour", text + comments), {}
    yield "comments on a short page", page("Opening hours", f"<p>{EN[2]}</p>{comments}"), {}
    hidden = '<div class="paywall" style="display: none"><p>Subscribe to continue reading. Already a subscriber?</p></div>'
    yield "hidden paywall", page("The old harbour", text + hidden), {}
    yield "hidden paywall on a short page", page("Opening hours", f"<p>{EN[2]}</p>{hidden}"), {}
    yield "newsletter", page("The old harbour", f"{text}<p>Subscribe to our newsletter to read more about ships.</p>"), {}
    yield "subscriber in a menu", page("Opening hours", f"<p>{EN[2]}</p><p>Already a subscriber? Log in.</p>"), {}
    free = '<script type="application/ld+json">{"isAccessibleForFree":true}</script>'
    yield "free article", page("The old harbour", f"{text}<p>Become a member to read our magazine.</p>", head=free), {}
    detect = "<script>window.__CF$cv$params={r:'1'};</script><script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>"
    yield "scripts of a service on an ordinary page", page("Opening hours", f"<p>{EN[2]}</p>{detect}"), {}
    tags = "<script src='https://js.protection.example/tags.js'></script><script>window._pxAppId='PX1'</script>"
    yield "tags of a service", page("Opening hours", f"<p>{EN[2]}</p>{tags}"), {}
    yield "registration form", page("Create an account", f"<form><input name=a><input name=b><input name=c><input type=password>{RECAPTCHA}</form><p>{EN[0]}</p>{text}"), {}
    yield "privacy policy", page("Privacy policy", "".join(f"<p>We process personal data and use cookies, part {n}.</p>" for n in range(30))), {}
    yield "privacy policy with a banner", page("Privacy policy", "".join(f"<p>We process personal data and use cookies, part {n}.</p>" for n in range(30)) + BANNER_EN), {}
    yield "list of domains", page("Domains for sale this week", "".join(f"<p>name{n}.example is for sale</p>" for n in range(12))), {}
    yield "a shop's product", page("Door sign “Access denied”", f"<p>Steel, 20 cm. {EN[1]}</p><p>19 euros</p>"), {}
    yield "sample form of a tutorial", page("Login form example", f"{LOGIN_BOX}<p>This is the result of the code above.</p>"), {}


def _short_pages() -> Made:
    """Yield short ordinary pages."""
    yield "stub", page("Harbour", f"<p>{EN[0]}</p>"), {}
    yield "gallery", page("Ships", "".join(f'<img src="/i/{n}.jpg" alt="ship {n}">' for n in range(9))), {}
    yield "list of links", page("Links", "".join(f'<p><a href="http://h{n}.example/">Harbour {n}</a></p>' for n in range(30))), {}
    yield "album Not Found", page("Not Found (album)", f"<p>{EN[1]}</p>"), {}
    yield "song Error", page("Trial and Error", f"<p>The second song of the record. {EN[2]}</p>"), {}
    yield "year 404", page("404", f"<p>The year 404 was a leap year of the Julian calendar. {EN[0]} {EN[1]}</p>"), {}
    yield "product removed from a list", page("Changes", f"<p>The old article has been removed, a new one is not available yet. {EN[2]}</p>"), {}
    sections = f"<p>The server met an error and could not complete the request. {EN[2]}</p><h2>Status</h2><p>500</p><h2>Specification</h2><h2>See also</h2>"
    yield "reference of a status", page("500 Internal Server Error - Reference", sections), {}
    yield "empty page", document("", ""), {}
    yield "frame page", document("Harbour", '<frameset><frame src="/menu"><frame src="/main"></frameset>'), {}
    yield "application shell", document("Harbour", '<div id="root"></div><script src="/app.js"></script>'), {}
    yield "under a maintenance contract", page("Maintenance of cranes", f"<p>{EN[1]}</p>"), {}
    yield "just a moment, a poem", page("Just a moment", f"<p>{EN[0]}</p><p>{EN[1]}</p>"), {}


def _chinese_pages() -> Made:
    zh = "zh"
    subjects = {
        "验证码的历史": "验证码要求访问者证明自己不是机器人。早期的验证码显示扭曲的字母。",
        "登录功能怎么设计": "登录表单提交用户名和密码，页面提示您需要登录后才可以查看。",
        "个人信息保护与Cookie同意": "网站在使用 Cookie 投放广告之前需要用户同意，并说明第三方合作伙伴。",
        "付费阅读的兴起": "读者看到“订阅后继续阅读”的提示，剩余内容需要付费。",
        "404错误是什么意思": "当页面不存在或已被删除时，服务器返回状态码 404。",
        "域名出售市场观察": "许多域名正在出售，价格差别很大。",
        "安全验证技术概述": "滑动验证要求用户拖动滑块，以确认不是自动程序。",
    }
    for title, opening in subjects.items():
        yield f"文章：{title}", page(title, f"<p>{opening * 3}</p>{article(zh, 4)}", zh), {}
        yield f"带横幅的文章：{title}", page(title, f"<p>{opening * 3}</p>{article(zh, 4)}{BANNER_ZH}", zh), {}
    text = article(zh, 3)
    box = LOGIN_BOX.replace("Log in", "登录")
    yield "页眉登录框", page("老港口", box + text, zh), {}
    portal = f"<h2>用户登录 / Login</h2>{box}<h2>通知公告</h2><h2>仪器展示</h2><h2>友情链接</h2><p>平台简介，联系我们。</p>"
    yield "平台首页", document("大型仪器共享平台 | 大学", menu("zh", 20) + portal, language=zh), {}
    center = f"{box}<h2>管理员登录</h2><h2>友情链接</h2>" + "".join(f'<p><a href="/n{n}">关于第{n}届物理竞赛的通知</a></p>' for n in range(20))
    yield "中心首页", document("物理实验中心", center, language=zh), {}
    yield "短页登录框", page("开放时间", f"{box}<p>{ZH[2]}</p>", zh), {}
    yield "短页横幅", page("开放时间", f"<p>{ZH[2]}</p>{BANNER_ZH}", zh), {}
    yield "登录后评论", page("老港口", f"{text}<p>登录后才能发表评论</p><a href='/login'>登录</a>", zh), {}
    yield "登录查看附件", page("老港口照片", f"{text}<p>您需要登录才可以下载或查看附件</p>{box}", zh), {}
    yield "会员广告", page("老港口", f"{text}<p>加入会员，享受更多优惠。</p>", zh), {}
    yield "短条目", page("港口", f"<p>{ZH[0]}</p>", zh), {}
    yield "维护起重机", page("起重机的维护", f"<p>{ZH[1]}</p>", zh), {}
    yield "隐私政策", page("隐私政策", f"<p>我们收集个人信息，用于提供服务。{ZH[0]}</p>" * 5 + BANNER_ZH, zh), {}
    yield "联系表单", page("联系我们", f"<form><input name=a><input name=b><textarea></textarea>{RECAPTCHA}<button>发送</button></form><p>请完成验证后发送。</p>", zh), {}


def _pages_in_other_languages() -> Made:
    for code, own in LANGUAGES.items():
        text, banner = f"<p>{own.text}</p>", f"<h2>{own.wall}</h2>{own.banner}"
        yield f"article with a banner, {code}", page("Harbour", f"{text * 6}{banner}", code), {}
        yield f"banner before an article, {code}", document("Harbour", f"{banner}<h1>Harbour</h1>{text * 6}", language=code), {}
        yield f"short page with a banner, {code}", page("Harbour", f"{text}{banner}", code), {}
        yield f"article about consent, {code}", page(own.wall, f"<p>{own.notice}</p>{text * 15}{own.banner}", code), {}
        yield f"privacy policy with a banner, {code}", page(own.policy, f"<p>{own.notice}</p>" * 12 + banner, code), {}
        yield f"login box, {code}", page("Harbour", LOGIN_BOX.replace("Log in", own.login) + text * 3, code), {}
