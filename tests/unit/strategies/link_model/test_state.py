import numpy as np
import pytest

from tests.unit.strategies.link_model.test_model import prior
from tests.unit.strategies.link_model.test_term_model import name
from thresher.strategies.link_model.model import Model
from thresher.strategies.link_model.site_rates import SiteRates
from thresher.strategies.link_model.strategy import LEARNED, OUTCOMES, LinkModelState
from thresher.strategies.link_model.term_model import NAME, NameModel, TermModel


class MemoryStateStore:
    """A state store in memory; what others wrote is read once."""

    write_seconds = 0.0

    def __init__(self, others=None):
        self.entries, self.others = {}, others or {}

    def write(self, kind, content):
        self.entries[kind] = content

    def read(self, kind):
        return self.entries.get(kind)

    def read_others(self, kind):
        return self.others.pop(kind, ())


def worker():
    parts = Model(prior(-1.0, 1.0)), TermModel(), SiteRates()
    return LinkModelState(*parts, NameModel(None, parts[1], "")), *parts


def learned(state_store):
    notes, model, words, places = worker()
    notes.load_state(state_store)
    words.read_page(words.of_page("seal pup"), 1.0)
    words.read_page(words.of_page("tax form"), 0.0)
    places.count([*places.of("http://a.org/x/1")], 1.0)
    for key in range(10):
        model.add(key, np.array([1.0, 1.0]), 1.0)
        list(notes.page_done(key, 1.0))
    model.fit()
    notes.save_state()
    return model, words, places


def test_a_restart_goes_on_with_model_words_and_places():
    state_store = MemoryStateStore()
    model, words, places = learned(state_store)
    notes, model_2, words_2, places_2 = worker()
    notes.load_state(state_store)
    assert model_2.weights.tolist() == model.weights.tolist()
    assert places_2.rate() == pytest.approx(places.rate())
    assert places_2.rates(np.array(places_2.of("http://a.org/x/2")), 0.0).tolist() == pytest.approx(
        places.rates(np.array(places.of("http://a.org/x/2")), 0.0).tolist()
    )
    words.update()
    printed = [one.features(NAME, name(one, "seal")[None, :]) for one in (words, words_2)]
    assert printed[0][0].tolist() == pytest.approx(printed[1][0].tolist())


def test_a_new_worker_begins_with_what_another_has_learned():
    state_store = MemoryStateStore()
    model, _, _ = learned(state_store)
    notes, model_2, _, _ = worker()
    notes.load_state(MemoryStateStore(others={LEARNED: [b"no entry", state_store.entries[LEARNED]]}))
    assert model_2.weights.tolist() == model.weights.tolist()


def test_workers_read_what_became_of_each_others_urls():
    state_store = MemoryStateStore()
    learned(state_store)
    notes, *_ = worker()
    notes.load_state(MemoryStateStore(others={OUTCOMES: [state_store.entries[OUTCOMES], b"no entry"]}))
    assert list(notes.page_done(77, 0.0)) == [(key, 1.0) for key in range(10)]


def test_without_a_state_store_nothing_is_written():
    notes, *_ = worker()
    assert list(notes.page_done(1, 1.0)) == []
    notes.save_state()


def test_a_restart_keeps_the_outcomes_that_the_others_read():
    state_store = MemoryStateStore()
    learned(state_store)
    notes, *_ = worker()
    assert notes.load_state(state_store) == tuple((key, 1.0) for key in range(10))
    notes.save_state()
    others, *_ = worker()
    others.load_state(MemoryStateStore(others={OUTCOMES: [state_store.entries[OUTCOMES]]}))
    assert list(others.page_done(77, 0.0)) == [(key, 1.0) for key in range(10)]
