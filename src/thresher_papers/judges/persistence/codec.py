"""Encoding of a `PlainScorer` as numbers, arrays and terms, and decoding with validation.

Decoding trusts nothing: every array must have the expected type and length, and every index must point into the
model, before a scorer is made. No name from a file is ever imported, looked up or run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.errors import ThresherError
from thresher_papers.judges.persistence.scorer import PlainScorer

KIND = "plain-scorer"
"""The name of the format in files."""

Array = NDArray[Any]
Node = dict[str, Any]
"""The JSON part of a model: kind, numbers and section weights."""

FLOAT, INTEGER, LABEL = "f", "i", "iUb"  # kinds of numpy dtypes

_ARRAYS: Mapping[str, tuple[str, str]] = {
    "labels": (LABEL, "classes"),
    "idf": (FLOAT, "terms"),
    "gain": (FLOAT, "terms"),
    "per_weight": (FLOAT, "classes"),
    "intercept": (FLOAT, "classes"),
    "starts": (INTEGER, "ends"),
    "columns": (INTEGER, "values"),
    "values": (FLOAT, "values"),
}
"""Allowed dtype kinds and dimension of each array; arrays of the same dimension have the same length."""
_NUMBERS = ("unit_length", "sublinear", "by_length", "temperature", "probabilistic")
_SECTIONS, _VOCABULARY = "sections", "vocabulary"


def encode(scorer: PlainScorer, prefix: str = "") -> tuple[Node, dict[str, Array], dict[str, list[str]]]:
    """Return the JSON part, the arrays and the term lists of a model; names of arrays and lists begin with the prefix.

    Raises:
        ThresherError: It is not a PlainScorer, or its labels are neither text nor whole numbers.
    """
    if not isinstance(scorer, PlainScorer):
        raise ThresherError(f"a model of the class {type(scorer).__name__} cannot be saved; only a PlainScorer can")
    arrays = {prefix + name: _typed(getattr(scorer, name), kinds) for name, (kinds, _) in _ARRAYS.items()}
    node: Node = {
        "kind": KIND,
        "parameters": {},
        "numbers": {name: _number(getattr(scorer, name)) for name in _NUMBERS},
        "mappings": {_SECTIONS: dict(scorer.sections)},
    }
    return node, arrays, {prefix + _VOCABULARY: list(scorer.vocabulary)}


def decode(node: Any, arrays: Mapping[str, Array], terms: Mapping[str, Sequence[str]], prefix: str = "") -> PlainScorer:
    """Make the model that `encode` described.

    Raises:
        ThresherError: The kind is another one, or something is missing or does not fit.
    """
    kind = node.get("kind") if isinstance(node, dict) else None
    if kind != KIND:
        raise ThresherError(f"models of the kind {kind!r} cannot be loaded, only {KIND!r}; train it again")
    try:
        return PlainScorer(**_attributes(node, arrays, terms, prefix))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ThresherError(f"the saved {KIND} is incomplete: {error}") from error


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _typed(value: Any, kinds: str) -> Array:
    if kinds != LABEL:
        return np.asarray(value, dtype=np.float64 if kinds == FLOAT else np.int64)
    labels = np.asarray(value)
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        labels = labels.astype(str)
    if labels.dtype.kind not in LABEL:
        raise ThresherError(f"classes must be text or whole numbers to be saved, not {labels.dtype}")
    return labels


def _attributes(
    node: Node, arrays: Mapping[str, Array], terms: Mapping[str, Sequence[str]], prefix: str
) -> dict[str, Any]:
    names = terms[prefix + _VOCABULARY]
    attributes: dict[str, Any] = {name: _checked_number(node["numbers"][name]) for name in _NUMBERS}
    attributes[_VOCABULARY] = {term: row for row, term in enumerate(names)}
    attributes[_SECTIONS] = {str(key): float(value) for key, value in node["mappings"][_SECTIONS].items()}
    sizes = {"terms": len(attributes[_VOCABULARY]), "ends": len(names) + 1}
    for name, (kinds, dimension) in _ARRAYS.items():
        array = _checked_array(arrays, prefix + name, kinds)
        if sizes.setdefault(dimension, len(array)) != len(array):
            raise ThresherError(f"the array {prefix}{name} has {len(array)} {dimension}, not {sizes[dimension]}")
        attributes[name] = array
    attributes["labels"] = attributes["labels"].tolist()
    _check_indices(attributes["starts"], attributes["columns"], len(attributes["labels"]))
    return attributes


def _checked_number(value: Any) -> Any:
    if not isinstance(value, int | float | bool):
        raise TypeError(f"{value!r} is not a number")
    return value


def _checked_array(arrays: Mapping[str, Array], name: str, kinds: str) -> Array:
    if name not in arrays:
        raise ThresherError(f"the array {name} is missing")
    array = arrays[name]
    if array.dtype.kind not in kinds or array.ndim != 1:
        raise ThresherError(f"the array {name} is of the wrong kind: {array.dtype} with {array.ndim} dimensions")
    return array


def _check_indices(starts: Array, columns: Array, classes: int) -> None:
    in_order = starts[0] == 0 and starts[-1] == len(columns) and (np.diff(starts) >= 0).all()
    if not in_order or (len(columns) and not 0 <= columns.min() <= columns.max() < classes):
        raise ThresherError("the values of the plain scorer point outside of it")
