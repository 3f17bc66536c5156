"""A real browser, and pages that do what pages should not: each is over in time, and gives what it has."""

import json
import time

import pytest

from testing.recording_server import Answer, recorder, redirect
from testing.screens.browser import CHROMIUM, NO_CHROMIUM
from thresher.config.access import AccessTable
from thresher.config.schema import AccessConfig, CrawlConfig
from thresher.engine.browser import chromium
from thresher.engine.browser.renderer import Renderer
from thresher.parsing.html import parse
from thresher.records import FetchedPage, Lease
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)

SECRET = Answer(status=401, headers=[("WWW-Authenticate", 'Basic realm="x"')], body="who are you")
SCRIPT = {
    "app.test": {
        "/data": Answer(body="some data"),
        "/secret": SECRET,
        "/gone": redirect("http://other.test/data"),
        "/large": Answer(body="x" * 3_000_000),
        "/file.zip": Answer(body="PK", content_type="application/zip"),
        "/page": Answer(body="a page"),
    },
    "other.test": {"/data": Answer(body="data of others", headers=[("Access-Control-Allow-Origin", "*")])},
}


class Eyes:
    """Renders pages of a script; tells who was dialled for them."""

    proxy = None

    def __init__(self, w, *, access=None, tls="record", **browser):
        asked = {"hosts": ["*"], "sandbox": False, "seconds": 8.0, **browser}
        config = CrawlConfig.model_validate({"browser": asked, "network": {"tls": tls}})
        self._rendering = Renderer(config, MemoryFrontier(), None, self, access)
        self._recorder = w
        self.asked = []

    async def resolve_endpoints(self, name, port):
        self.asked.append(f"{name}:{port}")
        known = self._recorder.connect_to
        place = known.get(f"{name}:{port}", known.get(f"*:{port}", ""))
        host, _, number = place.rpartition(":")
        return ([(host, int(number))], "") if place else ([], "a private address")

    async def see(self, markup, *, url="http://app.test/", headers=()):
        lease = Lease(url=url, host="app.test", score=1.0, fence=1, until=0.0)
        kind = {"content-type": "text/html", **dict(headers)}
        page = FetchedPage(
            url=url, status=200, headers=kind, body=f"<!doctype html><body>{markup}".encode(), fetched_at=0.0
        )
        return await self._rendering.render_if_needed(lease, page, until=time.monotonic() + 30)

    async def read(self, markup, **more):
        """Return a page as the line would read it."""
        seen = await self.see(markup, **more)
        return parse(seen.url, seen.body, seen.headers["content-type"])

    async def close(self):
        await self._rendering.close()


@pytest.fixture(scope="module")
def w():
    with recorder(SCRIPT) as w:
        yield w


@pytest.fixture
async def eyes(w):
    eyes = Eyes(w)
    yield eyes
    await eyes.close()


@pytest.fixture
async def patient_eyes(w):
    eyes = Eyes(w, seconds=20.0)
    yield eyes
    await eyes.close()


async def test_what_scripts_write_is_read_and_what_is_for_others_is_not(eyes):
    page = await eyes.read(
        "<p id=a>before</p><noscript>no scripts <a href=/no>no</a></noscript><div id=host></div><script>"
        "document.getElementById('a').textContent = 'after';"
        "host.attachShadow({mode: 'open'}).innerHTML = '<p>inside</p><a href=/shadow>in the shadow</a>';"
        "fetch('/data').then(r => r.text()).then(text => document.body.append(text));"
        "</script>"
    )
    assert "after" in page.text
    assert "inside" in page.text
    assert "some data" in page.text
    assert "no scripts" not in page.text
    assert [link.url for link in page.links] == ["http://app.test/shadow"]


@pytest.mark.parametrize(("tls", "loaded"), [("verify", False), ("record", True)])
async def test_data_from_a_server_without_a_valid_certificate_is_loaded_if_the_user_says_so(w, tls, loaded):
    eyes = Eyes(w, seconds=20.0, tls=tls)
    page = await eyes.read(
        "<p>before</p><script>fetch('/data').then(r => r.text()).then(t => document.body.append(t))</script>",
        url="https://app.test/",
    )
    await eyes.close()
    assert "before" in page.text
    assert ("some data" in page.text) is loaded


async def test_a_script_that_never_ends_leaves_the_page_as_it_came(eyes):
    begun = time.monotonic()
    seen = await eyes.see("<p>before</p><script>while (true);</script>")
    assert time.monotonic() - begun < 25
    assert (seen.rendered, seen.truncated) == (False, True)
    assert b"before" in seen.body
    assert (await eyes.see("<p>the next</p>")).rendered


async def test_a_page_that_never_rests_is_read_when_its_time_is_up(eyes):
    seen = await eyes.see("<p>now</p><script>(async () => { for (;;) await fetch('/data'); })()</script>")
    assert (seen.rendered, seen.truncated) == (True, True)


async def test_a_page_that_takes_too_much_memory_is_ended_alone(eyes, monkeypatch):
    monkeypatch.setattr(chromium, "MAX_RENDERER_BYTES", 150 << 20)
    fill = "const all = []; setInterval(() => { all.push(new Uint8Array(2e7).fill(1)); }, 20);"
    seen = await eyes.see(f"<p>before</p><script>{fill}(async () => {{ for (;;) await fetch('/data'); }})()</script>")
    assert (seen.rendered, seen.truncated) == (False, True)
    assert (await eyes.see("<p>the next</p>")).rendered


@pytest.mark.parametrize(
    "leaving",
    [
        "<script>location = '/page'</script>",
        "<script>setTimeout(() => location.replace('/page'), 100)</script>",
        "<meta http-equiv=refresh content='0; url=/page'>",
        "<form action=/page></form><script>document.forms[0].submit()</script>",
    ],
)
async def test_a_page_that_sends_its_reader_on_is_a_redirect_and_nobody_follows_it(w, eyes, leaving):
    page = await eyes.read(f"<p>moved</p>{leaving}")
    assert page.refresh.rstrip("?") == "http://app.test/page"
    assert w.hits("app.test", "/page") == []


async def test_windows_frames_and_downloads_are_not_opened(w, eyes):
    seen = await eyes.see(
        "<iframe src=/page></iframe><img src=/page><object data=/page></object><script>window.open('/page');"
        "navigator.sendBeacon('/page'); new EventSource('/page'); document.body.append('still here')</script>"
    )
    assert b"still here" in seen.body
    assert w.hits("app.test", "/page") == []


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_no_password_is_sent_to_a_server_that_asks_for_one(w, patient_eyes, scheme):
    page = await patient_eyes.read(
        "<script>fetch('/secret').catch(() => 0); fetch('/data').then(r => r.text()).then(t => document.body.append(t))"
        "</script>",
        url=f"{scheme}://app.test/",
    )
    assert "some data" in page.text
    assert {hit.path for hit in w.hits("app.test")} >= {"/secret", "/data"}
    sent = {name.lower() for hit in w.hits("app.test") for name, _ in hit.headers}
    assert not {name for name in sent if "auth" in name}


async def test_a_redirect_leads_data_only_to_hosts_that_the_page_asks_itself(eyes):
    ask = "fetch('/gone').then(r => r.text(), () => 'none').then(t => document.body.append(t))"
    assert "none" in (await eyes.read(f"<script>{ask}</script>")).text
    both = f"fetch('http://other.test/data').then(() => {ask})"
    assert "data of others" in (await eyes.read(f"<script>{both}</script>")).text


async def test_cookies_do_not_outlive_their_page(eyes):
    await eyes.see("<script>document.cookie = 'a=b; max-age=9999'</script>", headers=[("set-cookie", "c=d")])
    page = await eyes.read("<script>document.body.append('cookies: ' + document.cookie)</script>")
    assert page.text == "cookies:"


async def test_the_bounds_of_what_a_page_loads(w):
    eyes = Eyes(w, max_requests=3, max_bytes=1_000_000)
    many = "for (let n = 0; n < 9; n++) fetch('/data?' + n).then(() => document.body.append('one '));"
    seen = await eyes.see(f"<script>{many}</script>")
    assert (seen.body.count(b"one "), seen.truncated) == (3, True)
    seen = await eyes.see(
        "<script>fetch('/large').then(r => r.text()).then(() => document.body.append('all'))</script>"
    )
    assert (b"all" in seen.body, seen.truncated) == (False, True)
    await eyes.close()


async def test_a_page_may_be_held_to_its_own_site(w):
    eyes = Eyes(w, load_from="site")
    asked = "fetch('http://other.test/data').catch(() => document.body.append('none'))"
    assert "none" in (await eyes.read(f"<script>{asked}</script>")).text
    assert "other.test:80" not in eyes.asked
    await eyes.close()


async def test_a_page_of_a_configured_host_is_rendered_signed_in_and_redacted(w, tmp_path):
    cookie = {"name": "sid", "value": "state-c00kie-of-the-app", "domain": "app.test", "path": "/", "expires": -1}
    stored = [{"name": "k", "value": "local-st0rage-of-the-app"}]
    state = {"cookies": [cookie], "origins": [{"origin": "http://app.test", "localStorage": stored}]}
    (tmp_path / "state.json").write_text(json.dumps(state), encoding="utf-8")
    entry = {"host": "app.test", "allow_http": True, "storage_state": {"file": "state.json"}}
    eyes = Eyes(w, access=AccessTable.of([AccessConfig.model_validate(entry)], tmp_path))
    markup = "<p id=a>Cookie: </p><script>a.append(document.cookie, ' and ', localStorage.k)</script>"
    try:
        own = await eyes.see(markup)
        other = await eyes.see(markup, url="http://other.test/")
    finally:
        await eyes.close()
    assert own.rendered
    assert b"Cookie: sid=[redacted] and [redacted]" in own.body
    assert b"Cookie:  and undefined" in other.body
