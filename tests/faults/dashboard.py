"""The dashboard's security: every route of the application, asked by clients that should not be answered."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults.dashboard_server import NAME, Served, served, small_crawl
from tests.faults.table import Outcome
from thresher_ui.dashboard.guard import LOGIN, READING

CHANGING = ("POST", "PUT", "PATCH", "DELETE")
PARAMETERS = {"crawl": NAME, "host": "h0.example", "name": "thresher.css"}
QUERIES = {
    "page": "?url=http%3A%2F%2Fh0.example%2F0",
    "search": "?q=balan",
}


@dataclass
class Tally:
    """Requests, and those that were answered and should not have been."""

    cases: int = 0
    routes: set[str] = field(default_factory=set)
    open: list[str] = field(default_factory=list)

    def count(self, held: bool, what: str) -> None:
        """Count one request."""
        self.cases += 1
        if not held:
            self.open.append(what)


def routes(app_routes: object) -> Iterator[tuple[str, str]]:
    """Give every method and address of the application, parameters filled in."""
    for route in app_routes:  # type: ignore[attr-defined]
        path = route.path
        for name, value in PARAMETERS.items():
            path = path.replace(f"{{{name}}}", value)
        assert "{" not in path, f"{route.path}: say in PARAMETERS what stands there"
        for method in sorted(route.methods):
            yield method, path


def strangers(served: Served) -> Iterator[tuple[str, int, Mapping[str, str]]]:
    """Give the clients that must not be answered: what they send, and the status that they must get."""
    token, place = served.bearer, served.place
    port = served.port
    yield "nothing", 401, {}
    yield "a wrong token", 401, {"Authorization": "Bearer " + "a" * 43}
    yield "another scheme", 401, {"Authorization": f"Basic {served.guard.token}"}
    yield "a wrong cookie", 401, {"Cookie": f"{served.guard.cookie}={'a' * 43}"}
    yield "a cookie of another dashboard", 401, {"Cookie": f"thresher-1={served.guard.token}"}
    for host in (f"evil.example:{port}", "evil.example", f"127.0.0.1.evil.example:{port}", "127.0.0.1", "127.0.0.1:1"):
        yield f"Host: {host}", 403, {**token, "Host": host}
        yield f"Host: {host}, cookie", 403, {**served.cookie, "Host": host, "Origin": f"http://{host}"}
    for origin in (
        "http://evil.example",
        f"http://evil.example:{port}",
        f"http://{place}.evil.example",
        "null",
        "file://",
    ):
        yield f"Origin: {origin}", 403, {**token, "Origin": origin}
        yield f"Origin: {origin}, cookie", 403, {**served.cookie, "Origin": origin}
    yield "another port of this machine", 403, {**token, "Origin": "http://127.0.0.1:1"}
    for site in ("cross-site", "same-site"):
        yield f"Sec-Fetch-Site: {site}", 403, {**token, "Sec-Fetch-Site": site}
        yield f"Sec-Fetch-Site: {site}, cookie", 403, {**served.cookie, "Sec-Fetch-Site": site}


def refused(served: Served) -> Tally:
    """Ask every route as a stranger, and by methods that it has not."""
    tally = Tally()
    for method, path in routes(served.app.routes):
        tally.routes.add(f"{method} {path}")
        for who, status, headers in strangers(served):
            if path == LOGIN and status == 401:
                continue  # the one address that is there for those without a token
            reply = served.ask(method, path, headers, b"{}" if method in CHANGING else None)
            tally.count(reply.status == status, f"{method} {path} with {who}: {reply.status}")
        if method in CHANGING and path != LOGIN:
            reply = served.ask(method, path, {**served.cookie, "Content-Type": "application/json"}, b"{}")
            tally.count(reply.status == 403, f"{method} {path} with a cookie and no Origin: {reply.status}")
    return tally


def token_in_query(served: Served) -> Tally:
    """Ask with the token where logs and histories would keep it."""
    tally = Tally()
    for method, path in routes(served.app.routes):
        if path != LOGIN:
            reply = served.ask(method, f"{path}?token={served.guard.token}&key={served.guard.key}")
            tally.count(reply.status == 401, f"{method} {path} with the token in its query: {reply.status}")
    return tally


def unchanged(served: Served) -> Tally:
    """Read every route, also those that only change something, with every right; nothing may be another then."""
    tally = Tally()
    before = state(served.folder)
    paths = sorted({path for _, path in routes(served.app.routes)})
    for path in paths:
        for method in sorted(READING):
            query = QUERIES.get(path.rpartition("/")[2], "")
            reply = served.ask(method, path + query, served.bearer)
            tally.count(reply.status < 500, f"{method} {path}: {reply.status}")
    after = state(served.folder)
    for part in before:
        tally.count(before[part] == after.get(part), f"{part} is another after reading")
    tally.count(before.keys() == after.keys(), f"files came: {sorted(after.keys() - before.keys())}")
    return tally


def state(folder: Path) -> dict[str, str]:
    """Return digests of all that a crawl consists of: the rows of its databases, the bytes of its other files."""
    kept: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if (
            path.is_file()
            and not name.endswith(("-wal", "-shm"))
            and "search" not in name
            and not name.startswith(".lock")
        ):
            kept[name] = _rows(path) if path.suffix == ".db" else hashlib.sha256(path.read_bytes()).hexdigest()
    return kept


def _rows(path: Path) -> str:
    digest = hashlib.sha256()
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
        for line in db.iterdump():
            digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def headers(served: Served) -> Tally:
    """Look at the headers of every answer, refusals too."""
    tally = Tally()
    for method, path in routes(served.app.routes):
        for rights in ({}, served.bearer):
            reply = served.ask(method, path, rights, b"{}" if method in CHANGING else None)
            policy = reply.headers.get("content-security-policy", "")
            safe = "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
            tally.count(safe, f"{method} {path}: {policy}")
            tally.count(reply.headers.get("x-content-type-options") == "nosniff", f"{method} {path}: sniffed")
            cached = path.startswith("/static/") and reply.status == 200
            tally.count(cached or reply.headers.get("cache-control") == "no-store", f"{method} {path}: cached")
            tally.count("access-control-allow-origin" not in reply.headers, f"{method} {path}: shared with others")
    return tally


def d1() -> Outcome:
    """Ask every route in every way."""
    with TemporaryDirectory(prefix="thresher-") as folder, served(small_crawl(Path(folder) / NAME)) as dashboard:
        tallies = [look(dashboard) for look in (refused, token_in_query, unchanged, headers)]
    routes_asked, cases = len(tallies[0].routes), sum(tally.cases for tally in tallies)
    wrong = [what for tally in tallies for what in tally.open]
    shown = f"; {wrong[0]}" if wrong else ""
    return Outcome(held=not wrong, figure=f"{routes_asked} routes, {cases:,} requests; {len(wrong)} open{shown}")
