"""Who may ask: only one who has the token, by a name that the dashboard has, and from no page but its own.

A page of any site can make its reader's browser ask an address on the reader's machine, and a name that a stranger
owns can be made to lead there. So it is not enough to listen on loopback: every request must name the dashboard as its
user does (Host), must not come from another site (Origin, Sec-Fetch-Site), and must carry a secret. What changes
something must also come from a page of the dashboard's own, or from a program that holds the secret itself.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

LOGIN = "/login"
READING = frozenset({"GET", "HEAD"})
_OWN_SITES = frozenset({"", "none", "same-origin"})
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def new_secret() -> str:
    """Draw 256 bits that nobody can guess."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the guard looks at."""

    method: str
    path: str
    host: str
    origin: str = ""
    site: str = ""
    cookie: str = ""
    authorization: str = ""


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered."""

    status: int
    words: str


def names_of(host: str, port: int, more: Iterable[str] = ()) -> frozenset[str]:
    """Return the names under which a browser may ask, as it writes them into Host.

    Args:
        host: The address that is listened on.
        more: Further names, with their ports where those are others.
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
    """Decides about requests.

    Args:
        names: What may stand in Host.
        cookie: The name of the cookie; cookies know no ports, so each dashboard of a machine needs its own.
        token: The secret of this start.
        key: What is exchanged for the token, once.
    """

    names: frozenset[str]
    cookie: str = "thresher"
    token: str = field(default_factory=new_secret)
    key: str = field(default_factory=new_secret)

    def refuses(self, request: Request) -> Refusal | None:
        """Say why a request is not answered; None when it is."""
        if request.host.lower() not in self.names:
            return Refusal(403, "asked under a name that is not this dashboard's; see thresher ui --allow-host")
        if request.site not in _OWN_SITES or not self._is_own_origin(request):
            return Refusal(403, "asked from a page of another site")
        if request.path == LOGIN:
            return None
        by_program = self._is_bearer(request.authorization)
        if not by_program and not self._has_cookie(request.cookie):
            return Refusal(401, "the token is missing; open the address that thresher ui printed")
        if request.method not in READING and not by_program and not request.origin:
            return Refusal(403, "what changes something must come from a page of this dashboard")
        return None

    def take_key(self, key: str) -> bool:
        """Exchange the key; it works once."""
        if self.key and _same(key, self.key):
            self.key = ""
            return True
        return False

    def is_token(self, token: str) -> bool:
        """Tell whether somebody knows the token."""
        return _same(token, self.token)

    def knows(self, request: Request) -> bool:
        """Tell whether a request carries the token."""
        return self._is_bearer(request.authorization) or self._has_cookie(request.cookie)

    def _is_own_origin(self, request: Request) -> bool:
        if request.origin == "null":  # so says a form of a page that tells nobody where it is
            return request.site == "same-origin"
        scheme, separator, place = request.origin.partition("://")
        return not request.origin or (scheme in ("http", "https") and bool(separator) and place == request.host)

    def _is_bearer(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        return scheme.lower() == "bearer" and self.is_token(token.strip())

    def _has_cookie(self, cookie: str) -> bool:
        pairs = (pair.partition("=") for pair in cookie.split(";"))  # those of others may hold anything
        return any(name.strip() == self.cookie and self.is_token(value.strip()) for name, _, value in pairs)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())
