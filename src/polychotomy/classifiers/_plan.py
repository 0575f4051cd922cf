"""What a classifier settles before it trains: its code, its decoder, its way to probabilities."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from polychotomy.calibration import choose_calibration, folds
from polychotomy.calibration import output_kind as calibration_outputs
from polychotomy.classifiers._checks import resolve_code
from polychotomy.classifiers._probabilities import ProbabilityPlan
from polychotomy.codes import Code
from polychotomy.decoding import RULES, SIGN_RULES, check_one_vs_one
from polychotomy.errors import unknown_name
from polychotomy.learners import minimised_loss, problem_words
from polychotomy.probability import check_method


class Plan(NamedTuple):
    """What is fixed before training; `seeds` has one for each distinct problem."""

    classes: NDArray[Any]
    code: Code
    decoder: str
    output_kind: str
    seeds: NDArray[np.int_] | None
    probability: ProbabilityPlan | None

    def names(self) -> list[str]:
        """Return what each problem of the code asks."""
        return [problem_words(column, self.classes) for column in self.code.matrix.T]

    def distinct_names(self) -> list[str]:
        """Return what each distinct problem asks, as the first of its kind in the code does."""
        _, first = np.unique(self.code.distinct.index, return_index=True)
        return [problem_words(self.code.matrix[:, s], self.classes) for s in first]


def make_plan(
    classifier: Any,
    base: Any,
    classes: NDArray[Any],
    X: Any = None,
    y: NDArray[np.intp] | None = None,
) -> Plan:
    """Return the plan of a :class:`~polychotomy.CodeClassifier`.

    Without X and y training goes by batches, and there is nothing to calibrate on.
    """
    rng = check_random_state(classifier.random_state)
    code = resolve_code(classifier.code, classes, rng)
    decoder, output_kind = _resolve_decoder(classifier.decoder, base, code)
    n_distinct = code.distinct.columns.shape[1]
    seeds = None if classifier.random_state is None else rng.randint(2**31, size=n_distinct)
    probability = _plan_probabilities(classifier, base, code, classes, X, y)
    return Plan(classes, code, decoder, output_kind, seeds, probability)


def _resolve_decoder(decoder: object, base: Any, code: Code) -> tuple[str, str]:
    """Return the rule, and the kind of outputs that it reads."""
    if isinstance(decoder, str) and decoder == "auto":
        loss = minimised_loss(base)
        if loss is not None:
            return loss, "margin"
        return "linear", "probability" if hasattr(base, "predict_proba") else "margin"
    if not isinstance(decoder, str) or decoder not in {*RULES, "probability"}:
        raise unknown_name("decoder", decoder, [*RULES, "probability", "auto"])
    if decoder == "ddag":
        check_one_vs_one(code)
    if hasattr(base, "decision_function"):
        return decoder, "margin"
    return decoder, "log_odds" if decoder in SIGN_RULES else "probability"


def _plan_probabilities(
    classifier: Any,
    base: Any,
    code: Code,
    classes: NDArray[Any],
    X: Any,
    y: NDArray[np.intp] | None,
) -> ProbabilityPlan | None:
    if classifier.probability is None:
        if classifier.decoder == "probability":
            raise ValueError("decoder='probability' needs 'probability' not to be None.")
        return None
    method = classifier.probability
    if method == "auto":
        method = "coupling" if code.is_one_vs_one else "auto"
    else:
        check_method(method, code)
    calibration = choose_calibration(classifier.calibration, base, minimised_loss(base))
    if calibration == "none":
        return ProbabilityPlan(method, calibration, calibration_outputs(calibration, base), None)
    if y is None:
        return None
    splits = None if classifier.cv is None else list(folds(classifier.cv, X, y, classes))
    return ProbabilityPlan(method, calibration, calibration_outputs(calibration, base), splits)
