"""How a classifier gets from the outputs of its problems to class probabilities."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from polychotomy import calibration as calibrations
from polychotomy.calibration import CALIBRATIONS, Calibrator
from polychotomy.classifiers._nodes import Node
from polychotomy.classifiers._rows import rows_of
from polychotomy.codes._code import DistinctProblems
from polychotomy.learners import BinaryProblems, SeparateModel
from polychotomy.probability import is_one_vs_rest, solve

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class ProbabilityPlan:
    """What is fixed before training.

    `methods` has one for each node and may still be "auto", which the held-out outputs then settle;
    `calibrations` and `kinds` (of outputs) have one for each distinct problem. `splits` are the
    folds of the calibration, None if it goes by the training samples or is not needed. With
    `shared`, all problems have one calibrator.
    """

    methods: tuple[str, ...]
    calibrations: tuple[str, ...]
    kinds: tuple[str, ...]
    splits: Sequence[tuple[Indices, Indices]] | None
    shared: bool = False


@dataclass(frozen=True)
class ProbabilityModel:
    """Calibrators of the distinct problems, and the methods that solve for nodes and classes.

    `calibrators` is None if all outputs are probabilities as they are.
    """

    methods: tuple[str, ...]
    kinds: tuple[str, ...]
    calibrators: tuple[Calibrator, ...] | None
    sample_counts: Array
    distinct: DistinctProblems
    nodes: tuple[Node, ...]

    def binary(self, outputs: Array, which: Indices | None = None) -> Array:
        """Return the probability of the + side of all distinct problems, or of those in `which`."""
        if np.isnan(outputs).any():
            raise ValueError(
                "The outputs of the binary problems must be numbers. Got NaN for sample "
                f"{np.argwhere(np.isnan(outputs))[0, 0]}; see whether its features are proper."
            )
        if self.calibrators is None:
            return (outputs + 1) / 2
        asked = range(len(self.kinds)) if which is None else which
        columns = zip(asked, outputs.T, strict=True)
        return np.column_stack(
            [self.calibrators[s](_limited(column, self.kinds[s])) for s, column in columns]
        )

    def of_children(self, q: Array, i: int, n_jobs: int | None = None) -> Array:
        """Return the probabilities of a node's children.

        `q` holds the probabilities of the + sides of the node's own problems.
        """
        node = self.nodes[i]
        if node.code.matrix.shape == (2, 1) and self.methods[i] in ("least_squares", "coupling"):
            q = q if node.code.matrix[0, 0] > 0 else 1 - q
            return np.hstack([q, 1 - q])
        counts = self.sample_counts[self.distinct.index[node.problems]]
        return solve(q, node.code, self.methods[i], sample_counts=counts, n_jobs=n_jobs)

    def of_classes(self, q: Array, n_jobs: int | None = None) -> Array:
        """Return the class probabilities: the product of the children's on the way to each class.

        `q` holds the probabilities of the + sides of all problems.
        """
        p = np.empty((len(q), len(self.nodes[0].child)))
        reached: dict[int, Array] = {0: np.ones(len(q))}
        for i, node in enumerate(self.nodes):
            here = reached.pop(i)
            children = self.of_children(q[:, node.problems], i, n_jobs)
            for c, below in enumerate(node.below):
                if below < 0:
                    p[:, -1 - below] = here * children[:, c]
                else:
                    reached[below] = here * children[:, c]
        return p


def fit_probabilities(
    plan: ProbabilityPlan,
    distinct: DistinctProblems,
    nodes: tuple[Node, ...],
    model: SeparateModel,
    train: Callable[[Indices], SeparateModel],
    X: Any,
    problems: BinaryProblems,
    weights: Sequence[Array],
    pairwise: bool,
) -> ProbabilityModel:
    """Fit the calibrators, on held-out outputs if there are folds.

    Parameters
    ----------
    plan : ProbabilityPlan
    distinct : DistinctProblems
    nodes : tuple of Node
    model : SeparateModel
        The problems, trained on all samples.
    train : callable
        Trains the problems on some of the samples.
    X : array, sparse matrix or data frame
    problems : BinaryProblems
    weights : sequence of ndarray of shape (n_samples,)
        For each distinct problem.
    pairwise : bool
        Whether X is a kernel.
    """
    n_problems = problems.columns.shape[1]
    counts = np.array([max(problems.samples(s).size, 1) for s in range(n_problems)], dtype=float)
    methods = tuple("least_squares" if method == "auto" else method for method in plan.methods)
    if set(plan.calibrations) == {"none"}:
        return ProbabilityModel(methods, plan.kinds, None, counts, distinct, nodes)
    outputs = _outputs_for_calibration(plan, model, train, X, problems, pairwise)
    calibrators = tuple(_fit_calibrators(plan, outputs, problems, weights))
    found = ProbabilityModel(methods, plan.kinds, calibrators, counts, distinct, nodes)
    if plan.splits is None:
        return found
    return _with_better_methods(plan, found, outputs, problems.y, weights)


def _fit_calibrators(
    plan: ProbabilityPlan,
    outputs: list[Array],
    problems: BinaryProblems,
    weights: Sequence[Array],
) -> list[Calibrator]:
    """Return the calibrator of each problem."""
    data = []
    for s, column in enumerate(outputs):
        samples = problems.samples(s)
        positive = problems.target(s, samples) > 0
        data.append((_limited(column, plan.kinds[s]), positive, weights[s][samples]))
    if plan.shared:
        pooled = [np.concatenate(parts) for parts in zip(*data, strict=True)]
        return [CALIBRATIONS[plan.calibrations[0]](*pooled)] * len(data)
    return [
        calibrations.own_probability if name == "none" else CALIBRATIONS[name](*parts)
        for name, parts in zip(plan.calibrations, data, strict=True)
    ]


def _outputs_for_calibration(
    plan: ProbabilityPlan,
    model: SeparateModel,
    train: Callable[[Indices], SeparateModel],
    X: Any,
    problems: BinaryProblems,
    pairwise: bool,
) -> list[Array]:
    """Return, for each problem, what it says of its own samples.

    The models did not see the sample, or it is `model` if the sample was never held out.
    """
    own = [problems.samples(s) for s in range(problems.columns.shape[1])]
    outputs = [np.full(len(samples), np.nan) for samples in own]

    def fill(trained: SeparateModel, asked: Indices, columns: Indices) -> None:
        whole = trained.outputs(rows_of(X, asked), plan.kinds) if trained.together else None
        for s, samples in enumerate(own):
            place = np.flatnonzero(np.isin(samples, asked, assume_unique=True))
            if whole is not None:
                outputs[s][place] = whole[np.searchsorted(asked, samples[place]), s]
            elif place.size:
                part = rows_of(X, samples[place])
                part = part[:, columns] if pairwise else part
                outputs[s][place] = trained.problems[s].outputs(part, plan.kinds[s])

    everything = np.arange(len(problems.y))
    never = everything
    for training, test in plan.splits or ():
        fill(train(training), np.sort(test), training)
        never = np.setdiff1d(never, test)
    if never.size:
        fill(model, never, everything)
    return outputs


def _with_better_methods(
    plan: ProbabilityPlan,
    found: ProbabilityModel,
    outputs: list[Array],
    y: Indices,
    weights: Sequence[Array],
) -> ProbabilityModel:
    """Settle, on held-out outputs, what "auto" leaves open: how one-vs-rest nodes are solved."""
    methods = list(found.methods)
    for i, node in enumerate(found.nodes):
        if plan.methods[i] == "auto" and is_one_vs_rest(node.code):
            samples = np.flatnonzero(node.child[y] >= 0)  # of which every problem here has all
            which = found.distinct.index[node.problems]
            q = found.binary(np.column_stack([outputs[s] for s in which]), which)
            q = np.where(found.distinct.sign[node.problems] > 0, q, 1 - q)
            weight = weights[which[0]][samples]
            methods[i] = _better_of_two(found, i, q, node.child[y[samples]], weight)
    return ProbabilityModel(
        tuple(methods),
        found.kinds,
        found.calibrators,
        found.sample_counts,
        found.distinct,
        found.nodes,
    )


def _better_of_two(found: ProbabilityModel, i: int, q: Array, child: Indices, weight: Array) -> str:
    """Return the method with the lower log loss of the children."""
    code = found.nodes[i].code
    labels = np.arange(code.n_classes)
    losses = {
        method: log_loss(
            child, _inside(solve(q, code, method)), labels=labels, sample_weight=weight
        )
        for method in ("normalise", "least_squares")
    }
    return min(losses, key=lambda method: losses[method])


def _inside(p: Array) -> Array:
    """Keep probabilities off 0, where the log loss of one sample decides everything."""
    p = np.maximum(p, 1e-6)
    return p / p.sum(axis=1, keepdims=True)


def _limited(outputs: Array, kind: str) -> Array:
    return calibrations.limit(outputs) if kind == "log_odds" else outputs
