"""The preparation of features as a graph: numbers standardised, all else as indicators."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

from polychotomy.datasets.scaling import GapScaler
from polychotomy.errors import ModelError
from polychotomy.evaluate import Preparation
from polychotomy.export._graph import Graph, Name

MISSING = ""
"""The text that stands for a missing value."""


def prepared(g: Graph, inputs: Sequence[Name], preparation: Preparation) -> Name:
    """Return the prepared features of samples, in double precision.

    Parameters
    ----------
    g : Graph
    inputs : sequence of str
        One tensor of numbers with all features, or one tensor for each.
    preparation : Preparation
        Trained.
    """
    transformer = preparation.transformer_
    if isinstance(transformer, MaxAbsScaler):
        return g("Div", _numbers(g, inputs), transformer.scale_[np.newaxis])
    if isinstance(transformer, GapScaler):
        used = np.flatnonzero(preparation.used_)
        return _scaled(g, g.columns(_numbers(g, inputs), used), transformer)
    scaler = None
    if isinstance(transformer, Pipeline):
        transformer, scaler = transformer[0], transformer[1]
    names = list(preparation.feature_names_in_)
    if len(inputs) != len(names):
        raise ModelError(
            f"A model of columns that are not all numbers needs an input for each of {len(names)} "
            "columns: give a data frame as the second argument of to_onnx."
        )
    parts = []
    for name, fitted, columns in transformer.transformers_:
        own = [inputs[names.index(column)] for column in np.atleast_1d(columns)]
        if not own or name == "remainder":
            continue
        if name == "numbers":
            parts.append(_scaled(g, _numbers(g, own), fitted[0]))
        elif name == "indicators":
            parts += [_indicators(g, each, fitted[-1], j) for j, each in enumerate(own)]
        else:
            raise ModelError(f"The column {columns!r} is one of text, which cannot be exported.")
    features = g.beside(parts)
    return features if scaler is None else _standardised(g, features, scaler)


def _numbers(g: Graph, inputs: Sequence[Name]) -> Name:
    return g.beside([g.double(each) for each in inputs])


def _scaled(g: Graph, x: Name, scaler: GapScaler) -> Name:
    """Return standardised numbers, 0 for those that are missing."""
    scaled = _standardised(g, g("Div", x, scaler.powers_[np.newaxis]), scaler)
    return g("Where", g("IsNaN", scaled), 0.0, scaled)


def _standardised(g: Graph, x: Name, scaler: Any) -> Name:
    return g("Div", g("Sub", x, scaler.mean_[np.newaxis]), scaler.scale_[np.newaxis])


def _indicators(g: Graph, column: Name, encoder: Any, j: int) -> Name:
    """Return an indicator for each value of a column of text (n × 1), rare ones together."""
    categories = encoder.categories_[j]
    rare = encoder.infrequent_categories_[j]
    is_rare = np.zeros(len(categories), dtype=bool)
    if rare is not None:
        is_rare = np.array([any(_same(c, r) for r in rare) for c in categories])
    width = int((~is_rare).sum()) + bool(is_rare.any())
    place = np.where(is_rare, width - 1, np.cumsum(~is_rare) - 1)
    number = g(
        "LabelEncoder",
        column,
        domain="ai.onnx.ml",
        keys_strings=[MISSING if _is_missing(c) else str(c) for c in categories],
        values_int64s=[int(each) for each in place],
        default_int64=width - 1 if is_rare.any() else -1,
    )
    return g.double(g("Equal", number, np.arange(width)[np.newaxis]))


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) or (_is_missing(one) and _is_missing(other))


def _is_missing(value: Any) -> bool:
    return bool(value != value)
