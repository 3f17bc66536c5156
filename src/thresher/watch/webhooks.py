"""Webhooks: digests are posted as JSON, signed, and posted again until they are acknowledged.

The signature is that of the Standard Webhooks specification (standardwebhooks.com, version 1): the headers
``webhook-id``, ``webhook-timestamp`` and ``webhook-signature``, an HMAC with SHA-256 over id, time and body. An answer
with a status of 200 to 299 acknowledges a digest; it is then never posted again. If this process is killed between the
answer and its record, the digest is posted once more with the same id: receivers drop ids that they know.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import queue
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from thresher import __version__
from thresher.config.schema import WebhookConfig
from thresher.config.secrets import Secret, read_secret
from thresher.errors import ConfigError
from thresher.watch.database import Delivery, Digest, WatchDatabase

TIMEOUT_SECONDS = 15.0
"""How long an attempt may take."""
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 5.0, 3600.0
GIVE_UP_SECONDS = 3 * 86400.0
"""How long a digest is tried to be delivered."""
POLL_SECONDS = 1.0
_KEY_PREFIX = "whsec_"
_LABEL = "[A-Za-z0-9_-]{1,63}"
_URL = re.compile(rf"https?://(\[[0-9A-Fa-f:.]+\]|{_LABEL}(\.{_LABEL})*\.?)(:[0-9]{{1,5}})?([/?][!-~]*)?")


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """A receiver of digests.

    Args:
        key: Identifies it in the database; a hash, since its URL may hold a secret.
        url: Where digests are posted to.
        secret: The key of the signature.
    """

    key: str
    url: Secret
    secret: Secret

    @classmethod
    def of(cls, config: WebhookConfig) -> Webhook:
        """Read the secrets of a webhook, and check them.

        Raises:
            ConfigError: A variable is missing, or what it holds cannot be used.
        """
        url = Secret(config.url) if config.url else read_secret(config.url_env, "a webhook")
        if not _is_usable(url.reveal()):
            raise ConfigError(
                f"the webhook of {config.url_env or config.url} is not an http or https URL that can be posted to; "
                "expected https://host/path in ASCII, without spaces, user and password"
            )
        key = hashlib.sha256(url.reveal().encode()).hexdigest()[:16]
        secret = read_secret(config.secret_env, f"the webhook on {urlsplit(url.reveal()).hostname}")
        signing_key(secret.reveal())
        return cls(key=key, url=url, secret=secret)

    @property
    def host(self) -> str:
        """Its host, for messages: path and query may hold a secret."""
        return urlsplit(self.url.reveal()).hostname or ""


def _is_usable(url: str) -> bool:
    try:
        return _URL.fullmatch(url) is not None and urlsplit(url).port != 0
    except ValueError:  # a port above 65535, or brackets around no address
        return False


def signing_key(secret: str) -> bytes:
    """Return the key of signatures: Base64 behind the prefix of the specification, or any text.

    Raises:
        ConfigError: It is not Base64, or empty.
    """
    if not secret.startswith(_KEY_PREFIX):
        return secret.encode()
    try:
        key = base64.b64decode(secret.removeprefix(_KEY_PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise ConfigError(f"a webhook's secret begins with {_KEY_PREFIX} and is not Base64 behind it; copy it again")
    return key


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header ``webhook-signature``."""
    content = f"{message_id}.{timestamp}.".encode() + body
    signed = hmac.new(signing_key(secret), content, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(signed).decode()}"


def post(webhook: Webhook, crawl_id: str, digest: Digest) -> str:
    """Post a digest; return why it was not acknowledged in time, empty when it was.

    A thread of its own sends it: neither a name server nor an answer that comes byte by byte holds up other digests.
    """
    body = json.dumps({"type": "thresher.digest", **digest.as_json()}, ensure_ascii=False).encode()
    message_id, timestamp = f"thresher_{crawl_id}_{digest.number}", int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"thresher/{__version__}",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(webhook.secret.reveal(), message_id, timestamp, body),
    }
    results: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(
        target=lambda: results.put(_send(webhook.url.reveal(), body, headers)), name="webhook", daemon=True
    ).start()
    try:
        return results.get(timeout=TIMEOUT_SECONDS)
    except queue.Empty:
        return f"no complete answer within {TIMEOUT_SECONDS:g} s"


def _send(url: str, body: bytes, headers: Mapping[str, str]) -> str:
    """Send one request, by no proxy; a redirect is no acknowledgement and is not followed."""
    parts = urlsplit(url)
    kind, port = (HTTPSConnection, 443) if parts.scheme == "https" else (HTTPConnection, 80)
    connection = kind(parts.hostname or "", parts.port or port, timeout=TIMEOUT_SECONDS)
    path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    try:
        connection.request("POST", path, body, headers)
        status = connection.getresponse().status
        return "" if 200 <= status < 300 else f"HTTP {status}"
    except TimeoutError:
        return f"no answer within {TIMEOUT_SECONDS:g} s"
    except OSError as error:
        return f"{type(error).__name__}: {error.strerror or 'no answer'}"
    except Exception as error:  # whatever a receiver sends is a failed attempt; its text may be anything
        return f"the answer is not HTTP ({type(error).__name__})"
    finally:
        connection.close()


def pause_seconds(attempts: int) -> float:
    """Return the pause after a number of failed attempts: doubled each time, an hour at most."""
    return min(FIRST_PAUSE_SECONDS * 2.0 ** min(attempts, 20), MAX_PAUSE_SECONDS)


class Deliverer(threading.Thread):
    """Posts waiting digests in the background, those of each webhook in their order.

    Args:
        root: The folder of the crawl.
        crawl_id: Part of the id of every message.
        report: Called with a line about each attempt.
    """

    def __init__(self, root: Path, crawl_id: str, webhooks: Sequence[Webhook], report: Callable[[str], None]) -> None:
        super().__init__(name="webhooks", daemon=True)
        self._root = root
        self._crawl_id = crawl_id
        self._webhooks = {webhook.key: webhook for webhook in webhooks}
        self._report = report
        self._ending = threading.Event()

    def run(self) -> None:
        while not self._ending.wait(POLL_SECONDS):
            self.deliver()

    def stop(self) -> None:
        """End the thread after the post under way."""
        self._ending.set()
        if self.is_alive():
            self.join(TIMEOUT_SECONDS + 1)

    def deliver(self) -> None:
        """Post what is due, until nothing is."""
        database = WatchDatabase(self._root)
        try:
            while due := database.due_deliveries(self._webhooks, time.time()):
                for delivery in due:
                    self._post(database, delivery)
        finally:
            database.close()

    def _post(self, database: WatchDatabase, delivery: Delivery) -> None:
        webhook, digest = self._webhooks[delivery.webhook], database.digest(delivery.digest)
        if digest is None:
            database.abandon(delivery, "the digest is missing")
            return
        error = post(webhook, self._crawl_id, digest)
        name = f"digest {digest.number}"
        if not error:
            database.acknowledge(delivery)
            self._report(f"{name} was delivered to {webhook.host}")
        elif time.time() - delivery.since > GIVE_UP_SECONDS:
            database.abandon(delivery, error)
            self._report(f"{name} could not be delivered to {webhook.host} in 3 days and is not tried again: {error}")
        else:
            pause = pause_seconds(delivery.attempts)
            database.postpone(delivery, time.time() + pause, error)
            self._report(f"{name} was not delivered to {webhook.host}: {error}; next attempt in {pause:.0f} s")
