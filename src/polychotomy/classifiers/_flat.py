"""What classifiers of one flat code share: their outputs are decoded to a class."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from polychotomy.classifiers._checks import check_data
from polychotomy.classifiers._plan import Plan
from polychotomy.classifiers._reduction import Array, ReductionClassifier
from polychotomy.classifiers._rows import blocks_of
from polychotomy.codes import Code
from polychotomy.decoding import (
    accepted_by_confidence,
    accepted_by_votes,
    check_outputs,
    decode,
)
from polychotomy.errors import unknown_name

_REJECT_RULES = ("votes", "confidence", "probability")


class FlatCodeClassifier(ReductionClassifier):
    """Knows what its problems say, and decodes that by one rule."""

    code_: Code
    decoder_: str

    def decision_function(self, X: Any) -> Array:
        """Return the score of each class, larger being better.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) with two classes
            With two classes, the output of the binary classifier: positive for ``classes_[1]``.
        """
        scores = self._scores(X)
        if self.code_.n_classes > 2:
            return scores
        return scores[:, 1] - scores[:, 0] if self.decoder_ == "probability" else scores[:, 1]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest score; of equal ones the first.

        With two classes, what the binary classifier itself predicts.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if self.code_.n_classes == 2 and self.decoder_ != "probability":
            winners = self._model.problems[0].predict(check_data(self, X, reset=False))
        else:
            winners = self._scores(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winners]
        return labels

    def predict_or_reject(
        self, X: Any, rule: str = "votes", threshold: float | None = None
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the predicted labels, and which of them to trust.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        rule : {"votes", "confidence", "probability"}, default="votes"
            ``"votes"`` takes the class with the most votes, whatever `decoder` is, and rejects
            samples where several classes share the first place: for one-vs-one ties, for
            one-vs-rest samples that no class or several classes claim.
            ``"confidence"`` rejects samples whose winning score in :meth:`decision_function` (with
            two classes its absolute value) is below `threshold`. ``"probability"`` takes the
            class with the largest probability and rejects samples where that is below `threshold`.
        threshold : float, optional
            For ``rule="confidence"`` and ``rule="probability"``, which need it.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The winners, also for the rejected samples: with ``rule="confidence"`` what
            :meth:`predict` says, otherwise what it says with ``decoder="votes"`` or
            ``decoder="probability"``.
        accepted : ndarray of bool of shape (n_samples,)
            False where the sample is rejected.

        References
        ----------
        Tax and Duin (2002), "Using two-class classifiers for multiclass classification".

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from polychotomy import CodeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = CodeClassifier(code="one_vs_rest").fit(X, y)
        >>> labels, accepted = classifier.predict_or_reject(X)
        >>> bool((labels == y)[accepted].mean() > (labels == y).mean())
        True
        """
        if rule not in _REJECT_RULES:
            raise unknown_name("rule", rule, _REJECT_RULES)
        if isinstance(threshold, Real) is (rule == "votes"):
            raise ValueError(
                "The 'threshold' parameter must be a number with rule='confidence' and "
                "rule='probability', and None with rule='votes'. "
                f"Got {threshold!r} with rule={rule!r}."
            )
        if rule == "probability":
            p = self.predict_proba(X)
            return self.classes_[p.argmax(axis=1)], accepted_by_confidence(p, float(threshold or 0))
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        blocks = blocks_of(X, self.code_.n_problems)
        parts = [self._decide(part, threshold) for part in blocks]
        winners, accepted = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return self.classes_[winners], accepted

    def _set_fitted(self, plan: Plan) -> None:
        self.code_ = plan.code
        self.decoder_, self.output_kind_ = plan.rules[0], plan.kinds[0]
        self.probability_ = self._probabilities and self._probabilities.methods[0]
        self.calibration_ = (
            plan.probability.calibrations[0] if self._probabilities and plan.probability else None
        )

    def _decode(self, outputs: Array, rule: str) -> Array:
        if self.code_.n_classes == 2:  # every problem is the same one
            score = check_outputs(outputs, self.code_.matrix)[:, :1] * self.code_.matrix[1, 0]
            return np.hstack([-score, score])
        return decode(outputs, self.code_, rule)

    def _decide(
        self, X: Any, threshold: float | None
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the winning classes and which of them are accepted: by votes without threshold."""
        outputs = self._outputs(X)
        if threshold is None:
            scores = self._decode(outputs, "votes")
            return scores.argmax(axis=1), accepted_by_votes(outputs, self.code_)
        scores = self._decode(outputs, self.decoder_)
        return scores.argmax(axis=1), accepted_by_confidence(scores, threshold)

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        if self.decoder_ == "probability":
            return self.predict_proba(X)
        X = check_data(self, X, reset=False)
        blocks = blocks_of(X, self.code_.n_problems)
        return np.concatenate([self._decode(self._outputs(part), self.decoder_) for part in blocks])
