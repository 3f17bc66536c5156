"""SVG charts with two axes: scales, round ticks, a grid and titles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, log10

from thresher.charts.html import Html, element

MARKS = 6
"""Maximum number of tick steps on an axis."""

Mark = tuple[float, str]
"""A tick: a value and its label."""


@dataclass(frozen=True, slots=True)
class Paper:
    """The size of a chart, and the margins around its plot."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    @property
    def view_box(self) -> str:
        return f"0 0 {self.width} {self.height}"


@dataclass(frozen=True, slots=True)
class Frame:
    """Linear scales from values to coordinates; both axes begin at 0.

    Args:
        x_end: The right end of the horizontal axis.
        y_end: The upper end of the vertical axis.
    """

    paper: Paper
    x_end: float
    y_end: float

    def x(self, value: float) -> float:
        paper = self.paper
        return paper.left + (paper.width - paper.left - paper.right) * value / self.x_end

    def y(self, value: float) -> float:
        paper = self.paper
        return paper.top + (paper.height - paper.top - paper.bottom) * (1 - value / self.y_end)

    def points(self, values: Iterable[tuple[float, float]]) -> str:
        """Return several points in the syntax of the `points` attribute."""
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in values)


def round_step(end: float, *, least: float = 0.0) -> float:
    """Return the distance of ticks: 1, 2 or 5 times a power of ten, and not below `least`."""
    size = 10.0 ** floor(log10(max(end, 1e-9) / MARKS))
    step = next((size * factor for factor in (1, 2, 5, 10) if end / (size * factor) <= MARKS), size * 10)
    return max(least, step)


def round_marks(end: float, *, least: float = 1.0) -> list[float]:
    """Return the values of the ticks of an axis."""
    step = round_step(end, least=least)
    return [step * number for number in range(floor(end / step + 1e-9) + 1)]


def axes(frame: Frame, x_marks: Iterable[Mark], y_marks: Iterable[Mark], *, x_title: str, y_title: str) -> list[Html]:
    """Return a grid line for each tick of the vertical axis, the labels of all ticks, and the titles of the axes."""
    paper, parts = frame.paper, []
    end, low = paper.width - paper.right, paper.height - paper.bottom
    for value, label in y_marks:
        y = frame.y(value)
        parts.append(element("line", x1=paper.left, x2=end, y1=y, y2=y, class_="grid"))
        parts.append(element("text", label, x=paper.left - 6, y=y + 4, text_anchor="end"))
    for value, label in x_marks:
        parts.append(element("text", label, x=frame.x(value), y=low + 16, text_anchor="middle"))
    parts.append(element("text", x_title, x=(paper.left + end) / 2, y=paper.height - 8, text_anchor="middle"))
    if y_title:
        middle = (paper.top + low) / 2
        turned = f"rotate(-90 12 {middle:.0f})"
        parts.append(element("text", y_title, x=12, y=middle, text_anchor="middle", transform=turned))
    return parts


def picture(frame: Frame, title: str, *parts: Html | None) -> Html:
    """Return the complete chart, with its title for screen readers."""
    attributes = {"viewBox": frame.paper.view_box, "class_": "chart", "role": "img", "aria_label": title}
    return element("svg", element("title", title), *parts, **attributes)
