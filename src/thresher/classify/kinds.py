"""The closed table of models that can be saved, and how each is taken apart and put together.

Nothing that a file says is ever run or looked up by name outside of this table. A model is parameters, numbers,
arrays with a type and a shape, terms, and parts that are models themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from thresher.errors import ThresherError

FLOAT, INTEGER, TRUTH, LABEL = "f", "i", "b", "iUb"  # numpy's letters of types


@dataclass(frozen=True)
class Kind:
    """What there is to save of one class of models.

    Args:
        module, name: The class.
        arrays: Type letters and names of the dimensions of each array; equal names are equal numbers.
        matrices: Names of the dimensions of each sparse matrix.
        numbers: Attributes that are one number or one truth value.
        mappings: Attributes that are numbers by name.
        terms: The attribute that maps terms to the numbers of a dimension called terms.
        part: The attribute that is a model itself.
        plain: Whether attributes are handed to the class at once, and not set after parameters.
    """

    module: str
    name: str
    arrays: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    matrices: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    mappings: tuple[str, ...] = ()
    terms: str = ""
    part: str = ""
    plain: bool = False

    def load_class(self) -> Callable[..., Any]:
        """Import the class; only a model that is asked for costs the import."""
        found: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return found


_CLASSES = {"classes_": (LABEL, ("classes",))}
_SUPPORT = {"support_": (TRUTH, ("features",))}
_LINEAR = {"coef_": (FLOAT, ("rows", "features")), "intercept_": (FLOAT, ("rows",)), **_CLASSES}
_BAYES: dict[str, Any] = {
    "arrays": {"class_log_prior_": (FLOAT, ("classes",)), "unseen_log_prob_": (FLOAT, ("classes",)), **_CLASSES},
    "matrices": {"seen_log_ratio_": ("classes", "features")},
    "numbers": ("n_features_in_", "temperature_"),
}
_OURS = "thresher.classify"

KINDS: Mapping[str, Kind] = {
    "section-counter": Kind(f"{_OURS}.section_counter", "SectionCounter", terms="vocabulary_"),
    "mutual-information": Kind(
        f"{_OURS}.mutual_information",
        "MutualInformationPruner",
        arrays={
            "mutual_information_": (FLOAT, ("features",)),
            "document_frequency_": (INTEGER, ("features",)),
            **_SUPPORT,
            **_CLASSES,
        },
        numbers=("n_features_in_",),
    ),
    "chi-square": Kind(
        f"{_OURS}.chi_square", "ChiSquareSelector", arrays={**_SUPPORT, **_CLASSES}, numbers=("n_features_in_",)
    ),
    "itfidf": Kind(
        f"{_OURS}.itfidf",
        "ItfIdf",
        arrays={"idf_": (FLOAT, ("features",)), "gain_": (FLOAT, ("features",))},
        numbers=("n_features_in_",),
    ),
    "naive-bayes": Kind(f"{_OURS}.weighted_bayes", "WeightedNaiveBayes", **_BAYES),
    "taxonomy": Kind(f"{_OURS}.taxonomy", "TaxonomyClassifier", **_BAYES),
    "layers": Kind(
        f"{_OURS}.layers",
        "LayerClassifier",
        arrays={**_SUPPORT, **_CLASSES},
        numbers=("n_features_in_", "threshold_"),
        part="bayes_",
    ),
    "tfidf": Kind(
        "sklearn.feature_extraction.text",
        "TfidfTransformer",
        arrays={"idf_": (FLOAT, ("features",))},
        numbers=("n_features_in_",),
    ),
    "linear-svm": Kind("sklearn.svm", "LinearSVC", arrays=_LINEAR, numbers=("n_features_in_",)),
    "logistic-regression": Kind(
        "sklearn.linear_model", "LogisticRegression", arrays=_LINEAR, numbers=("n_features_in_",)
    ),
    "plain-scorer": Kind(
        f"{_OURS}.scorer",
        "PlainScorer",
        arrays={
            "labels": (LABEL, ("classes",)),
            **dict.fromkeys(("idf", "gain"), (FLOAT, ("terms",))),
            **dict.fromkeys(("per_weight", "intercept"), (FLOAT, ("classes",))),
            "starts": (INTEGER, ("ends",)),
            "columns": (INTEGER, ("values",)),
            "values": (FLOAT, ("values",)),
        },
        numbers=("unit_length", "sublinear", "by_length", "temperature", "probabilistic"),
        mappings=("sections",),
        terms="vocabulary",
        plain=True,
    ),
}
"""Every kind of model, by the name that it has in files."""

PIPELINE = "pipeline"
"""The kind of a row of models, each working on what the one before gives."""


def kind_of(model: Any) -> str:
    """Give the name of a model's kind.

    Raises:
        ThresherError: It is of no kind that can be saved.
    """
    for name, kind in KINDS.items():
        if type(model).__module__.startswith(kind.module.rpartition(".")[0]) and type(model).__name__ == kind.name:
            return name
    if type(model).__name__ == "Pipeline":
        return PIPELINE
    raise ThresherError(f"a model of the class {type(model).__name__} cannot be saved; known: {', '.join(KINDS)}")
