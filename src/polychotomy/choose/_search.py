"""``ReductionSearchCV``: the reduction that suits these data."""

import sys
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from time import perf_counter
from typing import Any, Self

import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.metrics import check_scoring
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
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, check_is_fitted

from polychotomy.choose._candidates import Expansion, untrained
from polychotomy.choose._choice import Choice, Words, choose
from polychotomy.choose._evaluation import Evaluation, Outcome, Tuning
from polychotomy.choose._greedy import kernels_shared
from polychotomy.choose._results import Results
from polychotomy.choose._scoring import goes_by_probability, score_name, takes_weights
from polychotomy.classifiers import CodeClassifier, KernelSBCClassifier
from polychotomy.classifiers._checks import check_base, check_data, check_labels, unless_fit_fails
from polychotomy.learners import JointLearner

Array = NDArray[np.float64]


def _best_has(method: str) -> Callable[[Any], bool]:
    """Whether the best classifier has a method; before a search, whether one of them might."""

    def check(self: Any) -> bool:
        if hasattr(self, "best_estimator_"):
            return hasattr(self.best_estimator_, method)
        return any(hasattr(each, method) for each in untrained(self.reductions, self.estimator))

    return check


class ReductionSearchCV(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Cross-validated choice among reductions, decoders and methods for probabilities.

    Every reduction is trained on every fold; a binary problem that occurs in several of them is
    trained once, kernel rows are shared, and all decoders and methods are scored on the outputs of
    one training. Of those that are not significantly worse than the best, the cheapest is taken
    and trained on all samples; ``explanation_`` says why.

    Parameters
    ----------
    estimator : classifier, optional
        The binary classifier, such as an SVM or a pipeline that ends in one; by default a logistic
        regression.
    reductions : {"standard", "all"} or list, default="standard"
        What to compare. A list may hold names of
        :func:`~polychotomy.choose.available_reductions`, with a decoder and a method if wanted, as
        in ``"bch:hamming"`` and ``"one_vs_rest:probability:least_squares"``, where ``*`` stands for
        all that suit (``"bch:*"``); :class:`~polychotomy.choose.Reduction`; and classifiers, which
        keep their own estimator. ``"standard"`` is one-vs-rest, one-vs-one, a random code, a BCH
        code and a tree; ``"all"`` is everything that suits the estimator. Both try several decoders
        or, where `scoring` goes by probabilities, several methods.
    scoring : str, callable or None, default=None
        As in scikit-learn's searches; None for the accuracy.
    cv : int, cross-validation generator or iterable, default=5
        The folds; with an int they are stratified, and shuffled by `random_state`.
    tune : None, "greedy" or dict, default=None
        Hyper-parameters of the binary classifier, chosen for each reduction anew on the training
        part of each fold (and on all samples for the one that is taken) by five-fold
        cross-validation: with ``"greedy"`` by :class:`~polychotomy.GreedySearchCV`, with a
        dictionary of lists by a grid search.
    refit : bool, default=True
        Whether to train the chosen reduction on all samples.
    level : float, default=0.05
        Rows are significantly worse than the best if their p-value is below it. The larger, the
        less is given up for a lower cost: at 1 only a row that ties with the best on every fold can
        take its place, at 0 the cheapest does whatever its score.
    n_jobs : int, optional
        Number of joblib workers for the folds or, where the estimator trains all problems at once
        (:class:`~polychotomy.SharedKernelSVC`), of threads for the problems. It changes no result.
    random_state : int, RandomState instance or None, default=None
        Draws folds and random codes, and seeds the estimators.
    verbose : int, default=0
        Tell each fold that is done on the standard error stream if positive.
    error_score : "raise" or float, default=nan
        What stands for the score of a reduction that fails on a fold; one with NaN is not chosen.

    Attributes
    ----------
    best_estimator_ : classifier
        The chosen one, trained on all samples (with ``refit=True``).
    best_reduction_ : str
        Its name, as in `reductions`.
    best_params_ : dict
        ``reduction``, ``decoder`` and ``probability``, and with `tune` what was found on all
        samples.
    best_score_ : float
        Its mean score over the folds. It was chosen for it among others: for an honest estimate
        put the search into a cross-validation itself.
    best_index_ : int
        Its row in ``cv_results_``.
    explanation_ : str
        Why it was chosen, in a few sentences.
    cv_results_ : dict of arrays
        A row for each reduction, decoder and method, as in scikit-learn's searches: ``label`` (its
        name as in `reductions`), ``params``, ``param_reduction``, ``param_decoder``,
        ``param_probability``, ``split0_test_score`` and so on, ``mean_test_score``,
        ``std_test_score``, ``rank_test_score``, ``mean_fit_time`` (less for problems that were
        trained already), ``mean_score_time``; also ``n_problems`` (different ones), ``cost``,
        ``p_value`` and, with `tune`, ``split0_tuned`` and so on.
    skipped_ : dict of str to str
        Reductions that do not exist for these classes or do not suit the estimator, and why.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    scorer_ : callable
        What scores.
    n_splits_ : int
        Number of folds.
    refit_time_ : float
        Seconds that the last training took.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the training data had names.

    See Also
    --------
    polychotomy.choose.available_reductions : Their names.
    polychotomy.GreedySearchCV : Hyper-parameters of one reduction.

    Notes
    -----
    Whether a row is worse than the best is tested by the corrected resampled t-test of Nadeau and
    Bengio over the folds. It works for any score and allows for folds that share training samples,
    which makes the plain paired t-test, and tests on the pooled predictions, find too much. What is
    not significant may still be a difference: few samples or folds show only large ones.

    The cost of a row is the mean number of binary problems that a training sample takes part in,
    plus the mean number that are asked of a test sample: one-vs-rest of k classes costs 2 k,
    one-vs-one k − 1 + k (k − 1) / 2, a tree about twice its mean depth. A single binary classifier
    is one problem in which a sample takes part by its k replicas: it costs 2 k, and with learned
    weights k more for each time that it is trained again. Unlike times, the cost is the same in
    every run. Classifiers that do not train problem by problem have no known cost, and are
    taken only if they are the best.

    With one exception nothing depends on what is shared: solutions of
    :class:`~polychotomy.SharedKernelSVC` begin with earlier ones and agree within its tolerance.

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
    'one_vs_one'
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
        cv: Any = 5,
        tune: Any = None,
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
            base = check_base(self.estimator)
            X, y = check_data(self, X, y)
            classes, _ = check_labels(y)
            level, scorer = self._check_level(), self._scorer()
            seed = int(check_random_state(self.random_state).randint(2**31))
            # Kernel rows can be shared in one process only: there the problems get the workers.
            at_once = _train_at_once(untrained(self.reductions, base))
            options = {"random_state": seed, "n_jobs": self.n_jobs if at_once else None}
            expansion = Expansion(base, classes, goes_by_probability(scorer), options)
            candidates, skipped = expansion.of(self.reductions)
            fit_params, split_params, score_params = self._route(X, params, scorer)
            tuning = Tuning(self.tune, self.scoring, seed, self.error_score)
            evaluation = Evaluation(scorer, tuning, fit_params, score_params, self.error_score)
            folds = list(self._folds(seed, y).split(X, y, **split_params))
            tasks = (delayed(evaluation.on_fold)(candidates, X, y, *fold) for fold in folds)
            with kernels_shared(X, y):
                outcomes = self._run(tasks, len(folds), None if at_once else self.n_jobs)
                results = Results.of(candidates, outcomes)
                choice = self._choose(results, folds, level)
                found = self._refit(tuning, results, choice, X, y, fit_params)
        self.classes_, self.scorer_, self.n_splits_ = classes, scorer, len(folds)
        self.skipped_ = skipped
        self._set_results(results, choice, found, level)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels that the chosen classifier predicts.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        labels: NDArray[Any] = self._trained().predict(X)
        return labels

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities of the chosen classifier, if it has them.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        probabilities: Array = self._trained().predict_proba(X)
        return probabilities

    @available_if(_best_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the class probabilities, if there are any.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        logarithms: Array = self._trained().predict_log_proba(X)
        return logarithms

    @available_if(_best_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Return the score of each class by the chosen classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) with two classes
        """
        scores: Array = self._trained().decision_function(X)
        return scores

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
        """Return how metadata reach the estimator, the folds and the scorer.

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
        tags.input_tags = get_tags(CodeClassifier(self.estimator)).input_tags
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cv_results_")

    def _trained(self) -> Any:
        check_is_fitted(self)
        if not self.refit:
            raise AttributeError("With refit=False there is no classifier that could be asked.")
        return self.best_estimator_

    def _check_level(self) -> float:
        level: Any = self.level
        if not isinstance(level, Real) or not 0 <= float(level) <= 1:
            raise ValueError(f"The 'level' parameter must be from 0 to 1. Got {self.level!r}.")
        return float(level)

    def _scorer(self) -> Any:
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError(
                "The 'scoring' parameter must be a name, a function or None: reductions are "
                f"compared by one score. Got {type(self.scoring).__name__}."
            )
        return check_scoring(CodeClassifier(self.estimator), self.scoring)

    def _folds(self, seed: int, y: Any) -> Any:
        if isinstance(self.cv, int | np.integer) and not isinstance(self.cv, bool):
            return StratifiedKFold(self.cv, shuffle=True, random_state=seed)
        return check_cv(self.cv, y, classifier=True)

    def _route(self, X: Any, params: dict[str, Any], scorer: Any) -> tuple[Any, Any, Any]:
        """Return the arguments for training, for splitting and for scoring."""
        params = _check_method_params(X, params)
        if _routing_enabled():
            routed = process_routing(self, "fit", **params)
            return routed.classifier.fit, routed.splitter.split, routed.scorer.score
        split = {"groups": params.pop("groups", None)}
        weight = params.get("sample_weight")
        weighted = weight is not None and takes_weights(scorer)
        return params, split, {"sample_weight": weight} if weighted else {}

    def _run(self, tasks: Iterable[Any], n_folds: int, n_jobs: int | None) -> list[list[Outcome]]:
        """Return the outcomes of the candidates, fold by fold."""
        outcomes: list[list[Outcome]] = []
        start = perf_counter()
        as_they_come = get_active_backend()[0].supports_return_generator
        workers = Parallel(n_jobs=n_jobs, return_as="generator" if as_they_come else "list")
        for outcome in workers(tasks):
            outcomes.append(outcome)
            if self.verbose:
                told = f"fold {len(outcomes)} of {n_folds}, {perf_counter() - start:.0f} s"
                sys.stderr.write(f"{told}\n")
        return outcomes

    def _choose(self, results: Results, folds: Sequence[Any], level: float) -> Choice:
        if np.isnan(results.means).all():
            reasons = " ".join(dict.fromkeys(results.errors))
            raise ValueError(f"Every reduction failed on some fold. {reasons[:1000]}".rstrip())
        ratio = float(np.mean([len(test) / len(train) for train, test in folds]))
        return choose(results.scores, results.costs, ratio, level)

    def _refit(
        self, tuning: Tuning, results: Results, choice: Choice, X: Any, y: Any, fit_params: Any
    ) -> dict[str, Any]:
        """Train what was chosen on all samples, if wanted, and return what was tuned for it."""
        if not self.refit:
            return {}
        candidate, row = results.rows[choice.chosen]
        start = perf_counter()
        made, tuned = tuning.of(candidate.made(row), X, y, fit_params)
        if made.get_params(deep=False).get("n_jobs", 0) is None:
            made.set_params(n_jobs=self.n_jobs)
        self.best_estimator_ = made.fit(X, y, **fit_params)
        self.refit_time_ = perf_counter() - start
        return tuned

    def _set_results(
        self, results: Results, choice: Choice, tuned: dict[str, Any], level: float
    ) -> None:
        i = choice.chosen
        self.cv_results_ = results.table(choice.pvalues)
        self.best_index_, self.best_score_ = i, float(results.means[i])
        self.best_reduction_ = results.labels[i]
        self.best_params_ = {**results.params(i), **tuned}
        words = Words(
            results.labels,
            results.means,
            results.costs,
            results.n_problems,
            self.n_splits_,
            score_name(self.scoring),
            level,
            self.skipped_,
        )
        self.explanation_ = words.of(choice)


def _train_at_once(classifiers: Iterable[Any]) -> bool:
    """Whether a learner trains all problems at once."""
    return any(
        isinstance(c, KernelSBCClassifier)
        or isinstance(getattr(c, "estimator", None), JointLearner)
        for c in classifiers
    )
