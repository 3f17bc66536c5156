"""robots.txt after RFC 9309: what an answer means, how long it holds, and which redirects lead to it.

2xx: the rules hold. 4xx: there are none, all may be fetched. 429, 5xx or no answer: nothing may be fetched until the
file can be read, so the host's URLs wait, longer each time. Each answer is kept by itself, a redirect too, so that
every hop can be asked for in the turn of the host that it leads to. What one worker read is shared with all through
the frontier, for a day.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from urllib.parse import urlsplit

from protego import Protego

from thresher.engine.robots_groups import rules_for
from thresher.frontier.base import Frontier
from thresher.urls.host import host_key

logger = logging.getLogger(__name__)

DAY_SECONDS = 24 * 3600.0
KEPT_SECONDS = DAY_SECONDS
UNREACHABLE_SECONDS = 600.0
"""First pause before a file that could not be read is asked for again; it doubles each time, up to a day."""
LOST_SECONDS = 30 * DAY_SECONDS
"""A file that nobody could read for so long counts as missing."""
MAX_BYTES = 500 * 1024
MAX_REDIRECTS = 5
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xef\xbb", b"\xef")  # whole, or what a careless editor left of it
_CACHED_CHARACTERS = 4 << 20
_MEMORY_SECONDS = 2 * DAY_SECONDS  # how long it is known since when a file cannot be read, if nobody asks again


@dataclass(frozen=True, kw_only=True)
class RobotsAnswer:
    """One answer to a request for a robots.txt, as all workers remember it.

    Args:
        status: The HTTP status; 0 when no answer came.
        reason: For people: why no answer came.
        text: The rules; empty unless the status is 2xx.
        target: Where a redirect leads.
        read_at: When, by the store's clock.
        until: Until when it holds.
        silent_since: Since when the file could not be read; 0 when it can.
        tries: How often it could not, in a row.
    """

    status: int
    read_at: float
    until: float
    reason: str = ""
    text: str = ""
    target: str = ""
    silent_since: float = 0.0
    tries: int = 0


@dataclass(frozen=True)
class RobotsFile:
    """The rules for one scheme and authority, wherever redirects led to find them.

    Args:
        status: The HTTP status of the last answer; 0 when none came.
        text: The file; empty unless the status is 2xx.
        until: Until when the rules hold, by the store's clock.
        trouble: Why nothing may be fetched: nobody knows the rules. Empty when they are known.
    """

    status: int
    text: str
    until: float = math.inf
    token: str = field(default="Thresher", compare=False)
    trouble: str = ""

    @property
    def unreachable(self) -> bool:
        """Whether nothing may be fetched because nobody knows the rules."""
        return bool(self.trouble)

    @cached_property
    def _rules(self) -> Protego | None:
        try:
            rules = rules_for(self.text, self.token)
            return Protego.parse(rules) if rules else None
        except Exception:  # a file that breaks the parser holds no rules that a person could have meant
            logger.exception("robots.txt cannot be parsed")
            return None

    def allows(self, url: str) -> bool:
        """Tell whether a URL may be fetched."""
        return not self.unreachable and (self._rules is None or self._rules.can_fetch(url, self.token))

    @cached_property
    def crawl_delay_seconds(self) -> float:
        """The pause that the site asks for, by Crawl-delay or Request-rate; 0 when it does not."""
        if self._rules is None:
            return 0.0
        delay = self._rules.crawl_delay(self.token) or 0.0
        rate = self._rules.request_rate(self.token)
        asked = max(delay, rate.seconds / rate.requests if rate else 0.0)
        return asked if math.isfinite(asked) else 0.0


def robots_url(url: str) -> str:
    """Return where the rules for a URL are: at the root of its scheme and authority."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/robots.txt"


def with_other_scheme(url: str) -> str:
    """Return the same URL over https, or over http."""
    scheme, colon, rest = url.partition(":")
    return f"{'http' if scheme == 'https' else 'https'}{colon}{rest}"


def is_unreachable(status: int) -> bool:
    """Tell whether a status leaves the rules unknown: too many requests, a server's error, or no answer at all."""
    return status < 200 or status == 429 or status >= 500


class RobotsKeeper:
    """Remembers robots files, in this worker and for all of them."""

    def __init__(self, frontier: Frontier, *, token: str, clock: Callable[[], float] = time.time) -> None:
        self._frontier = frontier
        self._token = token
        self.clock = clock
        self._files: dict[str, RobotsFile] = {}
        self._characters = 0

    async def file_for(self, url: str) -> RobotsFile | None:
        """Return the rules for a URL; None when they must be fetched first."""
        file = await self.look_up(url)
        return file if isinstance(file, RobotsFile) else None

    async def look_up(self, url: str) -> RobotsFile | str:
        """Return the rules for a URL, or the address that must be asked next to find them."""
        place = robots_url(url)
        file = self._files.get(place)
        if file and self.clock() < file.until:
            return file
        target, until = place, math.inf
        for _ in range(1 + MAX_REDIRECTS):
            answer = await self._recall(target)
            if answer is None or answer.until <= self.clock():
                return target
            until = min(until, answer.until)
            if not answer.target:
                return self._keep(place, RobotsFile(answer.status, answer.text, until, self._token, _trouble(answer)))
            target = answer.target
        return self._keep(place, RobotsFile(404, "", until, self._token))  # too many redirects: no rules

    async def knows(self, place: str) -> bool:
        """Tell whether an address was asked already, and its answer still holds."""
        answer = await self._recall(place)
        return answer is not None and self.clock() < answer.until

    async def learn(
        self,
        place: str,
        status: int,
        body: bytes = b"",
        *,
        target: str = "",
        reason: str = "",
        wait_seconds: float = 0.0,
    ) -> RobotsAnswer:
        """Take in the answer of an address that was asked for rules.

        Args:
            place: The address: a robots.txt, or where a redirect from one led.
            status: The HTTP status; 0 when no answer came.
            body: What came.
            target: Where a redirect leads.
            reason: Why no answer came.
            wait_seconds: How long a busy server asked us to wait.
        """
        now = self.clock()
        answer = RobotsAnswer(status=status, read_at=now, until=now + KEPT_SECONDS, target=target, reason=reason)
        if is_unreachable(status):
            answer = _unreadable(answer, before=await self._recall(place), wait_seconds=wait_seconds)
        elif status < 300:
            answer = replace(answer, text=_text(body))
        seconds = answer.until - now + (_MEMORY_SECONDS if answer.tries else 0.0)
        await self._frontier.remember(host_key(place), place, json.dumps(asdict(answer)), seconds=seconds)
        return answer

    async def _recall(self, place: str) -> RobotsAnswer | None:
        note = await self._frontier.recall(host_key(place), place)
        try:
            return RobotsAnswer(**json.loads(note)) if note else None
        except (ValueError, TypeError):  # another version wrote it down; it is asked for again
            return None

    def _keep(self, place: str, file: RobotsFile) -> RobotsFile:
        """Remember a file in this worker, and forget the oldest ones rather than grow without end."""
        self._forget(place)
        self._files[place] = file
        self._characters += _weight(file)
        while self._characters > _CACHED_CHARACTERS and len(self._files) > 1:
            self._forget(next(iter(self._files)))
        return file

    def _forget(self, place: str) -> None:
        if old := self._files.pop(place, None):
            self._characters -= _weight(old)


def _unreadable(answer: RobotsAnswer, *, before: RobotsAnswer | None, wait_seconds: float) -> RobotsAnswer:
    """Count a failure on top of those before it; each doubles the pause."""
    tries = before.tries + 1 if before else 1
    pause = max(UNREACHABLE_SECONDS * 2 ** min(tries - 1, 20), wait_seconds)
    since = before.silent_since if before and before.tries else answer.read_at
    until = answer.read_at + min(pause, DAY_SECONDS)
    return replace(answer, until=until, target="", silent_since=since, tries=tries)


def _weight(file: RobotsFile) -> int:
    return 1000 + len(file.text)


def _trouble(answer: RobotsAnswer) -> str:
    """Say why the rules are unknown; empty when they are known, or were lost for so long that they count as none."""
    if not answer.tries or answer.read_at - answer.silent_since >= LOST_SECONDS:
        return ""
    why = f"http {answer.status}" if answer.status else answer.reason or "no answer"
    times = f", {answer.tries} times in a row" if answer.tries > 1 else ""
    return f"robots.txt cannot be read: {why}{times}"


def _text(body: bytes) -> str:
    """Decode a file; of one that is too long, the whole lines of its first part."""
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES]
        body = body[: 1 + max(body.rfind(b"\n"), body.rfind(b"\r"))]
    for mark in _BYTE_ORDER_MARKS:
        body = body.removeprefix(mark)
    return body.decode("utf-8", "replace")
