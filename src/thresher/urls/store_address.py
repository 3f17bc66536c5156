"""The URL of a shared store: parsed, compared, and written without its password; and that of a collection.

A password may contain unencoded special characters such as ``@``, ``/``, ``#`` or ``:``. The user part therefore ends
at the last ``@``, and printed or recorded URLs contain no part of it but the user name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from thresher.errors import ConfigError

SQLITE = "sqlite"
"""The store of a crawl on one machine: a file in its folder."""
DEFAULT_PORT = 6379
_SCHEMES = {"redis": "redis", "rediss": "rediss", "valkey": "redis", "valkeys": "rediss", "redis+cluster": "redis"}
_REST = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\s\[\]@:/?#]+)(?::(?P<port>\d{1,5}))?(?:/(?P<database>\d*))?(?:\?(?P<query>[^#]*))?"
)
_NO_USER = re.compile(r"[^@?]*\?\w+=.*", re.DOTALL)
"""An address whose only ``@`` is in its options: ``redis://host?password=p@ss``."""
_LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}
_SECRETS = ("password", "username", "token", "secret")


@dataclass(frozen=True, kw_only=True)
class StoreAddress:
    """A parsed store URL.

    Args:
        scheme: As written: ``redis``, ``rediss``, ``valkey``, ``valkeys`` or ``redis+cluster``.
        options: Further parameters of the connection, such as ``ssl_ca_certs``.
    """

    scheme: str
    host: str
    port: int = DEFAULT_PORT
    database: int = 0
    user: str = ""
    password: str = ""
    options: Sequence[tuple[str, str]] = ()

    @classmethod
    def parse(cls, url: str) -> StoreAddress | None:
        """Parse a store URL; return None when it is not one."""
        scheme, mark, rest = url.strip().partition("://")
        userinfo, _, place = ("", "", rest) if _NO_USER.fullmatch(rest) else rest.rpartition("@")
        parts = _REST.fullmatch(place)
        if not mark or scheme.lower() not in _SCHEMES or parts is None:
            return None
        options = dict(parse_qsl(parts["query"] or "", keep_blank_values=True))
        user, _, password = userinfo.partition(":")
        database = options.pop("db", "") or parts["database"] or "0"
        port = int(parts["port"] or DEFAULT_PORT)
        if not database.isdecimal() or not 0 < port <= 65535:
            return None
        return cls(
            scheme=scheme.lower(),
            host=parts["host"].lower(),
            port=port,
            database=int(database),
            user=options.pop("username", "") or unquote(user),
            password=options.pop("password", "") or unquote(password),
            options=tuple(options.items()),
        )

    @property
    def is_cluster(self) -> bool:
        return self.scheme == "redis+cluster"

    @property
    def key(self) -> tuple[bool, str, int, int]:
        """Equal for all URLs of the same store; user, password and TLS are ignored."""
        host = self.host.rstrip(".")
        return self.is_cluster, "127.0.0.1" if host in _LOOPBACK else host, self.port, self.database

    @property
    def url(self) -> str:
        """The URL for the Redis client, with user and password encoded."""
        return replace(self, scheme=_SCHEMES[self.scheme])._written(self._userinfo, self.options)

    @property
    def given(self) -> str:
        """The complete URL as given, for child processes."""
        return self._written(self._userinfo, self.options)

    @property
    def recorded(self) -> str:
        """The URL for files of the crawl: without the password and other secrets."""
        options = [(name, value) for name, value in self.options if not any(word in name for word in _SECRETS)]
        return self._written(f"{quote(self.user, safe='')}@" if self.user and self.password else "", options)

    @property
    def shown(self) -> str:
        """The URL for output: without user, password and options."""
        return self._written("", ())

    @property
    def _userinfo(self) -> str:
        if not self.user and not self.password:
            return ""
        return f"{quote(self.user, safe='')}:{quote(self.password, safe='')}@"

    def _written(self, userinfo: str, options: Sequence[tuple[str, str]]) -> str:
        query = f"?{urlencode(options)}" if options else ""
        return f"{self.scheme}://{userinfo}{self.host}:{self.port}/{self.database}{query}"


def shown_store(store: str) -> str:
    """Return a store for output; of a URL that cannot be parsed only the scheme."""
    if address := StoreAddress.parse(store):
        return address.shown
    scheme, mark, _ = store.partition("://")
    if mark:
        return f"{scheme}://…" if scheme.lower() in _SCHEMES else "…"
    return "…" if re.search("[:@]", store) else store


def without_secrets(text: str) -> str:
    """Return a message without the user, password and query of the URLs in it."""
    return re.sub(r"\S+", lambda word: _without_secrets(word[0]), text)


def _without_secrets(word: str) -> str:
    before, mark, rest = word.partition("://")
    if not mark:
        return word
    _, at, place = rest.rpartition("@")
    address, question, _ = place.partition("?")
    return f"{before}://{'…@' if at else ''}{address}{'?…' if question else ''}"


def same_store(one: str, other: str) -> bool:
    """Return whether two stores are the same, whatever their user, password and spelling."""
    if SQLITE in (one, other):
        return one == other
    first, second = StoreAddress.parse(one), StoreAddress.parse(other)
    return first is not None and second is not None and first.key == second.key


COLLECTION_SCHEMES = ("s3", "gs", "az", "file")


def check_collection(url: str) -> str:
    """Return the URL of a collection, without a slash at its end.

    Raises:
        ConfigError: It has no known scheme, no bucket, or a password.
    """
    parts = urlsplit(url)
    is_complete = bool(parts.path.strip("/") if parts.scheme == "file" else parts.netloc)
    if parts.scheme not in COLLECTION_SCHEMES or not is_complete:
        raise ConfigError(
            f"{parts.scheme or url[:40]!r} names no collection; expected s3://bucket/prefix, gs://…, az://… or "
            "file:///folder"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError("the URL of a collection has no user, password or query; they come from the environment")
    return url.rstrip("/")
