"""``ReductionSearchCV``: search for the best reduction."""

import sys
from collections.abc import Callable, Iterator, Mapping
from numbers import Integral, Real
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from polychotomy.arrays import Array
from polychotomy.classifiers import CodeClassifier
from polychotomy.errors import unknown_name
from polychotomy.evaluate._cell import Cell, Failure
from polychotomy.evaluate._contestant import search_contestants
from polychotomy.evaluate._preparation import Preparation, suitable_preparation
from polychotomy.evaluate._protocol import DEFAULT_FOLDS
from polychotomy.evaluate._recommendation import PREFERENCES, recommend
from polychotomy.evaluate._samples import Samples
from polychotomy.evaluate._scoring import (
    check_scorer,
    route_params,
    score_name,
    uses_probabilities,
)
from polychotomy.evaluate._search_cells import compute_fold, cv_results, finished_cells
from polychotomy.evaluate._task import Task, Tuner, train_task
from polychotomy.learners import check_learner
from polychotomy.parallel import map_tasks
from polychotomy.reductions import Expansion, make_base, untrained
from polychotomy.structures import ordered_categories
from polychotomy.training import (
    check_data,
    check_labels,
    check_own_weights,
    unless_fit_fails,
)


def _best_has(method: str) -> Callable[[Any], bool]:
    """Whether the best classifier has a method; before a search, whether one of them might."""

    def check(self: Any) -> bool:
        if hasattr(self, "best_estimator_"):
            return hasattr(self.best_estimator_, method)
        return any(hasattr(each, method) for each in untrained(self.reductions, self.estimator))

    return check


class ReductionSearchCV(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Cross-validated choice among reductions, decoders and methods for probabilities.

    Every reduction is trained on every fold. A binary problem that occurs in several reductions is
    trained once, and all decoders and methods are scored on the same outputs. The recommended
    reduction is trained on all samples; ``explanation_`` gives the reasons. With the same data and
    seed, ``polychotomy compare`` and ``polychotomy fit`` make the same choice.

    Parameters
    ----------
    estimator : classifier, optional
        The binary classifier, such as an SVM or a pipeline that ends in one; by default a logistic
        regression.
    reductions : {"standard", "all"} or list, default="standard"
        The reductions to compare. A list may contain names, optionally with a decoder and a method
        for probabilities, such as ``"bch:hamming"`` or ``"one_vs_rest:probability:least_squares"``,
        where ``*`` stands for all that apply (``"bch:*"``); reductions; and classifiers, which keep
        their own estimator. ``"standard"`` is one-vs-rest, one-vs-one, a random code, a BCH code, a
        tree, the learner's own multi-class form if it has one, and the majority baseline; ``"all"``
        is everything that suits the estimator, with all decoders. If `scoring` uses probabilities,
        both try several methods for them; otherwise, from 100 classes on, they also try the decoder
        ``"class_means"`` with linear learners.
    scoring : str, callable or None, default=None
        As in scikit-learn's searches; by default the accuracy.
    cv : int, cross-validation generator or iterable, default=5
        The folds; with an int they are stratified, and shuffled by `random_state`.
    tune : None, "greedy" or dict, default=None
        Hyper-parameters of the binary classifier to tune for each reduction, on the training part
        of each fold (and on all samples for the chosen reduction), by five-fold cross-validation:
        ``"greedy"`` uses :class:`~polychotomy.GreedySearchCV`, which starts on a few samples if
        there are many; a dictionary of lists is a grid search.
    prefer : {"balanced", "accuracy", "cost"}, default="balanced"
        How to weigh score and cost, see :func:`~polychotomy.evaluate.recommend`.
    preparation : "standard" or None, default="standard"
        With ``"standard"``, arrays, sparse matrices and data frames are prepared within each fold
        by :class:`~polychotomy.evaluate.Preparation`. Kernels and texts are not changed, and
        nothing is if the estimator is a pipeline.
    class_order : list, "data" or None, default=None
        As in :class:`~polychotomy.CodeClassifier`, for all reductions.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in training, as in :class:`~polychotomy.CodeClassifier`, for all
        reductions. Scores are not weighted by them.
    refit : bool, default=True
        Whether to train the chosen reduction on all samples.
    level : float, default=0.05
        Significance level: rows with a smaller p-value are significantly worse than the best.
    n_jobs : int, optional
        Number of joblib workers for the folds. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of folds, random codes and estimators. An int is the ``--seed`` of the command line.
    verbose : int, default=0
        If positive, report each finished fold on the standard error stream.
    error_score : "raise" or float, default=nan
        The score of a reduction that fails on a fold. With NaN it is not chosen.

    Attributes
    ----------
    best_estimator_ : classifier
        The chosen classifier, trained on all samples (with ``refit=True``): a pipeline if samples
        are prepared.
    best_reduction_ : str
        The name of the chosen reduction, as in `reductions`.
    best_params_ : dict
        ``reduction``, ``decoder`` and ``probability`` and, with `tune`, the parameters tuned on all
        samples.
    best_score_ : float
        Its mean score over the folds. As it was selected, it is optimistic: for an unbiased
        estimate, cross-validate the search itself.
    best_index_ : int
        Its row in ``cv_results_``.
    recommendation_ : Recommendation
        The choice and its reasons, as a value.
    explanation_ : str
        The choice and its reasons, in words.
    cv_results_ : dict of arrays
        A row for each reduction, decoder and method, as in scikit-learn's searches: ``label`` (its
        name as in `reductions`), ``params``, ``param_reduction``, ``param_decoder``,
        ``param_probability``, ``split0_test_score`` and so on, ``mean_test_score``,
        ``std_test_score``, ``rank_test_score``, ``mean_fit_time`` (less for problems that were
        trained already), ``mean_score_time``; also ``n_problems`` and ``n_questions`` (the cost),
        ``p_value`` and, with `tune`, ``split0_tuned`` and so on.
    skipped_ : dict of str to str
        Reductions that do not exist for these classes or do not suit the estimator, with the
        reason.
    classes_, scorer_, n_splits_, refit_time_, n_features_in_, feature_names_in_
        As in scikit-learn's searches.

    See Also
    --------
    polychotomy.reductions.available_reductions : Their names.
    polychotomy.evaluate.recommend : How scores, test and cost lead to a recommendation.
    polychotomy.GreedySearchCV : Hyper-parameters of one reduction.

    Notes
    -----
    Whether a row is worse than the best is tested by the corrected resampled t-test of Nadeau and
    Bengio over the folds. It works for any score and allows for folds that share training samples,
    which makes the plain paired t-test, and tests on the pooled predictions, find too much. What is
    not significant may still be a difference: few samples or folds show only large ones.

    The cost of a row is k problems and k questions for one-vs-rest of k classes, k (k − 1) / 2 of
    both for one-vs-one, k − 1 and the mean depth for a tree. A single binary classifier counts the
    problems of its code, once for each time that it is trained again. Classifiers that are no
    reductions have no known cost, which counts as the highest.

    References
    ----------
    Nadeau and Bengio (2003), "Inference for the generalization error", Machine Learning 52.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from polychotomy import ReductionSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> rows = ["one_vs_rest", "one_vs_one", "orthogonal"]
    >>> search = ReductionSearchCV(SVC(), rows, random_state=0)
    >>> search.fit(X, y).best_reduction_
    'one_vs_rest'
    >>> list(search.skipped_)
    ['orthogonal']
    """

    classes_: NDArray[Any]
    best_estimator_: Any

    def __init__(
        self,
        estimator: Any = None,
        reductions: Any = "standard",
        *,
        scoring: Any = None,
        cv: Any = DEFAULT_FOLDS,
        tune: Any = None,
        prefer: str = "balanced",
        preparation: str | None = "standard",
        class_order: Any = None,
        class_weight: Any = None,
        refit: bool = True,
        level: float = 0.05,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        error_score: Any = np.nan,
    ) -> None:
        self.estimator = estimator
        self.reductions = reductions
        self.scoring = scoring
        self.cv = cv
        self.tune = tune
        self.prefer = prefer
        self.preparation = preparation
        self.class_order = class_order
        self.class_weight = class_weight
        self.refit = refit
        self.level = level
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.error_score = error_score

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Search, and train the chosen reduction on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels, of at least two classes.
        **params
            Arguments of the binary classifier's ``fit``, such as ``sample_weight``, by which scores
            are then weighted too; and ``groups`` for the folds.

        Returns
        -------
        self
        """
        with unless_fit_fails(self):
            order = ordered_categories(y) if self.class_order is None else self.class_order
            X, y = check_data(self, X, y)
            classes, indices = check_labels(y)
            self._check_parameters()
            scorer, seed = self._scorer(), self._seed()
            samples = Samples("samples", X, indices, tuple(map(str, classes)), labels=classes)
            rows, units, skipped = self._tasks(samples, y, scorer, seed, order, params)
            cells = finished_cells(units, self._run(units, samples), samples, self.error_score)
            advice = recommend(
                cells.values(),
                prefer=self.prefer,
                alpha=self.level,
                scoring=score_name(self.scoring),
            )
            best = list(rows).index(advice.method)
            found = train_task(units[0][best], X, y, n_jobs=self.n_jobs) if self.refit else None
        self.classes_, self.scorer_, self.n_splits_ = classes, scorer, len(units)
        self.skipped_, self.recommendation_ = skipped, advice
        self.cv_results_ = cv_results(rows, cells, len(units), advice.pvalues)
        self.best_index_, self.best_reduction_ = best, advice.method
        self.best_score_ = float(self.cv_results_["mean_test_score"][best])
        tuned = {} if found is None else found.tuned
        self.best_params_ = {**self.cv_results_["params"][best], **tuned}
        said = f"Not tried: {', '.join(skipped)}." if skipped else ""
        self.explanation_ = f"{advice.words} {said}".rstrip()
        if found is not None:
            self.best_estimator_, self.refit_time_ = found.estimator, found.seconds
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict with the chosen classifier, see :meth:`.CodeClassifier.predict`."""
        return self._trained().predict(X)

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return its class probabilities, see :meth:`.CodeClassifier.predict_proba`."""
        return self._trained().predict_proba(X)

    @available_if(_best_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Return their logarithms, see :meth:`.CodeClassifier.predict_log_proba`."""
        return self._trained().predict_log_proba(X)

    @available_if(_best_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Return its class scores, see :meth:`.CodeClassifier.decision_function`."""
        return self._trained().decision_function(X)

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Return the score of the chosen classifier, by `scoring`.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **params
            Arguments of the scorer; only with scikit-learn's metadata routing enabled.

        Returns
        -------
        score : float
        """
        trained = self._trained()
        _raise_for_params(params, self, "score")
        if _routing_enabled():
            params = process_routing(self, "score", **params).scorer["score"]
        return float(self.scorer_(trained, X, y, **params))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of the estimator, the folds and the scorer.

        Returns
        -------
        routing : MetadataRouter
        """
        both = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
        fit = MethodMapping().add(caller="fit", callee="fit")
        split = MethodMapping().add(caller="fit", callee="split")
        return (
            MetadataRouter(owner=self)
            .add(classifier=CodeClassifier(self.estimator), method_mapping=fit)
            .add(splitter=check_cv(self.cv, classifier=True), method_mapping=split)
            .add(scorer=self._scorer(), method_mapping=both)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = CodeClassifier(self.estimator)
        tags.input_tags = get_tags(base).input_tags
        if self.preparation and suitable_preparation("standard", np.empty((0, 0)), base) != "none":
            tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cv_results_")

    def _trained(self) -> Any:
        check_is_fitted(self)
        if not self.refit:
            raise AttributeError("With refit=False there is no classifier to predict with.")
        return self.best_estimator_

    def _check_parameters(self) -> None:
        level: Any = self.level
        if not isinstance(level, Real) or not 0 <= float(level) <= 1:
            raise ValueError(f"The 'level' parameter must be from 0 to 1. Got {self.level!r}.")
        if self.prefer not in PREFERENCES:
            raise unknown_name("prefer", self.prefer, PREFERENCES)
        if not (self.tune is None or self.tune == "greedy" or isinstance(self.tune, Mapping)):
            raise ValueError(
                "The 'tune' parameter must be None, 'greedy' or a dictionary of the estimator's "
                f"parameters and lists of values. Got {self.tune!r}."
            )

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _tasks(
        self,
        samples: Samples,
        y: NDArray[Any],
        scorer: Any,
        seed: int,
        order: Any,
        params: dict[str, Any],
    ) -> tuple[dict[str, Any], list[list[Task]], dict[str, str]]:
        """Return what is compared, its tasks fold by fold, and what is skipped for which reason."""
        X, classes = samples.data, np.asarray(samples.labels)
        base = make_base("logistic") if self.estimator is None else check_learner(self.estimator)
        options = {"random_state": seed, "n_jobs": None}
        options |= {"class_order": order, "class_weight": self.class_weight}
        expansion = Expansion(base, classes, uses_probabilities(scorer), options)
        rows, skipped = expansion.of(self.reductions)
        if set(rows) - {"native", "majority"}:
            check_own_weights(base, type(self).__name__)
        fit_params, split_params, score_params = route_params(self, X, params, scorer)
        tuner = None
        if self.tune is not None:
            tuner = Tuner(self.tune, scoring=self.scoring, error_score=self.error_score)
        methods = [
            (method, suitable_preparation(self.preparation, X, method.classifier))
            for method in search_contestants(rows, base, **options)
        ]
        if any(how == "standard" for _, how in methods):
            Preparation().fit(X)  # raises at once if the samples cannot be prepared
        folds = self._folds(seed, y).split(X, y, **split_params)
        units = [
            [
                Task(
                    samples.name,
                    method,
                    fold,
                    seed,
                    {"n_train": len(train), "preparation": how},
                    train,
                    test,
                    f"{fold} {method.reduction}",
                    tuner,
                    scorer,
                    fit_params,
                    score_params,
                )
                for method, how in methods
            ]
            for fold, (train, test) in enumerate(folds)
        ]
        return rows, units, skipped

    def _scorer(self) -> Any:
        return check_scorer(CodeClassifier(self.estimator), self.scoring)

    def _folds(self, seed: int, y: Any) -> Any:
        if isinstance(self.cv, int | np.integer) and not isinstance(self.cv, bool):
            return StratifiedKFold(self.cv, shuffle=True, random_state=seed)
        return check_cv(self.cv, y, classifier=True)

    def _run(self, units: list[list[Task]], samples: Samples) -> Iterator[Cell | Failure]:
        """Yield the outcomes of all tasks."""
        start, shared = perf_counter(), (samples, self.error_score == "raise")
        running = map_tasks(compute_fold, units, shared=shared, n_jobs=self.n_jobs)
        for n, fold in enumerate(running, 1):
            yield from fold
            if self.verbose:
                sys.stderr.write(f"fold {n} of {len(units)}, {perf_counter() - start:.0f} s\n")
