"""What mkdocs is given beyond mkdocs.yml: pages that lie at the root of the repository, and links that leave the site.

A page is written once, for a reader of the repository; on the site a link to a source file would lead nowhere, so its
words remain and the link goes. A picture that has a dark version beside it is replaced by that in the dark. A path in
a table may be broken over lines, so that it leaves room for the other columns.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
FROM_ROOT = {
    "README.md": "index.md",
    "README.zh-CN.md": "index.zh-CN.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "GOVERNANCE.md": "governance.md",
    "ROADMAP.md": "roadmap.md",
}
"""Pages beside the folder of the docs, and where they stand on the site."""
_BACK = {page: source for source, page in FROM_ROOT.items()}
_FENCE = re.compile(r"(^ *```.*?^ *```$)", flags=re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?P<picture>!?)\[(?P<words>[^\[\]]*)\]\((?P<target>(?!https?://|mailto:|#)[^)\s]+)\)")
_CELL = re.compile(r"<td\b.*?</td>", flags=re.DOTALL)
_PATH = re.compile(r"(?<=<code>)[^<]*/[^<]*")
_BREAK_AFTER = re.compile(r"/|_|::")


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the pages of the repository's root."""
    root = posixpath.dirname(config.config_file_path.replace("\\", "/"))
    for source, page in FROM_ROOT.items():
        with open(f"{root}/{source}", encoding="utf-8") as text:
            files.append(File.generated(config, page, content=text.read()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn the links of a page, but those in code, into links of the site."""
    return site_links(markdown, page.file.src_uri)


def on_page_content(html: str, **_: Any) -> str:
    """Let paths in tables be broken over lines."""
    return breakable_paths(html)


def breakable_paths(html: str) -> str:
    """Add places for line breaks to the paths and names of tests in the cells of tables."""

    def cell(found: re.Match[str]) -> str:
        return _PATH.sub(lambda path: _BREAK_AFTER.sub(r"\g<0><wbr>", path[0]), found[0])

    return _CELL.sub(cell, html)


def site_links(markdown: str, page: str) -> str:
    """Rewrite the links of a page of the site; those that leave it become words."""
    parts = _FENCE.split(markdown)
    return "".join(part if part.lstrip().startswith("```") else _rewritten(part, page) for part in parts)


def _rewritten(text: str, page: str) -> str:
    place = posixpath.dirname(_BACK.get(page, f"docs/{page}"))

    def link(found: re.Match[str]) -> str:
        target, _, anchor = found["target"].partition("#")
        path = posixpath.normpath(posixpath.join(place, target))
        inside = FROM_ROOT.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else "")
        if not inside:
            return found["words"]
        where = posixpath.relpath(inside, posixpath.dirname(page) or ".")
        if found["picture"] and (dark := _dark_version(path)):
            shown = posixpath.join(posixpath.dirname(where), dark)
            return f"![{found['words']}]({where}#only-light)![{found['words']}]({shown}#only-dark)"
        return f"{found['picture']}[{found['words']}]({where}{'#' + anchor if anchor else ''})"

    return _LINK.sub(link, text)


def _dark_version(picture: str) -> str:
    """Return the name of the dark version of a picture of the repository; empty if there is none."""
    path = Path(picture)
    dark = f"{path.stem}-dark{path.suffix}"
    return dark if (ROOT / path.parent / dark).is_file() else ""
