"""Margins of many problems as one block: a linear product, or one kernel over support vectors."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from polychotomy.arrays import Array
from polychotomy.errors import ModelError
from polychotomy.export._graph import Graph, Name


def linear_margins(g: Graph, x: Name, weights: Array, intercept: Array) -> Name:
    """Return x W + b."""
    return g("Add", g.product(x, weights), np.asarray(intercept, dtype=float)[np.newaxis])


def kernel_margins(g: Graph, x: Name, kernel: Any, vectors: Any, weights: Any, bias: Array) -> Name:
    """Return k(x)ᵀ W + b.

    Parameters
    ----------
    kernel : Kernel
        With the attributes `name`, `gamma`, `coef0` and `degree`.
    vectors : array or sparse matrix of shape (n_support, n_features)
        For a precomputed kernel, the indices of its columns in x.
    weights : array or sparse matrix of shape (n_support, n_problems)
    """
    weights, bias = dense(weights), np.asarray(bias, dtype=float)[np.newaxis]
    if not len(weights):
        return g("Add", g("Mul", g.columns(x, [0]), 0.0), bias)
    return g("Add", g.product(kernel_values(g, x, kernel, vectors), weights), bias)


def kernel_values(g: Graph, x: Name, kernel: Any, vectors: Any) -> Name:
    """Return the values of a kernel between samples and vectors."""
    if kernel.name == "precomputed":
        return g.columns(x, vectors)
    if not isinstance(kernel.name, str):
        raise ModelError(
            "A kernel that is a function cannot be exported: take one of 'rbf', 'linear', 'poly', "
            "'sigmoid'."
        )
    V = dense(vectors)
    if kernel.name != "rbf":
        return of_products(g, g.product(x, V.T), kernel)
    centre = V.mean(axis=0)  # or products would round distances away
    V, x = V - centre, g("Sub", x, centre[np.newaxis])
    own = g.reduce("ReduceSum", g("Mul", x, x))
    squares = g("Add", g("Add", own, (V**2).sum(axis=1)[np.newaxis]), g.product(x, -2 * V.T))
    return g("Exp", g("Mul", g("Max", squares, 0.0), -float(kernel.gamma)))


def of_products(g: Graph, products: Name, kernel: Any) -> Name:
    """Return the values of a kernel that is a function of scalar products."""
    if kernel.name == "linear":
        return products
    inner = g("Add", g("Mul", products, float(kernel.gamma)), float(kernel.coef0))
    return g("Tanh", inner) if kernel.name == "sigmoid" else _power(g, inner, float(kernel.degree))


def concatenated_margins(g: Graph, x: Name, model: Any) -> Name:
    """Return the outputs of a model for samples with each row of a matrix appended.

    Products of replicas are those of the samples plus those of the rows, of which few differ.
    """
    kernel = model.kernel.kernel
    products = g.product(x, dense(model.vectors).T)
    different, place = model.kernel.values_and_place
    parts = []
    for v, value in enumerate(different):
        weights = dense(model.weights) @ (place == v).astype(float)
        values = of_products(g, g("Add", products, float(value)), kernel)
        parts.append(g.product(values, weights))
    return g("Add", g("Sum", *parts), float(model.bias))


def dense(values: Any) -> Array:
    """Return an array or sparse matrix as an array in double precision."""
    return np.asarray(values.toarray() if issparse(values) else values, dtype=float)


def _power(g: Graph, x: Name, degree: float) -> Name:
    """Return a power; with an integer exponent, of negative numbers too."""
    return g("Pow", x, degree)
