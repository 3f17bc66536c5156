"""Layers are measured as a crawl would use them."""

from tests.unit.papers.strategies.layers.small_source import SmallSource
from thresher_papers.training.layers import layer_quality, train_layers

SOURCE = SmallSource()


def test_the_quality_of_layers_is_that_of_held_out_pages(tmp_path):
    learned = train_layers(SOURCE, range(10), tmp_path, N=2)
    quality = layer_quality(SOURCE, learned)
    assert list(quality.confusion) == ["0", "1", "2"]
    assert quality.pages == 30
    assert quality.accuracy > 0.8
    assert quality.confusion == layer_quality(SOURCE, learned).confusion


def test_a_page_that_belongs_to_no_layer_is_called_other(tmp_path):
    learned = train_layers(SOURCE, range(10), tmp_path)
    predicted = {label for row in layer_quality(SOURCE, learned).confusion.values() for label in row}
    assert predicted <= {"0", "1", "2", "other"}
