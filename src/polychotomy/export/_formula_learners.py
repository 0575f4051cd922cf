"""Learners whose margins are a formula: computed in double precision from their fitted attributes.

Those of learners without ``decision_function`` are log-odds: their probabilities are sigmoids.

skl2onnx has converters for most of them, in single precision: where probabilities are close to 0 or
1, as those of naive Bayes are, nothing would be left of their log-odds.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from polychotomy.arrays import Array
from polychotomy.export._graph import Graph, Name
from polychotomy.export._joint_blocks import linear_margins


def formula_margins(g: Graph, x: Name, estimator: Any) -> Name:
    """Return the margins of a binary classifier's second label (n × 1)."""
    return FORMULAS[type(estimator).__name__](g, x, estimator)


def _gaussian_naive_bayes(g: Graph, x: Name, e: Any) -> Name:
    """Return Σ_j (x_j − θ₀ⱼ)²/2σ₀ⱼ² − (x_j − θ₁ⱼ)²/2σ₁ⱼ² and what does not depend on x."""
    constants = np.log(e.class_prior_) - 0.5 * np.log(2 * np.pi * e.var_).sum(axis=1)
    squares = []
    for mean, variance in zip(e.theta_, e.var_, strict=True):
        z = g("Div", g("Sub", x, mean[np.newaxis]), np.sqrt(variance)[np.newaxis])
        squares.append(g.reduce("ReduceSum", g("Mul", z, z)))
    halves = g("Mul", g("Sub", *squares), 0.5)
    return g("Add", halves, float(constants[1] - constants[0]))


def _linear_naive_bayes(g: Graph, x: Name, e: Any, prior: Array | None = None) -> Name:
    weights = e.feature_log_prob_[1] - e.feature_log_prob_[0]
    prior = e.class_log_prior_ if prior is None else prior
    return linear_margins(g, x, weights[:, np.newaxis], np.array([prior[1] - prior[0]]))


def _complement_naive_bayes(g: Graph, x: Name, e: Any) -> Name:
    return _linear_naive_bayes(g, x, e, np.zeros(2))  # which has no prior of two classes


def _bernoulli_naive_bayes(g: Graph, x: Name, e: Any) -> Name:
    if e.binarize is not None:
        x = g.double(g("Greater", x, float(e.binarize)))
    absent = np.log1p(-np.exp(e.feature_log_prob_))
    weights = e.feature_log_prob_ - absent
    constants = e.class_log_prior_ + absent.sum(axis=1)
    return linear_margins(g, x, (weights[1] - weights[0])[:, np.newaxis], np.diff(constants))


def _quadratic_discriminant(g: Graph, x: Name, e: Any) -> Name:
    """Return the difference of the two classes' log-likelihoods."""
    parts = []
    for mean, rotation, scaling, prior in zip(
        e.means_, e.rotations_, e.scalings_, e.priors_, strict=True
    ):
        z = g.product(g("Sub", x, mean[np.newaxis]), rotation * scaling**-0.5)
        distance = g("Mul", g.reduce("ReduceSum", g("Mul", z, z)), -0.5)
        parts.append(g("Add", distance, float(np.log(prior) - 0.5 * np.log(scaling).sum())))
    return g("Sub", parts[1], parts[0])


def _perceptron_layers(g: Graph, x: Name, e: Any) -> Name:
    """Return the input of the last unit of a network."""
    for layer, (weights, bias) in enumerate(zip(e.coefs_, e.intercepts_, strict=True)):
        x = linear_margins(g, x, weights, bias)
        if layer < len(e.coefs_) - 1:
            x = _ACTIVATIONS[e.activation](g, x)
    return x


def _boosted_stumps(g: Graph, x: Name, e: Any) -> Name:
    """Return Σ α_t h_t, where h_t is −1 and +1 on the two sides of a threshold."""
    above = g.double(g("Greater", g.columns(x, e.features_), e.thresholds_[np.newaxis]))
    return linear_margins(
        g, above, 2 * e.weights_[:, np.newaxis], -e.weights_[np.newaxis].sum(axis=1)
    )


_ACTIVATIONS: dict[str, Callable[[Graph, Name], Name]] = {
    "identity": lambda g, x: x,
    "logistic": lambda g, x: g("Sigmoid", x),
    "tanh": lambda g, x: g("Tanh", x),
    "relu": lambda g, x: g("Max", x, 0.0),
}

FORMULAS: dict[str, Callable[[Graph, Name, Any], Name]] = {
    "BernoulliNB": _bernoulli_naive_bayes,
    "ComplementNB": _complement_naive_bayes,
    "GaussianNB": _gaussian_naive_bayes,
    "MLPClassifier": _perceptron_layers,
    "MultinomialNB": _linear_naive_bayes,
    "QuadraticDiscriminantAnalysis": _quadratic_discriminant,
    "StumpBoosting": _boosted_stumps,
}
