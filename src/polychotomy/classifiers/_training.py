"""Training by a plan: the problems on all samples, on each fold, and the calibration."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import _raise_for_params, _routing_enabled, process_routing
from sklearn.utils.validation import _check_method_params, _check_sample_weight, has_fit_parameter

from polychotomy.classifiers._checks import rows_of
from polychotomy.classifiers._plan import Plan
from polychotomy.classifiers._probabilities import ProbabilityModel, fit_probabilities
from polychotomy.learners import BinaryProblems, FitProgress, SeparateModel, seeded_clone


def route(
    classifier: Any, method: str, base: Any, X: Any, sample_weight: Any, params: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of the binary classifier's `method`."""
    _raise_for_params(params, classifier, method)
    if sample_weight is not None:
        params = {**params, "sample_weight": _check_sample_weight(sample_weight, X)}
    if _routing_enabled():
        return dict(process_routing(classifier, method, **params).estimator[method])
    if sample_weight is not None and not has_fit_parameter(base, "sample_weight"):
        raise ValueError(
            f"{type(base).__name__} takes no sample_weight. Leave the weights out, take "
            "another estimator or, for a pipeline, use scikit-learn's metadata routing."
        )
    return params


def train(
    classifier: Any,
    plan: Plan,
    model: SeparateModel | None,
    base: Any,
    X: Any,
    y: NDArray[np.intp],
    method: str,
    params: dict[str, Any],
) -> tuple[SeparateModel, ProbabilityModel | None]:
    """Return the trained problems and the way to probabilities; `classifier` is left alone.

    `model` is what earlier batches gave, None for a first or only training.
    """
    columns, names = plan.code.distinct.columns, plan.distinct_names()
    n_models = 1 + len((plan.probability and plan.probability.splits) or ())
    n_tasks = n_models * columns.shape[1]
    context = classifier._init_callback_context(max_subtasks=n_tasks)
    context.call_on_fit_task_begin(estimator=classifier)
    progress = FitProgress(classifier, context, n_tasks, classifier.verbose)
    untrained = SeparateModel.untrained(columns.shape[1])
    pairwise = get_tags(classifier).input_tags.pairwise

    def fresh(s: int) -> Any:
        return seeded_clone(base, None if plan.seeds is None else plan.seeds[s])

    def train_part(before: SeparateModel, part: Any, labels: Any, arguments: Any) -> SeparateModel:
        return before.trained(
            BinaryProblems(columns, labels, names),
            part,
            fresh,
            method=method,
            fit_params=arguments,
            n_jobs=classifier.n_jobs,
            progress=progress,
        )

    def train_on(samples: NDArray[np.intp]) -> SeparateModel:
        part = rows_of(X, samples)
        arguments = _check_method_params(X, params, indices=samples)
        return train_part(untrained, part[:, samples] if pairwise else part, y[samples], arguments)

    trained = train_part(model or untrained, X, y, params)
    probabilities = None
    if plan.probability is not None:
        weight = np.asarray(params.get("sample_weight", np.ones(len(y))), dtype=float)
        problems = BinaryProblems(columns, y, names)
        probabilities = fit_probabilities(
            plan.probability, trained, train_on, X, problems, plan.code, weight, pairwise
        )
    context.call_on_fit_task_end(estimator=classifier)
    return trained, probabilities
