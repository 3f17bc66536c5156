"""The pictures of the dashboard as SVG; colours and fonts come from the style sheet, by class.

Every picture has its figures in a table beside it, so nothing is said here alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10

from markupsafe import Markup

from thresher.dashboard.texts import Texts
from thresher.lab.markup import Html, element

WIDTH, HEIGHT = 640, 280
LEFT, RIGHT, TOP, BOTTOM = 58, 26, 12, 42
MARKS = 6
"""At most so many marks on an axis."""
HINTS = 60
"""At most so many places of a curve tell their figures when pointed at."""
SPARK_WIDTH, SPARK_HEIGHT = 160, 44
BAR_WIDTH, BAR_HEIGHT = 120, 10

Point = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Frame:
    """From values to places in the picture."""

    right: float
    top: float

    def x(self, value: float) -> float:
        """Place a value on the horizontal axis."""
        return LEFT + (WIDTH - LEFT - RIGHT) * value / self.right

    def y(self, value: float) -> float:
        """Place a value on the vertical axis."""
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / self.top)


def round_step(top: float, marks: int = MARKS) -> float:
    """Choose the distance of an axis's marks: 1, 2 or 5 times a power of ten."""
    size = 10.0 ** floor(log10(max(top, 1e-9) / marks))
    return next((size * factor for factor in (1, 2, 5, 10) if top / (size * factor) <= marks), size * 10)


def harvest_chart(points: Sequence[Point], texts: Texts) -> Markup:
    """Draw relevant pages over fetched ones; the diagonal is a crawl that fetches nothing else."""
    say = texts.translations.gettext
    frame = Frame(right=max(1, *(p["pages"] for p in points), 1), top=max(1, *(p["relevant"] for p in points), 1))
    places = [(frame.x(p["pages"]), frame.y(p["relevant"])) for p in [{"pages": 0, "relevant": 0}, *points]]
    best = min(frame.right, frame.top)
    area = [(places[0][0], frame.y(0)), *places, (places[-1][0], frame.y(0))]
    return _picture(
        say("Relevant pages over fetched pages"),
        *_axes(frame, texts, say("pages fetched"), say("relevant pages")),
        element("polygon", points=_written(area), class_="area"),
        element("line", x1=frame.x(0), y1=frame.y(0), x2=frame.x(best), y2=frame.y(best), class_="diagonal"),
        element("polyline", points=_written(places), class_="curve"),
        *_hints(points, frame, texts),
    )


def _hints(points: Sequence[Point], frame: Frame, texts: Texts) -> list[Html]:
    say = texts.translations.gettext
    words = say("{pages} pages, {relevant} relevant; of the last ones {rate}")
    chosen = points[:: max(1, len(points) // HINTS)]
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
        for point in chosen
    ]


def _axes(frame: Frame, texts: Texts, x_title: str, y_title: str) -> list[Html]:
    lines: list[Html] = []
    for value in _marks(frame.top):
        y = frame.y(value)
        lines.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        lines.append(_text(texts.number(value), LEFT - 6, y + 4, "end"))
    for value in _marks(frame.right):
        lines.append(_text(texts.number(value), frame.x(value), HEIGHT - BOTTOM + 16, "middle"))
    turned = f"rotate(-90 12 {(TOP + HEIGHT - BOTTOM) / 2:.0f})"
    lines.append(_text(x_title, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "middle"))
    lines.append(_text(y_title, 12, (TOP + HEIGHT - BOTTOM) / 2, "middle", transform=turned))
    return lines


def _marks(top: float) -> list[float]:
    step = max(1.0, round_step(top))
    return [step * number for number in range(floor(top / step) + 1)]


def _text(words: str, x: float, y: float, anchor: str, transform: str | None = None) -> Html:
    return element("text", words, x=x, y=y, text_anchor=anchor, transform=transform)


def _written(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _picture(title: str, *parts: Html, **attributes: str) -> Markup:
    told = {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "class_": "chart", "role": "img", "aria_label": title, **attributes}
    return Markup(element("svg", element("title", title), *parts, **told))  # noqa: S704 - all of it was escaped by element


def sparkline(points: Sequence[Point], texts: Texts) -> Markup:
    """Draw the harvest curve small, without axes."""
    right = max(1, *(p["pages"] for p in points), 1)
    top = max(1, *(p["relevant"] for p in points), 1)
    places = [
        (2 + (SPARK_WIDTH - 4) * p["pages"] / right, SPARK_HEIGHT - 2 - (SPARK_HEIGHT - 4) * p["relevant"] / top)
        for p in [{"pages": 0, "relevant": 0}, *points]
    ]
    floor_ = SPARK_HEIGHT - 2
    return _picture(
        texts.translations.gettext("Relevant pages over fetched pages"),
        element("polygon", points=_written([(2, floor_), *places, (places[-1][0], floor_)]), class_="area"),
        element("polyline", points=_written(places), class_="curve"),
        class_="spark",
        viewBox=f"0 0 {SPARK_WIDTH} {SPARK_HEIGHT}",
        preserveAspectRatio="none",
    )


def histogram(bins: Sequence[Point], texts: Texts) -> Markup:
    """Draw how many waiting URLs have which score; few URLs are as interesting as many, so counts are logarithms."""
    say = texts.translations.gettext
    top = max([10, *(each["count"] for each in bins)])
    frame = Frame(right=max(1, len(bins)), top=_height(top))
    lines: list[Html] = []
    for value in _tens(top):
        y = frame.y(_height(value))
        lines.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        lines.append(_text(texts.number(value), LEFT - 6, y + 4, "end"))
    every = max(1, len(bins) // 8)
    edges = [each["low"] for each in bins] + [each["high"] for each in bins[-1:]]
    for place in range(0, len(edges), every):
        lines.append(_text(f"{edges[place]:.2f}", frame.x(place), HEIGHT - BOTTOM + 16, "middle"))
    lines.append(_text(say("score"), (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "middle"))
    columns = [_column(place, each, frame, texts) for place, each in enumerate(bins)]
    return _picture(say("Waiting URLs by score"), *lines, *columns)


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
    """Draw one part of a score: to the right of its zero, or to the left when it counts against."""
    zero = BAR_WIDTH / 2 if signed else 0.0
    length = (BAR_WIDTH - zero) * min(1.0, abs(value) / biggest) if biggest else 0.0
    start = zero if value >= 0 else zero - length
    side = "for" if value >= 0 else "against"
    drawn = element("rect", x=start, y=1, width=max(length, 0.5), height=BAR_HEIGHT - 2, class_=f"part {side}")
    axis = element("line", x1=zero, x2=zero, y1=0, y2=BAR_HEIGHT, class_="zero")
    box = f"0 0 {BAR_WIDTH} {BAR_HEIGHT}"
    return Markup(element("svg", drawn, axis, viewBox=box, class_="bar", aria_hidden="true"))  # noqa: S704 - numbers only
