"""The openings of pages by word vectors: other words for the same subject count, unknown words do not."""

import numpy as np
import pytest

from thresher.judges.adaptive import judge as judge_module
from thresher.judges.adaptive.calibration import (
    MEANING_COLUMNS,
    MEANING_LATE,
    OPENING_TERMS,
    OTHER,
    Openings,
    embed_opening,
    fit_openings,
)
from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.judges.adaptive.terms import TermVector, term_weights
from thresher.records import ParsedPage
from thresher.text.word_vectors import WordVectors
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition

TABLE = WordVectors(
    ["common", "lava", "magma", "ballot", "senat"],
    np.array([[0, 0, 100], [100, 0, 50], [90, 10, 50], [0, 100, 50], [10, 90, 50]], dtype=np.int8),
    np.full(5, 255, dtype=np.uint8),
)
COMMON = np.array([0.0, 0.0, 1.0], dtype=np.float32)
SEED = "lava slope"
BACKGROUND = ["ballots", "the senate", "ballots for the senate"]


def page(name, text, *, language="en"):
    return ParsedPage(url=f"http://a.example/{name}", title="", text=text, language=language)


def opening(text):
    return embed_opening(term_weights(page("x", text)), TABLE)


def crawled(table, monkeypatch, *, more="", state_store=None):
    """Learn a seed and forty pages about something else, with a table of word vectors or without."""
    monkeypatch.setattr(judge_module, "load_word_vectors", lambda: table)
    seed = page("seed", SEED)
    topic = TopicProfile(vectors=TopicDefinition.from_phrase("lava").vectors(), seeds=frozenset([seed.url]))
    judge = AdaptiveJudge(topic)
    if state_store is not None:
        judge.load_state(state_store)
    judge.learn(seed)
    for number in range(40):
        judge.learn(page(f"other{number}", f"{BACKGROUND[number % 3]} common {more}"))
    return judge


def relevance(judge, text, **options):
    return judge.judge(page("new", text, **options)).relevance


def fitted(*, phrase="", seeds=(SEED,), background=BACKGROUND * 20):
    pages = np.array([opening(text) for text in (*seeds, *background)])
    weights = np.array([0.0] * len(seeds) + [1.0] * len(background))
    return fit_openings(Openings(pages, opening(phrase), COMMON), weights, range(len(seeds)))


def test_a_page_on_the_same_subject_in_other_words_is_likelier_than_an_unrelated_one(monkeypatch):
    with_table, without = (crawled(table, monkeypatch) for table in (TABLE, None))
    assert relevance(with_table, "magma slope") > 2 * relevance(with_table, "ballots slope")
    assert relevance(without, "magma slope") == pytest.approx(relevance(without, "ballots slope"), rel=0.1)


def test_the_phrase_alone_finds_other_words_for_it():
    model = fitted(phrase="lava", seeds=())
    assert model.meaning(opening("magma")) > 0.5 > 0.0 > model.meaning(opening("senate"))


def test_what_all_pages_have_in_common_is_no_likeness():
    menu = "common " * 20
    seed, other, magma = opening(f"{menu} lava"), opening(f"{menu} ballot"), opening("magma")
    assert seed @ other > seed @ magma
    model = fitted(seeds=[f"{menu} lava"], background=[f"{menu} ballot", f"{menu} senate"] * 50)
    assert model.meaning(magma) > model.meaning(other)


def test_unknown_words_neither_raise_nor_lower_a_page(monkeypatch):
    assert fitted().meaning(opening("basalt 火山")) == 0.0
    assert fitted(seeds=(), phrase="").meaning(opening("magma")) == 0.0
    with_table, without = (crawled(table, monkeypatch) for table in (TABLE, None))
    assert relevance(with_table, "basalt and tuff") == relevance(without, "basalt and tuff")


def test_an_opening_in_which_most_words_are_unknown_is_unknown():
    assert opening("magma basalt").any()
    assert not opening("magma basalt tuff").any()


def test_an_unknown_example_does_not_hide_the_others():
    one, two = fitted(), fitted(seeds=(SEED, "basalt"))
    np.testing.assert_allclose(one.topic, two.topic, atol=1e-6)


def test_only_the_first_terms_are_the_opening():
    first = {f"word{number}": 1.0 for number in range(OPENING_TERMS // 2)}
    known = {"lava": 1.0, "magma": 1.0, "senat": 1.0}
    table = WordVectors([*first, *known], np.eye(33, dtype=np.int8), np.full(33, 255, dtype=np.uint8))
    unknown = {f"unknown{number}": 1.0 for number in range(OPENING_TERMS // 2)}
    vector = embed_opening(TermVector.of(first | unknown | known), table)
    assert np.count_nonzero(vector) == len(first)


def test_a_word_that_occurs_often_counts_more():
    often = embed_opening(TermVector.of({"lava": 3.0, "ballot": 1.0}), TABLE)
    assert often @ opening("lava") > often @ opening("ballot")


def test_without_a_table_and_for_chinese_pages_there_is_no_model_of_openings(monkeypatch):
    with_table, without = (crawled(table, monkeypatch) for table in (TABLE, None))
    assert {name: side._model.opening is None for name, side in with_table._languages.items()} == {
        "zh": True,
        "other": False,
    }
    assert all(side._model.opening is None for side in without._languages.values())
    chinese = "火山 lava magma"
    assert relevance(with_table, chinese, language="zh") == relevance(without, chinese, language="zh")


def test_more_likeness_of_meaning_never_makes_a_page_less_probable():
    assert min(MEANING_LATE[-1 - MEANING_COLUMNS : -1]) > 0.0


class Folder(dict):
    """State in a dictionary."""

    write_seconds = 0.0

    write = dict.__setitem__
    read = dict.get

    def read_others(self, kind):
        return []


def test_a_restart_changes_no_verdict(monkeypatch):
    state_store = Folder()
    more = " ".join(["common common", *(f"lava{number}" for number in range(100))])
    table = WordVectors(
        [f"lava{number}" for number in range(50)] + ["lava", "magma", "ballot"],
        np.random.default_rng(0).integers(-100, 100, (53, 8)).astype(np.int8),
        np.full(53, 255, dtype=np.uint8),
    )
    judge = crawled(table, monkeypatch, more=more, state_store=state_store)
    judge.save_state()
    again = AdaptiveJudge(TopicProfile(vectors=TopicDefinition.from_phrase("lava").vectors()))
    again.load_state(state_store)
    judge._languages[OTHER].refit_silently()
    for text in ("magma", "ballots", SEED):
        assert relevance(again, text) == pytest.approx(relevance(judge, text), rel=1e-4)


def test_a_page_is_judged_alike_by_its_packed_terms(monkeypatch):
    judge, fresh = crawled(TABLE, monkeypatch), page("new", "magma and lava " * 3 + "with ballots")
    packed = judge.judge_vector(fresh.url, "en", judge.vector(fresh))
    assert packed.relevance == pytest.approx(judge.judge(fresh).relevance, rel=1e-2)


def test_a_page_is_alike_whether_it_is_in_the_sample_or_comes_new(monkeypatch):
    judge = crawled(TABLE, monkeypatch)
    side = judge._languages[OTHER]
    _, similarities = side._fit()
    [known] = [s for url, s in zip(side.sample.urls, similarities, strict=True) if url.endswith("other39")]
    fresh = judge._weights(page("fresh", f"{BACKGROUND[0]} common "))
    judge._languages[OTHER].refit_silently()
    numbers = side.sample.numbers(fresh)
    again = side._model.similarity(numbers, fresh.weights, 0.0, side.sample.opening(fresh))
    assert tuple(again) == pytest.approx(tuple(known))
