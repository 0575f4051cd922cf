"""Reductions by name: what can be compared, and how each is made from a binary classifier."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from polychotomy.codes import ALIASES, available_codes
from polychotomy.decoding import RULES
from polychotomy.errors import unknown_name
from polychotomy.reductions._families import (
    Family,
    make_classifier,
    make_learned_kernel,
    make_majority,
    make_native,
    make_single_call,
    means_help,
    why_no_kernel,
    why_not_native,
    why_not_single,
)
from polychotomy.reductions._scale import Scale

if TYPE_CHECKING:
    from polychotomy.classifiers import Cost

ANY = "*"
KEYWORDS = ("standard", "all")

_STANDARD = ("one_vs_rest", "one_vs_one", "dense_random", "bch", "linkage_tree")
_TREES = {
    "linkage_tree": "linkage",
    "balanced_tree": "balanced",
    "chain": "chain",
    "ddag": "ddag",
}
# Not the orthogonal code: its rows are equally far apart, as those of the identity.
_EXTENSIONS = ("identity", "single", "hamming", "bch")
_WEIGHTS = {"sbc_kernel": "learned", "sbc_kernel_frequencies": "class_frequencies"}
_WITHOUT_RULES: dict[str, Any] = {
    "has_decoder": False,
    "has_probability": False,
    "standard": True,
}

_REDUCTIONS: dict[str, Family] = {
    **{
        name: Family(
            partial(make_classifier, kind="CodeClassifier", code=name), standard=name in _STANDARD
        )
        for name in available_codes()
    },
    **{
        name: Family(
            partial(make_classifier, kind="TreeClassifier", structure=form),
            False,
            standard=name in _STANDARD,
        )
        for name, form in _TREES.items()
    },
    **{
        f"sbc_{name}": Family(
            partial(make_classifier, kind="SingleBinaryClassifier", replication=name),
            False,
            unsuited=why_not_single,
        )
        for name in _EXTENSIONS
    },
    "sbc_ecoc": Family(make_single_call, unsuited=why_not_single),
    **{
        name: Family(partial(make_learned_kernel, weights=weights), False, unsuited=why_no_kernel)
        for name, weights in _WEIGHTS.items()
    },
    "native": Family(make_native, **_WITHOUT_RULES, unsuited=why_not_native, cost=(1.0, 1.0)),
    "majority": Family(make_majority, **_WITHOUT_RULES, baseline=True, cost=(0.0, 0.0)),
}


@dataclass(frozen=True)
class Reduction:
    """A reduction by name, with its decoder and its way to probabilities.

    Parameters
    ----------
    name : str
        One of :func:`available_reductions`, or a short form: ``"ovr"`` or ``"ova"`` for
        one_vs_rest, ``"ovo"`` or ``"all_pairs"`` for one_vs_one.
    decoder : str, default="auto"
        For codes and ``sbc_ecoc``, see :class:`~polychotomy.CodeClassifier`. In a search ``"*"``
        stands for all.
    probability : str or None, default="auto"
        The method for probabilities; None for none. In a search ``"*"`` stands for all.

    Notes
    -----
    ``native`` is the learner's own multi-class form, ``majority`` the baseline that always predicts
    the largest class.

    The names with ``sbc_`` are a single binary classifier for all classes. ``sbc_identity``,
    ``sbc_single``, ``sbc_hamming`` and ``sbc_bch`` are a
    :class:`~polychotomy.SingleBinaryClassifier` with that extension, ``sbc_ecoc`` is its scheme
    ``"single_call"`` with a BCH code. ``sbc_kernel`` and ``sbc_kernel_frequencies`` are a
    :class:`~polychotomy.KernelSBCClassifier` with learned weights, and with those of the class
    frequencies; it takes C, gamma, tol, cache_size, dtype, device and n_jobs of a
    :class:`~polychotomy.SharedKernelSVC`.

    Examples
    --------
    >>> from polychotomy.reductions import Reduction
    >>> print(Reduction.of("bch:hamming"), Reduction("ovr"))
    bch:hamming one_vs_rest
    >>> Reduction.of("bch:hamming").make(None).decoder
    'hamming'
    """

    name: str
    decoder: str = "auto"
    probability: str | None = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", ALIASES.get(self.name, self.name))
        if self.name not in _REDUCTIONS:
            raise unknown_name("reductions", self.name, list(_REDUCTIONS), ALIASES)
        if self.decoder != "auto" and not self.has_decoder:
            raise ValueError(
                f"The reduction {self.name!r} has no decoder to choose. Got {self.decoder!r}."
            )
        decoders = [*RULES, "class_means", "probability", "auto"]
        if self.decoder not in (*decoders, ANY):
            raise unknown_name("decoder", self.decoder, decoders)
        if self.probability not in (None, "auto", ANY):
            self._check_method(self.probability)
        if self.decoder == "probability" and self.probability is None:
            raise ValueError(f"The decoder 'probability' needs probabilities. Got {str(self)!r}.")

    def _check_method(self, probability: str) -> None:
        from polychotomy.probability import METHODS

        if probability not in METHODS:
            raise unknown_name("probability", probability, [*METHODS, "auto"])
        if not self._family.has_probability:
            raise ValueError(
                f"The reduction {self.name!r} has no method for probabilities to choose. "
                f"Got {probability!r}."
            )

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
        return self._family.has_decoder

    @property
    def has_probability(self) -> bool:
        """Whether there is a method for probabilities to choose."""
        return self._family.has_probability

    @property
    def cost(self) -> "Cost | None":
        """Its cost, or None if that depends on the classes."""
        from polychotomy.classifiers import Cost

        return None if self._family.cost is None else Cost(*self._family.cost)

    @property
    def _family(self) -> Family:
        return _REDUCTIONS[self.name]

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
        >>> from polychotomy.reductions import Reduction
        >>> Reduction("one_vs_one").unsuited(LogisticRegression())
        ''
        >>> Reduction("sbc_bch").unsuited(LogisticRegression())
        "The 'estimator' parameter must not be linear in its features, ..."
        """
        check = self._family.unsuited
        return "" if check is None or estimator is None else check(estimator)

    def scales(self, estimator: Any) -> Mapping[str, Scale] | None:
        """Return what the greedy search tunes with a binary classifier.

        None leaves it to :class:`~polychotomy.GreedySearchCV`, which finds gamma and C by itself.

        Examples
        --------
        >>> from sklearn.linear_model import RidgeClassifier
        >>> from polychotomy.reductions import Reduction
        >>> list(Reduction("bch").scales(RidgeClassifier()))
        ['estimator__alpha']
        """
        if self.name == "majority":
            return {}
        if type(estimator).__name__ != "RidgeClassifier":
            return None
        name = "alpha" if self.name == "native" else "estimator__alpha"
        return {name: Scale(simpler="larger")}

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
        if self.has_decoder:
            options["decoder"] = self.decoder
        return self._family.make(estimator, probability=self.probability, **options)


def available_reductions(which: str = "all") -> tuple[str, ...]:
    """Return the names of reductions.

    Parameters
    ----------
    which : {"all", "standard"}, default="all"
        All of them, or those that a comparison tries first.

    Examples
    --------
    >>> from polychotomy.reductions import available_reductions
    >>> available_reductions("standard")
    ('one_vs_rest', 'one_vs_one', 'dense_random', 'bch', 'linkage_tree', 'native', 'majority')
    """
    if which not in KEYWORDS:
        raise unknown_name("reductions", which, ["all", "standard"])
    return tuple(name for name, family in _REDUCTIONS.items() if which == "all" or family.standard)


def suitable_reductions(
    asked: str | Sequence[str], estimator: Any, n_classes: int = 0
) -> tuple[list[Reduction], dict[str, str]]:
    """Return the reductions of these names, and those that keywords leave out, with reasons.

    Parameters
    ----------
    asked : "standard", "all" or sequence of str
        Names as :class:`Reduction` writes them; keywords among them stand for all that suit.
    estimator : classifier
        The binary learner.
    n_classes : int, default=0
        With 100 classes or more, keywords stand for the class means of linear learners, too, see
        :func:`class_means_rows`.

    Examples
    --------
    >>> from polychotomy import SharedKernelSVC
    >>> from polychotomy.reductions import suitable_reductions
    >>> chosen, left_out = suitable_reductions(["bch:l1", "standard"], SharedKernelSVC())
    >>> [str(reduction) for reduction in chosen]
    ['bch:l1', 'one_vs_rest', 'one_vs_one', 'dense_random', 'bch', 'linkage_tree', 'majority']
    >>> left_out
    {'native': "... SharedKernelSVC separates two classes only."}
    """
    if isinstance(asked, str):
        available_reductions(asked)  # raises unless it is a keyword
    chosen: dict[Reduction, None] = {}
    left_out = {}
    for name in [asked] if isinstance(asked, str) else asked:
        if name not in KEYWORDS:
            chosen[Reduction.of(name)] = None
            continue
        for reduction in map(Reduction, available_reductions(name)):
            if reason := reduction.unsuited(estimator):
                left_out[reduction.name] = reason
            else:
                chosen[reduction] = None
        chosen |= dict.fromkeys(class_means_rows(estimator, n_classes))
    return list(chosen), left_out


def class_means_rows(estimator: Any, n_classes: int) -> list[Reduction]:
    """Return the codes with the decoder "class_means" that are worth trying.

    These are few: a dense code of a linear learner, and one-vs-rest by least squares, from 100
    classes on.

    Parameters
    ----------
    estimator : classifier
        The binary learner.
    n_classes : int

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression, RidgeClassifier
    >>> from polychotomy.reductions import class_means_rows
    >>> [str(row) for row in class_means_rows(RidgeClassifier(), 300)]
    ['one_vs_rest:class_means', 'dense_random:class_means']
    >>> [str(row) for row in class_means_rows(LogisticRegression(), 300)]
    ['dense_random:class_means']
    >>> class_means_rows(RidgeClassifier(), 10)
    []
    """
    return [Reduction(name, "class_means") for name in means_help(estimator, n_classes)]


def is_baseline(name: str) -> bool:
    """Whether a reduction is a baseline, which is never recommended.

    Examples
    --------
    >>> from polychotomy.reductions import is_baseline
    >>> is_baseline("majority"), is_baseline("bch:hamming")
    (True, False)
    """
    family = _REDUCTIONS.get(name.partition(":")[0])
    return family is not None and family.baseline
