"""Access control: a request needs the token, one of the dashboard's host names, and must not come from another site.

A page of any site can make a browser send requests to the user's machine (CSRF), and a domain of an attacker can be
made to resolve to it (DNS rebinding). So it is not enough to listen on loopback: every request must name the dashboard
in its Host header, must not come from another site (Origin, Sec-Fetch-Site), and must carry a secret. A request that
changes something must also come from a page of the dashboard itself, or from a program that holds the token.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

from thresher.locale.translation import _

LOGIN = "/login"
READING = frozenset({"GET", "HEAD"})
_OWN_SITES = frozenset({"", "none", "same-origin"})
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def new_secret() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, kw_only=True)
class Request:
    """The parts of a request that the guard checks."""

    method: str
    path: str
    host: str
    origin: str = ""
    site: str = ""
    cookie: str = ""
    authorization: str = ""


@dataclass(frozen=True)
class Refusal:
    """Why a request is refused."""

    status: int
    message: str


def names_of(host: str, port: int, more: Iterable[str] = ()) -> frozenset[str]:
    """Return the allowed values of the Host header.

    Args:
        host: The address that the dashboard listens on.
        more: Further names, with a port where it differs.
    """
    own = {host} if host not in ("0.0.0.0", "::") else set()  # noqa: S104 - compared, not bound
    if host in _LOOPBACK:
        own |= _LOOPBACK
    names = {_with_port(name, port) for name in own}
    for name in more:
        names |= {name.lower(), _with_port(name, port)} if ":" not in name else {name.lower()}
    return frozenset(names | ({name.rpartition(":")[0] for name in names} if port == 80 else set()))


def _with_port(name: str, port: int) -> str:
    return f"[{name}]:{port}" if ":" in name else f"{name.lower()}:{port}"


@dataclass
class Guard:
    """Accepts or refuses requests.

    Args:
        names: Allowed values of the Host header.
        cookie: The name of the cookie; cookies ignore ports, so each dashboard of a machine needs its own.
        token: The secret of this start.
        key: A one-time key that is exchanged for the token.
        secure: Whether browsers may send the cookie over HTTPS only.
    """

    names: frozenset[str]
    cookie: str = "thresher"
    token: str = field(default_factory=new_secret)
    key: str = field(default_factory=new_secret)
    secure: bool = False

    def refuses(self, request: Request) -> Refusal | None:
        """Return why a request is refused; None when it is accepted."""
        if request.host.lower() not in self.names:
            return Refusal(403, _("the Host header is not a name of this dashboard; see thresher ui --allow-host"))
        if request.site not in _OWN_SITES or not self._is_own_origin(request):
            return Refusal(403, _("the request comes from a page of another site"))
        if request.path == LOGIN:
            return None
        by_program = self._is_bearer(request.authorization)
        if not by_program and not self._has_cookie(request.cookie):
            return Refusal(401, _("the token is missing; open the address that thresher ui printed"))
        if request.method not in READING and not by_program and not request.origin:
            return Refusal(403, _("a request that changes something must come from a page of this dashboard"))
        return None

    def take_key(self, key: str) -> bool:
        """Return whether the key is right; it works once."""
        if self.key and _same(key, self.key):
            self.key = ""
            return True
        return False

    def is_token(self, token: str) -> bool:
        return _same(token, self.token)

    def knows(self, request: Request) -> bool:
        """Return whether a request carries the token."""
        return self._is_bearer(request.authorization) or self._has_cookie(request.cookie)

    def _is_own_origin(self, request: Request) -> bool:
        if request.origin == "null":  # sent by forms of pages with referrer-policy: no-referrer
            return request.site == "same-origin"
        scheme, separator, host = request.origin.partition("://")
        return not request.origin or (scheme in ("http", "https") and bool(separator) and host == request.host)

    def _is_bearer(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        return scheme.lower() == "bearer" and self.is_token(token.strip())

    def _has_cookie(self, cookie: str) -> bool:
        pairs = (pair.partition("=") for pair in cookie.split(";"))  # cookies of other servers may hold anything
        return any(name.strip() == self.cookie and self.is_token(value.strip()) for name, _, value in pairs)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())
