"""Traps, generated: every page is the same each time it is asked for, and leads to more of its kind.

Each function takes the request and plain arguments, and returns what may stand in a script; `Generated` names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from itertools import pairwise
from random import Random
from urllib.parse import parse_qsl, urlencode

from testing.recording_server import words
from testing.recording_server.answers import page, redirect
from testing.recording_server.script import Answer, Request


def calendar(request: Request, first: str = "2026-01-01") -> Answer:
    """A day per page, ``…?date=2026-01-01``, with links to the day before, the day after and the next month."""
    day = date.fromisoformat(dict(parse_qsl(request.query)).get("date", first))
    days = [day + timedelta(days=step) for step in (-1, 1, 31)]
    links = {f"{request.path}?date={other}": f"{other:%d %B %Y}" for other in days}
    return page(f"{day:%A, %d %B %Y}", f"No events on {day:%d %B %Y}.", links)


def sessions(request: Request, pages: int = 5, parameter: str = "sid") -> Answer:
    """A few pages, each under endless names: every link carries a new session id."""
    number = int(dict(parse_qsl(request.query)).get("page", "0"))
    random = Random(request.target)
    links = {
        f"{request.path}?page={other}&{parameter}={random.getrandbits(128):032x}": f"Part {other}"
        for other in range(pages)
    }
    return page(f"Part {number}", words.TOPIC_SENTENCES[number], links)


def facets(request: Request, facets: int = 8, values: int = 6) -> Answer:
    """A shop whose filters can be combined: one more value of each facet per link."""
    chosen = dict(parse_qsl(request.query))
    names = [f"facet{number}" for number in range(facets)]
    sets = [{**chosen, name: str((int(chosen.get(name, "0")) + 1) % values)} for name in names]
    links = {f"{request.path}?{urlencode(each)}": f"More of {name}" for each, name in zip(sets, names, strict=True)}
    return page("Goods", f"Goods with {', '.join(chosen.values()) or 'anything'}.", links)


def nested(request: Request, names: Sequence[str] = ("a", "b")) -> Answer:
    """Relative links that make the path longer for ever: /a/b/a/b/…"""
    folder = request.path if request.path.endswith("/") else request.path + "/"
    return page("Folder", f"You are in {folder}.", {f"{folder}{name}/": name for name in names})


def soft_404(request: Request, links: int = 5) -> Answer:
    """Status 200 for whatever is asked: the page says that there is none, and links to others that are not there."""
    random = Random(request.target)
    others = {f"/{'-'.join(random.choices(words.NAMES, k=3))}.html": "Try this instead" for _ in range(links)}
    return page("Page not found", "Sorry, the page you asked for is not here. Look elsewhere.", others)


def markov(
    request: Request, links: int = 8, length: int = 300, topic: Sequence[str] = tuple(words.TOPIC_WORDS)
) -> Answer:
    """A maze of babble: text of a Markov chain stuffed with the topic's words, links to more of it."""
    random = Random(request.host + request.target)
    babble = list(_chain(random, length))
    for place in range(0, length, 6):
        babble[place] = random.choice(topic)
    folder = request.path.rpartition("/")[0]
    if folder.count("/") > 3:
        folder = ""
    links_to = {
        f"{folder}/{'-'.join(random.choices(words.NAMES, k=2))}/{_name(random)}": _anchor(babble, random)
        for _ in range(links)
    }
    return page(" ".join(babble[:6]), " ".join(babble), links_to)


def hops(request: Request, count: int) -> Answer:
    """A chain of redirects: …/0 leads to …/1 and so on; …/count is a page."""
    folder, _, number = request.path.rpartition("/")
    hop = int(number or "0")
    return redirect(f"{folder}/{hop + 1}") if hop < count else page("Arrived", words.TOPIC_SENTENCES[hop])


def ever_new_hosts(request: Request, domain: str) -> Answer:
    """A redirect to a host that nobody has seen before; needs ``*.domain`` in the script."""
    return redirect(f"http://h{Random(request.host + request.target).getrandbits(48):x}.{domain}{request.path}")


def _chain(random: Random, length: int) -> Iterable[str]:
    word = random.choice(list(_FOLLOWERS))
    for _ in range(length):
        yield word
        word = random.choice(_FOLLOWERS.get(word) or list(_FOLLOWERS))


def _name(random: Random) -> str:
    return f"{random.choice(words.NAMES)}.html"


def _anchor(babble: Sequence[str], random: Random) -> str:
    start = random.randrange(len(babble) - 4)
    return " ".join(babble[start : start + 4])


def _followers(sentences: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for sentence in sentences:
        for word, follower in pairwise(sentence.split()):
            found.setdefault(word, []).append(follower)
    return found


_FOLLOWERS = _followers(words.TOPIC_SENTENCES[:500])
