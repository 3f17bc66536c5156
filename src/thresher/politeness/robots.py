"""robots.txt after RFC 9309: the meaning of a response, how long it is cached, and its redirects.

2xx: the rules apply. 4xx: there are none, all may be fetched. 429, 5xx or no response: nothing may be fetched until the
file can be read, so the host's URLs wait, longer each time. Each response is cached by its own URL, a redirect too, so
that every hop can be requested in the turn of the host that it leads to. What one worker read is shared with all
through the frontier, for a day.

`rules_for` selects the groups of a robots.txt that apply to us; Protego then parses their rules. `statements_for`
returns their statements on uses of pages, which `parsing.opt_outs` parses.

A group is one or more user-agent lines and the rules after them. Only a rule, allow or disallow, ends the user-agent
lines of a group; lines that the standard does not define (a delay, a sitemap, a misprint) never do. All groups that
name our product token apply together; only when there is none, those for `*` do.
"""

from __future__ import annotations

import json
import logging
import math
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from protego import Protego

from thresher.frontier.base import SharedState
from thresher.parsing.opt_outs import LICENSE, ROBOTS_STATEMENTS, ROBOTS_TXT, is_licence, usage_signal
from thresher.reasons.legacy import stored_reason
from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import UsageSignal
from thresher.urls.canonical import host_key

ROBOTS_PATH = "/robots.txt"
MAX_LINE_CHARACTERS = 16_384
"""The rest of a longer line is ignored; no URL that is crawled is as long."""
MAX_STATEMENTS = 100
"""Further statements on uses are ignored: each with a path is compared with every URL."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_END = re.compile("[#\0]")  # a comment; a NUL byte ends a line as it ends a string in C
# A colon, or a blank where it was forgotten. The misprints are those that Protego understands.
_AGENT = re.compile(r"\s*user[- ]?agent\s*(?::|\s)\s*(.*)", re.IGNORECASE).match
_RULE = re.compile(r"\s*(?:allow|diss?all?ow|diasllow|disallaw)\s*(?::|\s|$)", re.IGNORECASE).match
_PACE = re.compile(r"\s*(?:crawl|request)[- ](?:delay|rate)\s*(?::|\s)", re.IGNORECASE).match
_DELAY = re.compile(
    r"(\s*crawl[- ]delay\s*(?::|\s)\s*\d+)(?:[.,](\d+))?\s*(?:s|secs?|seconds?)?\s*", re.IGNORECASE
).fullmatch
_STATEMENT = re.compile(rf"\s*({'|'.join(ROBOTS_STATEMENTS)})\s*:\s*(?:([/*]\S*)\s+)?(.*?)\s*", re.IGNORECASE).fullmatch
_TOKEN = re.compile(r"[A-Za-z_-]*").match
_HIDDEN_LINE_END = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # Python's idea of a line, not the standard's


def rules_for(text: str, token: str) -> str:
    """Return the rules that apply to a product token, as one group for `*`; empty when there are none."""
    lines = _lines_for(text, token, lambda line: _RULE(line) or _PACE(line))
    return "\n".join(["User-agent: *", *map(_one_line, lines)]) if lines else ""


class Statement(NamedTuple):
    """A statement on uses for a part of a host.

    Args:
        path: The path that it is about, with ``*`` and ``$`` as in robots.txt; empty for all.
        signal: What it says.
    """

    path: str
    signal: UsageSignal

    def is_about(self, url: str) -> bool:
        return not self.path or not Protego.parse(f"User-agent: *\nDisallow: {self.path}").can_fetch(url, "*")


def statements_for(text: str, token: str) -> list[Statement]:
    """Return the statements that apply to a product token; lines before the first group, and licences, apply to all."""
    if not any(name in text.lower() for name in ROBOTS_STATEMENTS):
        return []
    found = filter(None, map(_STATEMENT, _lines_for(text, token, _STATEMENT)[:MAX_STATEMENTS]))
    names = ((each[1].lower(), each[2] or "", each[3]) for each in found)
    return [
        Statement(path, usage_signal(ROBOTS_TXT, name, value))
        for name, path, value in names
        if name != LICENSE or is_licence(value)
    ]


def _lines_for(text: str, token: str, is_wanted: Callable[[str], object]) -> list[str]:
    """Return the wanted lines of the groups that apply to a product token."""
    named: list[str] = []
    general: list[str] = []
    is_named = for_us = for_all = after_rule = any_group = False
    for whole in _LINE_END.split(text):
        line = _END.split(whole[:MAX_LINE_CHARACTERS], 1)[0]
        if agent := _AGENT(line):
            any_group = True
            if after_rule:
                for_us = for_all = after_rule = False
            for_us = for_us or _names(agent[1], token)
            for_all = for_all or agent[1].split(maxsplit=1)[:1] == ["*"]
            is_named = is_named or for_us
        elif is_wanted(line):
            statement = _STATEMENT(line)
            is_global = statement and (not any_group or statement[1].lower() == "license")
            if for_us or is_global:
                named.append(line)
            if for_all or is_global:
                general.append(line)
        after_rule = after_rule or bool(_RULE(line))
    return named if is_named else general


def _names(agent: str, token: str) -> bool:
    """Return whether a user-agent line matches our token: ``Thresher/2.0`` does, ``Thresherbot`` does not."""
    found = _TOKEN(agent)
    return found is not None and found[0].lower() == token.lower()


def _one_line(line: str) -> str:
    """Write a line as Protego reads it: a delay as a plain number, no end of a line within."""
    if delay := _DELAY(line):
        return f"{delay[1]}.{delay[2] or 0}"
    return _HIDDEN_LINE_END.sub(lambda end: quote(end[0]), line)


logger = logging.getLogger(__name__)

DAY_SECONDS = 24 * 3600.0
KEPT_SECONDS = DAY_SECONDS
UNREACHABLE_SECONDS = 600.0
"""First pause before a file that could not be read is requested again; it doubles each time, up to a day."""
LOST_SECONDS = 30 * DAY_SECONDS
"""A file that could not be read for this long counts as missing."""
MAX_BYTES = 500 * 1024
MAX_REDIRECTS = 5
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xef\xbb", b"\xef")  # complete, or truncated by an editor
_CACHED_CHARACTERS = 4 << 20
_MEMORY_SECONDS = 2 * DAY_SECONDS  # further TTL of an unreadable file, to count its failures in a row


@dataclass(frozen=True, kw_only=True)
class RobotsAnswer:
    """One response to a request for a robots.txt, as all workers share it.

    Args:
        status: The HTTP status; 0 without a response.
        reason: Why there was no response, encoded.
        text: The rules; empty unless the status is 2xx.
        target: Target of a redirect.
        read_at: When, by the store's clock.
        until: When it expires.
        silent_since: Since when the file could not be read; 0 when it can be.
        tries: Failures in a row.
    """

    status: int
    read_at: float
    until: float
    reason: str = ""
    text: str = ""
    target: str = ""
    silent_since: float = 0.0
    tries: int = 0

    @property
    def why(self) -> Reason:
        """Why the file cannot be read."""
        if self.status:
            return Reason.of(ReasonKind.HTTP, self.status)
        return stored_reason(self.reason) or Reason(ReasonKind.NO_ANSWER)


@dataclass(frozen=True)
class RobotsFile:
    """The rules for one scheme and authority, after redirects.

    Args:
        status: The HTTP status of the last response; 0 without one.
        text: The file; empty unless the status is 2xx.
        until: When the rules expire, by the store's clock.
        trouble: Why the rules are unknown, so that nothing may be fetched; none when they are known.
    """

    status: int
    text: str
    until: float = math.inf
    token: str = field(default="Thresher", compare=False)
    trouble: Reason = NO_REASON

    @property
    def unreachable(self) -> bool:
        """Whether nothing may be fetched because the rules are unknown."""
        return bool(self.trouble)

    @cached_property
    def _rules(self) -> Protego | None:
        try:
            rules = rules_for(self.text, self.token)
            return Protego.parse(rules) if rules else None
        except Exception:  # a file that breaks the parser has no meaningful rules
            logger.exception("robots.txt cannot be parsed")
            return None

    def allows(self, url: str) -> bool:
        return not self.unreachable and (self._rules is None or self._rules.can_fetch(url, self.token))

    @cached_property
    def _statements(self) -> list[Statement]:
        return statements_for(self.text, self.token)

    def signals(self, url: str) -> list[UsageSignal]:
        """Return the usage signals for a URL; of the lines of a name, those for the longest path count."""
        about = [each for each in self._statements if each.is_about(url)]
        longest = {each.signal.statement: len(each.path) for each in sorted(about, key=lambda each: len(each.path))}
        return [each.signal for each in about if len(each.path) == longest[each.signal.statement]]

    @cached_property
    def crawl_delay_seconds(self) -> float:
        """The delay that the site requests, by Crawl-delay or Request-rate; 0 without one."""
        if self._rules is None:
            return 0.0
        delay = self._rules.crawl_delay(self.token) or 0.0
        rate = self._rules.request_rate(self.token)
        requested = max(delay, rate.seconds / rate.requests if rate else 0.0)
        return requested if math.isfinite(requested) else 0.0


def robots_url(url: str, path: str = ROBOTS_PATH) -> str:
    """Return the URL of the robots.txt for a URL, or of another file: at the root of its scheme and authority."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{path}"


def with_other_scheme(url: str) -> str:
    """Return a URL with http and https swapped."""
    scheme, colon, rest = url.partition(":")
    return f"{'http' if scheme == 'https' else 'https'}{colon}{rest}"


def is_unreachable(status: int) -> bool:
    """Return whether a status leaves the rules unknown: too many requests, a server error, or no response."""
    return status < 200 or status == 429 or status >= 500


class RobotsCache:
    """Caches robots.txt files in the memory of this worker, and in the frontier for all workers."""

    def __init__(self, frontier: SharedState, *, token: str, clock: Callable[[], float] = time.time) -> None:
        self._frontier = frontier
        self._token = token
        self.clock = clock
        self._files: dict[str, RobotsFile] = {}
        self._characters = 0

    async def file_for(self, url: str) -> RobotsFile | None:
        """Return the rules for a URL; None when they must be fetched first."""
        file = await self.look_up(url)
        return file if isinstance(file, RobotsFile) else None

    async def look_up(self, url: str, path: str = ROBOTS_PATH) -> RobotsFile | str:
        """Return the rules for a URL, or the URL that must be requested next to find them.

        Args:
            path: Of the file with the rules.
        """
        place = robots_url(url, path)
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
        """Return whether the response of a URL is cached and has not expired."""
        answer = await self._recall(place)
        return answer is not None and self.clock() < answer.until

    async def learn(
        self,
        place: str,
        status: int,
        body: bytes = b"",
        *,
        target: str = "",
        reason: Reason = NO_REASON,
        wait_seconds: float = 0.0,
    ) -> RobotsAnswer:
        """Cache the response to a request for rules.

        Args:
            place: The URL of a robots.txt, or the target of a redirect from one.
            status: The HTTP status; 0 without a response.
            target: Target of a redirect.
            reason: Why there was no response.
            wait_seconds: Retry-After of a busy server.
        """
        now = self.clock()
        answer = RobotsAnswer(
            status=status, read_at=now, until=now + KEPT_SECONDS, target=target, reason=reason.encoded
        )
        if is_unreachable(status):
            answer = _unreadable(answer, before=await self._recall(place), wait_seconds=wait_seconds)
        elif status < 300:
            answer = replace(answer, text=robots_text(body))
        seconds = answer.until - now + (_MEMORY_SECONDS if answer.tries else 0.0)
        await self._frontier.put_state(host_key(place), place, json.dumps(asdict(answer)), seconds=seconds)
        return answer

    async def _recall(self, place: str) -> RobotsAnswer | None:
        stored = await self._frontier.get_state(host_key(place), place)
        try:
            return RobotsAnswer(**json.loads(stored)) if stored else None
        except (ValueError, TypeError):  # written by another version; it is requested again
            return None

    def _keep(self, place: str, file: RobotsFile) -> RobotsFile:
        """Cache a file in memory, and evict the oldest ones beyond the size limit."""
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
    """Count one more failure in a row; each doubles the pause."""
    tries = before.tries + 1 if before else 1
    pause = max(UNREACHABLE_SECONDS * 2 ** min(tries - 1, 20), wait_seconds)
    since = before.silent_since if before and before.tries else answer.read_at
    until = answer.read_at + min(pause, DAY_SECONDS)
    return replace(answer, until=until, target="", silent_since=since, tries=tries)


def _weight(file: RobotsFile) -> int:
    return 1000 + len(file.text)


def _trouble(answer: RobotsAnswer) -> Reason:
    """Return why the rules are unknown; none when they are known, or count as none after `LOST_SECONDS`."""
    if not answer.tries or answer.read_at - answer.silent_since >= LOST_SECONDS:
        return NO_REASON
    return Reason.around(ReasonKind.ROBOTS_UNREADABLE, answer.tries, answer.why)


def robots_text(body: bytes) -> str:
    """Decode a file; of one that is too long, the complete lines within the limit."""
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES]
        body = body[: 1 + max(body.rfind(b"\n"), body.rfind(b"\r"))]
    for mark in _BYTE_ORDER_MARKS:
        body = body.removeprefix(mark)
    return body.decode("utf-8", "replace")
