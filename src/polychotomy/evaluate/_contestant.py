"""What a comparison compares: classifiers under the names that tables give them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from polychotomy.classifiers import Cost, has_rules, with_rules, without_probabilities
from polychotomy.errors import unknown_name
from polychotomy.evaluate._naming import digest, function_name, parameters_of
from polychotomy.reductions import (
    Reduction,
    Scale,
    available_bases,
    base_scales,
    make_base,
    suitable_reductions,
)


@dataclass(frozen=True, eq=False)
class Contestant:
    """An untrained classifier under the names that tables give it.

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
    group : int or None
        Contestants with the same number are trained once; by default those whose parameters differ
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
    group: int | None = None

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
        if not has_rules(self.classifier):
            return None
        return getattr(self.classifier, "decoder", "auto"), self.classifier.probability

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
        if self.rules is None or self.rules == (
            getattr(trained, "decoder", "auto"),
            trained.probability,
        ):
            return trained
        return with_rules(trained, *self.rules)

    @property
    def is_tuned(self) -> bool:
        """Whether there is anything to tune."""
        return self.scales is None or bool(self.scales)

    @property
    def to_tune(self) -> Any:
        """The classifier that the search tunes, without probabilities where it can do without."""
        return without_probabilities(self.classifier if self.tuned_as is None else self.tuned_as)


def trained_for(contestants: Sequence[Contestant]) -> Any:
    """Return the untrained classifier that all contestants of one training can be read from.

    If they differ in their rules, it has rules that suit every code, so that a contestant whose
    rules do not suit fails alone.
    """
    from sklearn.base import clone

    classifier = contestants[0].classifier
    rules = {each.rules for each in contestants}
    if len(rules) == 1:
        return classifier
    served = clone(classifier)
    if "decoder" in served.get_params(deep=False):
        served.set_params(decoder="auto")
    several_ways = len({each.rules[1] for each in contestants if each.rules is not None}) > 1
    return served.set_params(probability="auto") if several_ways else served


def name_contestants(
    reductions: str | Sequence[str], bases: Sequence[str], seed: int, *, tuned: bool = False
) -> list[Contestant]:
    """Return reductions × bases by their names.

    Parameters
    ----------
    reductions : "standard", "all" or sequence of str
        As :class:`~polychotomy.reductions.Reduction` writes them; "standard" and "all", which may
        be in the sequence, too, stand for those that suit a base.
    bases : sequence of str
        Of :func:`~polychotomy.reductions.available_bases`.
    seed : int
        Random state of the classifiers.
    tuned : bool, default=False
        Whether they are to be tuned: bases without anything to tune are refused.
    """
    if not reductions or not bases:
        raise ValueError("A comparison needs at least one reduction and one base.")
    for base in bases:
        if base not in available_bases():
            raise unknown_name("base", base, available_bases())
    return [
        Contestant(
            str(reduction),
            base,
            reduction.make(make_base(base), random_state=seed),
            scales_within(reduction, base_scales(base)) if tuned else None,
            cost=reduction.cost,
        )
        for base in dict.fromkeys(bases)
        for reduction in suitable_reductions(reductions, make_base(base))[0]
    ]


def scales_within(
    reduction: Reduction, scales: Mapping[str, Scale] | None
) -> Mapping[str, Scale] | None:
    """Return the scales under the names that the parameters have in a reduction's classifier."""
    if reduction.name == "majority":
        return {}
    if reduction.name == "native" and scales is not None:
        return {name.removeprefix("estimator__"): scale for name, scale in scales.items()}
    return scales
