"""The judgements for several topics are stored with a page, revised one by one, and counted."""

import asyncio
from dataclasses import replace

import pytest

from tests.unit.storage.test_collection import page
from thresher.records import Judgement, Revision
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint


def judged(breakdown=None, **relevances):
    topics = {
        name: Judgement(relevance=relevance, relevant=relevance >= 0.5, breakdown=breakdown or {"of": relevance})
        for name, relevance in relevances.items()
    }
    return Judgement.of_topics(topics)


def record(number, **relevances):
    own = judged(**relevances)
    url = page(number).url
    return page(
        number,
        fingerprint=fingerprint(url),
        relevance=own.relevance,
        relevant=own.relevant,
        parts=own.breakdown,
        topics=own.topics,
    )


@pytest.fixture
def writer(tmp_path):
    writer = PageStoreWriter(tmp_path / "w1.db")
    yield writer
    writer.close()


def revise(writer, number, **relevances):
    return asyncio.run(writer.revise([Revision(url=page(number).url, judgement=judged(**relevances))]))


def relevances(record):
    return {name: judgement.relevance for name, judgement in record.topics.items()}


def test_a_page_has_a_judgement_for_every_topic(writer, tmp_path):
    writer.write([record(1, solar=0.9, tea=0.2)])
    with PageStoreReader(tmp_path) as collection:
        [stored] = collection.ranked()
    assert relevances(stored) == {"solar": 0.9, "tea": 0.2}
    assert (stored.relevance, stored.relevant) == (0.9, True)


def test_a_revision_of_one_topic_keeps_the_others(writer, tmp_path):
    writer.write([record(1, solar=0.9, tea=0.2)])
    assert revise(writer, 1, solar=0.1) == {"a.example": -1}
    with PageStoreReader(tmp_path) as collection:
        [stored] = collection.ranked()
    assert relevances(stored) == {"solar": 0.1, "tea": 0.2}
    assert (stored.relevance, stored.relevant, stored.parts) == (0.2, False, {})
    revise(writer, 1, tea=0.8)
    with PageStoreReader(tmp_path) as collection:
        [stored] = collection.ranked()
    assert (stored.relevance, stored.relevant, stored.parts) == (0.8, True, {"of": 0.8})


def test_a_page_of_two_topics_counts_for_both_and_a_later_row_replaces_the_earlier(writer, tmp_path):
    writer.write([record(1, solar=0.9, tea=0.9), record(2, solar=0.1, tea=0.7), record(3, solar=0.1, tea=0.1)])
    with PageStoreReader(tmp_path) as collection:
        assert collection.topic_tallies() == {"solar": 1, "tea": 2}
        assert collection.tally().relevant == 2
    writer.write([record(1, solar=0.2, tea=0.9)])
    with PageStoreReader(tmp_path) as collection:
        assert {name: number for name, number in collection.topic_tallies().items() if number} == {"tea": 2}


def test_pages_are_ranked_for_one_topic_by_its_judgements(writer, tmp_path):
    writer.write([record(1, solar=0.9, tea=0.3), record(2, solar=0.1, tea=0.7), page(3, relevance=1.0)])
    with PageStoreReader(tmp_path) as collection:
        ranked = list(collection.ranked(topic="tea"))
        assert [(each.relevance, each.relevant) for each in ranked] == [(0.7, True), (0.3, False)]
        assert [each.relevance for each in collection.ranked(topic="tea", relevant=True)] == [0.7]


def test_the_rank_of_a_relevance_counts_each_page_once_by_its_last_row(writer, tmp_path):
    writer.write([record(1, solar=0.9, tea=0.3), record(2, solar=0.1, tea=0.7), record(3, solar=0.2, tea=0.2)])
    writer.write([record(1, solar=0.6, tea=0.3), page(4, relevance=1.0, duplicate_of=7)])
    with PageStoreReader(tmp_path) as collection:
        assert collection.rank(0.7) == (1, 3)
        assert collection.rank(0.6) == (2, 3)
        assert collection.rank(0.6, topic="solar") == (1, 3)
        assert collection.rank(0.2, topic="tea") == (3, 3)


def test_the_pages_nearest_to_a_relevance_are_found_by_the_judgements_for_one_topic(writer, tmp_path):
    judgements = [{"solar": 0.9, "tea": 0.3}, {"solar": 0.1, "tea": 0.7}, {"solar": 0.5, "tea": 0.1}]
    writer.write([replace(record(number, **each), text="x") for number, each in enumerate(judgements)])
    with PageStoreReader(tmp_path) as collection:
        found = collection.near(0.5, 1, topic="tea")
        assert [each.relevance for each in found] == [0.7, 0.3]
        assert [each.relevance for each in collection.near(0.6, 1)] == [0.7, 0.5]
