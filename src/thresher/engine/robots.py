"""robots.txt after RFC 9309; Protego reads the rules, the rest of the standard is here.

2xx: the rules hold. 4xx: there are none, all may be fetched. 5xx or no answer: nothing may be fetched until it can
be read, so the host's URLs wait. What one worker read is shared with all through the frontier, for a day.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

from protego import Protego

from thresher.frontier.base import Frontier
from thresher.urls.host import host_key

logger = logging.getLogger(__name__)

KEPT_SECONDS = 24 * 3600.0
UNREACHABLE_SECONDS = 600.0
MAX_BYTES = 500 * 1024
MAX_REDIRECTS = 5
_CACHED = 2_000


@dataclass(frozen=True)
class RobotsFile:
    """A robots.txt as it was answered.

    Args:
        status: The HTTP status; 0 when no answer came.
        text: The rules; empty unless the status is 2xx.
        read_at: When, by the store's clock.
    """

    status: int
    text: str
    read_at: float
    token: str = field(default="Thresher", compare=False)

    @property
    def unreachable(self) -> bool:
        """Whether nothing may be fetched because nobody knows the rules."""
        return self.status == 0 or self.status >= 500

    @cached_property
    def _rules(self) -> Protego | None:
        try:
            return Protego.parse(self.text) if self.text else None
        except Exception:  # a file that breaks the parser holds no rules that a person could have meant
            logger.exception("robots.txt cannot be parsed")
            return None

    def allows(self, url: str) -> bool:
        """Tell whether a URL may be fetched."""
        return not self.unreachable and (self._rules is None or self._rules.can_fetch(url, self.token))

    @property
    def crawl_delay_seconds(self) -> float:
        """The pause that the site asks for; 0 when it does not."""
        delay = self._rules.crawl_delay(self.token) if self._rules else None
        return max(0.0, delay) if delay is not None and delay == delay else 0.0  # NaN is not equal to itself


def robots_url(url: str) -> str:
    """Return where the rules for a URL are: at the root of its scheme and authority."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/robots.txt"


class RobotsKeeper:
    """Remembers robots files, in this worker and for all of them."""

    def __init__(self, frontier: Frontier, *, token: str, clock: Callable[[], float] = time.time) -> None:
        self._frontier = frontier
        self._token = token
        self._clock = clock
        self._files: dict[str, RobotsFile] = {}

    async def file_for(self, url: str) -> RobotsFile | None:
        """Return the rules for a URL; None when they must be fetched first."""
        place = robots_url(url)
        file = self._files.get(place)
        if file is None and (note := await self._frontier.recall(host_key(url), place)):
            status, text, read_at = json.loads(note)
            file = self._keep(place, RobotsFile(status, text, read_at, self._token))
        if file is None or self._clock() >= file.read_at + _lifetime(file):
            return None
        return file

    async def learn(self, url: str, status: int, body: bytes) -> RobotsFile:
        """Take in an answer to the request for a robots.txt."""
        text = body[:MAX_BYTES].decode("utf-8-sig", "replace") if 200 <= status < 300 else ""
        file = RobotsFile(status, text, self._clock(), self._token)
        place = robots_url(url)
        note = json.dumps([file.status, file.text, file.read_at])
        await self._frontier.remember(host_key(url), place, note, seconds=_lifetime(file))
        return self._keep(place, file)

    def _keep(self, place: str, file: RobotsFile) -> RobotsFile:
        if len(self._files) >= _CACHED:
            del self._files[next(iter(self._files))]
        self._files[place] = file
        return file


def _lifetime(file: RobotsFile) -> float:
    return UNREACHABLE_SECONDS if file.unreachable else KEPT_SECONDS
