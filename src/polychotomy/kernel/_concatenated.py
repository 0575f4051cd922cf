"""One kernel problem on samples with further features appended, whose replicas are never made.

Sample i with row t of A appended is the entry (i, t), with target T_it (0: it takes no part). The
kernel of two entries follows from that of the samples and the products of rows of A:

    rbf             exp(−γ‖x − x'‖²) · exp(−γ‖A_s − A_t‖²) = K ⊗ M, a coupled problem,
    poly, sigmoid   κ(γ (x·x' + A_s·A_t) + c₀), which does not factorise.

For the latter, a row of values takes one product with the samples, and κ once for every different
value of A_s·A_t: there are few of these for a code. Outputs likewise, with G = X Xᵢᵀ over the
support vectors:

    F(x) = Σ_v κ(γ (G + v) + c₀) W [A Aᵀ = v] + b.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import _check_sample_weight

from polychotomy.arrays import Array, Indices
from polychotomy.kernel._functions import Kernel, KernelAgainst, Ranges, padded, resolve_gamma
from polychotomy.kernel._joint_problem import one_blas_thread
from polychotomy.kernel._joint_svc import JointSVC
from polychotomy.kernel._kernel_rows import KernelRows
from polychotomy.kernel._kernel_samples import check_samples
from polychotomy.kernel._uncoupled import solve_apart

if TYPE_CHECKING:
    from polychotomy.kernel._svc import SharedKernelSVC


_BLOCK_VALUES = 2**22
FACTORISING = ("rbf", "precomputed")
CONCATENATED = ("poly", "sigmoid")


def fit_concatenated(
    learner: "SharedKernelSVC",
    X: Any,
    targets: NDArray[np.int8],
    appended: ArrayLike,
    *,
    sample_weight: Any = None,
) -> "JointSVC | ConcatenatedSVC":
    """Train one binary problem on every sample with every row of a matrix appended.

    It is the problem that `learner` would solve on the replicated samples, with C, class weights
    and one bias for all of them.

    Parameters
    ----------
    learner : SharedKernelSVC
        Not changed. With the kernels rbf, poly and sigmoid, ``gamma="scale"`` and ``"auto"`` use
        X alone. A precomputed kernel is multiplied by exp(−γ‖A_s − A_t‖²), where ``"scale"`` and
        ``"auto"`` use `appended`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    targets : ndarray of shape (n_samples, n_rows)
        −1, 0 and +1: the side of each sample with each row appended; with 0 it takes no part.
    appended : array-like of shape (n_rows, n_appended)
        A.
    sample_weight : array-like of shape (n_samples,), optional
        Factors of C.

    Returns
    -------
    model : JointSVC or ConcatenatedSVC
        With ``outputs(X)`` of shape (n_samples, n_rows).

    Raises
    ------
    ValueError
        Among others, where the kernel takes all rows of A for the same: no output could depend on
        the class.

    References
    ----------
    El-Yaniv, Kotek, Pechyony and Yom-Tov, "On multiclass classification via a single binary
    classifier", section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import SharedKernelSVC
    >>> from polychotomy.kernel import fit_concatenated
    >>> X, y = load_iris(return_X_y=True)
    >>> targets = np.where(y[:, np.newaxis] == np.arange(3), 1, -1)
    >>> model = fit_concatenated(SharedKernelSVC(kernel="poly"), X, targets, np.eye(3))
    >>> model.outputs(X).shape
    (150, 3)
    """
    A, targets = np.asarray(appended, dtype=float), np.asarray(targets, dtype=np.int8)
    learner = _with_common_weights(learner, targets)
    if learner.kernel in FACTORISING:
        from sklearn.metrics.pairwise import rbf_kernel

        own = A if learner.kernel == "precomputed" else check_samples(learner, X)
        gamma = resolve_gamma(learner.gamma, own)
        coupling = rbf_kernel(A, gamma=gamma)
        if coupling.min() == 1 and len(A) > 1:
            raise ValueError(
                f"With gamma={gamma:.3g} the kernel takes all codewords for the same. Increase "
                "'gamma' or the 'scale' of the replication, or scale the features if gamma is "
                "computed from them."
            )
        return learner.fit_joint(
            X, targets, coupling=coupling, sample_weight=sample_weight, common_bias=True
        )
    if learner.kernel not in CONCATENATED:
        raise ValueError(
            f"The kernel must be one of {', '.join(map(repr, FACTORISING + CONCATENATED))} for "
            f"replicas not to be made. Got {learner.kernel!r}."
        )
    X = check_samples(learner, X)
    weight = _check_sample_weight(sample_weight, X)[:, np.newaxis] * learner._side_weights(targets)
    return _fit_entries(learner, X, targets, A @ A.T, np.broadcast_to(weight, targets.shape))


@dataclass(frozen=True, eq=False)
class ConcatenatedLearner:
    """A joint learner that trains one problem on samples with every row of a matrix appended.

    Parameters
    ----------
    learner : SharedKernelSVC
    appended : ndarray of shape (n_problems, n_appended)
    """

    learner: "SharedKernelSVC"
    appended: Array

    couples: ClassVar[bool] = True
    shares_rows: ClassVar[bool] = True

    def fit_joint(
        self, X: Any, targets: NDArray[np.int8], *, sample_weight: Any = None, like: Any = None
    ) -> "JointSVC | ConcatenatedSVC":
        """Train on all entries; `like` is not used."""
        return fit_concatenated(
            self.learner, X, targets, self.appended, sample_weight=sample_weight
        )


def _with_common_weights(learner: "SharedKernelSVC", targets: NDArray[np.int8]) -> Any:
    """Return a clone whose class weights are balanced over all replicas, if they are balanced."""
    learner = clone(learner)
    if isinstance(learner.class_weight, str) and learner.class_weight == "balanced":
        both = np.count_nonzero(targets)
        weight = {side: both / (2 * max(np.sum(targets == 2 * side - 1), 1)) for side in (0, 1)}
        learner.set_params(class_weight=weight)
    return learner


def _fit_entries(
    learner: "SharedKernelSVC",
    X: Any,
    targets: NDArray[np.int8],
    products: Array,
    weight: Array,
) -> "ConcatenatedSVC":
    """Train on the entries by the solver for a single problem."""
    kernel = ConcatenatedKernel(learner._check_parameters(X), products)
    sample, row = np.nonzero(targets)
    with one_blas_thread():
        room = 1024 if learner.cache_size == "auto" else learner.cache_size
        rows = KernelRows(kernel, Entries(X, sample, row), room)  # type: ignore[arg-type]
        found = solve_apart(
            rows,
            targets[sample, row][:, np.newaxis],
            learner.C * weight[sample, row][:, np.newaxis],
            tol=learner.tol,
            max_iter=learner.max_iter,
        )
        rows.close()
    W = np.zeros(targets.shape)
    W[sample, row] = found.coefficients.toarray().ravel()
    support = np.flatnonzero(W.any(axis=1))
    model = ConcatenatedModel(kernel, X[support], W[support], float(found.bias[0]))
    return ConcatenatedSVC(learner, model, support, found.steps, found.objectives, found.gaps)


@dataclass(frozen=True, eq=False)
class Entries:
    """Samples with rows of a matrix appended, by their numbers; it can be indexed as an array."""

    X: Any
    sample: Indices
    row: Indices

    @property
    def shape(self) -> tuple[int, int]:
        """The number of entries and of the samples' features."""
        return len(self.sample), self.X.shape[1]

    def __getitem__(self, entries: Indices) -> "Entries":
        return Entries(self.X, self.sample[entries], self.row[entries])


@dataclass(frozen=True, eq=False)
class ConcatenatedKernel:
    """A kernel κ(x·x' + A_s·A_t) between entries.

    Parameters
    ----------
    kernel : Kernel
        A function of products: poly or sigmoid.
    products : ndarray of shape (n_rows, n_rows)
        A Aᵀ.
    """

    kernel: Kernel
    products: Array

    @property
    def name(self) -> str:
        """What it is a concatenation for."""
        return "concatenated"

    @property
    def dtype(self) -> str:
        """In what precision values are computed and kept."""
        return self.kernel.dtype

    def against(self, Y: Entries) -> "ConcatenatedAgainst":
        """Return the kernel between any entries and those in Y."""
        return ConcatenatedAgainst(self, Y)

    @cached_property
    def values_and_place(self) -> tuple[Array, Indices]:
        """The different values of A Aᵀ, and which of them is where."""
        values, place = np.unique(self.products, return_inverse=True)
        return values, place.reshape(self.products.shape)

    def of_products(self, products: NDArray[Any]) -> NDArray[Any]:
        """Return kernel values from products of entries."""
        kernel = self.kernel
        inner = float(kernel.gamma) * products + kernel.coef0  # a NumPy float would be double
        return inner**kernel.degree if kernel.name == "poly" else np.tanh(inner)


class ConcatenatedAgainst:
    """A concatenated kernel against fixed entries."""

    by_ranges = False

    def __init__(self, kernel: ConcatenatedKernel, Y: Entries) -> None:
        self.kernel, self._Y = kernel, Y
        self._products = _linear(kernel).against(Y.X)

    def write_own(self, numbers: Indices, K: NDArray[Any], slots: Indices, ranges: Ranges) -> None:
        """Write the values of entry ``numbers[r]`` of Y against all into ``K[slots[r]]``."""
        X = self._Y[numbers]
        different, place_of = self.kernel.values_and_place
        samples, number = np.unique(X.sample, return_inverse=True)
        products = self._products.values(X.X[samples])
        n = len(self._Y.sample)
        for i in range(len(samples)):
            own = np.flatnonzero(number == i)
            needed, place = np.unique(place_of[X.row[own]], return_inverse=True)
            shifts = different[needed][:, np.newaxis].astype(products.dtype)
            table = self.kernel.of_products(products[i] + shifts)
            for r, where in zip(own, place.reshape(len(own), -1), strict=True):
                K[slots[r], :n] = table[where[self._Y.row], self._Y.sample]


@dataclass(frozen=True, eq=False)
class ConcatenatedModel:
    """What entries with coefficients say of a sample with each row appended.

    Attributes
    ----------
    kernel : ConcatenatedKernel
    vectors : array or sparse matrix of shape (n_support, n_features)
        The samples with a coefficient in any entry.
    weights : ndarray of shape (n_support, n_rows)
        W = T∘α.
    bias : float
    """

    kernel: ConcatenatedKernel
    vectors: Any
    weights: Array
    bias: float

    def outputs(self, X: Any) -> Array:
        """Return the outputs, a column for each row; a block of samples at a time."""
        outputs = np.full((X.shape[0], self.weights.shape[1]), self.bias)
        size = max(1, _BLOCK_VALUES // padded(max(1, len(self.weights))))
        for start in range(0, X.shape[0], size):
            self._add(X[start : start + size], outputs[start : start + size])
        return outputs

    def _add(self, X: Any, outputs: Array) -> None:
        G = self._against.values(X)
        different, place = self.kernel.values_and_place
        for v, value in enumerate(different):
            rows, columns = (place == v).any(axis=1), (place == v).any(axis=0)
            weights = self.weights[:, rows] @ (place == v)[np.ix_(rows, columns)]
            values = self.kernel.of_products(G + G.dtype.type(value))
            outputs[:, columns] += values.astype(float, copy=False) @ weights

    @cached_property
    def _against(self) -> KernelAgainst:
        return replace(_linear(self.kernel), dtype="float64").against(self.vectors)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}


@dataclass(frozen=True, eq=False)
class ConcatenatedSVC:
    """A problem on entries that was trained with a kernel that does not factorise.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        The samples with a coefficient in any entry.
    n_iter_, dual_objective_, duality_gap_ : ndarray of shape (1,)
        As of :class:`JointSVC`.
    """

    learner: "SharedKernelSVC"
    model: ConcatenatedModel
    support_: NDArray[np.intp]
    n_iter_: NDArray[np.int64]
    dual_objective_: Array
    duality_gap_: Array

    def outputs(self, X: Any) -> Array:
        """Return the outputs, a column for each row that can be appended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        return self.model.outputs(check_samples(self.learner, X, reset=False))


def _linear(kernel: ConcatenatedKernel) -> Kernel:
    return replace(kernel.kernel, name="linear")
