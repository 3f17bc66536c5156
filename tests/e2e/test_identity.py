"""A crawl whose requests are signed, against hosts that verify every signature as a site does."""

import gzip
import json
import os
import re
import ssl
import subprocess
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from testing.crawl_process import THRESHER, Crawl
from testing.forward_proxy import trusted_certificate
from testing.request_signatures import Verifier

AGENT = "https://crawler.example.org"
HOSTS = ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")
PAGES = 110
"""Pages of each host: with robots.txt, redirects and repeated requests, more than 500 requests."""
SOLAR = "Perovskite solar cells: perovskite layers make solar cells cheap."
DEBUG = "import logging as l; s = l.Logger.setLevel; l.Logger.setLevel = lambda self, level: s(self, l.DEBUG)\n"


class Site:
    """https hosts that refuse what they cannot verify; every tenth page redirects to another host, some fail once."""

    def __init__(self, context, verifier):
        self.requests, self.troubles = [], []
        self.port = 0
        self._context, self._verifier = context, verifier
        self._failed, self._lock = set(), threading.Lock()

    def url(self, host, path="/"):
        return f"https://{host}:{self.port}{path}"

    def answer(self, host, path, headers):
        with self._lock:
            url = f"https://{headers.get('Host')}{path}"
            trouble = self._verifier.trouble("GET", url, {name.lower(): value for name, value in headers.items()})
            self.requests.append((host, path, dict(headers)))
            if trouble:
                self.troubles.append((url, trouble))
                return 401, {}, trouble
            first = (host, path) not in self._failed
            self._failed.add((host, path))
        if path == "/robots.txt":
            return 404, {}, ""
        number = int(re.sub(r"\D", "", path.partition("?")[0]) or 0)
        if number % 10 == 9 and "?" not in path:
            other = HOSTS[(HOSTS.index(host) + 1) % len(HOSTS)]
            return 302, {"Location": self.url(other, f"/{number}?from={host[-1]}")}, ""
        if number % 25 == 7 and first:
            return 500, {}, "once"
        links = "".join(f'<a href="/{each}">solar cells</a> ' for each in range(number + 1, min(number + 8, PAGES)))
        return 200, {"Content-Type": "text/html"}, f"<title>Solar {host} {path}</title><p>{SOLAR} {path}</p>{links}"

    @contextmanager
    def serving(self):
        with ExitStack() as stack:
            for host in HOSTS:
                server = stack.enter_context(ThreadingHTTPServer((host, self.port), handler_of(self, host)))
                self.port = server.server_address[1]
                server.socket = self._context.wrap_socket(
                    server.socket, server_side=True, do_handshake_on_connect=False
                )
                server.daemon_threads = True
                threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
                stack.callback(server.shutdown)
            yield self


def handler_of(site, host):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def do_GET(self):
            status, headers, body = site.answer(host, self.path, self.headers)
            self.send_response(status)
            for key, value in {**headers, "Content-Length": str(len(body.encode()))}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def handle(self):
            try:
                super().handle()
            except (ssl.SSLError, OSError):
                self.close_connection = True

        def log_message(self, *_):
            pass

    return Handler


def thresher(*arguments):
    done = subprocess.run([*THRESHER, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def key(tmp_path, monkeypatch):
    path = tmp_path / "home" / "identity.pem"
    monkeypatch.setenv("THRESHER_IDENTITY_KEY", str(path))
    thresher("identity", "new")
    return path


@pytest.fixture
def site(tmp_path, key, monkeypatch):
    thresher("identity", "publish", AGENT, "-o", tmp_path / "site", "--contact", "me@example.org")
    directory = (tmp_path / "site" / ".well-known" / "http-message-signatures-directory").read_bytes()
    folder = tmp_path / "certificate"
    folder.mkdir()
    context, trusted = trusted_certificate(folder, *HOSTS)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with Site(context, Verifier(directory, AGENT)).serving() as site:
        yield site


def settings(site, **more):
    return {
        "identity": AGENT,
        "seeds": [site.url(host) for host in HOSTS],
        "languages": ["en"],
        "politeness": {"delay_seconds": 0},
        "output": {"warc": True, "keep_irrelevant": True},
        "scope": {"first_pages_per_host": None, "max_depth": 1000, "traps": "follow"},
        "network": {"allow": ["127.0.0.0/8"]},
        **more,
    }


def files_with(folder, needles):
    """Return the files below a folder, compressed ones unpacked, that have one of some texts."""
    found = []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        data += gzip.decompress(data) if data[:2] == b"\x1f\x8b" else b""
        found += [path] if any(needle in data for needle in needles) else []
    return found


def test_every_request_of_two_workers_is_verified_and_the_key_is_in_its_own_file(site, key, tmp_path, monkeypatch):
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(DEBUG)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(hooks), os.environ.get("PYTHONPATH", "")]))
    crawl = Crawl(tmp_path / "crawl")
    crawl.create(site.url(HOSTS[0]), settings(site))
    run = crawl.start("--workers=2")
    assert run.wait(150) == 0, run.last_words()
    assert site.troubles == []
    assert len(site.requests) >= 500
    kinds = {path.rpartition("?")[1] or path for _, path, _ in site.requests}
    assert {"?", "/robots.txt"} <= kinds  # followed redirects, and what comes before all pages
    asked = [(host, path) for host, path, _ in site.requests]
    assert any(asked.count(each) > 1 for each in asked if each[1] in ("/7", "/32"))  # tried again
    (tmp_path / "exported").mkdir()
    for form in ("jsonl", "warc"):
        thresher("export", crawl.folder, "-f", form, "-o", tmp_path / "exported" / f"pages.{form}.gz")
    lines = [line for line in key.read_text().splitlines() if "-----" not in line]
    assert files_with(tmp_path, [line.encode() for line in lines]) == [key]
    archived = b"".join(gzip.decompress(path.read_bytes()) for path in (crawl.folder / "warc").glob("*.warc.gz"))
    assert b"Signature: [redacted]" in archived
    assert f'Signature-Agent: sig1="{AGENT}"'.encode() in archived
    assert {re.search(r'keyid="([^"]+)', sent["Signature-Input"])[1] for _, _, sent in site.requests} == {
        json.loads(thresher("identity", "show", "--json"))["key_id"]
    }


def test_a_crawl_without_its_key_sends_nothing_and_names_what_is_missing(site, key, tmp_path):
    crawl = Crawl(tmp_path / "crawl")
    crawl.create(site.url(HOSTS[0]), settings(site))
    key.rename(key.with_suffix(".gone"))
    ran = subprocess.run([*THRESHER, "run", str(crawl.folder)], capture_output=True, text=True, check=False)
    assert ran.returncode == 4
    assert "thresher identity new" in ran.stderr
    assert site.requests == []


def test_one_variable_signs_every_crawl_of_a_machine(site, tmp_path, monkeypatch):
    monkeypatch.setenv("THRESHER_IDENTITY", AGENT)
    crawl = Crawl(tmp_path / "crawl")
    crawl.create(site.url(HOSTS[0]), settings(site, identity=""))
    assert crawl.start("--pages=3").wait(60) == 0
    assert (site.troubles, len(site.requests) > 3) == ([], True)


def test_the_hosts_of_this_test_refuse_requests_that_are_not_signed(site, tmp_path):
    crawl = Crawl(tmp_path / "crawl")
    crawl.create(site.url(HOSTS[0]), settings(site, identity=""))
    crawl.start("--pages=3").wait(60)
    assert {trouble.partition(":")[0] for _, trouble in site.troubles} == {"malformed"}
