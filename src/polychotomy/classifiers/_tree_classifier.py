"""``TreeClassifier``: any structure, solved along the winning path or all at once."""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from polychotomy.classifiers._checks import check_data
from polychotomy.classifiers._learners import choose_learners
from polychotomy.classifiers._nodes import lay_out
from polychotomy.classifiers._plan import NOTHING_TO_CALIBRATE_ON, Plan, make_plan
from polychotomy.classifiers._reading import Array
from polychotomy.classifiers._reduction import ReductionClassifier
from polychotomy.classifiers._rows import blocks_of
from polychotomy.classifiers._structures import goes_by_data, resolve_structure
from polychotomy.classifiers._training import Params
from polychotomy.classifiers._walks import Visit, Walker
from polychotomy.codes import Code
from polychotomy.decoding import accepted_by_confidence
from polychotomy.errors import unknown_name
from polychotomy.probability import solve as solve_probabilities
from polychotomy.structures import Structure

_SOLVES = ("auto", "recursive", "most_probable", "least_squares")
_REJECT_RULES = ("confidence", "probability")


class TreeClassifier(ReductionClassifier):
    """Multi-class classification by a structure: a tree, a DDAG, a flat code or any mixture.

    The structure says which classes each binary problem tells apart; a clone of `estimator` is
    trained on each, on the samples of its classes only. A class is found by asking from the top
    down, so that a sample costs the problems on its way and not all of them. With two classes it
    is the binary classifier itself (unless ``decoder="probability"``), and with a single node a
    :class:`~polychotomy.CodeClassifier`.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier with ``decision_function`` or ``predict_proba``; by default a
        logistic regression.
    structure : str, Structure, path or callable, default="linkage"
        - ``"linkage"``: the tree that joins the nearest classes first, by `distance`;
        - ``"balanced"``: the tree that halves the sorted classes;
        - ``"chain"``: the tree that parts the most frequent class first, then the next;
        - ``"ddag"``: all pairs of classes, of which k − 1 are asked until one class is left;
        - a :class:`~polychotomy.Structure`, text in the control language (anything with a brace,
          see :func:`~polychotomy.parse_structure`), or the path of a file with it;
        - a function of X and y that returns one of these.
    distance : str or callable, default="hausdorff"
        For ``"linkage"``: between classes, see :func:`~polychotomy.structures.class_distances`.
        It is measured in X as it is, before any steps of a pipeline in `estimator`, so that
        features should be on comparable scales.
    solve : {"auto", "recursive", "most_probable", "least_squares"}, default="auto"
        ``"recursive"`` predicts the class at the end of the winning path, and multiplies
        conditional probabilities along every path. ``"most_probable"`` multiplies alike and
        predicts the most probable class, asking only what could still lead to it.
        ``"least_squares"`` flattens the structure, solves for the probabilities of all problems at
        once and predicts the most probable class. ``"auto"`` is ``"most_probable"``; without
        probabilities and for a single node it is ``"recursive"``, which for a single node is what
        :class:`~polychotomy.CodeClassifier` does, and for a DDAG it is elimination.
    estimators : dict of str to classifier, optional
        Further learners. A problem whose name or options in the structure are a key here is
        learnt by that classifier; other options such as ``"C=10 gamma=0.1"`` are parameters of
        `estimator`.
    decoder : str, default="auto"
        How nodes of several problems decide, see :class:`~polychotomy.CodeClassifier`; a DDAG does
        without. ``"probability"`` takes the most probable child of every node.
    probability : str or None, default="auto"
        How the probabilities of a node's children are solved for, see
        :class:`~polychotomy.CodeClassifier`. None: there are no probabilities, and nothing is
        spent on calibration.
    calibration : str, default="auto"
        How outputs become binary probabilities, see :class:`~polychotomy.CodeClassifier`.
    cv : int, cross-validation generator, iterable or None, default=5
        The folds on whose held-out outputs the calibration is fitted.
    n_jobs : int, optional
        Number of joblib workers for the problems, and of threads for the probabilities.
    random_state : int, RandomState instance or None, default=None
        Seeds the parameters ``random_state`` of the estimators that are None.
    verbose : int, default=0
        Show a progress bar on the standard error stream if positive.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    structure_ : Structure
        The structure. ``print(classifier.structure_)`` gives text that can be edited and given
        back as `structure`.
    solve_ : {"recursive", "most_probable", "least_squares", "ddag"}
        The way in use.
    problems_ : list of str
        What each problem asks, in words, in the order of ``structure_.problems``.
    estimators_ : list of classifiers
        One for each distinct problem. They know the labels 0 and 1; 1 is the side with fewer
        classes or, of equal sides, that without the first class.
    node_estimators_ : list of lists of classifiers
        Those of each node's problems, in the order of ``structure_.nodes()``.
    node_decoders_ : list of str
        How each node decides: the rule in use, "probability" for the most probable child.
    node_probabilities_ : list of str or None
        The method in use for the probabilities of each node's children.
    class_counts_ : ndarray of shape (n_classes,)
        Training samples of each class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the training data had names.

    See Also
    --------
    polychotomy.structures : Builders, conversions and the control language.
    polychotomy.plot.TreeDisplay : Draws the tree.

    Notes
    -----
    All problems of all nodes are trained in one parallel batch.

    Where every node has two children, the product of conditional probabilities solves the least
    squares exactly, so that all ways give the same probabilities; but the class at the end of the
    winning path need not be the most probable one: where one side of a node has many classes, its
    probability is spread over them.

    References
    ----------
    Mills (2023), "Solving for multi-class: a survey and synthesis", sections 5 and 6; Platt,
    Cristianini and Shawe-Taylor (2000), "Large margin DAGs for multiclass classification".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from polychotomy import TreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = TreeClassifier(SVC()).fit(X, y)
    >>> print(classifier.structure_)
    "" {
      "" {2 1}
      0
    }
    >>> classifier.decision_path(X[:1]).sum(), classifier.predict(X[:1])
    (np.int64(1), array([0]))
    """

    structure_: Structure
    solve_: str
    class_counts_: NDArray[np.int_]

    def __init__(
        self,
        estimator: Any = None,
        structure: Any = "linkage",
        distance: Any = "hausdorff",
        solve: str = "auto",
        estimators: Mapping[str, Any] | None = None,
        decoder: str = "auto",
        probability: str | None = "auto",
        calibration: str = "auto",
        cv: Any = 5,
        *,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.structure = structure
        self.distance = distance
        self.solve = solve
        self.estimators = estimators
        self.decoder = decoder
        self.probability = probability
        self.calibration = calibration
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class, or the one at the end of the winning path.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if self.solve_ == "least_squares" and len(self.classes_) > 2:
            winners = self.predict_proba(X).argmax(axis=1)
        else:
            winners = self._walk(check_data(self, X, reset=False))[0]
        labels: NDArray[Any] = self.classes_[winners]
        return labels

    def decision_function(self, X: Any) -> Array:
        """Return the score of each class, larger being better.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) with two classes
            Where the most probable class is predicted, the probabilities; otherwise the smallest
            lead, over the nodes on the way to the class, of its child over the others; for a
            single node its children's scores, for a DDAG the step in which the class was
            eliminated. With two classes, the output of the binary classifier: positive for
            ``classes_[1]``.
        """
        check_is_fitted(self)
        if self.solve_ in ("least_squares", "most_probable") and len(self.classes_) > 2:
            return self.predict_proba(X)
        X = check_data(self, X, reset=False)
        walker = self._walker()
        if self.solve_ == "ddag" and len(self.classes_) > 2:
            return walker.eliminate(X)[0]
        nodes = self._plan.nodes
        if len(nodes) == 1:
            place = np.argsort([-1 - below for below in nodes[0].below])
            parts = [
                walker.scores(0, part)[:, place]
                for part in blocks_of(X, self._plan.code.n_problems)
            ]
        else:
            parts = [walker.margins(part) for part in blocks_of(X, self._plan.code.n_problems)]
        scores = np.concatenate(parts)
        if len(self.classes_) > 2:
            return scores
        return scores[:, 1] - scores[:, 0] if self._plan.rules[0] == "probability" else scores[:, 1]

    def decision_path(self, X: Any) -> csr_array:
        """Return which problems are asked to find each sample's class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        asked : sparse array of shape (n_samples, n_problems)
            1 where a problem is asked, in the order of ``problems_``.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from polychotomy import TreeClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> classifier = TreeClassifier(structure="balanced", probability=None).fit(X / 16, y)
        >>> asked = classifier.decision_path(X / 16)
        >>> asked.shape, int(asked.sum(axis=1).max())
        ((1797, 9), 4)
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        n_problems = self._plan.code.n_problems
        if self.solve_ == "least_squares":
            return csr_array(np.ones((X.shape[0], n_problems), dtype=np.int64))
        rows, columns = [], []
        for problems, samples in self._walk(X)[1]:
            asked = np.arange(problems.start, problems.stop)
            rows.append(np.repeat(samples, len(asked)))
            columns.append(np.tile(asked, len(samples)))
        where = np.concatenate(rows), np.concatenate(columns)
        return csr_array(
            (np.ones(len(where[0]), dtype=np.int64), where), shape=(X.shape[0], n_problems)
        )

    def node_errors(self, X: Any, y: Any) -> Array:
        """Return how often each node chooses the wrong child, of the samples of its own classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Their true labels.

        Returns
        -------
        errors : ndarray of shape (n_nodes,)
            In the order of ``structure_.nodes()``; NaN where no sample has a class of the node.
        """
        check_is_fitted(self)
        if y is None:
            raise ValueError("The errors of nodes need the true labels: y must not be None.")
        X, y = check_data(self, X, y, reset=False)
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(
                "Every label of y must be one of the classes. "
                f"Got {unknown.tolist()[0]!r}, which is not."
            )
        indices = np.searchsorted(self.classes_, y)
        return self._walker().node_errors(X, indices)

    def predict_or_reject(
        self, X: Any, rule: str = "probability", threshold: Any = None
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the predicted labels, and which of them to trust.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        rule : {"probability", "confidence"}, default="probability"
            ``"probability"`` takes the most probable class and rejects samples where its
            probability is below `threshold`; ``"confidence"`` takes what :meth:`predict` says and
            rejects samples whose best score in :meth:`decision_function` (with two classes its
            absolute value) is.
        threshold : float
            From where on to accept; it must be given.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The winners, also for the rejected samples.
        accepted : ndarray of bool of shape (n_samples,)
            False where the sample is rejected.
        """
        if rule not in _REJECT_RULES:
            raise unknown_name("rule", rule, _REJECT_RULES)
        if not isinstance(threshold, Real):
            raise ValueError(f"The 'threshold' parameter must be a number. Got {threshold!r}.")
        if rule == "probability":
            p = self.predict_proba(X)
            return self.classes_[p.argmax(axis=1)], accepted_by_confidence(p, float(threshold))
        scores = self.decision_function(X)
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        return self.predict(X), accepted_by_confidence(scores, float(threshold))

    def _make_plan(
        self, classes: NDArray[Any], X: Any, y: NDArray[np.intp] | None, params: Params
    ) -> Plan:
        solve = self._check_solve()
        structure = resolve_structure(
            self.structure,
            classes,
            X,
            y,
            distance=self.distance,
            sample_weight=params.get("sample_weight"),
            pairwise=get_tags(self).input_tags.pairwise,
        )
        matrix, nodes = lay_out(structure, {c: r for r, c in enumerate(classes.tolist())})
        base = self._base()
        learners, chosen = choose_learners(base, self.estimators, structure.problems)
        decoder = "ddag" if solve == "ddag" else self.decoder
        plan = make_plan(self, classes, Code(matrix), nodes, learners, chosen, X, y, decoder)
        if plan.probability is None and solve in ("least_squares", "most_probable"):
            raise ValueError(f"solve={solve!r} needs probabilities. {NOTHING_TO_CALIBRATE_ON}")
        if self.solve == "auto" and len(nodes) > 1 and plan.probability is not None:
            solve = "most_probable"
        return replace(plan, structure=structure, solve=solve)

    def _check_solve(self) -> str:
        if self.solve not in _SOLVES:
            raise unknown_name("solve", self.solve, _SOLVES)
        if self.solve in ("least_squares", "most_probable"):
            if self.probability is None:
                raise ValueError(f"solve={self.solve!r} needs 'probability' not to be None.")
            return self.solve
        is_ddag = isinstance(self.structure, str) and self.structure == "ddag"
        return "ddag" if is_ddag else "recursive"

    def _train(self, plan: Plan, X: Any, y: NDArray[np.intp], method: str, params: Params) -> Self:
        further = method == "partial_fit" and self.__sklearn_is_fitted__()
        before = self.class_counts_ if further else 0
        super()._train(plan, X, y, method, params)
        self.class_counts_ = before + np.bincount(y, minlength=len(plan.classes))
        return self

    def _set_fitted(self, plan: Plan) -> None:
        assert plan.structure is not None
        self.structure_, self.solve_ = plan.structure, plan.solve
        self.node_decoders_ = list(plan.rules)
        methods = None if self._probabilities is None else self._probabilities.methods
        self.node_probabilities_ = list(methods or [None] * len(plan.nodes))

    @property
    def estimators_(self) -> list[Any]:
        """The trained binary classifiers, one for each distinct problem."""
        return self._trained_estimators()

    @property
    def node_estimators_(self) -> list[list[Any]]:
        """The trained binary classifiers of each node's problems."""
        index, estimators = self._plan.distinct.index, self.estimators_
        return [[estimators[s] for s in index[node.problems]] for node in self._plan.nodes]

    def _can_learn_in_batches(self) -> bool:
        in_batches = all(hasattr(source, "partial_fit") for source in self._sources().values())
        return in_batches and not goes_by_data(self.structure)

    def _sources(self) -> dict[str, Any]:
        further = {f"estimators_{key}": value for key, value in (self.estimators or {}).items()}
        return super()._sources() | further

    def _walker(self) -> Walker:
        return Walker(self._plan, self._model, self._probabilities, self.n_jobs)

    def _walk(self, X: Any) -> tuple[NDArray[np.intp], list[Visit]]:
        """Return the winning classes, and which problems were asked of which samples."""
        walker = self._walker()
        if self.solve_ == "ddag" and len(self.classes_) > 2:
            scores, visits = walker.eliminate(X)
            return scores.argmax(axis=1), visits
        if self.solve_ == "most_probable" and len(self.classes_) > 2:
            return walker.search(X)
        return walker.descend(X)

    def _class_probabilities(self, X: Any) -> Array:
        if self.solve_ != "least_squares":
            return super()._class_probabilities(X)
        q = self._binary_probabilities(X)
        return solve_probabilities(q, self._plan.code, "least_squares", n_jobs=self.n_jobs)
