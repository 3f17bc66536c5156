"""compose.yaml runs with three workers, S3, Prometheus and a proxy with TLS, and loses nothing when parts are killed.

One crawl of a site of known size. What was done and seen is printed, and kept as ``drill.log`` in podman's folder.
"""

import json
import os
import re
import secrets
import shutil
import signal
import ssl
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections import Counter
from http.cookiejar import CookieJar
from pathlib import Path

import pytest
import yaml

from tests.deployment.podman import ROOT, topic

HERE = Path(__file__).parent
PROJECT, CRAWL, PAGES, WORKERS = "thresher", "drill", 1_500, 3
CONCURRENCY = 8
NAMES = [f"{PROJECT}_worker_{number}" for number in range(1, WORKERS + 1)]
SEED, STORE, S3, UI, BACKUP = (f"{PROJECT}_{name}_1" for name in ("seed", "store", "s3", "ui", "backup"))
PROXY = "https://localhost:18443"
LEASE_SECONDS = 40.0
TOPIC = topic(
    CRAWL,
    politeness={"delay_seconds": 0.3, "contact": "ops@example.org"},
    engine={"lease_seconds": LEASE_SECONDS, "concurrency": CONCURRENCY},
)


class Drill:
    """The containers of one run of compose.yaml."""

    def __init__(self, podman, folder):
        self.podman = podman
        self.folder = folder
        self.deploy = folder / "project" / "deploy"
        self.token = secrets.token_urlsafe(32)
        self.began = time.monotonic()
        self.lines = []
        self.may_be_open = 0  # requests at the moments of kills

    def note(self, words):
        seconds = int(time.monotonic() - self.began)
        self.lines.append(f"{seconds // 60:3d}:{seconds % 60:02d}  {words}")
        print(self.lines[-1], flush=True)

    def prepare(self):
        for name in ("log", "crawl"):
            (self.folder / name).mkdir(parents=True)
        shutil.copytree(ROOT / "deploy", self.deploy)
        (self.folder / "crawl" / "topic.yaml").write_text(yaml.safe_dump(TOPIC))
        (self.folder / "crawl" / "seeds.txt").write_text("http://h1.drill-site.org:8080/p0.html\n")
        environment = {
            "STORE_PASSWORD": secrets.token_hex(24), "GRAFANA_PASSWORD": secrets.token_hex(24), "CRAWL": CRAWL,
            "CRAWL_DIR": self.folder / "crawl", "UI_TOKEN": self.token, "PUBLIC_URL": PROXY,
            "COLLECTION": "s3://pages/drill", "PAGES": PAGES, "HERE": HERE, "DRILL": self.folder,
            "WEED": shutil.which("weed", path=str(Path(sys.executable).parent)),
        }  # fmt: skip
        (self.deploy / ".env").write_text("".join(f"{name}={value}\n" for name, value in environment.items()))

    def compose(self, *words, seconds=180.0):
        os.chdir(self.deploy)
        files = ["-f", "compose.yaml", "-f", HERE / "drill.yaml"]
        return self.podman.run("podman-compose", *files, "--profile", "ui", *words, seconds=seconds)

    def command(self, *words, check=True):
        """Run a command of Thresher beside the coordinator's folder."""
        return self.compose("run", "--rm", "--no-deps", "-T", "--entrypoint", "thresher", "seed", *words)

    def status(self):
        """Ask the store, by the dashboard's container: it is there as long as the crawl is wanted."""
        ran = self.podman.called("exec", UI, "thresher", "status", "--crawl", CRAWL, "--json")
        self.trouble = ran.stderr[-500:]  # of a moment when the store is away
        return json.loads(ran.stdout) if ran.stdout.strip() else {}

    def until(self, what, condition, seconds=120.0):
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < deadline, f"{what}: {self.status()}\n{self.trouble}\n{self.tails()}"
            time.sleep(1.0)
        self.note(what)
        return found

    def tails(self):
        names = [*NAMES, SEED, STORE, UI]
        return "\n".join(f"{name}: {self.podman.state(name)} {self.podman.logs(name)[-800:]}" for name in names)

    def pages(self):
        return self.status().get("pages", 0)

    def until_more_pages(self, what):
        reached = self.pages()
        self.until(what, lambda: self.pages() > reached + 20)

    def kill(self, name, *, may_be_open=0):
        self.may_be_open += may_be_open
        os.kill(self.podman.process(name), signal.SIGKILL)
        self.note(f"killed {name}")

    def fetched(self):
        """Return how often each page was fetched."""
        return Counter((self.folder / "log" / "site.log").read_text().split())

    def started(self):
        return {name: self.podman("inspect", "-f", "{{.State.StartedAt}}", name) for name in NAMES}

    def remove(self):
        for line in self.podman("ps", "-aq", "--filter", f"label=io.podman.compose.project={PROJECT}").split():
            self.podman("rm", "-f", "-t", "1", line, check=False)
        for volume in self.podman("volume", "ls", "-q").split():
            self.podman("volume", "rm", "-f", volume, check=False)
        self.podman("network", "prune", "-f")  # the next test's networks shall not share the firewall with these


@pytest.fixture
def drill(podman, tmp_path):
    drill = Drill(podman, tmp_path)
    drill.remove()
    drill.prepare()
    drill.note(f"image: {image_megabytes(podman)} MB on its base")
    with podman.health_checks(PROJECT):
        yield drill
        (podman.folder / "drill.log").write_text("\n".join([*drill.lines, ""]))
        drill.remove()


def image_megabytes(podman):
    image, base = (int(podman("image", "inspect", "-f", "{{.Size}}", name)) for name in ("thresher", "localhost/base"))
    return (image - base) // 1_000_000


@pytest.mark.timeout(1800)
def test_a_deployment_loses_nothing_when_its_parts_are_killed_stopped_and_restored(drill, tmp_path):
    drill.compose("up", "-d", "--no-build", "--scale", f"worker={WORKERS}")
    drill.until("three workers fetch", lambda: drill.pages() > 100 and len(drill.status()["workers"]) == WORKERS)
    copy = 'REDISCLI_AUTH=$STORE_PASSWORD valkey-cli -h store --rdb "/backup/store-$(date -u +%Y%m%dT%H%M%SZ).rdb"'
    drill.podman("exec", BACKUP, "sh", "-c", copy)  # as the container does every six hours
    kill_a_worker(drill)
    restart_the_coordinator(drill)
    kill_the_store(drill)
    kill_the_object_storage(drill)
    stop_and_start(drill)
    log_in_through_the_proxy(drill, tmp_path)
    await_the_end(drill)
    compare(drill)
    restore_the_backup(drill)
    drill.until("the restored crawl has ended again", lambda: drill.podman.state(SEED)[0] == "exited", 400)
    drill.until("all pages are counted", lambda: drill.pages() == PAGES, 30)


def kill_a_worker(drill):
    drill.kill(NAMES[1], may_be_open=CONCURRENCY)
    drill.until("the worker is running again", lambda: drill.podman.state(NAMES[1])[0] == "running", 60)


def restart_the_coordinator(drill):
    """It comes back to the same run, and workers do not notice."""
    before = drill.started()
    drill.podman("restart", "-t", "60", SEED)
    drill.until("the coordinator is back", lambda: drill.podman.state(SEED)[0] == "running", 60)
    assert drill.started() == before, "workers were restarted with the coordinator"
    assert "This machine left, others continue" in drill.podman.logs(SEED)
    drill.until_more_pages("workers go on")


def kill_the_store(drill):
    drill.kill(STORE, may_be_open=WORKERS * CONCURRENCY)
    paused = drill.until("the store is back and says how long it pauses", lambda: drill.status().get("pause_seconds"))
    assert 0 < paused <= LEASE_SECONDS + 1
    assert "thresher_crawl_pause_seconds" in metrics_of(drill.podman, NAMES[0])
    drill.until_more_pages("pages come again")


def kill_the_object_storage(drill):
    drill.kill(S3)
    drill.until("the S3 server is back", lambda: drill.podman.state(S3)[0] == "running", 60)


def stop_and_start(drill):
    drill.podman("stop", "-t", "120", *NAMES, SEED, seconds=400)
    codes = {name: drill.podman.state(name) for name in (*NAMES, SEED)}
    assert set(codes.values()) == {("exited", 11)}, (codes, drill.tails())
    drill.note("workers and coordinator were stopped: exit code 11 each")
    drill.podman("start", SEED, *NAMES)
    drill.until_more_pages("they continue")


def await_the_end(drill):
    podman = drill.podman
    drill.until("the crawl has ended", lambda: podman.state(SEED)[0] == "exited", 400)
    drill.until("all workers ended", lambda: all(podman.state(name)[0] == "exited" for name in NAMES), 60)
    codes = {name: podman.state(name) for name in (*NAMES, SEED)}
    assert set(codes.values()) == {("exited", 0)}, (codes, drill.tails())
    ended = 'last_over_time(thresher:crawl_ended{crawl="drill"}[1h])'
    drill.until("Prometheus knows that the crawl has ended", lambda: asked(podman, ended), 40)
    assert asked(podman, 'ALERTS{alertname="NoWorkers"}') is None


def compare(drill):
    """Compare the site's log with the crawl and its collection."""
    fetched = drill.fetched()
    twice = sum(count - 1 for count in fetched.values())
    drill.note(f"{len(fetched)} of {PAGES} pages fetched; {twice} twice, {drill.may_be_open} could be open at kills")
    assert len(fetched) == PAGES
    assert twice <= drill.may_be_open
    verified = drill.command("verify", f"/data/{CRAWL}")
    drill.note("verify: " + verified.strip().splitlines()[-1])
    lines = drill.command("export", f"/data/{CRAWL}", "-f", "jsonl").splitlines()
    exported = {json.loads(line)["url"] for line in lines if line.startswith("{")}
    assert len(exported) == PAGES
    drill.note(f"{len(exported)} pages in the collection")
    log = drill.podman.logs(UI)
    assert drill.token not in log
    assert "key=" not in log


def metrics_of(podman, name):
    program = "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:9464/metrics').read().decode())"
    return podman("exec", name, "python", "-c", program)


def asked(podman, query):
    """Ask Prometheus; return the value, or None when there is none."""
    printed = podman("exec", f"{PROJECT}_prometheus_1", "promtool", "query", "instant", "http://127.0.0.1:9090", query)
    found = re.search(r"=> ([\d.]+)", printed)
    return float(found[1]) if found else None


def log_in_through_the_proxy(drill, folder):
    """Log in through nginx with TLS, by the example of deploy/proxy."""
    certificate = write_proxy(drill, folder)
    proxy = subprocess.Popen(["nginx", "-c", folder / "nginx.conf"])
    try:
        cookies = CookieJar()
        browser = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=certificate)),
            urllib.request.HTTPCookieProcessor(cookies),
        )
        form = urllib.parse.urlencode({"token": drill.token}).encode()
        drill.until("the proxy answers", lambda: is_open(browser), 20)
        with browser.open(urllib.request.Request(f"{PROXY}/login", form, {"Origin": PROXY})) as answer:
            assert answer.status == 200
            assert "drill" in answer.read().decode()
        [cookie] = cookies
        assert cookie.secure
        drill.note("logged in through the proxy; the cookie is Secure")
    finally:
        proxy.terminate()
        proxy.wait(10)


def write_proxy(drill, folder):
    """Write nginx's configuration, and a certificate of its own; return its path."""
    tls = folder / "tls"
    tls.mkdir()
    drill.podman.run(
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
        "-addext", "subjectAltName=DNS:localhost", "-keyout", tls / "key.pem", "-out", tls / "cert.pem",
    )  # fmt: skip
    server = (ROOT / "deploy" / "proxy" / "nginx.conf").read_text()
    for old, new in {
        "listen 443 ssl": "listen 127.0.0.1:18443 ssl",
        "crawler.example.org": "localhost",
        "/etc/nginx/tls/crawler.pem": str(tls / "cert.pem"),
        "/etc/nginx/tls/crawler.key": str(tls / "key.pem"),
    }.items():
        assert old in server
        server = server.replace(old, new)
    paths = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"user root; pid {folder}/nginx.pid; error_log {folder}/nginx.log; daemon off; events {{}}\n"
        f"http {{ access_log off; {paths}\n{server}\n}}\n"
    )
    return tls / "cert.pem"


def is_open(browser):
    try:
        with browser.open(f"{PROXY}/login") as answer:
            return answer.status == 200
    except OSError:
        return False


def restore_the_backup(drill):
    """Restore the copy of the store that was made in the middle of the crawl, as docs/howto/operate.md says."""
    podman = drill.podman
    _, backup = podman("exec", BACKUP, "sh", "-c", "ls /backup/store-*.rdb").split()
    podman("stop", "-t", "60", STORE, UI)
    script = f"""set -e
rm -rf /data/appendonlydir && cp {backup} /data/dump.rdb
valkey-server --dir /data --appendonly no --port 6400 --daemonize yes
until valkey-cli -p 6400 ping | grep -q PONG; do sleep 0.2; done
valkey-cli -p 6400 config set appendonly yes
until valkey-cli -p 6400 info persistence | grep -q aof_rewrite_in_progress:0; do sleep 0.2; done
until valkey-cli -p 6400 info persistence | grep -q aof_rewrite_scheduled:0; do sleep 0.2; done
valkey-cli -p 6400 shutdown"""
    mounts = [f"{PROJECT}_store:/data", f"{PROJECT}_backup:/backup:ro"]
    volumes = [word for mount in mounts for word in ("-v", mount)]
    podman("run", "--rm", "--network", "none", "--user", "999:1000", *volumes, "localhost/base", "sh", "-c", script)
    podman("start", STORE, UI)
    drill.until("the store has the backup", lambda: 100 < drill.pages() < PAGES, 60)
    drill.note(f"the backup knows {drill.pages()} pages")
    podman("start", SEED, *NAMES)
