"""A network of its own for a worker, joined to ours by a cable that can be pulled.

Both ends are namespaces without any way to the world: `in_private_network` runs a function in one, and an `Island`,
made there, is the other. Between them is a pair of virtual cards with addresses of 127.0.0.0/8 (`route_localnet` lets
them leave a machine), so that what is dialled is loopback on either side. Needs Linux and the rights of root.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
ADDRESS = "127.200.0.2"
"""The island's; every other address of 127.0.0.0/8 is on our side of the cable."""
OURS, THEIRS = "shore", "island"


class NoNamespaces(RuntimeError):
    """This machine, or this user, cannot make networks."""


def can_make_networks() -> bool:
    """Whether namespaces and virtual cards can be made here."""
    if os.geteuid() or not all(map(shutil.which, ("unshare", "nsenter", "ip"))):
        return False
    script = f"ip link set lo up && ip link add {OURS} type veth peer name {THEIRS}"
    return not subprocess.run(["unshare", "-n", "sh", "-c", script], capture_output=True).returncode


def in_private_network(function: str, *arguments: Any, seconds: float = 600.0) -> Any:
    """Call ``module:function`` in a process whose network is its own; return what it returns, through JSON.

    Raises:
        NoNamespaces: That cannot be done here.
        RuntimeError: The function failed.
    """
    if not can_make_networks():
        raise NoNamespaces("no rights to make a network: run as root on Linux, with iproute2 and util-linux")
    command = ["unshare", "-n", sys.executable, "-m", "testing.servers.private", function, json.dumps(arguments)]
    done = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, timeout=seconds)
    if done.returncode:
        raise RuntimeError(f"{function} ended with {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def call_here(function: str, arguments: Sequence[Any]) -> Any:
    """Raise our own loopback, and call a function."""
    _ip("link", "set", "lo", "up")
    module, _, name = function.partition(":")
    return getattr(import_module(module), name)(*arguments)


class Island:
    """A network that only a cable joins to ours."""

    def __init__(self) -> None:
        self._holder = subprocess.Popen(
            ["unshare", "-n", "sh", "-c", "echo made; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._holder.stdout is not None
        self._holder.stdout.readline()  # the network is there
        self._lay_cable()

    def command(self, command: Sequence[str]) -> list[str]:
        """Return what runs a command there."""
        return ["nsenter", "-t", str(self._holder.pid), "-n", *command]

    def pull(self) -> None:
        """Pull the cable: packets are lost, connections stay."""
        _ip("link", "set", OURS, "down")

    def plug(self) -> None:
        """Put the cable back."""
        _ip("link", "set", OURS, "up")
        _ip("route", "replace", f"{ADDRESS}/32", "dev", OURS, "table", "local")

    def close(self) -> None:
        """Let the network go; its cards go with it."""
        self._holder.kill()
        self._holder.communicate()

    def _lay_cable(self) -> None:
        _ip("link", "add", OURS, "type", "veth", "peer", "name", THEIRS)
        _ip("link", "set", THEIRS, "netns", str(self._holder.pid))
        _let_loopback_leave(OURS)
        self.plug()
        inside = f"""echo 1 > /proc/sys/net/ipv4/conf/{THEIRS}/route_localnet
            ip link set {THEIRS} up && ip addr add {ADDRESS}/8 dev {THEIRS}"""
        subprocess.run(self.command(["sh", "-ec", inside]), check=True)


@contextmanager
def island() -> Iterator[Island]:
    """Have an island for as long as the block lasts; only within `in_private_network`."""
    made = Island()
    try:
        yield made
    finally:
        made.close()


def _let_loopback_leave(card: str) -> None:
    folder = Path("/proc/sys/net/ipv4/conf") / card
    (folder / "route_localnet").write_text("1")
    (folder / "rp_filter").write_text("0")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
