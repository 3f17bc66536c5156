"""Pictures: well-formed, in scale, and with every figure given in words too."""

from math import log
from xml.etree import ElementTree

import pytest

from thresher_ui.dashboard.charts import BAR_WIDTH, bar, harvest_chart, histogram, sparkline
from thresher_ui.dashboard.translations import texts_in

TEXTS = texts_in("en")
CURVE = [{"pages": 10 * n, "relevant": 5 * n, "rate": 0.5} for n in range(1, 21)]
BINS = [{"low": n / 10, "high": (n + 1) / 10, "count": n} for n in range(10)]


def drawn(picture):
    return ElementTree.fromstring(str(picture))


@pytest.mark.parametrize("points", [[], CURVE[:1], CURVE])
def test_a_curve_of_any_length_is_drawn(points):
    for picture in (drawn(harvest_chart(points, TEXTS)), drawn(sparkline(points, TEXTS))):
        assert picture.get("role") == "img"
        assert len(picture.find("polyline").get("points").split()) == len(points) + 1


def test_the_best_crawl_is_the_diagonal():
    picture = drawn(harvest_chart([{"pages": 50, "relevant": 50, "rate": 1.0}], TEXTS))
    line = next(line for line in picture.iter("line") if line.get("class") == "diagonal")
    assert picture.find("polyline").get("points").split()[-1] == ",".join(
        f"{float(line.get(key)):.1f}" for key in ("x2", "y2")
    )


def test_a_curve_tells_its_figures():
    hints = [each.get("data-hint") for each in drawn(harvest_chart(CURVE, TEXTS)).iter("circle")]
    assert hints[0] == "10 pages, 5 relevant; of the last pages 50.0%"


def test_long_curves_tell_only_some_of_them():
    many = [{"pages": n, "relevant": n // 2, "rate": 0.5} for n in range(1, 2001)]
    assert len(list(drawn(harvest_chart(many, TEXTS)).iter("circle"))) <= 70


def test_columns_are_as_high_as_the_logarithms_of_their_counts():
    columns = [float(each.get("height")) for each in drawn(histogram(BINS, TEXTS)).iter("rect")]
    assert columns[9] / columns[1] == pytest.approx(log(10) / log(2), rel=0.01)
    assert columns[0] == 0


def test_a_few_urls_are_seen_beside_a_million():
    bins = [{"low": 0.0, "high": 0.1, "count": 1_000_000}, {"low": 0.1, "high": 0.2, "count": 1}]
    assert float(drawn(histogram(bins, TEXTS)).findall("rect")[1].get("height")) > 5


def test_an_empty_histogram_is_no_fault():
    assert drawn(histogram([], TEXTS)).get("role") == "img"


def test_words_are_in_the_language_of_the_screen():
    assert "相关网页" in str(harvest_chart(CURVE, texts_in("zh")))


@pytest.mark.parametrize(("value", "x", "width"), [(2.0, 60, 60), (-1.0, 30, 30), (0.0, 60, 0.5)])
def test_what_counts_against_goes_to_the_left(value, x, width):
    drawn_bar = drawn(bar(value, 2.0, signed=True)).find("rect")
    assert (float(drawn_bar.get("x")), float(drawn_bar.get("width"))) == (x, width)


def test_a_bar_without_sign_begins_at_the_left():
    assert float(drawn(bar(1.0, 1.0)).find("rect").get("width")) == BAR_WIDTH
