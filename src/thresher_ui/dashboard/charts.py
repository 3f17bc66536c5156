"""The charts of the dashboard as SVG; colours and fonts come from the style sheet, by class.

Every chart has its figures in a table beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10

from markupsafe import Markup

from thresher.charts.html import Html, element
from thresher.charts.svg import Frame, Paper, axes, picture, round_marks
from thresher_ui.dashboard.translations import Texts

PAPER = Paper(width=640, height=280, left=58, right=26, top=12, bottom=42)
HINTS, TABLE_ROWS = 60, 20
"""Points of a curve that show their figures on hover, and rows of its table, at most."""
SPARK = Paper(width=160, height=44, left=2, right=2, top=2, bottom=2)
BAR_WIDTH, BAR_HEIGHT = 120, 10

Point = Mapping[str, float]


def harvest_chart(points: Sequence[Point], texts: Texts) -> Markup:
    """Plot relevant pages over fetched pages; the diagonal is a crawl that fetches relevant pages only."""
    gettext = texts.translations.gettext
    frame, places = _harvest_frame(PAPER, points), _places(points)
    best = min(frame.x_end, frame.y_end)
    x_marks, y_marks = ([(mark, texts.number(mark)) for mark in round_marks(end)] for end in (frame.x_end, frame.y_end))
    svg = picture(
        frame,
        gettext("Relevant pages over fetched pages"),
        *axes(frame, x_marks, y_marks, x_title=gettext("pages fetched"), y_title=gettext("relevant pages")),
        _area(frame, places),
        element("line", x1=frame.x(0), y1=frame.y(0), x2=frame.x(best), y2=frame.y(best), class_="diagonal"),
        element("polyline", points=frame.points(places), class_="curve"),
        *_hints(points, frame, texts),
    )
    return Markup(svg)  # noqa: S704 - all of it was escaped by element


def _harvest_frame(paper: Paper, points: Sequence[Point]) -> Frame:
    return Frame(paper, x_end=max([1, *(p["pages"] for p in points)]), y_end=max([1, *(p["relevant"] for p in points)]))


def _places(points: Sequence[Point]) -> list[tuple[float, float]]:
    return [(0, 0), *((point["pages"], point["relevant"]) for point in points)]


def _area(frame: Frame, places: Sequence[tuple[float, float]]) -> Html:
    return element("polygon", points=frame.points([*places, (places[-1][0], 0)]), class_="area")


def _hints(points: Sequence[Point], frame: Frame, texts: Texts) -> list[Html]:
    gettext = texts.translations.gettext
    words = gettext("{pages} pages, {relevant} relevant; of the last pages {rate}")
    return [
        element(
            "circle",
            cx=frame.x(point["pages"]),
            cy=frame.y(point["relevant"]),
            r=3,
            class_="hint",
            data_hint=words.format(
                pages=texts.number(point["pages"]),
                relevant=texts.number(point["relevant"]),
                rate=texts.share(point["rate"]),
            ),
        )
        for point in thinned(points, HINTS)
    ]


def thinned(points: Sequence[Point], most: int = TABLE_ROWS) -> list[Point]:
    """Choose at most `most` points, the last one included; their rates are of the pages between the chosen points."""
    step = max(1, ceil(len(points) / most))
    chosen = points[::-step][::-1]  # counted from the end, so that the newest figures are there
    before: Sequence[Point] = [{"pages": 0, "relevant": 0}, *chosen]
    return [
        {**point, "rate": (point["relevant"] - last["relevant"]) / (point["pages"] - last["pages"])}
        for last, point in zip(before, chosen, strict=False)
    ]


def sparkline(points: Sequence[Point], texts: Texts) -> Markup:
    """Plot the harvest curve small, without axes."""
    frame, places = _harvest_frame(SPARK, points), _places(points)
    title = texts.translations.gettext("Relevant pages over fetched pages")
    curve = element("polyline", points=frame.points(places), class_="curve")
    attributes = {"viewBox": SPARK.view_box, "preserveAspectRatio": "none", "role": "img", "aria_label": title}
    svg = element("svg", element("title", title), _area(frame, places), curve, class_="spark", **attributes)
    return Markup(svg)  # noqa: S704 - all of it was escaped by element


def histogram(bins: Sequence[Point], texts: Texts) -> Markup:
    """Plot the waiting URLs by score, with a logarithmic count axis: small counts matter as much as large ones."""
    gettext = texts.translations.gettext
    top = max([10, *(each["count"] for each in bins)])
    frame = Frame(PAPER, x_end=max(1, len(bins)), y_end=_height(top))
    edges = [each["low"] for each in bins] + [each["high"] for each in bins[-1:]]
    places = range(0, len(edges), max(1, len(bins) // 8))
    x_marks = list(zip(places, _distinct([edges[place] for place in places]), strict=True))
    y_marks = [(_height(count), texts.number(count)) for count in _tens(top)]
    columns = [_column(place, each, frame, texts) for place, each in enumerate(bins)]
    lines = axes(frame, x_marks, y_marks, x_title=gettext("score"), y_title="")
    svg = picture(frame, gettext("Waiting URLs by score"), *lines, *columns)
    return Markup(svg)  # noqa: S704 - all of it was escaped by element


def _distinct(values: Sequence[float]) -> list[str]:
    """Format numbers with as many digits as needed to be distinct."""
    for digits in range(2, 7):
        written = [f"{value:.{digits}f}" for value in values]
        if len(set(written)) == len(values):
            break
    return written


def _height(count: float) -> float:
    return log10(1 + count)


def _tens(top: float) -> list[int]:
    return [0, *(10**power for power in range(floor(log10(top)) + 1))]


def _column(place: int, each: Point, frame: Frame, texts: Texts) -> Html:
    words = texts.translations.gettext("{count} URLs with scores from {low} to {high}")
    top = frame.y(_height(each["count"]))
    return element(
        "rect",
        x=frame.x(place) + 1,
        y=top,
        width=max(1.0, frame.x(place + 1) - frame.x(place) - 2),
        height=frame.y(0) - top,
        class_="column hint",
        data_hint=words.format(count=texts.number(each["count"]), low=f"{each['low']:.3f}", high=f"{each['high']:.3f}"),
    )


def bar(value: float, biggest: float, *, signed: bool = False) -> Markup:
    """Plot one part of a score: a bar to the right of zero, or to the left when it is negative."""
    zero = BAR_WIDTH / 2 if signed else 0.0
    length = (BAR_WIDTH - zero) * min(1.0, abs(value) / biggest) if biggest else 0.0
    start = zero if value >= 0 else zero - length
    side = "for" if value >= 0 else "against"
    rect = element("rect", x=start, y=1, width=max(length, 0.5), height=BAR_HEIGHT - 2, class_=f"part {side}")
    axis = element("line", x1=zero, x2=zero, y1=0, y2=BAR_HEIGHT, class_="zero")
    box = f"0 0 {BAR_WIDTH} {BAR_HEIGHT}"
    return Markup(element("svg", rect, axis, viewBox=box, class_="bar", aria_hidden="true"))  # noqa: S704 - numbers only
