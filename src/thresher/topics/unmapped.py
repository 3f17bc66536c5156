"""Tokens that URLs use often and that no topic is mapped to: candidates for the token table, after FCMRPS 3.5.

Tokens are counted in bounded memory after Misra and Gries: when too many are held, the same number is taken from every
count and those left with nothing go. A count is then too low by at most that number, which is never more than the
number of tokens seen divided by the capacity, and 0 as long as all of them fit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from thresher.topics.token_table import TokenTable
from thresher.urls.tokens import url_blocks

LEAST = 500
"""A token must be seen more often than this; the value is the paper's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmappedToken:
    """A token that is not in the table.

    Args:
        token: The token as it stands in URLs.
        count: How often it was seen, at least.
        example: One of the URLs that hold it.
        holds: Spellings of the table inside it, so that it counts for their topics already; those of three letters
            or fewer are left out, since they stand inside words of all kinds.
    """

    token: str
    count: int
    example: str
    holds: tuple[str, ...] = ()


class TokenCounter:
    """Counts the tokens of URLs, holding at most twice `capacity` of them.

    Args:
        least: What is seen more often than this is frequent.
        capacity: How many tokens are held after others had to go.
    """

    def __init__(self, *, least: int = LEAST, capacity: int = 200_000) -> None:
        self.least = least
        self.error = 0
        self.urls = 0
        self._capacity = capacity
        self._counts: dict[str, int] = {}
        self._examples: dict[str, str] = {}

    def add(self, url: str) -> None:
        """Count the tokens of a URL; a token that stands in it twice counts once."""
        self.urls += 1
        counts = self._counts
        for token in {token for block in url_blocks(url) for token in block}:
            count = counts[token] = counts.get(token, 0) + 1
            if count + self.error > self.least and token not in self._examples:
                self._examples[token] = url
        if len(counts) > 2 * self._capacity:
            self._make_room()

    def _make_room(self) -> None:
        going = sorted(self._counts.values(), reverse=True)[self._capacity]
        self.error += going
        self._counts = {token: count - going for token, count in self._counts.items() if count > going}
        self._examples = {token: url for token, url in self._examples.items() if token in self._counts}

    def frequent(self) -> list[tuple[str, int]]:
        """Give the frequent tokens and their least counts, most frequent first.

        None that was seen more than `least` times is missing; one seen up to `error` times less may be among them.
        """
        kept = [(token, count) for token, count in self._counts.items() if count + self.error > self.least]
        return sorted(kept, key=lambda item: (-item[1], item[0]))

    def example(self, token: str) -> str:
        """Give a URL that holds a frequent token."""
        return self._examples.get(token, "")


def unmapped(counter: TokenCounter, table: TokenTable, *, labels: Iterable[str] = ()) -> list[UnmappedToken]:
    """Give the frequent tokens that neither the table nor the topic's own labels know, most frequent first."""
    own = table.spellings(labels)
    long = [spelling for spelling in {*own, *_spellings(table)} if len(spelling) > 3 or not spelling.isascii()]
    found = []
    for token, count in counter.frequent():
        if token not in table and token not in own:
            holds = tuple(sorted((s for s in long if s in token), key=lambda s: (-len(s), s)))
            found.append(UnmappedToken(token=token, count=count, example=counter.example(token), holds=holds))
    return found


def _spellings(table: TokenTable) -> set[str]:
    return {spelling for row in table for spelling in row.spellings()}
