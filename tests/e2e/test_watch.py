"""A watched topic: a change is in one digest, whenever the process is killed; webhooks get it until they answer."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.e2e.conftest import quick
from tests.e2e.test_first_crawl import SOLAR, page
from thresher.watch.webhooks import signature

SECRET = "whsec_" + "c2VjcmV0" * 4
ATOM = "{http://www.w3.org/2005/Atom}"


class Receiver:
    """A webhook that checks signatures and answers with a status that the test sets."""

    def __init__(self):
        self.status = 200
        self.received = []
        self.acknowledged = []

    def take(self, headers, body):
        message = headers["webhook-id"]
        signed = signature(SECRET, message, int(headers["webhook-timestamp"]), body)
        assert headers["webhook-signature"] == signed
        self.received.append(message)
        if self.status == 200:
            self.acknowledged.append(json.loads(body))
        return self.status


@contextmanager
def receiving():
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(receiver.take(self.headers, body))
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def solar(site, thresher, tmp_path):
    site.pages = {
        "/": page("Seed", SOLAR, ("/steady", "perovskite"), ("/lively", "solar cells"), ("/leaving", "cells")),
        "/steady": page("Steady", SOLAR + "<p>One.</p>"),
        "/lively": page("Lively", SOLAR + "<p>Two.</p>"),
        "/leaving": page("Leaving", SOLAR + "<p>Three.</p>"),
    }
    made = thresher("new", "solar", "--topic", "perovskite solar cells", "--seed", site.url("/"))
    assert made.returncode == 0, made.stderr
    quick(tmp_path / "solar")
    assert thresher("run", "solar").returncode == 0
    return tmp_path / "solar"


def change(site):
    site.pages["/lively"] = page("Lively", SOLAR + "<p>Efficiency is up.</p>", ("/new", "tandem cells"))
    site.pages["/new"] = page("New", SOLAR + "<p>Four.</p>")
    del site.pages["/leaving"]


def changes_of(digests, site):
    prefix = site.url("")
    return sorted((e["change"], e["url"].removeprefix(prefix)) for digest in digests for e in digest["entries"])


EXPECTED = [("changed", "/lively"), ("gone", "/leaving"), ("new", "/new")]


def test_a_round_reports_what_is_new_changed_and_gone_and_the_next_one_nothing(solar, site, thresher):
    change(site)
    watched = thresher.apart("watch", "solar", "--once", "--json")
    assert watched.returncode == 0, watched.stderr
    digest = json.loads(watched.stdout)
    assert changes_of([digest], site) == EXPECTED
    assert digest["entries"][0]["relevance"] > 0
    (lively,) = [entry for entry in digest["entries"] if entry["change"] == "changed"]
    assert any("Efficiency is up." in sentence for sentence in lively["added"])
    assert json.loads((solar / "digests" / "000001.json").read_text()) == digest
    assert "Efficiency is up." in (solar / "digests" / "000001.md").read_text()
    feed = ElementTree.parse(solar / "digests" / "feed.xml")
    assert len(feed.findall(f"{ATOM}entry")) == 3
    again = thresher.apart("watch", "solar", "--once", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout) is None
    assert "nothing changed; no digest" in again.stderr


def test_kills_and_a_webhook_that_is_down_lose_no_change_and_repeat_no_delivery(solar, site, tmp_path):
    with receiving() as receiver:
        receiver.status = 503
        command = [sys.executable, "-m", "thresher", "watch", "solar", "--every", "1s", "--webhook", receiver.url]
        environment = {**os.environ, "THRESHER_WEBHOOK_SECRET": SECRET}
        change(site)
        for seconds in (1.0, 3.0):
            with subprocess.Popen(
                command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
            ) as process:
                time.sleep(seconds)
                os.killpg(process.pid, signal.SIGKILL)
        with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process:
            wait(lambda: receiver.received)
            receiver.status = 200
            wait(lambda: changes_of(receiver.acknowledged, site) == EXPECTED, seconds=40)
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=20)[1]
        assert process.returncode == 11, errors
        assert SECRET not in errors
        assert len(receiver.acknowledged) == len({digest["number"] for digest in receiver.acknowledged})
        assert not [path for path in (solar / "log").glob("*") if SECRET in path.read_text(errors="ignore")]


def wait(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_webhook_without_its_key_is_refused_before_anything_is_fetched(solar, site, thresher, monkeypatch):
    monkeypatch.delenv("THRESHER_WEBHOOK_SECRET", raising=False)
    before = len(site.requests)
    refused = thresher.apart("watch", "solar", "--once", "--webhook", "https://hooks.example/x?token=hidden")
    assert refused.returncode == 4
    assert "THRESHER_WEBHOOK_SECRET" in refused.stderr
    assert "hidden" not in refused.stderr
    assert len(site.requests) == before
