"""Verifies signed requests as a site does, by RFC 9421 and the drafts of Web Bot Auth.

It shares no code with what signs: the fields are read by expressions of its own, and only Ed25519 itself is a library.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_MEMBER = re.compile(r"(?P<label>[a-z*][a-z0-9_.*-]*)=(?P<list>\((?P<items>[^)]*)\)(?P<params>[^,]*))")
_ITEM = re.compile(r'"(?P<name>[^"]+)"(?P<params>(?:;[a-z]+(?:="[^"]*")?)*)')
_PARAMETER = re.compile(r';([a-z]+)=(?:"([^"]*)"|(\d+))')
MAX_SECONDS = 24 * 3600
CLOCK_SECONDS = 5


@dataclass
class Verifier:
    """Verifies the requests to one site; it remembers nonces."""

    directory: bytes
    agent: str
    nonces: set[str] = field(default_factory=set)

    def trouble(self, method: str, url: str, headers: Mapping[str, str]) -> str:
        """Return why a request is not verified, or an empty string.

        Args:
            headers: By names in lower case.
        """
        try:
            covered, parameters, base = signature_base(method, url, headers)
        except (KeyError, ValueError, TypeError) as error:
            return f"malformed: {error!r}"
        return (
            self._unfit(covered, parameters)
            or self._unverified(parameters["keyid"], base, headers["signature"])
            or self._repeated(parameters.get("nonce", ""))
        )

    def _unfit(self, covered: Mapping[str, str], parameters: Mapping[str, str]) -> str:
        now, created, expires = time.time(), int(parameters["created"]), int(parameters["expires"])
        if parameters["tag"] != "web-bot-auth" or '"@authority"' not in covered:
            return "not of this profile"
        if not created - CLOCK_SECONDS <= now <= expires + CLOCK_SECONDS or expires - created > MAX_SECONDS:
            return "not valid now"
        if covered.get('"signature-agent";key="sig1"') != f'"{self.agent}"':
            return "of another agent"
        return ""

    def _unverified(self, key_id: str, base: str, signature: str) -> str:
        keys = {thumbprint(key["x"]): key["x"] for key in json.loads(self.directory)["keys"]}
        if key_id not in keys:
            return "of an unknown key"
        value = re.search(r":([A-Za-z0-9+/=]+):", signature)
        return "" if value and verifies(keys[key_id], base64.b64decode(value[1]), base) else "a false signature"

    def _repeated(self, nonce: str) -> str:
        trouble = "a repeated nonce" if nonce in self.nonces else ""
        self.nonces.add(nonce)
        return trouble


def signature_base(method: str, url: str, headers: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str], str]:
    """Return the covered components with their values, the parameters, and the text that is signed."""
    member = _MEMBER.fullmatch(headers["signature-input"])
    if not member or not headers["signature"].startswith(f"{member['label']}=:"):
        raise ValueError(headers["signature-input"])
    authority, _, path = url.removeprefix("https://").partition("/")
    known = {"@method": method, "@authority": authority, "@path": f"/{path.partition('?')[0]}"}
    covered = {}
    for item in _ITEM.finditer(member["items"]):
        keys = re.findall(r';key="([^"]*)"', item["params"])
        covered[item[0]] = _member(headers[item["name"]], keys[0]) if keys else {**headers, **known}[item["name"]]
    lines = [f"{component}: {value}" for component, value in covered.items()]
    parameters = {name: text or number for name, text, number in _PARAMETER.findall(member["params"])}
    return covered, parameters, "\n".join([*lines, f'"@signature-params": {member["list"]}'])


def _member(value: str, key: str) -> str:
    """Return a member of a dictionary field, as text."""
    found = re.search(rf'(?:^|,\s*){re.escape(key)}=("[^"]*"[^,]*)', value)
    if not found:
        raise KeyError(key)
    return found[1]


def thumbprint(x: str) -> str:
    """Return the JWK thumbprint of an Ed25519 key."""
    text = '{"crv":"Ed25519","kty":"OKP","x":"' + x + '"}'
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def verifies(x: str, signature: bytes, base: str) -> bool:
    """Return whether a signature over a text is that of a public key."""
    public = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(x + "=" * (-len(x) % 4)))
    try:
        public.verify(signature, base.encode("ascii"))
    except InvalidSignature:
        return False
    return True
