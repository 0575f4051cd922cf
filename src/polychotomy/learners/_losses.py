"""Which margin loss a binary classifier minimises, where that is known."""

from typing import Any

_LOSS_OF = {
    "AdaBoostClassifier": "exponential",
    "HistGradientBoostingClassifier": "logistic",
    "LinearSVC": "hinge",
    "LogisticRegression": "logistic",
    "LogisticRegressionCV": "logistic",
    "NuSVC": "hinge",
    "PassiveAggressiveClassifier": "hinge",
    "RidgeClassifier": "squared",
    "RidgeClassifierCV": "squared",
    "SVC": "hinge",
    "SharedKernelSVC": "hinge",
    "StumpBoosting": "exponential",
}

# Classifiers whose loss is a parameter.
_LOSS_OF_PARAMETER = {
    "GradientBoostingClassifier": {"log_loss": "logistic", "exponential": "exponential"},
    "SGDClassifier": {
        "hinge": "hinge",
        "squared_hinge": "hinge",
        "perceptron": "hinge",
        "log_loss": "logistic",
        "modified_huber": "hinge",
        "squared_error": "squared",
    },
}


def minimised_loss(estimator: Any) -> str | None:
    """Return the decoding rule for the loss that `estimator` minimises, None if not known.

    Looks at the last step of a pipeline and at what a search object searches over, and knows
    subclasses by their parents.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> from polychotomy.learners import minimised_loss
    >>> minimised_loss(make_pipeline(StandardScaler(), SVC()))
    'hinge'
    """
    learner = _innermost(estimator)
    if not hasattr(learner, "decision_function"):
        return None
    for ancestor in type(learner).__mro__:
        if ancestor.__name__ in _LOSS_OF:
            return _LOSS_OF[ancestor.__name__]
        if ancestor.__name__ in _LOSS_OF_PARAMETER:
            return _LOSS_OF_PARAMETER[ancestor.__name__].get(learner.loss)
    return None


def _innermost(estimator: Any) -> Any:
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.pipeline import Pipeline

    while True:
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        elif isinstance(estimator, BaseSearchCV):
            estimator = estimator.estimator
        else:
            return estimator
