"""Places that no link may lead to: addresses inside a network, names that turn into them, other schemes, bad ports.

A host that plays a public site here has a loopback address that the crawl is allowed; 127.0.0.1 and ::1 are not, so a
connection to them would be one into somebody's own network. Connections are counted three times over: by a recorder of
what the crawl's processes ask for, by listeners, and in the forms' table by a client that only writes down.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from unittest.mock import patch

from testing.recording_server import page, redirect, text
from tests.faults.address_forms import DROPPED, FORMS, LOOPBACK
from tests.faults.guarded import Crawled, guarded, listening
from tests.faults.nameserver import SERVFAIL, Says
from tests.faults.table import Outcome
from thresher.engine.dns.client import DnsClient, ResolvedAddresses
from thresher.engine.dns.resolver import GuardedResolver, host_and_port
from thresher.engine.download.downloader import Downloader
from thresher.engine.download.errors import AddressRefused, FetchFailed
from thresher.engine.download.request import FetchRequest
from thresher.engine.download.slow_hosts import SlowHostLimiter
from thresher.engine.download.transfer import Transfer
from thresher.frontier.base import UrlState
from thresher.reasons.reason import REFUSED, ReasonKind
from thresher.records import Lease
from thresher.urls.address_policy import BAD_PORTS, is_address, private_network
from thresher.urls.canonical import canonicalize

PUBLIC = "93.184.216.34"  # is never dialled: a client that might is replaced by one that only records


@dataclass
class Tally:
    """What became of the cases."""

    cases: int = 0
    connects: int = 0
    listened: int = 0
    broken: list[str] = field(default_factory=list)

    def expect(self, right: bool, case: str) -> None:
        """Count a case, and remember it when it went wrong."""
        self.cases += 1
        if not right:
            self.broken.append(case)


class _EveryNameIsPublic(DnsClient):
    async def look_up(self, name: str) -> ResolvedAddresses:
        return ResolvedAddresses((PUBLIC,), 60.0)


class _OnlyWrites:
    """Stands for the client: connects to nobody, and remembers whom it would dial."""

    def __init__(self) -> None:
        self.dialled: list[tuple[str, int]] = []

    async def run(self, transfer: Transfer) -> bool:
        self.dialled.extend(transfer.request.endpoints)
        raise FetchFailed(ReasonKind.OTHER, "dialled")

    def close(self) -> None:
        """Nothing is open."""


def forms() -> Tally:
    """Fetch each form through the guard, with a client that only writes down whom it would dial."""
    tally = Tally()
    for form, expected in FORMS.items():
        url = canonicalize(form.format(port=8123))
        dialled, reason = asyncio.run(dial(url)) if url else ([], DROPPED)
        tally.connects += len(dialled)
        tally.expect(reason == expected, f"{form!r}: {reason or 'dialled'}, expected {expected}")
        name = host_and_port(url)[0] if url else ""
        if is_address(name) and not private_network(name):
            tally.broken.append(f"{form!r} may be a seed")
    return tally


async def dial(url: str) -> tuple[list[tuple[str, int]], str]:
    """Request a URL of nobody; return whom the engine would have dialled, and why the guard refused."""
    resolver, client = GuardedResolver([], names=_EveryNameIsPublic()), _OnlyWrites()
    downloader = Downloader(
        resolver,
        SlowHostLimiter(1),
        headers={"User-Agent": "test"},
        max_bytes=1,
        client=client,  # type: ignore[arg-type]
    )
    lease = Lease(url=url, host="", score=0.0, fence=1, until=0.0)
    try:
        async with downloader.fetch(FetchRequest(url=url, lease=lease, timeout_seconds=5.0, start_by=math.inf)):
            raise AssertionError("a page of nobody")
    except AddressRefused as refused:
        return client.dialled, refused.why
    except FetchFailed:
        return client.dialled, ""
    finally:
        downloader.close()


def crawled_forms(*, robots_every: int = 8, settings: Mapping[str, Any] | None = None) -> Tally:
    """Crawl a page that leads to every form: by a link, by a redirect, by robots.txt and by a sitemap."""
    with listening([("127.0.0.1", 0)]) as listeners:
        port = listeners.places[0][1]
        forms = [
            form.format(port=port) for form in FORMS if "//" in form or "\\" in form
        ]  # "http:a" is a path on a page
        in_headers = [form for form in forms if form.isascii() and form.isprintable()]
        links, targets = _numbered(forms, "link"), _numbered(in_headers, "redirect")
        lost = {f"lost{number}.test": url for number, url in enumerate(targets[::robots_every])}
        script: dict[str, Any] = {
            "hub.test": {
                "/": page("Hub", "perovskite solar cells", [*links, *(f"/go/{n}" for n in range(len(targets)))]),
                "/robots.txt": text("".join(f"Sitemap: {url}.xml\n" for url in targets)),
                **{f"/go/{number}": redirect(url) for number, url in enumerate(targets)},
            },
            **{host: {"/robots.txt": redirect(f"{url}.txt")} for host, url in lost.items()},
        }
        names = {"*": Says(["127.0.0.1", "::1"])}
        first = ["http://hub.test/", *(f"http://{host}/" for host in lost)]
        with (
            listening([("::1", port)]) as six,
            guarded(script, first, names, settings={"sitemaps": "all", **(settings or {})}) as done,
        ):
            tally = _refused_all(done, [*links, *targets])
            tally.connects = len(done.strangers()) + listeners.accepts + six.accepts
            tally.expect(len(done.recorder.hits("hub.test")) > len(targets), "the hub was not crawled")
            tally.expect(
                {hit.host for hit in done.recorder.hits()} >= set(lost), "robots.txt that lead away were not asked for"
            )
    return tally


def _numbered(forms: Iterable[str], way: str) -> list[str]:
    """Give each form a path of its own, so that it can be distinguished from others that mean the same."""
    return [f"{form}{way}{number}" for number, form in enumerate(forms)]


def _refused_all(done: Crawled, urls: Sequence[str]) -> Tally:
    """Look up what became of URLs: each was refused with a reason, or is no URL."""
    tally = Tally()
    canonical = {url: canonicalize(url) for url in urls}
    entries = iter(done.entries([url for url in canonical.values() if url]))
    for written, url in canonical.items():
        entry = next(entries) if url else None
        refused = entry and entry.state is UrlState.FAILED and entry.reason.kind in REFUSED
        tally.expect(
            bool(url is None or refused), f"{written!r}: {entry.reason or entry.state if entry else 'unknown'}"
        )
    return tally


def s1() -> Outcome:
    """Fill row S1."""
    tried, crawled = forms(), crawled_forms(robots_every=2)
    return Outcome(
        held=not (tried.broken or crawled.broken or tried.connects or crawled.connects),
        figure=f"connects = {tried.connects + crawled.connects} of {len(FORMS)} forms ({len(LOOPBACK)} mean this "
        f"machine), as links, redirects, robots.txt and sitemaps; reasons right {tried.cases - len(tried.broken)} "
        f"of {tried.cases}, refused in a crawl {crawled.cases - len(crawled.broken)} of {crawled.cases}",
    )


CLOSING = {"headers": [("Connection", "close")]}  # so that every request needs an address again
_HOSTS = [
    "rebind",
    "mixed",
    "mixed6",
    "alias",
    "fickle",
    "broken",
    "giant",
    "torn",
    "endless",
    "cut",
    "slow",
    "many",
    "steady",
]


def rebinding(*, settings: Mapping[str, Any] | None = None) -> Tally:
    """Crawl hosts whose name server changes its mind, mixes addresses, or answers badly."""
    script = {
        f"{name}.test": {
            "/robots.txt": text("", **CLOSING),
            **{f"/{n}": page(f"{name} {n}", "solar cells", [f"/{n + 1}"], **CLOSING) for n in range(4)},
        }
        for name in _HOSTS
    }
    seeds = [f"http://{name}.test:{{port}}/0" for name in _HOSTS]
    politeness = {"politeness": {"delay_seconds": 1.1}, **(settings or {})}
    with guarded(script, seeds, _name_answers(), settings=politeness) as done:
        pages = {name: len(done.recorder.hits(f"{name}.test")) for name in _HOSTS}
        tally = Tally(connects=len(done.strangers()))
        for name in ("mixed", "mixed6", "alias", "broken", "torn", "cut", "endless"):
            tally.expect(pages[name] == 0, f"{name}: {pages[name]} requests")
        for name in ("slow", "many", "giant", "steady"):
            tally.expect(pages[name] == 6, f"{name}: {pages[name]} requests of 6")
        for name in ("rebind", "fickle"):
            tally.expect(1 <= pages[name] < 6, f"{name}: {pages[name]} requests")
            tally.expect(_is_refused(done, name), f"{name}: not refused in the end")
        tally.expect(done.names.asked("steady.test") == 1, f"steady: asked {done.names.asked('steady.test')} times")
        tally.expect(done.record.names() == [], f"looked up by the system: {done.record.names()}")
        outside = {place for place in done.record.sends() if place[0] != "127.0.0.1"}
        tally.expect(not outside, f"datagrams to {outside}")
    return tally


def _name_answers() -> dict[str, Says | list[Says]]:
    """Say what the name server answers for each host; a list is what it answers one time after another."""
    here, inside = "{%s.test}", "127.0.0.1"
    return {
        "rebind.test": [Says([here % "rebind"], ttl=0), Says([inside])],
        "mixed.test": Says([here % "mixed", inside]),
        "mixed6.test": Says([here % "mixed6", "::1"]),
        "alias.test": Says([inside], alias="localhost"),
        "fickle.test": [Says([here % "fickle"], ttl=0), Says([here % "fickle"], ttl=0), Says([PUBLIC, inside])],
        "broken.test": Says(code=SERVFAIL),
        "giant.test": Says([here % "giant"] * 900),
        "torn.test": Says([here % "torn"] * 3000, cut=True),  # more than is read
        "endless.test": Says([here % "endless"], always_cut=True),
        "cut.test": Says([here % "cut"] * 900 + [inside], cut=True),
        "slow.test": Says([here % "slow"], wait_seconds=0.2),
        "many.test": Says([here % "many"] * 500, cut=True),
        "steady.test": Says([here % "steady"], ttl=300),
    }


def _is_refused(done: Crawled, name: str) -> bool:
    entries = done.entries([f"http://{name}.test:{done.recorder.port}/{number}" for number in range(4)])
    return any(entry and str(entry.reason) == "refused: a private address" for entry in entries)


def s2() -> Outcome:
    """Fill row S2."""
    tally = rebinding()
    return Outcome(
        held=not tally.broken and not tally.connects,
        figure=f"connects = {tally.connects}; {tally.cases - len(tally.broken)} of {tally.cases} expectations of "
        f"{len(_HOSTS)} kinds of answers right",
    )


SCHEMES = """
file:///etc/passwd|file://localhost/etc/passwd|FILE:/etc/passwd|data:text/html,<a href=/x>|ftp://127.0.0.1:{port}/a
ftps://127.0.0.1:{port}/|s3://bucket/key|gopher://127.0.0.1:{port}/_FLUSHALL|javascript:alert(1)|JaVaScRiPt:alert(1)
java\tscript:alert(1)|blob:http://hub.test/1|view-source:http://127.0.0.1:{port}/|mailto:a@hub.test|tel:1|ws://127.0.0.1:{port}/
wss://127.0.0.1:{port}/|ldap://127.0.0.1:{port}/|dict://127.0.0.1:{port}/info|sftp://127.0.0.1:{port}/|jar:http://127.0.0.1:{port}/!/
feed:http://127.0.0.1:{port}/|about:blank|chrome://settings|unix:/tmp/sock|redis://127.0.0.1:{port}/|tftp://127.0.0.1:{port}/a
http+unix://%2Ftmp%2Fsock/|x-http://127.0.0.1:{port}/|git://127.0.0.1:{port}/|ssh://127.0.0.1:{port}/|vbscript:x|filesystem:http://hub.test/
"""


def schemes() -> Tally:
    """Crawl a page with links and redirects to other schemes; none is opened, none waits in the queue."""
    with listening([("127.0.0.1", 0)]) as listeners:
        port = str(listeners.places[0][1])
        written = [form.replace("{port}", port) for line in SCHEMES.split("\n") for form in line.split("|") if form]
        links = [form.replace("\\t", "\t") for form in written]
        script = {
            "hub.test": {
                "/": page("Hub", "solar cells", [*links, *(f"/go/{n}" for n in range(len(links)))]),
                **{f"/go/{number}": redirect(link.replace("\t", "")) for number, link in enumerate(links)},
            }
        }
        with guarded(script, ["http://hub.test/"], {"*": Says(["127.0.0.1"])}) as done:
            tally = Tally(connects=len(done.strangers()) + listeners.accepts)
            gone = done.entries([f"http://hub.test/go/{number}" for number in range(len(links))])
            for link, entry in zip(links, gone, strict=True):
                failed = entry and entry.state is UrlState.FAILED and entry.reason.kind is ReasonKind.BAD_REDIRECT
                tally.expect(bool(failed), f"redirect to {link}: {entry}")
            known = set(done.result.hosts)
            tally.expect(known == {"hub.test"}, f"hosts in the queue: {known}")
            counts = done.result.status
            tally.expect(counts["failed"] == len(links), f"{counts['failed']} failed of {len(links)}")
    return tally


def s3() -> Outcome:
    """Fill row S3."""
    tally = schemes()
    return Outcome(
        held=not tally.broken and not tally.connects,
        figure=f"opened = {tally.connects}; {tally.cases - 2} schemes: links dropped, redirects failed with a reason",
    )


def ports(some: Sequence[int]) -> Tally:
    """Crawl links, redirects and robots.txt that lead to bad ports of a host that may be dialled."""
    script: dict[str, Any] = {
        "hub.test": {
            "/": page(
                "Hub", "solar", [*(f"http://db.test:{port}/link" for port in some), *(f"/go/{port}" for port in some)]
            ),
            **{f"/go/{port}": redirect(f"http://db.test:{port}/redirect") for port in some},
        },
        "lost.test": {"/robots.txt": redirect("http://db.test:6379/lost.txt")},
        "db.test": {"/": page("Database", "solar")},
    }
    address = _place_of("db.test", tuple(script))
    seeds = ["http://hub.test/", "http://lost.test/", "http://db.test:6379/seed", f"http://{address}:6379/seed"]
    with (
        listening((address, port) for port in some) as listeners,
        guarded(script, seeds, {"db.test": Says(["{db.test}"])}) as done,
    ):
        assert done.recorder.places["db.test"] == address
        urls = [f"http://db.test:{port}/{way}" for port in some for way in ("link", "redirect")]
        tally = _refused_all(done, [*urls, *seeds[2:]])
        bad = [place for place in done.record.connects() if place[1] in BAD_PORTS]
        tally.connects = len(bad) + len(done.strangers()) + listeners.accepts
        tally.listened = len(listeners.places)
        tally.expect(bool(listeners.places), "nobody could listen on a bad port")
    return tally


@lru_cache
def _place_of(host: str, hosts: tuple[str, ...]) -> str:
    from testing.recording_server.places import place

    return place(hosts)[host]


def s4() -> Outcome:
    """Fill row S4."""
    tally = ports(sorted(BAD_PORTS))
    return Outcome(
        held=not tally.broken and not tally.connects,
        figure=f"accepts = {tally.connects} on {len(BAD_PORTS)} ports, {tally.listened} with a listener, by links, "
        "redirects, robots.txt and seeds",
    )


def ahead(*, hosts: int = 40, look: bool = True, wait_seconds: float = 0.2) -> dict[str, float]:
    """Crawl hosts whose name server is slow, with and without looking ahead; return how long pages took to come."""
    script: dict[str, Any] = {f"h{n}.test": {"/": page(f"Host {n}", f"solar cells {n}")} for n in range(hosts)}
    names = {f"h{n}.test": Says([f"{{h{n}.test}}"], wait_seconds=wait_seconds) for n in range(hosts)}
    seeds = [f"http://h{n}.test:{{port}}/" for n in range(hosts)]
    settings = {"engine": {"concurrency": 4}, "politeness": {"robots": "ignore"}}
    with (
        patch.dict(os.environ, {} if look else {"THRESHER_TEST_LOOK_AHEAD": "0"}),
        guarded(script, seeds, names, settings=settings) as done,
    ):
        hits = sorted(hit.start_ns for hit in done.recorder.hits())
        return {"pages": len(hits), "seconds": (hits[-1] - hits[0]) / 1e9}
