"""Functions for any classifier: its code, cost and parts, and other readouts of one training."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from polychotomy.classifiers._reduction_classifier import ReductionClassifier
from polychotomy.codes import Code
from polychotomy.readout import Readout
from polychotomy.training import Problems, RememberedOutputs, TrainedProblems


@dataclass(frozen=True)
class Cost:
    """The cost of a trained classifier, counted and not timed.

    Attributes
    ----------
    problems : float
        Binary problems that were trained, those of all solves where a coupling is learned; NaN if
        not known.
    questions : float
        Binary problems that are asked of a sample, on average; NaN if not known.
    samples : float or None
        Training samples of all problems together, by weight, where known.
    support : float or None
        Support vectors of all problems together, where known.
    """

    problems: float
    questions: float
    samples: float | None = None
    support: float | None = None


def has_rules(classifier: Any) -> bool:
    """Return whether other decoders can be applied to a classifier once it is trained."""
    return isinstance(classifier, ReductionClassifier)


def code_of(classifier: Any, classes: NDArray[Any], rng: Any) -> Code | None:
    """Return the code that a classifier would use for these classes, None if it has none.

    Of a tree it is that of a node with two children. Raises CodeError if there is no such code.
    """
    return classifier._code_for(classes, rng) if has_rules(classifier) else None


def parts_of(trained: Any) -> tuple[Problems, TrainedProblems, Readout]:
    """Return the problems, the trained problems and the readout of a classifier."""
    return trained._problems, trained._trained, trained._readout


def cost_of(trained: Any, X: Any) -> Cost:
    """Return the cost of a trained classifier, with its questions about the samples X.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import CodeClassifier
    >>> from polychotomy.classifiers import cost_of
    >>> X, y = load_iris(return_X_y=True)
    >>> cost = cost_of(CodeClassifier(code="one_vs_rest").fit(X, y), X)
    >>> cost.problems, cost.questions, cost.samples
    (3.0, 3.0, 450.0)
    """
    if not has_rules(trained):
        return Cost(np.nan, np.nan)
    counts, n_problems = trained._trained.counts, len(trained._readout.says)
    # Two replicas ask the same of two classes.
    own = 1 if len(trained.classes_) == 2 else n_problems
    problems, questions = counts.problems * own / n_problems, float(own)
    if hasattr(trained, "decision_path"):
        questions = trained.decision_path(X).sum() / X.shape[0]
    support = getattr(getattr(trained._trained, "model", None), "support_", None)
    return Cost(
        float(problems),
        float(questions),
        float(counts.samples.sum()),
        None if support is None else float(len(support)),
    )


def remember_outputs(trained: Any, X: Any) -> Any:
    """Return a trained classifier that computes its outputs on the samples X once.

    All readings (:func:`with_rules`) of it are then scored on X for the price of one. Other
    samples are asked about as usual; classifiers of other kinds are returned as they are.
    """
    if not has_rules(trained):
        return trained
    view = copy(trained)
    view._trained = RememberedOutputs(trained._trained, trained._checked(X), {})
    return view


def with_rules(trained: Any, decoder: str | None, method: Any) -> Any:
    """Return a trained classifier as if it had been trained with another decoder and method.

    Parameters
    ----------
    trained : classifier
        Trained with any decoder and, unless `method` is its own, with ``probability="auto"``.
    decoder : str or None
        As its parameter `decoder`, if it has one; None for its own.
    method : str or None
        As its parameter `probability`; None only if that is None.

    Returns
    -------
    classifier
        It shares everything that is trained.

    Raises
    ------
    ValueError
        The decoder or the method does not suit the code.
    """
    view = copy(trained)
    another = decoder if decoder is not None and view._set_decoder(decoder) else None
    view.probability = method
    view._readout = trained._readout.replace(decoder=another, probability=method)
    view._set_fitted()
    return view


def without_probabilities(classifier: Any) -> Any:
    """Return a clone without probabilities, for tuning; unchanged if it needs them.

    Trees that are left to choose then take the winning path instead of the most probable class.
    """
    plain = clone(classifier)
    if not has_rules(plain):
        return plain
    needed = (
        getattr(plain, "decoder", None) == "probability"
        or getattr(getattr(plain, "replication", None), "decoder", None) == "probability"
        or getattr(plain, "solve", "auto") not in ("auto", "recursive")
    )
    return plain if needed else plain.set_params(probability=None)
