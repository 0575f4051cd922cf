"""Learners that cannot use appended features, because they are additive in the features.

A score g(x) + h(E_r) ranks the classes alike for every x: by h(E_r). That is what every learner
gives that is linear in its features, or a sum of functions of one feature each.
"""

from typing import Any

from sklearn.utils import get_tags

_LINEAR, _ADDITIVE = "linear", "additive"

# Steps of a pipeline: of one feature each and affine; of one feature each; linear in all.
_AFFINE_STEPS = {
    "MaxAbsScaler",
    "MinMaxScaler",
    "RobustScaler",
    "SelectorMixin",
    "SimpleImputer",
    "StandardScaler",
}
_FEATUREWISE_STEPS = {
    "AdditiveChi2Sampler",
    "KBinsDiscretizer",
    "OneHotEncoder",
    "OrdinalEncoder",
    "PowerTransformer",
    "QuantileTransformer",
    "SplineTransformer",
}
_LINEAR_STEPS = {"FactorAnalysis", "FastICA", "PCA", "IncrementalPCA", "TruncatedSVD"}

_WRAPPERS = {
    "BaseSearchCV",
    "CalibratedClassifierCV",
    "FixedThresholdClassifier",
    "OneVsRestClassifier",
    "TunedThresholdClassifierCV",
}
_TREES = {
    "DecisionTreeClassifier",
    "ForestClassifier",
    "GradientBoostingClassifier",
    "HistGradientBoostingClassifier",
}


def additive_kind(estimator: Any) -> str | None:
    """Return "linear" or "additive" for learners that are known to be, otherwise None.

    Looks into pipelines, searches and wrappers. Linear are scikit-learn's linear classifiers, SVMs
    with a linear kernel, networks without activation and averages of these; additive are naive
    Bayes, ensembles of trees with a single split, gradient boosting without interactions, and
    linear ones after steps that transform each feature by itself.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures, StandardScaler
    >>> from polychotomy.learners import additive_kind
    >>> additive_kind(make_pipeline(StandardScaler(), LogisticRegression()))
    'linear'
    >>> additive_kind(make_pipeline(PolynomialFeatures(), LogisticRegression()))
    """
    names = _ancestors(estimator)
    if "Pipeline" in names:
        kind = additive_kind(estimator.steps[-1][1])
        for _, step in reversed(estimator.steps[:-1]):
            kind = _before(step, kind)
        return kind
    if names & _WRAPPERS:
        inner = estimator.estimator  # None stands for a LinearSVC in CalibratedClassifierCV
        return _LINEAR if inner is None else additive_kind(inner)
    if "BaggingClassifier" in names:
        return _averaged(estimator.estimator)
    if _is_linear(estimator, names):
        return _LINEAR
    return _ADDITIVE if _is_additive(estimator, names) else None


def why_not_replicated(estimator: Any) -> str:
    """Return why a learner cannot be trained on samples with appended features, "" if it can.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from polychotomy.learners import why_not_replicated
    >>> why_not_replicated(SVC())
    ''
    >>> why_not_replicated(SVC(kernel="precomputed"))
    "Features cannot be appended to a precomputed kernel. ..."
    """
    kind = additive_kind(estimator)
    if kind is not None:
        return (
            f"The 'estimator' parameter must not be {kind} in its features, as {estimator!r} is: "
            "its score g(x) + h(E_r) for the replica of class r ranks the classes alike for "
            "every x. Take one that combines features, such as SharedKernelSVC() or SVC(), "
            "or with a linear classifier replication=Kesler()."
        )
    if get_tags(estimator).input_tags.pairwise and not hasattr(estimator, "concatenated"):
        return (
            "Features cannot be appended to a precomputed kernel. Take "
            f"SharedKernelSVC(kernel='precomputed') as the 'estimator' instead of {estimator!r}."
        )
    return ""


def _before(step: Any, kind: str | None) -> str | None:
    """Return what a learner of the given kind is in the features that go into a step."""
    names = _ancestors(step)
    if kind is None or step is None or isinstance(step, str):  # "passthrough" or "drop"
        return kind
    if "Pipeline" in names:
        for _, inner in reversed(step.steps):
            kind = _before(inner, kind)
        return kind
    if names & {"ColumnTransformer", "FeatureUnion"}:
        kinds = {_before(inner, kind) for inner in _side_by_side(step)}
        return None if None in kinds else _ADDITIVE if _ADDITIVE in kinds else kind
    if "FunctionTransformer" in names:
        return kind if step.func is None else None
    if names & _AFFINE_STEPS:
        return kind
    if names & _FEATUREWISE_STEPS:
        return _ADDITIVE
    return _LINEAR if kind == _LINEAR and names & _LINEAR_STEPS else None


def _side_by_side(step: Any) -> list[Any]:
    """Return the transformers of a step that puts their features side by side."""
    if hasattr(step, "transformer_list"):
        return [inner for _, inner in step.transformer_list]
    return [step.remainder, *(inner for _, inner, _ in step.transformers)]


def _averaged(member: Any) -> str | None:
    """Return what an average of such learners is: by their scores, or probabilities without."""
    adds_up = hasattr(member, "decision_function") or _splits_once(member)
    return additive_kind(member) if adds_up else None


def _is_linear(learner: Any, names: set[str]) -> bool:
    if names & {"LinearClassifierMixin", "SharedLinear"}:
        return True
    if "MLPClassifier" in names:
        return bool(learner.activation == "identity")
    kernel = getattr(learner, "kernel", None)
    return isinstance(kernel, str) and (
        kernel == "linear" or (kernel == "poly" and getattr(learner, "degree", None) == 1)
    )


def _is_additive(learner: Any, names: set[str]) -> bool:
    if names & {"_BaseNB", "StumpBoosting"}:
        return True
    if "AdaBoostClassifier" in names:
        return learner.estimator is None or _splits_once(learner.estimator)
    return _splits_once(learner) or (
        "HistGradientBoostingClassifier" in names
        and isinstance(learner.interaction_cst, str)
        and learner.interaction_cst == "no_interactions"
    )


def _splits_once(learner: Any) -> bool:
    """Whether it is a tree with a single split, or made of such trees."""
    if not _ancestors(learner) & _TREES:
        return False
    return bool(learner.max_depth == 1 or learner.max_leaf_nodes == 2)


def _ancestors(estimator: Any) -> set[str]:
    return {ancestor.__name__ for ancestor in type(estimator).__mro__}
