"""Line charts and interval bars as SVG; colours and fonts come from the page's style sheet, by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil

from thresher.charts.html import Html, element, joined
from thresher.charts.svg import Frame, Paper, axes, picture, round_marks, round_step
from thresher_lab.statistics.curves import Band

PAPER = Paper(width=600, height=340, left=64, right=148, top=12, bottom=44)
"""The names of the curves are to the right."""
MIN_SHARE = 0.01
"""The smallest step of the y axis."""

LABEL_HEIGHT = 15
LABEL_CHARACTERS = 20
COLOURS = 10
"""How many colours the style sheet has; further curves repeat them with dashes."""


def colour_classes(strategies: Sequence[str], baseline: str, oracle: str) -> dict[str, str]:
    """Return a CSS class for every strategy: the baseline and the oracle have their own, the others alternate."""
    classes = {baseline: "baseline", oracle: "oracle"}
    others = [name for name in dict.fromkeys(strategies) if name not in classes]
    for number, name in enumerate(others):
        dashes = f" dashes{number // COLOURS}" if number >= COLOURS else ""
        classes[name] = f"colour{number % COLOURS}{dashes}"
    return classes


def line_chart(bands: Sequence[Band], classes: Mapping[str, str], *, title: str, y_title: str) -> Html:
    """Plot curves over fetches, each with its band; values are shares, marked in percent."""
    frame = _frame(bands)
    y_marks = [(mark, f"{100 * mark:.0f} %") for mark in round_marks(frame.y_end, least=MIN_SHARE)]
    x_marks = [(mark, f"{mark:,.0f}") for mark in round_marks(frame.x_end)]
    return picture(
        frame,
        title,
        *axes(frame, x_marks, y_marks, x_title="fetches", y_title=y_title),
        *(_area(band, frame, classes) for band in bands),
        *(_line(band, frame, classes) for band in bands),
        *_labels(bands, frame, classes),
    )


def _frame(bands: Sequence[Band]) -> Frame:
    highest = max(max(band.high) for band in bands) or MIN_SHARE
    step = round_step(highest, least=MIN_SHARE)
    return Frame(PAPER, x_end=max(band.fetches[-1] for band in bands), y_end=max(1, ceil(highest / step)) * step)


def _area(band: Band, frame: Frame, classes: Mapping[str, str]) -> Html | None:
    if classes[band.strategy] == "oracle":  # its band would hide the others
        return None
    there = [(fetches, high) for fetches, high in zip(band.fetches, band.high, strict=True)]
    back = [(fetches, low) for fetches, low in zip(band.fetches, band.low, strict=True)]
    return element("polygon", points=frame.points([*there, *reversed(back)]), class_=f"band {classes[band.strategy]}")


def _line(band: Band, frame: Frame, classes: Mapping[str, str]) -> Html:
    points = frame.points(zip(band.fetches, band.mean, strict=True))
    name = element("title", band.strategy)
    return element("polyline", name, points=points, class_=f"line {classes[band.strategy]}")


def _labels(bands: Sequence[Band], frame: Frame, classes: Mapping[str, str]) -> list[Html]:
    """Place the names beside the ends of their curves, moved apart where they overlap."""
    ordered = sorted(bands, key=lambda band: -band.mean[-1])
    heights = spread([frame.y(band.mean[-1]) for band in ordered], LABEL_HEIGHT, PAPER.height - PAPER.bottom)
    return [_label(band, height, frame, classes) for band, height in zip(ordered, heights, strict=True)]


def _label(band: Band, height: float, frame: Frame, classes: Mapping[str, str]) -> Html:
    name, end = band.strategy, PAPER.width - PAPER.right
    shown = name if len(name) <= LABEL_CHARACTERS else f"{name[: LABEL_CHARACTERS - 1]}…"
    own = classes[band.strategy]
    leader = element("line", x1=end, y1=frame.y(band.mean[-1]), x2=end + 8, y2=height, class_=f"leader {own}")
    words = element("text", element("title", name), shown, x=end + 11, y=height + 4, class_=f"label {own}")
    return joined(leader, words)


def spread(heights: Sequence[float], distance: float, lowest: float) -> list[float]:
    """Move rising heights apart, downwards first and up again where they would leave the chart."""
    moved = list(heights)
    for before, here in pairwise(range(len(moved))):
        moved[here] = max(moved[here], moved[before] + distance)
    ceiling = lowest
    for place in reversed(range(len(moved))):
        moved[place] = min(moved[place], ceiling)
        ceiling = moved[place] - distance
    return moved


def interval_bar(low: float, mean: float, high: float, *, class_: str) -> Html:
    """Plot a mean and its interval on a scale from 0 to 100; the figures are beside it."""
    whisker = element("line", x1=low, x2=high, y1=8, y2=8, class_=f"line {class_}")
    scale = element("line", x1=0, x2=100, y1=8, y2=8, class_="grid")
    dot = element("circle", cx=mean, cy=8, r=4, class_=f"dot {class_}")
    return element("svg", scale, whisker, dot, viewBox="-5 0 110 16", class_="interval", aria_hidden="true")
