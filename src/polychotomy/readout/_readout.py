"""Readout: from the outputs of problems to class scores, probabilities and classes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Array, Indices
from polychotomy.calibration import (
    FORMS,
    Calibrator,
    calibrated_form,
    choose_calibration,
    fit_calibrator,
)
from polychotomy.codes import Code, DistinctProblems
from polychotomy.decoding import (
    accepted_by_confidence,
    accepted_by_votes,
    check_outputs,
    decode,
    largest,
)
from polychotomy.learners import Says
from polychotomy.probability import solve
from polychotomy.readout import _paths
from polychotomy.readout._choices import better_methods, choose_methods, choose_path, choose_rules
from polychotomy.readout._class_means import ClassMeans, check_class_means, means_of
from polychotomy.structures import Node


class Ask(Protocol):
    """How a readout asks the trained problems about a set of samples."""

    @property
    def n_samples(self) -> int:
        """How many samples there are."""
        ...

    def __call__(
        self, kind: str, which: Sequence[int] | None = None, rows: Indices | None = None
    ) -> Array:
        """Return outputs of a kind ("side", "margin" or "probability"), a column per problem.

        `which` are distinct problems, by default all; `rows` are samples, by default all.
        """
        ...


@dataclass(frozen=True, eq=False)
class Readout:
    """Turns the outputs of binary problems into scores, probabilities and classes.

    It knows arrays, not estimators.

    Attributes
    ----------
    code : Code
        All problems as one flat code.
    nodes : tuple of Node
        The nodes that they belong to; a single one for a flat code.
    distinct : DistinctProblems
        The distinct problem of each problem.
    says : tuple of Says
        Of each distinct problem: the learner's loss, and the kinds of output that it offers.
    rules : tuple of str
        How each node's outputs are decoded; "argmax" takes them as scores, "probability" takes the
        children's probabilities.
    forms : tuple of str
        The form of each distinct problem's output that the rules read: "margin", or from the
        probability p of the + side "probability" (2p − 1) or "log_odds".
    calibrations : tuple of str or None
        Of each distinct problem; None if there are no probabilities.
    kinds : tuple of str
        The kind of output of each distinct problem that its calibration reads.
    methods : tuple of str or None
        Method for the probabilities of each node's children.
    calibrators : tuple of Calibrator or None
        Of each distinct problem, None where its own probabilities are used.
    counts : ndarray of shape (n_distinct,) or None
        Total weight of each problem's samples.
    path : {"recursive", "most_probable", "least_squares", "ddag"}
        How the nodes of a structure are combined.
    shared : bool
        Whether all problems have one calibrator.
    n_jobs : int or None
        Threads that solve for probabilities.
    means : ClassMeans or None
        For the rule "class_means".
    """

    code: Code
    nodes: tuple[Node, ...]
    distinct: DistinctProblems
    says: tuple[Says, ...]
    rules: tuple[str, ...]
    forms: tuple[str, ...]
    calibrations: tuple[str, ...] | None
    kinds: tuple[str, ...]
    methods: tuple[str, ...] | None
    calibrators: tuple[Calibrator | None, ...] | None = None
    counts: Array | None = None
    path: str = "recursive"
    shared: bool = False
    n_jobs: int | None = None
    means: ClassMeans | None = None

    @classmethod
    def of(
        cls,
        problems: Any,
        trainer: Any,
        *,
        decoder: Any,
        probability: Any,
        calibration: Any = "auto",
        path: str = "recursive",
        shared: bool = False,
        in_batches: bool = False,
        n_jobs: int | None = None,
    ) -> "Readout":
        """Return the readout of problems, not calibrated yet; raise ValueError for bad choices.

        Parameters
        ----------
        problems : Problems
            With `code` and `nodes`.
        trainer : Trainer
            With `distinct` and `says`.
        decoder, probability, calibration : str
            As the parameters of :class:`~polychotomy.CodeClassifier`; `probability` may be None.
        path, shared, n_jobs
            As the attributes; with the path "auto" see :func:`choose_path`.
        in_batches : bool, default=False
            Whether training goes on batch by batch: then there are no held-out outputs, and no
            probabilities that need them.
        """
        says, distinct, nodes = trainer.says, trainer.distinct, problems.nodes
        calibrations = methods = None
        if probability is not None:
            methods = choose_methods(probability, nodes)
            of = {said: choose_calibration(calibration, said, in_batches) for said in {*says}}
            calibrations = tuple(of[said] for said in says)
            if in_batches and set(calibrations) != {"none"}:
                calibrations = methods = None
        path = choose_path(path, nodes, methods is not None)
        rules, forms = choose_rules(decoder, nodes, says, distinct.index, methods is not None)
        if "class_means" in rules:
            check_class_means(rules, problems.code)
        kinds = tuple(
            "margin" if name != "none" and "margin" in said.kinds else "probability"
            for name, said in zip(calibrations or ["none"] * len(says), says, strict=True)
        )
        chosen = (rules, forms, calibrations, kinds, methods)
        return cls(
            problems.code, nodes, distinct, says, *chosen, path=path, shared=shared, n_jobs=n_jobs
        )

    @property
    def needs_calibration(self) -> bool:
        """Whether there are probabilities that need held-out outputs."""
        return self.calibrations is not None and set(self.calibrations) != {"none"}

    def calibrated(self, counts: Array, held_out: Any = None, ask: Ask | None = None) -> "Readout":
        """Return the readout with calibrators, and with a method where "auto" left it open.

        Parameters
        ----------
        counts : ndarray of shape (n_distinct,)
            Total weight of each problem's samples.
        held_out : HeldOut, optional
            Needed if :attr:`needs_calibration`.
        ask : Ask, optional
            About the training samples; needed with held-out outputs.
        """
        if self.calibrations is None or self.methods is None:
            return self
        counts = np.maximum(counts, np.finfo(float).tiny)
        if held_out is None and self.calibrators is not None:  # as they are, after further batches
            return replace(self, counts=counts)
        methods = tuple("least_squares" if m == "auto" else m for m in self.methods)
        if held_out is None:
            own = (None,) * len(self.says)
            return replace(self, methods=methods, calibrators=own, counts=counts)
        data = []
        for s, outputs in enumerate(held_out.outputs):
            own = held_out.targets.samples(s)
            positive = held_out.targets.sides(s, own) > 0
            read = calibrated_form(outputs, self.kinds[s])
            data.append((read, positive, held_out.weights[s][own]))
        if self.shared:
            pooled = [np.concatenate(parts) for parts in zip(*data, strict=True)]
            calibrators = [fit_calibrator(self.calibrations[0], *pooled)] * len(data)
        else:
            each = zip(self.calibrations, data, strict=True)
            calibrators = [fit_calibrator(name, *parts) for name, parts in each]
        found = replace(self, methods=methods, calibrators=tuple(calibrators), counts=counts)
        if ask is None or not held_out.by_folds:
            return found
        return replace(found, methods=better_methods(found, self.methods, held_out, ask))

    def replace(self, *, decoder: Any = None, probability: Any = "auto") -> "Readout":
        """Return a readout with another decoder or method; ValueError if it does not suit.

        Parameters
        ----------
        decoder : str, optional
            None leaves the rules as they are.
        probability : str, default="auto"
            ``"auto"`` leaves the methods as they are.
        """
        methods, rules, forms = self.methods, self.rules, self.forms
        if methods is not None and probability not in (None, "auto"):
            methods = choose_methods(probability, self.nodes)
        if decoder is not None:
            index = self.distinct.index
            rules, forms = choose_rules(decoder, self.nodes, self.says, index, methods is not None)
        return replace(self, methods=methods, rules=rules, forms=forms)

    # From outputs to classes

    def outputs(
        self, ask: Ask, problems: slice = slice(None), rows: Indices | None = None
    ) -> Array:
        """Return the outputs of some problems, a column for each: positive for the +1 side.

        Where a flat code reads probabilities, they are calibrated: with one-vs-rest, the predicted
        class is the most probable one.
        """
        which, place = self.asked(problems)
        outputs = self._said(ask, which, [self.kind_read(s) for s in which], rows)
        for c, s in enumerate(which):
            if self.reads_calibrated(s):
                outputs[:, c] = FORMS["probability"](self.calibrate(s, outputs[:, c]))
            elif self.forms[s] != "margin":
                outputs[:, c] = FORMS[self.forms[s]](outputs[:, c])
        return outputs[:, place] * self.distinct.sign[problems]

    def scores(self, ask: Ask) -> Array:
        """Return the score of each class, larger being better, shape (n_samples, n_classes).

        Where the most probable class is predicted, these are the probabilities. In a tree, they
        are the smallest lead, over the nodes on the way to the class, of its child over the
        others; in a DDAG, the step in which the class was eliminated.
        """
        if self.takes_most_probable:
            return self.probabilities(ask)
        if self.eliminates:
            return _paths.eliminate(self, ask)[0]
        if len(self.nodes) > 1:
            return _paths.smallest_leads(self, ask)
        return self.node_scores(0, ask)[:, self.nodes[0].child]

    def decision(self, scores: Array) -> Array:
        """Return scores as ``decision_function`` does: one column's worth for two classes."""
        if scores.shape[1] > 2:
            return scores
        signed = self.is_direct(0) or self.rules[0] == "argmax"
        return scores[:, 1] if signed else scores[:, 1] - scores[:, 0]

    def decide(self, ask: Ask) -> tuple[Indices, list["_paths.Visit"]]:
        """Return the winning class of each sample, and which problems were asked of which."""
        if self.eliminates:
            scores, visits = _paths.eliminate(self, ask)
            return scores.argmax(axis=1), visits
        if self.takes_most_probable and self.path == "least_squares":
            return self.probabilities(ask).argmax(axis=1), self._all_asked(ask)
        if self.takes_most_probable:
            classes, _, visits = _paths.search(self, ask)
            return classes[:, 0], visits
        if len(self.nodes) > 1 or self.is_direct(0):
            return _paths.descend(self, ask)
        if self._searches:
            return self.best(ask, 1, "score")[0][:, 0], self._all_asked(ask)
        return self.scores(ask).argmax(axis=1), self._all_asked(ask)

    def best(self, ask: Ask, n: int, by: str) -> tuple[Indices, Array]:
        """Return the n best classes of each sample, best first, and their values.

        `by` is "score" or "probability". A tree is searched, and not all of its problems asked.
        """
        by = "probability" if self.takes_most_probable else by
        if len(self.nodes) > 1 and self.path in ("recursive", "most_probable"):
            classes, values, _ = _paths.search(self, ask, n, "lead" if by == "score" else by)
        elif self._searches:
            classes, values = _paths.best_found(self, ask, n, by)
        else:
            values = self.scores(ask) if by == "score" else self.probabilities(ask)
            classes, values = largest(values, n)
        if by == "score" and any(self.is_direct(i) for i in range(len(self.nodes))):
            classes = _paths.put_first(classes, self.decide(ask)[0])
        return classes, values

    def reject(
        self, ask: Ask, rule: str, threshold: float | None
    ) -> tuple[Indices, NDArray[np.bool_]]:
        """Return the winning classes, and which of them to accept."""
        if rule == "votes":
            outputs = self.outputs(ask)
            scores = self._decoded(0, outputs, "votes")[:, self.nodes[0].child]
            return scores.argmax(axis=1), accepted_by_votes(outputs, self.code)
        assert threshold is not None
        if rule == "probability":
            p = self.probabilities(ask)
            return p.argmax(axis=1), accepted_by_confidence(p, threshold)
        scores = self.scores(ask)
        direct = any(self.is_direct(i) for i in range(len(self.nodes)))
        winners = self.decide(ask)[0] if direct else scores.argmax(axis=1)
        if scores.shape[1] == 2:
            scores = np.abs(self.decision(scores))[:, np.newaxis]
        return winners, accepted_by_confidence(scores, threshold)

    def choose_child(self, i: int, ask: Ask, rows: Indices | None = None) -> Indices:
        """Return the winning child of node i for each sample."""
        if not self.is_direct(i):
            return self.node_scores(i, ask, rows).argmax(axis=1)
        node = self.nodes[i]
        column = node.problems.start
        plus = int(np.argmax(node.code.columns[:, 0] == self.distinct.sign[column]))
        side = ask("side", [int(self.distinct.index[column])], rows)[:, 0]
        return np.where(side > 0, plus, 1 - plus)

    def node_scores(self, i: int, ask: Ask, rows: Indices | None = None) -> Array:
        """Return the scores of node i's children, larger being better."""
        if self.rules[i] == "probability":
            return self.child_probabilities(i, ask, rows)
        return self._decoded(i, self.outputs(ask, self.nodes[i].problems, rows), self.rules[i])

    def is_direct(self, i: int) -> bool:
        """Whether node i has two children and one problem, whose classifier decides by itself."""
        if self.nodes[i].code.n_classes > 2 or self.rules[i] == "probability":
            return False
        return bool(np.ptp(self.distinct.index[self.nodes[i].problems]) == 0)

    # From outputs to probabilities

    def probabilities(self, ask: Ask) -> Array:
        """Return the class probabilities, shape (n_samples, n_classes).

        In a structure, these are products of the children's probabilities on the way to each class
        or, with the path "least_squares", the solution for all problems at once.
        """
        if self.path == "least_squares":
            return solve(self.binary(ask), self.code, "least_squares", n_jobs=self.n_jobs)
        p = np.empty((ask.n_samples, self.code.n_classes))
        reached: dict[int, Array] = {0: np.ones(ask.n_samples)}
        q = self.binary(ask)
        for i, node in enumerate(self.nodes):
            here = reached.pop(i)
            children = self._of_children(i, q[:, node.problems])
            for c, below in enumerate(node.below):
                if below < 0:
                    p[:, -1 - below] = here * children[:, c]
                else:
                    reached[below] = here * children[:, c]
        return p

    def binary(self, ask: Ask, problems: slice = slice(None), rows: Indices | None = None) -> Array:
        """Return the probability of the + side of some problems, a column for each."""
        which, place = self.asked(problems)
        kinds = [self.kinds[s] for s in which]
        outputs = self._said(ask, which, kinds, rows)
        if np.isnan(outputs).any():
            raise ValueError(
                "The outputs of the binary problems must be numbers. Got NaN for sample "
                f"{np.argwhere(np.isnan(outputs))[0, 0]}; check that its features are valid."
            )
        q = np.column_stack([self.calibrate(s, o) for s, o in zip(which, outputs.T, strict=True)])
        return np.where(self.distinct.sign[problems] > 0, q[:, place], 1 - q[:, place])

    def child_probabilities(self, i: int, ask: Ask, rows: Indices | None = None) -> Array:
        """Return the probabilities of node i's children."""
        return self._of_children(i, self.binary(ask, self.nodes[i].problems, rows))

    def reads_calibrated(self, s: int) -> bool:
        """Whether the rule of a flat code reads the calibrated probabilities of a problem."""
        flat = len(self.nodes) == 1 and self.code.n_classes > 2
        return flat and self.forms[s] == "probability" and self.calibrators is not None

    def kind_read(self, s: int) -> str:
        """Return the kind of output that the rules read, or that a calibrator was fitted on."""
        own = "margin" if self.forms[s] == "margin" else "probability"
        return self.kinds[s] if self.reads_calibrated(s) else own

    @property
    def takes_most_probable(self) -> bool:
        """Whether the most probable class is predicted, whatever the rules."""
        return self.path in ("least_squares", "most_probable") and self.code.n_classes > 2

    @property
    def most_held(self) -> int:
        """How many outputs or scores of a sample are held at a time, to find its best classes."""
        return _paths.most_held(self)

    @property
    def _searches(self) -> bool:
        return len(self.nodes) == 1 and self.nodes[0].code.is_searched

    @property
    def eliminates(self) -> bool:
        """Whether classes are eliminated one after the other, as in a DDAG."""
        return self.path == "ddag" and self.code.n_classes > 2

    def _all_asked(self, ask: Ask) -> "list[_paths.Visit]":
        return [(slice(0, self.code.n_problems), np.arange(ask.n_samples))]

    def _decoded(self, i: int, outputs: Array, rule: str) -> Array:
        code = self.nodes[i].code
        if self.is_direct(i):
            return check_outputs(outputs, code.columns)[:, :1] * code.columns[:, 0]
        if rule not in ("argmax", "class_means"):
            return decode(outputs, code, rule)
        outputs = check_outputs(outputs, code.columns)
        if rule == "class_means":
            return means_of(self).scores(outputs)
        return outputs if code.n_classes > 2 else outputs - outputs.mean(axis=1, keepdims=True)

    def _of_children(self, i: int, q: Array) -> Array:
        """Return the probabilities of node i's children from those of its own problems."""
        assert self.methods is not None
        assert self.counts is not None
        node, method = self.nodes[i], self.methods[i]
        if node.code.columns.shape == (2, 1) and method in ("least_squares", "coupling"):
            q = q if node.code.columns[0, 0] > 0 else 1 - q
            return np.hstack([q, 1 - q])
        counts = self.counts[self.distinct.index[node.problems]]
        return solve(q, node.code, method, sample_counts=counts, n_jobs=self.n_jobs)

    def calibrate(self, s: int, outputs: Array) -> Array:
        """Return the probability of the + side of one distinct problem."""
        assert self.calibrators is not None
        fitted = self.calibrators[s]
        return outputs if fitted is None else fitted(calibrated_form(outputs, self.kinds[s]))

    def asked(self, problems: slice) -> tuple[Indices, Indices]:
        """Return the distinct problems behind some problems, and where each of these is found."""
        which, place = np.unique(self.distinct.index[problems], return_inverse=True)
        return which, place.ravel()

    def _said(self, ask: Ask, which: Indices, kinds: Sequence[str], rows: Indices | None) -> Array:
        """Return the outputs of distinct problems, each of its kind; one question per kind."""
        if len(set(kinds)) == 1:
            return ask(kinds[0], None if len(which) == len(self.says) else which.tolist(), rows)
        outputs = np.empty((ask.n_samples if rows is None else len(rows), len(which)))
        for kind in dict.fromkeys(kinds):
            columns = [c for c, each in enumerate(kinds) if each == kind]
            outputs[:, columns] = ask(kind, which[columns].tolist(), rows)
        return outputs
