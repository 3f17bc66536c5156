"""Where the hosts of a script live: every name gets a loopback address of its own, unless all are to share one."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable
from itertools import count

from testing.recording_server.site import address_of_host


def place(script: Iterable[str], *, taken: Collection[str] = (), one_address: bool = False) -> dict[str, str]:
    """Return the address of every host of a script; ``*`` stands for the names that it does not tell one by one.

    Raises:
        ValueError: An address cannot be served: the first one is for control requests, IPv6 is not spoken.
    """
    script = list(script)
    places = {host: host for host in script if is_address(host)}
    if unfit := [host for host in places if ":" in host or host == "127.0.0.1"]:
        raise ValueError(f"a script's addresses are 127.0.0.2 and above, got {unfit[0]}")
    used = {*taken, *places}
    free = (address for address in map(address_of_host, count()) if address not in used)
    places["*"] = next(free)
    for host in script:
        if host not in places and not host.startswith("*"):
            places[host] = places["*"] if one_address else next(free)
    return places


def connect_to(places: dict[str, str], port: int, tls_port: int) -> dict[str, str]:
    """Return what ``network.connect_to`` must say: no name on ports 80 and 443 leads anywhere but here."""
    reported = {"*:80": f"{places['*']}:{port}", "*:443": f"{places['*']}:{tls_port}"}
    for host, address in places.items():
        if not is_address(host) and host != "*":
            reported[host if ":" in host else f"{host}:80"] = f"{address}:{port}"
    return reported


def is_address(host: str) -> bool:
    """Return whether a host is an address, not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
