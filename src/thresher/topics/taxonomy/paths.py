"""Paths of taxonomy nodes, such as ``Sports/Basketball/NBA``.

The artificial root ``Top`` is never written. ODP keeps other languages in branches of their own,
``World/Chinese_Simplified/…``: the first two names determine the language and are not levels of the topic.
"""

from __future__ import annotations

import re

from thresher.text.languages import language

MAX_CHARACTERS = 1_000
MAX_LEVELS = 50
"""Longer and deeper paths are damaged data, not topics; ODP's own stay below 300 and 16."""

_LANGUAGES = {
    name: code
    for code, names in {
        "af": "Afrikaans", "ar": "Arabic", "be": "Belarusian", "bg": "Bulgarian", "ca": "Català", "cs": "Česky",
        "cy": "Cymraeg", "da": "Dansk", "de": "Deutsch", "el": "Greek", "eo": "Esperanto", "es": "Español",
        "et": "Eesti", "eu": "Euskara", "fa": "Persian", "fi": "Suomi", "fr": "Français", "gl": "Galego",
        "he": "Hebrew", "hi": "Hindi", "hr": "Hrvatski", "hu": "Magyar", "hy": "Armenian",
        "id": "Bahasa_Indonesia", "is": "Íslenska", "it": "Italiano", "ja": "Japanese", "ko": "Korean",
        "lt": "Lietuvių", "lv": "Latviski", "ms": "Bahasa_Melayu", "nl": "Nederlands", "no": "Norsk",
        "pl": "Polski", "pt": "Português", "ro": "Română", "ru": "Russian", "sk": "Slovensky",
        "sl": "Slovensko", "sr": "Srpski", "sv": "Svenska", "th": "Thai", "tr": "Türkçe", "uk": "Ukrainian",
        "vi": "Vietnamese", "zh": "Chinese_Simplified Chinese_Traditional",
    }.items()
    for name in names.split()
}  # fmt: skip
_BRANCH = re.compile(r"(?:World|Kids_and_Teens/International)/([^/]+)")


def clean_path(text: str) -> str:
    """Normalize a path: without root, empty levels and outer blanks; empty when it is not valid."""
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else " " for letter in text)
    levels = [level for level in (" ".join(piece.split()) for piece in text.split("/")) if level]
    if levels and levels[0] == "Top":
        del levels[0]
    path = "/".join(levels)
    return path if len(path) <= MAX_CHARACTERS and len(levels) <= MAX_LEVELS else ""


def parent_of(path: str) -> str:
    """Return the path one level up; empty, which is the root, for a path of one level."""
    return path.rpartition("/")[0]


def default_label(path: str) -> str:
    """Return the last name of a path as words."""
    return path.rpartition("/")[2].replace("_", " ").strip() or path


def path_language(path: str) -> str:
    """Return the language of a node's own name: by its branch, or else by its script."""
    branch = _BRANCH.match(path)
    code = _LANGUAGES.get(branch[1]) if branch else None
    return code or label_language(default_label(path))


def label_language(label: str) -> str:
    """Return the language of a label by its script; English for Latin letters."""
    repeated = " ".join([label] * 4)  # a label is too short for language detection
    return "en" if label.isascii() else language(repeated) or "en"


def levels_of(path: str) -> list[str]:
    """Return the paths of all topic levels, from the first below the root to the node itself."""
    branch = _BRANCH.match(path)
    skipped = branch.end() if branch and branch[1] in _LANGUAGES and branch.end() < len(path) else 0
    ends = [place for place, letter in enumerate(path) if letter == "/" and place > skipped]
    return [*(path[:end] for end in ends), path]
