"""The decoding rules and the methods for probabilities that a readout uses."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polychotomy.arrays import Indices
from polychotomy.codes import Code
from polychotomy.decoding import RULES, SIGN_RULES, check_one_vs_one
from polychotomy.errors import unknown_name
from polychotomy.learners import Says
from polychotomy.probability import METHODS, better_method, check_method, choose_method
from polychotomy.structures import Node

if TYPE_CHECKING:
    from polychotomy.readout._readout import Ask, Readout

_FURTHER_RULES = ("argmax", "class_means", "probability")
# On which methods are compared: solving for more can take longer than the training.
_MOST_SAMPLES = 2000
_MOST_ENTRIES = 2**22  # samples × classes × problems

NO_PROBABILITIES = (
    "(partial_fit cannot calibrate outputs without samples that are held out: set 'reservoir', "
    "such as 5000, or use fit, or an estimator with predict_proba and calibration='none'.)"
)


def choose_rules(
    decoder: Any, nodes: Sequence[Node], says: Sequence[Says], index: Indices, calibrates: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rule of each node, and the form of output that it reads of each distinct problem.

    Parameters
    ----------
    decoder : str
        A rule of :func:`~polychotomy.decoding.decode`, "argmax", "class_means", "probability" or
        "auto".
    nodes : sequence of Node
    says : sequence of Says
        Of each distinct problem.
    index : ndarray of shape (n_problems,)
        The distinct problem of each problem.
    calibrates : bool
        Whether there are probabilities.
    """
    rules, forms = [], [""] * len(says)
    for node in nodes:
        own = np.unique(index[node.problems])
        read = {says[s]: _choose_rule(decoder, says[s], node.code) for s in own}
        for s in own:
            forms[s] = read[says[s]][1]
        found, scales = {rule for rule, _ in read.values()}, {form for _, form in read.values()}
        rule = found.pop() if len(found) == 1 else "probability"
        if len(scales) > 1 and rule not in SIGN_RULES:
            rule = "probability"
        if rule == "probability" and not calibrates:
            raise ValueError(
                "A node whose learners give outputs on different scales, or with the decoder "
                "'probability', needs probabilities, and there are none. Set 'probability' to "
                f"something other than None, or take the decoder 'votes'. {NO_PROBABILITIES}"
            )
        rules.append(rule)
    return tuple(rules), tuple(forms)


def automatic_decoder(code: Code, loss: str | None) -> str | None:
    """Return the rule that "auto" means; None if the learner's loss is not known.

    One-vs-one takes votes: a sample says little in the many problems without its class, but may
    say it with confidence, and votes bound what that can do. Where pairs are missing, votes favour
    the classes that take part more often. Two classes are the binary classifier itself, which has
    its own loss.
    """
    return "votes" if code.n_classes > 2 and code.is_one_vs_one else loss


def choose_methods(method: Any, nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return how each node's probabilities are solved for; "auto" is left to held-out outputs."""
    chosen = []
    for node in nodes:
        found = choose_method(node.code) if method == "auto" else method
        if method == "auto" and found == "least_squares":
            found = "auto"
        elif node.code.columns.shape == (2, 1) and isinstance(found, str) and found in METHODS:
            if not METHODS[found].suits(node.code):
                found = "least_squares"  # nothing to solve
        else:
            check_method(found, node.code, "probability")
        chosen.append(str(found))
    return tuple(chosen)


def choose_path(path: str, nodes: Sequence[Node], calibrates: bool) -> str:
    """Return how nodes are put together; "auto" is the most probable class of several if it can."""
    if path in ("least_squares", "most_probable") and not calibrates:
        raise ValueError(f"solve={path!r} needs probabilities. {NO_PROBABILITIES}")
    if path != "auto":
        return path
    return "most_probable" if calibrates and len(nodes) > 1 else "recursive"


def _choose_rule(decoder: object, said: Says, code: Code) -> tuple[str, str]:
    """Return the rule, and the form of outputs that it reads."""
    if isinstance(decoder, str) and decoder == "auto":
        decoder = automatic_decoder(code, said.loss)
        if decoder == said.loss and decoder is not None:
            return decoder, "margin"
        if decoder is None:
            return "linear", "probability" if "probability" in said.kinds else "margin"
    if not isinstance(decoder, str) or decoder not in {*RULES, *_FURTHER_RULES}:
        raise unknown_name("decoder", decoder, [*RULES, *_FURTHER_RULES, "auto"])
    if decoder == "ddag" and code.n_classes > 2:
        check_one_vs_one(code)
    if decoder == "argmax" and code.n_classes > 2 and not code.is_one_vs_rest:
        raise ValueError(
            "The decoder 'argmax' takes the output of problem r as the score of class r, and needs "
            f"a code that is one-vs-rest. Got {code!r}."
        )
    if "margin" in said.kinds:
        return decoder, "margin"
    return decoder, "log_odds" if decoder in {*SIGN_RULES, "argmax"} else "probability"


def better_methods(
    readout: "Readout", asked: Sequence[str], held_out: Any, ask: "Ask"
) -> tuple[str, ...]:
    """Return the method of each node, the best by held-out outputs where "auto" was asked.

    A model has not seen the samples that take no part in its problem, so that they need no fold,
    unless one model answers all problems.
    """
    assert readout.methods is not None
    assert readout.counts is not None
    methods, y = list(readout.methods), held_out.targets.y
    for i, node in enumerate(readout.nodes):
        if asked[i] != "auto" or (readout.shared and not node.code.is_strict):
            continue
        samples = np.flatnonzero(node.child[y] >= 0)
        entries = len(samples) * node.code.n_classes * node.code.n_problems
        samples = samples[:: max(-(-len(samples) // _MOST_SAMPLES), -(-entries // _MOST_ENTRIES))]
        which, said = readout.distinct.index[node.problems], {}
        for s in set(which.tolist()):
            own = held_out.targets.samples(s)
            outputs = np.full(len(y), np.nan)
            outputs[own] = held_out.outputs[s]
            others = np.setdiff1d(samples, own, assume_unique=True)
            if others.size:
                outputs[others] = ask(readout.kinds[s], [s], others)[:, 0]
            said[s] = readout.calibrate(s, outputs[samples])
        q = np.column_stack([said[s] for s in which.tolist()])
        q = np.where(readout.distinct.sign[node.problems] > 0, q, 1 - q)
        weight = held_out.weights[which[0]][samples]
        child, counts = node.child[y[samples]], readout.counts[which]
        methods[i] = better_method(q, node.code, child, weight, counts)
    return tuple(methods)
