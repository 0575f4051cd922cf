"""Ways to replicate samples for a single binary classifier, as values."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator

from polychotomy.arrays import Array, Indices
from polychotomy.codes import (
    Code,
    available_codes,
    check_ordered,
    check_positive,
    check_rows,
    make_code,
    one_vs_one,
    one_vs_rest,
    resolve_code,
)
from polychotomy.errors import unknown_name
from polychotomy.learners._additive import additive_kind, why_not_replicated
from polychotomy.learners._replicas import Concatenation, Placement, ReplicaLearner


class Appending(BaseEstimator):
    """Replicas with appended features, without making them where the learner can do that."""

    def checked(self, estimator: Any) -> Any:
        """Return the learner, or raise ValueError if it cannot be trained on such replicas."""
        suits = getattr(estimator, "appends_features", False)
        if reason := "" if suits else why_not_replicated(estimator):
            raise ValueError(reason)
        return estimator

    def joint_learner(self, estimator: Any, replicas: Any) -> Any:
        """Return what trains the learner on all replicas."""
        joint = None
        if hasattr(estimator, "concatenated") and not isinstance(estimator, FrozenEstimator):
            joint = estimator.concatenated(replicas.appended)
        return ReplicaLearner(estimator, replicas) if joint is None else joint


class Concatenated(Appending):
    """A replica of each sample for each class r: the sample's features, then row r of a matrix E.

    The replica of a sample's own class is labelled +1, the others −1.

    Parameters
    ----------
    extension : str, Code, array-like of shape (n_classes, n_appended) or callable, default="bch"
        The matrix E: ``"identity"``, ``"single"`` (the column 1, …, k), ``"hamming"``, ``"bch"``,
        ``"orthogonal"`` or another name of :func:`~polychotomy.available_codes`, a code (−1 is
        written as 0, and 0 as ½), a matrix of real numbers, or a function of the number of classes
        that returns a code or a matrix. Its rows are the classes in the order of `class_order`.
    scale : float, default=1.0
        Factor of the extension. With an RBF kernel, only distances between rows matter: a small
        scale makes the classes' replicas alike, a large one separates them, as one-vs-rest does.
        The best scale depends on the data: search it like any parameter.

    Examples
    --------
    >>> from polychotomy import SharedKernelSVC, SingleBinaryClassifier
    >>> from polychotomy.learners import Concatenated
    >>> classifier = SingleBinaryClassifier(SharedKernelSVC(), Concatenated("identity", scale=4.0))
    >>> classifier.get_params()["replication__scale"]
    4.0
    """

    takes_negatives, rule = True, "argmax"

    def __init__(self, extension: Any = "bch", scale: float = 1.0) -> None:
        self.extension = extension
        self.scale = scale

    def replicas(
        self, classes: NDArray[Any], rng: Any, order: Indices | None = None
    ) -> Concatenation:
        """Return the replicas for these classes; `rng` draws random codes.

        `order` has the class of each row of a matrix, by default that of its own number.
        """
        E = check_positive("scale", self.scale) * resolve_extension(self.extension, classes, rng)
        if order is None:
            check_ordered(self.extension, classes)
        else:
            E = E[np.argsort(order)]
        return Concatenation(one_vs_rest(len(classes)), E)


class SingleCall(Appending):
    """A replica of each sample for each problem of a code, with the problem's number appended.

    The number of the problem is nominal: ℓ appended features, of which the s-th is 1. A replica is
    labelled as the code says; those with 0 are left out. This is SBC-ECOC.

    Parameters
    ----------
    code : str, Code, array-like or callable, default="bch"
        As in :class:`~polychotomy.CodeClassifier`.
    decoder : str, default="euclidean"
        A rule of :func:`~polychotomy.decoding.decode`, ``"probability"`` or ``"auto"``.

    References
    ----------
    Allwein, Schapire and Singer (2000), "Reducing multiclass to binary", JMLR 1, section 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import SharedKernelSVC, SingleBinaryClassifier
    >>> from polychotomy.learners import SingleCall
    >>> X, y = load_iris(return_X_y=True)
    >>> single_call = SingleCall("one_vs_rest")
    >>> model = SingleBinaryClassifier(SharedKernelSVC(gamma=0.5), single_call, probability=None)
    >>> model.fit(X, y).score(X, y) > 0.9
    True
    """

    takes_negatives = False

    def __init__(self, code: Any = "bch", decoder: str = "euclidean") -> None:
        self.code = code
        self.decoder = decoder

    @property
    def rule(self) -> str:
        """How outputs are decoded."""
        return self.decoder

    def replicas(
        self, classes: NDArray[Any], rng: Any, order: Indices | None = None
    ) -> Concatenation:
        """Return the replicas for these classes; `rng` draws random codes.

        `order` has the class of each row of a matrix, by default that of its own number.
        """
        code = resolve_code(self.code, classes, rng)
        if order is None:
            check_ordered(self.code, classes)
        else:
            code = code.reordered(np.argsort(order))
        return Concatenation(code, np.eye(code.n_problems))


class Kesler(BaseEstimator):
    """Kesler's construction, for linear learners only.

    For each pair of classes a and b that includes the sample's class, (1, x) is placed in the a-th
    of k places and −(1, x) in the b-th, sparse, labelled by the class. The k − 1 replicas of a
    sample are on their right sides if w_y·(1, x) is the largest of all w_r·(1, x). The learner
    needs a parameter ``fit_intercept``, which is set to False. With the hinge loss this is Weston
    and Watkins' multi-class SVM.

    References
    ----------
    Duda and Hart (1973), "Pattern classification and scene analysis", section 5.12.1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import LinearSVC
    >>> from polychotomy import SingleBinaryClassifier
    >>> from polychotomy.learners import Kesler
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SingleBinaryClassifier(LinearSVC(random_state=0), Kesler(), probability=None)
    >>> model.fit(X, y).score(X, y) > 0.9
    True
    """

    takes_negatives, rule = False, "linear"

    def replicas(self, classes: NDArray[Any], rng: Any, order: Indices | None = None) -> Placement:
        """Return the replicas for these classes."""
        return Placement(one_vs_one(len(classes)))

    def checked(self, estimator: Any) -> Any:
        """Return a linear learner without intercept, or raise ValueError."""
        if additive_kind(estimator) != "linear":
            raise ValueError(
                "Kesler's construction is for linear classifiers, such as LogisticRegression() or "
                f"LinearSVC(). Got {estimator!r} as the 'estimator'; take "
                "replication=Concatenated() for it."
            )
        params = estimator.get_params(deep=True)
        names = [n for n in params if n.rpartition("__")[2] == "fit_intercept"]
        if not names:
            raise ValueError(
                "Kesler's construction needs a linear classifier that can do without intercept, by "
                f"a parameter 'fit_intercept' such as LinearSVC has. {estimator!r} has none."
            )
        return clone(estimator).set_params(**dict.fromkeys(names, False))

    def joint_learner(self, estimator: Any, replicas: Placement) -> Any:
        """Return what trains the learner on all replicas."""
        return ReplicaLearner(estimator, replicas)


_SHORT_FORMS: dict[str, Callable[[], Any]] = {"single_call": SingleCall, "kesler": Kesler}


def resolve_replication(given: Any) -> Concatenated | SingleCall | Kesler:
    """Return a way to replicate samples from its short form.

    ``"single_call"`` and ``"kesler"`` are :class:`SingleCall` and :class:`Kesler`; anything else
    that is no replication is the extension of a :class:`Concatenated`, None its default.

    Examples
    --------
    >>> from polychotomy.learners import resolve_replication
    >>> resolve_replication("identity")
    Concatenated(extension='identity')
    >>> resolve_replication("kesler")
    Kesler()
    """
    if given is None:
        return Concatenated()
    if isinstance(given, Concatenated | SingleCall | Kesler):
        return given
    if isinstance(given, str) and given in _SHORT_FORMS:
        short: SingleCall | Kesler = _SHORT_FORMS[given]()
        return short
    known = ("identity", "single", *available_codes())
    if isinstance(given, str) and given not in known:
        raise unknown_name("replication", given, [*_SHORT_FORMS, *known])
    return Concatenated(given)


def resolve_extension(extension: Any, classes: NDArray[Any], rng: Any) -> Array:
    """Return the extension matrix E, row r being what is appended for class r.

    Parameters
    ----------
    extension : str, Code, array-like of shape (n_classes, n_appended) or callable
        As in :class:`Concatenated`.
    classes : ndarray of shape (n_classes,)
    rng : RandomState
        Generator for random codes.

    Returns
    -------
    extension : ndarray of shape (n_classes, n_appended)

    Raises
    ------
    ValueError
        Unless it is a matrix of finite numbers with a row for each class, no two of them equal.

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.learners import resolve_extension
    >>> resolve_extension("single", np.array(["a", "b", "c"]), None)
    array([[1.],
           [2.],
           [3.]])
    """
    k = len(classes)
    if isinstance(extension, str):
        if extension == "identity":
            return np.eye(k)
        if extension == "single":
            return np.arange(1.0, k + 1)[:, np.newaxis]
        if extension not in available_codes():
            known = ["identity", "single", *available_codes()]
            raise unknown_name("extension", extension, known)
        return as_bits(make_code(extension, k, random_state=rng))
    made = extension(k) if callable(extension) else extension
    E = as_bits(made) if isinstance(made, Code) else as_extension(made)
    check_rows(E, classes, "extension")
    check_rows_differ([E], classes, "extension")
    return E


def as_bits(code: Code) -> Array:
    """Return the matrix of a code with −1 written as 0 and 0 as ½."""
    return (code.matrix + 1.0) / 2


def as_extension(made: Any) -> Array:
    """Return a matrix of finite numbers, or raise ValueError."""
    try:
        E = np.asarray(made, dtype=float)
    except (TypeError, ValueError):
        E = np.empty(0)
    if E.ndim != 2 or 0 in E.shape:
        shape = getattr(made, "shape", None)
        got = f"an array of shape {shape}" if shape is not None else repr(made)[:100]
        raise ValueError(
            "The 'extension' parameter must be a name, a Code, a matrix of real numbers, classes × "
            f"appended features, or a function of the number of classes that returns one. Got {got}"
            "."
        )
    if not np.isfinite(E).all():
        raise ValueError("The 'extension' parameter must hold finite numbers only.")
    return E


def check_rows_differ(matrices: list[Array], classes: NDArray[Any], name: str) -> None:
    """Raise ValueError if two classes have equal rows in all of the matrices."""
    E = np.hstack(matrices)
    _, first, inverse = np.unique(E, axis=0, return_index=True, return_inverse=True)
    same = np.flatnonzero(first[inverse.ravel()] != np.arange(len(E)))
    if same.size:
        r = same[0]
        other = first[inverse.ravel()[r]]
        where = "" if len(matrices) == 1 else " in all of them"
        raise ValueError(
            f"The {name!r} parameter must have a different row for each class, or the binary "
            f"classifier could not distinguish them. Those of the classes {classes[other]!s} and "
            f"{classes[r]!s} (rows {other} and {r}) are equal{where}."
        )
