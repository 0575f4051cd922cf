"""``TreeClassifier``: any structure, solved along the winning path or all at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import get_tags

from polychotomy.arrays import Array, Indices
from polychotomy.classifiers._meta_reduction_classifier import MetaReductionClassifier
from polychotomy.codes import Code, describe_problems, one_vs_one
from polychotomy.errors import unknown_name
from polychotomy.learners import Learner, check_learner, with_options
from polychotomy.readout import Readout
from polychotomy.structures import (
    Problem,
    Structure,
    lay_out,
    needs_samples,
    resolve_structure,
)
from polychotomy.training import Asking, Problems, Trainer, TrainingData, check_data, check_labels

_SOLVES = ("auto", "recursive", "most_probable", "least_squares")


class TreeClassifier(MetaReductionClassifier):
    """Multi-class classification by a structure: a tree, a DDAG, a flat code or any mixture.

    The structure says which classes each binary problem separates; a clone of `estimator` is
    trained on each, on the samples of its classes only. Prediction starts at the top and
    evaluates only the problems on the path of a sample. With two classes it
    is the binary classifier itself (unless ``decoder="probability"``), and with a single node a
    :class:`~polychotomy.CodeClassifier`.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier with ``decision_function`` or ``predict_proba``; by default a
        logistic regression.
    structure : str, Structure, path or callable, default="linkage"
        - ``"linkage"``: the tree that joins the nearest classes first, by `distance`; with many
          classes it can be nearly as deep as a chain;
        - ``"kmeans"``: for many classes, the balanced tree of at most 16 children a node that
          keeps classes with similar means together, see
          :func:`~polychotomy.structures.kmeans`; O(log k) problems lie on the way
          to a class;
        - ``"balanced"``: the tree that halves the classes, in the order of `class_order`;
        - ``"chain"``: the tree that separates the most frequent class first, then the next; equally
          frequent ones in the order of `class_order`;
        - ``"ddag"``: all pairs of classes, of which k − 1 are asked until one class is left: the
          first class in the order of `class_order` against the last;
        - a :class:`~polychotomy.Structure`, text in the control language (anything with a brace,
          see :func:`~polychotomy.parse_structure`), or the path of a file with it;
        - a function of X and y that returns one of these.

        Without a `class_order`, the order of the classes is that of their sorted names: renaming
        them can change a balanced tree, a chain whose frequencies tie, and a DDAG.
    distance : str or callable, default="auto"
        For ``"linkage"``: the distance between classes, see
        :func:`~polychotomy.structures.class_distances`. ``"auto"`` is ``"hausdorff"`` for up to 100
        classes and ``"centroid"`` for more. It is computed from X before any steps of a pipeline in
        `estimator`, so features should have comparable scales.
    solve : {"auto", "recursive", "most_probable", "least_squares"}, default="auto"
        ``"recursive"`` predicts the class at the end of the winning path, and multiplies
        conditional probabilities along every path. ``"most_probable"`` multiplies alike and
        predicts the most probable class, asking only what could still lead to it.
        ``"least_squares"`` flattens the structure, solves for the probabilities of all problems at
        once and predicts the most probable class. ``"auto"`` is ``"most_probable"``; without
        probabilities and for a single node it is ``"recursive"``, which for a single node is what
        :class:`~polychotomy.CodeClassifier` does, and for a DDAG it is elimination.
    estimators : dict of str to classifier, optional
        Further learners. A problem whose name or options in the structure are a key of the
        dictionary is trained with that classifier; other options such as ``"C=10 gamma=0.1"`` are
        parameters of `estimator`. A ``FrozenEstimator`` is not trained: if its labels are the two
        classes of a problem, they identify the sides; otherwise its second label is the side that
        the structure writes last, ``minus / plus``, or the second child of a node with two
        children.
    decoder : str, default="auto"
        Decoder of nodes with several problems, see :class:`~polychotomy.CodeClassifier`; a DDAG
        needs none. ``"probability"`` takes the most probable child of every node.
    probability : str or None, default="auto"
        Method for the probabilities of a node's children, see :class:`~polychotomy.CodeClassifier`.
        None disables probabilities and calibration.
    calibration : str, default="auto"
        Calibration of the outputs, see :class:`~polychotomy.CodeClassifier`.
    cv : int, cross-validation generator, iterable or None, default=5
        Folds for the calibration, which is fitted on held-out outputs.
    class_order : list, "data" or None, default=None
        Order of the classes, for structures that depend on it. ``"data"`` uses the order of
        :func:`~polychotomy.structures.order_classes`, by `distance`. By default the order is that
        of an ordered categorical y (pandas, or polars Enum), otherwise the sorted one.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights; the estimator must accept
        weights. ``"balanced"`` uses n_samples / (n_classes · samples of the class).
    reservoir : int or None, default=None
        For :meth:`partial_fit`: the maximum number of samples to hold out for the calibration, see
        :class:`~polychotomy.CodeClassifier`.
    n_jobs : int, optional
        Number of joblib workers for the problems, and of threads for the probabilities.
    random_state : int, RandomState instance or None, default=None
        Seed of all ``random_state`` parameters of the estimators that are None.
    verbose : int, default=0
        Show a progress bar on the standard error stream if positive.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    structure_ : Structure
        The structure. ``print(classifier.structure_)`` prints text that can be edited and passed as
        `structure`.
    solve_ : {"recursive", "most_probable", "least_squares", "ddag"}
        The value of `solve` in use.
    problems_ : list of str
        Each problem in words, in the order of ``structure_.problems``.
    estimators_ : list of classifiers
        One for each distinct problem, with the labels 0 and 1; 1 is the side with fewer classes or,
        of equal sides, the one without the first class.
    node_estimators_ : list of lists of classifiers
        The classifiers of each node's problems, in the order of ``structure_.nodes()``.
    node_decoders_ : list of str
        The decoding rule of each node; "probability" for the most probable child.
    node_probabilities_ : list of str or None
        The method for the probabilities of each node's children.
    class_counts_ : ndarray of shape (n_classes,)
        Number of training samples of each class.
    held_out_ : Bunch
        With `reservoir`, the samples that are held out: `data`, `target` (their labels) and
        `weight` (which restores the class frequencies of the stream).
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
    All problems of all nodes are trained in one parallel batch. They are held as one flat matrix
    of a byte for each class and problem: 100 MB for 10 000 classes.

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
        distance: Any = "auto",
        solve: str = "auto",
        estimators: Mapping[str, Any] | None = None,
        decoder: str = "auto",
        probability: str | None = "auto",
        calibration: str = "auto",
        cv: Any = 5,
        *,
        class_order: Any = None,
        class_weight: Any = None,
        reservoir: int | None = None,
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
        self.class_order = class_order
        self.class_weight = class_weight
        self.reservoir = reservoir
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        rows, columns, start = [], [], 0
        for ask in self._asks(X, n_best=1):
            for problems, samples in self._readout.decide(ask)[1]:
                asked = np.arange(problems.start, problems.stop)
                rows.append(start + np.repeat(samples, len(asked)))
                columns.append(np.tile(asked, len(samples)))
            start += ask.n_samples
        where = np.concatenate(rows), np.concatenate(columns)
        shape = start, self._problems.code.n_problems
        return csr_array((np.ones(len(where[0]), dtype=np.int64), where), shape=shape)

    def node_errors(self, X: Any, y: Any) -> Array:
        """Return the error of each node on the samples of its own classes.

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
        if y is None:
            raise ValueError("The errors of nodes need the true labels: y must not be None.")
        self._checked(X)
        X, y = check_data(self, X, y, reset=False)
        indices, ask = check_labels(y, self.classes_)[1], Asking(self._trained, X)
        errors = np.full(len(self._problems.nodes), np.nan)
        for i, node in enumerate(self._problems.nodes):
            samples = np.flatnonzero(node.child[indices] >= 0)
            if samples.size:
                chosen = self._readout.choose_child(i, ask, samples)
                errors[i] = np.mean(chosen != node.child[indices[samples]])
        return errors

    @property
    def estimators_(self) -> list[Any]:
        """The trained binary classifiers, one for each distinct problem."""
        return self._trained_estimators()

    @property
    def node_estimators_(self) -> list[list[Any]]:
        """The trained binary classifiers of each node's problems."""
        index, estimators = self._readout.distinct.index, self.estimators_
        return [[estimators[s] for s in index[node.problems]] for node in self._problems.nodes]

    def _lay_out(self, data: TrainingData) -> Problems:
        if self.solve not in _SOLVES:
            raise unknown_name("solve", self.solve, _SOLVES)
        if self.solve in ("least_squares", "most_probable") and self.probability is None:
            raise ValueError(f"solve={self.solve!r} needs 'probability' not to be None.")
        structure = resolve_structure(
            self.structure,
            data.classes,
            data.X,
            data.y,
            distance=self.distance,
            sample_weight=data.weight,
            pairwise=get_tags(self).input_tags.pairwise,
            order=self._order(data),
        )
        classes = data.classes
        matrix, nodes = lay_out(structure, {c: r for r, c in enumerate(classes.tolist())})
        return StructuredProblems(
            classes, Code(matrix), nodes, describe_problems(matrix, classes), structure
        )

    def _choose_trainer(
        self, problems: Problems, learners: Mapping[str, Learner], *, in_batches: bool = False
    ) -> Trainer:
        assert isinstance(problems, StructuredProblems)
        used, chosen = choose_learners(learners, self.estimators, problems.structure.problems)
        return self._trainer(problems, used, chosen, in_batches=in_batches)

    def _choose_readout(self, problems: Problems, trainer: Trainer, **further: Any) -> Readout:
        eliminates = self._is_ddag() and self.solve in ("auto", "recursive")
        path, decoder = ("ddag", "ddag") if eliminates else (self.solve, self.decoder)
        return super()._choose_readout(problems, trainer, decoder=decoder, path=path, **further)

    def _set_fitted(self) -> None:
        assert isinstance(self._problems, StructuredProblems)
        readout = self._readout
        self.structure_, self.solve_ = self._problems.structure, readout.path
        self.node_decoders_ = list(readout.rules)
        self.node_probabilities_ = list(readout.methods or [None] * len(readout.nodes))
        self.class_counts_ = self._trained.counts.classes

    def _is_ddag(self) -> bool:
        return isinstance(self.structure, str) and self.structure == "ddag"

    def _learners(self) -> dict[str, Any]:
        further = self.estimators if isinstance(self.estimators, Mapping) else {}
        return super()._learners() | {f"estimators_{key}": each for key, each in further.items()}

    def _learns_in_batches(self) -> bool:
        return super()._learns_in_batches() and not needs_samples(self.structure)

    def _code_for(self, classes: NDArray[Any], rng: Any) -> Code:
        """Return the code of a node, on which ways to probabilities agree in a tree."""
        return one_vs_one(len(classes) if self._is_ddag() else 2)


@dataclass(frozen=True, eq=False)
class StructuredProblems(Problems):
    """The problems of a structure, and the structure that they come from."""

    structure: Structure


def choose_learners(
    given: Mapping[str, Learner], estimators: Mapping[str, Any] | None, problems: Sequence[Problem]
) -> tuple[tuple[Learner, ...], Indices]:
    """Return the learners in use, and for each problem the number of its own.

    A name or options found in `estimators` take that estimator; other options are parameters of
    the base, ``"C=10 gamma=0.1"``; all other problems take the base.
    """
    if estimators is not None and not isinstance(estimators, Mapping):
        raise ValueError(
            "The 'estimators' parameter must be a dictionary of names and classifiers. "
            f"Got {type(estimators).__name__}."
        )
    known, base = {} if estimators is None else dict(estimators), given["estimator"]
    found: dict[str, int] = {}
    learners: list[Learner] = []
    chosen = np.empty(len(problems), dtype=np.intp)
    for s, problem in enumerate(problems):
        said = problem.name or problem.options or ""
        key = said if said in known or (problem.options or "").strip() else ""
        if key not in found:
            found[key] = len(learners)
            if key in known:
                learners.append(given[f"estimators_{key}"])
            else:
                learners.append(replace(base, estimator=with_options(base.estimator, key, known)))
        chosen[s] = found[key]
    _check_learners([each.estimator for each in (base, *learners)], known, found)
    return tuple(learners), chosen


def _check_learners(
    estimators: Sequence[Any], known: Mapping[str, Any], used: Mapping[str, int]
) -> None:
    for key in sorted(known.keys() - used.keys()):
        raise ValueError(
            "Every key of the 'estimators' parameter must be the name or the options of a problem "
            f"of the structure. There is no problem {key!r}."
        )
    for key, estimator in known.items():
        check_learner(estimator, name=f"estimators[{key!r}]")
    if len({get_tags(estimator).input_tags.pairwise for estimator in estimators}) > 1:
        raise ValueError("Either all estimators work on a precomputed kernel, or none does.")
