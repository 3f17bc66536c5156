"""Texts for people: English in data, logs and JSON, translated where they are shown.

A `Translatable` is a string, its English text, which keeps its template and fields. The command line and the dashboard
show it in the language of their user. Translations are in gettext catalogues, made by ``python -m tests.catalogue``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path
from typing import Any, Self

ENGLISH = "en"
LANGUAGES = ("zh",)
"""The languages with a catalogue, besides English."""
LOCALE = Path(__file__).parent
DOMAIN = "thresher"
_NO_LANGUAGE = ("", "C", "POSIX")


class Translatable(str):
    """An English text that knows its translation.

    Args:
        template: The text, with the places of fields as in `str.format`.
        many: The same for another number than 1 in the field `n`; without it the text has no plural.
        fields: The values; one that is translatable, or the message of an exception that is, is translated too.
    """

    template: str
    many: str
    fields: dict[str, Any]

    def __new__(cls, template: str, many: str = "", /, **fields: Any) -> Self:
        fields = {name: str(value) if isinstance(value, BaseException) else value for name, value in fields.items()}
        chosen = many if many and fields["n"] != 1 else template
        text = super().__new__(cls, chosen.format(**fields) if fields else chosen)
        text.template, text.many, text.fields = template, many, fields
        return text

    def __str__(self) -> Self:
        return self  # so that str(error) can be translated

    def in_language(self, language: str) -> str:
        """Return the text in a language; in English where it has no translation."""
        if language not in LANGUAGES:
            return self
        texts = catalogue(language)
        if self.many:
            template = texts.ngettext(self.template, self.many, self.fields["n"])
        else:
            template = texts.gettext(self.template) if self.template else ""  # gettext("") is the catalogue's header
        values = {name: translated(value, language) for name, value in self.fields.items()}
        return template.format(**values) if values else template

    def in_english(self, english: str) -> Self:
        """Return a text that is another one in English, with the same translations."""
        text = str.__new__(type(self), english)
        text.__dict__.update(self.__dict__)
        return text

    def capitalized(self) -> Self:
        """Return the text as the beginning of a sentence."""
        return self.in_english(f"{self[:1].upper()}{self[1:]}")


_ = Translatable
COMMA, SEMICOLON, AND = _(", "), _("; "), _(" and ")


def joined(separator: str, parts: Iterable[str]) -> Translatable:
    """Join texts; what is translatable in them is translated, and so is the separator."""
    fields = {f"part{number}": part for number, part in enumerate(parts)}
    template = "{separator}".join(f"{{{name}}}" for name in fields)
    return Translatable(template, separator=separator, **fields)


def translated(value: Any, language: str) -> Any:
    """Return a text in a language if it is translatable; anything else as it is."""
    return value.in_language(language) if isinstance(value, Translatable) else value


def localized(text: object) -> str:
    """Return a text in the language of the environment."""
    return str(translated(str(text), environment_language()))


def environment_language(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language that the environment names, by the rules of gettext; English when it has no catalogue."""
    locale = next(filter(None, map(environment.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    if locale in _NO_LANGUAGE:  # then LANGUAGE does not count
        return ENGLISH
    wanted = (re.split(r"[-_.@]", each)[0] for each in (environment.get("LANGUAGE") or locale).split(":"))
    return next((code for code in wanted if code in (ENGLISH, *LANGUAGES)), ENGLISH)


@cache
def catalogue(language: str) -> NullTranslations:
    """Return the catalogue of a language, which is read once."""
    return translation(DOMAIN, LOCALE, [language], fallback=True)
