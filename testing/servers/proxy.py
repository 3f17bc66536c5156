"""A bad network as a process: ``python -m testing.servers.proxy PORT``.

It listens on a port of its own, prints it, and passes everything on to PORT until its input ends. Each line of input
is a `Weather` as JSON, or ``{}`` for no change; each is answered with a line of counts.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import asdict

import uvloop

from testing.servers.bad_network import ADDRESS, BadNetwork, Weather


async def main(port: int) -> None:
    """Serve until the input ends."""
    network = BadNetwork(port)
    server = await asyncio.start_server(network.serve, ADDRESS, 0)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while line := await orders.readline():
        if reported := json.loads(line):
            network.set(Weather(**reported))
        print(json.dumps(asdict(network.counts)), flush=True)
    os._exit(0)  # connections that are open end with the process, without many words


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
