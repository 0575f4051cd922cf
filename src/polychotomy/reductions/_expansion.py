"""From what a user asks for to the classifiers to train, and how each can be read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from polychotomy.classifiers import (
    CodeClassifier,
    Cost,
    code_of,
    has_rules,
)
from polychotomy.codes import Code, one_vs_one
from polychotomy.decoding import RULES, check_one_vs_one
from polychotomy.errors import CodeError, unknown_name
from polychotomy.learners import check_learner, minimised_loss
from polychotomy.probability import METHODS, check_method
from polychotomy.readout import automatic_decoder
from polychotomy.reductions._registry import ANY, KEYWORDS, Reduction, available_reductions

_SAME_METHODS = ("prob 1-r", "prob 1-1")
_PAIR = one_vs_one(2)
_STANDARD_METHODS = ("auto", "least_squares", "normalise", "coupling")


@dataclass(frozen=True)
class Reading:
    """A decoder and a method for probabilities; None leaves them as they were trained."""

    label: str
    decoder: str | None = None
    probability: str | None = None


@dataclass(frozen=True, eq=False)
class Candidate:
    """A classifier that is trained once, and how it can then be read.

    Attributes
    ----------
    name : str
        The reduction.
    classifier : classifier
        Not trained.
    readings : tuple of Reading
    cost : Cost or None
        What it costs, where that is known beforehand.
    """

    name: str
    classifier: Any
    readings: tuple[Reading, ...]
    cost: Cost | None = None

    def made(self, reading: Reading) -> Any:
        """Return the untrained classifier of one reading."""
        made = clone(self.classifier)
        if reading.decoder is not None and has_rules(made):
            made.set_params(probability=reading.probability)
            if "decoder" in made.get_params(deep=False):
                made.set_params(decoder=reading.decoder)
        return made


@dataclass(frozen=True)
class Expansion:
    """Turns what a user asks for into candidates.

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

    def of(self, reductions: Any) -> tuple[list[Candidate], dict[str, str]]:
        """Return the candidates, and the reductions that do not exist here with the reasons.

        Raises ValueError for anything that is no reduction, for none, and if all are skipped.
        """
        skipped: dict[str, str] = {}
        rows: list[Reduction] = []
        own: list[Candidate] = []
        for item in _items(reductions):
            if isinstance(item, Reduction):
                rows.extend(self._rows(item, skipped))
            elif isinstance(reductions, str):
                rows.extend(self._usual_rows(item, reductions, skipped))
            else:
                own.extend(self._own(item, len(own), skipped))
        candidates = [*self._grouped(dict.fromkeys(rows)), *own]
        if not candidates:
            reasons = " ".join(skipped.values())
            raise ValueError(
                "The 'reductions' parameter must have at least one reduction that exists for "
                f"these {len(self.classes)} classes and suits the estimator. {reasons}".rstrip()
            )
        return candidates, skipped

    def _rows(self, asked: Reduction, skipped: dict[str, str]) -> Iterable[Reduction]:
        """Return the rows of a reduction that a user wrote down, in which * stands for all."""
        code = self._code(asked.name, skipped)
        if code is None:
            return []
        decoders = self._decoders(asked, code) if asked.decoder == ANY else [asked.decoder]
        methods: list[str | None] = [asked.probability]
        if asked.probability == ANY:
            methods = [*_methods(code)] if asked.has_probability else ["auto"]
        rows = []
        for row in (replace(asked, decoder=d, probability=m) for d in decoders for m in methods):
            reason = _unsuited(row, code)
            if reason:
                skipped[str(row)] = reason
            else:
                rows.append(row)
        return rows

    def _usual_rows(self, name: str, which: str, skipped: dict[str, str]) -> list[Reduction]:
        """Return the rows of a reduction that are worth trying: the standard ones, or all.

        Where scores use probabilities these are several methods; otherwise "all" tries every
        decoder.
        """
        code = self._code(name, skipped)
        if code is None:
            return []
        asked = Reduction(name)
        methods = _methods(code) if asked.has_probability else ["auto"]
        if self.by_probability:
            if not hasattr(asked.make(self.estimator), "predict_proba"):
                skipped[name] = "It has no probabilities, which the score needs."
                return []
            tried = [m for m in methods if which == "all" or m in _STANDARD_METHODS]
            return [Reduction(name, "auto", method) for method in tried]
        if which == "standard":
            return [asked]
        decoders = self._decoders(asked, code)
        rows = [Reduction(name, decoder) for decoder in decoders]
        if "probability" in decoders:
            rows += [Reduction(name, "probability", method) for method in methods]
        return rows

    def _decoders(self, asked: Reduction, code: Code) -> list[str]:
        """Return all decoders that differ from each other."""
        if not asked.has_decoder or code.n_classes == 2:
            return ["auto"]
        loss = minimised_loss(check_learner(self.estimator))
        rules = [rule for rule in RULES if rule != automatic_decoder(code, loss)]
        if not code.is_one_vs_one:
            rules.remove("ddag")
        return ["auto", *rules, "probability"]

    def _code(self, name: str, skipped: dict[str, str]) -> Code | None:
        """Return the code of a reduction; for trees that of a node, where all methods agree."""
        reason = Reduction(name).unsuited(self.estimator)
        if reason:
            skipped[name] = reason
            return None
        return self._resolved(name, Reduction(name).make(self.estimator, **self.options), skipped)

    def _resolved(self, name: str, classifier: Any, skipped: dict[str, str]) -> Code | None:
        """Return the code, or None with the reason; of classifiers without one, that of a pair."""
        rng = np.random.RandomState(self.options["random_state"])
        try:
            return code_of(classifier, self.classes, rng) or _PAIR
        except CodeError as error:
            skipped[name] = str(error)
            return None

    def _own(self, item: Any, number: int, skipped: dict[str, str]) -> list[Candidate]:
        """Return a user's own classifier as a candidate."""
        name = " ".join(repr(item).split())
        name = name if len(name) <= 80 else f"{type(item).__name__} ({number + 1})"
        if self._resolved(name, item, skipped) is None:
            return []
        classifier = clone(item)
        own = classifier.get_params(deep=False)
        unset = {k: v for k, v in self.options.items() if k in own and own[k] is None}
        return [Candidate(name, classifier.set_params(**unset), (Reading(name),))]

    def _grouped(self, rows: Iterable[Reduction]) -> list[Candidate]:
        """Put rows together that need one training.

        Those without probabilities are trained separately: they need no calibration.
        """
        groups: dict[tuple[Any, ...], list[Reduction]] = {}
        for row in rows:
            together = has_rules(row.make(self.estimator))
            key = (row.name, row.probability is None, None if together else row)
            groups.setdefault(key, []).append(row)
        candidates = []
        for (name, bare, alone), members in groups.items():
            trained = alone or Reduction(name, probability=None if bare else "auto")
            made = trained.make(self.estimator, **self.options)
            read = tuple(Reading(str(row), row.decoder, row.probability) for row in members)
            candidates.append(Candidate(name, made, read, Reduction(name).cost))
        return candidates


def untrained(reductions: Any, estimator: Any) -> list[Any]:
    """Return a classifier for each reduction that is asked for, as far as it was written down.

    Those that the estimator does not suit are left out.
    """
    return [
        replace(item, decoder="auto", probability=_known(item.probability)).make(estimator)
        if isinstance(item, Reduction)
        else CodeClassifier(estimator)
        if isinstance(item, str)
        else item
        for item in _items(reductions)
        if not (isinstance(item, Reduction) and item.unsuited(estimator))
    ]


def _known(method: str | None) -> str | None:
    return "auto" if method == ANY else method


def _items(reductions: Any) -> Sequence[Any]:
    """Return names (of a keyword), reductions and classifiers."""
    if isinstance(reductions, str):
        if reductions not in KEYWORDS:
            raise unknown_name("reductions", reductions, KEYWORDS)
        return available_reductions(reductions)
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


def _methods(code: Code) -> list[str]:
    """Return all methods that suit a code and differ from each other."""
    if code.n_classes == 2:
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
