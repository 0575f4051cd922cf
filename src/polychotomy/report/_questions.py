"""The binary problems of the chosen model, and which of them its errors concern."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy import codes
from polychotomy.classifiers import has_rules
from polychotomy.codes import problem_words
from polychotomy.evaluate import Cell
from polychotomy.learners import resolve_replication
from polychotomy.reductions import Reduction, is_baseline
from polychotomy.structures import Structure, balanced

Counts = NDArray[np.int_]
Sides = NDArray[np.int8]

_MOST_PROBLEMS = 100
_CODE_CLASSES, _CODE_PROBLEMS = 30, 60
_TREE_CLASSES, _TREE_DEPTH = 100, 15
_LONGEST_NAME = 60
_LONGEST_TEXT = 20_000
_TELLING_APART = ("structure", "code", "weights", "decoder")
_BASELINE = "DummyClassifier"
_SYMBOLS = {1: "+", 0: "·", -1: "−"}


@dataclass(frozen=True, eq=False)
class Questions:
    """The binary problems of a model.

    Attributes
    ----------
    classes : tuple of str
    sides : ndarray of shape (n_classes, n_problems)
        −1, 0 and +1, as in a code.
    structure : Structure or None
        The tree that the problems belong to, if they make no flat code.
    """

    classes: tuple[str, ...]
    sides: Sides
    structure: Structure | None = None

    def ordered(self, classes: Sequence[str]) -> "Questions":
        """Return the same with the classes in another order."""
        rows = [self.classes.index(name) for name in classes]
        return Questions(tuple(classes), self.sides[rows], self.structure)

    @cached_property
    def words(self) -> list[str]:
        """Each problem in words, with long names cut."""
        names = [shorten(name) for name in self.classes]
        return [problem_words(column, names) for column in self.sides.T]


def questions_of_model(model: Any) -> Questions | None:
    """Return the problems of a fitted classifier; None if they are not known.

    Searches and pipelines are opened.
    """
    model = _opened(model)
    if not hasattr(model, "classes_"):
        return None
    classes = tuple(str(label) for label in model.classes_)
    structure = getattr(model, "structure_", None)
    if isinstance(structure, Structure) and structure.depth > 1:
        return Questions(classes, _sides(structure, classes), structure)
    if isinstance(structure, Structure) and structure.code is not None:
        return Questions(classes, _sides(structure, classes))
    code = getattr(model, "code_", None)
    return Questions(classes, code.matrix) if isinstance(code, codes.Code) else None


def asks_problems(reduction: str) -> bool:
    """Whether a reduction has binary problems: not the learner itself, and not a baseline."""
    return reduction.partition(":")[0] != "native" and not is_baseline(reduction)


def belongs_to(model: Any, reduction: str) -> bool:
    """Whether a fitted classifier is what a reduction makes, whatever its way to probabilities."""
    if hasattr(model, "best_reduction_"):
        return bool(model.best_reduction_ == reduction)
    try:
        made = Reduction.of(reduction).make(None)
    except ValueError:
        return False
    given, baseline = _opened(model), is_baseline(reduction)
    if has_rules(given) and has_rules(made):
        return _defined_by(given) == _defined_by(made)
    if has_rules(given) or has_rules(made):
        return False
    return isinstance(given, type(made)) if baseline else type(given).__name__ != _BASELINE


def _defined_by(model: Any) -> tuple[Any, ...]:
    """Return the parameters that distinguish reductions: the name of a code, not the code."""
    given = [getattr(model, name, None) for name in _TELLING_APART]
    if hasattr(model, "replication"):
        replication = resolve_replication(model.extension or model.replication)
        given += [type(replication).__name__, *replication.get_params().values()]
    return tuple(map(_defining, given))


def _defining(value: Any) -> Any:
    if isinstance(value, codes.Code):
        return value.name
    if isinstance(value, str):
        return codes.ALIASES.get(value, value)
    return value if isinstance(value, float) else value is None


def questions_of_reduction(name: str, classes: Sequence[str]) -> Questions | None:
    """Return the problems of a reduction, if they follow from the number of classes alone."""
    first = name.partition(":")[0]
    known, k = tuple(classes), len(classes)
    if first == "balanced_tree" and len(set(known)) == k > 2:
        structure = balanced(list(known))
        return Questions(known, _sides(structure, known), structure)
    if first == "ddag":
        first = "one_vs_one"
    if first not in codes.available_codes():
        return None
    if "random_state" in signature(getattr(codes, first)).parameters:
        return None
    try:
        return Questions(known, codes.make_code(first, k).matrix)
    except ValueError:
        return None


def _opened(model: Any) -> Any:
    """Return the classifier inside searches and pipelines."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps"):
            model = model.steps[-1][1]
        else:
            return model


def confusion(cells: Sequence[Cell]) -> Counts:
    """Return how many samples of each class (row) were given each class (column)."""
    k = len(cells[0].classes)
    places = np.concatenate([k * cell.truth.astype(int) + cell.predicted for cell in cells])
    return np.bincount(places, minlength=k * k).reshape(k, k)


def crossed(counts: Counts, sides: Sides) -> NDArray[np.float64]:
    """Return the share of samples that end on the wrong side of each problem.

    Of the samples whose class takes part in the problem, those whose predicted class is on
    the other side. It shows which split the errors cross, whatever the decoding did with it.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_classes)
        As :func:`confusion` returns them.
    sides : ndarray of shape (n_classes, n_problems)

    Returns
    -------
    shares : ndarray of shape (n_problems,)
        NaN where no sample takes part.

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.report._questions import crossed
    >>> crossed(np.array([[3, 1], [0, 4]]), np.array([[1], [-1]]))
    array([0.125])
    """
    plus, minus = (sides == 1).astype(int), (sides == -1).astype(int)
    wrong = np.sum(plus * (counts @ minus) + minus * (counts @ plus), axis=0)
    taking_part = counts.sum(axis=1) @ (plus + minus)
    with np.errstate(invalid="ignore"):
        shares: NDArray[np.float64] = np.where(taking_part, wrong / taking_part, np.nan)
    return shares


def problems_shown(questions: Questions, cells: Sequence[Cell]) -> dict[str, Any]:
    """Return what the page shows of the problems: a list, and the code or the tree."""
    shares = crossed(confusion(cells), questions.sides)
    order = np.argsort(-np.nan_to_num(shares, nan=-1), kind="stable")[:_MOST_PROBLEMS]
    return {
        "n_problems": questions.sides.shape[1],
        "weakest": [
            {
                "number": int(s) + 1,
                "words": questions.words[s],
                "share": "—" if np.isnan(shares[s]) else f"{100 * shares[s]:.2f} %",
            }
            for s in order
        ],
        "code": _code_shown(questions) if questions.structure is None else None,
        **_tree_shown(questions),
    }


def _code_shown(questions: Questions) -> dict[str, Any]:
    k, n = questions.sides.shape
    shown = questions.sides[:_CODE_CLASSES, :_CODE_PROBLEMS]
    return {
        "is_cut": k > _CODE_CLASSES or n > _CODE_PROBLEMS,
        "problems": questions.words[:_CODE_PROBLEMS],
        "rows": [
            {"name": name, "symbols": [_SYMBOLS[int(side)] for side in row]}
            for name, row in zip(questions.classes, shown, strict=False)
        ],
    }


def _tree_shown(questions: Questions) -> dict[str, Any]:
    """Return the tree as nested dictionaries or, if it is large, as text."""
    structure = questions.structure
    if structure is None:
        return {"tree": None, "tree_text": None}
    if structure.depth > _TREE_DEPTH or structure.n_classes > _TREE_CLASSES:
        text = str(structure)
        cut = text[:_LONGEST_TEXT] + ("\n…" if len(text) > _LONGEST_TEXT else "")
        return {"tree": None, "tree_text": cut}
    return {"tree": _branch(structure), "tree_text": None}


def _branch(node: Structure) -> dict[str, Any]:
    return {
        "name": None if node.label is None else str(node.label),
        "n_classes": node.n_classes,
        "n_problems": node.code.n_problems if node.code is not None else 0,
        "children": [_branch(child) for child in node.children],
    }


def shorten(name: str) -> str:
    """Return a name of at most 60 characters."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _sides(structure: Structure, classes: Sequence[str]) -> Sides:
    row = {label: r for r, label in enumerate(classes)}
    sides = np.zeros((len(classes), structure.n_problems), dtype=np.int8)
    for s, problem in enumerate(structure.problems):
        for label in problem.minus:
            sides[row[str(label)], s] = -1
        for label in problem.plus:
            sides[row[str(label)], s] = 1
    return sides
