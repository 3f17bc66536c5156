"""The curves as PNG files, for documents that cannot hold SVG; needs matplotlib."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from thresher_lab.reports.comparisons import Section, Setting
from thresher_lab.reports.html_report import CURVE_TITLES, title_of
from thresher_lab.simulation.tasks import ORACLE
from thresher_lab.statistics.curves import KINDS, Band, Kind, bands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#1f5fbf", "#b35200", "#177a46", "#7a35d1", "#c2293d", "#0b7385", "#7a5230", "#a82a88", "#6a6a00", "#40527a")
INCHES = (8.2, 4.2)
DOTS_PER_INCH = 160


def write_pictures(sections: Sequence[Section], folder: Path) -> list[Path]:
    """Write one chart per section and curve; return their paths.

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    names = file_names(sections)
    written = []
    for section, name in zip(sections, names, strict=True):
        for kind in KINDS:
            path = folder / f"{name}-{kind}.png"
            figure = Figure(figsize=INCHES, layout="constrained")
            _plot(figure.add_subplot(), section, kind)
            figure.savefig(path, dpi=DOTS_PER_INCH)
            written.append(path)
    return written


def file_names(sections: Sequence[Section]) -> list[str]:
    """Name sections by web and judge; by their budget and seeds too, where those names are not distinct."""
    settings = [section.setting for section in sections]
    alike = Counter((setting.web, setting.judge) for setting in settings)
    return [
        _safe(f"{setting.web}-{setting.judge}") + (_numbers(setting) if alike[setting.web, setting.judge] > 1 else "")
        for setting in settings
    ]


def _numbers(setting: Setting) -> str:
    newer = f"-{setting.training:g}-{setting.distance}" if setting.training or setting.distance else ""
    capped = f"-{setting.host_pages}-per-host" if setting.host_pages else ""
    return f"-{setting.pages}-{setting.seeds}{newer}{capped}"


def _safe(name: str) -> str:
    return re.sub(r"[^\w+-]", "_", name)


def _plot(axes: Axes, section: Section, kind: Kind) -> None:
    title, y_title = CURVE_TITLES[kind]
    contenders = [name for name in section.strategies if name not in (ORACLE, section.baseline)]
    for band in bands(section, kind):
        _draw_band(axes, band, _look(band.strategy, section.baseline, contenders))
    axes.set_title(_plain(f"{title}\n{title_of(section)}"), fontsize=10)
    axes.set_xlabel("fetches")
    axes.set_ylabel(y_title)
    axes.set_ylim(bottom=0)
    axes.set_xlim(0, section.setting.pages)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _plain(text: str) -> str:
    """Escape text that matplotlib would read as a formula."""
    return text.replace("$", r"\$")


def _draw_band(axes: Axes, band: Band, look: dict[str, str]) -> None:
    axes.plot(
        band.fetches,
        band.mean,
        label=_plain(band.strategy),
        linewidth=1.6,
        color=look["color"],
        linestyle=look["linestyle"],
    )
    if band.strategy != ORACLE:
        axes.fill_between(band.fetches, band.low, band.high, color=look["color"], alpha=0.13, linewidth=0)


def _look(strategy: str, baseline: str, contenders: Sequence[str]) -> dict[str, str]:
    if strategy == ORACLE:
        return {"color": "#1c2330", "linestyle": "--"}
    if strategy == baseline:
        return {"color": "#6b7280", "linestyle": "-"}
    number = contenders.index(strategy)
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": "-" if number < len(COLOURS) else ":"}
