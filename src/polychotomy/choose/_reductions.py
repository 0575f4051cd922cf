"""Reductions by name: what can be compared, and how each is made from a binary classifier."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from polychotomy.classifiers import CodeClassifier, TreeClassifier
from polychotomy.codes import available_codes
from polychotomy.errors import unknown_name


@dataclass(frozen=True)
class _Family:
    """How reductions of a kind are made; `standard` are those that are worth trying first."""

    make: Callable[..., Any]
    has_decoder: bool = True
    standard: bool = False


def _code(name: str) -> Callable[..., Any]:
    return lambda estimator, **options: CodeClassifier(estimator, name, **options)


def _tree(structure: str) -> Callable[..., Any]:
    return lambda estimator, **options: TreeClassifier(estimator, structure, **options)


_STANDARD_CODES = ("one_vs_rest", "one_vs_one", "dense_random", "bch")

_REDUCTIONS: dict[str, _Family] = {
    **{name: _Family(_code(name), standard=name in _STANDARD_CODES) for name in available_codes()},
    "linkage_tree": _Family(_tree("linkage"), has_decoder=False, standard=True),
    "balanced_tree": _Family(_tree("balanced"), has_decoder=False),
    "chain": _Family(_tree("chain"), has_decoder=False),
    "ddag": _Family(_tree("ddag"), has_decoder=False),
}


@dataclass(frozen=True)
class Reduction:
    """A reduction by name, with its decoder and its way to probabilities.

    Parameters
    ----------
    name : str
        One of :func:`available_reductions`.
    decoder : str, default="auto"
        For codes, see :class:`~polychotomy.CodeClassifier`.
    probability : str or None, default="auto"
        The method for probabilities; None for none.

    Examples
    --------
    >>> from polychotomy.choose import Reduction
    >>> print(Reduction.of("bch:hamming"))
    bch:hamming
    >>> Reduction.of("bch:hamming").make(None).decoder
    'hamming'
    """

    name: str
    decoder: str = "auto"
    probability: str | None = "auto"

    def __post_init__(self) -> None:
        if self.name not in _REDUCTIONS:
            raise unknown_name("reductions", self.name, list(_REDUCTIONS))
        if self.decoder != "auto" and not self.has_decoder:
            raise ValueError(
                f"The reduction {self.name!r} has no decoder to choose. Got {self.decoder!r}."
            )

    @classmethod
    def of(cls, text: str) -> "Reduction":
        """Return the reduction of "name", "name:decoder" or "name:decoder:probability".

        The last may be None, for no probabilities.
        """
        name, *rest = text.split(":", 2)
        decoder, probability = [*rest, "auto", "auto"][:2]
        return cls(name, decoder or "auto", None if probability == "None" else probability)

    @property
    def has_decoder(self) -> bool:
        """Whether there is a decoder to choose."""
        return _REDUCTIONS[self.name].has_decoder

    def __str__(self) -> str:
        parts = [self.name, self.decoder, str(self.probability)]
        while len(parts) > 1 and parts[-1] == "auto":
            parts.pop()
        return ":".join(parts)

    def make(self, estimator: Any, **options: Any) -> Any:
        """Return the untrained classifier.

        Parameters
        ----------
        estimator : classifier or None
            The binary classifier; None for the default.
        **options
            Further parameters, such as ``n_jobs`` and ``random_state``.
        """
        family = _REDUCTIONS[self.name]
        if family.has_decoder:
            options["decoder"] = self.decoder
        return family.make(estimator, probability=self.probability, **options)


def available_reductions(which: str = "all") -> tuple[str, ...]:
    """Return the names of reductions: ``"all"``, or the ``"standard"`` ones.

    Examples
    --------
    >>> from polychotomy.choose import available_reductions
    >>> available_reductions("standard")
    ('one_vs_rest', 'one_vs_one', 'dense_random', 'bch', 'linkage_tree')
    """
    if which not in ("all", "standard"):
        raise unknown_name("reductions", which, ["all", "standard"])
    return tuple(name for name, family in _REDUCTIONS.items() if which == "all" or family.standard)
