"""A joint learner that couples the problems by a weighted sum of given couplings (SBC-KERNEL)."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csc_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight

from polychotomy.arrays import Array, Matrix
from polychotomy.errors import shown_shortly, unknown_name
from polychotomy.kernel._coupled import LARGEST_COUPLING
from polychotomy.kernel._functions import resolve_gamma
from polychotomy.kernel._joint_svc import JointSVC
from polychotomy.kernel._learned_coupling import (
    LearnedCoupling,
    WeightedCoupling,
    couple,
    extension_couplings,
    learn_coupling,
)
from polychotomy.kernel._svc import SharedKernelSVC

_WEIGHTS = ("learned", "class_frequencies")
_SMALLEST_DISTANCE = 1e-3
_ROUGHER = 10.0  # the tolerances of a first search of the weights


@dataclass(frozen=True, eq=False)
class CoupledModel:
    """Problems that were trained with a weighted coupling.

    Attributes
    ----------
    svm : SharedKernelSVC
        As it was trained, with γ as a number.
    learned : LearnedCoupling
        The weights, and how they were found.
    radius, gamma : float
        R and γ.
    """

    svm: SharedKernelSVC
    learned: LearnedCoupling
    radius: float
    gamma: float

    @property
    def best(self) -> WeightedCoupling:
        """The weights in use, with the problem solved by them."""
        return self.learned.best

    @property
    def n_solves_(self) -> int:
        """How many joint problems were solved."""
        return self.learned.n_solves

    def outputs(self, X: Any) -> Array:
        """Return the outputs of all problems, a column for each."""
        return self.best.model.outputs(X)

    def part(self, problems: Sequence[int]) -> JointSVC:
        """Return some of the problems."""
        return self.best.model.part(problems)

    def estimator(self, s: int) -> Any:
        """Return one problem as a trained binary classifier of the labels 0 and 1."""
        return self.best.model.estimator(s)


@dataclass(frozen=True, eq=False)
class CouplingLearner:
    """Trains one SVM on the replicas of all samples, with the kernel K ⊗ Σ_j μ_j M_j.

    Parameters
    ----------
    svm : SharedKernelSVC
    extensions : sequence of ndarray of shape (n_problems, n_appended), or None
        Give the couplings (M_j)_rs = exp(−γ‖E_r − E_s‖²) by the SVM's γ; None if these are given.
    couplings : ndarray of shape (n_bases, n_problems, n_problems), or None
    weights : {"learned", "class_frequencies"} or array-like of shape (n_bases,)
        μ.
    radius : "sqrt" or float
        R = Σ μ.
    tol : float
        The relative change of the weights at which to stop learning them.
    max_iter : int
        Most solves of the SVM.
    done : callable or None
        Called after each solve with their number and the objective.
    """

    svm: SharedKernelSVC
    extensions: Sequence[Array] | None
    couplings: Array | None
    weights: Any
    radius: Any
    tol: float = 1e-3
    max_iter: int = 100
    done: Callable[[int, float], None] | None = None

    couples: ClassVar[bool] = True
    shares_rows: ClassVar[bool] = True

    def fit_joint(
        self,
        X: Any,
        targets: Matrix,
        *,
        sample_weight: Any = None,
        like: CoupledModel | None = None,
    ) -> CoupledModel | JointSVC:
        """Train the SVM, and learn the weights unless they are given.

        `like` is a model of more samples: its weights are taken, and its coefficients are where
        the SVM starts.
        """
        if like is not None:
            return self._refit(X, targets, sample_weight, like)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        radius, gamma = resolve_radius(self.radius, weight), self._gamma(X)
        svm, bases = clone(self.svm).set_params(gamma=gamma), self.couplings
        if bases is None:
            assert self.extensions is not None
            bases = extension_couplings(self.extensions, gamma)
        mu = resolve_weights(self.weights, len(bases), targets, weight, radius)
        done = self.done or _ignore
        problem = _CoupledProblem(svm, X, targets, weight)
        if mu is None:
            learned = self._learn(problem, bases, radius, done)
        else:
            best = couple(problem, bases, mu)
            done(1, best.objective)
            learned = LearnedCoupling(best, np.array([best.objective]), 1)
        return CoupledModel(svm, learned, radius, gamma)

    def _learn(
        self, problem: "_CoupledProblem", bases: Array, radius: float, done: Any
    ) -> LearnedCoupling:
        """Learn the weights, first with less accurate solves: most of the way takes no more."""
        options: dict[str, Any] = {"max_iter": self.max_iter, "done": done}
        if len(bases) == 2:  # all weights give the same coupling
            return learn_coupling(problem, bases, radius, tol=self.tol, **options)
        rough = replace(problem, svm=clone(problem.svm).set_params(tol=_ROUGHER * self.svm.tol))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            begin = learn_coupling(
                rough, bases, radius, tol=min(_ROUGHER * self.tol, 0.5), **options
            )
        return learn_coupling(problem, bases, radius, tol=self.tol, begin=begin, **options)

    def _refit(self, X: Any, targets: Matrix, sample_weight: Any, like: CoupledModel) -> JointSVC:
        """Return the SVM of some of the targets, with the weights of all of them."""
        W = like.best.model.coefficients_.tocoo()
        kept = targets[W.row, W.col] != 0
        start = csc_array((W.data[kept], (W.row[kept], W.col[kept])), shape=W.shape)
        return _CoupledProblem(like.svm, X, targets, sample_weight)(like.best.coupling, start)

    def _gamma(self, X: Any) -> float:
        if self.svm.kernel == "precomputed" and self.extensions is not None:
            return resolve_gamma(self.svm.gamma, np.hstack(list(self.extensions)))
        return resolve_gamma(self.svm.gamma, X)


def resolve_radius(radius: Any, weight: Array) -> float:
    """Return R; "sqrt" is the root of the number of samples, counted by their weights."""
    if isinstance(radius, str):
        if radius != "sqrt":
            raise unknown_name("radius", radius, ["sqrt"])
        return float(np.sqrt(weight.sum()))
    if not isinstance(radius, Real) or not 0 < float(radius) < LARGEST_COUPLING:
        raise ValueError(
            "The 'radius' parameter must be 'sqrt' or a positive number below "
            f"{LARGEST_COUPLING:g}. Got {radius!r}."
        )
    return float(radius)


def resolve_weights(
    weights: Any, n_bases: int, targets: Matrix, weight: Array, radius: float
) -> Array | None:
    """Return the weights μ with Σ μ = R, or None if they are to be learned."""
    given: Array
    if isinstance(weights, str):
        if weights not in _WEIGHTS:
            raise unknown_name("weights", weights, _WEIGHTS)
        if weights == "learned":
            return None
        if n_bases != targets.shape[1]:
            raise ValueError(
                "weights='class_frequencies' needs as many extensions or couplings as classes. "
                f"Got {n_bases} for {targets.shape[1]} classes; give weights='learned' or numbers."
            )
        given = weight @ (targets > 0)
    else:
        given = _as_numbers(weights)
        if given.shape != (n_bases,) or not (given >= 0).all() or not 0 < given.sum() < np.inf:
            raise ValueError(
                "The 'weights' parameter must be 'learned', 'class_frequencies' or a number that "
                f"is not negative for each of {n_bases} extensions, not all of them 0. "
                f"Got {shown_shortly(weights)}."
            )
    return given * (radius / given.sum())


def merged_problems(coupling: Array) -> list[tuple[int, int]]:
    """Return the pairs of problems that a coupling leaves without a difference.

    The squared distance of two replicas of one sample is M_rr + M_ss − 2 M_rs.
    """
    own = np.diag(coupling)
    distances = own[:, np.newaxis] + own - 2 * coupling
    r, s = np.triu_indices(len(own), 1)
    same = np.flatnonzero(distances[r, s] <= _SMALLEST_DISTANCE * distances.max())
    return [(int(r[i]), int(s[i])) for i in same]


@dataclass(frozen=True, eq=False)
class _CoupledProblem:
    """The SVM on the replicas of all samples, to be solved with any coupling."""

    svm: SharedKernelSVC
    X: Any
    targets: Matrix
    weight: Any

    def __call__(self, coupling: Array, start: csc_array | None) -> JointSVC:
        """Return the solution, beginning with given coefficients if there are any."""
        return self.svm.fit_joint(
            self.X,
            self.targets,
            coupling=coupling,
            common_bias=True,
            sample_weight=self.weight,
            start=None if start is None else _balanced(start),
        )


def _balanced(coefficients: csc_array) -> csc_array:
    """Return coefficients that sum to zero; the larger side is scaled down."""
    W = csc_array(coefficients, copy=True)
    plus, minus = W.data[W.data > 0].sum(), -W.data[W.data < 0].sum()
    if plus != minus:
        side = W.data > 0 if plus > minus else W.data < 0
        W.data[side] *= min(plus, minus) / max(plus, minus)
    return W


def _as_numbers(given: Any) -> Array:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return np.empty(0)


def _ignore(n_solves: int, objective: float) -> None:
    pass
