"""When the judge changes its mind, the page store and the queue follow, in the right order."""

import asyncio

from thresher.feedback.topic_counts import publish_topic_counts
from thresher.feedback.updates import NEEDS_PAGES, REJUDGE_BATCH, JudgementUpdater, rejudge_segments
from thresher.records import ONE_TOPIC, Candidate, Judgement, Lease, Link, Outcome, ParsedPage, Revision, Settlement
from thresher.storage.page_store import PageRecord, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.strategies.baselines import BreadthFirst
from thresher.strategies.best_first import BestFirst
from thresher.strategies.topics import MultiTopicStrategy
from thresher.urls.canonical import fingerprint
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

A, B = "http://a.example/", "http://b.example/"


def revision(url, relevance):
    return Revision(url=url, judgement=Judgement(relevance=relevance, relevant=relevance > 0.5))


class Archive:
    def __init__(self):
        self.revised = []

    async def revise(self, revisions):
        self.revised += [(each.url, each.judgement.relevance) for each in revisions]
        return {}


class Fickle:
    """Thinks of some pages again whenever it learns."""

    def __init__(self, *revisions):
        self.revisions, self.learned, self.written = list(revisions), [], 0
        self.reported, self.forgotten = {}, set()

    def judge(self, page):
        return Judgement(relevance=0.5, relevant=False)

    def words(self, page):
        return []

    def vector(self, page):
        return page.url.encode()

    def judge_vector(self, url, language, vector):
        return Judgement(relevance=0.9, relevant=True)

    def learn(self, page, *, seed=False):
        self.learned.append((page.url, seed))
        return self.revisions

    def teach(self, reported):
        self.reported.update(reported)
        return []

    def remembers(self, url):
        return url not in self.forgotten

    def load_state(self, state_store):
        pass

    def save_state(self):
        self.written += 1


class World:
    def __init__(self, judge, strategy):
        self.archive, self.frontier, self.strategy = Archive(), MemoryFrontier(), strategy
        self.updater = JudgementUpdater(judge=judge, strategy=strategy, frontier=self.frontier, archive=self.archive)


async def test_a_revision_reaches_the_page_store():
    world = World(Fickle(revision(A, 0.9)), BreadthFirst())
    await world.updater.learn(ParsedPage(url=B), seed=False)
    await world.updater.settled(B)
    assert world.archive.revised == [(A, 0.9)]


async def test_a_page_that_is_under_way_is_not_revised_before_it_is_settled():
    world = World(Fickle(revision(A, 0.9)), BreadthFirst())
    await world.updater.learn(ParsedPage(url=A), seed=False)
    await world.updater.learn(ParsedPage(url=B), seed=False)
    await world.updater.settled(B)
    assert world.archive.revised == []
    await world.updater.settled(A)
    assert world.archive.revised == [(A, 0.9)]


async def test_the_queue_follows_before_the_page_is_settled():
    world = World(Fickle(revision(A, 0.9)), BreadthFirst())
    await world.updater.learn(ParsedPage(url=B), seed=False)
    assert world.archive.revised == [(A, 0.9)]


async def test_the_last_thought_counts():
    judge = Fickle(revision(A, 0.9))
    world = World(judge, BreadthFirst())
    await world.updater.learn(ParsedPage(url=A), seed=False)
    judge.revisions = [revision(A, 0.2)]
    await world.updater.learn(ParsedPage(url=B), seed=False)
    await world.updater.settled(A)
    assert world.archive.revised == [(A, 0.2)]


async def test_waiting_links_of_a_revised_page_are_scored_again():
    world = World(Fickle(revision(A, 0.9)), BestFirst())
    page = ParsedPage(url=A, links=(Link(url="http://c.example/"),))
    lease = Lease(url=A, host="a.example", score=1.0, fence=1, until=1.0)
    await world.frontier.add(list(world.strategy.score(page, Judgement(relevance=0.2, relevant=False), lease)))
    await world.frontier.add([Candidate(url="http://d.example/", score=0.4)])
    await world.updater.learn(ParsedPage(url=B), seed=False)
    await world.updater.settled(B)
    assert [(entry.url, entry.score) for entry in await world.frontier.peek(2)] == [
        ("http://c.example/", 0.9),
        ("http://d.example/", 0.4),
    ]


async def test_the_judge_is_notified_of_seeds_and_writes_down_at_the_end():
    judge = Fickle()
    world = World(judge, BestFirst())
    await world.updater.learn(ParsedPage(url=A), seed=True)
    world.updater.close()
    assert (judge.learned, judge.written) == ([(A, True)], 1)


async def test_a_judge_that_does_not_learn_is_left_alone():
    class Plain:
        def judge(self, page):
            return Judgement(relevance=0.5, relevant=False)

        def words(self, page):
            return []

    world = World(Plain(), BestFirst())
    await world.updater.learn(ParsedPage(url=A), seed=True)
    await world.updater.settled(A)
    world.updater.close()
    assert world.archive.revised == []


async def test_what_a_person_says_reaches_judge_page_store_and_queue():
    judge = Fickle(revision(B, 0.3))
    world = World(judge, BestFirst())
    page = ParsedPage(url=A, links=(Link(url="http://c.example/"),))
    lease = Lease(url=A, host="a.example", score=1.0, fence=1, until=1.0)
    await world.frontier.add(list(world.strategy.score(page, Judgement(relevance=0.8, relevant=True), lease)))
    await world.updater.teach({ONE_TOPIC: {A: False}})
    assert judge.reported == {A: False}
    assert world.archive.revised == [(A, 0.0)]
    assert [entry.score for entry in await world.frontier.peek(1)] == [0.0]


async def test_a_labelled_page_that_the_judge_has_no_longer_is_learned_once_more():
    judge = Fickle()
    judge.forgotten = {A}
    world = World(judge, BreadthFirst())
    await world.updater.teach({ONE_TOPIC: {A: True, B: None}}, lambda url: ParsedPage(url=url, text="kept"))
    assert judge.learned == [(A, False)]


async def test_a_label_of_a_page_under_way_waits_for_its_record():
    world = World(Fickle(), BreadthFirst())
    await world.updater.learn(ParsedPage(url=A), seed=False)
    await world.updater.teach({ONE_TOPIC: {A: True}})
    assert world.archive.revised == []
    await world.updater.settled(A)
    assert world.archive.revised == [(A, 1.0)]


def stored_page(number, **more):
    url = f"http://a.example/{number}"
    values = {"status": 200, "outcome": Outcome.DONE, "page": True, "fetched_at": 1.0, "relevance": 0.1}
    return PageRecord(fingerprint=fingerprint(url), url=url, **{**values, **more})


async def test_all_stored_pages_are_judged_again_whatever_was_kept_of_them(tmp_path):
    frontier, writer = MemoryFrontier(), PageStoreWriter(tmp_path / "w1.db")
    texts = [{"terms": b"vector"}, {"text": "words"}, {}, {"terms": b"vector", "relevance": 0.9, "relevant": True}]
    writer.write([stored_page(number, **more) for number, more in enumerate(texts)])
    writer.close()
    await rejudge_segments(Fickle(), [tmp_path / "w1.db"], frontier)
    with PageStoreReader(tmp_path) as collection:
        seen = {record.url[-1]: (record.relevance, record.relevant) for record in collection.ranked()}
    assert seen == {"0": (0.9, True), "1": (0.9, True), "2": (0.1, False), "3": (0.9, True)}


async def test_judging_again_can_be_skipped_after_a_batch(tmp_path):
    writer, skip = PageStoreWriter(tmp_path / "w1.db"), asyncio.Event()
    writer.write([stored_page(number, terms=b"vector") for number in range(REJUDGE_BATCH + 1)])
    writer.close()
    skip.set()
    await rejudge_segments(Fickle(), [tmp_path / "w1.db"], MemoryFrontier(), skip=skip)
    with PageStoreReader(tmp_path) as collection:
        assert [record.url for record in collection.ranked() if not record.relevant] == [
            f"http://a.example/{REJUDGE_BATCH}"
        ]


async def test_the_frontiers_counts_follow_pages_that_are_judged_again(tmp_path):
    frontier, writer = MemoryFrontier(), PageStoreWriter(tmp_path / "w1.db")
    await frontier.add([Candidate(url="http://a.example/0", score=1.0)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, page=True, relevant=False)])
    writer.write([stored_page(0, terms=b"vector"), stored_page(1, terms=b"vector", duplicate_of=5)])
    writer.close()
    await rejudge_segments(Fickle(), [tmp_path / "w1.db"], frontier)
    assert (await frontier.counts()).relevant == 1


async def test_terms_that_cannot_be_read_leave_a_judgement_as_it_was(tmp_path, caplog):
    class Strict(Fickle):
        def judge_vector(self, url, language, vector):
            raise ValueError("not ours")

    writer = PageStoreWriter(tmp_path / "w1.db")
    writer.write([stored_page(0, terms=b"broken")])
    writer.close()
    await rejudge_segments(Strict(), [tmp_path / "w1.db"], MemoryFrontier())
    assert "http://a.example/0" in caplog.text
    with PageStoreReader(tmp_path) as collection:
        assert next(collection.ranked()).relevance == 0.1


class Steady:
    """Never learns."""

    def judge(self, page):
        return Judgement(relevance=0.2, relevant=False)

    def words(self, page):
        return []


async def test_a_label_on_a_page_that_comes_later_counts_for_a_judge_that_never_learns():
    world = World(Steady(), BreadthFirst())
    await world.updater.teach({ONE_TOPIC: {A: True, B: False}})
    world.archive.revised.clear()  # neither page was there
    await world.updater.settled(A)
    assert world.archive.revised == [(A, 1.0)]
    await world.updater.teach({ONE_TOPIC: {B: None}})
    world.archive.revised.clear()
    await world.updater.settled(B)
    assert world.archive.revised == []


class Topical(MultiTopicStrategy):
    """A strategy of several topics that records the counts it is given."""

    def __init__(self):
        super().__init__({"tea": BestFirst(), "solar": BestFirst()}, seeds={})
        self.found = []

    def set_found(self, found):
        self.found.append(dict(found))


async def test_a_strategy_of_several_topics_is_given_their_counts_every_few_pages():
    world = World(Fickle(), Topical())
    await publish_topic_counts(world.frontier, "one", {"tea": 1})
    await publish_topic_counts(world.frontier, "two", {"tea": 1, "solar": 4})
    for _ in range(NEEDS_PAGES + 1):
        await world.updater.settled(A)
    assert world.strategy.found == [{"tea": 2, "solar": 4}] * 2


async def test_needs_are_known_before_waiting_urls_are_scored_after_a_restart(tmp_path):
    world = World(Fickle(), Topical())
    await publish_topic_counts(world.frontier, "one", {"tea": 2})
    await world.updater.warm_start(tmp_path)
    assert world.strategy.found == [{"tea": 2}]


async def test_a_label_of_one_topic_is_a_verdict_for_this_topic_only(tmp_path):
    class Fixed:
        def judge(self, page):
            return Judgement.of_topics({})

        def words(self, page):
            return []

    writer = PageStoreWriter(tmp_path / "w1.db")
    topics = {name: Judgement(relevance=0.2, relevant=False) for name in ("tea", "solar")}
    own = {"fingerprint": fingerprint(A), "url": A, "status": 200, "outcome": Outcome.DONE, "fetched_at": 1.0}
    writer.write([PageRecord(**own, page=True, topics=topics)])
    updater = JudgementUpdater(judge=Fixed(), strategy=BreadthFirst(), frontier=MemoryFrontier(), archive=writer)
    await updater.teach({"tea": {A: True}, "solar": {}})
    writer.close()
    with PageStoreReader(tmp_path) as collection:
        [stored] = collection.ranked()
    assert {name: each.relevance for name, each in stored.topics.items()} == {"tea": 1.0, "solar": 0.2}
    assert stored.relevant


async def test_the_text_of_clearly_irrelevant_pages_goes_with_their_last_judgement(tmp_path):
    class Unmoved(Fickle):
        def judge_vector(self, url, language, vector):
            return None

    writer = PageStoreWriter(tmp_path / "w1.db")
    unlikely, possible, relevant = {"relevance": 0.02}, {"relevance": 0.3}, {"relevance": 0.02, "relevant": True}
    kept = {"text": "words", "markup": "<p>words", "terms": b"vector"}
    writer.write([stored_page(n, **more, **kept) for n, more in enumerate([unlikely, possible, relevant])])
    writer.close()
    await rejudge_segments(Unmoved(), [tmp_path / "w1.db"], MemoryFrontier(), drop_texts=0.05)
    with PageStoreReader(tmp_path) as collection:
        texts = [collection.content(fingerprint(f"http://a.example/{n}")).text for n in range(3)]
    assert texts == ["", "words", "words"]
