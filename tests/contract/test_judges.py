"""What every judge promises, whatever it is made of."""

from functools import cache
from math import isfinite

import pytest

from testing import registered
from tests.contract import judge_world as world
from thresher import registry
from thresher.judges.base import Learner
from thresher.records import ParsedPage

JUDGES = sorted(registered.JUDGES)
LEARNERS = [name for name in JUDGES if hasattr(registry.find("judge", name), "learn")]
MIN_PRECISION = {"match": 0.7}
"""Of the ranking of new pages; a judge that only says yes or no cannot order what it says yes to."""
THINKS_ONCE_MORE = {"adaptive": 0.02}
"""How far a judge may move that thinks again when it is taken up, and so is a step ahead."""

ODD_PAGES = {
    "empty": ParsedPage(url="http://a.example/"),
    "a megabyte": ParsedPage(url="http://a.example/", title="Big", text="Big solar " + "word%d " * 150_000),
    "a megabyte of different words": ParsedPage(
        url="http://a.example/", text=" ".join(f"w{number:x}" for number in range(150_000)), language="en"
    ),
    "broken surrogates": ParsedPage(
        url="http://a.example/\udc80", title="\ud800 solar", text="\ud800 solar \udfff 太阳"
    ),
    "only digits": ParsedPage(url="http://a.example/", title="1", text="1 22 333 4444 " * 50),
    "only Chinese": ParsedPage(url="http://a.example/", title="太阳能", text="太阳能电池和光伏组件", language="zh"),
    "no title": ParsedPage(url="http://a.example/", text="solar cells and panels", language="en"),
    "controls": ParsedPage(url="http://a.example/", text="\x00\x07\u202e solar \ufeff\n\r\t", keywords="\x00"),
    "in no language we know": ParsedPage(url="http://a.example/", text="שלום עולם مرحبا", language="he"),
}
AGES = {"new": cache(world.make), "experienced": cache(world.experienced)}


@pytest.fixture(params=JUDGES)
def name(request):
    return request.param


@pytest.fixture(params=AGES)
def judge(request, name):
    return AGES[request.param](name)


@pytest.fixture(params=LEARNERS)
def learner_name(request):
    return request.param


def bounded(judgement):
    numbers = [judgement.relevance, judgement.reward]
    return all(0 <= number <= 1 for number in numbers) and all(map(isfinite, judgement.breakdown.values()))


def learn_all(judge, pages, **given):
    return [revision for page in pages for revision in judge.learn(page, **given)]


@pytest.mark.parametrize("page", ODD_PAGES.values(), ids=ODD_PAGES)
def test_whatever_a_page_holds_its_numbers_are_bounded(judge, page):
    assert bounded(judge.judge(page))


@pytest.mark.parametrize("page", ODD_PAGES.values(), ids=ODD_PAGES)
def test_words_are_few_and_finite_and_the_weightiest_come_first(judge, page):
    weights = [abs(word.weight) for word in judge.words(page)]
    assert len(weights) <= 50
    assert all(map(isfinite, weights))
    assert weights == sorted(weights, reverse=True)


def test_judging_changes_nothing(judge):
    pages = [*world.NEW[:6], ODD_PAGES["empty"], ODD_PAGES["only Chinese"], ODD_PAGES["broken surrogates"]]
    first = [judge.judge(page) for page in pages]
    for page in pages:
        judge.words(page)
    assert [judge.judge(page) for page in reversed(pages)] == first[::-1]


def test_a_page_without_words_is_not_relevant(judge):
    assert not judge.judge(ODD_PAGES["empty"]).relevant


def test_pages_of_the_topic_rank_above_others(name):
    judge = AGES["experienced"](name)
    assert world.average_precision(judge, world.NEW) > MIN_PRECISION.get(name, 0.8)


@pytest.mark.parametrize("language", world.LANGUAGES)
def test_pages_of_the_topic_rank_above_others_in_each_language(name, language):
    judge = AGES["experienced"](name)
    pages = [page for page in world.NEW if page.language == language]
    assert world.average_precision(judge, pages) > MIN_PRECISION.get(name, 0.8)


def test_the_words_of_a_topical_page_speak_for_the_topic(name):
    judge = AGES["experienced"](name)
    words = judge.words(world.page(world.TOPIC, "en", 77))
    assert words
    assert words[0].weight > 0


def test_what_learns_keeps_the_protocol_of_learners(learner_name):
    assert isinstance(world.make(learner_name), Learner)


def test_revisions_are_about_pages_that_were_seen(learner_name):
    judge, seen = world.make(learner_name), set()
    for page in [*world.SEEDS, *world.CROWD]:
        assert {revision.url for revision in judge.learn(page)} <= seen | {page.url}
        seen.add(page.url)


def test_revisions_differ_from_the_last_judgement_and_equal_the_current_one(learner_name):
    judge, latest, changes = world.make(learner_name), {}, 0
    pages = {page.url: page for page in [*world.SEEDS, *world.CROWD]}
    for page in pages.values():
        for revision in judge.learn(page):
            changes += 1
            relevance = revision.judgement.relevance
            assert abs(relevance - latest[revision.url]) > 0.01
            assert judge.judge(pages[revision.url]).relevance == pytest.approx(relevance, rel=1e-6, abs=1e-9)
            latest[revision.url] = relevance
        latest[page.url] = judge.judge(page).relevance
    assert changes


def test_odd_pages_can_be_learned_from(learner_name):
    judge = world.make(learner_name)
    odd = [*ODD_PAGES.values()]
    learn_all(judge, odd, seed=True)
    learn_all(judge, [page for number in range(12) for page in renamed(odd, number)])
    assert all(bounded(judge.judge(page)) for page in [*odd, *world.NEW])


def renamed(pages, number):
    return [
        ParsedPage(url=f"http://b.example/{number}/{place}", title=page.title, text=page.text[:2000])
        for place, page in enumerate(pages)
    ]


def test_a_learner_that_is_taken_up_again_judges_as_before(learner_name):
    state_store, first = world.MemoryStateStore(), world.make(learner_name)
    first.load_state(state_store)
    learn_all(first, [*world.SEEDS, *world.CROWD])
    for page in world.CROWD[:2]:  # one in each language: the judge refits now, and no refit is left for later
        first.teach({page.url: False})
    first.save_state()
    again = world.make(learner_name)
    again.load_state(state_store)
    pages = [*world.NEW, world.CROWD[0]]
    before = [first.judge(page).relevance for page in pages]
    nearly = pytest.approx(before, rel=1e-6, abs=THINKS_ONCE_MORE.get(learner_name, 1e-9))
    assert [again.judge(page).relevance for page in pages] == nearly


def test_a_page_with_broken_characters_can_be_written_down_and_read(learner_name):
    state_store, first = world.MemoryStateStore(), world.make(learner_name)
    first.load_state(state_store)
    first.learn(ODD_PAGES["broken surrogates"], seed=True)
    first.save_state()
    again = world.make(learner_name)
    again.load_state(state_store)
    assert bounded(again.judge(ODD_PAGES["broken surrogates"]))


@pytest.mark.parametrize("verdict", [True, False])
def test_a_persons_word_moves_the_page(learner_name, verdict):
    judge = world.experienced(learner_name)
    page = next(each for each in world.CROWD if 0.01 < judge.judge(each).relevance < 0.99)
    before = judge.judge(page).relevance
    judge.teach({page.url: verdict})
    after = judge.judge(page)
    assert after.relevant is verdict
    assert after.relevance > before if verdict else after.relevance < before


def test_a_persons_word_counts_for_a_page_that_is_still_to_come(learner_name):
    judge, page = world.experienced(learner_name), world.page("music", "en", 500)
    assert not judge.teach({page.url: True})
    judge.learn(page)
    assert judge.judge(page).relevant


MUSIC = [page for page in world.CROWD if page.url.startswith("http://en.example/music/")]
NEW_MUSIC = [page for page in world.NEW if page.url.startswith("http://en.example/music/")]
SOLAR = [page for page in world.CROWD if page.url.startswith("http://en.example/solar/")]
NEW_SOLAR = [page for page in world.NEW if page.url.startswith("http://en.example/solar/")]


def mean_chance(judge, pages):
    return sum(judge.judge(page).relevance for page in pages) / len(pages)


def labels(pages, verdict):
    return {page.url: verdict for page in pages}


def test_pages_like_those_that_people_take_rise(learner_name):
    judge = world.experienced(learner_name)
    before = mean_chance(judge, NEW_MUSIC)
    judge.teach(labels(MUSIC[:4], True))
    assert mean_chance(judge, NEW_MUSIC) > before + 0.1


def test_pages_like_those_that_people_refuse_fall(learner_name):
    judge = world.experienced(learner_name)
    before = mean_chance(judge, NEW_SOLAR)
    judge.teach(labels(SOLAR, False))
    assert mean_chance(judge, NEW_SOLAR) < before - 0.1


def test_a_word_that_is_taken_back_counts_no_more(learner_name):
    judge = world.experienced(learner_name)
    judge.teach(labels(MUSIC[:1], None))  # the judge refits now, and no refit is left for later
    before = [judge.judge(page).relevance for page in (*MUSIC, *NEW_MUSIC)]
    judge.teach(labels(MUSIC[:2], True))
    judge.teach(labels(MUSIC[:2], None))
    assert [judge.judge(page).relevance for page in (*MUSIC, *NEW_MUSIC)] == pytest.approx(before, abs=0.02)


def test_many_labels_give_one_revision_of_a_page(learner_name):
    judge = world.experienced(learner_name)
    before = {page.url: judge.judge(page).relevance for page in world.CROWD}
    revisions = judge.teach(labels(MUSIC[:3], True) | labels(SOLAR[:3], False))
    urls = [revision.url for revision in revisions]
    assert len(urls) == len(set(urls))
    assert {page.url for page in MUSIC[:3]} <= set(urls)
    for page in world.CROWD:
        changed = abs(judge.judge(page).relevance - before[page.url]) > 0.02
        assert not changed or page.url in urls


def test_labels_outlive_a_restart(learner_name):
    state_store, first = world.MemoryStateStore(), world.experienced(learner_name)
    first.load_state(state_store)
    first.teach(labels(MUSIC[:4], True) | labels(SOLAR[:2], False))
    again = world.make(learner_name)
    again.load_state(state_store)
    assert all(again.judge(page).relevant for page in MUSIC[:4])
    assert not any(again.judge(page).relevant for page in SOLAR[:2])
    expected = [first.judge(page).relevance for page in NEW_MUSIC]
    assert [again.judge(page).relevance for page in NEW_MUSIC] == pytest.approx(expected, abs=0.02)


def test_what_people_tell_one_worker_the_others_learn_from(learner_name):
    state_store, first = world.MemoryStateStore(), world.experienced(learner_name)
    first.load_state(state_store)
    first.teach(labels(MUSIC[:4], True) | labels(SOLAR[:2], False))
    second, alone = world.experienced(learner_name), world.experienced(learner_name)
    second.load_state(world.MemoryStateStore(others=[state_store]))
    for judge in (second, alone):
        learn_all(judge, [world.page("garden", "en", number) for number in range(40, 60)])
    assert all(second.judge(page).relevant for page in MUSIC[:4])
    assert not any(second.judge(page).relevant for page in SOLAR[:2])
    assert mean_chance(second, NEW_MUSIC) > mean_chance(alone, NEW_MUSIC) + 0.1


@pytest.mark.parametrize("verdict", [True, False])
def test_a_page_that_people_spoke_about_is_remembered_for_good(learner_name, verdict):
    judge = world.make(learner_name, parameters={"sample_pages": 5})
    learn_all(judge, MUSIC[:2])
    judge.teach(labels(MUSIC[:2], verdict))
    learn_all(judge, [world.page("garden", "en", number) for number in range(40, 80)])
    assert all(judge.remembers(page.url) for page in MUSIC[:2])


def test_a_page_that_was_forgotten_is_learned_once_more_for_what_people_say(learner_name):
    judge = world.make(learner_name, parameters={"sample_pages": 5})
    learn_all(judge, world.SEEDS, seed=True)
    learn_all(judge, [*MUSIC, *(world.page("garden", "en", number) for number in range(40, 80))])
    forgotten = next(page for page in MUSIC if not judge.remembers(page.url))
    judge.teach(labels([forgotten], True))
    judge.learn(forgotten)
    assert judge.remembers(forgotten.url)
    assert judge.judge(forgotten).relevant


def test_a_labelled_page_that_comes_again_is_there_once(learner_name):
    judge = world.experienced(learner_name)
    judge.teach(labels(MUSIC[:1], True))
    expected = mean_chance(judge, NEW_MUSIC)
    learn_all(judge, MUSIC[:1])
    judge.teach(labels(MUSIC[:1], True))
    assert mean_chance(judge, NEW_MUSIC) == pytest.approx(expected, abs=0.02)


def test_what_one_worker_meets_the_others_learn_from(learner_name):
    state_store = world.MemoryStateStore()
    first = world.make(learner_name)
    first.load_state(state_store)
    learn_all(first, world.SEEDS)
    second = world.make(learner_name, seeds=frozenset())
    second.load_state(world.MemoryStateStore(others=[state_store]))
    learn_all(second, world.CROWD)
    assert world.average_precision(second, world.NEW) > 0.8
