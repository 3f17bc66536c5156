"""Hosts behind passwords, through a proxy with a password: pages come, secrets reach their host and nothing else."""

import base64
import gzip
import json
import socket
import ssl
import subprocess
import threading
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import redis

from testing.crawl_process import THRESHER, Crawl, wait_for
from testing.forward_proxy import forward_proxy, trusted_certificate
from testing.servers import ServerMissing, store_server
from tests.e2e.test_dashboard import shown

SECRETS = {
    "WIKI_PASSWORD": "wiki-passw0rd-4711",
    "WIKI_COOKIE": "wiki-c00kie-4712",
    "WIKI_KEY": "wiki-k3y-4713",
    "MAIL_TOKEN": "Bearer mail-t0ken-4714",
    "MAIL_COOKIE": "mail-c00kie-4715",
    "MAIL_SECOND": "mail-s3cond-4716",
    "SHOP_KEY": "shop-k3y-4717",
    "SHOP_COOKIE": "shop-c00kie-4718",
}
STATE_COOKIE, PROXY_PASSWORD = "shop-stat3-cookie-4719", "proxy-passw0rd-4720"
BASIC = base64.b64encode(b"ann:wiki-passw0rd-4711").decode()
PROXY_BASIC = base64.b64encode(f"me:{PROXY_PASSWORD}".encode()).decode()
ALL = [*(value.split()[-1] for value in SECRETS.values()), STATE_COOKIE, PROXY_PASSWORD, BASIC, PROXY_BASIC]
HOSTS = {"wiki": "127.0.0.2", "mail": "127.0.0.3", "shop": "127.0.0.4", "other": "127.0.0.5"}
PAGES = 10
SOLAR = "Perovskite solar cells: perovskite layers make solar cells cheap."
DEBUG = "import logging as l; s = l.Logger.setLevel; l.Logger.setLevel = lambda self, level: s(self, l.DEBUG)\n"


def handler_of(hosts, name):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def do_GET(self):
            hosts.requests.append((name, self.path, str(self.headers), self.client_address[0]))
            time.sleep(0.1)
            status, headers, body = hosts.answer(name, self.path, self.headers)
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


class Hosts:
    """Four https hosts on one port; three need secrets, and every page repeats what it was sent."""

    def __init__(self, context):
        self.requests = []
        self.port = 0
        self._context = context

    def url(self, name, path="/"):
        return f"https://{HOSTS[name]}:{self.port}{path}"

    def answer(self, name, path, headers):
        if path == "/robots.txt":
            return (301, {"Location": self.url("other", "/robots.txt")}, "") if name == "mail" else (404, {}, "")
        if name != "other" and not headers.get("Cookie"):
            return 401, {}, "no"
        if path == "/out":
            return 302, {"Location": self.url("other", f"/from-{name}")}, ""
        number = int(path.strip("/") or 0) if path.strip("/0123456789") == "" else PAGES
        links = [f"/{number + 1}", "/out"] if number < PAGES else []
        body = "".join(f'<a href="{link}">solar cells</a>' for link in links)
        sent = json.dumps(dict(headers))
        cookie = {"Set-Cookie": headers.get("Cookie", "none=1"), "Content-Type": "text/html"}
        return 200, cookie, f"<title>{name} {number}</title><p>{SOLAR} {name} {number} {sent}</p>{body}"

    @contextmanager
    def serving(self):
        with ExitStack() as stack:
            for name, address in HOSTS.items():
                server = stack.enter_context(ThreadingHTTPServer((address, self.port), handler_of(self, name)))
                self.port = server.server_address[1]
                server.socket = self._context.wrap_socket(
                    server.socket, server_side=True, do_handshake_on_connect=False
                )
                server.daemon_threads = True
                threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
                stack.callback(server.shutdown)
            yield self


@pytest.fixture
def hosts(tmp_path, monkeypatch):
    keys = tmp_path / "keys"
    keys.mkdir()
    context, trusted = trusted_certificate(keys, *HOSTS.values())
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("WIKI_USER", "ann")
    with Hosts(context).serving() as hosts:
        yield hosts


def settings(hosts, state):
    def env(name):
        return {"env": name}

    def entry(name, **more):
        return {"host": f"{HOSTS[name]}:{hosts.port}", **more}

    basic = {"user_env": "WIKI_USER", "password_env": "WIKI_PASSWORD"}
    return {
        "seeds": [hosts.url(name) for name in HOSTS],
        "languages": ["en"],
        "politeness": {"delay_seconds": 0},
        "output": {"warc": True, "keep_irrelevant": True},
        "engine": {"timeout_seconds": 5, "lease_seconds": 12},
        "scope": {"first_pages_per_host": None, "max_depth": 100},
        "network": {"allow": ["127.0.0.0/8"], "proxy": env("THRESHER_TEST_PROXY")},
        "access": [
            entry("wiki", basic=basic, cookies={"session": env("WIKI_COOKIE")}, headers={"X-Key": env("WIKI_KEY")}),
            entry(
                "mail",
                headers={"Authorization": env("MAIL_TOKEN")},
                cookies={"a": env("MAIL_COOKIE"), "b": env("MAIL_SECOND")},
            ),
            entry(
                "shop",
                headers={"X-Key": env("SHOP_KEY")},
                cookies={"c": env("SHOP_COOKIE")},
                storage_state={"file": str(state)},
            ),
        ],
    }


def free_port():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


def found_in(content):
    """Return the secrets in bytes, also in those of compressed members."""
    texts = [content]
    if content[:2] == b"\x1f\x8b":
        texts.append(gzip.decompress(content))
    return [secret for secret in ALL if any(secret.encode() in text for text in texts)]


def leaks(folder):
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): found for path in paths if (found := found_in(path.read_bytes()))}


def uses_of(crawl):
    """Use every command that shows or writes something; return what they print."""
    folder, printed = crawl.folder, []
    for form in ("csv", "jsonl", "parquet", "graphml", "opensearch", "warc"):
        text = ["--text"] if form in ("csv", "jsonl", "parquet") else []  # the page store keeps it compressed
        printed.append(command("export", folder, "-f", form, *text, "-o", folder / "exported" / f"pages.{form}"))
    for form in ("markdown", "dataset"):
        printed.append(command("export", folder, "-f", form, "-o", folder / "exported" / form))
    for form in ("jsonl", "parquet"):
        printed.append(command("export", folder, "-f", form, "--chunks", "-o", folder / "exported" / f"chunks.{form}"))
    more = [("export", folder, "-f", "csv", "--links", "-o", folder / "exported" / "links.csv"), ("status", folder)]
    more += [("why", folder, json.loads(command("search", folder, "solar", "--json"))[0]["url"])]
    more += [(name, folder) for name in ("hosts", "verify", "frontier", "doctor")]
    return [*printed, *(command(*each) for each in more)]


def command(*arguments):
    (arguments[1] / "exported").mkdir(exist_ok=True)
    done = subprocess.run([*THRESHER, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr if arguments[0] != "search" or "--json" not in arguments else done.stdout


def storage_state(folder):
    """Write the cookies of a browser; return the path."""
    cookie = {"name": "state", "value": STATE_COOKIE, "domain": HOSTS["shop"], "path": "/", "expires": -1}
    path = folder / "keys" / "state.json"
    path.write_text(json.dumps({"cookies": [cookie], "origins": []}))
    return path


def log_everything(hooks, monkeypatch):
    """Set all loggers of child processes to DEBUG."""
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(DEBUG)
    monkeypatch.setenv("PYTHONPATH", str(hooks))


def test_ten_secrets_reach_their_hosts_and_are_kept_nowhere(hosts, tmp_path, monkeypatch):
    state = storage_state(tmp_path)
    log_everything(tmp_path / "hooks", monkeypatch)
    with forward_proxy(f"me:{PROXY_PASSWORD}") as proxy:
        monkeypatch.setenv("THRESHER_TEST_PROXY", proxy.url)
        crawl = Crawl(tmp_path / "crawl")
        crawl.create(hosts.url("wiki"), settings(hosts, state))
        killed = crawl.start("--metrics-port", str(port := free_port()))
        assert wait_for(lambda: len(hosts.requests) > 12, seconds=60), killed.last_words()
        metrics = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
        killed.kill_all()
        assert crawl.start("--json").wait(90) == 0
    shown_texts = [metrics, *uses_of(crawl)]
    with shown(crawl.folder) as dashboard:
        paths = ("", "/pages", "/hosts", "/status", "/config", "/log")
        for path in ["/", "/crawls/crawl", *(f"/api/crawls/crawl{path}" for path in paths)]:
            shown_texts.append(str(dashboard.ask("GET", path)[1]))
    pages = {(name, path) for name, path, _, _ in hosts.requests}
    assert {("wiki", f"/{PAGES}"), ("mail", f"/{PAGES}"), ("shop", f"/{PAGES}")} <= pages
    for name in ("pages.jsonl", "chunks.jsonl"):
        assert "[redacted]" in (crawl.folder / "exported" / name).read_text(encoding="utf-8")
    assert leaks(crawl.folder) == {}
    assert [found for text in shown_texts if (found := found_in(text.encode()))] == []
    check_server_logs(hosts, proxy)
    archived = b"".join(gzip.decompress(path.read_bytes()) for path in (crawl.folder / "warc").glob("*.warc.gz"))
    assert all(line in archived for line in (b"\r\nCookie: [redacted]\r\n", b"\r\nAuthorization: [redacted]\r\n"))


def test_a_shared_store_holds_no_secret(hosts, tmp_path, monkeypatch):
    state = storage_state(tmp_path)
    log_everything(tmp_path / "hooks", monkeypatch)
    crawl = Crawl(tmp_path / "crawl")
    try:
        with store_server("redis", tmp_path) as server, forward_proxy(f"me:{PROXY_PASSWORD}") as proxy:
            monkeypatch.setenv("THRESHER_TEST_PROXY", proxy.url)
            more = {"store": server.url, "name": "secrets"}
            crawl.create(hosts.url("wiki"), {**settings(hosts, state), **more})
            assert crawl.start("--workers=2").wait(90) == 0
            stored = saved(server.url)
    except ServerMissing as error:
        pytest.skip(str(error))
    assert f"{HOSTS['wiki']}:{hosts.port}".encode() in stored
    assert found_in(stored) == []
    assert leaks(crawl.folder) == {}
    check_server_logs(hosts, proxy)


def saved(url):
    """Return the snapshot of a Redis server, without compression."""
    with redis.Redis.from_url(url) as server:
        server.config_set("rdbcompression", "no")
        server.save()
        places = server.config_get("dir") | server.config_get("dbfilename")
    return Path(places["dir"], places["dbfilename"]).read_bytes()


def check_server_logs(hosts, proxy):
    """Each host got its own secrets, and no other ones; the proxy got its password only."""
    own = {
        "wiki": {"wiki-c00kie-4712", "wiki-k3y-4713", BASIC},
        "mail": {"mail-t0ken-4714", "mail-c00kie-4715", "mail-s3cond-4716"},
        "shop": {"shop-k3y-4717", "shop-c00kie-4718", STATE_COOKIE},
        "other": set(),
    }
    got = {name: set() for name in HOSTS}
    for name, _, headers, _ in hosts.requests:
        got[name] |= {secret for secret in ALL if secret in headers}
    assert got == own
    assert {path for name, path, _, _ in hosts.requests if name == "other"} >= {"/from-wiki", "/robots.txt"}
    assert {secret for head in proxy.heads for secret in ALL if secret in head} == {PROXY_BASIC}
    assert all(target.startswith("CONNECT 127.0.0.") for target in proxy.targets)


def test_a_missing_variable_is_named_before_anything_is_fetched(hosts, tmp_path, monkeypatch):
    crawl = Crawl(tmp_path / "crawl")
    crawl.create(hosts.url("wiki"), settings(hosts, tmp_path / "none.json"))
    monkeypatch.delenv("MAIL_TOKEN")
    ran = subprocess.run([*THRESHER, "run", str(crawl.folder)], capture_output=True, text=True, check=False)
    assert ran.returncode == 4
    assert "MAIL_TOKEN" in ran.stderr
    assert found_in((ran.stdout + ran.stderr).encode()) == []
    assert hosts.requests == []
