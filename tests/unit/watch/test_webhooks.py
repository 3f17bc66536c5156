"""Signatures and pauses of webhooks, and receivers that fail in every way."""

import socket
import threading
import time
from contextlib import closing, contextmanager, suppress

import pytest

from thresher.config.schema import WebhookConfig
from thresher.config.secrets import Secret
from thresher.errors import ConfigError
from thresher.watch import webhooks
from thresher.watch.database import Digest, WatchDatabase
from thresher.watch.webhooks import MAX_PAUSE_SECONDS, Deliverer, Webhook, pause_seconds, signature

ACKNOWLEDGED = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
ANSWERS = {
    "another protocol": b"SSH-2.0-OpenSSH\r\n",
    "no status": b"HTTP/1.1 banana\r\n\r\n",
    "a long status line": b"HTTP/1.1 200 " + b"a" * 70_000,
    "a long header": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
    "too many headers": b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 200 + b"\r\n",
    "nothing": b"",
    "a redirect": b"HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
    "an error": b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
}


class RawReceiver:
    """Answers with bytes of a test, every byte after a pause."""

    def __init__(self, answer, pause_seconds=0.0):
        self.answer = answer
        self.pause_seconds = pause_seconds
        self.requests = []
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}/hook"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with suppress(OSError):
            while True:
                connection, _ = self.listening.accept()
                threading.Thread(target=self._answer, args=[connection], daemon=True).start()

    def _answer(self, connection):
        with suppress(OSError), connection:
            self.requests.append(connection.recv(1 << 16))
            if not self.pause_seconds:
                connection.sendall(self.answer)
                return
            for byte in self.answer:
                connection.sendall(bytes([byte]))
                time.sleep(self.pause_seconds)


@contextmanager
def receiver(answer, **options):
    raw = RawReceiver(answer, **options)
    try:
        yield raw
    finally:
        raw.listening.close()


def deliverer_of(folder, reports, **urls):
    """Return a deliverer with one digest for each webhook."""
    with closing(WatchDatabase(folder)) as database:
        digest = Digest(number=1, crawl="solar", title="Solar", created_at=time.time(), total=0, entries=[])
        with database.transaction():
            database.add_digest(digest, list(urls))
    hooks = [Webhook(key=key, url=Secret(url), secret=Secret("key")) for key, url in urls.items()]
    return Deliverer(folder, "id", hooks, reports.append)


def test_the_signature_is_that_of_the_example_in_the_specification():
    signed = signature(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
    )
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_that_is_no_base64_is_refused_and_not_printed():
    with pytest.raises(ConfigError) as refused:
        signature("whsec_not base64", "id", 1, b"")
    assert "not base64" not in str(refused.value)


def test_pauses_double_up_to_an_hour():
    assert [pause_seconds(attempts) for attempts in range(3)] == [5, 10, 20]
    assert pause_seconds(1000) == MAX_PAUSE_SECONDS


def test_a_url_from_the_environment_is_printed_nowhere(monkeypatch):
    monkeypatch.setenv("HOOK", "https://hooks.example/secret-path")
    monkeypatch.setenv("THRESHER_WEBHOOK_SECRET", "key")
    webhook = Webhook.of(WebhookConfig(url_env="HOOK"))
    assert "secret-path" not in repr(webhook)
    assert webhook.host == "hooks.example"


@pytest.mark.parametrize("settings", [{}, {"url": "https://a.example/", "url_env": "HOOK"}])
def test_a_webhook_has_one_source_of_its_url(settings):
    with pytest.raises(ValueError, match="either url, or url_env"):
        WebhookConfig(**settings)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_every_answer_but_an_acknowledgement_is_a_failed_attempt(tmp_path, answer):
    reports = []
    with receiver(answer) as bad, receiver(ACKNOWLEDGED) as good:
        deliverer = deliverer_of(tmp_path, reports, bad=bad.url, good=good.url)
        deliverer.deliver()
    assert (len(bad.requests), len(good.requests)) == (1, 1)
    assert ["next attempt in 5 s" in reports[0], "was delivered" in reports[1]] == [True, True]


def test_a_receiver_that_answered_rubbish_gets_the_digest_later(tmp_path, monkeypatch):
    monkeypatch.setattr(webhooks, "FIRST_PAUSE_SECONDS", 0.1)
    reports = []
    with receiver(ANSWERS["another protocol"]) as bad:
        deliverer = deliverer_of(tmp_path, reports, bad=bad.url)
        deliverer.start()
        wait_until(lambda: len(bad.requests) >= 2)
        bad.answer = ACKNOWLEDGED
        wait_until(lambda: "was delivered" in reports[-1])
        deliverer.stop()
    assert "the answer is not HTTP (BadStatusLine)" in reports[0]


def test_an_answer_that_comes_byte_by_byte_holds_up_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(webhooks, "TIMEOUT_SECONDS", 0.5)
    reports = []
    with receiver(ACKNOWLEDGED, pause_seconds=0.2) as slow, receiver(ACKNOWLEDGED) as good:
        deliverer_of(tmp_path, reports, slow=slow.url, good=good.url).deliver()
    assert "no complete answer within 0.5 s" in reports[0]
    assert "was delivered" in reports[1]


@pytest.mark.parametrize("url", ["https://127.0.0.1:{port}/", "http://127.0.0.1:9/", "http://no-such-name.invalid/"])
def test_no_tls_no_listener_and_no_name_are_failed_attempts(tmp_path, monkeypatch, url):
    real, reports = socket.getaddrinfo, []

    def resolve(host, *args, **options):
        if host.endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with receiver(b"this is not TLS\r\n") as bad, receiver(ACKNOWLEDGED) as good:
        port = bad.listening.getsockname()[1]
        deliverer_of(tmp_path, reports, bad=url.format(port=port), good=good.url).deliver()
    assert ["next attempt" in reports[0], "was delivered" in reports[1]] == [True, True]


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("https://hooks.example/", "whsec_not*base64"),
        ("https://hooks.example/", "whsec_"),
        ("https://hooks.example:99999/", "key"),
        ("https://hooks.example:https/", "key"),
        ("https://user:password@hooks.example/", "key"),
        ("https://hooks.example/a b", "key"),
        (f"https://{'a' * 64}.example/", "key"),
        ("https://[::banana/", "key"),
        ("ftp://hooks.example/", "key"),
        ("hooks.example/path", "key"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_fetched(monkeypatch, url, secret):
    monkeypatch.setenv("HOOK", url)
    monkeypatch.setenv("THRESHER_WEBHOOK_SECRET", secret)
    with pytest.raises(ConfigError) as refused:
        Webhook.of(WebhookConfig(url_env="HOOK"))
    assert url not in str(refused.value)


def test_proxies_of_the_environment_are_not_used(tmp_path, monkeypatch):
    with receiver(ACKNOWLEDGED) as proxy, receiver(ACKNOWLEDGED) as good:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        deliverer_of(tmp_path, [], good=good.url).deliver()
    assert (len(proxy.requests), len(good.requests)) == (0, 1)


def wait_until(condition):
    ends = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)
