"""Which addresses may be dialled.

A crawler follows links that strangers write, so an address inside the user's own network is refused unless the user
lists it. Addresses that wrap another one (IPv4 in IPv6, 6to4, Teredo, NAT64) are judged by what they wrap.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Global by the registry's letter, and still no place for a crawler: protocol assignments, 6to4 relays, shared and
# benchmark space.
_DENIED = [
    ipaddress.ip_network(text)
    for text in ("192.0.0.0/24", "192.88.99.0/24", "100.64.0.0/10", "198.18.0.0/15", "169.254.0.0/16")
]
_METADATA = [ipaddress.ip_network(text) for text in ("169.254.0.0/16", "fd00:ec2::254/128", "fe80::/10")]
_NAT64 = [ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48")]
_V4_COMPATIBLE = ipaddress.ip_network("::/96")

# The ports no browser dials, by WHATWG's list: a link must not speak to a mail server or a database.
_BAD_PORTS = """
1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137
139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720
1723 2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 10080
"""
BAD_PORTS = frozenset(map(int, _BAD_PORTS.split()))


def networks(texts: Iterable[str]) -> list[Network]:
    """Read networks such as ``127.0.0.0/8``; host bits are forgiven."""
    return [ipaddress.ip_network(text, strict=False) for text in texts]


def refusal(address: str, allowed: Sequence[Network] = ()) -> str:
    """Say why an address is not dialled; empty when it may be.

    Link-local and cloud metadata addresses stay refused even when `allowed` names them.
    """
    try:
        outer = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return "not an address"
    inner = _unwrapped(outer)
    if _in_any(outer, _METADATA) or _in_any(inner, _METADATA):
        return "a link-local or metadata address"
    if _in_any(outer, allowed) or _in_any(inner, allowed):
        return ""
    if inner.is_multicast or inner.is_reserved or inner.is_unspecified or _in_any(inner, _DENIED):
        return "a reserved address"
    return "" if inner.is_global else "a private address"


def _unwrapped(address: Address) -> Address:
    if isinstance(address, ipaddress.IPv4Address):
        return address
    wrapped = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
    if wrapped is None and (_in_any(address, _NAT64) or address in _V4_COMPATIBLE):
        wrapped = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return wrapped or address


def _in_any(address: Address, ranges: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in ranges)


def refused_name(name: str) -> str:
    """Say why a host name is not even looked up; empty when it may be."""
    bare = name.rstrip(".").lower()
    if bare == "localhost" or bare.endswith((".localhost", ".internal", ".local")):
        return "a private name"
    if "." not in bare and ":" not in bare:
        return "a name without a dot"
    return ""


def private_network(name: str) -> str:
    """Return the network to list in ``network.allow`` for a private host; empty for a public one.

    Names are judged without looking them up, so only ``localhost`` is known as private.
    """
    if name == "localhost" or name.endswith(".localhost"):
        return "127.0.0.0/8"
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return ""
    if not refusal(name):
        return ""
    return "127.0.0.0/8" if address.version == 4 and address.is_loopback else str(ipaddress.ip_network(address))
