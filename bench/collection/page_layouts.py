"""Pages with a known main content, in the layouts of ten kinds of sites.

An article of headings, paragraphs, nested lists, a table, links and code is made up in English or Chinese, and written
into the template of a site: with navigation, sidebar, cookie notice, related links and footer, whose words are about
another topic. The truth is what the article holds: its text, the rows of its tables, and its links. The layouts of
`DEV` were looked at first; all were looked at before the last rules were written, so neither is held out.
"""

# ruff: noqa: E501 - templates of pages

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from random import Random

from thresher_lab.webs.vocabulary import TOPICS
from thresher_lab.webs.vocabulary.prose import Prose, prose

BASE = "https://site.example/section/page.html"
WORDS = {
    "en": "Home|About|Contact|Products|News|Help|Search|Log in|Related articles|Share this|Cookies|Accept all|"
    "Reject|Privacy policy|Terms|Previous|Next|Contents|Newsletter|Subscribe|Comments|Advertisement|By|Published",
    "zh": "首页|关于我们|联系方式|产品中心|新闻动态|帮助|搜索|登录|相关文章|分享到|Cookie 设置|全部接受|"
    "拒绝|隐私政策|使用条款|上一篇|下一篇|目录|订阅邮件|立即订阅|评论|广告|作者|发布时间",
}
NOTICE = {
    "en": "We and our partners use cookies to improve your experience and to measure traffic. You can change your choice.",
    "zh": "我们和合作伙伴使用 Cookie 来改善您的体验并统计访问量，您可以随时更改选择。",
}
RIGHTS = {
    "en": "Copyright 2026 Site Example Ltd. All rights reserved.",
    "zh": "版权所有 © 2026 示例网站 京ICP备12345678号",
}


@dataclass
class Article:
    """A made-up article, as HTML and as truth.

    Args:
        parts: Its HTML, one string per block, without the title.
        texts: The text of each block.
        rows: The rows of its tables.
        links: The absolute URLs of its links.
    """

    language: str
    title: str
    parts: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join([self.title, *self.texts])


class Writer:
    """Makes up an article and what stands around it."""

    def __init__(self, language: str, seed: int) -> None:
        self.random = Random(f"{language} {seed}")
        own, other = self.random.sample(sorted(TOPICS), 2)
        self.language = language
        self.own, self.other = prose(language, own, 0.6), prose(language, other, 0.9)
        self.words = WORDS[language].split("|")

    def title(self, source: Prose | None = None) -> str:
        return (source or self.own).title(self.random.getrandbits(60))

    def sentence(self, source: Prose | None = None, characters: int = 1) -> str:
        source = source or self.own
        return source.joined(source.text(self.random, characters))

    def article(self) -> Article:
        """Return an article: every fourth is two paragraphs, every third ends with a list of links to read on."""
        article = Article(self.language, self.title())
        self.paragraphs(article, self.random.randint(1, 3))
        if self.random.random() < 0.25:
            return article
        kinds: list[Callable[[Article], None]] = [self.bullets, self.table, self.code, self.quote]
        self.random.shuffle(kinds)
        for number in range(self.random.randint(3, 6)):
            heading = self.title()
            level = 2 if number % 3 != 2 else 3
            article.parts.append(f"<h{level}>{escape(heading)}</h{level}>")
            article.texts.append(heading)
            self.paragraphs(article, self.random.randint(1, 3))
            if number < len(kinds):
                kinds[number](article)
                self.paragraphs(article, 1)
        if self.random.random() < 0.33:
            self.reading_list(article)
        return article

    def paragraphs(self, article: Article, number: int) -> None:
        for _ in range(number):
            scale = 1 if self.language == "en" else 0.4
            text, html = self.inline(article, int(scale * self.random.randint(120, 700)))
            article.parts.append(f"<p>{html}</p>")
            article.texts.append(text)

    def inline(self, article: Article, characters: int) -> tuple[str, str]:
        """Return text with a link or a code word here and there."""
        source, texts, htmls = self.own, list[str](), list[str]()
        for sentence in source.text(self.random, characters):
            draw, text, html = self.random.random(), sentence, escape(sentence)
            if draw < 0.25:
                word, path = self.title(), f"/wiki/{self.random.getrandbits(32):x}"
                article.links.append(f"https://site.example{path}")
                text, html = f"{word} {sentence}", f'<a href="{path}">{escape(word)}</a> {escape(sentence)}'
            elif draw < 0.32:
                text, html = f"fetch_all() {sentence}", f"<code>fetch_all()</code> {escape(sentence)}"
            elif draw < 0.4:
                html = f"<b>{html}</b>"
            texts.append(text)
            htmls.append(html)
        return source.joined(texts), source.joined(htmls)

    def bullets(self, article: Article) -> None:
        name, html = self.random.choice(["ul", "ol"]), ""
        for _ in range(self.random.randint(2, 6)):
            text, inner = self.inline(article, 30)
            article.texts.append(text)
            if self.random.random() < 0.4:
                below = [self.inline(article, 20) for _ in range(2)]
                article.texts += [text for text, _ in below]
                inner += f"<ul>{''.join(f'<li>{each}</li>' for _, each in below)}</ul>"
            html += f"<li>{inner}</li>"
        article.parts.append(f"<{name}>{html}</{name}>")

    def table(self, article: Article) -> None:
        columns = self.random.randint(2, 5)
        head = tuple(self.own.keyword(self.random.getrandbits(32)) for _ in range(columns))
        rows = [
            (self.title(), *(str(self.random.randint(1, 9999)) for _ in range(columns - 1)))
            for _ in range(self.random.randint(2, 9))
        ]
        html = f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>" + "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
        )
        article.parts.append(f"<table>{html}</table>")
        article.rows += [head, *rows]
        article.texts += [" ".join(row) for row in [head, *rows]]

    def reading_list(self, article: Article) -> None:
        """End an article with sources: links that belong to it."""
        heading = {"en": "Sources", "zh": "参考资料"}[self.language]
        names = [self.title() for _ in range(4)]
        targets = [f"https://source.example/{self.random.getrandbits(32):x}" for _ in names]
        items = (f'<li><a href="{target}">{escape(name)}</a></li>' for name, target in zip(names, targets, strict=True))
        article.parts.append(f"<h2>{heading}</h2><ol>{''.join(items)}</ol>")
        article.texts += [heading, *names]
        article.links += targets

    def code(self, article: Article) -> None:
        lines = [f"value_{self.random.randint(1, 99)} = compute(row, limit={n})" for n in range(4)]
        text = "for row in table:\n    " + "\n    ".join(lines)
        article.parts.append(f'<pre><code class="language-python">{escape(text)}\n</code></pre>')
        article.texts.append(text)

    def quote(self, article: Article) -> None:
        text = self.sentence(characters=80)
        article.parts.append(f"<blockquote><p>{escape(text)}</p></blockquote>")
        article.texts.append(text)

    # What stands around an article.

    def link(self, text: str = "") -> str:
        return f'<a href="/other/{self.random.getrandbits(32):x}">{escape(text or self.title(self.other))}</a>'

    def links(self, number: int, tag: str = "li") -> str:
        return "".join(f"<{tag}>{self.link()}</{tag}>" for _ in range(number))

    def menu(self, tag: str = "li") -> str:
        return "".join(f"<{tag}>{self.link(word)}</{tag}>" for word in self.words[:8])

    def teaser(self) -> str:
        return f"<h3>{self.link()}</h3><p>{escape(self.sentence(self.other, 60))}</p>"

    def notice(self) -> str:
        return f"<p>{NOTICE[self.language]}</p><button>{self.words[11]}</button><button>{self.words[12]}</button>"

    def footer(self) -> str:
        return f"<ul>{self.menu()}{self.links(6)}</ul><p>{RIGHTS[self.language]}</p>"


Layout = Callable[[Writer, Article], str]


def head(article: Article) -> str:
    return (
        f'<!DOCTYPE html><html lang="{article.language}"><head><meta charset="utf-8">'
        f"<title>{escape(article.title)} - Site Example</title><style>p {{margin: 0}}</style></head>"
    )


def semantic(writer: Writer, article: Article) -> str:
    """A site in the elements of HTML 5."""
    return (
        f"{head(article)}<body><header><nav><ul>{writer.menu()}</ul></nav></header>"
        f'<div role="dialog">{writer.notice()}</div><main><article><header><h1>{escape(article.title)}</h1></header>'
        f"{''.join(article.parts)}<footer><p>{writer.words[9]}: {writer.link('X')} {writer.link('Y')}</p></footer>"
        f"</article></main><aside><h2>{writer.words[8]}</h2>{writer.teaser()}{writer.teaser()}</aside>"
        f"<footer>{writer.footer()}</footer></body></html>"
    )


def classes(writer: Writer, article: Article) -> str:
    """Rows and columns of a style sheet library, with telling class names."""
    return (
        f'{head(article)}<body><div id="cookie-consent">{writer.notice()}</div><div class="navbar"><ul class="nav">'
        f'{writer.menu()}</ul></div><div class="container"><div class="row"><div class="col-md-8 content">'
        f'<div class="breadcrumb">{writer.link()} &gt; {writer.link()}</div><h1>{escape(article.title)}</h1>'
        f'{"".join(article.parts)}<div class="related-posts"><h3>{writer.words[8]}</h3><ul>{writer.links(5)}</ul></div></div>'
        f'<div class="col-md-4 sidebar">{writer.teaser() * 3}<ul>{writer.links(8)}</ul></div></div></div>'
        f'<div class="site-footer">{writer.footer()}</div></body></html>'
    )


def blog(writer: Writer, article: Article) -> str:
    """A weblog with widgets, comments and a search form."""
    comments = "".join(f"<li><p>{escape(writer.sentence(writer.other, 90))}</p></li>" for _ in range(4))
    return (
        f'{head(article)}<body class="single has-sidebar"><div id="page"><header id="masthead"><p>{writer.link()}</p>'
        f'<ul class="menu">{writer.menu()}</ul></header><div id="content"><div id="primary"><article class="post">'
        f'<h1 class="entry-title">{escape(article.title)}</h1><div class="entry-content">{"".join(article.parts)}'
        f'<div class="sharedaddy share">{writer.words[9]} {writer.link("X")}</div></div></article>'
        f'<nav class="post-navigation">{writer.link()} {writer.link()}</nav><div id="comments"><h2>{writer.words[20]}</h2>'
        f'<ol>{comments}</ol></div></div><div id="secondary" class="widget-area"><form><input></form><section class="widget">'
        f"<h2>{writer.words[8]}</h2><ul>{writer.links(9)}</ul></section></div></div><footer>{writer.footer()}</footer></div>"
        "</body></html>"
    )


def old_table(writer: Writer, article: Article) -> str:
    """A page of the nineties: tables arrange it, nothing has a name, breaks separate paragraphs."""
    body = "".join(article.parts).replace("</p><p>", "<br><br>").replace("<p>", "").replace("</p>", "<br><br>")
    return (
        f'{head(article)}<body bgcolor="#ffffff"><table width="100%"><tr><td colspan="2"><img src="logo.gif" alt="Logo">'
        f'{" | ".join(writer.link(word) for word in writer.words[:6])}</td></tr><tr><td width="150" valign="top">'
        f"{'<br>'.join(writer.link() for _ in range(12))}</td><td><h1>{escape(article.title)}</h1>{body}</td></tr>"
        f'<tr><td colspan="2"><font size="1">{RIGHTS[writer.language]} {writer.link()}</font></td></tr></table></body></html>'
    )


def unnamed(writer: Writer, article: Article) -> str:
    """Class names that only a style sheet understands."""
    name = f"css-{writer.random.getrandbits(24):x}"
    return (
        f'{head(article)}<body><div class="{name}"><div class="flex p-4"><div>{writer.menu("div")}</div></div>'
        f'<div class="{name} mx-auto"><div class="w-2/3"><h1>{escape(article.title)}</h1><div>{"".join(article.parts)}</div>'
        f'</div><div class="w-1/3"><div>{writer.words[8]}</div>{writer.teaser()}<div>{writer.links(9, "div")}</div></div></div>'
        f'<div class="bg-gray p-8"><div>{writer.links(10, "div")}</div><p>{RIGHTS[writer.language]}</p></div>'
        f'<div class="fixed bottom-0">{writer.notice()}</div></div></body></html>'
    )


def manual(writer: Writer, article: Article) -> str:
    """Documentation: a tree of pages, a list of sections, previous and next."""
    return (
        f'{head(article)}<body><div class="document"><div class="sphinxsidebar"><ul>{writer.links(25)}</ul></div>'
        f'<div class="documentwrapper"><div class="body" role="main"><div class="toc"><p>{writer.words[17]}</p>'
        f'<ul>{writer.links(5)}</ul></div><h1>{escape(article.title)}<a class="headerlink" href="#top">¶</a></h1>'
        f'{"".join(article.parts)}<div class="pager">{writer.words[15]} {writer.link()} {writer.words[16]} {writer.link()}</div>'
        f'</div></div></div><div class="footer">{RIGHTS[writer.language]}</div></body></html>'
    )


def news(writer: Writer, article: Article) -> str:
    """A newspaper: teasers around the story and an advertisement within it."""
    middle = len(article.parts) // 2
    inside = f'<div class="ad-slot"><p>{writer.words[21]}</p>{writer.link()}</div><aside>{writer.teaser()}</aside>'
    story = "".join([*article.parts[:middle], inside, *article.parts[middle:]])
    return (
        f'{head(article)}<body><div id="top-banner">{writer.link()}</div><header class="page-header"><nav>{writer.menu("span")}'
        f'</nav></header><div class="layout"><section class="story"><h1>{escape(article.title)}</h1><div class="story-body">'
        f'{story}</div><ul class="social-share"><li>{writer.link("X")}</li></ul></section><section class="recommended">'
        f"<h2>{writer.words[8]}</h2>{''.join(writer.teaser() for _ in range(6))}</section></div>"
        f'<div class="newsletter-signup"><h3>{writer.words[18]}</h3><p>{escape(writer.sentence(writer.other, 60))}</p></div>'
        f"<footer>{writer.footer()}</footer></body></html>"
    )


def portal(writer: Writer, article: Article) -> str:
    """A portal with an article in nested boxes: position line, hot lists on the right, partners below."""
    body = "".join(article.parts).replace("<p>", "<p>\u3000\u3000")
    return (
        f'{head(article)}<body><div id="top"><div class="w1000">{writer.menu("span")}</div></div><div class="main">'
        f'<div class="left"><div class="position">{writer.link()} &gt; {writer.link()}</div><h1>{escape(article.title)}</h1>'
        f'<div id="zoom">{body}</div><div class="prenext"><p>{writer.words[15]}：{writer.link()}</p><p>{writer.words[16]}：'
        f'{writer.link()}</p></div></div><div class="right"><div class="box"><h2>{writer.words[8]}</h2><ul>{writer.links(10)}'
        f'</ul></div><div class="box"><ul>{writer.links(10)}</ul></div></div></div><div class="friendlink">{writer.links(8, "span")}'
        f'</div><div id="bottom">{writer.menu("span")}<p>{RIGHTS[writer.language]}</p></div></body></html>'
    )


def encyclopedia(writer: Writer, article: Article) -> str:
    """An encyclopedia: list of sections, edit links, navigation boxes and categories."""
    parts = [part.replace("</h2>", ' <span class="mw-editsection">[edit]</span></h2>') for part in article.parts]
    return (
        f'{head(article)}<body><div id="mw-page-base"></div><div id="content" role="main"><h1 id="firstHeading">'
        f'{escape(article.title)}</h1><div id="bodyContent"><div id="contentSub"></div><div class="mw-parser-output">{parts[0]}'
        f'<div id="toc" class="toc"><h2>{writer.words[17]}</h2><ul>{writer.links(6)}</ul></div>{"".join(parts[1:])}'
        f'<table class="navbox"><tr><th>{writer.title(writer.other)}</th></tr><tr><td>{writer.links(15, "span")}</td></tr></table>'
        f'</div><div id="catlinks">{writer.links(5)}</div></div></div><div id="mw-panel"><div class="portal"><ul>{writer.menu()}'
        f'{writer.links(8)}</ul></div></div><div id="footer"><p>{RIGHTS[writer.language]}</p></div></body></html>'
    )


def plain(writer: Writer, article: Article) -> str:
    """A personal page: text in the body, a few links above and below."""
    return (
        f"{head(article)}<body>{writer.link(writer.words[0])} | {writer.link(writer.words[1])}<hr><h1>{escape(article.title)}"
        f"</h1>{''.join(article.parts)}<hr>{writer.link(writer.words[15])} | {writer.link(writer.words[16])}"
        f"<p>{RIGHTS[writer.language]}</p></body></html>"
    )


DEV: tuple[Layout, ...] = (semantic, blog, unnamed, news, encyclopedia)
TEST: tuple[Layout, ...] = (classes, old_table, manual, portal, plain)


def page(layout: Layout, language: str, seed: int) -> tuple[str, Article]:
    """Return the HTML of a page, and its article."""
    writer = Writer(language, seed)
    article = writer.article()
    return layout(writer, article), article
