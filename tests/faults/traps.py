"""Sites that make up pages without end, mazes of topical babble, and mirrors (rows H7, H8 and H13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from random import Random
from typing import Any
from urllib.parse import urlsplit

from testing.recording_server import Answer, Generated, Request, Script, page, recorder
from testing.recording_server.words import NAMES, SENTENCES, TOPIC_SENTENCES, TOPIC_WORDS
from tests.faults.dry import dry_run
from tests.faults.live import crawl
from tests.faults.table import Outcome

DEFAULTS: dict[str, Any] = {
    "strategy": {"name": "best-first"},
    "scope": {"max_pages_per_host": 1000, "max_depth": 12, "first_pages_per_host": 50, "traps": "leave"},
    "engine": {"timeout_seconds": 20.0, "lease_seconds": 30.0},
}
"""What a user gets who writes nothing about it, and more time than a busy machine needs."""

TRAPS = ["calendar", "sessions", "nested", "facets", "soft404", "pagination", "hashes", "markov"]
MAX_SHARE = 0.02
MAX_PAGES_PER_TRAP = 40
MAX_PAGES_WITH_HOME = 150
MIRRORS = 20


def good(request: Request, pages: int = 200, hosts: int = 50, traps: bool = True) -> Answer | int:
    """A site with an end: a home page, sections, and articles that link home, to their section and to each other."""
    number = int(request.host[4:].partition(".")[0])
    sections = pages // 20
    random = Random(request.host + request.path)
    menu = {"/": "Home", **{f"/section-{section}/": f"Section {section}" for section in range(sections)}}
    if request.path == "/":
        links = {**menu, **{f"http://good{other}.test/": "A friend" for other in range(number + 1, hosts, number + 1)}}
        if traps:
            links |= {f"http://{trap}.trap.test/in/": "More" for trap in TRAPS[number % 2 :: 2]}
    elif request.path in menu:
        section = int(request.path[9:-1])
        links = menu | {article(number, other): f"Article {other}" for other in range(section, pages, sections)}
    else:
        known = {article(number, other): other for other in range(pages)}
        if request.path not in known:
            return 404
        links = menu | {article(number, random.randrange(pages)): "See also" for _ in range(3)}
    about_topic = request.path == "/" or random.random() < 0.4
    chosen = random.choices(TOPIC_SENTENCES if about_topic else SENTENCES, k=10)
    title = f"{' '.join(random.sample(TOPIC_WORDS, 2))} " * about_topic + " ".join(chosen[0].split()[:4])
    return page(title, ". ".join(chosen), links)


def article(number: int, place: int) -> str:
    """Return where an article is: on every other site it has a number, else a name."""
    return f"/articles/{place}" if number % 2 else f"/{NAMES[place % 64]}-{NAMES[place // 64]}-{place % 7}.html"


def pagination(request: Request) -> Answer:
    """A list that goes on for ever."""
    number = int((request.query or "page=0").rpartition("=")[2])
    links = {f"{request.path}?page={other}": f"Page {other}" for other in {max(number - 1, 0), number + 1, number + 10}}
    return page(f"Results, page {number}", f"Results {number * 10} to {number * 10 + 9} of very many.", links)


def hashes(request: Request, links: int = 6) -> Answer:
    """Babble under hexadecimal names."""
    random = Random(request.target)
    others = {f"/in/{random.getrandbits(64):016x}": SENTENCES[random.randrange(4096)] for _ in range(links)}
    return page("Archive", ". ".join(random.choices(SENTENCES, k=8)), others)


def soft_404(request: Request, links: int = 5) -> Answer:
    """Status 200 for whatever is asked, with the name of what is not there."""
    random = Random(request.target)
    others = {f"/{'-'.join(random.choices(NAMES, k=3))}.html": "Try this instead" for _ in range(links)}
    return page("Not found", f"Sorry, there is no page called {request.path}. Please look elsewhere.", others)


def babble(request: Request, links: int = 8, home: bool = False) -> Answer:
    """A maze of Markov text about the topic, made from true sentences; with a link home on every page, if asked."""
    random = Random(request.host + request.target)
    word = random.choice(_WORDS)
    words = [word]
    for _ in range(250):
        word = random.choice(_FOLLOWERS.get(word, _WORDS))
        words.append(word)
    found = {
        f"/{'-'.join(random.choices(NAMES, k=2))}/{random.choice(NAMES)}-{random.choice(NAMES)}.html": " ".join(
            random.sample(words, 4)
        )
        for _ in range(links)
    }
    return page(" ".join(words[:6]), " ".join(words), ({"/in/": "Home"} if home else {}) | found)


def walled(request: Request) -> Answer:
    """A maze that stays in its folder."""
    random = Random(request.target)
    links = {f"/maze/{'-'.join(random.choices(NAMES, k=3))}.html": "On" for _ in range(6)}
    return page("Maze", ". ".join(random.choices(TOPIC_SENTENCES, k=8)), links)


_WORDS = " ".join(TOPIC_SENTENCES[:400]).split()
_FOLLOWERS: dict[str, list[str]] = {}
for _word, _follower in pairwise(_WORDS):
    _FOLLOWERS.setdefault(_word, []).append(_follower)

_OWN = "tests.faults.traps:"
_MAZES = {
    "calendar": Generated("calendar"),
    "sessions": Generated("sessions", {"parameter": "token"}),
    "nested": Generated("nested"),
    "facets": Generated("facets"),
    "soft404": Generated(_OWN + "soft_404"),
    "pagination": Generated(_OWN + "pagination"),
    "hashes": Generated(_OWN + "hashes"),
    "markov": Generated(_OWN + "babble"),
}


@dataclass(frozen=True)
class Trapped:
    """A crawl of good sites with traps among them.

    Args:
        fetches: Requests for pages, by trap; "good" for all good sites.
        missed: Good pages that the crawl without traps brought, and the one with traps did not.
        parked: Why each trap was left; empty where it ended by itself.
    """

    fetches: Counter[str]
    recall: float
    missed: int
    parked: dict[str, str]

    @property
    def share(self) -> float:
        """The share of all fetches that went into traps."""
        return 1 - self.fetches["good"] / self.fetches.total()


def trapped(hosts: int, pages: int, *, live_seconds: float = 0.0) -> Trapped:
    """Crawl good sites twice, without traps and with them, until nothing is left; over sockets when given time."""
    before, _, _ = _good_crawl(hosts, pages, False, live_seconds)
    after, fetches, parked = _good_crawl(hosts, pages, True, live_seconds)
    return Trapped(fetches, len(after & before) / len(before), len(before - after), parked)


def _good_crawl(
    hosts: int, pages: int, traps: bool, live_seconds: float
) -> tuple[set[str], Counter[str], dict[str, str]]:
    site = Generated(_OWN + "good", {"pages": pages, "hosts": hosts, "traps": traps})
    script: dict[str, Any] = {f"good{number}.test": {"/robots.txt": 404, "/*": site} for number in range(hosts)}
    script |= {f"{name}.trap.test": {"/robots.txt": 404, "/*": maze} for name, maze in _MAZES.items()}
    reported = _crawl(script, ["http://good0.test/"], live_seconds)
    fetches = Counter(name.partition(".")[0] if "trap" in name else "good" for name in reported.asked)
    known = {name: reported.hosts.get(f"{name}.trap.test", {"parked": "never asked"}) for name in TRAPS}
    left = {name: host["parked"] or "; ".join(map(str, host["left_alone"].values())) for name, host in known.items()}
    return {url for url in reported.kept if "//good" in url}, fetches, left


@dataclass(frozen=True)
class FinishedCrawl:
    """A crawl that is over: the hosts of all requests, the pages without copies, and what is known of hosts."""

    asked: list[str]
    kept: set[str]
    hosts: dict[str, dict[str, Any]]


def _crawl(script: Script, seeds: Sequence[str], live_seconds: float) -> FinishedCrawl:
    """Crawl to the end: over sockets when given time, else without."""
    if not live_seconds:
        run = dry_run(script, seeds, DEFAULTS)
        hosts = {name: {**asdict(host), "left_alone": run.left.get(name, {})} for name, host in run.hosts.items()}
        return FinishedCrawl([urlsplit(url).netloc for url in run.asked], run.kept, hosts)
    with recorder(script) as w:
        result = crawl(w, seeds, DEFAULTS, seconds=live_seconds)
        asked = [hit.host for hit in w.hits() if hit.path != "/robots.txt"]
    if result.exit_code:
        raise RuntimeError(f"the crawl ended with {result.exit_code}: {result.stderr[-500:]}")
    return FinishedCrawl(asked, {page["url"] for page in result.pages if not page["duplicate_of"]}, result.hosts)


def lost_in(maze: Generated, *, live_seconds: float = 0.0) -> tuple[int, int, str]:
    """Enter a maze from a good site; return the requests to it, its relevant pages, and why it was left."""
    script: dict[str, Any] = {
        "good0.test": {"/robots.txt": 404, "/*": Generated(_OWN + "good", {"pages": 40, "hosts": 1, "traps": False})},
        "maze.test": {"/robots.txt": 404, "/*": maze},
    }
    reported = _crawl(script, ["http://good0.test/", "http://maze.test/in/"], live_seconds)
    host = reported.hosts["maze.test"]
    why = host["parked"] or "; ".join(map(str, host["left_alone"].values()))
    return reported.asked.count("maze.test"), host["relevant"], why


def mirror(request: Request, named: bool = False) -> Answer | int:
    """One of many hosts with the same ten pages, and five of its own; with canonical links its copies are not exact."""
    if request.path == "/":
        links = [*(f"/shared-{name}" for name in NAMES[:10]), *(f"/own-{name}" for name in NAMES[:5])]
        return page(request.host, f"Welcome to {request.host}, {SENTENCES[hash_of(request.host)]}", links)
    own = request.path.startswith("/own-")
    chosen = Random(request.host * own + request.path).choices(TOPIC_SENTENCES, k=8)
    text, head = ". ".join(chosen), ""
    if named and not own:
        text += f". Served by {request.host}"
        head = f'<link rel="canonical" href="http://mirror0.test{request.path}">'
    return Answer(body=f"<html><head><title>{request.path}</title>{head}</head><body><p>{text}</p></body></html>")


def hash_of(text: str) -> int:
    """Number a text, the same in every process, for a choice of sentences."""
    return Random(text).randrange(len(SENTENCES))


@dataclass(frozen=True)
class Mirrored:
    """What was kept of mirrors: of each shared page how often, and how many of the pages that are like no other."""

    copies: Counter[str]
    own: int
    own_kept: int


def mirrored(hosts: int, *, named: bool, live_seconds: float = 0.0) -> Mirrored:
    """Crawl `hosts` hosts with the same pages."""
    maze = Generated(_OWN + "mirror", {"named": named})
    names = [f"mirror{number}.test" for number in range(hosts)]
    script: dict[str, Any] = {name: {"/robots.txt": 404, "/*": maze} for name in names}
    reported = _crawl(script, [f"http://{name}/" for name in names], live_seconds)
    paths = [urlsplit(url).path for url in reported.kept]
    copies = Counter(path for path in paths if path.startswith("/shared-"))
    return Mirrored(copies, 5 * hosts, sum(path.startswith("/own-") for path in paths))


def h7() -> Outcome:
    """Eight traps among fifty good sites, without sockets; and a smaller crawl over sockets, by the server's log."""
    full, live = trapped(50, 200), trapped(6, 60, live_seconds=600)
    in_traps = full.fetches.total() - full.fetches["good"]
    most = max(count for run in (full, live) for name, count in run.fetches.items() if name != "good")
    return Outcome(
        held=full.share <= MAX_SHARE and full.missed == live.missed == 0 and most <= MAX_PAGES_PER_TRAP,
        figure=f"{in_traps} of {full.fetches.total()} fetches in 8 traps ({full.share:.2%}), at most {most} in one; "
        f"{full.missed} of the good pages of 50 sites missed (without sockets); over sockets, 6 good sites of 60 "
        f"articles: {live.fetches.total() - live.fetches['good']} fetches in 8 traps, {live.missed} good pages missed",
    )


def h8() -> Outcome:
    """A maze of topical Markov text, plain and with a link home on every page."""
    plain = lost_in(Generated(_OWN + "babble"), live_seconds=300)
    home = lost_in(Generated(_OWN + "babble", {"home": True}), live_seconds=300)
    return Outcome(
        held=plain[0] <= MAX_PAGES_PER_TRAP and home[0] <= MAX_PAGES_WITH_HOME,
        figure=f"left after {plain[0]} requests, {plain[1]} pages of which the judge took for relevant; "
        f"with a link home on every page after {home[0]} ({home[1]})",
    )


def h13() -> Outcome:
    """The same pages on twenty hosts: exact copies, and copies with canonical links."""
    exact = mirrored(MIRRORS, named=False, live_seconds=300)
    named = mirrored(MIRRORS, named=True, live_seconds=300)
    own, kept = exact.own + named.own, exact.own_kept + named.own_kept
    held = set(exact.copies.values()) == {1} and max(named.copies.values()) <= 2 and own == kept
    return Outcome(
        held=held and len(exact.copies) == len(named.copies) == 10,
        figure=f"10 pages on {MIRRORS} hosts: {exact.copies.total()} kept of exact copies, {named.copies.total()} of "
        f"copies that name the original (2 where a copy came first); {kept} of {own} pages like no other kept",
    )
