"""Labelled texts for the classifiers, from the folder that THRESHER_WEBS names.

Documents are mappings from section to text: what a corpus calls title or subject is the headline, the rest the body.
Labels are a table of truth values, documents by classes, since a story of Reuters may have several topics.
"""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.compression import zstd

TEN = 10
REPEATS = 5
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Corpus:
    """Documents, their classes, and how they are split into training and test."""

    name: str
    documents: Sequence[Mapping[str, str]]
    classes: list[str]
    labels: NDArray[np.bool_]
    splits: list[Split]

    @property
    def several_labels(self) -> bool:
        """Whether a document may be of several classes, so that every class is a question of its own."""
        return bool((self.labels.sum(axis=1) != 1).any())


def lines(name: str) -> Iterator[str]:
    """Read the lines of a packed file of the folder."""
    path = Path(os.environ["THRESHER_WEBS"]) / name
    with zstd.ZstdFile(path) as packed:
        yield from io.TextIOWrapper(packed, encoding="utf-8", newline="\n")


def records(name: str) -> Iterator[dict[str, Any]]:
    """Read a packed file of JSON lines."""
    return map(json.loads, lines(f"{name}.jsonl.zst"))


def rows(name: str) -> Iterator[list[str]]:
    """Read a packed file of tab-separated lines."""
    return (line.rstrip("\n").split("\t") for line in lines(f"{name}.tsv.zst"))


def reuters() -> Corpus:
    """Reuters-21578, ModApte split: stories of exactly one topic, the ten topics with most training stories."""
    stories = [story for story in records("reuters21578") if _in_modapte(story) and len(story["topics"]) == 1]
    return _reuters("reuters", stories)


def reuters_binary() -> Corpus:
    """Reuters-21578, ModApte split: the ten largest topics, and all stories of at least one of them."""
    return _reuters("reuters-binary", [story for story in records("reuters21578") if _in_modapte(story)])


def _in_modapte(story: Mapping[str, Any]) -> bool:
    return story["modapte"] in ("train", "test")


def _reuters(name: str, stories: list[dict[str, Any]]) -> Corpus:
    training = Counter(topic for story in stories if story["modapte"] == "train" for topic in story["topics"])
    classes = [topic for topic, _ in training.most_common(TEN)]
    kept = [story for story in stories if set(story["topics"]) & set(classes)]
    documents = [{"headline": story["title"] or "", "body": story["body"] or ""} for story in kept]
    labels = _table((story["topics"] for story in kept), classes)
    return Corpus(name, documents, classes, labels, [_given(story["modapte"] == "train" for story in kept)])


def newsgroups(half: int) -> Corpus:
    """20 Newsgroups by date: every second group in alphabetical order, from the first or from the second."""
    posts = list(records("newsgroups20"))
    classes = sorted({post["group"] for post in posts})[half::2]
    kept = [post for post in posts if post["group"] in classes]
    labels = _table(([post["group"]] for post in kept), classes)
    split = _given(post["split"] == "train" for post in kept)
    return Corpus(f"newsgroups-{'ab'[half]}", [post_sections(post["text"]) for post in kept], classes, labels, [split])


def post_sections(text: str) -> Mapping[str, str]:
    """Part a post into subject and body; all other headers are left out, since they name people and machines."""
    # In this copy of the corpus lines end with a tab in training posts, and as they should in test posts.
    head, _, body = text.replace("\t", "\n").partition("\n\n")
    subjects = [line.partition(":")[2] for line in head.split("\n") if line.lower().startswith("subject:")]
    return {"headline": " ".join(subjects), "body": body}


def sogou() -> Corpus:
    """SogouC: Chinese news without titles, ten classes of 300, halves drawn five times."""
    articles = list(records("sogouc_3000_zh"))
    return _halves("sogou", [{"body": article["text"]} for article in articles], [a["label"] for a in articles])


def dmoz() -> Corpus:
    """ODP entries of Rhineland-Palatinate by county, in German: title and description, halves drawn five times."""
    entries = [row for row in rows("dmoz_entries_sample") if "/Landkreise/" in row[0]]
    counties = [row[0].partition("/Landkreise/")[2].split("/")[0] for row in entries]
    large = {county for county, count in Counter(counties).most_common(TEN) if count >= 100}
    kept = [(row, county) for row, county in zip(entries, counties, strict=True) if county in large]
    documents = [{"headline": row[2], "body": " ".join(row[3:])} for row, _ in kept]
    return _halves("dmoz", documents, [county for _, county in kept])


def thucnews() -> Corpus:
    """THUCNews titles, Chinese, ten classes: texts about as short as link text, and nothing but a headline."""
    titles = list(rows("thucnews_titles_zh"))
    classes = sorted({row[1] for row in titles})
    labels = _table(([row[1]] for row in titles), classes)
    split = _given(row[0] == "dev" for row in titles)
    return Corpus("thucnews", [{"headline": row[2]} for row in titles], classes, labels, [split])


CORPORA: Mapping[str, Callable[[], Corpus]] = {
    "reuters": reuters,
    "reuters-binary": reuters_binary,
    "newsgroups-a": lambda: newsgroups(0),
    "newsgroups-b": lambda: newsgroups(1),
    "dmoz": dmoz,
    "sogou": sogou,
    "thucnews": thucnews,
}


def _table(labels: Iterable[Iterable[str]], classes: list[str]) -> NDArray[np.bool_]:
    return np.array([[name in set(of_document) for name in classes] for of_document in map(list, labels)])


def _given(is_training: Iterable[bool]) -> Split:
    training = np.array(list(is_training))
    return np.flatnonzero(training), np.flatnonzero(~training)


def _halves(name: str, documents: Sequence[Mapping[str, str]], labels: list[str]) -> Corpus:
    from sklearn.model_selection import StratifiedShuffleSplit  # type: ignore[import-untyped]  # an optional part

    splitter = StratifiedShuffleSplit(REPEATS, train_size=0.5, test_size=0.5, random_state=0)
    splits = [(train, test) for train, test in splitter.split(np.zeros(len(labels)), labels)]
    classes = sorted(set(labels))
    return Corpus(name, documents, classes, _table(([label] for label in labels), classes), splits)
