"""Judges of crawls of several topics: one judge of the configured kind per topic, each with its own phrase and seeds.

The page of a topic's seed is an ordinary page for the other topics. The relevance of a page is the maximum over the
topics, and it is relevant when it is relevant to one of them (`Judgement.of_topics`).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from struct import Struct, error

from thresher.compression import zstd
from thresher.judges.base import Judge, Learner, Reasons, StateStore, reasons_of
from thresher.modelstate.by_topic import TopicState
from thresher.records import ONE_TOPIC, Judgement, ParsedPage, Revision, TermWeight, best_topic

_LENGTH = Struct("<I")


class MultiTopicJudge:
    """A judge of several topics.

    Args:
        judges: The judge of each topic, by its name.
    """

    def __init__(self, judges: Mapping[str, Judge]) -> None:
        self.judges = judges

    def judge(self, page: ParsedPage) -> Judgement:
        return Judgement.of_topics({name: judge.judge(page) for name, judge in self.judges.items()})

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        """Return the terms that counted for the topic with the highest relevance."""
        return self.judges[best_topic(self.judge(page).topics)].words(page)


class MultiTopicLearner(MultiTopicJudge):
    """A judge of several topics that learns each of them from the crawl."""

    judges: Mapping[str, Learner]

    def __init__(self, judges: Mapping[str, Learner]) -> None:
        super().__init__(judges)
        self._seeds: dict[str, set[str]] = defaultdict(set)

    @property
    def pages_seen(self) -> int:
        """Pages that the judge with the fewest has learned from."""
        return min(int(getattr(learner, "pages_seen", 0)) for learner in self.judges.values())

    def assign_seed(self, url: str, topics: Iterable[str]) -> None:
        """Take the page at a URL as a seed of these topics: a seed may be served at another URL than its own."""
        for name in topics:
            self._seeds[name].add(url)

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        """Learn from a page as a seed of its own topics; `seed` alone does not tell which these are."""
        return _merged(
            (name, learner.learn(page, seed=page.url in self._seeds[name])) for name, learner in self.judges.items()
        )

    def teach(self, labelled: Mapping[str, float | None]) -> Sequence[Revision]:
        return self.teach_topics(dict.fromkeys(self.judges, labelled))

    def teach_topics(self, labelled: Mapping[str, Mapping[str, float | None]]) -> Sequence[Revision]:
        return _merged((name, self.judges[name].teach(labels)) for name, labels in labelled.items() if labels)

    def vector(self, page: ParsedPage) -> bytes:
        """Return the vectors of all topics, each after its name and length."""
        vectors = {name: learner.vector(page) for name, learner in self.judges.items()}
        head = json.dumps({name: len(vector) for name, vector in vectors.items()}).encode()
        return _LENGTH.pack(len(head)) + head + b"".join(vectors.values())

    def judge_vector(self, url: str, language: str, vector: bytes) -> Judgement | None:
        """Judge a page for the topics whose vectors were stored; None when there is none of them."""
        judged: dict[str, Judgement] = {}
        for name, own in _vectors(vector):
            learner = self.judges.get(name)
            judgement = learner.judge_vector(url, language, own) if learner and own else None
            if judgement is not None:
                judged[name] = judgement
        return Judgement.of_topics(judged) if judged else None

    def reasons(self, page: ParsedPage, vector: bytes) -> Reasons:
        """Explain the judgement for the topic with the highest relevance."""
        judgement = self.judge_vector(page.url, page.language, vector)
        if judgement is None:
            return Reasons()
        best = best_topic(judgement.topics)
        return reasons_of(self.judges[best], page, dict(_vectors(vector))[best])

    def remembers(self, url: str) -> bool:
        return all(learner.remembers(url) for learner in self.judges.values())

    def load_state(self, state_store: StateStore) -> None:
        for name, learner in self.judges.items():
            learner.load_state(TopicState(state_store, name))

    def save_state(self) -> None:
        for learner in self.judges.values():
            learner.save_state()


def topics_judge(judges: Mapping[str, Judge]) -> Judge:
    """Combine the judges of all topics; the result learns if all of them do, and that of an only topic is itself."""
    if ONE_TOPIC in judges:
        return judges[ONE_TOPIC]
    learners = {name: judge for name, judge in judges.items() if isinstance(judge, Learner)}
    return MultiTopicLearner(learners) if len(learners) == len(judges) else MultiTopicJudge(judges)


def _merged(revisions: Iterable[tuple[str, Sequence[Revision]]]) -> list[Revision]:
    """Return one revision per page, with the topics whose judgements changed."""
    changed: dict[str, dict[str, Judgement]] = defaultdict(dict)
    for name, of_topic in revisions:
        for revision in of_topic:
            changed[revision.url][name] = revision.judgement
    return [Revision(url=url, judgement=Judgement.of_topics(topics)) for url, topics in changed.items()]


def check_vector(packed: bytes) -> None:
    """Check that what a learning judge of this package stored of a page, for one topic or several, can be read.

    Raises:
        ValueError: It is damaged.
    """
    from thresher.judges.adaptive.terms import TermVector  # here: commands that only read must not load numpy

    is_one = packed.startswith(zstd.FRAME_HEADER)
    for vector in [packed] if is_one else [own for _, own in _vectors(packed) if own]:
        TermVector.unpack(vector)


def _vectors(packed: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the vector of each topic.

    Raises:
        ValueError: They cannot be read.
    """
    try:
        [length] = _LENGTH.unpack_from(packed)
        start = _LENGTH.size + length
        sizes = json.loads(packed[_LENGTH.size : start])
        for name, size in sizes.items():
            yield name, packed[start : start + size]
            start += size
    except (error, AttributeError, TypeError) as damage:
        raise ValueError(f"the vectors of a page's topics are damaged: {damage}") from damage
