"""Every row of the table that is done: one entry each, in the order of the page.

To add a row, write a function without arguments that returns an `Outcome`, and name it in an entry. Its module is
imported when the row is run, no sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from tests.faults.table import Outcome


@dataclass(frozen=True)
class Entry:
    """A row to be filled.

    Args:
        fault: What is done to the crawler.
        promise: What must hold all the same.
        function: Fills the row in its full form: ``module:function``.
        test: The test that runs its quick form.
    """

    name: str
    fault: str
    promise: str
    function: str
    test: str

    def measure(self) -> Outcome:
        """Run the full form."""
        module, _, name = self.function.partition(":")
        fill: Callable[[], Outcome] = getattr(import_module(module), name)
        return fill()


ROWS = [
    Entry(
        "R1",
        "kill -9 of one of 4 workers, 20 times at random",
        "no URL lost; fetched twice at most 16 pages per kill, the requests a worker may have in flight",
        "tests.faults.kill:r1",
        "tests/faults/test_kill.py",
    ),
    Entry(
        "R2",
        "kill -9 of the run and its 4 workers, 5 times, same command again",
        "the crawl ends with the URLs of an undisturbed one; fetched twice at most 16 pages per killed worker",
        "tests.faults.kill:r2",
        "tests/faults/test_kill.py",
    ),
    Entry(
        "P1",
        "none: 4 workers, 200 hosts, delay 0.2 s",
        "one open request per host, gap at least the delay",
        "tests.faults.kill:p1",
        "tests/faults/test_kill.py",
    ),
    Entry(
        "P2",
        "P1 with 10 kills of a worker and 2 of everything",
        "one open request per host, gap at least the delay",
        "tests.faults.kill:p2",
        "tests/faults/test_kill.py",
    ),
    Entry(
        "P4",
        "robots.txt answered in 46 ways: statuses, redirects, other hosts, silence, resets, garbage, 600 KiB",
        "as RFC 9309 says; 429 and 5xx: nothing is fetched; every request keeps its host's delay",
        "tests.faults.robots:p4",
        "tests/faults/test_robots.py",
    ),
    Entry(
        "P5",
        "the questions of Google's and Protego's tests of rules, as our own data",
        "every verdict as RFC 9309 says",
        "tests.faults.robots:p5",
        "tests/faults/test_robots.py",
    ),
    Entry(
        "P6",
        "robots.txt forbids everything while the crawl goes on",
        "read again within a day, then no page is fetched",
        "tests.faults.robots:p6",
        "tests/faults/test_robots.py",
    ),
    Entry(
        "P7",
        "Crawl-delay 1, 20, 3600, -1, NaN, words; Request-rate; Retry-After in seconds, as a date, past, absurd",
        "obeyed; a host that asks for more than the cap is left alone",
        "tests.faults.robots:p7",
        "tests/faults/test_robots.py",
    ),
    Entry(
        "P8",
        "hosts that answer 429 or 503 to everything",
        "pauses double, then the host is parked",
        "tests.faults.robots:p8",
        "tests/faults/test_robots.py",
    ),
    Entry(
        "S1",
        "links, redirects, robots.txt and sitemaps to forms of private, reserved, wrapped and metadata addresses",
        "refused with a reason, before any connection",
        "tests.faults.guard:s1",
        "tests/faults/test_guard.py",
    ),
    Entry(
        "S2",
        "name servers that rebind to 127.0.0.1, mix addresses, alias to localhost, give no time to live, fail or flood",
        "only an address that was checked is dialled",
        "tests.faults.guard:s2",
        "tests/faults/test_guard.py",
    ),
    Entry(
        "S3",
        "links and redirects to file:, data:, ftp:, s3:, gopher:, javascript: and others",
        "dropped; nothing is opened",
        "tests.faults.guard:s3",
        "tests/faults/test_guard.py",
    ),
    Entry(
        "S4",
        "links, redirects, robots.txt and seeds to the ports of mail servers, databases and others",
        "refused; nobody is connected to",
        "tests.faults.guard:s4",
        "tests/faults/test_guard.py",
    ),
    Entry(
        "S6",
        "URLs with quotes, line breaks, commands of Redis, SQL and Lua",
        "stored as data, told as they came",
        "tests.faults.smuggling:s6",
        "tests/faults/test_injection.py",
    ),
    Entry(
        "S7",
        "passwords in URLs, cookies, 401, 407, .netrc, proxies in the environment",
        "none sent to anybody",
        "tests.faults.injection:s7",
        "tests/faults/test_injection.py",
    ),
    Entry(
        "S8",
        "heads of 200 MB, 100,000 fields, lines of 1 MB, folded, announced again and again; Referrer-Policy: os.system",
        "cut off at 256 KiB in total; memory grows by at most 64 MiB; nothing runs",
        "tests.faults.injection:s8",
        "tests/faults/test_injection.py",
    ),
    Entry(
        "H1",
        "gzip, deflate, br and zstd bombs of 10 GiB, packed once and thrice, as pages and robots.txt",
        "memory grows by at most 64 MiB for any of them; all at once, other pages are taken",
        "tests.faults.bombs:h1",
        "tests/faults/test_bombs.py",
    ),
    Entry(
        "H2",
        "bodies without an end, with wrong or no length, with broken chunks, of a few bytes a second",
        "30 s and 10 MiB at most; what came is kept and called truncated",
        "tests.faults.bombs:h2",
        "tests/faults/test_bombs.py",
    ),
    Entry(
        "H3",
        "200 tarpits that send a byte a second, heads or bodies, before the pages of 20 good hosts",
        "good hosts keep 80 % of their speed",
        "tests.faults.slow:h3",
        "tests/faults/test_slow.py",
    ),
    Entry(
        "H4",
        "deep and wide markup, endless attributes, links, entities, NULs; a parser that never returns",
        "2 s of processor time or given up; at most 1,000 links; other pages are taken",
        "tests.faults.bombs:h4",
        "tests/faults/test_bombs.py",
    ),
    Entry(
        "H5",
        "charsets that are not what is declared: GBK as UTF-8, GB18030, Big5, UTF-16 without a mark, mixed",
        "the text is read as it was written: at least 98 % of the titles",
        "tests.faults.text:h5",
        "tests/faults/test_text.py",
    ),
    Entry(
        "H6",
        "redirect loops, chains, ever new hosts, pages that refresh at once",
        "5 redirects are followed, then the URL has failed",
        "tests.faults.hops:h6",
        "tests/faults/test_hops.py",
    ),
    Entry(
        "H7",
        "8 traps among 50 good sites: calendar, session ids, /a/b/a/b, facets, soft 404s, pagination, hashes, babble",
        "at most 2 % of fetches in traps, at most 40 in one; no good page missed",
        "tests.faults.traps:h7",
        "tests/faults/test_traps.py",
    ),
    Entry(
        "H8",
        "a maze of Markov text about the topic",
        "left after at most 40 requests; after 150 when every page links home",
        "tests.faults.traps:h8",
        "tests/faults/test_traps.py",
    ),
    Entry(
        "H9",
        "sitemaps: 1,000,000 URLs, 50 nested indexes, one that lists itself, other hosts, XXE, billion laughs, a bomb",
        "10,000 URLs and 3 indexes deep at most, no entities, own host only, memory grows by at most 64 MiB",
        "tests.faults.sitemaps:h9",
        "tests/faults/test_sitemaps.py",
    ),
    Entry(
        "H10",
        "10,000 cookies",
        "ignored: requests do not grow",
        "tests.faults.injection:h10",
        "tests/faults/test_injection.py",
    ),
    Entry(
        "H11",
        "hostile text of 10 MB for every regular expression that a crawl uses",
        "linear: none takes more than 20 s",
        "tests.faults.text:h11",
        "tests/faults/test_text.py",
    ),
    Entry(
        "H12",
        "fuzzed addresses, and the cases of the URL standard",
        "canonical URLs are fixed points; nothing raises",
        "tests.faults.text:h12",
        "tests/faults/test_text.py",
    ),
    Entry(
        "H13",
        "the same pages on 20 hosts",
        "one kept of exact copies, at most two of copies with canonical links; all other pages kept",
        "tests.faults.traps:h13",
        "tests/faults/test_traps.py",
    ),
    Entry(
        "D3",
        "escape sequences, direction marks and line breaks in titles, anchors, addresses and reasons",
        "no command and no log prints one raw",
        "tests.faults.outputs:d3",
        "tests/faults/test_outputs.py",
    ),
    Entry(
        "D4",
        "CSV cells that start a formula",
        "an apostrophe before each; as they came with --raw",
        "tests.faults.outputs:d4",
        "tests/faults/test_outputs.py",
    ),
    Entry(
        "D5",
        "model files: pickle, joblib, arrays of objects, packed zeros, dimensions of 10 GB, paths inside",
        "refused; nothing runs; memory grows by at most 64 MiB",
        "tests.faults.outputs:d5",
        "tests/faults/test_outputs.py",
    ),
    Entry(
        "D6",
        "topic.yaml with tags, anchors, bare no, keys given twice, depth, control characters",
        "refused with the number of the line; nothing runs",
        "tests.faults.outputs:d6",
        "tests/faults/test_outputs.py",
    ),
    Entry(
        "D7",
        "names of hosts, paths, topics and webs that would lead elsewhere",
        "no file is written outside the crawl's folder",
        "tests.faults.outputs:d7",
        "tests/faults/test_outputs.py",
    ),
]
