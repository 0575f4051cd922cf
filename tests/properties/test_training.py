"""Trainers and readouts: what may not depend on how problems are trained or named."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from polychotomy import CodeClassifier, SharedKernelSVC, TreeClassifier
from polychotomy.calibration import Sigmoid, folds
from polychotomy.codes import describe_problems
from polychotomy.learners import Learner
from polychotomy.readout import Readout
from polychotomy.structures import single_node
from polychotomy.training import (
    Asking,
    FitProgress,
    JointTrainer,
    KnownOutputs,
    Problems,
    SeparateTrainer,
)
from tests.properties.strategies import codes

EXACT = {"tol": 1e-9, "gamma": 0.3}


def samples(k, seed):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.repeat(np.arange(k), 6), rng.integers(k, size=10)])
    return rng.normal(size=(len(y), 3)) + y[:, np.newaxis], y


def problems_of(code):
    classes = np.arange(code.n_classes)
    return Problems(classes, code, single_node(code), describe_problems(code.matrix, classes))


def trained(trainer, problems, X, y, splits):
    kinds = ["margin"] * len(trainer.says)
    with FitProgress(CodeClassifier(), trainer.n_tasks * (1 + len(splits)), 0) as progress:
        return trainer.train(problems, X, y, splits, kinds, progress)


@settings(max_examples=15)
@given(codes(), st.integers(0, 99))
def test_a_joint_trainer_trains_what_separate_ones_do(code, seed):
    X, y = samples(code.n_classes, seed)
    problems, splits = problems_of(code), list(folds(3, X, y, np.arange(code.n_classes)))
    svm = SharedKernelSVC(dtype="float64", **EXACT)
    joint = JointTrainer(Learner(svm), svm, code.distinct)
    separate = SeparateTrainer.of(code, (Learner(SVC(**EXACT)),))
    (one, held_one), (two, held_two) = (
        trained(trainer, problems, X, y, splits) for trainer in (joint, separate)
    )
    np.testing.assert_allclose(one.outputs(X, "margin"), two.outputs(X, "margin"), atol=1e-4)
    np.testing.assert_array_equal(one.counts.samples, two.counts.samples)
    for s, (a, b) in enumerate(zip(held_one.outputs, held_two.outputs, strict=True)):
        np.testing.assert_allclose(a, b, atol=1e-4, err_msg=problems.names[s])


@settings(max_examples=15)
@given(codes(), st.integers(0, 99))
def test_held_out_outputs_are_those_of_models_that_have_not_seen_the_sample(code, seed):
    X, y = samples(code.n_classes, seed)
    problems, splits = problems_of(code), list(folds(3, X, y, np.arange(code.n_classes)))
    svm = SharedKernelSVC(dtype="float64", **EXACT)
    _, held_out = trained(JointTrainer(Learner(svm), svm, code.distinct), problems, X, y, splits)
    for s in range(held_out.targets.n_problems):
        own = held_out.targets.samples(s)
        for training, test in splits:
            seen, asked = np.intersect1d(own, training), np.intersect1d(own, test)
            model = SVC(**EXACT).fit(X[seen], held_out.targets.sides(s, seen))
            found = held_out.outputs[s][np.searchsorted(own, asked)]
            np.testing.assert_allclose(found, model.decision_function(X[asked]), atol=1e-4)


class TrainedOneByOne(SharedKernelSVC):
    """A joint learner whose folds are not trained as columns, as if its problems were coupled."""

    couples = True

    def fit_joint(self, X, targets, *, like=None):
        return super().fit_joint(X, targets)


@settings(max_examples=15)
@given(codes(), st.integers(0, 99))
def test_folds_trained_one_by_one_answer_as_folds_as_columns_do(code, seed):
    X, y = samples(code.n_classes, seed)
    problems, splits = problems_of(code), list(folds(3, X, y, np.arange(code.n_classes)))
    learners = (kind(dtype="float64", **EXACT) for kind in (SharedKernelSVC, TrainedOneByOne))
    trainers = [JointTrainer(Learner(svm), svm, code.distinct) for svm in learners]
    columns, one_by_one = (trained(each, problems, X, y, splits)[1] for each in trainers)
    for a, b in zip(columns.outputs, one_by_one.outputs, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)


@settings(max_examples=15)
@given(codes(), st.randoms(use_true_random=False))
def test_a_readout_does_not_depend_on_the_order_of_classes(code, random):
    order = list(range(code.n_classes))
    random.shuffle(order)
    outputs = np.random.default_rng(random.randrange(99)).normal(size=(20, code.n_problems))
    permuted, plain = (read(each, outputs) for each in (type(code)(code.matrix[order]), code))
    for here, there in zip(permuted, plain, strict=True):
        np.testing.assert_allclose(here, there[:, order], atol=1e-6)


def read(code, outputs):
    """Return the scores and probabilities for given outputs of all problems."""
    trainer = SeparateTrainer.of(code, (Learner(SVC()),))
    readout = Readout.of(problems_of(code), trainer, decoder="hinge", probability="least_squares")
    n, first = len(trainer.says), trainer.distinct.first
    readout = replace(readout, calibrators=(Sigmoid(1.0),) * n, counts=np.ones(n))
    ask = KnownOutputs(outputs[:, first] * trainer.distinct.sign[first])
    return readout.scores(ask), readout.probabilities(ask)


@settings(max_examples=10)
@given(st.integers(3, 6), st.integers(0, 99))
def test_other_rules_of_one_training_are_those_of_another_training(k, seed):
    X, y = samples(k, seed)
    plain = CodeClassifier(LogisticRegression(), "one_vs_rest").fit(X, y)
    for decoder in ("votes", "linear", "exponential", "probability"):
        other = CodeClassifier(LogisticRegression(), "one_vs_rest", decoder).fit(X, y)
        readout = plain._readout.replace(decoder=decoder)
        np.testing.assert_array_equal(
            readout.scores(Asking(plain._trained, X)),
            other._readout.scores(Asking(other._trained, X)),
        )


@settings(max_examples=10)
@given(st.integers(3, 6), st.integers(0, 99))
def test_the_most_probable_class_is_found_without_asking_everything(k, seed):
    X, y = samples(k, seed)
    tree = TreeClassifier(LogisticRegression(), "balanced").fit(X, y)
    np.testing.assert_array_equal(tree.predict(X), tree.predict_proba(X).argmax(axis=1))
    assert tree.decision_path(X).max() <= 2
