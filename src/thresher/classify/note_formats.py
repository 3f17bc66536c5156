"""The formats of what a judge writes down of its sample: which there were, and how the first is read.

The first was an npz file as it is, with the pages in the order in which they had come to lie. Since the second, entries
are squeezed draws; those without a number are of the second too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from thresher.classify.arrays import unpack_arrays
from thresher.classify.draw import Draw
from thresher.classify.entries import BadEntry, unpack_both

FORMAT = 2
_NPZ = b"PK"


def unpack_notes(entry: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return arrays and values of an entry as the newest format has them.

    Raises:
        ValueError: It is no entry of a judge, or a newer Thresher wrote it.
    """
    if entry.startswith(_NPZ):
        return _first(unpack_arrays(entry), name=hashlib.sha256(entry).hexdigest()[:32])
    arrays, values = unpack_both(entry)
    if values.get("format", FORMAT) != FORMAT:
        raise BadEntry(f"a newer Thresher wrote it (its format is {values['format']}, this one reads up to {FORMAT})")
    return arrays, values


def _first(arrays: Mapping[str, Any], *, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    names, notes = _json(arrays["names"]), _json(arrays["notes"])
    kept, urls = int(names["kept"]), names["urls"]
    spans = [slice(*span) for span in pairwise(arrays["starts"].tolist())]
    order = [*range(kept), *(kept + np.random.default_rng(0).permutation(len(urls) - kept)).tolist()]
    draw = Draw(
        seen=int(arrays["seen"][0]),
        kept=kept,
        urls=[urls[place] for place in order],
        terms=names["terms"],
        numbers=_on_end([arrays["numbers"][spans[place]] for place in order]).astype(np.int64),
        weights=_on_end([arrays["weights"][spans[place]] for place in order]).astype(np.float64),
        starts=np.cumsum([0, *(spans[place].stop - spans[place].start for place in order)]),
    )
    given = [notes["given"].get(url) for url in draw.urls]
    parts, values = draw.take_apart()
    return parts, values | {"worker": name, "seeds": notes["seeds"], "told": notes["told"], "given": given}


def _on_end(parts: list[Any]) -> Any:
    return np.concatenate(parts) if parts else np.empty(0)


def _json(content: Any) -> dict[str, Any]:
    values = json.loads(content.tobytes().decode("utf-8", "surrogatepass"))
    if not isinstance(values, dict):
        raise BadEntry("it is no object")
    return values
