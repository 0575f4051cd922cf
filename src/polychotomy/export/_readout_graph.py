"""A readout as a graph: from the outputs of problems to classes and probabilities."""

from collections.abc import Sequence

import numpy as np

from polychotomy.arrays import Indices
from polychotomy.calibration import Calibrator, Isotonic, Sigmoid
from polychotomy.errors import ModelError
from polychotomy.export._decoding_graph import decoded, eliminated
from polychotomy.export._graph import Graph, Name
from polychotomy.export._probability_graph import class_probabilities, closed_methods, is_closed
from polychotomy.export._trained_outputs import OutputsGraph
from polychotomy.readout import Readout

_LEAST = 5e-324
_LARGEST_LOG_ODDS = 50.0


def iterative_methods(readout: Readout) -> list[str]:
    """Return the methods of a readout that are not closed formulas."""
    if readout.methods is None or readout.calibrators is None:
        return []
    if readout.path == "least_squares":
        return [] if is_closed("least_squares", readout.code) else ["least_squares"]
    nodes = zip(readout.nodes, readout.methods, strict=True)
    return list(dict.fromkeys(m for node, m in nodes if not is_closed(m, node.code)))


def closed_alternatives(readout: Readout) -> list[str]:
    """Return the closed formulas that suit all nodes of a readout."""
    own = [closed_methods(node.code) for node in readout.nodes if node.code.n_classes > 2]
    return [name for name in own[0] if all(name in each for each in own)] if own else []


class ReadoutGraph:
    """A :class:`polychotomy.readout.Readout` as a graph.

    Parameters
    ----------
    graph : Graph
    readout : Readout
    ask : OutputsGraph
    """

    def __init__(self, graph: Graph, readout: Readout, ask: OutputsGraph) -> None:
        self._g, self._readout, self._ask = graph, readout, ask
        self._probabilities: Name | None = None

    def classes(self) -> Name:
        """Return the number of each sample's class, n × 1."""
        g, readout = self._g, self._readout
        if readout.takes_most_probable:
            return g.best(self.probabilities())
        if readout.eliminates:
            code, below = readout.nodes[0].code, readout.nodes[0].below
            row = eliminated(g, self._outputs(slice(None)), code.matrix)
            return g("Gather", np.array([-1 - each for each in below]), row)
        if len(readout.nodes) > 1 or readout.is_direct(0):
            return self._descend()
        return g.best(
            g.columns(self._node_scores(0), readout.nodes[0].child, len(readout.nodes[0].below))
        )

    def probabilities(self) -> Name:
        """Return the class probabilities, n × k."""
        if self._probabilities is None:
            self._probabilities = self._solved()
        return self._probabilities

    def _solved(self) -> Name:
        g, readout = self._g, self._readout
        q = self._binary(slice(None))
        if readout.path == "least_squares":
            counts = np.ones(readout.code.n_problems)
            return class_probabilities(g, q, readout.code, "least_squares", counts)
        reached: dict[int, Name | None] = {0: None}
        columns: list[Name] = [""] * readout.code.n_classes
        for i, node in enumerate(readout.nodes):
            here = reached.pop(i)
            children = self._of_children(i, self._part(q, node.problems))
            if here is not None:
                children = g("Mul", children, here)
            for c, below in enumerate(node.below):
                column = g.columns(children, [c])
                if below < 0:
                    columns[-1 - below] = column
                else:
                    reached[below] = column
        return g.beside(columns)

    def _part(self, q: Name, problems: slice) -> Name:
        n = self._readout.code.n_problems
        return self._g.columns(q, np.arange(n)[problems], n)

    def _of_children(self, i: int, q: Name) -> Name:
        readout = self._readout
        assert readout.methods is not None
        assert readout.counts is not None
        node = readout.nodes[i]
        counts = readout.counts[readout.distinct.index[node.problems]]
        return class_probabilities(self._g, q, node.code, readout.methods[i], counts)

    def _descend(self) -> Name:
        """Return the class where the winning children lead, from the leaves up."""
        g, nodes = self._g, self._readout.nodes
        found: dict[int, Name] = {}
        for i in reversed(range(len(nodes))):
            chosen, below = self._choose_child(i), nodes[i].below
            if all(each < 0 for each in below):
                found[i] = g("Gather", np.array([-1 - each for each in below]), chosen)
                continue
            nothing = g("Mul", chosen, np.array(0))
            ends = [
                found[each] if each >= 0 else g("Add", nothing, np.array(-1 - each))
                for each in below
            ]
            found[i] = g("GatherElements", g.beside(ends), chosen, axis=1)
        return found[0]

    def _choose_child(self, i: int) -> Name:
        """Return the winning child of node i, n × 1."""
        g, readout = self._g, self._readout
        if not readout.is_direct(i):
            return g.best(self._node_scores(i))
        node = readout.nodes[i]
        column = node.problems.start
        plus = int(np.argmax(node.code.columns[:, 0] == readout.distinct.sign[column]))
        side = self._ask("side", [int(readout.distinct.index[column])])
        return g("Where", g("Greater", side, 0.0), np.array(plus), np.array(1 - plus))

    def _node_scores(self, i: int) -> Name:
        """Return the scores of node i's children, larger being better."""
        g, readout, node = self._g, self._readout, self._readout.nodes[i]
        rule = readout.rules[i]
        if rule == "probability":
            return self._of_children(i, self._binary(node.problems))
        outputs = self._outputs(node.problems)
        if rule == "argmax":
            return outputs
        return decoded(g, outputs, node.code.matrix, rule)

    # Outputs and binary probabilities

    def _outputs(self, problems: slice) -> Name:
        """Return the outputs of some problems, positive for the +1 side."""
        g, readout = self._g, self._readout
        which, place = readout.asked(problems)
        outputs = self._said(which, [readout.kind_read(s) for s in which])
        forms = [self._form(s) for s in which]
        if set(forms) != {"margin"}:
            outputs = self._by_columns(outputs, which, forms)
        outputs = g.columns(outputs, place, len(which))
        sign = readout.distinct.sign[problems]
        return outputs if (sign > 0).all() else g("Mul", outputs, sign[np.newaxis].astype(float))

    def _form(self, s: int) -> str:
        return "calibrated" if self._readout.reads_calibrated(s) else self._readout.forms[s]

    def _by_columns(self, outputs: Name, which: Indices, forms: Sequence[str]) -> Name:
        """Return outputs in the form that the rules read, a group of columns at a time."""
        g, parts, order = self._g, [], []
        for form in dict.fromkeys(forms):
            own = [c for c, each in enumerate(forms) if each == form]
            part = g.columns(outputs, own, len(forms))
            if form == "calibrated":
                part = self._calibrated(part, which[own])
            if form in ("calibrated", "probability"):
                part = g("Sub", g("Mul", part, 2.0), 1.0)
            elif form == "log_odds":
                part = self._log_odds(part)
            parts.append(part)
            order += own
        return g.columns(g.beside(parts), np.argsort(order), len(order))

    def _binary(self, problems: slice) -> Name:
        """Return the probability of the + side of some problems."""
        g, readout = self._g, self._readout
        which, place = readout.asked(problems)
        outputs = self._said(which, [readout.kinds[s] for s in which])
        q = g.columns(self._calibrated(outputs, which), place, len(which))
        turned = readout.distinct.sign[problems] < 0
        if not turned.any():
            return q
        return g("Where", turned[np.newaxis], g.one_minus(q), q)

    def _said(self, which: Indices, kinds: Sequence[str]) -> Name:
        """Return the outputs of distinct problems, each of its kind."""
        parts, order = [], []
        for kind in dict.fromkeys(kinds):
            own = [c for c, each in enumerate(kinds) if each == kind]
            parts.append(self._ask(kind, which[own].tolist()))
            order += own
        return self._g.columns(self._g.beside(parts), np.argsort(order), len(order))

    def _calibrated(self, outputs: Name, which: Indices) -> Name:
        """Return the probability of the + side of distinct problems, whose outputs are columns."""
        readout = self._readout
        assert readout.calibrators is not None
        groups: dict[object, list[int]] = {}
        for c, s in enumerate(which):
            calibrator, kind = readout.calibrators[s], readout.kinds[s]
            single = c if isinstance(calibrator, Isotonic) else 0
            groups.setdefault((type(calibrator), kind, single), []).append(c)
        parts = []
        for own in groups.values():
            part = self._g.columns(outputs, own, len(which))
            calibrators = [readout.calibrators[s] for s in which[own]]
            parts.append(self._applied(part, calibrators, readout.kinds[which[own[0]]]))
        order = np.concatenate(list(groups.values()))
        return self._g.columns(self._g.beside(parts), np.argsort(order), len(order))

    def _applied(self, x: Name, calibrators: Sequence[Calibrator | None], kind: str) -> Name:
        """Return outputs calibrated by calibrators of one kind, a column for each."""
        g, first = self._g, calibrators[0]
        if first is None:
            return x
        if kind == "probability":
            odds = self._log_odds(x)
            x = g("Max", g("Min", odds, _LARGEST_LOG_ODDS), -_LARGEST_LOG_ODDS)
        if isinstance(first, Isotonic):
            return self._interpolated(x, first)
        if isinstance(first, Sigmoid):
            slope, intercept = np.array([[c.slope, c.intercept] for c in calibrators]).T  # type: ignore[union-attr]
            z = g("Add", g("Mul", x, slope[np.newaxis]), intercept[np.newaxis])
            return g("Sigmoid", z)
        raise ModelError(f"A calibration by {type(first).__name__} cannot be exported.")

    def _interpolated(self, x: Name, calibrator: Isotonic) -> Name:
        """Return a piecewise linear function of a column, constant beyond its ends."""
        g, regression = self._g, calibrator.regression
        knots = np.asarray(regression.X_thresholds_, dtype=float)
        values = np.asarray(regression.y_thresholds_, dtype=float)
        if len(knots) == 1:
            return g("Add", g("Mul", x, 0.0), float(values[0]))
        slopes = np.diff(values) / np.diff(knots)
        x = g("Max", g("Min", x, float(knots[-1])), float(knots[0]))
        piece = g("Mul", g.integer(x), np.array(0))
        if len(knots) > 2:
            beyond = g.integer(g("GreaterOrEqual", x, knots[np.newaxis, 1:-1]))
            piece = g.reduce("ReduceSum", beyond)
        start, value, slope = (
            g("Gather", each, piece) for each in (knots[:-1], values[:-1], slopes)
        )
        return g("Add", value, g("Mul", slope, g("Sub", x, start)))

    def _log_odds(self, p: Name) -> Name:
        """Return log p/(1−p), bounded, and just below 0 for ½: then the first class wins."""
        g = self._g
        logs = [g("Log", g("Max", each, _LEAST)) for each in (p, g.one_minus(p))]
        return g("Where", g("Equal", p, 0.5), -_LEAST, g("Sub", *logs))
