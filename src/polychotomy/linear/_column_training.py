"""Training all columns of a linear learner: which solver, in which blocks, on how many threads."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from polychotomy.arrays import Indices
from polychotomy.kernel import one_blas_thread
from polychotomy.linear._least_squares_fit import solve_squared
from polychotomy.linear._linear_problems import LinearProblems
from polychotomy.linear._newton import Found, solve_newton
from polychotomy.parallel import map_tasks

_BLOCK_ENTRIES = 2**21
_LARGEST_FACTORED = {False: 8192, True: 2048}  # dense, sparse
_MOST_PASSES = 200
_WIDTH, _NARROWEST = 16, 8  # fewest problems of a block


@dataclass(frozen=True)
class ColumnTraining:
    """How problems are solved.

    Attributes
    ----------
    loss : {"squared", "squared_hinge", "logistic"}
    tol : float
    max_iter : int
    n_jobs : int or None
    """

    loss: str
    tol: float
    max_iter: int
    n_jobs: int | None

    def solve(self, problems: LinearProblems, done: Callable[[int], None]) -> Found:
        """Solve all problems; `done` is called with the number of each solved one.

        Warns if some are not solved in `max_iter` steps.
        """
        sparse = issparse(problems.X)
        if sparse and not problems.X.has_canonical_format:
            X = problems.X.copy()
            X.sum_duplicates()
            problems = replace(problems, X=X)
        if self.loss == "squared" and min(problems.X.shape) <= _LARGEST_FACTORED[sparse]:
            W, b = solve_squared(problems)
            n = problems.n_problems
            found = Found(W, b, np.ones(n, np.int64), np.ones(n, bool))
            for s in range(n):
                done(s)
            return found
        if self.loss == "squared_hinge" and sparse:
            found = self._by_blocks(problems, _descend_block, done, size=_WIDTH)
        elif self.loss == "logistic" and problems.intercept == "free":
            found = self._logistic(problems, done)
        else:
            found = self._by_newton(problems, done)
        if not found.solved.all():
            warnings.warn(
                f"{np.sum(~found.solved)} of {len(found.solved)} problems did not converge in "
                f"{self.max_iter} steps: scale the features, or increase 'max_iter' or 'tol'.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found

    def _logistic(self, problems: LinearProblems, done: Callable[[int], None]) -> Found:
        """Solve logistic problems with a free intercept.

        Dense samples are centred, which changes the intercept only. The intercept of a problem
        with one side would be infinite: it becomes that of the rule of succession, log(1 + n).
        """
        n, d = problems.n_problems, problems.X.shape[1]
        counts = np.bincount(problems.pattern, problems.weight, len(problems.patterns))
        minus, plus = counts @ (problems.patterns < 0), counts @ (problems.patterns > 0)
        if problems.factors is not None:
            minus, plus = problems.factors * (minus, plus)
        two = np.flatnonzero((plus > 0) & (minus > 0))
        b = np.sign(plus - minus) * np.log1p(np.abs(plus - minus))
        centre = np.zeros(d)
        if not issparse(problems.X):
            centre = problems.X.mean(axis=0, dtype=float)
            X = problems.X - centre.astype(problems.X.dtype)
            problems = replace(problems, X=X)
        factors = None if problems.factors is None else problems.factors[:, two]
        own = replace(problems, patterns=problems.patterns[:, two], factors=factors)
        found = self._by_newton(own, lambda s: done(int(two[s])))
        W, steps, solved = np.zeros((d, n), found.W.dtype), np.zeros(n, np.int64), np.ones(n, bool)
        W[:, two], steps[two], solved[two] = found.W, found.steps, found.solved
        b[two] = found.b - centre @ found.W
        for s in np.setdiff1d(np.arange(n), two).tolist():
            done(s)
        return Found(W, b, steps, solved)

    def _by_blocks(
        self,
        problems: LinearProblems,
        solve: Callable[[Indices, Any], Found],
        done: Callable[[int], None],
        *,
        size: int,
    ) -> Found:
        """Solve blocks of problems on several threads, and put their solutions together."""
        n, X = problems.n_problems, problems.X
        W, b = np.zeros((X.shape[1], n), X.dtype), np.zeros(n)
        steps, solved = np.zeros(n, np.int64), np.ones(n, bool)
        blocks = [np.arange(s, min(s + size, n)) for s in range(0, n, size)]
        with one_blas_thread():  # the threads are over blocks
            answers = map_tasks(
                solve, blocks, shared=(self, problems), n_jobs=self.n_jobs, threads=True
            )
            for some, found in zip(blocks, answers, strict=True):
                W[:, some], b[some], steps[some], solved[some] = found
                for s in some.tolist():
                    done(s)
        return Found(W, b, steps, solved)

    def _by_newton(self, problems: LinearProblems, done: Callable[[int], None]) -> Found:
        size = max(_NARROWEST, _BLOCK_ENTRIES // max(1, problems.X.shape[0]))
        return self._by_blocks(problems, _newton_block, done, size=size)


def _newton_block(some: Indices, shared: tuple[ColumnTraining, LinearProblems]) -> Found:
    training, problems = shared
    return solve_newton(problems, some, training.loss, training.tol, training.max_iter)


def _descend_block(some: Indices, shared: tuple[ColumnTraining, LinearProblems]) -> Found:
    """Solve some problems by dual coordinate descent, one after the other.

    Its passes gain little where features depend on each other and C is large: what is not solved
    after some of them is left to Newton's method.
    """
    from polychotomy.linear._compiled import solve_column

    training, problems = shared
    X, bias = problems.X, float(problems.has_intercept)
    W = np.zeros((len(some), X.shape[1] + 1))
    steps, solved = np.zeros(len(some), np.int64), np.ones(len(some), bool)
    for r, s in enumerate(some):
        one = np.array([s])
        sides, costs = problems.sides(one)[:, 0], problems.costs(one)[:, 0]
        steps[r], primal, gap = solve_column(
            X.indptr,
            X.indices,
            X.data,
            sides,
            costs,
            problems.norms,
            bias,
            training.tol,
            min(training.max_iter, _MOST_PASSES),
            W[r],
        )
        solved[r] = gap <= training.tol * primal
    hard = np.flatnonzero(~solved)
    if len(hard):
        found = _newton_block(some[hard], shared)
        W[hard, :-1], W[hard, -1] = found.W.T, found.b
        steps[hard], solved[hard] = found.steps, found.solved
    return Found(W[:, :-1].T, W[:, -1], steps, solved)
