"""Training one binary classifier for all classes: on all samples, and on each fold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from polychotomy.classifiers._negatives import choose_negatives
from polychotomy.classifiers._plan import Plan
from polychotomy.classifiers._probabilities import ProbabilityModel, fit_probabilities
from polychotomy.classifiers._replicas import (
    Concatenation,
    ReplicatedModel,
    Replication,
    as_array,
)
from polychotomy.classifiers._training import Params, route
from polychotomy.kernel import SharedKernelSVC, fit_concatenated, rows_kept
from polychotomy.kernel._concatenated import CONCATENATED, FACTORISING
from polychotomy.learners import (
    BinaryProblems,
    FitProgress,
    JointlyTrained,
    SeparateModel,
    TrainedProblem,
    seeded_clone,
)

Indices = NDArray[np.intp]
Targets = NDArray[np.int8]

_WORDS = "all classes at once"


@dataclass(frozen=True, kw_only=True)
class ReplicaPlan(Plan):
    """A plan of which all problems are answered by one classifier.

    Attributes
    ----------
    replication : Concatenation or Kesler
        How a sample and a problem become features.
    n_negatives : int
        How many other classes' replicas each sample keeps.
    negatives : {"random", "hard", "near"}
    negatives_seed : int or None
        Draws them.
    """

    replication: Replication
    n_negatives: int
    negatives: str
    negatives_seed: int | None

    def targets(self, X: Any, y: Indices, pairwise: bool) -> Targets:
        """Return the side of each sample's replicas, 0 for those that training leaves out."""
        targets: Targets = self.code.matrix[y]
        k = len(self.classes)
        if self.n_negatives == k - 1:
            return targets
        rng = check_random_state(self.negatives_seed)
        kept = choose_negatives(X, y, k, self.n_negatives, self.negatives, rng, pairwise=pairwise)
        return np.where(kept, targets, 0).astype(np.int8)


def stays_joint(learner: Any, replication: Replication) -> bool:
    """Whether the learner can do without replicas being made."""
    if not isinstance(learner, SharedKernelSVC) or not isinstance(replication, Concatenation):
        return False
    kernel = learner.kernel
    return isinstance(kernel, str) and kernel in FACTORISING + CONCATENATED


def train_replicas(
    classifier: Any, plan: ReplicaPlan, X: Any, y: Indices, params: Params
) -> tuple[SeparateModel, ProbabilityModel | None]:
    """Return the trained classifier and the way to probabilities; `classifier` is left alone.

    A fold is trained on the replicas of its samples: the others have targets 0.
    """
    (routed,) = route(classifier, "fit", plan.learners, params)
    pairwise = get_tags(classifier).input_tags.pairwise
    splits = list((plan.probability and plan.probability.splits) or ())
    _check_folds(splits, y, plan.classes)
    whole = plan.targets(X, y, pairwise)
    parts = [whole, *(_only(whole, training) for training, _ in splits)]
    context = classifier._init_callback_context(max_subtasks=len(parts))
    context.call_on_fit_task_begin(estimator=classifier)
    progress = FitProgress(classifier, context, len(parts), classifier.verbose)
    with rows_kept(as_array(X), y):
        models = _train_parts(classifier, plan, X, parts, routed, progress)
    probabilities = None
    if plan.probability is not None:
        of_fold = {id(training): models[p + 1] for p, (training, _) in enumerate(splits)}
        weight = np.asarray(routed.get("sample_weight", np.ones(len(y))), dtype=float)
        probabilities = fit_probabilities(
            plan.probability,
            plan.distinct,
            plan.nodes,
            models[0],
            lambda training: of_fold[id(training)],
            X,
            BinaryProblems(plan.code.matrix, y, plan.names),
            [weight] * plan.code.n_problems,
            pairwise,
        )
    context.call_on_fit_task_end(estimator=classifier)
    return models[0], probabilities


def _train_parts(
    classifier: Any,
    plan: ReplicaPlan,
    X: Any,
    parts: list[Targets],
    params: Params,
    progress: FitProgress,
) -> list[SeparateModel]:
    """Return a model for each set of targets."""
    base, n_jobs = plan.learners[0].estimator, classifier.n_jobs
    seed = None if plan.seeds is None else int(plan.seeds[0])
    joint = stays_joint(base, plan.replication)
    if joint and n_jobs is not None:
        base = seeded_clone(base, None).set_params(n_jobs=n_jobs)
    X = X if joint else as_array(X)
    train = _train_joint if joint else _train_explicit
    workers = 1 if joint else effective_n_jobs(n_jobs)  # a joint learner has threads of its own
    models = []
    for model in Parallel(n_jobs=workers, return_as="generator")(
        delayed(train)(seeded_clone(base, seed), plan.replication, X, targets, params)
        for targets in _announced(parts, progress)
    ):
        progress.end()
        models.append(model)
    return models


def _announced(parts: list[Targets], progress: FitProgress) -> Any:
    for targets in parts:
        progress.begin(_WORDS)
        yield targets


def _train_joint(
    learner: Any, replication: Any, X: Any, targets: Targets, params: Mapping[str, Any]
) -> SeparateModel:
    model = fit_concatenated(learner, X, targets, replication.appended, **params)
    return JointlyTrained.of(model, targets.shape[1])  # type: ignore[arg-type]


def _train_explicit(
    learner: Any, replication: Replication, X: Any, targets: Targets, params: Mapping[str, Any]
) -> SeparateModel:
    sample, problem = np.nonzero(targets)
    Z = replication.make(X, sample, problem)
    labels = (targets[sample, problem] > 0).astype(int)
    try:
        learner.fit(Z, labels, **_check_method_params(X, params, indices=sample))
    except Exception as error:
        error.add_note(
            f"This happened while training on {len(sample)} replicas of "
            f"{len(np.unique(sample))} samples, with {Z.shape[1]} features."
        )
        raise
    return ReplicatedModel((TrainedProblem(learner),), replication)


def _only(targets: Targets, samples: Indices) -> Targets:
    part = np.zeros_like(targets)
    part[samples] = targets[samples]
    return part


def _check_folds(splits: list[tuple[Indices, Indices]], y: Indices, classes: NDArray[Any]) -> None:
    for number, (training, _) in enumerate(splits):
        missing = np.setdiff1d(np.arange(len(classes)), y[training])
        if missing.size:
            raise ValueError(
                "Every class must have a sample in the training part of each fold of 'cv'. "
                f"Fold {number} has none of class {classes[missing[0]]!s}; give fewer folds, or "
                "folds that are stratified."
            )
