"""Taking a trained model apart into plain values, and putting it together again.

What comes from a file is believed in nothing: every array must have the type and shape that the table of kinds asks
for, and every part must fit the next, before a model is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.classify.kinds import FLOAT, INTEGER, KINDS, LABEL, PIPELINE, Kind, kind_of
from thresher.errors import ThresherError

Array = NDArray[Any]
Node = dict[str, Any]
"""What the manifest says of a model: its kind, parameters and numbers, and the same of its parts."""


@dataclass
class Pieces:
    """The arrays and the terms of a model, by names that begin with the place of their part."""

    arrays: dict[str, Array] = field(default_factory=dict)
    terms: dict[str, list[str]] = field(default_factory=dict)

    def array(self, name: str, letters: str, dimensions: int) -> Array:
        """Give an array.

        Raises:
            ThresherError: It is missing, or has another type or number of dimensions.
        """
        if name not in self.arrays:
            raise ThresherError(f"the array {name} is missing")
        array = self.arrays[name]
        if array.dtype.kind not in letters or array.ndim != dimensions:
            raise ThresherError(f"the array {name} is of the wrong kind: {array.dtype} with {array.ndim} dimensions")
        return array


def take_apart(model: Any, pieces: Pieces, place: str = "") -> Node:
    """Put the arrays and terms of a fitted model into pieces, and return the rest.

    Raises:
        ThresherError: The model, or a part of it, is of no kind that can be saved, or is not fitted.
    """
    name = kind_of(model)
    if name == PIPELINE:
        steps = [[step, take_apart(part, pieces, f"{place}{step}.")] for step, part in model.steps]
        return {"kind": name, "steps": steps}
    kind = KINDS[name]
    try:
        return {"kind": name, **_describe(model, kind, pieces, place)}
    except AttributeError as error:
        raise ThresherError(f"a {kind.name} must be trained before it is saved: {error}") from error


def _describe(model: Any, kind: Kind, pieces: Pieces, place: str) -> Node:
    for attribute, (letters, _) in kind.arrays.items():
        value = getattr(model, attribute)
        pieces.arrays[place + attribute] = _labels(value) if letters == LABEL else _typed(value, letters)
    if "intercept_" in kind.arrays:  # scikit-learn writes one 0 for all classes when there is no intercept
        pieces.arrays[f"{place}intercept_"] = np.array(np.broadcast_to(model.intercept_, len(model.coef_)))
    for attribute in kind.matrices:
        matrix = getattr(model, attribute)
        pieces.arrays[f"{place}{attribute}.data"] = _typed(matrix.data, FLOAT)
        pieces.arrays[f"{place}{attribute}.indices"] = _typed(matrix.indices, INTEGER)
        pieces.arrays[f"{place}{attribute}.indptr"] = _typed(matrix.indptr, INTEGER)
    if kind.terms:
        pieces.terms[place + kind.terms] = list(getattr(model, kind.terms))
    node: Node = {"parameters": {} if kind.plain else model.get_params(deep=False)}
    node["numbers"] = {attribute: _number(getattr(model, attribute)) for attribute in kind.numbers}
    node["mappings"] = {attribute: dict(getattr(model, attribute)) for attribute in kind.mappings}
    if kind.part:
        node["part"] = take_apart(getattr(model, kind.part), pieces, f"{place}{kind.part}.")
    return node


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _typed(value: Any, letters: str) -> Array:
    return np.asarray(value, dtype={FLOAT: np.float64, INTEGER: np.int64}.get(letters, np.bool_))


def _labels(value: Any) -> Array:
    """Write labels as numbers or text, never as objects."""
    labels = np.asarray(value)
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        labels = labels.astype(str)
    if labels.dtype.kind not in LABEL:
        raise ThresherError(f"classes must be text or whole numbers to be saved, not {labels.dtype}")
    return labels


def put_together(node: Any, pieces: Pieces, place: str = "") -> Any:
    """Make the model that a manifest describes.

    Raises:
        ThresherError: Its kind is unknown, or something is missing, too much, or does not fit.
    """
    name = node.get("kind") if isinstance(node, dict) else None
    if name == PIPELINE:
        return _put_pipeline_together(node, pieces, place)
    if not isinstance(name, str) or name not in KINDS:
        raise ThresherError(f"no kind of model is called {name!r}; known: {', '.join([*KINDS, PIPELINE])}")
    kind = KINDS[name]
    try:
        attributes = _attributes(node, kind, pieces, place)
        if kind.plain:
            return kind.load_class()(**attributes)
        model = kind.load_class()(**node["parameters"])
    except (KeyError, TypeError, ValueError) as error:
        raise ThresherError(f"the saved {name} is not whole: {error}") from error
    for attribute, value in attributes.items():
        setattr(model, attribute, value)
    return model


def _put_pipeline_together(node: Node, pieces: Pieces, place: str) -> Any:
    from sklearn.pipeline import Pipeline  # type: ignore[import-untyped]  # here, because a plain scorer needs none

    steps = [(step, put_together(part, pieces, f"{place}{step}.")) for step, part in node.get("steps", [])]
    width = None
    for step, model in steps:
        if width is not None and model.n_features_in_ != width:
            raise ThresherError(f"the step {step} takes {model.n_features_in_} terms, and is given {width}")
        width = _width_after(model)
    if not steps:
        raise ThresherError("the saved pipeline has no steps")
    return Pipeline(steps)


def _width_after(model: Any) -> int:
    if hasattr(model, "vocabulary_"):
        return len(model.vocabulary_)
    return int(model.support_.sum()) if hasattr(model, "get_support") else int(model.n_features_in_)


def _attributes(node: Node, kind: Kind, pieces: Pieces, place: str) -> dict[str, Any]:
    attributes: dict[str, Any] = {name: _plain_number(node["numbers"][name]) for name in kind.numbers}
    sizes: dict[str, int] = {}
    if "n_features_in_" in attributes:
        sizes["features"] = attributes["n_features_in_"]
    if kind.terms:
        terms = pieces.terms[place + kind.terms]
        attributes[kind.terms] = {term: number for number, term in enumerate(terms)}
        sizes |= {"terms": len(attributes[kind.terms]), "ends": len(terms) + 1}
    for name, (letters, dimensions) in kind.arrays.items():
        array = pieces.array(place + name, letters, len(dimensions))
        _fit(place + name, array.shape, dimensions, sizes)
        attributes[name] = array.tolist() if name == "labels" else array
    for name, dimensions in kind.matrices.items():
        attributes[name] = _matrix(pieces, place + name, (sizes[dimensions[0]], sizes[dimensions[1]]))
    for name in kind.mappings:
        attributes[name] = {str(key): float(value) for key, value in node["mappings"][name].items()}
    if kind.part:
        attributes[kind.part] = put_together(node["part"], pieces, f"{place}{kind.part}.")
    _check_ties(kind, attributes)
    return attributes


def _plain_number(value: Any) -> Any:
    if not isinstance(value, int | float | bool):
        raise TypeError(f"{value!r} is not a number")
    return value


def _fit(name: str, shape: tuple[int, ...], dimensions: tuple[str, ...], sizes: dict[str, int]) -> None:
    """Hold the sizes of an array against those of the arrays before it."""
    for dimension, size in zip(dimensions, shape, strict=True):
        if sizes.setdefault(dimension, size) != size:
            raise ThresherError(f"the array {name} has {size} {dimension}, not {sizes[dimension]}")


def _matrix(pieces: Pieces, name: str, shape: tuple[int, int]) -> Any:
    from scipy import sparse  # type: ignore[import-untyped]

    data = pieces.array(f"{name}.data", FLOAT, 1)
    indices = pieces.array(f"{name}.indices", INTEGER, 1)
    indptr = pieces.array(f"{name}.indptr", INTEGER, 1)
    try:
        matrix = sparse.csr_matrix((data, indices, indptr), shape=shape)
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ThresherError(f"the matrix {name} is not whole: {error}") from error
    return matrix


def _check_ties(kind: Kind, attributes: Mapping[str, Any]) -> None:
    """Check what the names of dimensions cannot say."""
    if kind.plain:
        starts, columns = attributes["starts"], attributes["columns"]
        in_order = starts[0] == 0 and starts[-1] == len(columns) and (np.diff(starts) >= 0).all()
        if not in_order or (len(columns) and not 0 <= columns.min() <= columns.max() < len(attributes["labels"])):
            raise ThresherError("the values of the plain scorer point outside of it")
    if kind.part and attributes[kind.part].n_features_in_ != attributes["support_"].sum():
        raise ThresherError("the parts of the model do not fit together")
    if "coef_" in attributes:
        classes, rows = len(attributes["classes_"]), len(attributes["coef_"])
        if rows != (classes if classes > 2 else 1):
            raise ThresherError(f"the array coef_ has {rows} rows for {classes} classes")
