"""What classifiers of one flat code share: their outputs are decoded to a class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from polychotomy.classifiers._plan import Plan
from polychotomy.classifiers._reading import Array, RejectingMixin
from polychotomy.classifiers._reduction import ReductionClassifier
from polychotomy.classifiers._rows import blocks_of
from polychotomy.codes import Code
from polychotomy.decoding import (
    accepted_by_confidence,
    accepted_by_votes,
    check_outputs,
    decode,
)


class FlatCodeClassifier(RejectingMixin, ReductionClassifier):
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
            winners = self._model.problems[0].predict(self._checked(X))
        else:
            winners = self._scores(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winners]
        return labels

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
        X = self._checked(X)
        blocks = blocks_of(X, self.code_.n_problems)
        return np.concatenate([self._decode(self._outputs(part), self.decoder_) for part in blocks])
