"""Which method for probabilities has the lowest log loss on outputs that were held out."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from polychotomy.arrays import Array, Indices
from polychotomy.codes import Code
from polychotomy.probability import METHODS, solve

if TYPE_CHECKING:
    from polychotomy.readout._readout import Ask, Readout

_MOST_ENTRIES = 2**22  # of samples × classes × problems, on which methods are compared
_MOST_CLASSES = 100  # for Kullback–Leibler, whose steps take long with many classes


def better_methods(
    readout: "Readout", asked: Sequence[str], held_out: Any, ask: "Ask"
) -> tuple[str, ...]:
    """Return the method of each node, the best by held-out outputs where "auto" was asked.

    A model has not seen the samples that take no part in its problem, so that they need no fold,
    unless one model answers all problems.
    """
    assert readout.methods is not None
    assert readout.counts is not None
    methods, y = list(readout.methods), held_out.targets.y
    for i, node in enumerate(readout.nodes):
        if asked[i] != "auto" or (readout.shared and not node.code.is_strict):
            continue
        samples = np.flatnonzero(node.child[y] >= 0)
        samples = samples[:: 1 + len(samples) * node.code.matrix.size // _MOST_ENTRIES]
        which = readout.distinct.index[node.problems]
        said = {s: _probabilities(readout, s, samples, held_out, ask) for s in set(which.tolist())}
        q = np.column_stack([said[s] for s in which.tolist()])
        q = np.where(readout.distinct.sign[node.problems] > 0, q, 1 - q)
        weight = held_out.weights[which[0]][samples]
        child, counts = node.child[y[samples]], readout.counts[which]
        methods[i] = better_method(q, node.code, child, weight, counts)
    return tuple(methods)


def better_method(q: Array, code: Code, child: Indices, weight: Array, counts: Array) -> str:
    """Return the method with the lowest log loss on held-out binary probabilities.

    Least squares and Kullback–Leibler are tried, the latter for up to 100 classes whose
    probabilities the code determines, and normalise where it suits. Probabilities are kept off 0,
    where the log loss of one sample would decide.
    """
    methods, losses = ["least_squares"], {}
    if code.n_classes <= _MOST_CLASSES and not code.unidentified:
        methods.append("kullback_leibler")
    if METHODS["normalise"].suits(code):
        methods.append("normalise")
    for method in methods:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            p = np.maximum(solve(q, code, method, sample_counts=counts), 1e-6)
        p /= p.sum(axis=1, keepdims=True)
        labels = np.arange(code.n_classes)
        losses[method] = log_loss(child, p, labels=labels, sample_weight=weight)
    return min(losses, key=lambda method: losses[method])


def _probabilities(
    readout: "Readout", s: int, samples: Indices, held_out: Any, ask: "Ask"
) -> Array:
    """Return the probabilities of one distinct problem for samples, its own or others."""
    own = held_out.targets.samples(s)
    outputs = np.full(len(held_out.targets.y), np.nan)
    outputs[own] = held_out.outputs[s]
    others = np.setdiff1d(samples, own)
    if others.size:
        outputs[others] = ask(readout.held_out_kinds[s], [s], others)[:, 0]
    return readout.calibrate(s, outputs[samples])
