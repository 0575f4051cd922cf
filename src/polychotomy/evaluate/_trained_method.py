"""A method trained on all samples, prepared and tuned as its cells were."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from polychotomy.classifiers import has_rules
from polychotomy.evaluate._preparation import make_preparation
from polychotomy.evaluate._task import Task


@dataclass(frozen=True, eq=False)
class TrainedMethod:
    """A trained method.

    Attributes
    ----------
    estimator : classifier
        A pipeline of preparation and classifier, or the classifier itself if nothing is prepared.
    tuned : mapping
        The parameters that were tuned.
    seconds : float
        How long that took.
    """

    estimator: Any
    tuned: Mapping[str, Any]
    seconds: float

    @property
    def classifier(self) -> Any:
        """The classifier, behind the preparation."""
        return self.estimator.steps[-1][1] if hasattr(self.estimator, "steps") else self.estimator


def train_task(task: Task, X: Any, y: Any, *, n_jobs: int | None = None) -> TrainedMethod:
    """Train the method of a task on other samples, prepared and tuned as the task says.

    Parameters
    ----------
    task : Task
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels.
    n_jobs : int, optional
        Number of workers of a reduction that does not set it.

    Examples
    --------
    >>> from polychotomy import datasets
    >>> from polychotomy.evaluate import Samples, Schedule, train_task
    >>> iris = Samples.of(datasets.load("iris"))
    >>> task = Schedule(iris, ["bch"], ["ridge"]).task_of("bch")
    >>> trained = train_task(task, iris.data, iris.targets)
    >>> [type(step).__name__ for _, step in trained.estimator.steps]
    ['Preparation', 'CodeClassifier']
    """
    from sklearn.base import clone
    from sklearn.pipeline import Pipeline

    start, method, params = perf_counter(), task.method, task.fit_params
    prepare = make_preparation(task.preparation)
    if prepare is not None:
        X = prepare.fit_transform(X)
    tuned: dict[str, Any] = {}
    if task.tuner is not None and method.is_tuned:
        search = task.tuner.make_search(method, task.seed, n_jobs)
        tuned = dict(search.fit(X, y, **params).best_params_)
    classifier = clone(method.classifier).set_params(**tuned)
    if has_rules(classifier) and classifier.n_jobs is None:
        classifier.set_params(n_jobs=n_jobs)
    classifier.fit(X, y, **params)
    steps = [("preparation", prepare), ("classifier", classifier)]
    trained = classifier if prepare is None else Pipeline(steps)
    return TrainedMethod(trained, tuned, perf_counter() - start)
