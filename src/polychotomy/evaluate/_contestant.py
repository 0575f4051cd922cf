"""The classifiers in a comparison, under the names used in tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sklearn.base import clone

from polychotomy.classifiers import Cost, has_rules, with_rules, without_probabilities
from polychotomy.evaluate._naming import digest, function_name, parameters_of
from polychotomy.reductions import (
    Reduction,
    Scale,
    available_bases,
    make_base,
    suitable_reductions,
)


@dataclass(frozen=True, eq=False)
class Contestant:
    """An untrained classifier under the names used in tables.

    Attributes
    ----------
    reduction, base : str
        What it is called: :class:`~polychotomy.reductions.Reduction` and binary learner, or what a
        paper calls them.
    classifier : classifier
        Untrained, with its random state.
    scales : mapping of str to Scale or None
        What the greedy search tunes; None leaves it to :class:`~polychotomy.GreedySearchCV`, which
        finds gamma and C by itself. If empty, nothing is tuned.
    tuned_as : classifier or None
        Whose tuned parameters it takes; None for its own.
    measure : callable or None
        ``measure(trained, X_test, y_test)`` returns further metrics by name. Defined in a module,
        so that worker processes find it.
    cost : Cost or None
        What it costs; None if that is counted when it is trained.
    group : hashable or None
        Contestants of the same group are trained once; by default those whose parameters differ
        only in decoder and way to probabilities.

    Examples
    --------
    >>> from polychotomy import CodeClassifier, SharedKernelSVC
    >>> from polychotomy.evaluate import Contestant
    >>> contestant = Contestant("OVA", "svm", CodeClassifier(SharedKernelSVC(), "one_vs_rest"))
    >>> contestant.parameters["code"]
    'one_vs_rest'
    """

    reduction: str
    base: str
    classifier: Any
    scales: Mapping[str, Scale] | None = None
    tuned_as: Any = None
    measure: Callable[[Any, Any, Any], Mapping[str, float]] | None = None
    cost: Cost | None = None
    group: Any = None

    @classmethod
    def of(cls, reduction: Reduction, estimator: Any, base: str, **options: Any) -> "Contestant":
        """Return a reduction by its name, made with `options` of a binary learner."""
        made, scales = reduction.make(estimator, **options), reduction.scales(estimator)
        return cls(str(reduction), base, made, scales, cost=reduction.cost)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """All parameters that can change its results, as JSON can hold them."""
        found = {"classifier": type(self.classifier).__qualname__, **parameters_of(self.classifier)}
        if self.tuned_as is not None:
            found["tuned_as"] = parameters_of(self.tuned_as)
            if type(self.tuned_as) is not type(self.classifier):
                found["tuned_as"]["classifier"] = type(self.tuned_as).__qualname__
        if self.measure is not None:
            found["measure"] = function_name(self.measure)
        return found

    @cached_property
    def training(self) -> Any:
        """The same for contestants that are trained once: all but rules and measures agree."""
        if self.group is not None:
            return self.group
        shared = {name: value for name, value in self.parameters.items() if name != "measure"}
        if self.rules is not None:
            shared["probability"] = shared["probability"] is not None
            shared.pop("decoder", None)
        return digest([self.base, shared])

    @property
    def rules(self) -> tuple[str, Any] | None:
        """Its decoder and its way to probabilities; None if they cannot be changed afterwards."""
        return _rules(self.classifier)

    @cached_property
    def search(self) -> list[Any] | None:
        """What the greedy search tunes, in its order, as JSON can hold it; None as in `scales`."""
        if self.scales is None:
            return None
        return [
            [name, scale.start, scale.simpler, scale.value and function_name(scale.value)]
            for name, scale in self.scales.items()
        ]

    @cached_property
    def tuning(self) -> Any:
        """The same for contestants that take their parameters from one search."""
        if self.group is not None:
            return self.group
        tuned = self.to_tune
        return digest([self.base, type(tuned).__qualname__, parameters_of(tuned), self.search])

    def read(self, trained: Any) -> Any:
        """Return a classifier that was trained for the same group, with this one's rules."""
        if self.rules in (None, _rules(trained)):
            return trained
        return with_rules(trained, *self.rules)

    @property
    def to_tune(self) -> Any:
        """The classifier that the search tunes, without probabilities where it can do without."""
        return without_probabilities(self.classifier if self.tuned_as is None else self.tuned_as)


def _rules(classifier: Any) -> Any:
    if not has_rules(classifier):
        return None
    return getattr(classifier, "decoder", "auto"), classifier.probability


def trained_for(contestants: Sequence[Contestant]) -> Any:
    """Return the untrained classifier that all contestants of one training can be read from.

    If they differ in their rules, it has rules that suit every code, so that a contestant whose
    rules do not suit fails alone; class means if one of them needs them, since they are found in
    training.
    """
    served = clone(contestants[0].classifier)
    rules = {each.rules for each in contestants}
    if len(rules) == 1:
        return served
    if "decoder" in served.get_params(deep=False):
        means = any(each is not None and each[0] == "class_means" for each in rules)
        served.set_params(decoder="class_means" if means else "auto")
    several_ways = len({each[1] for each in rules if each is not None}) > 1
    return served.set_params(probability="auto") if several_ways else served


def name_contestants(
    reductions: str | Sequence[str],
    bases: Sequence[str],
    seed: int,
    *,
    tuned: bool = False,
    class_order: str | None = None,
    n_classes: int = 0,
) -> list[Contestant]:
    """Return reductions × bases by their names, with a seed as their random state.

    If they are to be tuned, bases without anything to tune are refused. For `n_classes` see
    :func:`~polychotomy.reductions.suitable_reductions`.
    """
    if not reductions or not bases:
        raise ValueError("A comparison needs at least one reduction and one base.")
    learners = {base: make_base(base) for base in bases}
    for base in learners:
        if tuned and base not in available_bases(tunable=True):
            raise ValueError(
                f"The base {base!r} has nothing for the greedy search to tune. Take one of "
                f"{', '.join(available_bases(tunable=True))}, or no tuning."
            )
    return [
        Contestant.of(reduction, learner, base, random_state=seed, class_order=class_order)
        for base, learner in learners.items()
        for reduction in suitable_reductions(reductions, learner, n_classes)[0]
    ]


def search_contestants(rows: Mapping[str, Any], estimator: Any, **options: Any) -> list[Contestant]:
    """Return the rows of a search, by name: reductions made of a learner, or classifiers.

    Those that can be read from one training are in one group. Rows without probabilities are
    trained separately: they need no calibration.
    """
    base, found = type(estimator).__name__, []
    for label, row in rows.items():
        if not isinstance(row, Reduction):
            found.append(Contestant(label, base, row, group=label))
            continue
        made = Contestant.of(row, estimator, base, **options)
        decoder = None if hasattr(made.classifier, "decoder") else row.decoder
        found.append(replace(made, group=(row.name, row.probability is None, decoder)))
    return found
