"""How each family of reductions is made, and which binary learners suit it.

Classifiers are imported when one is made: names can be checked without loading scikit-learn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from polychotomy.reductions._bases import make_base

_MANY_CLASSES = 100


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
    unsuited : callable or None
        Returns why a binary learner cannot be used, "" if it can; None if all can.
    cost : tuple of two floats or None
        Problems trained and questions asked; None if they are counted when it is trained.
    """

    make: Callable[..., Any]
    has_decoder: bool = True
    has_probability: bool = True
    standard: bool = False
    baseline: bool = False
    unsuited: Callable[[Any], str] | None = None
    cost: tuple[float, float] | None = None


def make_classifier(estimator: Any, *, kind: str, **options: Any) -> Any:
    """Return a classifier of a class by its name."""
    from polychotomy import classifiers

    return getattr(classifiers, kind)(estimator, **options)


def make_single_call(estimator: Any, *, decoder: str = "auto", **options: Any) -> Any:
    """Return a single binary classifier that is asked the problems of a BCH code."""
    from polychotomy.classifiers import SingleBinaryClassifier
    from polychotomy.learners import SingleCall

    return SingleBinaryClassifier(estimator, SingleCall("bch", decoder), **options)


def make_learned_kernel(estimator: Any, **options: Any) -> Any:
    """Return SBC-KERNEL, which takes its parameters from a SharedKernelSVC."""
    from polychotomy.classifiers import KernelSBCClassifier
    from polychotomy.kernel import SharedKernelSVC

    svm = SharedKernelSVC() if estimator is None else estimator
    if reason := why_no_kernel(svm):
        raise ValueError(reason)
    for name in ("random_state", "class_order"):  # neither changes anything
        options.pop(name, None)
    if options.get("n_jobs") is None:
        options["n_jobs"] = svm.n_jobs
    names = ("C", "gamma", "cache_size", "dtype", "device")
    taken = {name: getattr(svm, name) for name in names}
    return KernelSBCClassifier(**taken, svm_tol=svm.tol, **options)


def make_native(
    estimator: Any, random_state: Any = None, class_weight: Any = None, **_: Any
) -> Any:
    """Return the learner itself, which can separate several classes."""
    from sklearn.base import clone

    from polychotomy.learners import check_learner

    made = make_base("logistic") if estimator is None else clone(check_learner(estimator))
    options = {"random_state": random_state, "class_weight": class_weight}
    unset = {
        name: options[name.rpartition("__")[2]]
        for name, value in made.get_params(deep=True).items()
        if name.rpartition("__")[2] in options and value is None
    }
    if class_weight is not None and not any(name.endswith("class_weight") for name in unset):
        raise ValueError(
            "The native form of a learner needs a parameter class_weight where classes are "
            f"weighed. {type(made).__name__} has none, or has its own weights."
        )
    return made.set_params(**unset)


def make_majority(*_: Any, **__: Any) -> Any:
    """Return the baseline that always predicts the largest class."""
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


def why_not_native(estimator: Any) -> str:
    """Return why a learner cannot separate several classes by itself."""
    from sklearn.utils import get_tags

    tags = get_tags(estimator).classifier_tags
    if tags is None or tags.multi_class:
        return ""
    return (
        "The 'estimator' parameter must be a learner of several classes for its native form. "
        f"{type(estimator).__name__} separates two classes only."
    )


def why_not_single(estimator: Any) -> str:
    """Return why a learner cannot be a single binary classifier for all classes."""
    from polychotomy.learners import why_not_replicated

    return why_not_replicated(estimator)


def why_no_kernel(estimator: Any) -> str:
    """Return why the kernel of an SVM cannot be learned together with it."""
    from polychotomy.kernel import SharedKernelSVC

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


def means_help(estimator: Any, n_classes: int) -> tuple[str, ...]:
    """Return the codes that the decoder "class_means" may read better than their own rule.

    With many classes a linear learner cannot separate the sides of a dense code, nor one class from
    the rest by least squares, but its outputs still differ between classes. One-vs-rest by another
    loss loses by the means.
    """
    from polychotomy.learners import additive_kind, minimised_loss

    if n_classes < _MANY_CLASSES or additive_kind(estimator) != "linear":
        return ()
    squared = minimised_loss(estimator) == "squared"
    return ("one_vs_rest", "dense_random") if squared else ("dense_random",)
