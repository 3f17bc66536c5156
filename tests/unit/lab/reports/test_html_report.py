"""A report compares what can be compared, says what was left out, and holds no markup but its own."""

import math
import re
import sys
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from thresher.charts.html import element, joined, table
from thresher.errors import ConfigError
from thresher_lab.reports.charts import PAPER, colour_classes, line_chart, spread
from thresher_lab.reports.comparisons import make_sections
from thresher_lab.reports.html_report import ReportProvenance, current_provenance, html_report, repeat_command
from thresher_lab.reports.overview import file_names, write_pictures
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics.curves import Band, bands

MADE = ReportProvenance(
    command="thresher lab report rows.jsonl", date="2031-05-06 07:08 UTC", machine="4 cores, Python 3.13"
)
VOID = {"meta"}


def row(strategy, topic, seed_set=0, *, hits=2, targets=5, pages=10, **more):
    """A crawl that finds its targets at its first fetches, beside an oracle that finds them all at once."""
    curve = [[k, min(k, hits)] for k in range(1, pages + 1)]
    oracle = [[k, min(k, targets)] for k in range(1, pages + 1)]
    areas = [sum(found for _, found in each) for each in (curve, oracle)]
    fields = {"web": "small", "topic": topic, "strategy": strategy, "seed_set": seed_set, "judge": "perfect"}
    fields |= {"pages": pages, "seeds": 2, "parameters": {}, "targets": targets, "harvest_rate": hits / pages}
    return fields | {"percent_of_oracle": 100 * areas[0] / areas[1], "curve": curve, "oracle_curve": oracle} | more


def two_strategies(topics=("tea", "solar", "ships"), **more):
    rows = [row("breadth-first", topic, hits=1 + place % 3, **more) for place, topic in enumerate(topics)]
    return rows + [row("best-first", topic, hits=2 + place % 3, **more) for place, topic in enumerate(topics)]


def page(rows, **options):
    return html_report(make_sections(rows, **options), MADE)


class Outline(HTMLParser):
    """Collects the elements of a page and its text, and complains about what is not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    def count(self, tag, class_=None):
        return sum(name == tag and class_ in (None, found.get("class")) for name, found in self.elements)

    @property
    def text(self):
        return " ".join(self.words)


# sections


def test_judges_budgets_and_webs_are_never_mixed():
    rows = two_strategies() + two_strategies(judge="adaptive") + two_strategies(pages=20) + two_strategies(web="big")
    found = [section.setting for section in make_sections(rows)]
    assert [(each.web, each.judge, each.pages) for each in found] == [
        ("big", "perfect", 10),
        ("small", "perfect", 10),
        ("small", "perfect", 20),
        ("small", "adaptive", 10),
    ]


def test_rows_without_a_partner_are_left_out_and_counted():
    [section] = make_sections([*two_strategies(), row("best-first", "tea", 1), row("breadth-first", "birds")])
    assert section.left_out == 2
    assert sorted(section.targets) == ["ships", "solar", "tea"]


def test_a_task_that_is_there_twice_counts_once():
    [section] = make_sections([row("breadth-first", "tea", hits=5), row("breadth-first", "tea", hits=1)])
    assert section.left_out == 0
    assert section.comparisons[0].mean.mean == pytest.approx(100 * 10 / 40)


def test_other_parameters_are_another_strategy():
    rows = [*two_strategies(), *(row("best-first", topic, parameters={"delta": 1}) for topic in ("tea", "solar"))]
    [section] = make_sections(rows)
    assert section.strategies == ["best-first", "best-first (delta=1)", "breadth-first"]


def test_strategies_are_ordered_from_the_best_and_measured_against_the_baseline():
    [section] = make_sections(
        [*two_strategies(), *(row("oracle", topic, hits=5) for topic in ("tea", "solar", "ships"))]
    )
    assert section.strategies == ["best-first", "breadth-first", "oracle"]
    assert section.comparisons[0].wins == 3


def test_upper_bounds_take_no_part_in_the_correction_of_p():
    topics = [f"topic {number}" for number in range(8)]
    alone = make_sections(two_strategies(topics))[0]
    bounds = [row(bound, topic, hits=5) for topic in topics for bound in ("oracle", "labels-known")]
    beside = make_sections([*two_strategies(topics), *bounds])[0]
    assert alone.comparisons[0].p == beside.comparisons[0].p


def test_upper_bounds_stand_apart_from_contenders():
    bounds = [row("labels-known", topic, hits=5) for topic in ("tea", "solar", "ships")]
    [section] = make_sections([*two_strategies(), *bounds])
    assert [each.strategy for each in section.contenders] == ["best-first", "breadth-first"]
    assert [each.strategy for each in section.bounds] == ["labels-known"]
    assert [line["upper_bound"] for line in section.summary()] == [False, False, True]


def test_an_upper_bound_may_be_the_baseline():
    bounds = [row("labels-known", topic, hits=5) for topic in ("tea", "solar", "ships")]
    [section] = make_sections([*two_strategies(), *bounds], "labels-known")
    assert section.bounds == []
    assert section.strategies[0] == "labels-known"


def test_a_summary_has_the_first_60_fetches_unless_its_rows_are_older():
    early = {"percent_of_oracle_60": 80.0, "harvest_60": 0.25}
    rows = [row("breadth-first", "tea"), row("best-first", "tea", **early)]
    best, breadth = sorted(make_sections(rows)[0].summary(), key=lambda line: line["strategy"])
    assert (best["percent_of_oracle_60"], best["harvest_60"]) == (80.0, 0.25)
    assert (breadth["percent_of_oracle_60"], breadth["harvest_60"]) == (None, None)


def test_a_summary_is_plain_values_with_their_setting():
    line = make_sections(two_strategies())[0].summary()[0]
    assert (line["web"], line["judge"], line["strategy"], line["topics"]) == ("small", "perfect", "best-first", 3)
    assert set(line["mean"]) == {"mean", "low", "high"}


def test_what_cannot_be_compared_says_why():
    with pytest.raises(ConfigError, match="no results to compare"):
        make_sections([])
    with pytest.raises(ConfigError, match=r"'shark' has no results on small.*best-first, breadth-first.*--baseline"):
        make_sections(two_strategies(), "shark")
    with pytest.raises(ConfigError, match="no topic and seed set in common"):
        make_sections([row("breadth-first", "tea"), row("best-first", "solar")])


@pytest.mark.parametrize("line", [{"web": "small"}, [], 3])
def test_a_line_that_is_no_row_is_an_error(line):
    with pytest.raises(ConfigError, match=r"no row of thresher lab compare: it has no .*curve"):
        make_sections([line])


# curves


def test_curves_are_means_over_topics_of_means_over_seed_sets():
    rows = [row("breadth-first", "tea", 0, hits=1), row("breadth-first", "tea", 1, hits=3)]
    rows += [row("breadth-first", "solar", seed_set, hits=4, targets=4) for seed_set in (0, 1)]
    [section] = make_sections(rows)
    recall, harvest = bands(section, "recall")[0], bands(section, "harvest")[0]
    assert recall.mean[-1] == pytest.approx((2 / 5 + 4 / 4) / 2)
    assert harvest.mean[-1] == pytest.approx((2 / 10 + 4 / 10) / 2)
    assert recall.fetches == list(range(1, 11))


def test_the_band_of_a_curve_holds_its_mean_and_reaches_as_far_as_the_topics():
    [section] = make_sections(
        [row("breadth-first", topic, hits=hits) for topic, hits in {"tea": 1, "solar": 3}.items()]
    )
    band = bands(section, "recall")[0]
    assert (band.low[-1], band.mean[-1], band.high[-1]) == pytest.approx((0.2, 0.4, 0.6))
    assert all(low <= mean <= high for low, mean, high in zip(band.low, band.mean, band.high, strict=True))


def test_the_oracle_has_a_curve_also_when_it_was_not_run():
    oracle = bands(make_sections(two_strategies())[0], "recall")[-1]
    assert (oracle.strategy, oracle.mean[4]) == ("oracle", 1)


# charts


def band(strategy, values):
    return Band(strategy=strategy, fetches=range(1, len(values) + 1), mean=values, low=values, high=values)


def places_in(chart):
    drawn = re.findall(r'points="([^"]*)"', chart)
    return [tuple(map(float, pair.split(","))) for points in drawn for pair in points.split()]


@pytest.mark.parametrize("values", [[0.0, 0.0], [1.0, 1.0], [0.004, 0.003], [0.5], [0.37] * 1000])
def test_every_point_of_a_chart_is_in_the_picture(values):
    chart = line_chart([band("a", values)], {"a": "colour0"}, title="t", y_title="y")
    assert all(0 <= x <= PAPER.width and 0 <= y <= PAPER.height for x, y in places_in(chart))
    assert not math.isnan(sum(map(sum, places_in(chart))))


def test_names_beside_curves_do_not_cover_each_other():
    moved = spread([10, 11, 12, 95], 15, 100)
    assert all(after - before >= 15 for before, after in pairwise(moved))
    assert moved[-1] <= 100
    assert spread([95, 96, 97], 15, 100) == [70, 85, 100]


def test_more_strategies_than_colours_are_distinguished_by_dashes():
    names = [f"strategy {number}" for number in range(25)]
    assert len(set(colour_classes(names, "breadth-first", "oracle").values())) == 27


# the page


def test_a_report_is_one_page_that_needs_nothing_else():
    text = page(two_strategies() + two_strategies(judge="adaptive"))
    outline = Outline(text)
    assert text.startswith("<!DOCTYPE html>")
    assert not outline.count("script") + outline.count("link") + outline.count("img") + outline.count("iframe")
    assert not re.search(r"url\(|@import|(?:src|href)=\"(?!#)|\son\w+=", text)
    assert "prefers-color-scheme: dark" in text


def test_a_report_says_how_it_was_made_and_what_its_figures_mean():
    text = Outline(page(two_strategies())).text
    for words in ("thresher lab report rows.jsonl", "2031-05-06 07:08 UTC", "4 cores, Python 3.13"):
        assert words in text
    for words in ("small, perfect judge, 10 fetches", "3 topics × 1 seed set of 2", "% of oracle", "HR@R", "bootstrap"):
        assert words in text


def test_every_curve_has_its_table():
    outline = Outline(page(two_strategies()))
    assert outline.count("figure") == outline.count("svg", "chart") == 2
    assert outline.text.count("The same as a table") == 2


def test_every_topic_and_every_strategy_is_in_the_tables():
    text = Outline(page(two_strategies())).text
    assert all(name in text for name in ("tea", "solar", "ships", "best-first", "breadth-first", "baseline"))
    assert "tea (25.0)" in text  # breadth-first found 1 of 5: an area of 10 against 40


def test_the_first_60_fetches_have_columns_and_older_rows_a_dash_there():
    early = {"percent_of_oracle_60": 81.5, "harvest_60": 0.256}
    new = Outline(page(two_strategies(**early))).text
    assert "% in first 60" in new
    assert "81.5" in new
    assert "0.256" in new
    assert Outline(page(two_strategies())).words.count("–") > Outline(page(two_strategies(**early))).words.count("–")


def test_upper_bounds_have_a_table_of_their_own():
    bounds = [row("labels-known", topic, hits=5) for topic in ("tea", "solar", "ships")]
    beside, alone = Outline(page([*two_strategies(), *bounds])), Outline(page(two_strategies()))
    assert "Upper bounds" in beside.words
    assert "Upper bounds" not in alone.words
    assert beside.count("table") == alone.count("table") + 1


def test_rows_that_were_left_out_are_reported():
    assert "2 further rows are left out" in page([*two_strategies(), row("best-first", "x"), row("best-first", "y")])


def test_nothing_in_the_rows_becomes_markup():
    evil = "<script>alert(1)</script>\"'&<b onload=x>"
    text = page([row("breadth-first", evil, web=evil, judge=evil), row(evil, evil, web=evil, judge=evil)])
    outline = Outline(text)
    assert not outline.count("script") + outline.count("b")
    assert not any(name.startswith("on") for _, found in outline.elements for name in found)
    assert evil in "".join(outline.words)


def test_what_a_report_says_of_the_machine_names_neither_host_nor_folder(tmp_path):
    made = current_provenance("thresher lab report rows.jsonl")
    assert re.fullmatch(r"\d+ cores, Python [\d.]+\S*, Thresher \S+", made.machine)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", made.date)


def test_a_section_gives_the_command_that_made_it():
    rows = [row("breadth-first", topic, web="webkb") for topic in split("webkb", "dev")]
    assert repeat_command(make_sections(rows)[0]) == (
        "thresher lab compare --web webkb --strategies breadth-first --topics dev --seeds 1 --seeds-per-set 2 "
        "--pages 10 --judge perfect --baseline breadth-first"
    )
    assert "--topics 'two words,tea'" in repeat_command(make_sections(two_strategies(["two words", "tea"]))[0])


def test_what_no_command_can_repeat_has_none():
    assert repeat_command(make_sections([row("breadth-first", "tea", 3)])[0]) is None
    given = [row("breadth-first", "tea"), row("best-first", "tea", parameters={"delta": 1})]
    assert repeat_command(make_sections(given)[0]) is None


# markup


def test_text_is_escaped_and_markup_is_not_escaped_twice():
    assert element("p", "a < b", element("b", "&")) == "<p>a &lt; b<b>&amp;</b></p>"
    assert joined("<", None, 2.50) == "&lt;2.5"
    assert element("th", class_='x"y', text_anchor="end", id=None) == '<th class="x&quot;y" text-anchor="end"></th>'


def test_a_table_needs_a_cell_for_every_heading():
    assert Outline(table(["a", "b"], [["x", 1], ["y", 2]], words=["b"])).count("td", "words") == 2


# pictures


def test_pictures_are_named_by_web_and_judge():
    rows = two_strategies(web="a/b") + two_strategies() + two_strategies(pages=20)
    assert file_names(make_sections(rows)) == ["a_b-perfect", "small-perfect-10-2", "small-perfect-20-2"]


def test_pictures_are_written_for_both_curves(tmp_path):
    pytest.importorskip("matplotlib")
    written = write_pictures(make_sections([*two_strategies(), row("$x$", "tea")]), tmp_path / "new")
    assert [path.name for path in written] == ["small-perfect-harvest.png", "small-perfect-recall.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_pictures_without_matplotlib_name_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ModuleNotFoundError, match="matplotlib"):
        write_pictures(make_sections(two_strategies()), tmp_path)
