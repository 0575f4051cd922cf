import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.base import clone
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from polychotomy import Code, CodeClassifier, available_codes, make_code
from polychotomy.probability import _better_method, better_method, solve


@pytest.fixture(scope="module")
def blobs():
    """Overlapping classes whose true probabilities are known."""
    X, y = make_blobs(1200, centers=4, cluster_std=3.0, random_state=0)
    centres = np.array([X[y == c].mean(axis=0) for c in range(4)])
    squares = ((X[:, np.newaxis] - centres) ** 2).sum(axis=2)
    truth = np.exp(-(squares - squares.min(axis=1, keepdims=True)) / (2 * 3.0**2))
    return X, y, truth / truth.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("code", available_codes())
@pytest.mark.parametrize("base", [LogisticRegression(), SVC(), RidgeClassifier()], ids=repr)
def test_probabilities_are_near_the_truth_for_every_code(base, code, blobs):
    X, y, truth = blobs
    classifier = CodeClassifier(base, code=code, random_state=0).fit(X[:600], y[:600])
    p = classifier.predict_proba(X[600:])
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    ours, best = log_loss(y[600:], np.clip(p, 1e-9, 1)), log_loss(y[600:], truth[600:])
    assert ours < best + (0.4 if code == "adjacent" else 0.2)  # knowing nothing: log 4 = 1.39
    assert roc_auc_score(y[600:], p, multi_class="ovr") > 0.7


@pytest.mark.parametrize("code", ["one_vs_rest", "one_vs_one", "bch"])
def test_the_decoder_probability_predicts_the_most_probable_class(code, blobs):
    X, y, _ = blobs
    for classes in (4, 2):
        part = y < classes
        classifier = CodeClassifier(SVC(), code=code, decoder="probability").fit(X[part], y[part])
        winners = classifier.predict_proba(X).argmax(axis=1)
        np.testing.assert_array_equal(classifier.predict(X), classifier.classes_[winners])


@pytest.mark.parametrize("base", [LogisticRegression(), GaussianNB()], ids=repr)
@pytest.mark.parametrize("code", [c for c in available_codes() if c != "orthogonal"])
def test_two_classes_have_the_probabilities_of_the_base(base, code, iris):
    X, y = iris
    ours = CodeClassifier(base, code=code, calibration="none", random_state=0).fit(X[50:], y[50:])
    theirs = base.fit(X[50:], y[50:])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


def test_auto_says_what_it_chose(blobs):
    X, y, _ = blobs

    def chosen(base, code, **options):
        fitted = CodeClassifier(base, code=code, **options).fit(X, y)
        return fitted.probability_, fitted.calibration_

    assert chosen(SVC(), "one_vs_one") == ("coupling", "sigmoid")
    assert chosen(SVC(), "bch", cv=None) == ("least_squares", "sigmoid")
    assert chosen(SVC(), "bch", calibration="isotonic")[0] in ("least_squares", "kullback_leibler")
    assert chosen(LogisticRegression(), "one_vs_rest") == ("least_squares", "none")
    assert chosen(SVC(), "one_vs_rest", cv=None) == ("least_squares", "sigmoid")
    assert chosen(SVC(), "one_vs_one", probability="kullback_leibler", calibration="isotonic") == (
        "kullback_leibler",
        "isotonic",
    )


@pytest.mark.parametrize("n_classes", [3, 10])
@pytest.mark.parametrize("base", [SVC(), GaussianNB()], ids=repr)
@pytest.mark.parametrize("code", ["one_vs_rest", "bch", "sparse_random"])
def test_auto_has_the_lowest_log_loss_out_of_fold(code, base, n_classes, digits):
    """The truth: problems trained on the folds by hand; all samples are new to some problems."""
    X, y = digits
    X, y = X[y < n_classes][:200], y[y < n_classes][:200]
    folds = list(StratifiedKFold(3).split(X, y))
    made = CodeClassifier(base, code, cv=folds, random_state=0).fit(X, y)
    plain = CodeClassifier(base, made.code_, probability=None, random_state=0)
    kind = "log_odds" if isinstance(base, GaussianNB) else "margin"
    plain.set_params(decoder="votes")
    outputs = plain.fit(X, y).binary_outputs(X)
    assert plain.output_kind_ == kind
    takes_part = made.code_.matrix[y] != 0
    for train, test in folds:
        held_out = clone(plain).fit(X[train], y[train]).binary_outputs(X[test])
        outputs[test] = np.where(takes_part[test], held_out, outputs[test])
    calibrators, distinct = made._readout.calibrators, made._readout.distinct
    f = np.clip(outputs, -50, 50) if kind == "log_odds" else outputs
    q = np.empty_like(f)
    for s, (index, sign) in enumerate(zip(distinct.index, distinct.sign, strict=True)):
        p = calibrators[index](sign * f[:, s])
        q[:, s] = p if sign > 0 else 1 - p
    losses = {}
    methods = ["least_squares", "kullback_leibler", *["normalise"] * (code == "one_vs_rest")]
    for method in methods:
        counts = takes_part.sum(axis=0)
        p = np.maximum(solve(q, made.code_, method, sample_counts=counts), 1e-6)
        losses[method] = log_loss(y, p / p.sum(axis=1, keepdims=True))
    assert made.probability_ == min(losses, key=losses.get)


@pytest.mark.parametrize("best", ["least_squares", "product"])
def test_auto_also_tries_the_product_where_probabilities_are_not_determined(best):
    """Sides of problems that err alone multiply; sides that two classes share do not."""
    code, rng = (
        make_code("dense_random", 12, n_problems=8, random_state=0),
        np.random.default_rng(0),
    )
    child = np.arange(240) % 12
    if best == "product":
        q = 1 / (1 + np.exp(-2.0 * code.matrix[child] - rng.normal(size=(240, 8))))
    else:  # each sample is of one of two classes, both equally likely
        other = (child + rng.integers(1, 12, size=240)) % 12
        q = np.clip((code.matrix[child] + code.matrix[other]) / 4 + 0.5, 0.001, 0.999)
    found = better_method(q, code, child, np.ones(240), np.full(8, 240.0))
    losses = {}
    for method in ("least_squares", "product"):
        p = np.maximum(solve(q, code, method), 1e-6)
        losses[method] = log_loss(child, p / p.sum(axis=1, keepdims=True))
    assert found == min(losses, key=losses.get) == best


@pytest.mark.parametrize("heavy", [False, True])
def test_methods_are_compared_until_one_is_clearly_better(monkeypatch, heavy):
    """By samples with a weight alone, and by few of them where these tell."""
    rng = np.random.default_rng(0)
    code, n = make_code("one_vs_rest", 3), 4000
    child = rng.integers(3, size=n)
    q = np.clip(np.where(np.eye(3)[child] > 0, 0.45, 0.3) + rng.normal(0, 0.1, (n, 3)), 0.01, 0.99)
    weight = np.ones(n)
    if heavy:  # the others would choose otherwise
        q[::2] = rng.random((n // 2, 3))
        weight[::2] = 0
    solved = []

    def spied(q, *args, **options):
        solved.append(len(q))
        return solve(q, *args, **options)

    monkeypatch.setattr(_better_method, "solve", spied)
    found = better_method(q, code, child, weight, np.full(3, float(n)))
    losses = {}
    for method in ("least_squares", "kullback_leibler", "normalise"):
        p = np.maximum(solve(q, code, method), 1e-6)
        p /= p.sum(axis=1, keepdims=True)
        losses[method] = log_loss(child, p, sample_weight=weight)
    assert found == min(losses, key=losses.get)
    assert sum(solved) < 3 * n


def test_held_out_outputs_calibrate_better_than_training_outputs(digits):
    X, y = digits
    base = SVC(C=100, gamma=0.2)  # learns the training samples by heart
    losses = []
    for cv in (5, None):
        classifier = CodeClassifier(base, code="one_vs_rest", cv=cv).fit(X[:300], y[:300])
        losses.append(log_loss(y[300:], np.clip(classifier.predict_proba(X[300:]), 1e-9, 1)))
    assert losses[0] < losses[1]


@pytest.mark.parametrize("calibration", ["logistic", "sigmoid", "isotonic"])
def test_every_calibration_works_on_margins_and_probabilities(calibration, blobs):
    X, y, _ = blobs
    for base in (SVC(), GaussianNB(), LogisticRegression()):
        classifier = CodeClassifier(base, calibration=calibration).fit(X[:400], y[:400])
        assert log_loss(y[400:], np.clip(classifier.predict_proba(X[400:]), 1e-9, 1)) < 1.1


def test_n_jobs_changes_nothing(blobs):
    X, y, _ = blobs
    one, two = (CodeClassifier(SVC(), n_jobs=n).fit(X, y).predict_proba(X) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_a_splitter_can_be_given(blobs):
    X, y, _ = blobs
    shuffled = KFold(3, shuffle=True, random_state=0)
    assert CodeClassifier(SVC(), cv=shuffled).fit(X, y).predict_proba(X).shape == (1200, 4)


def test_classes_with_one_sample(blobs):
    X, y, _ = blobs
    keep = np.append(np.flatnonzero(y < 3), np.flatnonzero(y == 3)[0])
    with pytest.warns(UserWarning, match="fewer samples than folds: 3"):
        classifier = CodeClassifier(SVC()).fit(X[keep], y[keep])
    assert np.isfinite(classifier.predict_proba(X)).all()


def test_precomputed_kernels_are_calibrated_too(blobs):
    X, y, _ = blobs
    plain = CodeClassifier(SVC(gamma=0.1)).fit(X[:300], y[:300])
    kernel = CodeClassifier(SVC(kernel="precomputed")).fit(rbf_kernel(X[:300], gamma=0.1), y[:300])
    np.testing.assert_allclose(
        kernel.predict_proba(rbf_kernel(X[300:], X[:300], gamma=0.1)),
        plain.predict_proba(X[300:]),
        atol=1e-6,
    )


def test_weights_reach_the_calibration(blobs):
    X, y, _ = blobs
    weight = np.where(y == 0, 20.0, 1.0)
    base = LogisticRegression()
    plain = CodeClassifier(base, calibration="sigmoid").fit(X, y).predict_proba(X)
    heavy = CodeClassifier(base, calibration="sigmoid").fit(X, y, sample_weight=weight)
    assert heavy.predict_proba(X)[:, 0].mean() > plain[:, 0].mean() + 0.1


def test_without_probabilities_nothing_is_calibrated(blobs):
    X, y, _ = blobs
    classifier = CodeClassifier(SVC(), probability=None).fit(X, y)
    assert not hasattr(classifier, "predict_proba")
    assert classifier.probability_ is None
    with pytest.raises(ValueError, match="Set 'probability' to something other than None"):
        CodeClassifier(SVC(), probability=None, decoder="probability").fit(X, y)


def test_batches_have_probabilities_only_where_the_learner_has(blobs):
    X, y, _ = blobs
    bayes = CodeClassifier(GaussianNB()).partial_fit(X, y, classes=range(4))
    assert bayes.predict_proba(X).shape == (1200, 4)
    margins = CodeClassifier(SGDClassifier(random_state=0)).partial_fit(X, y, classes=range(4))
    with pytest.raises(ValueError, match="partial_fit cannot calibrate"):
        margins.predict_proba(X)


def test_a_code_that_leaves_probabilities_open_says_so(blobs):
    X, y, _ = blobs
    code = Code([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    classifier = CodeClassifier(code=code).fit(X, y)
    with pytest.warns(UserWarning, match="does not determine the probabilities"):
        classifier.predict_proba(X)


def test_there_is_no_rejection_by_probability_without_probabilities(blobs):
    X, y, _ = blobs
    never = CodeClassifier(SVC(), probability=None).fit(X[:200], y[:200])
    with pytest.raises(ValueError, match="set 'probability' and fit again"):
        never.predict_or_reject(X, "probability", 0.5)
    with pytest.raises(ValueError, match="set 'probability' and fit again"):
        never.predict_or_reject(X, threshold=0.5)


def test_the_five_best_classes_are_said_unless_a_number_is_given(digits):
    X, y = digits
    classifier = CodeClassifier(GaussianNB(var_smoothing=0.1), "one_vs_rest").fit(X[:300], y[:300])
    assert classifier.predict_top(X[:7]).shape == (7, 5)
    assert classifier.predict_top_proba(X[:7])[1].shape == (7, 5)


def test_reject_by_probability(blobs):
    X, y, _ = blobs
    classifier = CodeClassifier(SVC()).fit(X[:600], y[:600])
    labels, accepted = classifier.predict_or_reject(X[600:], "probability", threshold=0.6)
    p = classifier.predict_proba(X[600:])
    np.testing.assert_array_equal(accepted, p.max(axis=1) >= 0.6)
    right = labels == y[600:]
    assert right[accepted].mean() > right.mean() + 0.05


def test_log_probabilities(blobs):
    X, y, _ = blobs
    classifier = CodeClassifier(SVC()).fit(X, y)
    np.testing.assert_allclose(np.exp(classifier.predict_log_proba(X)), classifier.predict_proba(X))


def test_scikit_learns_displays_take_it(blobs):
    X, y, _ = blobs
    classifier = CodeClassifier(SVC()).fit(X, y)
    display = CalibrationDisplay.from_predictions(y == 0, classifier.predict_proba(X)[:, 0])
    assert np.all(np.diff(display.prob_pred) > 0)
    plt.close("all")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probability": "coupling", "code": "bch"}, "'coupling' needs a code"),
        ({"probability": "least_square"}, "Did you mean 'least_squares'"),
        ({"calibration": "none"}, "needs an estimator with predict_proba"),
        ({"cv": 1}, "'cv' parameter must be an int of at least 2"),
    ],
)
def test_bad_parameters_are_refused(options, message, blobs):
    X, y, _ = blobs
    with pytest.raises(ValueError, match=message):
        CodeClassifier(SVC(), **options).fit(X, y)
