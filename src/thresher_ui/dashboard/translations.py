"""The language of a screen: texts, numbers, dates.

Texts of templates are in a gettext catalogue, those that come from the core in the core's own; English needs none.
English and Chinese format numbers alike, so only formats with words differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib import resources

from thresher.locale.translation import Translatable, _, translated
from thresher.operations.verdict import PART_MEANINGS
from thresher.records import TOPIC_PART

LANGUAGES = {"en": "English", "zh": "中文"}
"""Names by code, each in its own language."""
COOKIE = "thresher_language"


@dataclass(frozen=True)
class Texts:
    """Texts and formats of one language."""

    language: str
    translations: NullTranslations

    @property
    def others(self) -> dict[str, str]:
        """The other languages, by code."""
        return {code: name for code, name in LANGUAGES.items() if code != self.language}

    @property
    def html_language(self) -> str:
        """The language as HTML names it."""
        return "zh-Hans" if self.language == "zh" else self.language

    def number(self, value: float | None, digits: int = 0) -> str:
        """Format a number with thousands separators; a dash for None."""
        return "–" if value is None else f"{value:,.{digits}f}".replace("-", "−")

    def plain(self, value: float | None) -> str:
        """Format a number as the value of a form field; empty for None."""
        return "" if value is None else str(int(value)) if value == int(value) else str(value)

    def share(self, value: float | None) -> str:
        """Format a fraction in percent."""
        return "–" if value is None else f"{100 * value:.1f}%"

    def duration(self, seconds: float | None) -> str:
        """Format a duration with one unit."""
        if seconds is None:
            return "–"
        gettext = self.translations.gettext
        if seconds < 120:
            return gettext("{n} s").format(n=f"{seconds:.0f}" if seconds >= 1 else f"{seconds:.1g}")
        if seconds < 7200:
            return gettext("{n} min").format(n=f"{seconds / 60:.0f}")
        return gettext("{n} h").format(n=f"{seconds / 3600:,.1f}")

    def moment(self, seconds: float) -> str:
        """Format a time in UTC."""
        written = self.translations.gettext("%Y-%m-%d %H:%M UTC")
        return datetime.fromtimestamp(seconds, UTC).strftime(written)

    def translated(self, text: str) -> str:
        """Return a text of the core in this language; a text without a translation as it is."""
        return str(translated(text, self.language))

    def named(self, value: str) -> str:
        """Return what a value such as an outcome, a state or a kind is called."""
        return Translatable(value).in_language(self.language)

    def part(self, name: str) -> str:
        """Return what a part of a score is called."""
        if name.startswith(TOPIC_PART) and name not in PART_MEANINGS:
            return self.translated(_("topic {name}", name=name.removeprefix(TOPIC_PART)))
        return self.named(name)

    def titled(self, title: dict[str, str], name: str) -> str:
        """Return the title of a crawl in this language, else in any, else its name."""
        return title.get(self.language) or next((words for words in title.values() if words), name)


@cache
def texts_in(language: str) -> Texts:
    """Return the texts of a language; its catalogue is read once."""
    catalogue = resources.files("thresher_ui.dashboard") / "locale" / language / "LC_MESSAGES" / "screens.mo"
    if not catalogue.is_file():
        return Texts(language, NullTranslations())
    with catalogue.open("rb") as file:
        return Texts(language, GNUTranslations(file))


def choose(preferred: str, accepted: str) -> Texts:
    """Return the texts in the user's language: of the cookie, else of the browser, else English.

    Args:
        preferred: The value of the cookie; empty without one.
        accepted: The header Accept-Language.
    """
    if preferred in LANGUAGES:
        return texts_in(preferred)
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
