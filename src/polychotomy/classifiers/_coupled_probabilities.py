"""Class probabilities from the outputs of one binary classifier for all classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from polychotomy.calibration import choose_calibration, folds
from polychotomy.classifiers._coupled_problem import CoupledProblem
from polychotomy.classifiers._nodes import single_node
from polychotomy.classifiers._probabilities import (
    ProbabilityModel,
    ProbabilityPlan,
    fit_probabilities,
)
from polychotomy.codes import one_vs_rest
from polychotomy.codes._code import DistinctProblems
from polychotomy.kernel._learned_coupling import WeightedCoupling
from polychotomy.learners import BinaryProblems, JointlyTrained, problem_words
from polychotomy.probability import check_method

Indices = NDArray[np.intp]


def plan_probabilities(
    classifier: Any, problem: CoupledProblem, classes: NDArray[Any]
) -> ProbabilityPlan | None:
    """Return what is fixed before training, or None if there are to be no probabilities."""
    if classifier.probability is None:
        return None
    k = len(classes)
    if classifier.probability != "auto":
        check_method(classifier.probability, one_vs_rest(k), "probability")
    calibration = choose_calibration(classifier.calibration, problem.learner, "hinge")
    splits = None
    if classifier.cv is not None:
        splits = list(folds(classifier.cv, problem.X, problem.y, classes))
        _check_folds(splits, problem.y, classes)
    return ProbabilityPlan(
        methods=(classifier.probability,),
        calibrations=(calibration,) * k,
        kinds=("margin",) * k,
        splits=splits,
        shared=bool(classifier.shared_calibration),
    )


def calibrate(
    plan: ProbabilityPlan, problem: CoupledProblem, classes: NDArray[Any], solved: WeightedCoupling
) -> ProbabilityModel:
    """Return the way to probabilities; folds are solved with the coupling of all samples."""
    code = one_vs_rest(len(classes))
    k = code.n_problems
    coefficients = solved.model.coefficients_.tocsr()

    def on_fold(training: Indices) -> JointlyTrained:
        start = csc_array(coefficients[training])
        return _together(problem.part(training).solve(solved.coupling, start), k)

    return fit_probabilities(
        plan,
        DistinctProblems(code.matrix, np.arange(k), np.ones(k, dtype=np.int8)),
        single_node(code),
        _together(solved.model, k),
        on_fold,
        problem.X,
        BinaryProblems(code.matrix, problem.y, [problem_words(c, classes) for c in code.matrix]),
        [problem.weight] * k,
        pairwise=False,
    )


def _together(model: Any, n_problems: int) -> JointlyTrained:
    return JointlyTrained.of(model, n_problems)


def _check_folds(splits: list[tuple[Indices, Indices]], y: Indices, classes: NDArray[Any]) -> None:
    for number, (training, _) in enumerate(splits):
        missing = np.setdiff1d(np.arange(len(classes)), y[training])
        if missing.size:
            raise ValueError(
                "Every class must have a sample in the training part of each fold of 'cv'. "
                f"Fold {number} has none of class {classes[missing[0]]!s}; give fewer folds, or "
                "folds that are stratified."
            )
