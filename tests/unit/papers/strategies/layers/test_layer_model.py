"""Pages have layers by their words, links by their anchors; and a model comes back as it was saved."""

import json
from math import sqrt

import pytest

from tests.unit.papers.strategies.layered_world import MODEL
from thresher.errors import ConfigError, ThresherError
from thresher.records import ParsedPage
from thresher_papers.strategies.layers.model import FILE, LayerModel, load_layers


def page(text):
    return ParsedPage(url="http://a.example/", text=text)


def test_a_page_has_the_likeliest_layer():
    assert MODEL.layer_of(page("solar")) == (0, pytest.approx(0.75))
    assert MODEL.layer_of(page("index of things")) == (1, pytest.approx(0.75))


def test_a_page_that_no_layer_is_likely_for_lies_beyond_the_last():
    assert MODEL.layer_of(page("solar index")) == (3, pytest.approx(0.5))
    assert MODEL.layer_of(page("")) == (3, pytest.approx(0.5))


def test_a_link_has_the_layer_of_the_links_that_it_is_likest_to():
    assert MODEL.link_layer("solar") == (0, pytest.approx(0.8))
    assert MODEL.link_layer("solar index") == (0, pytest.approx(0.8 / sqrt(2)))
    assert MODEL.link_layer("index index solar") == (1, pytest.approx((2 * 0.5 + 0.1) / sqrt(5)))
    assert MODEL.link_layer("tea") == (3, pytest.approx(0.9))


@pytest.mark.parametrize("anchor", ["", "unknown words", "the"])
def test_a_link_like_none_lies_beyond_the_last_layer_and_not_in_the_first(anchor):
    assert MODEL.link_layer(anchor) == (3, 0.0)


def test_a_model_comes_back_as_it_was_saved(tmp_path):
    MODEL.save(tmp_path)
    again = LayerModel.load(tmp_path)
    assert (again.N, again.threshold, again.anchors) == (MODEL.N, MODEL.threshold, MODEL.anchors)
    assert again.layer_of(page("solar")) == MODEL.layer_of(page("solar"))


def test_without_training_the_next_command_is_named(tmp_path):
    with pytest.raises(ConfigError, match=f"strategy layers .* thresher train {tmp_path}"):
        load_layers(tmp_path / "model" / "trained", "layers")
    with pytest.raises(ConfigError, match="thresher train DIR"):
        load_layers(None, "context-graph")


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"N": -1},
        {"N": "2"},
        {"threshold": None},
        {"anchors": {"a": [0.1]}},
        {"anchors": {"a": ["x"] * 4}},
    ],
)
def test_a_damaged_model_is_refused(change, tmp_path):
    MODEL.save(tmp_path)
    content = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps(content | change))
    with pytest.raises(ThresherError, match="train again"):
        LayerModel.load(tmp_path)


def test_a_classifier_of_other_layers_is_refused(tmp_path):
    MODEL.save(tmp_path)
    content = json.loads((tmp_path / FILE).read_text())
    content |= {"N": 0, "anchors": {}}
    (tmp_path / FILE).write_text(json.dumps(content))
    with pytest.raises(ThresherError, match="no classifier of layers 0 to 0"):
        LayerModel.load(tmp_path)
