import json
from importlib.resources import files

import numpy as np

from tests.unit.strategies.link_model.test_links import known_links, page
from thresher.strategies.link_model.model import GROUPS, MEMBERS, NAMES, PRIOR, PRIOR_WITHOUT_VECTORS, features
from thresher.strategies.link_model.site_rates import SiteRates
from thresher.strategies.link_model.term_model import NAME_FEATURES, NameModel, TermModel


def feature(known, name, places=None):
    numbers, rows, at = known.waiting()
    x = features(known, places or SiteRates(), NameModel(None, TermModel(), ""), numbers, rows, at)
    assert x.shape == (len(numbers), len(NAMES))
    assert np.isfinite(x).all()
    return dict(zip((known.names[number][13:] for number in numbers), x[:, NAMES.index(name)].tolist(), strict=True))


def test_every_feature_belongs_to_one_group_and_has_a_prior_weight():
    assert MEMBERS.sum(axis=1).tolist() == [1.0] * len(NAMES)
    assert MEMBERS.shape == (len(NAMES), len(GROUPS))
    assert prior_features(PRIOR) == list(NAMES)
    assert prior_features(PRIOR_WITHOUT_VECTORS) == [name for name in NAMES if name not in NAME_FEATURES]


def prior_features(name):
    prior = json.loads((files("thresher.strategies.link_model") / name).read_text(encoding="utf-8"))
    return list(prior["features"])


def test_relevant_parents_are_counted_over_all_links():
    known = known_links()
    known.add_page(page("p", "x", "y"), 1.0)
    known.add_page(page("q", "y", "z"), 0.0)
    assert feature(known, "rel_max") == {"x": 1, "y": 1, "z": 0}
    mean = feature(known, "rel_mean")
    assert mean["x"] > mean["y"] > mean["z"]
    inward = feature(known, "in")
    assert inward["y"] > inward["x"] == inward["z"]


def test_links_beside_those_that_led_to_the_topic_stand_out():
    known, places = known_links(), SiteRates()
    known.add_page(page("p", *"abcdefghijklm"), 0.0)
    known.settle(known.number("http://a.org/b"), 1.0)
    near = feature(known, "near", places)
    assert near["a"] == near["c"] > near["d"] > near["h"]


def test_places_that_led_to_the_topic_stand_out():
    known, places = known_links(), SiteRates()
    known.add_page(page("p", "good/1", "bad/1", "good/2"), 0.0)
    places.count(known.places_of(known.number("http://a.org/good/1")), 1.0)
    directory = feature(known, "directory", places)
    assert directory["good/2"] > directory["bad/1"]
