"""Limits and hangs: runs that cannot work or do not react are reported, and answers that broke off are marked."""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing, contextmanager

import pytest

from tests.consistency.disks import with_limit
from tests.e2e.conftest import quick
from thresher.crawl import CrawlSetup
from thresher.errors import ThresherError
from thresher.runner.shutdown import wait_until_stopped
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
TEXT = b"<title>Orchard</title><p>" + b"apple orchard in autumn " * 20


def chunk(text):
    return b"%x\r\n%b\r\n" % (len(text), text)


LINKS = b"".join(b'<a href="/%b">apple orchard</a>' % name for name in (b"first", b"later", b"negative", b"open"))
ANSWERS = {
    "/": HEAD + chunk(TEXT + LINKS) + b"0\r\n\r\n",
    "/first": HEAD + b"garbage\r\n" + TEXT + b"\r\n0\r\n\r\n",
    "/later": HEAD + chunk(TEXT + b"later") + b"garbage\r\n" + TEXT + b"\r\n0\r\n\r\n",
    "/negative": HEAD + chunk(TEXT + b"negative") + b"-5\r\nabcde\r\n0\r\n\r\n",
    "/open": HEAD + chunk(TEXT + b"open"),
}
MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@contextmanager
def answering(answers):
    """Send bytes as they are, whatever they mean; gives the port."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                caller, _ = listening.accept()
            except OSError:
                return
            with closing(caller):
                asked = caller.recv(65536).split()
                caller.sendall(answers.get(asked[1].decode(), MISSING) if asked else b"")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


def test_a16_a_body_with_broken_chunks_is_marked_as_truncated_and_one_without_any_byte_is_no_page(thresher, tmp_path):
    with answering(ANSWERS) as port:
        place = f"http://127.0.0.1:{port}"
        thresher("new", "crawl", "--topic", "apple orchard", "--seed", f"{place}/")
        quick(tmp_path / "crawl")
        thresher("run", "crawl")
    with PageStoreReader(tmp_path / "crawl" / "pages") as collection:
        became = {path: collection.find(fingerprint(f"{place}{path}")) for path in ANSWERS}
    assert {path: (record.page, str(record.reason)) for path, record in became.items()} == {
        "/": (True, ""),
        "/first": (False, "truncated before its first byte"),
        "/later": (True, "truncated"),
        "/negative": (True, "truncated"),
        "/open": (True, "truncated"),
    }


def test_a13_a_limit_of_open_files_that_is_too_low_is_reported_with_what_is_needed(thresher, tmp_path):
    thresher("new", "crawl", "--topic", "apple orchard", "--seed", "http://127.0.0.1:9/")
    done = with_limit("-n 64", tmp_path, "run", "crawl")
    assert done.returncode == 4, done.stderr
    assert "needs 112 open files, and the limit is 64" in done.stderr
    assert "engine.concurrency to 8" in done.stderr


RUNNER = """
import signal, sys, time
from pathlib import Path
from thresher.config.folder import CrawlFolder
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, lambda *_: None)
with CrawlFolder(Path(sys.argv[1])).only_one_run():
    print("runs", flush=True)
    while True:
        time.sleep(1)
"""


@contextmanager
def runner(folder, kind):
    """A process that holds the lock of a run."""
    (folder / "topic.yaml").write_text("title: {en: sun}\nseeds: ['http://a.example/']\n", encoding="utf-8")
    process = subprocess.Popen([sys.executable, "-c", RUNNER, str(folder), kind], stdout=subprocess.PIPE)
    with process:
        assert process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def test_a15_stop_reports_a_run_that_is_suspended(thresher, tmp_path):
    with runner(tmp_path, "obedient") as process:
        os.kill(process.pid, signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)  # until it is suspended: of two signals the lower number comes first
        done = thresher("stop", ".")
        assert done.returncode == 1
        assert f"(process {process.pid}) does not react" in done.stderr
        assert f"kill -CONT {process.pid}" in done.stderr


def test_a15_stop_reports_a_run_that_does_not_end(tmp_path):
    with runner(tmp_path, "deaf") as process:
        os.kill(process.pid, signal.SIGTERM)
        with pytest.raises(ThresherError, match="has not ended"):
            wait_until_stopped(CrawlSetup.open(tmp_path), reaction_seconds=0.2, end_seconds=0.5)


def test_a15_stop_returns_when_the_run_has_ended(thresher, tmp_path):
    with runner(tmp_path, "obedient") as process:
        done = thresher("stop", ".")
        assert (done.returncode, done.stderr) == (0, "The run of . has ended.\n")
        assert process.wait(5) == -signal.SIGTERM
