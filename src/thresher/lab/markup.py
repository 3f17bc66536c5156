"""Markup that is escaped by construction: what is not `Html` is text, and text never becomes markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Html(str):
    """Markup that was put together by this file."""

    __slots__ = ()


Child = str | float | None
"""Text, a number, or `Html`; None is nothing."""


def element(name: str, *children: Child, **attributes: Child) -> Html:
    """Make an element, of HTML or of SVG.

    Args:
        name: Its name.
        children: What is inside, in order.
        attributes: ``class_`` is written as class and ``text_anchor`` as text-anchor; one that is None is left out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Html:
    """Put pieces one after another."""
    return Html("".join(child if isinstance(child, Html) else escape(_text(child)) for child in children))


def _text(value: Child) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return "" if value is None else str(value)


def table(columns: Sequence[str], rows: Iterable[Sequence[Child]], *, words: Sequence[str] = ()) -> Html:
    """Make a table whose first column names the rows.

    Args:
        columns: The headings.
        rows: The cells.
        words: The columns that are read, not compared: they stand to the left, all others to the right.
    """
    looks = ["words" if column in words else None for column in columns]
    head = [element("th", column, scope="col", class_=look) for column, look in zip(columns, looks, strict=True)]
    body = [element("tr", element("th", first, scope="row"), *map(_cell, rest, looks[1:])) for first, *rest in rows]
    parts = element("thead", element("tr", *head)), element("tbody", *body)
    return element("div", element("table", *parts), class_="wide", tabindex="0")


def _cell(value: Child, look: str | None) -> Html:
    return element("td", value, class_=look)


def folded(summary: str, *children: Child, is_open: bool = False) -> Html:
    """Make a part that opens at a click."""
    return element("details", element("summary", summary), *children, open="open" if is_open else None)
