"""What a comparison compares: classifiers under the names that tables give them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from polychotomy.choose import Reduction, Scale, available_reductions
from polychotomy.errors import unknown_name
from polychotomy.lab._bases import available_bases, base_scales, make_base
from polychotomy.lab._cells import digest, function_name, parameters_of

KEYWORDS = ("standard", "all")


@dataclass(frozen=True, eq=False)
class Method:
    """An untrained classifier under the names that tables give it.

    Attributes
    ----------
    reduction, base : str
        How it is called: :class:`~polychotomy.choose.Reduction` and binary learner, or what a paper
        calls them.
    classifier : classifier
        Untrained, with its random state.
    scales : mapping of str to Scale or None
        What the greedy search tunes; None leaves it to :class:`~polychotomy.GreedySearchCV`, which
        finds gamma and C by itself.
    tuned_as : classifier or None
        Whose tuned parameters it takes; None for its own.
    measure : callable or None
        ``measure(trained, X_test, y_test)`` returns further metrics by name. Defined in a module,
        so that worker processes find it.

    Examples
    --------
    >>> from polychotomy import CodeClassifier, SharedKernelSVC
    >>> from polychotomy.lab import Method
    >>> method = Method("OVA", "svm", CodeClassifier(SharedKernelSVC(), "one_vs_rest"))
    >>> method.parameters["code"]
    'one_vs_rest'
    """

    reduction: str
    base: str
    classifier: Any
    scales: Mapping[str, Scale] | None = None
    tuned_as: Any = None
    measure: Callable[[Any, Any, Any], Mapping[str, float]] | None = None

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
    def training(self) -> str:
        """The same for methods that differ in rules or measures alone."""
        shared = {name: value for name, value in self.parameters.items() if name != "measure"}
        if self.rules is not None:
            shared["probability"] = shared["probability"] is not None
            del shared["decoder"]
        return digest([self.base, shared])

    @property
    def rules(self) -> dict[str, Any] | None:
        """Its decoder and its way to probabilities; None if they cannot be changed afterwards."""
        from polychotomy.classifiers import CodeClassifier

        if type(self.classifier) is not CodeClassifier:
            return None
        return {"decoder": self.classifier.decoder, "method": self.classifier.probability}

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
    def tuning(self) -> str:
        """The same for methods that take their parameters from one search."""
        tuned = self.to_tune
        return digest([self.base, type(tuned).__qualname__, parameters_of(tuned), self.search])

    def with_rules(self, trained: Any) -> Any:
        """Return a classifier that was trained for a method of the same training as this one."""
        from polychotomy.classifiers._views import with_rules

        return trained if self.rules is None else with_rules(trained, **self.rules)

    @property
    def to_tune(self) -> Any:
        """The classifier that the search tunes, without probabilities where it can do without."""
        from polychotomy.classifiers._views import without_probabilities

        return without_probabilities(self.classifier if self.tuned_as is None else self.tuned_as)


def name_methods(
    reductions: str | Sequence[str], bases: Sequence[str], seed: int, *, tuned: bool = False
) -> list[Method]:
    """Return reductions × bases by their names.

    Parameters
    ----------
    reductions : "standard", "all" or sequence of str
        As :class:`~polychotomy.choose.Reduction` writes them; "standard" and "all", which may also
        stand in the sequence, without those that a base does not suit.
    bases : sequence of str
        Of :func:`~polychotomy.lab.available_bases`.
    seed : int
        Random state of the classifiers.
    tuned : bool, default=False
        Whether they are to be tuned: bases without anything to tune are refused.
    """
    names = [reductions] if isinstance(reductions, str) else reductions
    if isinstance(reductions, str):
        available_reductions(reductions)  # raises unless it is one of the two
    if not names or not bases:
        raise ValueError("A comparison needs at least one reduction and one base.")
    for base in bases:
        if base not in available_bases():
            raise unknown_name("base", base, available_bases())
    return [
        Method(
            str(reduction),
            base,
            reduction.make(make_base(base), random_state=seed),
            base_scales(base) if tuned else None,
        )
        for base in dict.fromkeys(bases)
        for reduction in _that_suit(names, base)
    ]


def _that_suit(names: Sequence[str], base: str) -> list[Reduction]:
    """Return the reductions of these names, of "standard" and "all" those that suit the base."""
    chosen: dict[Reduction, None] = {}
    for name in names:
        if name in KEYWORDS:
            known = (Reduction(each) for each in available_reductions(name))
            chosen |= {each: None for each in known if not each.unsuited(make_base(base))}
        else:
            chosen[Reduction.of(name)] = None
    return list(chosen)
