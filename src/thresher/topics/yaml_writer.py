"""Generation of topic.yaml, which the user then edits."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import yaml

from thresher.config.renamed_keys import with_current_names
from thresher.topics.topic import TopicDefinition

MAX_NAME_CHARACTERS = 50


def topic_yaml(
    topic: TopicDefinition,
    *,
    name: str,
    strategy: str,
    contact: str,
    allow: Sequence[str] = (),
    taxonomy: Mapping[str, Any] | None = None,
    examples: Mapping[str, Any] | None = None,
    topics: Mapping[str, Mapping[str, Any]] | None = None,
    languages: Sequence[str] = (),
) -> str:
    """Return the text of a new topic.yaml: the given values, and the settings that users change first."""
    lines = [
        f"name: {_flow(name)}",
        f"title: {_flow(dict(topic.title))}",
        f"languages: {_flow(list(languages))}         # pages in other languages are not relevant"
        if languages
        else "languages: auto                       # those of the phrases and seeds; pages in others are not relevant",
        *([f"about: {_flow(dict(topic.about))}"] if topic.about else []),
        f"keywords: {_flow(list(topic.keywords))}",
        *([f"taxonomy: {_flow(dict(taxonomy))}"] if taxonomy else []),
        *([f"examples: {_flow(dict(examples))}"] if examples else []),
        *_topic_lines(topics or {}),
        "seeds: [seeds.txt]",
        f"strategy: {_flow({'name': strategy})}",
        "scope: {deny_hosts: [], max_pages_per_host: 1000, max_depth: 12}",
        "stop: {pages: 50000}                  # also: relevant, minutes, harvest_below",
        f"politeness: {_flow({'contact': contact, 'delay_seconds': 2, 'robots': 'obey'})}",
        "output: {keep_irrelevant: false}",
        "store: sqlite",
        f"network: {_flow({'allow': list(allow)})}                   # private addresses are refused unless listed",
    ]
    return "\n".join(lines) + "\n"


def _topic_lines(topics: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the lines of several topics, one line for each."""
    if not topics:
        return []
    head = "topics:                               # also of each: pages, the relevant pages wanted"
    return [head, *(f"  {_flow(name)}: {_flow(dict(topic))}" for name, topic in topics.items())]


def topic_name(text: str, taken: Collection[str] = ()) -> str:
    """Make the name of one of several topics from its phrase or its node: letters, digits and hyphens."""
    name = "-".join(re.findall(r"\w+", text.lower()))[:MAX_NAME_CHARACTERS] or "topic"
    return next(free for free in (name, *map(f"{name}-{{}}".format, range(2, len(taken) + 3))) if free not in taken)


def with_settings(text: str, settings: Mapping[str, Any]) -> str:
    """Return a topic.yaml with some of its keys changed; nested mappings are merged."""
    document: dict[str, Any] = yaml.safe_load(text)
    for key, value in with_current_names(settings).items():
        before = document.get(key)
        both = isinstance(value, Mapping) and isinstance(before, Mapping)
        document[key] = {**before, **value} if both else value  # type: ignore[dict-item]
    return "".join(f"{key}: {_flow(value)}\n" for key, value in document.items())


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, allow_unicode=True, default_flow_style=True, width=10_000, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")
