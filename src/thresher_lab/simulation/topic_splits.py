"""Dev and test topics of a web: for tuning a strategy, and for its test.

The lists are in ``splits.json``, each topic with the number of its pages. The rule, the same for every web:

1. Topics with 20 to 800 pages take part. Of a hierarchy, those of its second level and those of its first that have
   none below them; never ``other``, which is no topic.
2. A topic that shares half of its pages or more with a larger one that takes part is left out, so that no
   test topic is learned under another name.
3. The names, in the order of their characters, are shuffled by ``random.Random("thresher splits 1: <web>")``. The
   first third is dev, rounded to the nearest whole, the rest is test.
4. The archipelago has the first 4 dev and the first 8 test topics of each island, under the island's name: every
   island weighs alike, and no topic changes sides.

Both lists stay in shuffled order, so the beginning of a list is a fair sample too. Strategies are tuned on dev
topics; what is quoted comes from test topics.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from random import Random
from typing import Any, Literal

from thresher.errors import ConfigError

Side = Literal["dev", "test"]

MIN_TARGETS, MAX_TARGETS = 20, 800
ARCHIPELAGO_TOPICS: dict[Side, int] = {"dev": 4, "test": 8}
"""Number of topics of each island in the archipelago."""


def split(web: str, side: Side) -> list[str]:
    """Return the dev or the test topics of a web; a wider view of a web, such as ``webkb+misc``, has the same ones.

    Raises:
        ConfigError: The web has no split.
    """
    webs = _read()["webs"]
    name = web.partition("+")[0]
    if name not in webs:
        raise ConfigError(
            f"no {side} topics are set down for the web {web!r}, only for: {', '.join(sorted(webs))}; name the topics"
        )
    return list(webs[name][side])


def both_sides(web: str) -> list[str]:
    """Return all topics of a web's split; none when it has no split."""
    sides = _read()["webs"].get(web.partition("+")[0], {})
    return [*sides.get("dev", ()), *sides.get("test", ())]


@cache
def _read() -> dict[str, Any]:
    text = (resources.files(__package__) / "splits.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def eligible(pages: Mapping[str, frozenset[int]]) -> list[str]:
    """Choose the topics that take part in a split: rules 1 and 2.

    Args:
        pages: Every topic of a web and the numbers of its pages.
    """
    inner = {topic.rpartition("/")[0] for topic in pages}
    sized = [
        topic
        for topic, own in pages.items()
        if MIN_TARGETS <= len(own) <= MAX_TARGETS and topic != "other" and _is_of_the_level(topic, inner)
    ]
    chosen: list[str] = []
    for topic in sorted(sized, key=lambda topic: (-len(pages[topic]), topic)):
        if all(2 * len(pages[topic] & pages[larger]) < len(pages[topic]) for larger in chosen):
            chosen.append(topic)
    return sorted(chosen)


def _is_of_the_level(topic: str, inner: set[str]) -> bool:
    return topic.count("/") == 1 or (topic.count("/") == 0 and topic not in inner)


def draw(web: str, topics: Iterable[str]) -> dict[Side, list[str]]:
    """Split the topics of a web into dev and test: rule 3."""
    names = sorted(topics)
    Random(f"thresher splits 1: {web}").shuffle(names)  # noqa: S311 - no secret
    third = round(len(names) / 3)
    return {"dev": names[:third], "test": names[third:]}


def gather(islands: Mapping[str, Mapping[Side, Sequence[str]]]) -> dict[Side, list[str]]:
    """Collect the sides of the islands' topics: rule 4."""
    return {
        side: [f"{island}/{topic}" for island, sides in islands.items() for topic in sides[side][:most]]
        for side, most in ARCHIPELAGO_TOPICS.items()
    }
