"""HTML and SVG that is escaped by construction: everything but `Html` is text, and text is always escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from typing import Any

from thresher.text.terminal import printable

MAX_CHARACTERS = 120
"""Maximum length of a cell; longer ones are truncated."""


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return an HTML table for Jupyter; empty headings are left out."""
    head = "".join(f"<th>{cell(column)}</th>" for column in columns) if any(columns) else ""
    body = "".join(f"<tr>{''.join(f'<td>{cell(value)}</td>' for value in row)}</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def cell(value: Any) -> str:
    """Return a value as the escaped text of a cell."""
    if isinstance(value, float):
        text = f"{value:.3f}"
    elif isinstance(value, datetime):
        text = value.isoformat(" ", timespec="seconds")
    else:
        text = "" if value is None else printable(str(value))
    return escape(text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…")


class Html(str):
    """Markup made by this module."""

    __slots__ = ()


Child = str | float | None
"""Text, a number, or `Html`; None is nothing."""


def element(name: str, *children: Child, **attributes: Child) -> Html:
    """Make an element, of HTML or of SVG.

    Args:
        name: Its name.
        children: Its content, in order.
        attributes: ``class_`` is written as class and ``text_anchor`` as text-anchor; None values are left out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Html:
    """Concatenate parts."""
    return Html("".join(child if isinstance(child, Html) else escape(_text(child)) for child in children))


def _text(value: Child) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return "" if value is None else str(value)


def table(columns: Sequence[str], rows: Iterable[Sequence[Child]], *, words: Sequence[str] = ()) -> Html:
    """Make a table whose first column contains the row headings.

    Args:
        columns: The headings.
        rows: The cells.
        words: The text columns: they are aligned to the left, all others to the right.
    """
    classes = ["words" if column in words else None for column in columns]
    head = [element("th", column, scope="col", class_=name) for column, name in zip(columns, classes, strict=True)]
    body = [element("tr", element("th", first, scope="row"), *map(_cell, rest, classes[1:])) for first, *rest in rows]
    parts = element("thead", element("tr", *head)), element("tbody", *body)
    return element("div", element("table", *parts), class_="wide", tabindex="0")


def _cell(value: Child, class_: str | None) -> Html:
    return element("td", value, class_=class_)


def folded(summary: str, *children: Child, is_open: bool = False) -> Html:
    """Make a collapsible part."""
    return element("details", element("summary", summary), *children, open="open" if is_open else None)
