"""Runs at the start of every Python process of a recorded crawl: writes down where it sends and which names it looks
up, and lets it go nowhere but to this machine. See `tests.faults.recorder`.
"""

import ipaddress
import os
import socket
import sys

_RECORD = os.environ.get("THRESHER_TEST_RECORD", "")


def _hook(event, arguments):
    if event in ("socket.connect", "socket.sendto") and arguments[0].family in (socket.AF_INET, socket.AF_INET6):
        host, port = arguments[1][:2]
        if not arguments[0].type & socket.SOCK_STREAM:  # connections are seen in C
            _write(f"send {host} {port}")
        if not ipaddress.ip_address(host).is_loopback:
            raise ConnectionRefusedError(f"tests dial this machine only, not {host}")
    elif event == "socket.getaddrinfo" and not _is_address(arguments[0]):
        _write(f"name {arguments[0]} {arguments[1]}")
        raise socket.gaierror(socket.EAI_NONAME, "tests look nothing up outside")


def _write(line):
    with open(_RECORD, "a", encoding="utf-8") as file:
        file.write(line + "\n")


def _is_address(host):
    try:
        ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host)
    except ValueError:
        return False
    return True


if _RECORD:
    sys.addaudithook(_hook)

if os.environ.get("THRESHER_TEST_LOOK_AHEAD") == "0" and "thresher.runner.worker" in sys.orig_argv:
    from thresher.engine.dns.resolver import GuardedResolver

    GuardedResolver.uses_dns = False
