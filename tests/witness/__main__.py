"""Run the witness: ``python -m tests.witness --pages 2000 --hosts 40 --log hits.csv``.

The first line on standard output is JSON with the port; then it serves until SIGTERM, until its standard input ends
(with --until-stdin-ends, so that it never outlives the test that started it), or until --max-seconds have passed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from tests.witness.log import HitLog
from tests.witness.server import CONTROL_ADDRESS, Answers, Server, bind
from tests.witness.site import Site

FLUSH_SECONDS = 0.1


def arguments() -> argparse.ArgumentParser:
    """Return the options of the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.witness", description="A web site that logs every request.")
    add = parser.add_argument
    add("--log", type=Path, required=True, help="file for the log, written anew")
    add("--port", type=int, default=0, help="0 finds a free one")
    add("--pages", type=int, default=2000)
    add("--hosts", type=int, default=40)
    add("--page-bytes", type=int, default=2048)
    add("--links", type=int, default=10, help="links on every page")
    add("--topic-share", type=float, default=0.5, help="share of the pages that are on topic")
    add("--skew", type=float, default=1.0, help="above 1 crowds pages onto the first hosts")
    add("--seed", type=int, default=0)
    add("--robots", choices=["allow", "404"], default="allow")
    add("--latency", type=float, default=0.0, metavar="SECONDS", help="least time to a response")
    add("--jitter", type=float, default=0.0, metavar="SECONDS", help="random time added to the latency, at most")
    add("--max-seconds", type=float, default=3600.0, help="stop by itself after this time")
    add("--until-stdin-ends", action="store_true", help="stop when standard input ends")
    return parser


async def serve(options: argparse.Namespace) -> None:
    """Serve until told to stop."""
    names = ("pages", "hosts", "page_bytes", "links", "topic_share", "skew", "seed")
    site = Site(**{name: getattr(options, name) for name in names})
    sockets = bind([CONTROL_ADDRESS, *site.addresses], options.port)
    port = sockets[0].getsockname()[1]
    answers = Answers(
        site=site,
        port=port,
        robots=options.robots,
        latency_seconds=options.latency,
        jitter_seconds=options.jitter,
    )
    site.page_numbers, site.on_topic  # noqa: B018 - computed before the first request comes
    with options.log.open("w", encoding="ascii") as file:
        server = Server(answers, HitLog(file))
        await server.listen(sockets)
        print(json.dumps({"port": port}), flush=True)
        await _until_stopped(server, options)
        server.close()


async def _until_stopped(server: Server, options: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    loop.add_signal_handler(signal.SIGINT, stopped.set)
    if options.until_stdin_ends:
        loop.add_reader(sys.stdin, stopped.set)
    deadline = loop.time() + options.max_seconds
    while not stopped.is_set() and loop.time() < deadline:
        try:
            await asyncio.wait_for(stopped.wait(), FLUSH_SECONDS)
        except TimeoutError:
            server.log.flush()


if __name__ == "__main__":
    asyncio.run(serve(arguments().parse_args()))
