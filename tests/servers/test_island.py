import subprocess
import tempfile
from pathlib import Path

import pytest

from testing.servers import store_server
from testing.servers.island import can_make_networks, in_private_network, island

PING = "exec 3<>/dev/tcp/127.0.0.1/{port} && echo PING >&3 && head -c 5 <&3"


def pings_around_a_pulled_cable():
    """Ask a store on our side from the island: before, while and after its cable is pulled."""
    with tempfile.TemporaryDirectory() as folder, store_server("redis", Path(folder)) as server, island() as made:
        reported = [_ping_until_it_answers(made, server.port)]
        made.pull()
        reported.append(_ping(made, server.port))
        made.plug()
        return [*reported, _ping_until_it_answers(made, server.port)]


def _ping_until_it_answers(made, port, tries=15):
    """Neighbours need a moment to find each other, and a busy machine more than a second to ask."""
    return next(filter(None, (_ping(made, port) for _ in range(tries))), "")


def _ping(made, port):
    command = made.command(["timeout", "1", "bash", "-c", PING.format(port=port)])
    return subprocess.run(command, capture_output=True, text=True).stdout


@pytest.mark.skipif(not can_make_networks(), reason="no rights to make a network")
def test_an_island_reaches_a_store_on_loopback_until_its_cable_is_pulled():
    function = "tests.servers.test_island:pings_around_a_pulled_cable"
    assert in_private_network(function, seconds=60) == ["+PONG", "", "+PONG"]
