"""Reductions by name: what can be compared, and how each is made from a binary classifier."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from polychotomy.classifiers import (
    CodeClassifier,
    KernelSBCClassifier,
    SingleBinaryClassifier,
    TreeClassifier,
)
from polychotomy.classifiers._additive import why_not_replicated
from polychotomy.codes import available_codes
from polychotomy.decoding import RULES
from polychotomy.errors import unknown_name
from polychotomy.kernel import SharedKernelSVC
from polychotomy.probability import METHODS

ANY = "*"


def _suits(estimator: Any) -> str:
    return ""


@dataclass(frozen=True)
class _Family:
    """How reductions of a kind are made; `standard` are those that are worth trying first.

    `unsuited` says why a binary classifier cannot be used, if it cannot.
    """

    make: Callable[..., Any]
    has_decoder: bool = True
    standard: bool = False
    unsuited: Callable[[Any], str] = _suits


def _code(name: str) -> Callable[..., Any]:
    return lambda estimator, **options: CodeClassifier(estimator, name, **options)


def _tree(structure: str) -> Callable[..., Any]:
    return lambda estimator, **options: TreeClassifier(estimator, structure, **options)


def _replicas(extension: str) -> _Family:
    def make(estimator: Any, **options: Any) -> Any:
        return SingleBinaryClassifier(estimator, extension, decoder="auto", **options)

    return _Family(make, has_decoder=False, unsuited=_why_not_replicated)


def _single_call(estimator: Any, **options: Any) -> Any:
    return SingleBinaryClassifier(estimator, "bch", "single_call", **options)


def _why_not_replicated(estimator: Any) -> str:
    return "" if estimator is None else why_not_replicated(estimator)


def _learned_kernel(weights: str) -> _Family:
    def make(estimator: Any, **options: Any) -> Any:
        reason = _why_no_kernel(estimator)
        if reason:
            raise ValueError(reason)
        options.pop("random_state", None)  # there is nothing random in it
        svm = SharedKernelSVC() if estimator is None else estimator
        taken = {
            "C": svm.C,
            "gamma": svm.gamma,
            "svm_tol": svm.tol,
            "cache_size": svm.cache_size,
            "dtype": svm.dtype,
        }
        if options.get("n_jobs") is None:
            options["n_jobs"] = svm.n_jobs
        return KernelSBCClassifier(**taken, weights=weights, **options)

    return _Family(make, has_decoder=False, unsuited=_why_no_kernel)


def _why_no_kernel(estimator: Any) -> str:
    """Return why the kernel of an SVM cannot be learned together with it."""
    if estimator is None:
        return ""
    wanted = "The 'estimator' parameter must be a SharedKernelSVC"
    if not isinstance(estimator, SharedKernelSVC):
        return (
            f"{wanted} for a reduction that learns the SVM's kernel with it, and of which it takes "
            f"C and gamma. Got {type(estimator).__name__}."
        )
    given = estimator.get_params(deep=False)
    for name, value in (("kernel", "rbf"), ("class_weight", None), ("max_iter", -1)):
        if given[name] is not value and given[name] != value:
            return (
                f"{wanted} with {name}={value!r} for a reduction that learns the SVM's kernel with "
                f"it: KernelSBCClassifier knows no other. Got {given[name]!r}."
            )
    return ""


_STANDARD_CODES = ("one_vs_rest", "one_vs_one", "dense_random", "bch")
# Not the orthogonal code: its rows are equally far apart, as those of the identity.
_EXTENSIONS = ("identity", "single", "hamming", "bch")

_REDUCTIONS: dict[str, _Family] = {
    **{name: _Family(_code(name), standard=name in _STANDARD_CODES) for name in available_codes()},
    "linkage_tree": _Family(_tree("linkage"), has_decoder=False, standard=True),
    "balanced_tree": _Family(_tree("balanced"), has_decoder=False),
    "chain": _Family(_tree("chain"), has_decoder=False),
    "ddag": _Family(_tree("ddag"), has_decoder=False),
    **{f"sbc_{name}": _replicas(name) for name in _EXTENSIONS},
    "sbc_ecoc": _Family(_single_call, unsuited=_why_not_replicated),
    "sbc_kernel": _learned_kernel("learned"),
    "sbc_kernel_frequencies": _learned_kernel("class_frequencies"),
}


@dataclass(frozen=True)
class Reduction:
    """A reduction by name, with its decoder and its way to probabilities.

    Parameters
    ----------
    name : str
        One of :func:`available_reductions`.
    decoder : str, default="auto"
        For codes and ``sbc_ecoc``, see :class:`~polychotomy.CodeClassifier`. In a search ``"*"``
        stands for all.
    probability : str or None, default="auto"
        The method for probabilities; None for none. In a search ``"*"`` stands for all.

    Notes
    -----
    The names with ``sbc_`` are a single binary classifier for all classes. ``sbc_identity``,
    ``sbc_single``, ``sbc_hamming`` and ``sbc_bch`` are a
    :class:`~polychotomy.SingleBinaryClassifier` with that extension, ``sbc_ecoc`` is its scheme
    ``"single_call"`` with a BCH code. ``sbc_kernel`` and ``sbc_kernel_frequencies`` are a
    :class:`~polychotomy.KernelSBCClassifier` with learned weights, and with those of the class
    frequencies; it takes C, gamma, tol, cache_size, dtype and n_jobs of a
    :class:`~polychotomy.SharedKernelSVC`.

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
        decoders = [*RULES, "probability", "auto"]
        if self.decoder not in (*decoders, ANY):
            raise unknown_name("decoder", self.decoder, decoders)
        methods = [*METHODS, "auto"]
        if self.probability is not None and self.probability not in (*methods, ANY):
            raise unknown_name("probability", self.probability, methods)
        if self.decoder == "probability" and self.probability is None:
            raise ValueError(f"The decoder 'probability' needs probabilities. Got {str(self)!r}.")

    @classmethod
    def of(cls, text: str) -> "Reduction":
        """Return the reduction of "name", "name:decoder" or "name:decoder:probability".

        The last may be None, for no probabilities. What is left empty is "auto".
        """
        name, *rest = text.split(":", 2)
        decoder, probability = [each or "auto" for each in [*rest, "", ""][:2]]
        return cls(name, decoder, None if probability == "None" else probability)

    @property
    def has_decoder(self) -> bool:
        """Whether there is a decoder to choose."""
        return _REDUCTIONS[self.name].has_decoder

    def __str__(self) -> str:
        parts = [self.name, self.decoder, str(self.probability)]
        while len(parts) > 1 and parts[-1] == "auto":
            parts.pop()
        return ":".join(parts)

    def unsuited(self, estimator: Any) -> str:
        """Return why it cannot be made of a binary classifier, "" if it can.

        Parameters
        ----------
        estimator : classifier or None
            The binary classifier; None for the default, which suits.

        Returns
        -------
        reason : str
            A sentence or two.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from polychotomy.choose import Reduction
        >>> Reduction("one_vs_one").unsuited(LogisticRegression())
        ''
        >>> Reduction("sbc_bch").unsuited(LogisticRegression())
        "The 'estimator' parameter must not be linear in its features, ..."
        """
        return _REDUCTIONS[self.name].unsuited(estimator)

    def make(self, estimator: Any, **options: Any) -> Any:
        """Return the untrained classifier.

        Parameters
        ----------
        estimator : classifier or None
            The binary classifier; None for the default.
        **options
            Further parameters, such as ``n_jobs`` and ``random_state``.

        Raises
        ------
        ValueError
            With ``"*"`` for the decoder or the probabilities; by ``sbc_kernel`` and
            ``sbc_kernel_frequencies`` for a binary classifier other than a SharedKernelSVC with
            the kernel rbf. Other reductions that it does not suit refuse it when they are trained.
        """
        if ANY in (self.decoder, self.probability):
            raise ValueError(
                f"In {str(self)!r} the * stands for all that there are, which a ReductionSearchCV "
                "tries. Name one to make a classifier."
            )
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
