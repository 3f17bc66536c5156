"""The language of a screen: its words, its numbers, its dates.

The words are in gettext catalogues; English is the language of the templates and needs none. English and Chinese write
numbers alike, so only what has words in it differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib import resources

LANGUAGES = {"en": "English", "zh": "中文"}
"""By code, each in its own words."""
COOKIE = "thresher_language"


@dataclass(frozen=True)
class Texts:
    """Everything that a screen says in one language."""

    language: str
    translations: NullTranslations

    @property
    def others(self) -> dict[str, str]:
        """The languages to switch to, by code."""
        return {code: name for code, name in LANGUAGES.items() if code != self.language}

    def number(self, value: float | None, digits: int = 0) -> str:
        """Write a number with marks between thousands; a dash where there is none."""
        return "–" if value is None else f"{value:,.{digits}f}".replace("-", "−")

    def plain(self, value: float | None) -> str:
        """Write a number as a field of a form takes it; nothing where there is none."""
        return "" if value is None else str(int(value)) if value == int(value) else str(value)

    def share(self, value: float | None) -> str:
        """Write a share of 1 in percent."""
        return "–" if value is None else f"{100 * value:.1f}%"

    def duration(self, seconds: float | None) -> str:
        """Write a time span with one unit, as long as one would say it."""
        if seconds is None:
            return "–"
        say = self.translations.gettext
        if seconds < 120:
            return say("{n} s").format(n=f"{seconds:.0f}" if seconds >= 1 else f"{seconds:.1g}")
        if seconds < 7200:
            return say("{n} min").format(n=f"{seconds / 60:.0f}")
        return say("{n} h").format(n=f"{seconds / 3600:,.1f}")

    def moment(self, seconds: float) -> str:
        """Write when something was, by the clock of the world."""
        written = self.translations.gettext("%Y-%m-%d %H:%M UTC")
        return datetime.fromtimestamp(seconds, UTC).strftime(written)

    def titled(self, title: dict[str, str], name: str) -> str:
        """Choose the title of a crawl: in this language, else in any, else its name."""
        return title.get(self.language) or next((words for words in title.values() if words), name)


@cache
def texts_in(language: str) -> Texts:
    """Open a language; its catalogue is read once."""
    catalogue = resources.files("thresher.dashboard") / "locale" / language / "LC_MESSAGES" / "screens.mo"
    if not catalogue.is_file():
        return Texts(language, NullTranslations())
    with catalogue.open("rb") as file:
        return Texts(language, GNUTranslations(file))


def choose(wished: str, accepted: str) -> Texts:
    """Take the language that was wished for, else the first that the browser asks for, else English.

    Args:
        wished: What the cookie says; empty without one.
        accepted: The header Accept-Language.
    """
    if wished in LANGUAGES:
        return texts_in(wished)
    known = [code for code in map(_primary, _by_weight(accepted)) if code in LANGUAGES]
    return texts_in(known[0] if known else "en")


def _primary(tag: str) -> str:
    return tag.partition("-")[0].strip().lower()


def _by_weight(accepted: str) -> list[str]:
    pieces = [piece.partition(";") for piece in accepted[:500].split(",")]
    weighted = [(_weight(rest), tag.strip()) for tag, _, rest in pieces]
    return [tag for weight, tag in sorted(weighted, key=lambda each: -each[0]) if weight > 0]


def _weight(rest: str) -> float:
    name, _, value = rest.strip().partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0
