"""Trainers and readouts: what may not depend on how problems are trained or named."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from polychotomy import CodeClassifier, SharedKernelSVC, TreeClassifier
from polychotomy.calibration import folds
from polychotomy.codes import describe_problems
from polychotomy.learners import Learner
from polychotomy.readout import Readout
from polychotomy.structures import single_node
from polychotomy.training import Asking, FitProgress, JointTrainer, Problems, SeparateTrainer
from tests.properties.strategies import codes

EXACT = {"tol": 1e-9, "gamma": 0.3}


def samples(k, seed):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.repeat(np.arange(k), 6), rng.integers(k, size=10)])
    return rng.normal(size=(len(y), 3)) + y[:, np.newaxis], y


def problems_of(code):
    classes = np.arange(code.n_classes)
    return Problems(
        classes, code, single_node(code), tuple(describe_problems(code.matrix, classes))
    )


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


@settings(max_examples=15)
@given(codes(), st.randoms(use_true_random=False))
def test_a_readout_does_not_depend_on_the_order_of_classes(code, random):
    k = code.n_classes
    order = list(range(k))
    random.shuffle(order)
    outputs = np.random.default_rng(random.randrange(99)).normal(size=(20, code.n_problems))
    permuted = type(code)(code.matrix[order])

    def scores(each, method):
        trainer = SeparateTrainer.of(each, (Learner(SVC()),))
        readout = Readout.of(
            problems_of(each), trainer, decoder="hinge", probability=None, calibration="auto"
        )
        distinct = readout.distinct
        first = np.unique(distinct.index, return_index=True)[1]
        said = outputs[:, first] * distinct.sign[first]
        return getattr(readout, method)(Told(said))

    np.testing.assert_allclose(
        scores(permuted, "scores"), scores(code, "scores")[:, order], atol=1e-9
    )


class Told:
    """Outputs that were computed before."""

    def __init__(self, said):
        self.said, self.n_samples = said, len(said)

    def __call__(self, kind, which=None, rows=None):
        said = self.said if which is None else self.said[:, which]
        said = said if rows is None else said[rows]
        return np.sign(said) if kind == "side" else said.copy()


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
