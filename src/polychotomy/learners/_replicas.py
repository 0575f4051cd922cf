"""Explicit replicas of samples, and a joint learner that trains any classifier on them.

Every sample has a replica for each problem of a code; training takes those whose class takes part.
"""

from dataclasses import dataclass
from typing import Any, ClassVar
from warnings import warn

import numpy as np
from scipy.sparse import csr_array, get_index_dtype, hstack, issparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_array, gen_batches
from sklearn.utils.validation import _check_method_params

from polychotomy.arrays import Array, Indices, Matrix
from polychotomy.codes import Code
from polychotomy.learners._learner import TrainedProblem
from polychotomy.memory import check_room

_BLOCK_VALUES = 2**23
_ROWS_AT_A_TIME = 4096
_LOOKED_AT = 200


@dataclass(frozen=True, eq=False)
class Concatenation:
    """Replicas x∘A_s: the features of the sample, then a row of a matrix.

    Parameters
    ----------
    code : Code
    appended : ndarray of shape (n_problems, n_appended)
        A.

    References
    ----------
    El-Yaniv, Kotek, Pechyony and Yom-Tov, "On multiclass classification via a single binary
    classifier", section 3; Allwein, Schapire and Singer (2000), section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.learners import Concatenation
    >>> from polychotomy import make_code
    >>> replicas = Concatenation(make_code("one_vs_rest", 3), np.eye(3))
    >>> replicas.make(np.array([[7.0, 8.0]]), np.array([0, 0]), np.array([0, 2]))
    array([[7., 8., 1., 0., 0.],
           [7., 8., 0., 0., 1.]])
    """

    code: Code
    appended: Array

    def make(self, X: Any, sample: Indices, problem: Indices) -> Any:
        """Return the replicas of samples for problems, given pairwise; sparse if X is."""
        A = self.appended
        if issparse(X):
            return csr_array(hstack([X[sample], csr_array(A.astype(X.dtype))[problem]]))
        d = X.shape[1]
        Z = np.empty((len(sample), d + A.shape[1]), dtype=X.dtype)
        for some in gen_batches(len(sample), _ROWS_AT_A_TIME):  # or all would be copied twice
            Z[some, :d] = X[sample[some]]
            Z[some, d:] = A[problem[some]]
        return Z

    def n_bytes(self, X: Any, n_replicas: int) -> int:
        """Return how much memory a number of replicas takes."""
        d = X.nnz // max(1, X.shape[0]) if issparse(X) else X.shape[1]
        return n_replicas * (d + self.appended.shape[1] * (not issparse(X))) * X.dtype.itemsize

    def outputs(self, trained: TrainedProblem, X: Any, kind: str) -> Array:
        """Return the outputs of a learner for all replicas, in blocks of samples."""
        p = len(self.appended)
        n_values = p * (X.shape[1] + self.appended.shape[1])
        outputs = np.empty((X.shape[0], p))
        for block in gen_batches(X.shape[0], max(1, _BLOCK_VALUES // n_values)):
            n = block.stop - block.start
            Z = self.make(X[block], np.repeat(np.arange(n), p), np.tile(np.arange(p), n))
            outputs[block] = trained.outputs(Z, kind).reshape(n, p)
        return outputs


@dataclass(frozen=True, eq=False)
class Placement:
    """Kesler's replicas: (1, x) in the place of one class, −(1, x) in that of another.

    For a pair of classes a and b, z = (e_a − e_b) ⊗ (1, x), on the side of the sample's class. A
    linear classifier w·z without bias has a part w_r for each class, and says (w_a − w_b)·(1, x):
    on the right side of all k − 1 replicas of a sample, its own class has the largest w_r·(1, x).

    Parameters
    ----------
    code : Code
        One-vs-one.

    References
    ----------
    Duda and Hart (1973), "Pattern classification and scene analysis", section 5.12.1.

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.learners import Placement
    >>> from polychotomy import make_code
    >>> replicas = Placement(make_code("one_vs_one", 3))
    >>> replicas.make(np.array([[7.0]]), np.array([0, 0]), np.array([0, 2])).toarray()
    array([[ 1.,  7., -1., -7.,  0.,  0.],
           [ 0.,  0.,  1.,  7., -1., -7.]])
    """

    code: Code

    def make(self, X: Any, sample: Indices, problem: Indices) -> csr_array:
        """Return the replicas of samples for pairs of classes."""
        augmented = _augmented(X)[sample]
        first, second = self.code.matrix.argmax(axis=0), self.code.matrix.argmin(axis=0)
        k = self.code.n_classes
        return csr_array(
            _placed(augmented, first[problem], k) - _placed(augmented, second[problem], k)
        )

    def n_bytes(self, X: Any, n_replicas: int) -> int:
        """Return what so many replicas of samples take in memory: numbers and their columns."""
        d = X.nnz // max(1, X.shape[0]) if issparse(X) else X.shape[1]
        return n_replicas * 2 * d * (8 + 4)

    def outputs(self, trained: TrainedProblem, X: Any, kind: str) -> Array:
        """Return the outputs of a learner for all replicas, in blocks of samples."""
        k, p = self.code.matrix.shape
        outputs = np.empty((X.shape[0], p))
        n_values = (k if kind == "margin" else 2 * p) * (X.shape[1] + 1)
        for block in gen_batches(X.shape[0], max(1, _BLOCK_VALUES // n_values)):
            n = block.stop - block.start
            if kind == "margin":  # which is linear: those of k places give all pairs
                Z = _placed(
                    _augmented(X[block])[np.repeat(np.arange(n), k)], np.tile(np.arange(k), n), k
                )
                outputs[block] = trained.outputs(Z, kind).reshape(n, k) @ self.code.matrix
            else:
                Z = self.make(X[block], np.repeat(np.arange(n), p), np.tile(np.arange(p), n))
                outputs[block] = trained.outputs(Z, kind).reshape(n, p)
        return outputs


def _augmented(X: Any) -> csr_array:
    ones = np.ones((X.shape[0], 1))
    return csr_array(hstack([csr_array(ones), X]) if issparse(X) else np.hstack([ones, X]))


def _placed(rows: csr_array, place: Indices, k: int) -> csr_array:
    """Return rows in one of k places each, with zeros in the others."""
    width = rows.shape[1]
    number = get_index_dtype(maxval=max(k * width, rows.nnz))  # liblinear knows 32 bits only
    columns = rows.indices + (np.repeat(place, np.diff(rows.indptr)) * width).astype(number)
    return csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], k * width))


@dataclass(frozen=True, eq=False)
class ReplicatedModel:
    """One classifier that was trained on replicas: it answers all problems."""

    trained: TrainedProblem
    replicas: Concatenation | Placement

    @property
    def classifier(self) -> Any:
        """The trained classifier."""
        return self.trained.estimator

    def outputs(self, X: Any, kind: str = "margin") -> Array:
        """Return the margin or the probability of every replica, a column for each problem."""
        return self.replicas.outputs(self.trained, as_array(X), kind)

    def estimator(self, s: int) -> Any:
        """Return the classifier, which is the same for all problems."""
        return self.trained.estimator


@dataclass(frozen=True, eq=False)
class ReplicaLearner:
    """A joint learner that trains a classifier on explicit replicas.

    Parameters
    ----------
    classifier : classifier
        Cloned for each training.
    replicas : Concatenation or Placement
    """

    classifier: Any
    replicas: Concatenation | Placement

    couples: ClassVar[bool] = True

    def fit_joint(
        self, X: Any, targets: Matrix, *, like: Any = None, **params: Any
    ) -> ReplicatedModel:
        """Train on the replicas whose target is not 0; `like` is not used."""
        given = as_array(X)
        size = self.replicas.n_bytes(given, int(np.count_nonzero(targets)))
        check_room(
            {"the replicas of the samples": size},
            "Train on fewer replicas by 'n_negatives', on fewer samples or on numbers in single "
            "precision; or take a SharedKernelSVC, which needs no replicas.",
        )
        sample, problem = np.nonzero(targets)
        Z = self.replicas.make(given, sample, problem)
        labels = (targets[sample, problem] > 0).astype(int)
        learner = clone(self.classifier)
        try:
            learner.fit(Z, labels, **_check_method_params(X, params, indices=sample))
        except Exception as error:
            error.add_note(
                f"This happened while training on {len(sample)} replicas of "
                f"{len(np.unique(sample))} samples, with {Z.shape[1]} features."
            )
            raise
        model = ReplicatedModel(TrainedProblem(learner), self.replicas)
        plain = like is None and params.get("sample_weight") is None and targets.all()
        self._check_use(model, X, sample, targets if plain else None)
        return model

    def _check_use(
        self, model: ReplicatedModel, X: Any, sample: Indices, targets: Matrix | None
    ) -> None:
        """Raise ValueError if the classifier gives all replicas the same output.

        Warn if, without weights and with all replicas, it never predicts a class that is not rare.
        """
        some = np.unique(sample)
        some = some[:: max(1, len(some) // _LOOKED_AT)]
        kind = "margin" if hasattr(self.classifier, "decision_function") else "probability"
        outputs = model.outputs(_safe_indexing(X, some), kind)
        if outputs.shape[1] > 1 and not np.ptp(outputs):
            raise ValueError(
                f"{type(self.classifier).__name__} gives all replicas of all samples the same "
                "output, and so predicts one class only. Learners that stop where no single split "
                "gains anything, as boosted trees do, find none where all classes have equally "
                "many samples. Take another learner, such as a random forest or an SVM, or train "
                "on fewer replicas by 'n_negatives'."
            )
        if targets is None or ((targets > 0).sum(axis=1) != 1).any():
            return
        own, k = targets[some].argmax(axis=1), targets.shape[1]
        common = np.flatnonzero(np.bincount(own, minlength=k) >= len(own) / (2 * k))
        never = np.setdiff1d(common, outputs.argmax(axis=1))
        if k > 2 and never.size:
            warn(
                f"{type(self.classifier).__name__} never predicts {never.size} of {k} classes, not "
                "even for the samples it was trained on. Learners that choose one split after the "
                "other, as boosted trees do, can miss what only several appended features show "
                "together. Take replication='identity', deeper trees or another learner.",
                UserWarning,
                stacklevel=2,
            )


def as_array(X: Any) -> Any:
    """Return X as an array or sparse matrix of numbers that features can be appended to."""
    return check_array(
        X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
    )
