"""Sitemaps that lie, grow and point elsewhere (row H9), each on a host of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from testing.recording_server import Answer, Fill, Packed, page, recorder, text
from testing.recording_server.words import TOPIC_SENTENCES
from tests.faults.live import crawl
from tests.faults.table import Outcome
from thresher.runner.limits import NOTHING_FETCHED

MAX_GROWTH_BYTES = 64 << 20
DEEP = 50
PATIENT = {"engine": {"timeout_seconds": 60.0, "lease_seconds": 90.0}}
"""The recording server packs while it sends; on a busy machine that takes its time."""
FLAWS = {
    "xxe.test": "declares a document type",
    "laughs.test": "declares a document type",
    "bomb.test": "larger than 50 MiB",
}
"""Why these are not read to their end: no URL from them counts only when they came, and were refused for this."""
_LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


def urlset(addresses: Iterable[str], changed: str = "") -> str:
    """Return a sitemap of pages."""
    lastmod = f"<lastmod>{changed}</lastmod>" if changed else ""
    return f"<urlset>{''.join(f'<url><loc>{address}</loc>{lastmod}</url>' for address in addresses)}</urlset>"


def index(*addresses: str) -> str:
    """Return a sitemap of sitemaps."""
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{a}</loc></sitemap>' for a in addresses)}</sitemapindex>"


def xml(body: str | bytes | Packed) -> Answer:
    """Serve a sitemap."""
    return Answer(body=body, content_type="application/xml")


def script(many: int, bomb_bytes: int) -> dict[str, dict[str, Any]]:
    """Return the hosts; each has a page and a sitemap of its own kind."""
    packed = Packed(body=urlset(f"/{number}" for number in range(many)), declared=False)
    bomb = Packed(body=Fill(size=bomb_bytes, pattern=" " * 4096, start="<urlset>"), declared=False)
    hosts: dict[str, dict[str, Any]] = {
        "many.test": {"/sitemap.xml": xml(packed)},
        "deep.test": {
            "/sitemap.xml": xml(index("/1.xml")),
            **{f"/{n}.xml": xml(index(f"/{n + 1}.xml")) for n in range(1, DEEP)},
        },
        "self.test": {"/sitemap.xml": xml(index("/sitemap.xml", "/sitemap.xml?again"))},
        "cross.test": {"/sitemap.xml": xml(urlset(["http://victim.test/1", "file:///etc/passwd", "/own"]))},
        "child.test": {"/sitemap.xml": xml(index("http://victim.test/sitemap.xml", "http://127.0.0.1:6379/x.xml"))},
        "xxe.test": {
            "/sitemap.xml": xml(
                '<!DOCTYPE urlset [<!ENTITY x SYSTEM "http://victim.test/x">]>' + urlset(["/&x;", "/own"])
            )
        },
        "laughs.test": {
            "/sitemap.xml": xml(f'<!DOCTYPE urlset [<!ENTITY l0 "ha">{_LAUGHS}]>' + urlset(["/&l9;", "/own"]))
        },
        "future.test": {"/sitemap.xml": xml(urlset(["/own"], changed="2999-01-01"))},
        "bomb.test": {"/sitemap.xml": xml(bomb)},
        "listed.test": {
            "/robots.txt": text("User-agent: *\nSitemap: http://cdn.test/listed.xml\n"),
            "/own": page("Own", TOPIC_SENTENCES[0]),
        },
    }
    for number, (host, paths) in enumerate(hosts.items()):
        paths["/"] = page(host, TOPIC_SENTENCES[number])
    return hosts | {"cdn.test": {"/listed.xml": xml(urlset(["http://listed.test/own", "http://victim.test/2"]))}}


@dataclass(frozen=True)
class Mapped:
    """What sitemaps brought.

    Args:
        let_in: URLs of each host that came from its sitemaps.
        files: Sitemaps that were asked for, by host.
        elsewhere: Requests to hosts that no robots.txt leads to.
        words: What was reported of the sitemaps that must have been read to their bounds, as ``why`` prints it.
        growth_bytes: How much more memory the crawl took than one without sitemaps.
    """

    let_in: dict[str, int]
    files: dict[str, int]
    elsewhere: int
    words: dict[str, str]
    growth_bytes: int


def mapped(many: int, bomb_bytes: int, *, seconds: float) -> Mapped:
    """Crawl with sitemaps, and without for comparison."""
    hosts = script(many, bomb_bytes)
    seeds = [f"http://{name}/" for name in hosts if name != "cdn.test"]
    with recorder(hosts) as w:
        without = crawl(w, seeds, PATIENT, seconds=seconds)
    with recorder(hosts) as w:
        result = crawl(w, seeds, {"sitemaps": "seeds", **PATIENT}, seconds=seconds)
        hits = w.hits()
    if result.exit_code not in (0, NOTHING_FETCHED):  # the URLs that sitemaps list do not exist, so most requests fail
        raise RuntimeError(f"the crawl ended with {result.exit_code}: {result.stderr[-500:]}")
    files = {name: sum(hit.host == name and ".xml" in hit.path for hit in hits) for name in hosts}
    known = {name: host["waiting"] + host["failed"] + host["pages"] for name, host in result.hosts.items()}
    let_in = {name: known[name] - 1 for name in hosts if name in known and name != "cdn.test"}
    elsewhere = sum(hit.host not in hosts for hit in hits)
    words = {name: result.why(f"http://{name}/sitemap.xml") for name in FLAWS}
    return Mapped(let_in, files, elsewhere, words, result.peak_rss_bytes - without.peak_rss_bytes)


EXPECTED = {"cross.test": 1, "future.test": 1, "listed.test": 1, "xxe.test": 0, "laughs.test": 0, "bomb.test": 0}
"""URLs that the small sitemaps rightly bring."""


def unread(found: Mapped) -> set[str]:
    """Return the sitemaps that were not refused for what is wrong with them; then their figures say nothing."""
    return {name for name, flaw in FLAWS.items() if flaw not in found.words[name]}


def is_right(found: Mapped, most: int) -> bool:
    """Tell whether all promises were kept."""
    few = all(found.let_in[name] == count for name, count in EXPECTED.items())
    bounded = found.let_in["many.test"] == most and found.files["deep.test"] == 4 and found.files["self.test"] == 2
    return few and bounded and not unread(found) and found.elsewhere == 0 and found.growth_bytes <= MAX_GROWTH_BYTES


def h9() -> Outcome:
    """A million URLs, a bomb of 1 GiB, and all the rest."""
    found = mapped(1_000_000, 1 << 30, seconds=120)
    brought, files = found.let_in, found.files
    return Outcome(
        held=is_right(found, 10_000),
        figure=f"{brought['many.test']:,} of 1,000,000 URLs let in; {files['deep.test']} of {DEEP} nested indexes, "
        f"{files['self.test']} of one that lists itself; {brought['xxe.test']} URLs from XXE, "
        f"{brought['laughs.test']} from billion laughs, {brought['bomb.test']} from a bomb of 1 GiB; "
        f"{found.elsewhere} requests to other hosts; memory {found.growth_bytes / 2**20:+.0f} MiB",
    )
