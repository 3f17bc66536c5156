"""Judges that train on seeds against the crawl: when they train, what they fall back on, what they remember."""

import sys
from random import Random

import pytest

from tests.contract import judge_world as world
from thresher.errors import ConfigError
from thresher.judges.cosine import CosineJudge
from thresher.modelstate.codec import ENTRY_BYTES
from thresher_papers.judges.trained import learner
from thresher_papers.judges.trained.examples import MAX_TERMS, TrainingPages, most_frequent
from thresher_papers.judges.trained.judges import ItfIdfJudge, SvmJudge

ENGLISH = [page for page in world.CROWD if page.language == "en"]


@pytest.fixture(params=[SvmJudge, ItfIdfJudge])
def kind(request):
    return request.param


def taught(kind, *, seeds=world.SEEDS, crowd=world.CROWD, **parameters):
    judge = kind(world.topic_profile(seeds=frozenset()), **parameters)
    for page in seeds:
        judge.learn(page, seed=True)
    for page in crowd:
        judge.learn(page)
    return judge


def test_without_an_example_the_cosine_judges(kind):
    judge, page = taught(kind, seeds=[]), world.NEW[-1]
    assert judge.judge(page).reward == CosineJudge(world.topic_profile()).judge(page).relevance
    assert judge.words(page) == CosineJudge(world.topic_profile()).words(page)


def test_with_little_background_the_cosine_judges(kind):
    judge, page = taught(kind, crowd=world.CROWD[:9]), world.NEW[-1]
    assert judge.judge(page).reward == CosineJudge(world.topic_profile()).judge(page).relevance


def test_soon_after_there_is_enough_background_the_model_judges(kind):
    judge = taught(kind, crowd=world.CROWD[:15])
    assert judge.judge(world.NEW[-1]).breakdown.get("probability") is not None


def test_in_a_language_without_an_example_the_cosine_judges(kind):
    seeds = [page for page in world.SEEDS if page.language == "en"]
    judge = taught(kind, seeds=seeds)
    page = world.page(world.TOPIC, "zh", 501)
    assert judge.judge(page).reward == CosineJudge(world.topic_profile()).judge(page).relevance
    assert judge.judge(world.page(world.TOPIC, "en", 501)).breakdown.get("probability") is not None


def test_a_yes_is_an_example_as_good_as_a_seed(kind):
    judge = kind(world.topic_profile(seeds=frozenset(), yes=frozenset(page.url for page in world.SEEDS)))
    for page in [*world.SEEDS, *world.CROWD]:
        judge.learn(page)
    assert world.average_precision(judge, world.NEW) > 0.8


def test_a_seed_that_a_person_refuses_is_no_example(kind):
    judge = kind(world.topic_profile(no=frozenset(page.url for page in world.SEEDS)))
    for page in [*world.SEEDS, *world.CROWD]:
        judge.learn(page)
    assert judge.judge(world.SEEDS[0]).relevance == 0.0
    assert judge.judge(world.NEW[-1]).breakdown.get("probability") is None


def test_relevance_is_the_probability(kind):
    judge = taught(kind)
    for page in world.NEW:
        judgement = judge.judge(page)
        assert judgement.relevance == judgement.reward == judgement.breakdown["probability"]
        assert judgement.relevant is (judgement.relevance >= 0.5)


def test_words_speak_for_the_topic_and_against_it(kind):
    judge = taught(kind)
    page = world.page(world.TOPIC, "en", 502)
    weights = {word.term: word.weight for word in judge.words(page)}
    assert max(weights, key=weights.get) in {"solar", "cell", "panel", "silicon", "perovskit", "effici", "photon"} | {
        "wafer", "modul", "roof", "sunlight", "voltag"
    }  # fmt: skip
    assert min(weights.values()) < 0


def test_what_a_person_says_about_a_page_is_passed_on_at_once(kind):
    judge, page = taught(kind), world.CROWD[0]
    [revision] = [each for each in judge.teach({page.url: True}) if each.url == page.url]
    assert (revision.url, revision.judgement.relevance, revision.judgement.relevant) == (page.url, 1.0, True)


def test_a_label_given_twice_is_passed_on_once(kind):
    judge = taught(kind)
    judge.teach({world.CROWD[0].url: True})
    assert not judge.teach({world.CROWD[0].url: True})


def test_the_users_file_outweighs_labels_given_before(kind):
    state_store, judge = world.MemoryStateStore(), taught(kind)
    judge.load_state(state_store)
    judge.teach({world.CROWD[0].url: True})
    again = kind(world.topic_profile(no=frozenset({world.CROWD[0].url})))
    again.load_state(state_store)
    assert again.judge(world.CROWD[0]).relevance == 0.0


def test_what_is_taken_up_again_needs_no_training(kind, monkeypatch):
    state_store, judge = world.MemoryStateStore(), taught(kind)
    judge.load_state(state_store)
    judge.save_state()
    again = kind(world.topic_profile())
    monkeypatch.setitem(sys.modules, "thresher_papers.judges.trained.training", None)
    again.load_state(state_store)
    assert again.judge(world.NEW[0]) == judge.judge(world.NEW[0])


def test_the_background_is_bounded(kind):
    judge = taught(kind, sample_pages=20)
    assert len(judge._pages.sample) == 20 + len(world.SEEDS)
    assert len(judge._pages.given) <= 20 + len(world.SEEDS)


def test_a_page_is_remembered_by_its_most_frequent_terms():
    counts = {f"w{number}": 1.0 for number in range(3 * MAX_TERMS)} | {"solar": 7.0}
    kept = most_frequent(counts)
    assert len(kept) == MAX_TERMS
    assert kept["solar"] == 7.0


def test_a_page_that_a_person_spoke_about_stays_for_good():
    pages = TrainingPages(world.topic_profile(), sample_pages=3)
    pages.add("http://a.example/", {"solar": 1.0}, chinese=False, seed=False)
    pages.set_label("http://a.example/", False)
    for number in range(100):
        pages.add(f"http://b.example/{number}", {"tea": 1.0}, chinese=False, seed=False)
    assert "http://a.example/" in pages.sample
    assert pages.labels()[1].sum() == 1


def test_workers_train_on_each_others_background(kind):
    """The second worker meets no background of its own that would do, and no seed."""
    first, second = kind(world.topic_profile(seeds=frozenset())), kind(world.topic_profile(seeds=frozenset()))
    state_store = world.MemoryStateStore()
    first.load_state(state_store)
    second.load_state(world.MemoryStateStore(others=[state_store]))
    for page in world.SEEDS:
        first.learn(page, seed=True)
    for page in world.CROWD:
        first.learn(page)
    first.save_state()
    for page in world.NEW[:9]:
        second.learn(page)
    assert second.judge(world.NEW[-1]).breakdown.get("probability") is not None
    assert world.average_precision(second, world.NEW) > 0.8


def test_what_another_worker_wrote_counts_once_however_often_it_is_read(kind):
    state_store, first = world.MemoryStateStore(), taught(kind)
    first.load_state(state_store)
    first.save_state()
    second = kind(world.topic_profile(seeds=frozenset()))
    second.load_state(world.MemoryStateStore(others=[state_store]))
    for page in world.NEW[:20]:
        second.learn(page)
    assert second._pages.sample.seen_by_all == 20 + len(world.SEEDS) + len(world.CROWD)


def test_a_damaged_entry_of_another_worker_is_left_out(kind, caplog):
    bad = world.MemoryStateStore()
    judge = kind(world.topic_profile())
    bad.write(judge._kind("sample"), b"nothing")
    judge.load_state(world.MemoryStateStore(others=[bad]))
    assert "left out" in caplog.text


def test_a_model_that_is_too_large_to_be_written_down_is_trained_anew(kind, monkeypatch):
    state_store, judge = world.MemoryStateStore(), taught(kind)
    monkeypatch.setattr(learner, "ENTRY_BYTES", 100)
    judge.load_state(state_store)
    judge.save_state()
    again = kind(world.topic_profile())
    again.load_state(state_store)
    assert state_store.entries[judge._kind("model")] == b""
    assert again.judge(world.NEW[-1]).breakdown.get("probability") is not None


def test_entries_stay_small(kind):
    state_store, judge = world.MemoryStateStore(), kind(world.topic_profile())
    judge.load_state(state_store)
    random = Random(0)
    for number in range(300):
        text = " ".join(f"w{random.getrandbits(20):x}" for _ in range(2000))
        judge._pages.add(f"http://a.example/{number}", dict.fromkeys(text.split(), 1.0), chinese=False, seed=False)
    judge.save_state()
    assert ENTRY_BYTES / 2 < len(state_store.entries[judge._kind("sample")]) <= ENTRY_BYTES


def test_without_scikit_learn_the_message_says_what_to_install(kind, monkeypatch):
    monkeypatch.setattr(learner, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"thresher-crawler\[learn\]"):
        kind(world.topic_profile())


WRONG = [
    (SvmJudge, {"C": 0}),
    (ItfIdfJudge, {"smoothing": 0}),
    (ItfIdfJudge, {"terms": 0}),
    (SvmJudge, {"refit_pages": 0}),
]


@pytest.mark.parametrize(("kind", "parameters"), WRONG)
def test_a_parameter_that_cannot_be_is_refused_before_the_first_page(kind, parameters):
    with pytest.raises(ConfigError, match=next(iter(parameters))):
        kind(world.topic_profile(), **parameters)
