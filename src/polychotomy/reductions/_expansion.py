"""Expansion of the reductions that a user asks for into the rows of a search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from polychotomy.classifiers import code_of
from polychotomy.codes import Code, one_vs_one
from polychotomy.decoding import RULES, check_one_vs_one
from polychotomy.errors import CodeError
from polychotomy.learners import additive_kind, check_learner, minimised_loss
from polychotomy.probability import METHODS, check_method
from polychotomy.readout import automatic_decoder
from polychotomy.reductions._registry import (
    ANY,
    Reduction,
    available_reductions,
    class_means_rows,
)

_SAME_METHODS = ("prob 1-r", "prob 1-1")
_PAIR = one_vs_one(2)
_STANDARD_METHODS = ("auto", "least_squares", "normalise", "coupling")
_LONGEST_NAME = 80


@dataclass(frozen=True)
class Expansion:
    """Turns what a user asks for into the rows of a search.

    Attributes
    ----------
    estimator : classifier or None
        The binary classifier.
    classes : ndarray of shape (n_classes,)
    by_probability : bool
        Whether the score uses probabilities: then methods are tried, else decoders.
    options : dict
        Further parameters of the classifiers, ``random_state`` among them.
    """

    estimator: Any
    classes: NDArray[Any]
    by_probability: bool
    options: dict[str, Any]

    def of(self, reductions: Any) -> tuple[dict[str, Any], dict[str, str]]:
        """Return reductions and users' own classifiers by name, and what is skipped, and why.

        Raises ValueError for anything that is no reduction, for none, and if all are skipped.
        """
        skipped: dict[str, str] = {}
        rows: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for item in _items(reductions):
            if not isinstance(item, Reduction):
                own |= self._own(item, own, skipped)
                continue
            usual = isinstance(reductions, str)
            found = self._usual(item, reductions, skipped) if usual else self._all(item, skipped)
            rows |= {str(row): row for row in found}
        if isinstance(reductions, str) and not self.by_probability:
            means = class_means_rows(check_learner(self.estimator), len(self.classes))
            rows |= {str(row): row for row in means}
        if not rows and not own:
            reasons = " ".join(skipped.values())
            raise ValueError(
                "The 'reductions' parameter must have at least one reduction that exists for "
                f"these {len(self.classes)} classes and suits the estimator. {reasons}".rstrip()
            )
        return rows | own, skipped

    def _all(self, asked: Reduction, skipped: dict[str, str]) -> list[Reduction]:
        """Return the rows of a reduction in which * stands for all that suit."""
        plain = Reduction(asked.name)
        if reason := plain.unsuited(self.estimator):
            skipped[plain.name] = reason
            return []
        try:
            made = plain.make(self.estimator, **self.options)
        except ValueError as error:
            skipped[plain.name] = str(error)
            return []
        code = self._code(plain.name, made, skipped)
        if code is None:
            return []
        decoders = self._decoders(asked, code) if asked.decoder == ANY else [asked.decoder]
        methods = _methods(asked, code) if asked.probability == ANY else [asked.probability]
        rows = [replace(asked, decoder=d, probability=m) for d in decoders for m in methods]
        unsuited = {row: reason for row in rows if (reason := _unsuited(row, code))}
        skipped |= {str(row): reason for row, reason in unsuited.items()}
        return [row for row in rows if row not in unsuited]

    def _usual(self, plain: Reduction, which: str, skipped: dict[str, str]) -> list[Reduction]:
        """Return the rows of a reduction that are worth trying: the standard ones, or all.

        Where scores use probabilities these are several methods; otherwise "all" tries every
        decoder.
        """
        if self.by_probability:
            rows = self._all(replace(plain, probability=ANY), skipped)
            if rows and not hasattr(plain.make(self.estimator), "predict_proba"):
                skipped[plain.name] = "It has no probabilities, which the score needs."
                return []
            return [r for r in rows if which == "all" or r.probability in _STANDARD_METHODS]
        if which == "standard" or not plain.has_decoder or len(self.classes) == 2:
            return self._all(plain, skipped)
        solved = Reduction(plain.name, "probability", ANY)
        return self._all(replace(plain, decoder=ANY), skipped) + self._all(solved, skipped)

    def _decoders(self, asked: Reduction, code: Code) -> list[str]:
        """Return all decoders that differ from each other."""
        if not asked.has_decoder or code.n_classes == 2:
            return ["auto"]
        learner = check_learner(self.estimator)
        loss = minimised_loss(learner)
        rules = [rule for rule in RULES if rule != automatic_decoder(code, loss)]
        if not code.is_one_vs_one:
            rules.remove("ddag")
        means = ["class_means"] if additive_kind(learner) == "linear" else []
        return ["auto", *rules, *means, "probability"]

    def _code(self, name: str, classifier: Any, skipped: dict[str, str]) -> Code | None:
        """Return the code, or None with the reason; of classifiers without one, that of a pair.

        The code of a tree is that of a node, where all methods agree.
        """
        rng = np.random.RandomState(self.options["random_state"])
        try:
            return code_of(classifier, self.classes, rng) or _PAIR
        except CodeError as error:
            skipped[name] = str(error)
            return None

    def _own(self, item: Any, others: Mapping[str, Any], skipped: dict[str, str]) -> dict[str, Any]:
        """Return a user's own classifier by name."""
        name = " ".join(repr(item).split())
        name = name if len(name) <= _LONGEST_NAME else f"{type(item).__name__} ({len(others) + 1})"
        if self._code(name, item, skipped) is None:
            return {}
        classifier = clone(item)
        own = classifier.get_params(deep=False)
        unset = {k: v for k, v in self.options.items() if k in own and own[k] is None}
        return {_another(name, others): classifier.set_params(**unset)}


def _another(name: str, known: Mapping[str, Any]) -> str:
    """Return the name, with a number if it is known already."""
    names = (name, *(f"{name} [{n}]" for n in range(2, len(known) + 2)))
    return next(each for each in names if each not in known)


def untrained(reductions: Any, estimator: Any) -> list[Any]:
    """Return a classifier for each reduction that is asked for and that suits the estimator."""
    return [
        Reduction(item.name, probability=item.probability and "auto").make(estimator)
        if isinstance(item, Reduction)
        else item
        for item in _items(reductions)
        if not (isinstance(item, Reduction) and item.unsuited(estimator))
    ]


def _items(reductions: Any) -> Sequence[Any]:
    """Return reductions and classifiers."""
    if isinstance(reductions, str):
        return [Reduction(name) for name in available_reductions(reductions)]
    try:
        items = list(reductions)
    except TypeError:
        items = []
    if not items:
        raise ValueError(
            "The 'reductions' parameter must be 'standard', 'all' or a list of names, reductions "
            f"or classifiers that is not empty. Got {type(reductions).__name__}."
        )
    return [_item(item) for item in items]


def _item(item: Any) -> Any:
    if isinstance(item, Reduction):
        return item
    if isinstance(item, str):
        name, _, rest = item.partition(":")
        if rest.startswith(ANY) and not Reduction(name).has_decoder:
            rest = f"auto{rest[1:]}"
        return Reduction.of(f"{name}:{rest}" if rest else name)
    if isinstance(item, type) or not hasattr(item, "fit") or not is_classifier(item):
        raise ValueError(
            "The 'reductions' parameter must hold names of reductions (such as 'one_vs_rest' or "
            f"'bch:hamming'), reductions or classifiers. Got {type(item).__name__}."
        )
    return item


def _methods(asked: Reduction, code: Code) -> Sequence[str | None]:
    """Return all methods that suit a code and differ from each other."""
    if not asked.has_probability or code.n_classes == 2:
        return ["auto"]
    return ["auto", *(m for m in METHODS if m not in _SAME_METHODS and METHODS[m].suits(code))]


def _unsuited(row: Reduction, code: Code) -> str:
    """Return why a decoder or a method cannot be used with a code."""
    if code.n_classes == 2:
        return ""
    try:
        if row.decoder == "ddag":
            check_one_vs_one(code)
        if row.probability not in (None, "auto"):
            check_method(row.probability, code)
    except ValueError as error:
        return str(error)
    return ""
