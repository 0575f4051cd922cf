"""How each family of reductions is made, and which binary learners suit it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from polychotomy.classifiers import (
    CodeClassifier,
    Cost,
    KernelSBCClassifier,
    SingleBinaryClassifier,
    TreeClassifier,
)
from polychotomy.kernel import SharedKernelSVC
from polychotomy.learners import SingleCall, check_learner, why_not_replicated
from polychotomy.reductions._bases import make_base


def _suits(estimator: Any) -> str:
    return ""


@dataclass(frozen=True)
class Family:
    """How reductions of a kind are made.

    Attributes
    ----------
    make : callable
        ``make(estimator, **options)`` returns the untrained classifier.
    has_decoder, has_probability : bool
        Whether there is a decoder, or a method for probabilities, to choose.
    standard : bool
        Whether it is worth trying first.
    baseline : bool
        Whether it is only there to be compared with, and is never recommended.
    unsuited : callable
        Returns why a binary learner cannot be used, "" if it can.
    cost : Cost or None
        What it costs; None if that is counted when it is trained.
    """

    make: Callable[..., Any]
    has_decoder: bool = True
    has_probability: bool = True
    standard: bool = False
    baseline: bool = False
    unsuited: Callable[[Any], str] = _suits
    cost: Cost | None = None


def code_family(name: str, standard: bool) -> Family:
    """Return the family of a flat code."""
    return Family(
        lambda estimator, **options: CodeClassifier(estimator, name, **options), standard=standard
    )


def tree_family(structure: str, standard: bool = False) -> Family:
    """Return the family of a tree or a DDAG."""
    return Family(
        lambda estimator, **options: TreeClassifier(estimator, structure, **options),
        has_decoder=False,
        standard=standard,
    )


def replicated_family(extension: str) -> Family:
    """Return the family of a single binary classifier on concatenated replicas."""

    def make(estimator: Any, **options: Any) -> Any:
        return SingleBinaryClassifier(estimator, extension, **options)

    return Family(make, has_decoder=False, unsuited=_why_not_replicated)


def single_call_family(code: str) -> Family:
    """Return the family of a single binary classifier that is asked the problems of a code."""

    def make(estimator: Any, *, decoder: str = "auto", **options: Any) -> Any:
        return SingleBinaryClassifier(estimator, SingleCall(code, decoder), **options)

    return Family(make, unsuited=_why_not_replicated)


def learned_kernel_family(weights: str) -> Family:
    """Return the family of SBC-KERNEL, which takes its parameters from a SharedKernelSVC."""

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

    return Family(make, has_decoder=False, unsuited=_why_no_kernel)


def native_family() -> Family:
    """Return the family of the learner's own multi-class form: one problem, asked once."""
    return Family(
        _make_native,
        has_decoder=False,
        has_probability=False,
        standard=True,
        unsuited=_why_not_native,
        cost=Cost(1.0, 1.0),
    )


def majority_family() -> Family:
    """Return the family of the baseline that always predicts the largest class."""
    return Family(
        _make_majority,
        has_decoder=False,
        has_probability=False,
        standard=True,
        baseline=True,
        cost=Cost(0.0, 0.0),
    )


def _make_native(estimator: Any, random_state: Any = None, **_: Any) -> Any:
    from sklearn.base import clone

    made = make_base("logistic") if estimator is None else clone(check_learner(estimator))
    seeds = {
        name: random_state
        for name, value in made.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    return made.set_params(**seeds)


def _make_majority(estimator: Any, **_: Any) -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


def _why_not_native(estimator: Any) -> str:
    from sklearn.utils import get_tags

    if estimator is None:
        return ""
    tags = get_tags(estimator).classifier_tags
    if tags is None or tags.multi_class:
        return ""
    return (
        "The 'estimator' parameter must be a learner of several classes for its native form. "
        f"{type(estimator).__name__} separates two classes only."
    )


def _why_not_replicated(estimator: Any) -> str:
    return "" if estimator is None else why_not_replicated(estimator)


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
