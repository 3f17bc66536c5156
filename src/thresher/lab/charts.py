"""Line charts and interval bars as SVG; colours and fonts come from the page's style sheet, by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from thresher.lab.curves import Band
from thresher.lab.markup import Html, element, joined

WIDTH, HEIGHT = 600, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 148, 12, 44
"""What is kept free around the plot; the names of the curves stand to the right."""

LABEL_HEIGHT = 15
LABEL_CHARACTERS = 20
COLOURS = 10
"""How many colours the style sheet has; further curves repeat them with dashes."""

_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True, slots=True)
class Frame:
    """From values to places in the picture.

    Args:
        fetches: The right end of the x axis.
        top: The upper end of the y axis.
        step: Between two marks of the y axis.
    """

    fetches: int
    top: float
    step: float

    def x(self, fetches: float) -> float:
        """Place a number of fetches."""
        return LEFT + (WIDTH - LEFT - RIGHT) * fetches / self.fetches

    def y(self, value: float) -> float:
        """Place a value."""
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / self.top)


def colour_classes(strategies: Sequence[str], baseline: str, oracle: str) -> dict[str, str]:
    """Give every strategy its class: the baseline and the oracle have their own, the others take turns."""
    classes = {baseline: "baseline", oracle: "oracle"}
    others = [name for name in dict.fromkeys(strategies) if name not in classes]
    for number, name in enumerate(others):
        dashes = f" dashes{number // COLOURS}" if number >= COLOURS else ""
        classes[name] = f"colour{number % COLOURS}{dashes}"
    return classes


def line_chart(bands: Sequence[Band], classes: Mapping[str, str], *, title: str, y_title: str) -> Html:
    """Draw curves over fetches, each with its band; values are shares, marked in percent."""
    frame = _frame(bands)
    parts = [*_grid(frame, y_title), *(_area(band, frame, classes) for band in bands)]
    parts += [_line(band, frame, classes) for band in bands]
    parts += _labels(bands, frame, classes)
    return element(
        "svg",
        element("title", title),
        *parts,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="chart",
        role="img",
        aria_label=title,
    )


def _frame(bands: Sequence[Band]) -> Frame:
    highest = max(max(band.high) for band in bands) or 0.01
    step = next((step for step in _STEPS if highest / step <= 6), _STEPS[-1])
    marks = max(1, -int(-highest / step // 1))
    return Frame(fetches=max(band.fetches[-1] for band in bands), top=marks * step, step=step)


def _grid(frame: Frame, y_title: str) -> list[Html]:
    lines: list[Html] = []
    for mark in range(round(frame.top / frame.step) + 1):
        y = frame.y(mark * frame.step)
        lines.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        words = f"{100 * mark * frame.step:.0f} %"
        lines.append(element("text", words, x=LEFT - 6, y=y + 4, class_="mark", text_anchor="end"))
    for fetches in _x_marks(frame.fetches):
        place = {"x": frame.x(fetches), "y": HEIGHT - BOTTOM + 16}
        lines.append(element("text", f"{fetches:,}", class_="mark", text_anchor="middle", **place))
    middle = (LEFT + WIDTH - RIGHT) / 2
    lines.append(element("text", "fetches", x=middle, y=HEIGHT - 8, class_="axis", text_anchor="middle"))
    turned = f"rotate(-90 12 {(TOP + HEIGHT - BOTTOM) / 2:.0f})"
    place = {"x": 12.0, "y": (TOP + HEIGHT - BOTTOM) / 2}
    return [*lines, element("text", y_title, class_="axis", text_anchor="middle", transform=turned, **place)]


def _x_marks(fetches: int) -> list[int]:
    """Choose round numbers of fetches, five or so of them."""
    size = 10 ** (len(str(fetches)) - 1)
    step = next(
        step for step in (size // 10 or 1, size // 5 or 1, size // 2 or 1, size, 2 * size) if fetches <= 6 * step
    )
    return list(range(0, fetches + 1, step))


def _area(band: Band, frame: Frame, classes: Mapping[str, str]) -> Html | None:
    if classes[band.strategy] == "oracle":  # its band would hide the others, and it is no contender
        return None
    there = [(fetches, high) for fetches, high in zip(band.fetches, band.high, strict=True)]
    back = [(fetches, low) for fetches, low in zip(band.fetches, band.low, strict=True)]
    return element("polygon", points=_points([*there, *reversed(back)], frame), class_=f"band {classes[band.strategy]}")


def _line(band: Band, frame: Frame, classes: Mapping[str, str]) -> Html:
    points = _points(list(zip(band.fetches, band.mean, strict=True)), frame)
    name = element("title", band.strategy)
    return element("polyline", name, points=points, class_=f"line {classes[band.strategy]}")


def _points(places: Sequence[tuple[int, float]], frame: Frame) -> str:
    return " ".join(f"{frame.x(fetches):.1f},{frame.y(value):.1f}" for fetches, value in places)


def _labels(bands: Sequence[Band], frame: Frame, classes: Mapping[str, str]) -> list[Html]:
    """Write the names beside the ends of their curves, the ones that are near each other moved apart."""
    ordered = sorted(bands, key=lambda band: -band.mean[-1])
    heights = spread([frame.y(band.mean[-1]) for band in ordered], LABEL_HEIGHT, HEIGHT - BOTTOM)
    return [_label(band, height, frame, classes) for band, height in zip(ordered, heights, strict=True)]


def _label(band: Band, height: float, frame: Frame, classes: Mapping[str, str]) -> Html:
    name, end = band.strategy, WIDTH - RIGHT
    shown = name if len(name) <= LABEL_CHARACTERS else f"{name[: LABEL_CHARACTERS - 1]}…"
    own = classes[band.strategy]
    leader = element("line", x1=end, y1=frame.y(band.mean[-1]), x2=end + 8, y2=height, class_=f"leader {own}")
    words = element("text", element("title", name), shown, x=end + 11, y=height + 4, class_=f"label {own}")
    return joined(leader, words)


def spread(heights: Sequence[float], distance: float, lowest: float) -> list[float]:
    """Move rising heights apart, downwards first and up again where they would leave the picture."""
    moved = list(heights)
    for before, here in pairwise(range(len(moved))):
        moved[here] = max(moved[here], moved[before] + distance)
    ceiling = lowest
    for place in reversed(range(len(moved))):
        moved[place] = min(moved[place], ceiling)
        ceiling = moved[place] - distance
    return moved


def interval_bar(low: float, mean: float, high: float, *, class_: str) -> Html:
    """Draw a mean and its interval on a scale from 0 to 100; the figures stand beside it."""
    whisker = element("line", x1=low, x2=high, y1=8, y2=8, class_=f"line {class_}")
    scale = element("line", x1=0, x2=100, y1=8, y2=8, class_="grid")
    dot = element("circle", cx=mean, cy=8, r=4, class_=f"dot {class_}")
    return element("svg", scale, whisker, dot, viewBox="-5 0 110 16", class_="interval", aria_hidden="true")
