"""Which binary classifier learns which problem."""

import re
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from polychotomy.classifiers._checks import check_base
from polychotomy.structures import Problem

_PAIR = re.compile(r"\w+=\S.*", re.DOTALL)


_LONGEST_OPTIONS = 1000


class Learner(NamedTuple):
    """A binary classifier for some of the problems.

    `source` is where it comes from, "estimator" or a key of ``estimators``: metadata go there.
    """

    estimator: Any
    source: str


def choose_learners(
    base: Any, estimators: Mapping[str, Any] | None, problems: Sequence[Problem]
) -> tuple[tuple[Learner, ...], NDArray[np.intp]]:
    """Return the learners in use, and for each problem the number of its own.

    A name or options found in `estimators` take that estimator; other options are parameters of
    the base, ``"C=10 gamma=0.1"``; all other problems go to the base.
    """
    if estimators is not None and not isinstance(estimators, Mapping):
        raise ValueError(
            "The 'estimators' parameter must be a dictionary of names and classifiers. "
            f"Got {type(estimators).__name__}."
        )
    known = {} if estimators is None else dict(estimators)
    found: dict[str, int] = {}
    learners: list[Learner] = []
    chosen = np.empty(len(problems), dtype=np.intp)
    for s, problem in enumerate(problems):
        said = problem.name or problem.options or ""
        key = said if said in known or (problem.options or "").strip() else ""
        if key not in found:
            found[key] = len(learners)
            if key in known:
                estimator = check_base(known[key], name=f"estimators[{key!r}]")
                learners.append(Learner(estimator, f"estimators_{key}"))
            else:
                learners.append(Learner(_with_options(base, key, known), "estimator"))
        chosen[s] = found[key]
    _check_learners([*learners, Learner(base, "estimator")], known.keys() - found.keys())
    return tuple(learners), chosen


def _check_learners(learners: Sequence[Learner], unused: Iterable[str]) -> None:
    for key in sorted(unused):
        raise ValueError(
            "Every key of the 'estimators' parameter must be the name or the options of a problem "
            f"of the structure. There is no problem {key!r}."
        )
    if len({get_tags(estimator).input_tags.pairwise for estimator, _ in learners}) > 1:
        raise ValueError("Either all estimators work on a precomputed kernel, or none does.")


def _with_options(base: Any, text: str, known: Mapping[str, Any]) -> Any:
    """Return the base with the parameters that an option string sets."""
    if not text:
        return base
    if len(text) > _LONGEST_OPTIONS:
        raise ValueError(
            f"The options of a problem may have {_LONGEST_OPTIONS} characters. Got {len(text)}."
        )
    params = {}
    for pair in re.split(r" (?=\w+=)", " ".join(text.split())):
        if not _PAIR.fullmatch(pair):
            names = ", ".join(map(repr, known)) or "none"
            raise ValueError(
                "The options of a problem must be parameters of the estimator, as in "
                "'C=10 gamma=0.1', or a name in the 'estimators' parameter (there: "
                f"{names}). Got {text!r}."
            )
        name, _, value = pair.partition("=")
        params[name] = _value(value)
    try:
        return clone(base).set_params(**params)
    except ValueError as error:
        error.add_note(f"This happened with the options {text!r} of a problem.")
        raise


def _value(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
