"""What a classifier settles before it trains: problems, learners, rules, ways to probabilities."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from polychotomy.calibration import choose_calibration, folds
from polychotomy.calibration import output_kind as calibration_outputs
from polychotomy.classifiers._learners import Learner
from polychotomy.classifiers._nodes import Node
from polychotomy.classifiers._probabilities import ProbabilityPlan
from polychotomy.codes import Code
from polychotomy.codes._code import DistinctProblems, Matrix, distinct_problems
from polychotomy.decoding import RULES, SIGN_RULES, check_one_vs_one
from polychotomy.errors import unknown_name
from polychotomy.learners import minimised_loss, problem_words
from polychotomy.probability import METHODS, check_method
from polychotomy.structures import Structure

NOTHING_TO_CALIBRATE_ON = (
    "(partial_fit cannot calibrate outputs: use fit, or an estimator with predict_proba and "
    "calibration='none'.)"
)


@dataclass(frozen=True)
class Plan:
    """What is fixed before training.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels; row r of `code` is class r.
    code : Code
        All problems as one flat code.
    nodes : tuple of Node
        Who they belong to; a single one for a flat code.
    distinct : DistinctProblems
        The problems that are trained.
    learners : tuple of Learner
    learner_of : ndarray of shape (n_distinct,)
        The learner of each distinct problem.
    rules : tuple of str
        How each node's outputs are decoded; "probability" goes by the children's probabilities.
    kinds : tuple of str
        The kind of output of each distinct problem that the rules read.
    seeds : ndarray of shape (n_distinct,) or None
    probability : ProbabilityPlan or None
    structure : Structure or None
        What the nodes were laid out from, if not from a flat code.
    solve : {"recursive", "most_probable", "least_squares", "ddag"}
        How a structure's nodes are put together.
    """

    classes: NDArray[Any]
    code: Code
    nodes: tuple[Node, ...]
    distinct: DistinctProblems
    learners: tuple[Learner, ...]
    learner_of: NDArray[np.intp]
    rules: tuple[str, ...]
    kinds: tuple[str, ...]
    seeds: NDArray[np.int_] | None
    probability: ProbabilityPlan | None
    structure: Structure | None = None
    solve: str = "recursive"

    @cached_property
    def names(self) -> list[str]:
        """What each problem of the code asks."""
        return [problem_words(column, self.classes) for column in self.code.matrix.T]

    @cached_property
    def distinct_names(self) -> list[str]:
        """What each distinct problem asks, as the first of its kind in the code does."""
        _, first = np.unique(self.distinct.index, return_index=True)
        return [self.names[s] for s in first]


def make_plan(
    classifier: Any,
    classes: NDArray[Any],
    code: Code,
    nodes: tuple[Node, ...],
    learners: tuple[Learner, ...],
    chosen: NDArray[np.intp],
    X: Any,
    y: NDArray[np.intp] | None,
    decoder: Any,
    distinct: DistinctProblems | None = None,
) -> Plan:
    """Return the plan of a classifier.

    `chosen` has the learner of each problem of the code, and `decoder` is a rule or "auto". Without
    X and y training goes by batches, and there is nothing to calibrate on. Problems are trained
    apart, equal ones once, unless `distinct` says otherwise.
    """
    if distinct is None:
        distinct = distinct_problems(code.matrix, chosen) if len(learners) > 1 else code.distinct
    _, first = np.unique(distinct.index, return_index=True)
    learner_of = chosen[first]
    probability = _plan_probabilities(classifier, classes, nodes, learners, learner_of, X, y)
    rules, kinds = _resolve_rules(decoder, nodes, learners, chosen, learner_of, probability)
    return Plan(
        classes,
        code,
        nodes,
        distinct,
        learners,
        learner_of,
        rules,
        kinds,
        _seeds(classifier.random_state, distinct.columns),
        probability,
    )


def redecided(plan: Plan, decoder: Any, method: Any) -> Plan:
    """Return a plan with another decoder and another method for probabilities, if not "auto".

    `decoder` None leaves the rules as they are. Raises ValueError if they do not suit the code.
    """
    probability = plan.probability
    if probability is not None and method != "auto":
        methods = tuple(_choose_method(method, node.code) for node in plan.nodes)
        probability = replace(probability, methods=methods)
    if decoder is None:
        return replace(plan, probability=probability)
    chosen = plan.learner_of[plan.distinct.index]
    rules, kinds = _resolve_rules(
        decoder, plan.nodes, plan.learners, chosen, plan.learner_of, probability
    )
    return replace(plan, rules=rules, kinds=kinds, probability=probability)


def _seeds(random_state: Any, columns: Matrix) -> NDArray[np.int_] | None:
    """Return a seed for each problem, the same in whatever code it stands."""
    if random_state is None:
        return None
    first = check_random_state(random_state).randint(2**31)
    return np.array([crc32(column.tobytes(), first) for column in columns.T])


def _resolve_rules(
    decoder: Any,
    nodes: tuple[Node, ...],
    learners: tuple[Learner, ...],
    chosen: NDArray[np.intp],
    learner_of: NDArray[np.intp],
    probability: ProbabilityPlan | None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rule of each node, and the kind of output that it reads of each problem."""
    rules, kinds = [], [""] * len(learners)
    for node in nodes:
        used = np.unique(chosen[node.problems])
        read = [_resolve_decoder(decoder, learners[j].estimator, node) for j in used]
        for j, (_, kind) in zip(used, read, strict=True):
            kinds[j] = kind
        rules.append(_common_rule(read, probability))
    return tuple(rules), tuple(kinds[j] for j in learner_of)


def goes_by_votes(code: Code) -> bool:
    """Return whether the automatic rule of a code is votes: that of one-vs-one.

    A sample says little in the many problems without its class, but may say it with confidence;
    votes bound what that can do. Where pairs are missing, votes favour the classes that take part
    more often. Two classes are the binary classifier itself, which has its own loss.
    """
    return code.n_classes > 2 and code.is_one_vs_one


def _resolve_decoder(decoder: object, base: Any, node: Node) -> tuple[str, str]:
    """Return the rule, and the kind of outputs that it reads."""
    if isinstance(decoder, str) and decoder == "auto":
        if not goes_by_votes(node.code):
            loss = minimised_loss(base)
            if loss is not None:
                return loss, "margin"
            return "linear", "probability" if hasattr(base, "predict_proba") else "margin"
        decoder = "votes"
    if not isinstance(decoder, str) or decoder not in {*RULES, "probability"}:
        raise unknown_name("decoder", decoder, [*RULES, "probability", "auto"])
    if decoder == "ddag" and node.code.n_classes > 2:
        check_one_vs_one(node.code)
    if hasattr(base, "decision_function"):
        return decoder, "margin"
    return decoder, "log_odds" if decoder in SIGN_RULES else "probability"


def _common_rule(read: list[tuple[str, str]], probability: ProbabilityPlan | None) -> str:
    """Return the rule for a node whose learners may be of different kinds."""
    rules, kinds = {rule for rule, _ in read}, {kind for _, kind in read}
    rule = rules.pop() if len(rules) == 1 else "probability"
    if rule == "probability" or (len(kinds) > 1 and rule not in SIGN_RULES):
        if probability is None:
            raise ValueError(
                "A node whose learners give outputs on different scales, or with the decoder "
                "'probability', goes by probabilities, and there are none. Let 'probability' not "
                f"be None, or take the decoder 'votes'. {NOTHING_TO_CALIBRATE_ON}"
            )
        return "probability"
    return rule


def _plan_probabilities(
    classifier: Any,
    classes: NDArray[Any],
    nodes: tuple[Node, ...],
    learners: tuple[Learner, ...],
    learner_of: NDArray[np.intp],
    X: Any,
    y: NDArray[np.intp] | None,
) -> ProbabilityPlan | None:
    if classifier.probability is None:
        if classifier.decoder == "probability":
            raise ValueError("decoder='probability' needs 'probability' not to be None.")
        return None
    methods = tuple(_choose_method(classifier.probability, node.code) for node in nodes)
    calibrations = [
        choose_calibration(classifier.calibration, base, minimised_loss(base))
        for base, _ in learners
    ]
    kinds = [
        calibration_outputs(name, base)
        for name, (base, _) in zip(calibrations, learners, strict=True)
    ]
    splits = None
    if set(calibrations) != {"none"}:
        if y is None:
            return None
        splits = None if classifier.cv is None else list(folds(classifier.cv, X, y, classes))
    return ProbabilityPlan(
        methods,
        tuple(calibrations[j] for j in learner_of),
        tuple(kinds[j] for j in learner_of),
        splits,
    )


def _choose_method(method: Any, code: Code) -> str:
    """Return the method for a node; what "auto" leaves open, held-out outputs settle."""
    if method == "auto":
        return "coupling" if code.is_one_vs_one else "auto"
    if code.matrix.shape == (2, 1) and isinstance(method, str) and method in METHODS:
        return method if METHODS[method].suits(code) else "least_squares"  # nothing to solve
    check_method(method, code, "probability")
    return str(method)
