"""Which way requests to object storage go."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from thresher.objects.base import open_objects

pytest.importorskip("obstore")


@contextmanager
def storage(content):
    """Run a server that answers every request with the same object, and yield its URL and the requests."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_response(200)
            for name, value in {
                "Content-Length": str(len(content)),
                "ETag": '"1"',
                "Last-Modified": "Wed, 21 Oct 2026 07:28:00 GMT",
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", requests
    finally:
        server.shutdown()
        server.server_close()


def environment(monkeypatch, endpoint, proxy):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy)
        monkeypatch.setenv(name.lower(), proxy)
    for name in ("NO_PROXY", "no_proxy", "AWS_PROXY_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "key")
    monkeypatch.setenv("AWS_REGION", "us-east-1")


def test_proxies_for_all_programs_are_not_used(monkeypatch):
    with storage(b"stored") as (endpoint, asked), storage(b"by proxy") as (proxy, passed):
        environment(monkeypatch, endpoint, proxy)
        assert open_objects("s3://bucket/crawl").get("key") == b"stored"
    assert (len(asked), passed) == (1, [])


def test_a_proxy_for_this_cloud_is_used(monkeypatch):
    with storage(b"stored") as (endpoint, asked), storage(b"by proxy") as (proxy, passed):
        environment(monkeypatch, endpoint, "http://127.0.0.1:9")
        monkeypatch.setenv("AWS_PROXY_URL", proxy)
        assert open_objects("s3://bucket/crawl").get("key") == b"by proxy"
    assert (asked, len(passed)) == ([], 1)
