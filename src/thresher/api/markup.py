"""Tables for notebooks: whatever a page says is text there, never markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from typing import Any

from thresher.text.printable import printable

MOST_CHARACTERS = 120
"""Of a cell; longer ones are cut."""


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return an HTML table; empty headings are left out."""
    head = "".join(f"<th>{cell(column)}</th>" for column in columns) if any(columns) else ""
    body = "".join(f"<tr>{''.join(f'<td>{cell(value)}</td>' for value in row)}</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def cell(value: Any) -> str:
    """Write a value as the text of a cell."""
    if isinstance(value, float):
        text = f"{value:.3f}"
    elif isinstance(value, datetime):
        text = value.isoformat(" ", timespec="seconds")
    else:
        text = "" if value is None else printable(str(value))
    return escape(text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…")
