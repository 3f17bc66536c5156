"""From context graphs to a model of layers."""

import pytest

from tests.unit.papers.strategies.layers.small_source import SmallSource
from thresher.errors import ConfigError
from thresher.records import ParsedPage
from thresher_papers.strategies.layers.learn import learn_layers
from thresher_papers.strategies.layers.model import LayerModel
from thresher_papers.training.layers import train_layers

SOURCE = SmallSource()


@pytest.fixture(scope="module")
def learned():
    return learn_layers(SOURCE, range(10))


def test_layers_and_the_links_into_them_are_counted(learned):
    assert [(layer.pages, layer.links) for layer in learned.layers] == [
        (10, 20),
        (10, 10),
        (10, 0),
        (0, 0),
        (0, 0),
        (0, 20),
    ]


def test_the_words_of_each_layer_are_found(learned):
    assert set(learned.layers[0].terms) >= {"solar", "cell", "panel"}
    assert "directori" in learned.layers[1].terms
    assert learned.layers[5].terms == []


@pytest.mark.parametrize(("page", "layer"), [(0, 0), (10, 1), (20, 2)])
def test_the_layer_of_a_page_is_found_by_its_words(learned, page, layer):
    assert learned.model.layer_of(ParsedPage(url="", text=SOURCE.text(page)))[0] == layer


def test_anchors_lead_where_their_like_led(learned):
    # L_0 holds "solar cell n" ten times (the digit is no word) and "solar panel" ten times.
    assert learned.model.anchors["solar"][0] == pytest.approx(2**-0.5)
    assert learned.model.link_layer("solar cell")[0] == 0
    assert learned.model.link_layer("energy directory") == (1, pytest.approx(1.0))
    assert learned.model.link_layer("tea")[0] == 5


def test_too_few_targets_are_refused():
    with pytest.raises(ConfigError, match="2 pages of the topic are too few"):
        learn_layers(SOURCE, [0, 1])


def test_targets_that_nobody_links_to_are_refused():
    with pytest.raises(ConfigError, match="hardly any page links"):
        learn_layers(SOURCE, range(20, 30))


def test_what_was_learned_lies_in_its_folder(tmp_path):
    learned = train_layers(SOURCE, range(10), tmp_path / "model" / "trained")
    model = LayerModel.load(tmp_path / "model" / "trained")
    assert model.link_layer("solar cell") == learned.model.link_layer("solar cell")
