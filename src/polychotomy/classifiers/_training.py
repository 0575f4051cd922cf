"""Training by a plan: the problems on all samples, on each fold, and the calibration."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import _raise_for_params, _routing_enabled, process_routing
from sklearn.utils.validation import _check_method_params, _check_sample_weight, has_fit_parameter

from polychotomy.classifiers._learners import Learner
from polychotomy.classifiers._plan import Plan
from polychotomy.classifiers._probabilities import ProbabilityModel, fit_probabilities
from polychotomy.classifiers._rows import rows_of
from polychotomy.learners import (
    BinaryProblems,
    FitProgress,
    JointLearner,
    JointlyTrained,
    SeparateModel,
    seeded_clone,
    train_jointly,
)

Params = dict[str, Any]


def check_params(
    classifier: Any, method: str, X: Any, sample_weight: Any, params: Params
) -> Params:
    """Return the arguments for the binary classifiers, weights among them."""
    _raise_for_params(params, classifier, method)
    if sample_weight is None:
        return params
    return {**params, "sample_weight": _check_sample_weight(sample_weight, X)}


def route(
    classifier: Any, method: str, learners: tuple[Learner, ...], params: Params
) -> tuple[Params, ...]:
    """Return the arguments of each learner's `method`."""
    if _routing_enabled():
        routed = process_routing(classifier, method, **params)
        return tuple(dict(routed[learner.source][method]) for learner in learners)
    for learner in learners:
        if "sample_weight" in params and not has_fit_parameter(learner.estimator, "sample_weight"):
            raise ValueError(
                f"{type(learner.estimator).__name__} takes no sample_weight. Leave the weights "
                "out, take another estimator or, for a pipeline, use scikit-learn's metadata "
                "routing."
            )
    return (params,) * len(learners)


def train(
    classifier: Any,
    plan: Plan,
    model: SeparateModel | None,
    X: Any,
    y: NDArray[np.intp],
    method: str,
    params: Params,
) -> tuple[SeparateModel, ProbabilityModel | None]:
    """Return the trained problems and the way to probabilities; `classifier` is left alone.

    `model` is what earlier batches gave, None for a first or only training.
    """
    columns, names = plan.distinct.columns, plan.distinct_names
    n_models = 1 + len((plan.probability and plan.probability.splits) or ())
    n_tasks = n_models * columns.shape[1]
    routed = route(classifier, method, plan.learners, params)
    context = classifier._init_callback_context(max_subtasks=n_tasks)
    context.call_on_fit_task_begin(estimator=classifier)
    progress = FitProgress(classifier, context, n_tasks, classifier.verbose)
    untrained = SeparateModel.untrained(columns.shape[1])
    pairwise = get_tags(classifier).input_tags.pairwise

    def fresh(s: int) -> Any:
        learner = plan.learners[plan.learner_of[s]]
        return seeded_clone(learner.estimator, None if plan.seeds is None else plan.seeds[s])

    def train_part(before: SeparateModel, part: Any, labels: Any, arguments: Any) -> SeparateModel:
        return before.trained(
            BinaryProblems(columns, labels, names),
            part,
            fresh,
            method=method,
            fit_params=lambda s: arguments[plan.learner_of[s]],
            n_jobs=classifier.n_jobs,
            progress=progress,
        )

    def train_on(samples: NDArray[np.intp]) -> SeparateModel:
        part = rows_of(X, samples)
        arguments = [_check_method_params(X, given, indices=samples) for given in routed]
        return train_part(untrained, part[:, samples] if pairwise else part, y[samples], arguments)

    on_fold: Callable[[NDArray[np.intp]], SeparateModel] = train_on
    if method == "fit" and _learns_together(plan):
        trained, on_fold = _train_together(classifier, plan, X, y, routed[0], progress)
    else:
        trained = train_part(model or untrained, X, y, routed)
    probabilities = None
    if plan.probability is not None:
        ones = np.ones(len(y))
        weights = [np.asarray(given.get("sample_weight", ones), dtype=float) for given in routed]
        problems = BinaryProblems(columns, y, names)
        probabilities = fit_probabilities(
            plan.probability,
            plan.distinct,
            plan.nodes,
            trained,
            on_fold,
            X,
            problems,
            [weights[j] for j in plan.learner_of],
            pairwise,
        )
    context.call_on_fit_task_end(estimator=classifier)
    return trained, probabilities


def _learns_together(plan: Plan) -> bool:
    return len(plan.learners) == 1 and isinstance(plan.learners[0].estimator, JointLearner)


def _train_together(
    classifier: Any,
    plan: Plan,
    X: Any,
    y: NDArray[np.intp],
    params: Params,
    progress: FitProgress,
) -> tuple[SeparateModel, Callable[[NDArray[np.intp]], SeparateModel]]:
    """Train the problems on all samples and on each fold at once.

    A fold is a set of problems of its own, in which the samples held out take no part. Returned
    are the model of all samples, and what gives the model of a fold by its training samples.
    """
    learner = seeded_clone(plan.learners[0].estimator, None)
    if classifier.n_jobs is not None and "n_jobs" in learner.get_params():
        learner.set_params(n_jobs=classifier.n_jobs)
    splits = list((plan.probability and plan.probability.splits) or ())
    targets = plan.distinct.columns[y]
    n_problems = targets.shape[1]
    parts = [targets]
    for training, _ in splits:
        part = np.zeros_like(targets)
        part[training] = targets[training]
        parts.append(part)
    for _ in parts:
        for words in plan.distinct_names:
            progress.begin(words)
    joint = train_jointly(learner, X, np.hstack(parts), lambda s: progress.end(), params)
    models = [joint.part(range(p * n_problems, (p + 1) * n_problems)) for p in range(len(parts))]
    numbers = {id(training): p + 1 for p, (training, _) in enumerate(splits)}

    def of_fold(training: NDArray[np.intp]) -> SeparateModel:
        return JointlyTrained.of(models[numbers[id(training)]], n_problems)

    return JointlyTrained.of(models[0], n_problems), of_fold
