"""The texts of the commands and of the screens: ``python -m tests.catalogue`` gathers them, and packs the translations.

What is new in code and templates comes into the catalogues of the core and of the dashboard without a translation; what
is gone leaves them. The packed file is what the program reads.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from thresher.cli import COMMANDS as SENTENCES
from thresher.cli import TASKS
from thresher.locale.translation import DOMAIN, LANGUAGES, LOCALE
from thresher.records import BlockKind, Outcome
from thresher.status import CrawlState, SpeedLimit
from thresher.strategies.link_model.model import GROUPS

SOURCE = Path(__file__).parents[1] / "src"
DASHBOARD = SOURCE / "thresher_ui" / "dashboard"
METHODS = {
    "templates": [("templates/**.html", "jinja2")],
    "code": [("charts.py", "python"), ("translations.py", "python")],
}
OPTIONS = {"templates/**.html": {"trimmed": "true", "silent": "false", "newstyle_gettext": "true"}}
KEYWORDS = {"templates": {"_": None, "gettext": None, "ngettext": (1, 2)}, "code": {"gettext": None}}
NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)
"""The packed file has a place for dates; that it changes only with its texts is worth more."""
VALUES = [
    *(*BlockKind, *Outcome, *CrawlState, SpeedLimit.STARTING),
    *("working", "waiting", "leaving", "silent"),
    *("start", "pause", "resume", "stop"),
    *("strategy", "judge", "seed source", "export format", "document format", "topic", "web"),
    *("links", "mirrors", "chunks", "records", "captures", "header", "markup"),
]
"""Values that are texts too: outcomes and kinds, states of workers, what a user does, has a name or is exported."""
PARTS = [
    *(*GROUPS, "page", "anchor", "context"),
    *("similarity", "background level", "topic level", "titled", "label correction"),
    *("label", "without label", "other language"),
]
"""Names of the parts of scores, as they are stored."""
SYSTEM_ERRORS = [
    *("Permission denied", "No such file or directory", "Address already in use", "Is a directory", "Not a directory"),
    *("Input/output error", "Connection refused", "Read-only file system"),
]
CLICK = [
    *("Options", "Commands", "Show this message and exit.", "Show the version and exit."),
    *("default: {default}", "env var: {var}"),
    *("Usage:", "Error: {message}", "Try '{command} {option}' for help.", "Aborted!", "Error: invalid input"),
    *("Invalid value: {message}", "Invalid value for {param_hint}: {message}"),
    *("Missing argument", "Missing option", "Missing parameter", "Missing command.", "No such command {name!r}."),
    *("No such option {name!r}.", "No such option: {name}"),
    ("Did you mean {possibility}?", "(Did you mean one of: {possibilities}?)"),
    ("(Possible option: {possibilities})", "(Possible options: {possibilities})"),
    ("Got unexpected extra argument ({args})", "Got unexpected extra arguments ({args})"),
    ("Option {name!r} requires an argument.", "Option {name!r} requires {nargs} arguments."),
    *("Option {name!r} does not take a value.", "Choose from:\n\t{choices}"),
    ("{value!r} is not {choice}.", "{value!r} is not one of {choices}."),
    *("{value!r} is not a valid {number_type}.", "{value} is not in the range {range}."),
    *("file", "directory", "path", "{name} {filename!r} does not exist.", "{name} {filename!r} is a file."),
    *("{name} {filename!r} is a directory.", "{name} {filename!r} is not readable."),
    "{name} {filename!r} is not writable.",
]
"""Texts of click's errors and help; of a pair, the second one is the plural."""

Text = str | tuple[str, ...]


@dataclass(frozen=True)
class Catalogues:
    """The catalogues of a package.

    Args:
        folder: Of all languages.
        domain: The name of the files.
        found: Yields every text; of a text with a plural both forms.
    """

    folder: Path
    domain: str
    found: Callable[[], Iterator[Text]]

    def po_of(self, language: str) -> Path:
        """Return where the translations into a language stand."""
        return self.folder / language / "LC_MESSAGES" / f"{self.domain}.po"

    def gathered(self) -> Catalog:
        """Return every text that the package has."""
        found = Catalog()
        for text in self.found():
            found.add(text)
        return found

    def updated(self, language: str) -> Catalog:
        """Return the catalogue of a language with all texts, and no others."""
        path = self.po_of(language)
        catalogue = Catalog(locale=language)
        if path.exists():
            with path.open("rb") as file:
                catalogue = read_po(file, locale=language)
        catalogue.update(self.gathered(), no_fuzzy_matching=True, update_creation_date=False)
        catalogue.obsolete.clear()
        return catalogue


def texts_of_screens() -> Iterator[Text]:
    """Yield the texts of templates and charts."""
    for kind, methods in METHODS.items():
        for found in extract_from_dir(DASHBOARD, method_map=methods, options_map=OPTIONS, keywords=KEYWORDS[kind]):
            yield found[2]


def texts_of_commands() -> Iterator[Text]:
    """Yield the texts that the code marks as translatable, the values that are texts, and those of click."""
    for path in sorted(SOURCE.rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        if "from thresher.locale.translation import" in code or path.stem == "translation":
            yield from marked(code)
    yield from map(str, (*VALUES, *PARTS, *SYSTEM_ERRORS, *TASKS, *SENTENCES.values()))
    yield from CLICK


def marked(code: str) -> Iterator[Text]:
    """Yield the texts in calls of ``_``: the template, and behind it the one for many."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_":
            texts = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            if texts and all(texts):
                yield texts[0] if len(texts) == 1 else tuple(texts)


SCREENS = Catalogues(DASHBOARD / "locale", "screens", texts_of_screens)
COMMANDS = Catalogues(LOCALE, DOMAIN, texts_of_commands)
ALL = (SCREENS, COMMANDS)


def written(catalogue: Catalog) -> bytes:
    """Return a catalogue as text; it says nothing of when and where it was made."""
    packed = io.BytesIO()
    write_po(packed, catalogue, width=110, omit_header=True, sort_output=True, no_location=True)
    head = '# Made by python -m tests.catalogue; the translations are written by hand.\nmsgid ""\nmsgstr ""\n'
    fields = f'"Content-Type: text/plain; charset=utf-8\\n"\n"Language: {catalogue.locale}\\n"\n'
    plural = f'"Plural-Forms: {catalogue.plural_forms}\\n"\n\n'
    return f"{head}{fields}{plural}".encode() + packed.getvalue()


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
    """Write both files of every catalogue."""
    for texts in ALL:
        for language in LANGUAGES:
            path = texts.po_of(language)
            path.parent.mkdir(parents=True, exist_ok=True)
            po = written(texts.updated(language))
            path.write_bytes(po)
            path.with_suffix(".mo").write_bytes(packed(po, language))
            missing = untranslated(read_po(io.BytesIO(po), locale=language))
            print(f"{texts.domain}, {language}: {len(missing)} texts without a translation", *missing, sep="\n  ")


if __name__ == "__main__":
    main()
