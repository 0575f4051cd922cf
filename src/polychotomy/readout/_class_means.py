"""Decoding by the mean outputs of each class instead of its codeword."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from polychotomy.arrays import Array, Indices
from polychotomy.codes import Code

if TYPE_CHECKING:
    from polychotomy.readout._readout import Ask, Readout

_BLOCK_OUTPUTS = 2**22
_LEAST_VARIANCE = 1e-9
_MOST_BYTES = 2**32


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """The mean outputs of each class, to which new outputs are compared.

    The score of class c is −½ Σ_s (f_s − m_cs)² / σ_s², without the part that all classes share,
    where m_c are the mean outputs of class c and σ_s² is the variance of problem s within classes:
    the discriminant function of naive Bayes with normal outputs of equal variances and frequencies.
    A weak learner's outputs are far from ±1, and far from each other's scale, where codewords take
    them to be: m_c is where they are.

    Attributes
    ----------
    weights : ndarray of shape (n_problems, n_classes)
        m_cs / σ_s².
    constants : ndarray of shape (n_classes,)
        −½ Σ_s m_cs² / σ_s².
    """

    weights: Array
    constants: Array

    def scores(self, outputs: Array) -> Array:
        """Return the score of each class, shape (n_samples, n_classes)."""
        scores: Array = outputs @ self.weights
        scores += self.constants
        return scores


def with_class_means(
    readout: "Readout", ask: "Ask", y: Indices, weight: Any = None, held_out: Any = None
) -> "Readout":
    """Return a readout that knows the class means, for the decoder "class_means".

    Parameters
    ----------
    readout : Readout
    ask : Ask
        About the training samples.
    y : ndarray of shape (n_samples,)
        Class indices.
    weight : ndarray of shape (n_samples,), optional
    held_out : HeldOut, optional
        Outputs by folds take the place of those on samples that a problem was trained on.
    """
    child, k = readout.nodes[0].child[y], readout.code.n_classes
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    n = np.maximum(np.bincount(child, weight, minlength=k), np.finfo(float).tiny)[:, np.newaxis]
    sums, squares = np.zeros((k, readout.code.n_problems)), np.zeros(readout.code.n_problems)
    size = max(1, _BLOCK_OUTPUTS // readout.code.n_problems)
    for start in range(0, len(y), size):
        rows = np.arange(start, min(start + size, len(y)))
        outputs = _outputs(readout, ask, rows, held_out)
        place = (child[rows], np.arange(len(rows)))
        sums += csr_array((weight[rows], place), shape=(k, len(rows))) @ outputs
        squares += weight[rows] @ outputs**2
    means = sums / n
    within = squares - (n * means**2).sum(axis=0)
    variances = np.maximum(within, _LEAST_VARIANCE * squares) / n.sum()
    variances[variances == 0] = 1.0
    weights = np.ascontiguousarray((means / variances).T)
    found = ClassMeans(weights, -0.5 * np.einsum("cs,sc->c", means, weights))
    return replace(readout, means=found)


def check_class_means(rules: Sequence[str], code: Code) -> None:
    """Raise ValueError where the rule "class_means" cannot be used."""
    if len(rules) > 1:
        raise ValueError(
            "The decoder 'class_means' needs a single code for all classes. Got a structure of "
            f"{len(rules)} nodes; take another decoder or CodeClassifier."
        )
    size = 8 * code.n_classes * code.n_problems
    if size > _MOST_BYTES:
        raise ValueError(
            f"The decoder 'class_means' of {code.n_classes} classes and {code.n_problems} problems "
            f"needs arrays of {size / 2**30:.3g} GiB. Take a code of fewer problems, such as "
            f"make_code('dense_random', {code.n_classes}), or another decoder."
        )


def means_of(readout: "Readout") -> ClassMeans:
    """Return the class means, or raise ValueError if none were found in training."""
    if readout.means is None:
        raise ValueError(
            "The decoder 'class_means' needs what is found in training: fit with "
            "decoder='class_means'."
        )
    return readout.means


def _outputs(readout: "Readout", ask: "Ask", rows: Indices, held_out: Any) -> Array:
    """Return outputs by models that have not seen the samples, where there are any."""
    outputs = readout.outputs(ask, rows=rows)
    same = all(
        form == kind == "margin" for form, kind in zip(readout.forms, readout.kinds, strict=True)
    )
    if held_out is None or not held_out.by_folds or not same:
        return outputs
    for s, (problem, sign) in enumerate(
        zip(readout.distinct.index, readout.distinct.sign, strict=True)
    ):
        own = held_out.targets.samples(problem)
        found, place = np.isin(rows, own), np.searchsorted(own, rows)
        outputs[found, s] = sign * held_out.outputs[problem][place[found]]
    return outputs
