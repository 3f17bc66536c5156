"""Access to hosts that need a password, a token or a cookie.

Guarantees: a secret is sent to the configured host only, over https unless the user allows http, and to the configured
or the usual port. Every request is checked by its own URL; a redirect is a request of its own. What is kept of a
request has `REDACTED` in the place of a secret, and so has a response that repeats one.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, Field, model_validator

from thresher.config.base import OptionalVariableName, StrictConfig, VariableName
from thresher.config.secrets import REDACTED, Secret, read_secret
from thresher.errors import ConfigError
from thresher.records import FetchedPage
from thresher.urls.canonical import registered_domain

MARK = ("X-Thresher-Redacted", "a secret of topic.yaml was removed from this response")
"""A header line that we add to a response that repeats a secret."""
MAX_STATE_BYTES = 4 << 20
MIN_CHARACTERS = 8
"""Shorter secrets are not removed from responses: they would be found in ordinary text."""
MIN_STATE_CHARACTERS = 16
"""The same for a storage state file, which has settings beside secrets."""
_USUAL_PORTS = {"http": 80, "https": 443}


class EnvironmentValue(StrictConfig):
    """A secret: the environment variable of each worker machine that holds it."""

    env: VariableName = Field(description="The name of the environment variable.")


class BasicAuthConfig(StrictConfig):
    """User name and password of HTTP basic authentication."""

    user_env: VariableName = Field(description="The environment variable with the user name.")
    password_env: VariableName = Field(description="The environment variable with the password.")


class StorageStateConfig(StrictConfig):
    """A storage state file of Playwright: the cookies and local storage of a browser that is signed in."""

    env: OptionalVariableName = Field(default="", description="The environment variable with the file's path.")
    file: str = Field(default="", description="The file's path, relative to topic.yaml. It is not shared by a store.")

    @model_validator(mode="after")
    def _has_one_source(self) -> StorageStateConfig:
        if bool(self.env) == bool(self.file):
            raise ValueError("give either env, the name of an environment variable with a path, or file")
        return self


_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*)(:[0-9]{1,5})?")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OWN_HEADERS = frozenset(
    [
        "accept-encoding",
        "connection",
        "content-length",
        "cookie",
        "expect",
        "host",
        "range",
        "te",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    ]
)


def _access_host(text: str) -> str:
    if not _HOST.fullmatch(text):
        raise ValueError(f"{text!r} is not a host in lower case, such as wiki.example.org or wiki.example.org:8443")
    return text


def _header_name(text: str) -> str:
    if not _TOKEN.fullmatch(text) or text.lower() in _OWN_HEADERS or text.lower().startswith("proxy-"):
        raise ValueError(f"{text!r} is not the name of a header that can be set here")
    return text


def _cookie_name(text: str) -> str:
    if not _TOKEN.fullmatch(text):
        raise ValueError(f"{text!r} is not the name of a cookie")
    return text


class AccessConfig(StrictConfig):
    """How one host lets the crawl in; secrets are names of environment variables."""

    host: Annotated[str, AfterValidator(_access_host)] = Field(
        description="The one host that gets the secrets, such as wiki.example.org; with a port, that port only, "
        "otherwise the usual one."
    )
    subdomains: bool = Field(default=False, description="Whether the subdomains of the host get them too.")
    allow_http: bool = Field(
        default=False, description="Whether they are also sent over http, where everybody on the way can read them."
    )
    basic: BasicAuthConfig | None = Field(default=None, description="HTTP basic authentication.")
    headers: dict[Annotated[str, AfterValidator(_header_name)], EnvironmentValue] = Field(
        default={}, description="Headers by name, such as Authorization: {env: WIKI_TOKEN}."
    )
    cookies: dict[Annotated[str, AfterValidator(_cookie_name)], EnvironmentValue] = Field(
        default={}, description="Cookies by name, such as session: {env: WIKI_SESSION}."
    )
    storage_state: StorageStateConfig | None = Field(
        default=None, description="Cookies and local storage of a browser that is signed in."
    )

    @model_validator(mode="after")
    def _is_usable(self) -> AccessConfig:
        name = self.host.partition(":")[0]
        if self.subdomains and ("." not in name or name.startswith("[") or name[-1].isdigit()):
            raise ValueError(f"{self.host} has no subdomains, or too many owners; give the name of a site")
        if not (self.basic or self.headers or self.cookies or self.storage_state):
            raise ValueError("give basic, headers, cookies or storage_state")
        if self.basic and "authorization" in map(str.lower, self.headers):
            raise ValueError("basic and the header Authorization exclude each other")
        return self


@dataclass(frozen=True, kw_only=True)
class AccessCookie:
    """A cookie that the user configured; those that servers set are ignored.

    Args:
        domain: A host; with a leading dot, its subdomains too; empty for the hosts of the entry.
        expires: A Unix time; -1 for never.
    """

    name: str
    value: Secret
    domain: str = ""
    path: str = "/"
    secure: bool = False
    http_only: bool = True
    same_site: str = "Lax"
    expires: float = -1.0

    def is_for(self, scheme: str, host: str, path: str) -> bool:
        """Return whether a request gets the cookie, by the rules of RFC 6265."""
        parent = self.path.rstrip("/") + "/"
        return (
            (not self.domain or host == self.domain.lstrip(".") or _is_below(host, self.domain))
            and (path == self.path or path.startswith(parent))
            and (scheme == "https" or not self.secure)
            and (self.expires < 0 or self.expires > time.time())
        )


@dataclass(frozen=True, kw_only=True)
class HostAccess:
    """The secrets of one host.

    Args:
        port: The only port; 0 for the usual one of the scheme.
        local_storage: Entries of a browser's local storage by origin.
    """

    host: str
    port: int = 0
    subdomains: bool = False
    allow_http: bool = False
    headers: Sequence[tuple[str, Secret]] = ()
    cookies: Sequence[AccessCookie] = ()
    local_storage: Mapping[str, Sequence[tuple[str, Secret]]]
    redacted_values: Sequence[Secret] = ()

    @classmethod
    def of(cls, entry: AccessConfig, folder: Path) -> HostAccess:
        """Read the secrets of an entry of topic.yaml.

        Raises:
            ConfigError: A variable or a file is missing or not usable.
        """
        name, _, port = entry.host.partition(":") if not entry.host.startswith("[") else _split_literal(entry.host)
        where = f"access to {entry.host}"
        headers = [(header, read_secret(value.env, where)) for header, value in entry.headers.items()]
        cookies = [_cookie(cookie, value.env, where) for cookie, value in entry.cookies.items()]
        plain = [secret.reveal() for _, secret in headers] + [cookie.value.reveal() for cookie in cookies]
        if entry.basic:
            authorization, password = _basic(entry.basic.user_env, entry.basic.password_env, where)
            headers.append(("Authorization", authorization))
            plain += [authorization.reveal(), password.reveal()]
        access = cls(
            host=name,
            port=int(port or 0),
            subdomains=entry.subdomains,
            allow_http=entry.allow_http,
            headers=headers,
            cookies=cookies,
            local_storage={},
            redacted_values=_forms(plain, MIN_CHARACTERS),
        )
        return _with_state(access, entry.storage_state, folder) if entry.storage_state else access

    def names(self, host: str) -> bool:
        """Return whether a host name is meant, whatever the port."""
        return host == self.host or (self.subdomains and _is_below(host, f".{self.host}"))

    def covers(self, url: str) -> bool:
        """Return whether a URL may get the secrets: by its scheme, its host and its port."""
        parts = urlsplit(url)
        if parts.scheme not in (("http", "https") if self.allow_http else ("https",)):
            return False
        usual = _USUAL_PORTS[parts.scheme]
        return self.names(parts.hostname or "") and (parts.port or usual) == (self.port or usual)

    def lines(self, url: str) -> list[tuple[str, Secret]]:
        """Return the secret header lines of a request for a covered URL."""
        parts = urlsplit(url)
        host, path = parts.hostname or "", parts.path or "/"
        cookies = [cookie for cookie in self.cookies if cookie.is_for(parts.scheme, host, path)]
        text = "; ".join(f"{cookie.name}={cookie.value.reveal()}" for cookie in cookies)
        return [*self.headers, *([("Cookie", Secret(text))] if text else [])]

    def redacted(self, page: FetchedPage) -> FetchedPage:
        """Return a response without any secret that it repeats, marked when there was one."""
        body, headers, lines = page.body, dict(page.headers), list(page.header_lines)
        for secret in self.redacted_values:
            value = secret.reveal()
            body = body.replace(value.encode("ascii"), REDACTED.encode("ascii"))
            headers = {name: text.replace(value, REDACTED) for name, text in headers.items()}
            lines = [(name, text.replace(value, REDACTED)) for name, text in lines]
        if body == page.body and headers == page.headers and lines == list(page.header_lines):
            return page
        return replace(page, body=body, headers=headers, header_lines=[*lines, MARK])

    def browser_state(self) -> dict[str, Any]:
        """Return the storage state of a browser context that renders a page of this host; it holds secrets."""
        own = f".{self.host}" if self.subdomains else self.host
        cookies = [
            {
                "name": cookie.name,
                "value": cookie.value.reveal(),
                "domain": cookie.domain or own,
                "path": cookie.path,
                "expires": cookie.expires,
                "httpOnly": cookie.http_only,
                "secure": cookie.secure or not self.allow_http,
                "sameSite": cookie.same_site,
            }
            for cookie in self.cookies
        ]
        origins = [
            {"origin": origin, "localStorage": [{"name": name, "value": value.reveal()} for name, value in entries]}
            for origin, entries in self.local_storage.items()
        ]
        return {"cookies": cookies, "origins": origins}


class AccessTable:
    """The hosts of a crawl that need secrets; the most specific entry for a URL counts."""

    def __init__(self, entries: Sequence[HostAccess] = ()) -> None:
        self._entries = sorted(entries, key=lambda entry: -len(entry.host))

    @classmethod
    def of(cls, entries: Sequence[AccessConfig], folder: Path) -> AccessTable:
        """Read all secrets of a crawl from this machine.

        Raises:
            ConfigError: A variable or a file is missing; the message names it, and no value.
        """
        for entry in entries:
            if entry.subdomains and _is_public_suffix(entry.host.partition(":")[0]):
                raise ConfigError(f"access to {entry.host}: subdomains would be those of many owners; name a site")
        return cls([HostAccess.of(entry, folder) for entry in entries])

    def find(self, url: str) -> HostAccess | None:
        """Return the entry whose secrets a URL gets; None for all other URLs."""
        return next((entry for entry in self._entries if entry.covers(url)), None)


def _split_literal(host: str) -> tuple[str, str, str]:
    name, _, port = host.removeprefix("[").partition("]")
    return name, "", port.removeprefix(":")


def _is_public_suffix(name: str) -> bool:
    """Return whether anybody can register a name below this one, as below co.uk."""
    return registered_domain(f"b.a.{name}") == f"a.{name}"


def _is_below(host: str, domain: str) -> bool:
    return domain.startswith(".") and host.endswith(domain)


def _cookie(name: str, variable: str, where: str) -> AccessCookie:
    value = read_secret(variable, where)
    if ";" in value.reveal():
        raise ConfigError(
            f"{where}: the value of the environment variable {variable} is no cookie: it has a semicolon; "
            "give name=value alone"
        )
    return AccessCookie(name=name, value=value)


def _basic(user_variable: str, password_variable: str, where: str) -> tuple[Secret, Secret]:
    user, password = read_secret(user_variable, where), read_secret(password_variable, where)
    if ":" in user.reveal():
        raise ConfigError(
            f"{where}: the value of the environment variable {user_variable} has a colon; a user name has none"
        )
    pair = f"{user.reveal()}:{password.reveal()}".encode("ascii")
    return Secret(f"Basic {base64.b64encode(pair).decode('ascii')}"), password


def _forms(values: Sequence[str], least: int) -> list[Secret]:
    """Return the forms in which a response may repeat values: whole, without a scheme such as Bearer, and escaped."""
    parts = {part for value in values for part in (value, value.rpartition(" ")[2])}
    forms = {form for part in parts if len(part) >= least for form in (part, quote(part, safe=""), escape(part))}
    return [Secret(form) for form in sorted(forms, key=len, reverse=True)]


def _with_state(access: HostAccess, config: StorageStateConfig, folder: Path) -> HostAccess:
    """Add the cookies and the local storage of a storage state file, as far as they are for this host."""
    where = f"access to {access.host}: storage_state"
    name = read_secret(config.env, where).reveal() if config.env else config.file
    try:
        path = folder / Path(name).expanduser()
        if path.stat().st_size > MAX_STATE_BYTES:
            raise ValueError("too large")
        state = json.loads(path.read_bytes())
        cookies = [_state_cookie(row) for row in state.get("cookies", ())]
        storage = {row["origin"]: _entries(row) for row in state.get("origins", ())}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        source = f"the file that {config.env} names" if config.env else str(config.file)
        raise ConfigError(
            f"{where}: {source} is no storage state file of Playwright ({type(error).__name__})"
        ) from None  # the error may quote the file
    cookies = [cookie for cookie in cookies if access.names(cookie.domain.lstrip("."))]
    storage = {origin: entries for origin, entries in storage.items() if access.covers(f"{origin}/")}
    plain = [cookie.value.reveal() for cookie in cookies]
    plain += [value.reveal() for entries in storage.values() for _, value in entries]
    return replace(
        access,
        cookies=[*access.cookies, *cookies],
        local_storage=storage,
        redacted_values=[*access.redacted_values, *_forms(plain, MIN_STATE_CHARACTERS)],
    )


def _entries(row: Mapping[str, Any]) -> list[tuple[str, Secret]]:
    return [(str(entry["name"]), Secret(str(entry["value"]))) for entry in row.get("localStorage", ())]


def _state_cookie(row: Mapping[str, Any]) -> AccessCookie:
    """Return a cookie of a storage state file.

    Raises:
        ValueError: It cannot be sent.
    """
    name, value = str(row["name"]), str(row["value"])
    if not (name + value).isascii() or not (name + value).isprintable() or ";" in name + value or "=" in name:
        raise ValueError("not a cookie")
    return AccessCookie(
        name=name,
        value=Secret(value),
        domain=str(row["domain"]).lower(),
        path=str(row.get("path") or "/"),
        secure=bool(row.get("secure")),
        http_only=bool(row.get("httpOnly")),
        same_site=str(row.get("sameSite") or "Lax"),
        expires=float(row.get("expires", -1)),
    )
