import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.tree import DecisionTreeClassifier

from polychotomy import CodeClassifier, SharedLinear, TreeClassifier, make_code
from polychotomy.classifiers import with_rules
from polychotomy.readout import _class_means

X, Y = load_digits(return_X_y=True)
X = X / 16
TRAIN, TEST = slice(0, 900), slice(900, None)
CODES = {
    "dense": make_code("dense_random", 10, n_problems=12, random_state=0),
    "sparse": make_code("sparse_random", 10, random_state=0),
    "trellis": make_code("trellis", 10),
}


def trained(code, probability=None, **params):
    learner = CodeClassifier(
        SharedLinear(), code, decoder="class_means", probability=probability, **params
    )
    return learner.fit(X[TRAIN], Y[TRAIN])


def nearest(outputs, y, tests):
    """The nearest centroid of outputs over their standard deviations within classes."""
    means = np.array([outputs[y == c].mean(axis=0) for c in range(10)])
    scale = np.sqrt(((outputs - means[y]) ** 2).mean(axis=0))
    return NearestCentroid().fit(outputs / scale, y).predict(tests / scale)


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_the_nearest_mean_of_the_training_outputs_wins(code):
    classifier = trained(code)
    outputs = classifier.binary_outputs(X)
    expected = nearest(outputs[TRAIN], Y[TRAIN], outputs[TEST])
    np.testing.assert_array_equal(classifier.predict(X[TEST]), expected)
    assert classifier.decoder_ == "class_means"
    scores = classifier.decision_function(X[TEST])
    top = np.argsort(-scores, axis=1, kind="stable")[:, :3]
    np.testing.assert_array_equal(classifier.predict_top(X[TEST], 3), top)


def test_scores_differ_as_those_of_naive_bayes_with_equal_variances():
    classifier = trained(CODES["dense"])
    outputs = classifier.binary_outputs(X)
    bayes = GaussianNB(priors=np.full(10, 0.1), var_smoothing=0).fit(outputs[TRAIN], Y[TRAIN])
    bayes.var_[:] = np.average(bayes.var_, axis=0, weights=bayes.class_count_)
    expected = bayes.predict_joint_log_proba(outputs[TEST])
    found = classifier.decision_function(X[TEST])
    expected, found = (s - s.mean(axis=1, keepdims=True) for s in (expected, found))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_folds_of_the_calibration_give_the_means(name):
    code, folds = CODES[name], list(KFold(3).split(X[TRAIN]))
    classifier = trained(code, "least_squares", cv=folds)
    outputs = classifier.binary_outputs(X)
    held_out = outputs[TRAIN].copy()
    for training, test in folds:
        model = SharedLinear().fit_joint(X[training], code.matrix[Y[training]])
        takes_part = code.matrix[Y[test]] != 0
        held_out[test] = np.where(takes_part, model.outputs(X[test]), held_out[test])
    expected = nearest(held_out, Y[TRAIN], outputs[TEST])
    np.testing.assert_array_equal(classifier.predict(X[TEST]), expected)


def test_a_sample_without_weight_counts_for_nothing():
    weight = np.where(np.arange(900) % 3 == 0, 0.0, 2.0)
    classifier = CodeClassifier(
        SharedLinear(C=0.5), CODES["dense"], decoder="class_means", probability=None
    )
    weighted = classifier.fit(X[TRAIN], Y[TRAIN], sample_weight=weight).decision_function(X[TEST])
    kept = weight > 0
    classifier.set_params(estimator=SharedLinear(C=1.0)).fit(X[TRAIN][kept], Y[TRAIN][kept])
    np.testing.assert_allclose(weighted, classifier.decision_function(X[TEST]), rtol=1e-6)


def test_outputs_that_do_not_vary_within_classes_are_compared_all_the_same():
    classifier = CodeClassifier(
        DecisionTreeClassifier(random_state=0), CODES["dense"], "class_means", probability=None
    ).fit(X[TRAIN], Y[TRAIN])
    assert np.isfinite(classifier.decision_function(X[TEST])).all()
    assert classifier.score(X[TRAIN], Y[TRAIN]) == 1


def test_linear_learners_of_many_classes_gain_much(rng):
    """Half the classes against the other half, at random, is no linear problem."""
    centres, y = rng.normal(size=(100, 10)), np.arange(3000) % 100
    samples = centres[y] + 0.1 * rng.normal(size=(3000, 10))
    code, found = make_code("dense_random", 100, random_state=0), []
    for decoder in ("auto", "class_means"):
        classifier = CodeClassifier(SharedLinear(), code, decoder, probability=None)
        found.append(classifier.fit(samples[:2000], y[:2000]).score(samples[2000:], y[2000:]))
    assert found[0] < 0.5
    assert found[1] > 0.95


def test_two_classes_are_the_classifier_itself():
    two = Y < 2
    classifier = CodeClassifier(SharedLinear(), "one_vs_rest", "class_means", probability=None)
    expected = SharedLinear().fit(X[two], Y[two]).predict(X[two])
    np.testing.assert_array_equal(classifier.fit(X[two], Y[two]).predict(X[two]), expected)


def test_what_has_no_outputs_to_average_is_refused():
    with pytest.raises(ValueError, match="single code for all classes"):
        TreeClassifier(SharedLinear(), decoder="class_means").fit(X, Y)
    for reservoir in (None, 50):  # samples that are held out are not those of training
        batches = CodeClassifier(SharedLinear(), decoder="class_means", reservoir=reservoir)
        assert not hasattr(batches, "partial_fit")
        with pytest.raises(AttributeError, match="partial_fit") as raised:
            batches.partial_fit(X, Y, classes=np.arange(10))
        assert "needs the outputs of all training samples" in str(raised.value.__cause__)
    plain = CodeClassifier(SharedLinear(), "one_vs_rest", probability=None).fit(X, Y)
    with pytest.raises(ValueError, match="fit with decoder='class_means'"):
        with_rules(plain, "class_means", None).predict(X)


def test_more_classes_than_fit_in_memory_are_refused_with_an_estimate():
    code = make_code("one_vs_rest", 30_000)
    with pytest.raises(ValueError, match=r"30000 problems needs arrays of 6.71 GiB. Take a code"):
        _class_means.check_class_means(("class_means",), code)
