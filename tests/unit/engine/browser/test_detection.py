"""A page that waits for its scripts is distinguished from one that has little to say."""

import pytest

from thresher.engine.browser.detection import has_more_content, needs_rendering
from thresher.records import FetchedPage

WORDS = "perovskite solar cells turn light into current " * 20


def page(body):
    return FetchedPage(
        url="http://a.example/", status=200, headers={"content-type": "text/html"}, body=body.encode(), fetched_at=0.0
    )


@pytest.mark.parametrize(
    "body",
    [
        '<div id="root"></div><script src="/app.js"></script>',
        '<div id="app"><p>Loading…</p></div><script type="module" src="/app.js"></script>',
        '<app-root></app-root><script src="/main.js"></script>',
        "<noscript>You need to enable JavaScript to run this app.</noscript><main></main><script src=/a.js></script>",
        "<noscript>请启用脚本</noscript><script src=/a.js></script>",
        "<p>This site requires JavaScript.</p><a href=/help>Help</a><script src=/a.js></script>",
        "<script>document.write(everything)</script>",
        f"<div id=root></div><script>state = '{WORDS}'</script><style>{WORDS}</style><template>{WORDS}</template>",
        '<div id=root></div><a href="#">top</a><a href="javascript:go()">go</a><script></script>',
    ],
)
def test_a_shell_needs_its_scripts(body):
    assert needs_rendering(page(f"<!doctype html><title>App</title><body>{body}"))


MENU = "<header>" + "".join(f"<a href=/{n}>Section {n}</a>" for n in range(40)) + "</header>"
FOOTER = f"<footer>{WORDS * 3}</footer><script src=/app.js></script>"


@pytest.mark.parametrize(
    "content",
    [
        "<main></main>",
        "<main id=content data-spinner><!-- filled later --></main>",
        '<div id="root"><div class="skeleton"><div></div></div><p>Loading…</p></div>',
        '<div id="app"><nav><a href=/a>One</a></nav><section></section></div>',
        '<div class="site-menu">One, two</div><div id=content></div><div class="page footer">Imprint</div>',
    ],
)
@pytest.mark.parametrize("menu", [MENU, MENU[: MENU.index("<a href=/9>")] + "</header>"], ids=["large", "small"])
def test_menus_and_footers_around_an_empty_element_need_their_scripts(menu, content):
    assert needs_rendering(page(f"<!doctype html><title>App</title><body>{menu}{content}{FOOTER}"))


@pytest.mark.parametrize(
    "content",
    [
        f"<main><p>{WORDS}</p></main>",
        f'<div id="app"></div><div class="header-layout"><article><p>{WORDS}</p></article></div>',
        f"<a id=content></a><p>{WORDS}</p>",
        "<main><h1>Thank you</h1></main>",
        "<main><img src=/ship.jpg></main>",
        "<main></main><ul>" + "".join(f"<li><a href=/story-{n}>Story {n}</a>" for n in range(9)) + "</ul>",
        "<p>A short page of a site with a long footer.</p>",
    ],
)
def test_menus_and_footers_around_content_do_not(content):
    assert not needs_rendering(page(f"<!doctype html><title>Page</title><body>{MENU}{content}{FOOTER}"))


@pytest.mark.parametrize(
    "body",
    [
        f"<p>{WORDS}</p><script src=/statistics.js></script>",
        f'<div id="root"><p>{WORDS}</p></div><script src="/app.js"></script>',
        "<p>A short page.</p>",
        "<p>A short page, on which nothing waits for a script that counts its readers.</p><script src=/s.js></script>",
        "<div id=root>" + "".join(f"<a href=/{n}>{n}</a>" for n in range(9)) + "</div><script src=/a.js></script>",
        "",
    ],
)
def test_a_page_that_says_something_does_not(body):
    assert not needs_rendering(page(f"<!doctype html><title>Page</title><body>{body}"))


def test_rendering_was_worth_it_when_there_is_more_to_read_or_to_follow():
    before = page("<div id=root></div>")
    assert has_more_content(page(f"<p>{WORDS}"), before)
    assert has_more_content(page("<a href=/a>a</a><a href=/b>b</a><a href=/c>c</a>"), before)
    assert not has_more_content(page("<p>Loading…</p><a href=/a>a</a>"), before)
