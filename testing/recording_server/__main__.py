"""Run the recording server.

``python -m testing.recording_server --pages 2000 --hosts 40 --log hits.csv``, or with ``--script FILE``.

A script is a .json or .py file; with one there is no generated site unless --pages asks for it. The first line on
standard output is JSON: the port and, for a script, the port for TLS and the address of every name. Then it serves
until SIGTERM, until its standard input ends (with --until-stdin-ends, so that it never outlives the test that started
it), or until --max-seconds have passed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from testing.recording_server.data import read_script
from testing.recording_server.log import HitLog
from testing.recording_server.places import place
from testing.recording_server.script import Router
from testing.recording_server.server import CONTROL_ADDRESS, Answers, Server, bind
from testing.recording_server.site import Site

FLUSH_SECONDS = 0.1


def arguments() -> argparse.ArgumentParser:
    """Return the options of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m testing.recording_server", description="A web site that logs every request."
    )
    add = parser.add_argument
    add("--log", type=Path, required=True, help="file for the log, written anew")
    add("--port", type=int, default=0, help="0 finds a free one")
    add("--pages", type=int, help="of the generated site; 2000, and none beside a script")
    add("--hosts", type=int, default=40)
    add("--page-bytes", type=int, default=2048)
    add("--links", type=int, default=10, help="links on every page")
    add("--topic-share", type=float, default=0.5, help="share of the pages that are on topic")
    add("--skew", type=float, default=1.0, help="above 1 crowds pages onto the first hosts")
    add("--seed", type=int, default=0)
    add("--script", type=Path, help="what is answered, by host and path")
    add("--one-address", action="store_true", help="all names of the script share an address")
    add("--robots", choices=["allow", "404"], default="allow")
    add("--latency", type=float, default=0.0, metavar="SECONDS", help="least time to a response")
    add("--jitter", type=float, default=0.0, metavar="SECONDS", help="random time added to the latency, at most")
    add("--max-seconds", type=float, default=3600.0, help="stop by itself after this time")
    add("--until-stdin-ends", action="store_true", help="stop when standard input ends")
    return parser


async def serve(options: argparse.Namespace) -> None:
    """Serve until stopped."""
    script = read_script(options.script) if options.script else None
    site = _site(options)
    known = site.addresses if site else []
    places = place(script or {}, taken=known, one_address=options.one_address)
    sockets = bind(list(dict.fromkeys([CONTROL_ADDRESS, *known, *places.values()])), options.port)
    reported = {"port": sockets[0].getsockname()[1], "places": places}
    with options.log.open("w", encoding="ascii") as file:
        server = Server(_answers(options, site, reported["port"]), HitLog(file), Router(script) if script else None)
        await server.listen(sockets)
        if script:
            from thresher_lab.webs.server import _certificate  # slow to import, and only scripts speak TLS

            secure = bind([places["*"]], 0)
            reported["tls_port"] = secure[0].getsockname()[1]
            await server.listen(secure, _certificate())
        print(json.dumps(reported), flush=True)
        await _until_stopped(server, options)
        server.close()


def _site(options: argparse.Namespace) -> Site | None:
    if options.pages is None:
        options.pages = 0 if options.script else 2000
    names = ("pages", "hosts", "page_bytes", "links", "topic_share", "skew", "seed")
    return Site(**{name: getattr(options, name) for name in names}) if options.pages else None


def _answers(options: argparse.Namespace, site: Site | None, port: int) -> Answers | None:
    if site is None:
        return None
    site.page_numbers, site.on_topic  # noqa: B018 - computed before the first request comes
    return Answers(
        site=site,
        port=port,
        robots=options.robots,
        latency_seconds=options.latency,
        jitter_seconds=options.jitter,
    )


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
