"""Secrets of every kind are planted, everything is used, also in ways that fail: each is found at its destination only.

One table lists the secrets, one function searches. Searched are all files that the commands could write (the crawl's
folder, the home folder, the folder for temporary files), all that they printed, and all that any server received.
"""

import base64
import gzip
import json
import os
import secrets
import signal
import ssl
import subprocess
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest
import redis
import yaml
from mcp import Client, StdioServerParameters, stdio_client

from testing.crawl_process import THRESHER, merge
from testing.forward_proxy import forward_proxy, trusted_certificate
from testing.model_endpoint import completion, model_endpoint
from testing.servers import s3 as s3_module
from testing.servers import store_server
from testing.servers.ports import free_port
from testing.servers.s3 import s3_server
from tests.e2e.test_dashboard import Dashboard

KINDS = (
    "store", "s3", "model", "webhook_key", "webhook_url", "site_password", "site_cookie", "site_header", "proxy", "ui",
)  # fmt: skip
PLANTED = {kind: f"{kind.replace('_', '')}{secrets.token_hex(24)}" for kind in KINDS}
"""The secrets, by what they open."""
SITE = "127.0.0.2"
SOLAR = "Perovskite solar cells turn light into current, and perovskite layers make solar cells cheap."
LOG_EVERYTHING = (
    "import logging as l; s = l.Logger.setLevel; l.Logger.setLevel = lambda self, level: s(self, l.DEBUG)\n"
)


def forms_of(secret):
    """Return the secret as it may be written: plain, in Base64 as a password, and escaped."""
    pairs = [
        base64.b64encode(f"ann:{secret}".encode()).decode(),
        base64.b64encode(secret.encode()).decode().rstrip("="),
    ]
    return [form.encode() for form in (secret, quote(secret, safe=""), *pairs)]


def found_in(content):
    """Return the kinds of secrets in bytes or text, also in compressed ones."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    data += gzip.decompress(data) if data[:2] == b"\x1f\x8b" else b""
    return {kind for kind, secret in PLANTED.items() if any(form in data for form in forms_of(secret))}


class Receiver:
    """A server that records all it receives, and answers as a test says."""

    def __init__(self, answer=lambda path, headers: (200, {}, ""), address="127.0.0.1", context=None):
        self.received = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 20

            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                receiver.received.append(f"{self.requestline}\n{self.headers}\n{body.decode('utf-8', 'replace')}")
                status, headers, text = answer(self.path, self.headers)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(text.encode()))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            do_POST = do_CONNECT = do_PUT = do_HEAD = do_GET  # noqa: N815 - names of http.server

            def handle(self):
                try:
                    super().handle()
                except (ssl.SSLError, OSError):
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer((address, 0), Handler)
        if context:
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.server.daemon_threads = True
        self.url = f"http{'s' if context else ''}://{address}:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def site_answer(path, headers):
    """Let only those in who have the secrets, and repeat on the page what was sent."""
    if path == "/robots.txt":
        return 404, {}, ""
    if PLANTED["site_header"] not in headers.get("X-Key", ""):
        return 401, {}, f"wrong {dict(headers)}"
    number = int(path.strip("/") or 0)
    links = "".join(f'<a href="/{each}">solar cells</a> ' for each in range(1, 9))
    title = f"<title>Solar cells {number}</title>"
    return 200, {"Content-Type": "text/html"}, f"{title}<p>{SOLAR} Part {number}. {dict(headers)}</p>{links}"


@dataclass
class World:
    """The servers, the folders, and all that was printed."""

    root: Path
    environment: dict[str, str]
    site: Receiver
    model: object
    hook: Receiver
    proxy: object
    stranger: Receiver
    printed: list[str] = field(default_factory=list)

    def call(self, *arguments, code=0, **more):
        """Run a command with --debug; remember what it prints."""
        command = [*THRESHER, "--debug", *map(str, arguments)]
        environment = {**self.environment, **more}
        done = subprocess.run(
            command, cwd=self.root / "work", env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        self.printed += [done.stdout, done.stderr]
        assert code is None or done.returncode == code, (arguments, done.stdout[-1500:], done.stderr[-3000:])
        return done

    def create(self, name, **settings):
        """Make a crawl that needs all secrets of one machine."""
        seed = f"{self.site.url}/"
        self.call("new", name, "--topic", "perovskite solar cells", "--seed", seed, "--contact", "me@example.org")
        path = self.root / "work" / name / "topic.yaml"
        host = self.site.url.removeprefix("https://")
        own = {
            "languages": ["en"],
            "politeness": {"delay_seconds": 0},
            "engine": {"timeout_seconds": 5, "lease_seconds": 12},
            "output": {"warc": True, "keep_irrelevant": True},
            "network": {"allow": ["127.0.0.0/8"], "proxy": {"env": "CRAWL_PROXY"}},
            "access": [
                {
                    "host": host,
                    "basic": {"user_env": "SITE_USER", "password_env": "SITE_PASSWORD"},
                    "cookies": {"session": {"env": "SITE_COOKIE"}},
                    "headers": {"X-Key": {"env": "SITE_HEADER"}},
                }
            ],
            "model_labels": {"endpoint": self.model.url, "model": "m", "key_env": "MODEL_KEY", "timeout_seconds": 5},
            "watch": {"webhooks": [{"url_env": "HOOK_URL", "secret_env": "HOOK_KEY"}], "new_pages": 3},
        }
        written = merge(yaml.safe_load(path.read_text(encoding="utf-8")), merge(own, settings))
        path.write_text(yaml.safe_dump(written, allow_unicode=True), encoding="utf-8")

    def check(self):
        """Search everywhere; each secret is at its destination only."""
        files = [path for name in ("work", "home", "temp") for path in (self.root / name).rglob("*") if path.is_file()]
        assert {str(path): found for path in files if (found := found_in(path.read_bytes()))} == {}
        printed, self.printed = self.printed, []
        assert [(found, text[-3000:]) for text in printed if (found := found_in(text))] == []
        received = {
            "site": (self.site.received, {"site_password", "site_cookie", "site_header"}),
            "model": ([json.dumps([self.model.headers, self.model.requests])], {"model"}),
            "webhook": (self.hook.received, {"webhook_url"}),
            "proxy": (self.proxy.heads, {"proxy"}),
            "proxy of the environment": (self.stranger.received, set()),
        }
        strays = {name: set().union(*map(found_in, texts)) - own for name, (texts, own) in received.items()}
        assert {name: found for name, found in strays.items() if found} == {}
        assert self.stranger.received == []


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    root = tmp_path_factory.mktemp("secrets")
    for name in ("work", "home", "temp", "keys", "hooks"):
        (root / name).mkdir()
    (root / "hooks" / "sitecustomize.py").write_text(LOG_EVERYTHING)
    context, trusted = trusted_certificate(root / "keys", SITE)
    with ExitStack() as stack:
        site = stack.enter_context(Receiver(site_answer, SITE, context))
        model = stack.enter_context(model_endpoint(lambda request: completion("yes")))
        hook, stranger = stack.enter_context(Receiver()), stack.enter_context(Receiver())
        proxy = stack.enter_context(forward_proxy(f"ann:{PLANTED['proxy']}"))
        environment = {
            **{name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
            **dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"), stranger.url),
            "PYTHONPATH": os.pathsep.join([str(root / "hooks"), os.environ.get("PYTHONPATH", "")]),
            "HOME": str(root / "home"),
            "XDG_CACHE_HOME": str(root / "home" / "cache"),
            "TMPDIR": str(root / "temp"),
            "SSL_CERT_FILE": str(trusted),
            "CRAWL_PROXY": proxy.url,
            "SITE_USER": "ann",
            "SITE_PASSWORD": PLANTED["site_password"],
            "SITE_COOKIE": PLANTED["site_cookie"],
            "SITE_HEADER": PLANTED["site_header"],
            "MODEL_KEY": PLANTED["model"],
            "HOOK_URL": f"{hook.url}/{PLANTED['webhook_url']}",
            "HOOK_KEY": PLANTED["webhook_key"],
            "THRESHER_UI_TOKEN": PLANTED["ui"],
        }
        yield World(root, environment, site, model, hook, proxy, stranger)


@contextmanager
def shown(world, folder):
    """Run the dashboard; what it prints is searched, too."""
    command = [*THRESHER, "--debug", "ui", folder, "--port", "0", "--no-open"]
    with subprocess.Popen(
        command,
        cwd=world.root / "work",
        env=world.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            address = process.stdout.readline().strip()
            assert address, process.stderr.read()
            yield Dashboard(process, address)
        finally:
            process.send_signal(signal.SIGINT)
            world.printed += [address, *process.communicate(timeout=30)]


def look_at(world, folder):
    """Call all that shows or writes something of a crawl."""
    for form in ("csv", "jsonl", "parquet", "graphml", "opensearch", "warc", "markdown", "dataset"):
        text = ["--text"] if form in ("csv", "jsonl", "parquet") else []
        world.call("export", folder, "-f", form, *text, "-o", f"exported-{folder}.{form}")
    for table in ("--hosts", "--links", "--mirrors", "--chunks"):
        world.call("export", folder, table, "-o", f"exported-{folder}{table}.jsonl")
    for command in ("status", "hosts", "verify", "frontier"):
        world.call(command, folder)
    world.call("doctor", code=None)
    world.call("why", folder, f"{world.site.url}/1")
    world.call("search", folder, "perovskite")
    world.call("batch", "links", folder, "-o", f"links-{folder}.parquet")
    bearer = {"Authorization": f"Bearer {PLANTED['ui']}"}
    with shown(world, folder) as dashboard:
        for path in ("", "/pages", "/hosts", "/status", "/config", "/log", "/nothing"):
            for headers in (bearer, {"Authorization": "Bearer wrong"}):
                for place in (f"/api/crawls/{folder}{path}", f"/crawls/{folder}{path}"):
                    world.printed.append(str(dashboard.ask("GET", place, headers=headers)[1]))


async def ask_as_agent(world, folder):
    parameters = StdioServerParameters(
        command=THRESHER[0], args=[*THRESHER[1:], "mcp", ".", "--allow-changes"], env=world.environment,
        cwd=world.root / "work",
    )  # fmt: skip
    url = f"{world.site.url}/1"
    async with Client(stdio_client(parameters)) as client:
        for tool, arguments in {
            "list_crawls": {},
            "status": {"crawl": folder},
            "search": {"crawl": folder, "query": "solar"},
            "page": {"crawl": folder, "url": url},
            "why": {"crawl": folder, "url": url},
            "try_page": {"crawl": folder, "url": url},
            "export": {"crawl": folder, "markdown": True},
        }.items():
            answer = await client.call_tool(tool, arguments)
            assert not answer.is_error, answer.content
            world.printed.append(str(answer))


async def test_secrets_of_one_machine_are_at_their_destination_only(world):
    world.create("alone")
    world.call("run", "alone", "--pages", 5)
    world.call("try", "alone", f"{world.site.url}/7")
    world.call("label", "alone", "--model")
    world.call("watch", "alone", "--once")
    look_at(world, "alone")
    await ask_as_agent(world, "alone")
    assert "[redacted]" in (world.root / "work" / "exported-alone.jsonl").read_text(encoding="utf-8")
    assert found_in(str(world.site.received)) == {"site_password", "site_cookie", "site_header"}
    assert found_in(str(world.model.headers)) == {"model"}
    assert found_in(str(world.hook.received)) == {"webhook_url"}
    assert found_in(str(world.proxy.heads)) == {"proxy"}
    world.check()


@pytest.fixture(scope="module")
def storage(world):
    """A store and a bucket that need the planted passwords."""
    with pytest.MonkeyPatch.context() as monkeypatch, ExitStack() as stack:
        monkeypatch.setitem(s3_module.CREDENTIALS, "AWS_SECRET_ACCESS_KEY", PLANTED["s3"])
        bucket = stack.enter_context(s3_server(world.root / "bucket"))
        store = stack.enter_context(store_server("redis", world.root / "store"))
        with store.client() as client:
            client.config_set("requirepass", PLANTED["store"])
        yield {**bucket.environment, "THRESHER_STORE": store.url.replace("://", f"://:{PLANTED['store']}@")}


def test_secrets_of_many_machines_are_at_their_destination_only(world, storage):
    store = storage["THRESHER_STORE"].replace(f":{PLANTED['store']}@", "")
    world.create("shared", store=store, collection="s3://thresher/secrets")
    world.environment |= storage
    try:
        world.call("run", "shared", "--pages", 5, "--workers", 2)
        look_at(world, "shared")
        world.call("pull", "s3://thresher/secrets", "gathered")
        with redis.Redis.from_url(storage["THRESHER_STORE"]) as server:
            server.config_set("rdbcompression", "no")
            server.save()
    finally:
        for name in storage:
            del world.environment[name]
    assert found_in((world.root / "store" / "dump.rdb").read_bytes()) == set()
    objects = [path for path in (world.root / "bucket").rglob("*") if path.is_file() and path.name != "server.log"]
    assert {str(path): found for path in objects if (found := found_in(path.read_bytes()) - {"s3"})} == {}
    world.check()


WRONG = {
    "a store that refuses the password": {"THRESHER_STORE": "redis://:{store}@127.0.0.1:{store_port}/0"},
    "a store that does not answer": {"THRESHER_STORE": "redis://:{store}@127.0.0.1:{closed}/0"},
    "a URL that is none of a store": {"THRESHER_STORE": "redis://:{store}@127.0.0.1:port/0"},
    "a bucket that does not answer": {"AWS_ENDPOINT_URL": "http://127.0.0.1:{closed}"},
    "a bucket that refuses": {"AWS_ENDPOINT_URL": "{refusing}"},
    "an endpoint with a password": {"AWS_ENDPOINT_URL": "http://ann:{s3}@127.0.0.1:{closed}"},
    "a proxy that refuses": {"CRAWL_PROXY": "http://ann:x{proxy}@127.0.0.1:{proxy_port}"},
    "a proxy that does not answer": {"CRAWL_PROXY": "http://ann:{proxy}@127.0.0.1:{closed}"},
    "a proxy that is none": {"CRAWL_PROXY": "socks5://ann:{proxy}@127.0.0.1:{closed}"},
    "a password that cannot be sent": {"SITE_PASSWORD": "{site_password}\n"},
    "a cookie that is none": {"SITE_COOKIE": "{site_cookie};"},
    "a site that refuses": {"SITE_HEADER": "wrong"},
    "a model that is not there": {"MODEL_KEY": "{model}é"},
    "a webhook's key that is none": {"HOOK_KEY": "whsec_{webhook_key}*"},
    "a webhook's URL that is none": {"HOOK_URL": "ftp://hooks.example/{webhook_url}"},
    "a webhook that does not answer": {"HOOK_URL": "http://127.0.0.1:{closed}/{webhook_url}"},
    "a token that is too short": {"THRESHER_UI_TOKEN": "short"},
}
COMMANDS = {
    "THRESHER_STORE": [("run", "wrong"), ("status", "wrong")],
    "AWS_ENDPOINT_URL": [("status", "wrong"), ("verify", "wrong"), ("pull", "s3://thresher/secrets", "other")],
    "HOOK_KEY": [("watch", "wrong", "--once")],
    "HOOK_URL": [("watch", "wrong", "--once")],
    "MODEL_KEY": [("label", "wrong", "--model")],
    "THRESHER_UI_TOKEN": [("ui", "wrong", "--no-open", "--port", "0")],
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_what_fails_prints_and_keeps_no_secret(world, tmp_path, changes):
    folder = world.root / "work" / "wrong"
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    [variable] = changes
    settings = {"collection": "s3://thresher/secrets"} if variable == "AWS_ENDPOINT_URL" else {}
    with Receiver(lambda *_: (403, {}, "<Error><Code>AccessDenied</Code></Error>")) as refusing, ExitStack() as stack:
        store_port = 0
        if "{store_port}" in changes[variable]:
            store = stack.enter_context(store_server("redis", tmp_path))
            store_port = store.port
            with store.client() as client:
                client.config_set("requirepass", "another")
        places = {"closed": free_port(), "refusing": refusing.url, "store_port": store_port}
        value = changes[variable].format(**PLANTED, **places, proxy_port=world.proxy.port)
        keys = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": PLANTED["s3"], "AWS_REGION": "us-east-1"}
        world.create("wrong", **settings)
        for command in COMMANDS.get(variable, [("run", "wrong", "--pages", "3"), ("status", "wrong")]):
            world.call(*command, code=None, **keys, **{variable: value})
        assert set().union(*map(found_in, refusing.received)) == set()
    if variable == "CRAWL_PROXY":  # the wrong password contains the right one
        world.proxy.heads.clear()
    world.check()


def test_a_model_that_refuses_the_key_is_not_quoted(world):
    world.create("refused")
    world.call("run", "refused", "--pages", 3)
    answer, world.model.answer = world.model.answer, lambda request: (401, {}, b'{"error": "wrong key"}')
    try:
        world.call("label", "refused", "--model", code=None)
    finally:
        world.model.answer = answer
    world.check()
