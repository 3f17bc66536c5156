"""The identity of a crawler: requests are signed, so that a site can verify who sent them (Web Bot Auth).

A signature follows RFC 9421 (HTTP Message Signatures) with Ed25519, in the profile of
draft-ietf-webbotauth-httpsig-protocol-00 (2026). The header Signature-Agent names the https origin where the operator
publishes the public key, as a directory at `DIRECTORY_PATH`.

Guarantees: a signature is for one host, method and path, and valid for `VALID_SECONDS`. It is sent by https to a server
whose certificate was verified, and to no other host: a redirect is a request with a signature of its own. The private
key is in a file of mode 600 outside of the crawl; nothing else contains it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urljoin

from pydantic import AfterValidator

from thresher.errors import ConfigError, require
from thresher.locale.translation import _

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from http_message_signatures import HTTPMessageSigner

AGENT_VARIABLE = "THRESHER_IDENTITY"
"""The environment variable that switches signatures on for every crawl of a machine."""
KEY_VARIABLE = "THRESHER_IDENTITY_KEY"
"""The environment variable with the path of the key."""
DIRECTORY_PATH = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE = "application/http-message-signatures-directory+json"
VALID_SECONDS = 300

_LABEL = "sig1"
_AGENT_MEMBER = f'"signature-agent";key="{_LABEL}"'
_COVERED = ("@method", "@authority", "@path", _AGENT_MEMBER)
_COVERED_WITHOUT_PATH = ("@method", "@authority", _AGENT_MEMBER)
_ORIGIN = re.compile(r"https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?")
_WHAT = "a signed identity"


def checked_origin(text: str) -> str:
    """Return an https origin without a slash at its end.

    Raises:
        ConfigError: It is none.
    """
    origin = text.removesuffix("/")
    if not _ORIGIN.fullmatch(origin):
        raise ConfigError(
            _("{text!r} is not an https origin in lower case, such as https://crawler.example.org", text=text)
        )
    return origin


def _origin_or_empty(text: str) -> str:
    try:
        return text and checked_origin(text)
    except ConfigError as error:
        raise ValueError(str(error)) from None


AgentOrigin = Annotated[str, AfterValidator(_origin_or_empty)]
"""The origin where the key directory is published; empty for requests that are not signed."""


@dataclass(frozen=True)
class Identity:
    """Signs the requests of a crawl.

    Args:
        agent: The https origin where the key directory is published.
        key_id: The thumbprint of the key.
    """

    agent: str
    key_id: str
    _signer: HTTPMessageSigner

    @classmethod
    def of(cls, configured: str) -> Identity | None:
        """Return the identity of a crawl; None if its requests are not signed.

        Args:
            configured: `identity` of topic.yaml; where it is empty, `AGENT_VARIABLE` counts.

        Raises:
            ConfigError: The key cannot be used, the origin is not right, or the extra is not installed.
        """
        agent = configured or os.environ.get(AGENT_VARIABLE, "")
        if not agent:
            return None
        key = load_key(key_path())
        return cls(checked_origin(agent), thumbprint(key), _signer([key]))

    def sign(self, url: str) -> dict[str, str]:
        """Return the headers that sign a GET request for an https URL."""
        from http_message_signatures import HTTPMessageSignaturesException

        headers = {"Signature-Agent": f'{_LABEL}="{self.agent}"'}
        try:
            self._add_signature(url, headers, _COVERED)
        except HTTPMessageSignaturesException:  # RFC 9421 has no form for a path with a stray %, which URLs may have
            self._add_signature(urljoin(url, "/"), headers, _COVERED_WITHOUT_PATH)
        return headers

    def _add_signature(self, url: str, headers: dict[str, str], covered: Sequence[str]) -> None:
        now = datetime.now(UTC)
        self._signer.sign(
            SimpleNamespace(method="GET", url=url, headers=headers),
            key_id=self.key_id,
            created=now,
            expires=now + timedelta(seconds=VALID_SECONDS),
            nonce=secrets.token_urlsafe(32),
            label=_LABEL,
            tag="web-bot-auth",
            include_alg=False,
            covered_component_ids=covered,
        )


def key_path() -> Path:
    """Return where the key of this machine is: `KEY_VARIABLE`, or a file in the user's configuration folder."""
    if chosen := os.environ.get(KEY_VARIABLE):
        return Path(chosen)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "thresher" / "identity.pem"


def new_key(path: Path) -> Ed25519PrivateKey:
    """Make a key and write it to a new file that only its owner can read.

    Raises:
        ConfigError: There is a file already, or none can be written.
    """
    require("http_message_signatures", extra="identity", what=_WHAT)
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600
        )  # never readable by others, not even now
    except FileExistsError:
        raise ConfigError(
            _(
                "{file} is there already, and sites may know it; to change keys, make a second one with --key FILE "
                "and publish both",
                file=path,
            )
        ) from None
    except OSError as error:
        raise ConfigError(
            _(
                "{file} cannot be written: {error}; name another file with --key",
                file=path,
                error=_(str(error.strerror)),
            )
        ) from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(text)
    return key


def load_key(path: Path) -> Ed25519PrivateKey:
    """Read a key.

    Raises:
        ConfigError: There is none, others can read it, or it is no Ed25519 key; the message quotes nothing of it.
    """
    require("http_message_signatures", extra="identity", what=_WHAT)
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        text = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            _(
                "no key can be read at {file} ({error}); make one: thresher identity new, or name its file in "
                "the environment variable {variable}",
                file=path,
                error=_(str(error.strerror)),
                variable=KEY_VARIABLE,
            )
        ) from error
    if mode & stat.S_IROTH:
        raise ConfigError(
            _(
                "everybody on this machine can read the key {file} (mode {mode:o}): chmod 600 {file}",
                file=path,
                mode=mode,
            )
        )
    try:
        key = load_pem_private_key(text, password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigError(
            _("{file} is no Ed25519 key without a password in PEM; make one: thresher identity new", file=path)
        )
    return key


def jwk(key: Ed25519PrivateKey) -> dict[str, str]:
    """Return the public key as a JSON Web Key (RFC 8037); its `kid` is its thumbprint."""
    return {"kty": "OKP", "crv": "Ed25519", "kid": thumbprint(key), "x": _public(key), "use": "sig"}


def thumbprint(key: Ed25519PrivateKey) -> str:
    """Return the JWK thumbprint of the public key (RFC 7638; RFC 8037, appendix A.3)."""
    text = f'{{"crv":"Ed25519","kty":"OKP","x":"{_public(key)}"}}'
    return _base64url(hashlib.sha256(text.encode()).digest())


def directory(keys: Sequence[Ed25519PrivateKey]) -> bytes:
    """Return the key directory."""
    return json.dumps({"keys": [jwk(key) for key in keys]}, separators=(",", ":")).encode()


def directory_headers(agent: str, keys: Sequence[Ed25519PrivateKey], days: int) -> dict[str, str]:
    """Return the headers with which a server sends the directory.

    Each key signs the directory, so that nobody can publish it at another origin as their own.
    """
    body, now = directory(keys), datetime.now(UTC)
    request = SimpleNamespace(method="GET", url=f"{agent}{DIRECTORY_PATH}", headers={})
    headers = {"Content-Type": DIRECTORY_TYPE, "Cache-Control": "max-age=86400"}
    response = SimpleNamespace(status_code=200, request=request, headers=headers)
    signer = _signer(keys)
    for number, key in enumerate(keys, 1):
        signer.sign(
            response,
            key_id=thumbprint(key),
            created=now,
            expires=now + timedelta(days=days),
            label=f"key{number}",
            tag="http-message-signatures-directory",
            include_alg=False,
            covered_component_ids=('"@authority";req', "content-digest"),
            append_if_signature_exists=number > 1,
            body=body,
            use_existing_digest=number > 1,
        )
    return headers


def _signer(keys: Sequence[Ed25519PrivateKey]) -> HTTPMessageSigner:
    from http_message_signatures import HTTPMessageSigner, MappingKeyResolver, algorithms

    resolver = MappingKeyResolver(public_keys={}, private_keys={thumbprint(key): key for key in keys})
    return HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=resolver)


def _public(key: Ed25519PrivateKey) -> str:
    return _base64url(key.public_key().public_bytes_raw())


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
