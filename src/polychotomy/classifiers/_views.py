"""A trained classifier with another decoder or another method, without training anything."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from polychotomy.classifiers._kernel_sbc import KernelSBCClassifier
from polychotomy.classifiers._plan import redecided
from polychotomy.classifiers._reduction import ReductionClassifier
from polychotomy.classifiers._tree_classifier import TreeClassifier
from polychotomy.learners import SeparateModel
from polychotomy.probability import check_method

Array = NDArray[np.float64]


def with_remembered_outputs(classifier: ReductionClassifier) -> ReductionClassifier:
    """Return a trained classifier whose problems are asked once for each set of samples.

    It goes by the very object that holds the samples, so that all views (:func:`with_rules`) of it
    can be scored on one set for the price of one. What was said stays in memory with it.
    """
    view = copy(classifier)
    view._model = _Remembering(view._model.problems, view._model)
    return view


def has_rules(classifier: Any) -> bool:
    """Whether a classifier can be read by other rules once it is trained."""
    return isinstance(classifier, ReductionClassifier | KernelSBCClassifier)


def without_probabilities(classifier: Any) -> Any:
    """Return a clone that spends nothing on probabilities, for tuning; as it is if it needs them.

    Trees that are left to choose then go by the sides of each node in place of probabilities.
    """
    plain = clone(classifier)
    if not has_rules(plain):
        return plain
    needed = getattr(plain, "decoder", None) == "probability" or (
        isinstance(plain, TreeClassifier) and plain.solve not in ("auto", "recursive")
    )
    return plain if needed else plain.set_params(probability=None)


def with_rules(classifier: Any, decoder: str, method: Any) -> Any:
    """Return a trained classifier as if it had been trained with another decoder and method.

    Parameters
    ----------
    classifier : ReductionClassifier or KernelSBCClassifier
        Trained with any decoder and, unless `method` is its own, with ``probability="auto"``.
    decoder : str
        As its parameter `decoder`; a KernelSBCClassifier has none.
    method : str or None
        As its parameter `probability`; None only if that is None.

    Returns
    -------
    classifier
        It shares all that is trained.

    Raises
    ------
    ValueError
        The decoder or the method does not suit the code.
    """
    view = copy(classifier)
    if isinstance(classifier, KernelSBCClassifier):
        return _with_method(view, method)
    view.decoder, view.probability = decoder, method
    another = None if decoder == classifier.decoder else decoder
    plan = redecided(classifier._plan, another, method)
    if view._probabilities is not None and plan.probability is not None and method != "auto":
        view._probabilities = replace(view._probabilities, methods=plan.probability.methods)
    view._plan = plan
    view._set_fitted(plan)
    return view


def _with_method(view: KernelSBCClassifier, method: Any) -> KernelSBCClassifier:
    view.probability = method
    if view._probabilities is not None and method != "auto":
        check_method(method, view.code_)
        view._probabilities = replace(view._probabilities, methods=(method,))
        view.probability_ = method
    return view


@dataclass(frozen=True)
class _Remembering(SeparateModel):
    """Trained problems that answer a question they were asked before from memory."""

    model: SeparateModel
    said: dict[tuple[int, tuple[str, ...]], tuple[Any, Array]] = field(default_factory=dict)

    @property
    def together(self) -> bool:
        """Whether all problems cost about as much as one."""
        return self.model.together

    def outputs(
        self,
        X: Any,
        kinds: Sequence[str],
        n_jobs: int | None = None,
        which: Sequence[int] | None = None,
    ) -> Array:
        """Return the outputs of all problems, or of those in `which`, a column for each."""
        if which is not None:
            return self.model.outputs(X, kinds, n_jobs, which)
        place = id(X), tuple(kinds)
        if place not in self.said:  # X is kept, so that no other object gets its id
            self.said[place] = X, self.model.outputs(X, kinds, n_jobs)
        return self.said[place][1]
