"""The HTTP proxy of a crawl: where it is, and how it is asked.

Only the address of the proxy is dialled. What the guard checks behind a proxy is decided in `dns.resolver`: names are
resolved and checked here before the proxy gets them; or, with ``names: proxy``, addresses and private names only.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from thresher.config.schema import ProxyConfig
from thresher.config.secrets import Secret, read_secret
from thresher.errors import ConfigError
from thresher.locale.translation import _

_PURPOSE = "network.proxy"


@dataclass(frozen=True, kw_only=True)
class UpstreamProxy:
    """An HTTP proxy.

    Args:
        resolves_names: Whether names are resolved by the proxy alone.
    """

    host: str
    port: int
    user: Secret | None = None
    password: Secret | None = None
    resolves_names: bool = False

    @classmethod
    def of(cls, config: ProxyConfig) -> UpstreamProxy:
        """Return the proxy of a crawl.

        Raises:
            ConfigError: Its environment variable is not set, or holds no URL of an HTTP proxy.
        """
        secret = read_secret(config.env, _PURPOSE) if config.env else Secret(config.url)
        try:
            parts = urlsplit(secret.reveal())
            host, port, user, password = parts.hostname, parts.port, parts.username, parts.password
        except ValueError:
            host = port = user = password = None
        if not host or port is None or parts.scheme != "http" or parts.path not in ("", "/") or parts.query:
            source = _("the environment variable {name}", name=config.env) if config.env else "url"
            raise ConfigError(
                _(
                    "{purpose}: {source} holds no URL of an HTTP proxy, such as http://proxy.example:3128",
                    purpose=_PURPOSE,
                    source=source,
                )
            )
        return cls(
            host=host,
            port=port,
            user=Secret(unquote(user)) if user else None,
            password=Secret(unquote(password or "")) if user else None,
            resolves_names=config.names == "proxy",
        )

    def authorization(self) -> str:
        """Return the value of Proxy-Authorization; empty for a proxy without a password."""
        if self.user is None or self.password is None:
            return ""
        pair = f"{self.user.reveal()}:{self.password.reveal()}"
        return f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"

    def connect_request(self, name: str, port: int) -> bytes:
        """Return the request for a tunnel to a host."""
        place = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
        authorization = self.authorization()
        line = f"Proxy-Authorization: {authorization}\r\n" if authorization else ""
        return f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{line}\r\n".encode("latin-1")
