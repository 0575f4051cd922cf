"""Learning the coupling of all problems as a weighted sum of given ones (SBC-KERNEL).

With basis couplings M_1 … M_n (positive semi-definite) and weights μ, the joint problem of
``_uncoupled`` has the coupling M = Σ μ_j M_j. Sought are the weights with the least optimum, in the
paper's scaling

    minimise  g(μ) = max_α  2 Σ α − Σ_j μ_j ⟨S, M_j⟩   subject to  μ ≥ 0,  Σ μ ≤ R,
                                                                   S = Wᵀ K W,  W = T∘α,

where α obeys the constraints of the joint problem. As a maximum of linear functions, g is convex;
its derivative is −⟨S, M_j⟩ =: −d_j ≤ 0 at the best α, so that Σ μ = R at an optimum, and there d_j
is the same for all j with μ_j > 0 and no larger elsewhere. Any α that obeys the constraints bounds
the least g from below, by 2 Σ α − R max_j d_j: this gives the gap that is certified.

The default step follows from the primal problem, in which ‖h_j‖² = μ_j² d_j is the part of basis j
in the classifier's squared norm Σ_j ‖h_j‖²/μ_j: for fixed h_j the best weights are proportional to
‖h_j‖, so

    μ_j ← μ_j d_j^p,  scaled to Σ μ = R,

never raises g for p = ½. As d_j falls at most like μ_j⁻², any p < 1 still contracts near an
optimum. Taken is p = ¾ and, from the second step on, Anderson's extrapolation of log μ from the
last two points (by a factor of at most e³ in each weight). A step that does not lower g is taken
again with p = ½ and no extrapolation; if that does not lower it either, what is left to gain is
below the accuracy of the solves. Stops when the step with p = ¾ would change μ by at most `tol` of
its norm and max_j d_j ≤ (1 + 10 `tol`) Σ μ_j d_j / R.

The paper's own step is μ_j ← μ_j + d_j, scaled to Σ μ = R if above. It has a fixed point where d_j
is proportional to μ_j, which is no optimum unless all weights are equal, and where d_j is larger
than μ_j it may jump between extremes for ever: it is not used here.

References
----------
El-Yaniv, Pechyony and Yom-Tov, "Superior multi-class classification through a margin-optimized
single binary problem", section 3.1. The step with p = ½ is that of Xu, Jin, Yang, King and Lyu
(2010), "Simple and efficient multiple kernel learning by group lasso"; the extrapolation that of
Anderson (1965), "Iterative procedures for nonlinear integral equations".
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csc_array
from sklearn.exceptions import ConvergenceWarning

from polychotomy.arrays import Array
from polychotomy.kernel._joint_svc import JointSVC

Solve = Callable[[Array, csc_array | None], JointSVC]

_RELAXED, _SAFE = 0.75, 0.5
_LONGEST_STEP = 3.0
_SMALLEST_GAIN = 1e-12
_SMALLEST_WEIGHT = 1e-15


@dataclass(frozen=True, eq=False)
class WeightedCoupling:
    """Weights, the problem solved with them, and the gains of better ones.

    Attributes
    ----------
    weights : ndarray of shape (n_bases,)
        μ.
    coupling : ndarray of shape (n_problems, n_problems)
        Σ μ_j M_j.
    model : JointSVC
    gains : ndarray of shape (n_bases,)
        d_j = ⟨S, M_j⟩, minus the derivative of g.
    """

    weights: Array
    coupling: Array
    model: JointSVC
    gains: Array

    @property
    def objective(self) -> float:
        """g(μ), as far as it is solved."""
        return 2 * float(self.model.dual_objective_[0])

    @property
    def squared_norm(self) -> float:
        """Σ μ_j d_j, the squared norm of the classifier."""
        return float(self.weights @ self.gains)

    def optimality_gap(self, radius: float) -> float:
        """By how much g(μ) can at most exceed the least value, as a fraction of itself."""
        unsolved = 2 * float(self.model.duality_gap_[0])
        excess = radius * float(self.gains.max()) - self.squared_norm
        return (max(unsolved, 0.0) + max(excess, 0.0)) / self.objective


@dataclass(frozen=True, eq=False)
class LearnedCoupling:
    """What was found.

    Attributes
    ----------
    best : WeightedCoupling
        The last and the best one.
    objectives : ndarray of shape (n_iter,)
        g after each step, the start included.
    n_solves : int
        Joint problems that were solved, those of steps that were taken back included.
    """

    best: WeightedCoupling
    objectives: Array
    n_solves: int


def extension_couplings(extensions: Sequence[Array], gamma: float) -> Array:
    """Return the coupling exp(−γ‖E_r − E_s‖²) of each extension matrix E.

    Parameters
    ----------
    extensions : sequence of ndarray of shape (n_classes, n_appended)
    gamma : float

    Returns
    -------
    bases : ndarray of shape (n_bases, n_classes, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.kernel._learned_coupling import extension_couplings
    >>> extension_couplings([np.eye(2)], gamma=0.5).round(3)
    array([[[1.   , 0.368],
            [0.368, 1.   ]]])
    """
    squares = [((E[:, np.newaxis] - E) ** 2).sum(axis=-1) for E in extensions]
    return np.exp(-gamma * np.array(squares))


def couple(solve: Solve, bases: Array, weights: Array, start: Any = None) -> WeightedCoupling:
    """Return the joint problem solved with given weights.

    Parameters
    ----------
    solve : callable
        Solves the joint problem by a coupling, beginning with given coefficients if not None.
    bases : ndarray of shape (n_bases, n_problems, n_problems)
    weights : ndarray of shape (n_bases,)
    start : sparse array of shape (n_samples, n_problems), optional
    """
    coupling = np.tensordot(weights, bases, 1)
    model = solve(coupling, start)
    assert model.products_ is not None
    return WeightedCoupling(weights, coupling, model, np.tensordot(bases, model.products_, 2))


def learn_coupling(
    solve: Solve,
    bases: Array,
    radius: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    done: Callable[[int, float], None] = lambda solves, objective: None,
    begin: LearnedCoupling | None = None,
) -> LearnedCoupling:
    """Return the weights of basis couplings with which the joint problem has the least optimum.

    Begins with equal weights, and each solve with the coefficients of the last.

    Parameters
    ----------
    solve : callable
        Solves the joint problem by a coupling and coefficients to begin with (or None).
    bases : ndarray of shape (n_bases, n_problems, n_problems)
        Positive semi-definite.
    radius : float
        R, the sum of the weights.
    tol : float, default=1e-3
        Relative change of the weights at which to stop.
    max_iter : int, default=100
        Most solves. A ConvergenceWarning says when they were too few.
    done : callable, optional
        Called after each solve with their number and the objective.
    begin : LearnedCoupling, optional
        What was found less accurately, to begin with; its solves are counted.
    """
    _check_options(tol, max_iter)
    weights, start, n_solves = np.full(len(bases), radius / len(bases)), None, 0
    if begin is not None:
        weights, n_solves = begin.best.weights, begin.n_solves
        start = begin.best.model.coefficients_

    def at(weights: Array) -> WeightedCoupling:
        nonlocal start, n_solves
        solved = couple(solve, bases, weights, start)
        start, n_solves = solved.model.coefficients_, n_solves + 1
        done(n_solves, solved.objective)
        return solved

    before = here = at(weights)
    objectives = [here.objective]
    while candidates := _next_weights(here, before, radius, tol):
        if n_solves >= max_iter:
            _warn_unfinished(candidates[0] - here.weights, here, len(objectives))
            break
        solved = (at(weights) for weights in candidates)
        ahead = next((s for s in solved if s.objective < here.objective), None)
        if ahead is None:
            break
        before, here = here, ahead
        objectives.append(here.objective)
    return LearnedCoupling(here, np.array(objectives), n_solves)


def _next_weights(
    here: WeightedCoupling, before: WeightedCoupling, radius: float, tol: float
) -> list[Array]:
    """Return the weights to try next, none at an optimum."""
    plain = _stepped(here, _RELAXED, radius)
    alike = here.gains.max() <= (1 + 10 * tol) * here.squared_norm / radius
    if alike and _is_close(plain, here.weights, tol):
        return []
    ahead = plain if before is here else _extrapolated(here, before, radius)
    return [ahead, _stepped(here, _SAFE, radius)]


def _stepped(here: WeightedCoupling, power: float, radius: float) -> Array:
    """Return μ d^power, scaled; no weight becomes 0, from which it could not come back."""
    gains = np.maximum(here.gains, _SMALLEST_GAIN * here.gains.max())
    return np.maximum(_scaled(here.weights * gains**power, radius), _SMALLEST_WEIGHT * radius)


def _extrapolated(here: WeightedCoupling, before: WeightedCoupling, radius: float) -> Array:
    """Return where the steps from two points, linear in between, would be least.

    Lengths of steps in log μ are measured with the weights μ, so that those of vanishing weights
    count for little.
    """
    x, x0 = np.log(here.weights), np.log(before.weights)
    f = np.log(_stepped(here, _RELAXED, radius)) - x
    f0 = np.log(_stepped(before, _RELAXED, radius)) - x0
    change = f - f0
    length = float(here.weights @ change**2)
    theta = float(here.weights @ (change * f)) / length if length > 0 else 0.0
    step = f - theta * (x - x0 + change)
    return _scaled(np.exp(x + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)), radius)


def _check_options(tol: Any, max_iter: Any) -> None:
    if not isinstance(tol, Real) or not 0 < float(tol) < 1:
        raise ValueError(f"The 'tol' parameter must be a number between 0 and 1. Got {tol!r}.")
    if not isinstance(max_iter, Integral) or max_iter < 1:
        raise ValueError(f"The 'max_iter' parameter must be a positive int. Got {max_iter!r}.")


def _scaled(weights: Array, radius: float) -> Array:
    return weights * (radius / weights.sum())


def _is_close(new: Array, old: Array, tol: float) -> bool:
    return bool(np.linalg.norm(new - old) <= tol * np.linalg.norm(old))


def _warn_unfinished(step: Array, here: WeightedCoupling, n_iter: int) -> None:
    """Warn that the weights were still moving, and how much."""
    change = np.linalg.norm(step) / np.linalg.norm(here.weights)
    warnings.warn(
        f"The weights of the coupling would still change by {change:.1%} after {n_iter} "
        "iterations. Increase max_iter or tol.",
        ConvergenceWarning,
        stacklevel=4,
    )
