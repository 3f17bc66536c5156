"""Which IP addresses the crawler may connect to (protection against SSRF).

A crawler follows links from untrusted sources, so an address inside the user's own network is refused unless the user
lists it. Addresses that embed another one (IPv4 in IPv6, 6to4, Teredo, NAT64) are checked by the embedded address.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks(texts: Iterable[str]) -> list[Network]:
    """Parse networks such as ``127.0.0.0/8``; host bits may be set."""
    return [ipaddress.ip_network(text, strict=False) for text in texts]


# Global by the registry, but not for a crawler: protocol assignments, 6to4 relays, shared and benchmark space,
# documentation addresses.
_DENIED = networks(("192.0.0.0/24", "192.88.99.0/24", "100.64.0.0/10", "198.18.0.0/15", "169.254.0.0/16", "3fff::/20"))
_UNICAST = ipaddress.ip_network("2000::/3")  # all public IPv6 addresses
# Metadata services of cloud machines; some of these addresses are public ones.
_METADATA = networks(
    (
        "169.254.0.0/16",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::/10",
    )
)
# NAT64, of local-use prefixes the only one with a known position of the inner address, and IPv4-compatible addresses.
_ENDING_IN_IPV4 = networks(("64:ff9b::/96", "64:ff9b:1::/96", "::/96"))
_ISATAP = (0x00005EFE, 0x02005EFE)

# The ports that browsers block, by WHATWG's list: a link must not reach a mail server or a database.
_BAD_PORTS = """
0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137
139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720
1723 2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 10080
"""
BAD_PORTS = frozenset(map(int, _BAD_PORTS.split()))


def refusal(address: str, allowed: Sequence[Network] = ()) -> str:
    """Return why an address is refused; empty when it is not.

    Link-local and cloud metadata addresses are refused even when `allowed` contains them.
    """
    try:
        outer = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "not an address"
    inner = _unwrapped(outer) or [outer]
    if any(_in_any(one, _METADATA) for one in (outer, *inner)):
        return "a link-local or metadata address"
    if _in_any(outer, allowed) or all(_in_any(one, allowed) for one in inner):
        return ""
    return next(filter(None, map(_not_public, inner)), "")


def _not_public(address: Address) -> str:
    if address.is_loopback:
        return PRIVATE_ADDRESS
    if address.is_multicast or address.is_reserved or address.is_unspecified or _in_any(address, _DENIED):
        return "a reserved address"
    public = address.version == 4 or address in _UNICAST
    return "" if address.is_global and public else PRIVATE_ADDRESS


def _unwrapped(address: Address) -> Sequence[Address]:
    """Return the addresses embedded in another one; none when there are none."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    if address.teredo:
        return address.teredo  # the server and the client
    if wrapped := address.ipv4_mapped or address.sixtofour:
        return (wrapped,)
    number = int(address)
    if number <= 1:  # the unspecified and the loopback address: no IPv4 inside
        return ()
    if _in_any(address, _ENDING_IN_IPV4) or number >> 32 & 0xFFFFFFFF in _ISATAP:
        return (ipaddress.IPv4Address(number & 0xFFFFFFFF),)
    return ()


def _in_any(address: Address, ranges: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in ranges)


PRIVATE_ADDRESS, PRIVATE_NAME = "a private address", "a private name"
PRIVATE = frozenset({PRIVATE_ADDRESS, PRIVATE_NAME})
"""Why a host is refused that the user may allow."""
_PRIVATE_ENDS = (".localhost", ".internal", ".local", ".localdomain", ".home.arpa")
_ENDS_IN_NUMBER = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?$", re.IGNORECASE).search


def refused_name(name: str) -> str:
    """Return why a host name is not even resolved; empty when it may be."""
    bare = name.rstrip(".").lower()
    if bare == "localhost" or bare.endswith(_PRIVATE_ENDS):
        return PRIVATE_NAME
    if "." not in bare and ":" not in bare:
        return "a name without a dot"
    return ""


def is_address(name: str) -> bool:
    """Return whether a host is an IP address, valid or not; no name ends in a number."""
    return ":" in name or bool(_ENDS_IN_NUMBER(name))


def private_network(name: str) -> str:
    """Return the network to list in ``network.allow`` for a private host; empty for a public one.

    Names are not resolved, so only ``localhost`` is known as private.
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
