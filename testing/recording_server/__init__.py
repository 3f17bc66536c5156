"""The recording server: a web server in its own process that writes down every request it gets, by its own clock.

It serves a generated finite site (`running(site, log)`), a script (`recorder(script)`), or a site with a script beside
it (`recorder(script, site=…)`; the script is asked first). Its log is the only source of politeness figures::

    script = {
        "good.test": {"/": page("Solar", "perovskite solar cells", ["/a", "http://bad.test/"]), "/a": "<p>text</p>"},
        "bad.test": {"/robots.txt": 503},
    }
    with recorder(script) as w:
        w.url("good.test", "/a")       # http://good.test/a
        w.connect_to                   # for network.connect_to in topic.yaml; every name leads to the recording server
        w.hits("bad.test")             # start_ns, sent_ns, end_ns, host, status, path, headers, sent_bytes, left
        w.report(delay_seconds=0.2)    # .open_at_once, .violations, .shortest_gap_seconds, .hosts["good.test"]

**Hosts** are names (``good.test``; ``good.test:8080`` for another port), addresses (``127.0.0.7``; then URLs carry
the port: `w.url` knows), ``*.maze.test`` for all names under one, and ``*``. Each name has an address of its own,
unless `one_address=True`. Ports 80 and 443 of every other name lead here too, and find a 404: nothing is dialled
outside. Any name can be asked over TLS: ``w.url("good.test", "/", scheme="https")``.

**Paths** are exact (``/a?b=1``, or ``/a`` for every query), ``/prefix*``, or ``~/page-[0-9]+`` for a regular
expression. What is not scripted is 404.

**Values** are text or bytes (a page), a number (a status), an `Answer`, a `Generated` one, or a list of these: the
k-th request for a host and path gets the k-th of them, the last one for good::

    "/robots.txt": [text("User-agent: *\\nAllow: /"), text("User-agent: *\\nDisallow: /")]      # it changes
    "/a": Answer(status=418, headers=[("X-Robots-Tag", "nofollow"), ("X-Robots-Tag", "noindex")])  # a name twice
    "/b": Answer(body=Fill(size=50_000_000, pattern="<b>", start="<title>Deep</title>"))         # made while sent
    "/c": endless("<p>more</p>")                            # a body without an end
    "/d": bomb(10 << 30, "gzip")                            # deflate, raw-deflate, br, zstd; several nest
    "/sitemap.xml.gz": Answer(body=Packed(body=xml, declared=False), content_type="application/gzip")
    "/e": Answer(wait_seconds=5, body="late")               # a wait before the head
    "/f": drip(bytes_per_second=1)                          # or Answer(bytes_per_second=…, body=…)
    "/g": slow_head(1)                                      # headers byte by byte
    "/h": hang()                                            # never answers; Answer(hang_after=100, …) after 100 bytes
    "/i": reset()                                           # Answer(reset_after=100, …) after 100 bytes of the body
    "/j": Answer(close_after=100, body="x" * 1000)          # closed early
    "/k": Answer(content_length=5000, body="short")         # a wrong length, then closed
    "/l": Answer(framing="close", body="…")                 # no length at all; "chunked"; "broken" chunks
    "/m": redirect("/n", 301)
    "/hops/*": Generated("hops", {"count": 6})              # /hops/0 → /hops/1 → … → /hops/6
    "/o": busy(429, retry_after=120)                        # or 503, or a date, or anything
    "/p": echo()                                            # the request's headers as JSON; hits have them anyway
    "/q": Answer(many_headers=(100_000, 100))               # 100,000 more fields of 100 bytes, sent as made
    "/r": Answer(raw_head=b"HTTP/1.1 200 OK\\r\\nbroken\\n\\n", body="…")   # any bytes for a head
    "/calendar": Generated("calendar")                      # sessions, facets, nested, soft_404, markov, ever_new_hosts
    "/own/*": Generated("tests.faults.traps:my_maze", {"depth": 3})   # def my_maze(request, depth): return page(…)

A function of a script must be deterministic; it runs in the recording server. `request` has host, address, target,
path, query, headers, method, number (1 for the first request of its kind), port and tls.

Scripts can come from a file: ``python -m testing.recording_server --script site.py --log hits.csv`` where site.py says
``SCRIPT = {…}``, or JSON as `testing.recording_server.data` writes it.
In-process: ``Server(None, log, Router(script))``.
"""

from testing.recording_server.answers import (
    bomb,
    busy,
    drip,
    echo,
    endless,
    hang,
    page,
    redirect,
    reset,
    slow_head,
    text,
)
from testing.recording_server.log import Hit
from testing.recording_server.process import Recorder, recorder, running
from testing.recording_server.script import Answer, Fill, Generated, Packed, Request, Script

__all__ = [
    "Answer",
    "Fill",
    "Generated",
    "Hit",
    "Packed",
    "Recorder",
    "Request",
    "Script",
    "bomb",
    "busy",
    "drip",
    "echo",
    "endless",
    "hang",
    "page",
    "recorder",
    "redirect",
    "reset",
    "running",
    "slow_head",
    "text",
]
