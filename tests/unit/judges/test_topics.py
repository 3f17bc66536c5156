"""A judge of several topics: each has its own judge, and the best one decides."""

import pytest

from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.judges.base import Learner
from thresher.judges.cosine import CosineJudge
from thresher.judges.topics import MultiTopicJudge, MultiTopicLearner, topics_judge
from thresher.records import ONE_TOPIC, ParsedPage
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition

SOLAR, TEA = "http://a.example/solar", "http://a.example/tea"
TEXTS = {
    SOLAR: "perovskite solar cells turn light into power with thin layers",
    TEA: "green tea is brewed in a clay pot with warm water",
}


class Notes(dict):
    """A state store in memory."""

    write_seconds = 0.0

    def write(self, kind, content):
        self[kind] = content

    def read(self, kind):
        return self.get(kind)

    def read_others(self, kind):
        return []


def profile(phrase, *seeds):
    topic = TopicDefinition.from_phrase(phrase)
    return TopicProfile(vectors=topic.vectors(), labels=topic.labels, phrases=[phrase], seeds=frozenset(seeds))


def page(url, text=""):
    return ParsedPage(url=url, text=text or TEXTS[url], language="en")


def adaptive():
    judges = {
        "solar": AdaptiveJudge(profile("solar cells", SOLAR)),
        "tea": AdaptiveJudge(profile("green tea", TEA)),
    }
    return topics_judge(judges)


@pytest.fixture
def learner():
    judge = adaptive()
    judge.learn(page(SOLAR), seed=True)
    judge.learn(page(TEA), seed=True)
    for number in range(30):
        judge.learn(page(f"http://a.example/{number}", f"news of the day number {number} about a town"))
    return judge


def test_the_best_topic_gives_the_relevance_and_its_words():
    judge = topics_judge({"solar": CosineJudge(profile("solar cells")), "tea": CosineJudge(profile("green tea"))})
    judgement = judge.judge(page(TEA))
    assert judgement.relevance == judgement.topics["tea"].relevance > judgement.topics["solar"].relevance
    assert judgement.relevant == any(each.relevant for each in judgement.topics.values())
    assert {word.term for word in judge.words(page(TEA))} <= {"green", "tea"}


def test_it_learns_only_if_its_judges_do():
    cosine = topics_judge({"tea": CosineJudge(profile("green tea"))})
    assert type(cosine) is MultiTopicJudge
    assert not isinstance(cosine, Learner)
    assert isinstance(adaptive(), MultiTopicLearner)


def test_the_judge_of_an_only_topic_is_used_as_it_is_and_that_of_a_named_one_is_not():
    judge = CosineJudge(profile("green tea"))
    assert topics_judge({ONE_TOPIC: judge}) is judge
    assert topics_judge({"tea": judge}).judge(page(TEA)).topics == {"tea": judge.judge(page(TEA))}


def test_a_seed_of_one_topic_is_an_ordinary_page_for_the_others(learner):
    tea, solar = learner.judge(page(TEA)), learner.judge(page(SOLAR))
    assert tea.topics["tea"].relevant
    assert not tea.topics["solar"].relevant
    assert solar.topics["solar"].relevant
    assert not solar.topics["tea"].relevant


def test_a_seed_that_was_redirected_is_a_seed_of_its_topic():
    judge, moved = adaptive(), page("http://a.example/moved", TEXTS[TEA])
    judge.assign_seed(moved.url, ["tea"])
    judge.learn(moved, seed=True)
    for number in range(30):
        judge.learn(page(f"http://a.example/{number}", f"news of the day number {number} about a town"))
    judgement = judge.judge(moved)
    assert judgement.topics["tea"].relevant
    assert not judgement.topics["solar"].relevant


def test_a_label_for_one_topic_changes_no_other(learner):
    before = learner.judge(page(TEA)).topics["solar"].relevance
    revisions = learner.teach_topics({"tea": {TEA: False}})
    [of_tea] = [revision for revision in revisions if revision.url == TEA]
    assert set(of_tea.judgement.topics) == {"tea"}
    assert learner.judge(page(TEA)).topics["tea"].relevance == 0.0
    assert learner.judge(page(TEA)).topics["solar"].relevance == before


def test_a_label_without_a_topic_is_for_all(learner):
    learner.teach({TEA: False})
    assert all(each.relevance == 0.0 for each in learner.judge(page(TEA)).topics.values())


def test_a_page_is_judged_again_by_its_vectors(learner):
    again = learner.judge_vector(TEA, "en", learner.vector(page(TEA)))
    now = learner.judge(page(TEA))
    assert {name: each.relevance for name, each in again.topics.items()} == pytest.approx(
        {name: each.relevance for name, each in now.topics.items()}, abs=0.02
    )
    with pytest.raises(ValueError, match="damaged"):
        learner.judge_vector(TEA, "en", b"\x01")


def test_the_state_of_each_topic_is_saved_under_its_name(learner):
    notes = Notes()
    learner.load_state(notes)
    learner.save_state()
    assert {kind.partition("@")[2] for kind in notes} == {"solar", "tea"}
    later = adaptive()
    later.load_state(notes)
    assert later.remembers(TEA)
    assert later.judge(page(TEA)).topics["tea"].relevant
