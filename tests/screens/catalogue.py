"""The words of the screens: ``python -m tests.screens.catalogue`` gathers them, and packs the translations.

What is new in templates and code comes into each catalogue without a translation; what is gone leaves it. The packed
file is what the dashboard reads.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

DASHBOARD = Path(__file__).parents[2] / "src" / "thresher_ui" / "dashboard"
LANGUAGES = ["zh"]
METHODS = [("templates/**.html", "jinja2"), ("charts.py", "python"), ("translations.py", "python")]
OPTIONS = {"templates/**.html": {"trimmed": "true", "silent": "false", "newstyle_gettext": "true"}}
KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2)}
NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)
"""The packed file has a place for dates; that it changes only with its texts is worth more."""
HEADER = "# What the screens say. Made by python -m tests.screens.catalogue; the translations are written by hand."


def po_of(language: str) -> Path:
    """Return where the translations into a language stand."""
    return DASHBOARD / "locale" / language / "LC_MESSAGES" / "screens.po"


def gathered() -> Catalog:
    """Return every text that the screens have."""
    found = Catalog()
    for file, _, message, _, context in extract_from_dir(
        DASHBOARD, method_map=METHODS, options_map=OPTIONS, keywords=KEYWORDS
    ):
        found.add(message, locations=[(file, 0)], context=context)
    return found


def updated(language: str) -> Catalog:
    """Return the catalogue of a language with all texts, and no others."""
    path = po_of(language)
    catalogue = Catalog(locale=language)
    if path.exists():
        with path.open("rb") as file:
            catalogue = read_po(file, locale=language)
    catalogue.update(gathered(), no_fuzzy_matching=True, update_creation_date=False)
    catalogue.obsolete.clear()
    return catalogue


def written(catalogue: Catalog) -> bytes:
    """Return a catalogue as text; it says nothing of when and where it was made."""
    packed = io.BytesIO()
    write_po(packed, catalogue, width=110, omit_header=True, sort_output=True, no_location=True)
    head = f'{HEADER}\nmsgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
    plural = f'"Language: {catalogue.locale}\\n"\n"Plural-Forms: {catalogue.plural_forms}\\n"\n\n'
    return f"{head}{plural}".encode() + packed.getvalue()


def packed(po: bytes, language: str) -> bytes:
    """Return a catalogue as gettext reads it."""
    catalogue = read_po(io.BytesIO(po), locale=language)
    catalogue.creation_date = catalogue.revision_date = NO_DATE
    made = io.BytesIO()
    write_mo(made, catalogue)
    return made.getvalue()


def untranslated(catalogue: Catalog) -> list[str]:
    """Return the texts that have no translation yet."""
    return [str(message.id) for message in catalogue if message.id and not (message.string and all(message.string))]


def main() -> None:
    """Write both files of every language."""
    for language in LANGUAGES:
        path = po_of(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        po = written(updated(language))
        path.write_bytes(po)
        path.with_suffix(".mo").write_bytes(packed(po, language))
        missing = untranslated(read_po(io.BytesIO(po), locale=language))
        print(f"{language}: {len(missing)} texts without a translation", *missing, sep="\n  ")


if __name__ == "__main__":
    main()
