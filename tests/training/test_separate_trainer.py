"""Separate training against the same learners trained by hand."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from polychotomy import CodeClassifier
from polychotomy.codes import Code, describe_problems, one_vs_one
from polychotomy.learners import Learner
from polychotomy.structures import single_node
from polychotomy.training import FitProgress, Problems, SeparateTrainer, check_labels

K, N = 4, 120
CODE = one_vs_one(K)


@pytest.fixture
def samples(rng):
    y = rng.integers(K, size=N)
    return rng.normal(size=(N, 3)) + y[:, np.newaxis], y, rng.random(N) + 0.1


def problems():
    classes = np.arange(K)
    return Problems(classes, CODE, single_node(CODE), describe_problems(CODE.matrix, classes))


def progress():
    return FitProgress(CodeClassifier(), 100, 0)


def side(trainer, y, s):
    return trainer.distinct.columns[y, s]


def test_each_problem_is_trained_on_its_own_samples_and_weights(samples):
    X, y, weight = samples
    model = LogisticRegression()
    learner = Learner(model, params={"sample_weight": weight})
    trainer = SeparateTrainer.of(CODE, (learner,))
    splits = [(np.arange(0, N, 2), np.arange(1, N, 4)), (np.arange(1, N, 2), np.arange(0, N, 2))]
    trained, held_out = trainer.train(problems(), X, y, splits, ["margin"] * 6, progress())
    for s in range(6):
        sides = side(trainer, y, s)
        own = np.flatnonzero(sides)
        whole = clone(model).fit(X[own], sides[own], sample_weight=weight[own])
        expected = whole.decision_function(X)
        np.testing.assert_allclose(trained.outputs(X, "margin")[:, s], expected, atol=1e-9)
        by_threads = replace(trained, n_jobs=2).outputs(X, "margin", [s, 0])[:, 0]
        np.testing.assert_allclose(by_threads, expected, atol=1e-9)
        assert trained.counts.samples[s] == pytest.approx(weight[own].sum())
        for training, test in splits:
            seen = np.intersect1d(own, training)
            part = clone(model).fit(X[seen], sides[seen], sample_weight=weight[seen])
            expected[test] = part.decision_function(X[test])
        # Samples that no fold holds out have the outputs of the model of all samples.
        np.testing.assert_allclose(held_out.outputs[s], expected[own], atol=1e-9)
    assert held_out.by_folds


def test_precomputed_kernels_are_cut_to_the_samples_of_each_problem(samples):
    X, y, _ = samples
    K_X = rbf_kernel(X)
    trainer = SeparateTrainer.of(CODE, (Learner(SVC(kernel="precomputed")),))
    trained, _ = trainer.train(problems(), K_X, y, None, ["margin"] * 6, progress())
    plain = SeparateTrainer.of(CODE, (Learner(SVC(gamma=1.0 / 3)),))
    expected, _ = plain.train(problems(), X, y, None, ["margin"] * 6, progress())
    np.testing.assert_allclose(
        trained.outputs(K_X, "margin"), expected.outputs(X, "margin"), atol=1e-9
    )


def test_batches_go_on_with_the_same_learners(samples):
    """The first batch lacks class 3, so that its three problems see one class or nothing new."""
    X, y, _ = samples
    model = SGDClassifier(random_state=0)
    trainer = SeparateTrainer.of(CODE, (Learner(model),))
    batches = [np.flatnonzero(y < 2), np.flatnonzero(y > 1), np.flatnonzero(y != 1)]
    trained = None
    for batch in batches:
        trained = trainer.update(trained, problems(), X[batch], y[batch], progress())
    for s in range(6):
        sides = side(trainer, y, s)
        expected = clone(model)
        for batch in batches:
            own = batch[sides[batch] != 0]
            if len(own):
                expected.partial_fit(X[own], sides[own] > 0, classes=[False, True])
        np.testing.assert_allclose(
            trained.outputs(X, "margin")[:, s], expected.decision_function(X), atol=1e-9
        )
    assert trained.counts.classes.sum() == sum(map(len, batches))
    assert trained.counts.samples.sum() == 3 * sum(map(len, batches))


def test_a_problem_without_samples_yet_is_asked_in_vain(samples):
    X, y, _ = samples
    trainer = SeparateTrainer.of(CODE, (Learner(SGDClassifier(random_state=0)),))
    batch = np.flatnonzero(y < 2)
    trained = trainer.update(None, problems(), X[batch], y[batch], progress())
    never = [s for s in range(6) if not trainer.distinct.columns[:2, s].any()]
    assert [trained.estimator(s) is None for s in range(6)] == [s in never for s in range(6)]


def test_equal_columns_are_one_problem_unless_their_learners_differ(samples):
    X, y, _ = samples
    code = Code(np.array([[1, 1, -1, 1], [1, 1, -1, -1], [-1, -1, 1, 1], [-1, -1, 1, -1]]))
    learners = tuple(Learner(LogisticRegression(C=C)) for C in (1.0, 0.01))
    assert SeparateTrainer.of(code, learners[:1]).n_tasks == 2  # the third column is the first's
    trainer = SeparateTrainer.of(code, learners, np.array([0, 1, 0, 1]))
    assert trainer.learner_of.tolist() == [0, 1, 1]
    asked = Problems(
        np.arange(K), code, single_node(code), describe_problems(code.matrix, np.arange(K))
    )
    trained, _ = trainer.train(asked, X, y, None, ["margin"] * 3, progress())
    for s, C in enumerate((1.0, 0.01, 0.01)):
        expected = LogisticRegression(C=C).fit(X, side(trainer, y, s)).decision_function(X)
        np.testing.assert_allclose(trained.outputs(X, "margin")[:, s], expected, atol=1e-9)


def test_frozen_learners_are_not_merged_with_opposite_columns(samples):
    """The opposite question of one that is trained already would ask it upside down."""
    code = Code(np.array([[1, -1, 1], [1, -1, -1], [-1, 1, 1], [-1, 1, -1]]))
    X, y, _ = samples
    frozen = Learner(FrozenEstimator(LogisticRegression().fit(X, y < 2)))
    assert SeparateTrainer.of(code, (frozen,)).n_tasks == 3


def test_labels_are_classes():
    with pytest.raises(ValueError, match="Unknown label type"):
        check_labels(np.array([0.5, 1.5, 2.5]))
