"""S5: pages in a browser that try to reach where no page may: by everything that a script can ask for.

A browser resolves and dials by itself, so it is watched on both sides. What Chromium connects to is written down before
libc does it: that must be our proxy, and nothing else. What the proxy connects to is written down as in every crawl.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from testing.recording_server import Answer, redirect
from tests.faults import guard
from tests.faults.address_forms import FORMS
from tests.faults.browser_recorder import RecordedBrowser, recorded_browser
from tests.faults.guard import PUBLIC, Tally
from tests.faults.guarded import Crawled, guarded, listening
from tests.faults.nameserver import Says
from tests.faults.table import Outcome
from thresher.urls.canonical import canonicalize

LOADS = """
const load = {
  fetch: url => fetch(url, {mode: "no-cors", cache: "no-store"}),
  post: url => fetch(url, {mode: "no-cors", method: "POST", body: "x"}),
  xhr: url => new Promise((good, bad) => {
    const asked = new XMLHttpRequest(); asked.onload = good; asked.onerror = bad; asked.open("GET", url); asked.send();
  }),
  script: url => put("script", {src: url}),
  module: url => import(url),
  image: url => put("img", {src: url}),
  style: url => put("link", {rel: "stylesheet", href: url}).then(() => { throw "empty, and from nobody"; }),
  prefetch: url => put("link", {rel: "prefetch", href: url}),
  preload: url => put("link", {rel: "preload", as: "fetch", href: url}),
  preconnect: url => unheard(() => put("link", {rel: "preconnect", href: url})),
  names: url => unheard(() => put("link", {rel: "dns-prefetch", href: url})),
  object: url => put("object", {data: url}),
  video: url => put("video", {src: url, preload: "auto"}, "loadeddata"),
  frame: url => unheard(() => put("iframe", {src: url})),
  popup: url => unheard(() => window.open(url)),
  form: url => unheard(() => {
    const form = Object.assign(document.createElement("form"), {action: url, target: "_blank", method: "post"});
    document.body.append(form); form.submit();
  }),
  beacon: url => unheard(() => navigator.sendBeacon(url, "x")),
  events: url => new Promise((good, bad) => Object.assign(new EventSource(url), {onopen: good, onerror: bad})),
  socket: url => new Promise((good, bad) => Object.assign(
    new WebSocket(url.replace(/^http/i, "ws")), {onopen: good, onerror: bad})),
  worker: url => new Promise((good, bad) => Object.assign(
    new Worker(URL.createObjectURL(new Blob([
      `try { importScripts(${JSON.stringify(url)}); postMessage(1); }
       catch { fetch(${JSON.stringify(url)}, {mode: "no-cors"}).then(() => postMessage(1), () => postMessage(0)); }`
    ]))),
    {onmessage: told => told.data ? good() : bad(), onerror: bad})),
  shared: url => unheard(() => new SharedWorker(URL.createObjectURL(new Blob([`fetch(${JSON.stringify(url)})`])))),
  service: url => navigator.serviceWorker.register(url),
  transport: url => new WebTransport(url.replace(/^http:/i, "https:")).ready,
  stun: url => calls(url, "stun:HOST:3478"),
  turn: url => calls(url, "turn:HOST:3478?transport=tcp"),
  download: url => unheard(
    () => Object.assign(document.createElement("a"), {href: url, download: "x", target: "_blank"}).click()),
};
const put = (tag, attributes, good = "load") => new Promise((done, failed) => {
  const element = Object.assign(document.createElement(tag), attributes);
  element.addEventListener(good, done); element.addEventListener("error", failed); document.body.append(element);
});
const unheard = deed => new Promise((_, failed) => { deed(); setTimeout(failed, 500); });
const calls = (url, server) => unheard(() => {
  const host = new URL(url).hostname;
  const urls = server.replace("HOST", host);
  const call = new RTCPeerConnection({iceServers: [{urls, username: "a", credential: "b"}]});
  call.createDataChannel("x"); call.createOffer().then(offer => call.setLocalDescription(offer));
});
const rest = seconds => new Promise(done => setTimeout(done, 1000 * seconds));
const tried = async (way, url) => {
  const asking = (async () => { try { await load[way](url); return true; } catch { return false; } })();
  return Promise.race([asking, rest(4).then(() => false)]);
};
let busy = true;
(async () => { while (busy) await load.fetch("http://busy.test/").catch(() => rest(0.1)); })();
const tell = (tried, reached) => {
  document.title = `tried ${tried}, reached ${JSON.stringify(reached)}`; busy = false;
};
"""
WAYS = [line.split(":")[0].strip() for line in LOADS.split("\n") if line.startswith("  ") and ": url =>" in line]
ALL_FORMS = ("fetch", "script")
"""The two ways that are tried with every form; all others take some, each form is taken by some."""

SECONDS = 25.0


@dataclass
class Browsed:
    """A crawl of pages that were rendered, and what its browser asked for."""

    crawled: Crawled
    browser: RecordedBrowser

    def strangers(self) -> list[str]:
        """Return whom proxy and browser connected to or sent to, beside the script's hosts and the proxy."""
        places = set(self.browser.record.connects())
        proxies = {place for place in places if place[0] == "127.0.0.1"}
        past_proxy = places - proxies if len(proxies) == 1 else places
        reported = [*self.crawled.strangers(), *past_proxy, *self.browser.record.sends()]
        return [*map(str, reported), *self.browser.record.names()]

    def reported(self, url: str) -> tuple[int, list[str]]:
        """Return how often the script of a page tried, and whom it reached."""
        pages = [page for page in self.crawled.result.pages if page["url"] == url]
        if not pages or not pages[0]["title"].startswith("tried "):
            return 0, [f"{url} said nothing: {self.crawled.result.why(url)}"]
        tried, _, reached = pages[0]["title"].removeprefix("tried ").partition(", reached ")
        return int(tried), json.loads(reached)


def rendering(browser: RecordedBrowser, **more: Any) -> dict[str, Any]:
    """Return the settings of a crawl that renders every page."""
    asked = {"hosts": ["*"], "executable": str(browser.executable), "sandbox": False, "pages_at_once": 2}
    return {
        "browser": {**asked, "seconds": SECONDS, "max_requests": 2000, **more},
        "engine": {"timeout_seconds": 2, "lease_seconds": SECONDS + 20},
    }


@contextmanager
def browsed(script: Mapping[str, Any], seeds: Sequence[str], names: Mapping[str, Any]) -> Iterator[Browsed]:
    """Crawl a script whose pages are all rendered."""
    with (
        recorded_browser() as browser,
        guarded(script, seeds, names, settings=rendering(browser), seconds=120.0) as done,
    ):
        assert browser.record.connects(), f"the browser was not recorded: {done.result.stderr}"
        yield Browsed(done, browser)


BUSY = {"busy.test": {"/": Answer(body="ok", wait_seconds=0.2)}}
"""A host that keeps pages waiting, so that they are not thought to be done."""


def scripted(body: str) -> Answer:
    """Return a page whose script does as it says."""
    return Answer(body=f"<!doctype html><title>Hub</title><body><p>solar<script type=module>{LOADS}{body}</script>")


def by_scripts(ways: Sequence[str] = tuple(WAYS), *, every: int = 1) -> Tally:
    """Let pages ask for hostile forms in every way that a script has, also by redirects, and by leaving."""
    with listening([("127.0.0.1", 0)]) as listeners, listening([("::1", listeners.places[0][1])]) as six:
        forms = [form.format(port=listeners.places[0][1]) for form in FORMS if "//" in form][::every]
        chosen = {way: forms if way in ALL_FORMS else forms[place % 7 :: 7] for place, way in enumerate(ways)}
        redirects = [form for form in forms if form.isascii() and form.isprintable()]
        script = {**BUSY, "hub.test": {**_asking(chosen), **_redirecting(redirects), **_leaving(forms[:4])}}
        seeds = [f"http://hub.test{path}" for path in script["hub.test"] if not path.startswith("/go/")]
        with browsed(script, seeds, {"*": Says(["127.0.0.1", "::1"])}) as done:
            tally = Tally(connects=len(done.strangers()) + listeners.accepts + six.accepts)
            tally.broken += done.strangers()
            expected = {f"/{way}": len(some) for way, some in chosen.items()} | {"/redirects": len(redirects)}
            for path, count in expected.items():
                tried, reached = done.reported(f"http://hub.test{path}")
                tally.expect((tried, reached) == (count, []), f"{path}: tried {tried} of {count}, reached {reached}")
                tally.cases += count - 1
            _left(done, [path for path in script["hub.test"] if path.startswith("/leave/")], tally)
    return tally


def _asking(chosen: Mapping[str, Sequence[str]]) -> dict[str, Answer]:
    """Make a page for each way to ask."""
    return {
        f"/{way}": scripted(
            f"const urls = {_written(urls)};"
            f"const got = await Promise.all(urls.map(url => tried({way!r}, url)));"
            "tell(urls.length, urls.filter((_, place) => got[place]));"
        )
        for way, urls in chosen.items()
    }


def _redirecting(urls: Sequence[str]) -> dict[str, Answer]:
    """Make a page that is led astray by the answers of its own host."""
    page = scripted(
        f"const urls = {_written(urls)}; const got = [];"
        "for (const place in urls) got.push(await tried('fetch', `/go/${place}`));"
        "tell(urls.length, urls.filter((_, place) => got[place]));"
    )
    return {"/redirects": page, **{f"/go/{place}": redirect(url) for place, url in enumerate(urls)}}


def _leaving(urls: Sequence[str]) -> dict[str, Answer]:
    """Make pages that send their reader on, by a script or without one."""
    pages = {}
    for place, url in enumerate(urls):
        pages[f"/leave/script{place}"] = scripted(f"location.replace({json.dumps(url)})")
        pages[f"/leave/meta{place}"] = Answer(
            body=f'<!doctype html><meta http-equiv="refresh" content="0; url={url}"><p>solar'
        )
    return pages


def _left(done: Browsed, paths: Sequence[str], tally: Tally) -> None:
    for path in paths:
        why = done.crawled.result.why(f"http://hub.test{path}")
        tally.expect("refreshes to " in why, f"{path}: {why}")


def _written(urls: Sequence[str]) -> str:
    return json.dumps(list(urls)).replace("</", "<\\/")


NAMES = {
    "steady": (Says(["{steady.test}"], ttl=300), [True, True, True]),
    "rebind": ([Says(["{rebind.test}"], ttl=0), Says(["127.0.0.1"])], [True, False, False]),
    "fickle": ([Says(["{fickle.test}"], ttl=0), Says([PUBLIC, "127.0.0.1"])], [True, False, False]),
    "mixed": (Says(["{mixed.test}", "127.0.0.1"]), [False, False, False]),
    "mixed6": (Says(["{mixed6.test}", "::1"]), [False, False, False]),
    "alias": (Says(["127.0.0.1"], alias="localhost"), [False, False, False]),
    "metadata": (Says(["169.254.169.254"]), [False, False, False]),
    "inside": (Says(["10.0.0.1"]), [False, False, False]),
}
"""What name servers say, and whether a page gets an answer, asking three times with a pause between."""


def by_names() -> Tally:
    """Let a page ask names that turn into other addresses while it is open."""
    page = scripted(
        f"const names = {json.dumps(list(NAMES))}; const got = {{}};"
        "for (let turn = 0; turn < 3; turn++) {"
        "  for (const name of names) {"
        "    const url = `http://${name}.test:${location.port}/x?${turn}`;"
        "    (got[name] ||= []).push(await tried('fetch', url));"
        "  } await rest(1.3); }"
        "tell(3, got);"
    )
    closing = Answer(body="ok", headers=[("Connection", "close"), ("Cache-Control", "no-store")])
    script: dict[str, Any] = {**BUSY, "hub.test": {"/": page}, **{f"{name}.test": {"/x": closing} for name in NAMES}}
    says = {f"{name}.test": printed for name, (printed, _) in NAMES.items()} | {"hub.test": Says(["{hub.test}"])}
    with browsed(script, ["http://hub.test:{port}/"], says) as done:
        tally = Tally(connects=len(done.strangers()), broken=done.strangers())
        _, got = done.reported(canonicalize(f"http://hub.test:{done.crawled.recorder.port}/") or "")
        for name, (_, expected) in NAMES.items():
            reported = got.get(name) if isinstance(got, dict) else got
            tally.expect(reported == expected, f"{name}: {reported}, expected {expected}")
    return tally


def s5() -> Outcome:
    """Fill row S5."""
    scripts, names = by_scripts(), by_names()
    with recorded_browser() as browser:
        settings = rendering(browser, seconds=10.0)
        crawled = guard.crawled_forms(settings=settings)
        rebound = guard.rebinding(settings=settings)
        crawled.broken += [*map(str, browser.record.sends()), *browser.record.names()]
        crawled.connects += sum(address != "127.0.0.1" for address, _ in browser.record.connects())
    tallies = [scripts, names, crawled, rebound]
    for tally in tallies:
        print(*tally.broken, sep="\n")
    connects = sum(tally.connects for tally in tallies)
    return Outcome(
        held=not connects and not any(tally.broken for tally in tallies),
        figure=f"connects = {connects}, of the browser past the proxy and of the proxy past the guard; "
        f"{scripts.cases} tries of pages in {len(WAYS)} ways, by redirects and by leaving, reached nobody; answers of "
        f"name servers right for {names.cases - len(names.broken)} of {names.cases} kinds; rows S1 and S2 with every "
        f"page rendered: {crawled.cases + rebound.cases - len(crawled.broken) - len(rebound.broken)} of "
        f"{crawled.cases + rebound.cases} as they should be",
    )
