import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from polychotomy.assess import (
    BootstrapInterval,
    bootstrap_difference,
    corrected_resampled_t,
    mcnemar,
)


def _wrong(rng, n, share):
    return rng.random(n) < share


def test_it_is_the_bootstrap_of_the_indices(rng):
    """Drawing counts gives the quantiles that drawing samples gives, and SciPy's."""
    y, first, second = np.zeros(400), _wrong(rng, 400, 0.1), _wrong(rng, 400, 0.15)
    result = bootstrap_difference(y, first, second, n_resamples=200_000, random_state=0)
    losses = first.astype(float) - second
    expected = stats.bootstrap(
        (losses,), np.mean, n_resamples=20_000, confidence_level=0.9, method="percentile", rng=1
    ).confidence_interval
    np.testing.assert_allclose([result.low, result.high], expected, atol=0.0026)
    assert result.difference == pytest.approx(losses.mean())


def test_a_tenth_is_drawn_from_folds_with_equal_probability(rng):
    """By the indices: the size of a tenth, a fold for each draw, then one of its samples."""
    folds = np.repeat([0, 1, 2], [20, 200, 280])  # very unequal
    first, second = folds == 0, _wrong(rng, 500, 0.2)
    draws = rng.integers(0, 3, size=(50_000, 50))
    start, size = np.array([0, 20, 220]), np.array([20, 200, 280])
    samples = start[draws] + (rng.random(draws.shape) * size[draws]).astype(int)
    differences = (first.astype(float) - second)[samples].mean(axis=1)
    for level in (0.5, 0.9, 0.99):
        result = bootstrap_difference(
            np.zeros(500), first, second, folds=folds, confidence_level=level,
            n_resamples=100_000, random_state=1,
        )  # fmt: skip
        expected = np.quantile(differences, [(1 - level) / 2, (1 + level) / 2])
        np.testing.assert_allclose([result.low, result.high], expected, atol=0.021)


@pytest.mark.parametrize(
    ("n_samples", "printed"),
    [(214, [9.52, 4.76]), (1728, [4.65, 0.58]), (531, [3.77, 1.89]), (5473, [0.37, 0.18])],
)
def test_the_tenth_is_as_large_as_the_papers(n_samples, printed, rng):
    """Table 3 prints multiples of 1/21, 1/172, 1/53 and 1/547: a tenth, rounded down."""
    y, folds = np.zeros(n_samples), np.arange(n_samples) % 10
    first, second = _wrong(rng, n_samples, 0.3), _wrong(rng, n_samples, 0.3)
    result = bootstrap_difference(y, first, second, folds=folds, random_state=0)
    size = n_samples // 10
    assert size * result.low == pytest.approx(round(size * result.low))
    for value in printed:
        assert round(100 * round(value / 100 * size) / size, 2) == value


# Table 3 of the SBC paper: SBC-BCH against SBC-IDENTITY, then against OVA.
TABLE_3 = [
    (-9.52, 4.76, "first"),
    (-0.80, 0.00, "first"),
    (0.00, 0.00, None),
    (-0.26, 0.26, None),
    (-0.13, 0.00, None),
    (-4.65, -0.58, "first"),
    (-3.77, 1.89, "first"),
    (-2.03, 3.38, "second"),
    (-0.37, 0.18, None),
    (-4.23, 1.59, "first"),
    (-1.60, 1.60, None),
    (-0.05, 0.35, None),
    (-1.02, 0.41, "first"),
    (0.00, 1.11, "second"),
    (0.00, 2.33, "second"),
    (-5.66, 5.66, None),
    (-2.03, 4.05, "second"),
    (-0.91, 0.55, None),
    # Of the SBC-KERNEL paper, page blocks against ECOC: printed as [-0.9, 0.4], of 547 samples.
    (-500 / 547, 200 / 547, "first"),
    # Neither table has this: all on one side, but not leaning much.
    (0.10, 0.30, "second"),
    (-0.30, -0.10, "first"),
]


@pytest.mark.parametrize(("low", "high", "better"), TABLE_3)
def test_the_marks_of_the_papers(low, high, better):
    interval = BootstrapInterval(low / 100, high / 100, 0.0, 0.9)
    assert interval.better == better
    assert interval.interesting == (better is not None)


def test_classifiers_that_agree_have_no_interval():
    y = np.array(["a", "b", "c"] * 5)
    result = bootstrap_difference(y, y[::-1], y[::-1])
    assert (result.low, result.high, result.difference) == (0, 0, 0)
    assert not result.interesting


def test_the_seed_decides_and_the_order_turns_the_interval(rng):
    y, first, second = rng.integers(0, 3, size=(3, 200))
    once = bootstrap_difference(y, first, second, random_state=3)
    assert once == bootstrap_difference(y, first, second, random_state=3)
    turned = bootstrap_difference(y, second, first, n_resamples=100_000, random_state=3)
    assert turned.low == pytest.approx(-once.high, abs=0.011)
    assert turned.difference == -once.difference


def test_the_interval_covers_what_it_promises():
    """With a test set, the interval holds the true difference about as often as it says."""
    rng, covered = np.random.default_rng(0), 0
    for _ in range(400):
        first, second = _wrong(rng, 300, 0.2), _wrong(rng, 300, 0.3)
        result = bootstrap_difference(np.zeros(300), first, second, random_state=rng)
        covered += result.low <= -0.1 <= result.high
    assert covered / 400 == pytest.approx(0.9, abs=0.045)  # three standard errors


def test_it_can_be_read():
    shown = repr(BootstrapInterval(-0.0952, 0.0476, -0.02, 0.9))
    assert shown == ("BootstrapInterval([-9.52, 4.76] points at 0.9, observed -2.00, first better)")


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 20))
def test_mcnemar_is_statsmodels(b, c, both):
    y = np.zeros(b + c + both + 1)
    first, second = y.copy(), y.copy()
    first[:b] = 1
    second[b : b + c] = 1
    first[b + c : b + c + both] = second[b + c : b + c + both] = 1
    exact, approximate = (mcnemar(y, first, second, exact=exact) for exact in (True, False))
    assert (exact.only_first_wrong, exact.only_second_wrong) == (b, c)
    if b + c == 0:
        assert exact.pvalue == approximate.pvalue == 1
        return
    table = [[1, b], [c, both]]
    expected = statsmodels_mcnemar(table, exact=True)
    assert exact.pvalue == pytest.approx(expected.pvalue)
    assert exact.statistic == expected.statistic
    if b == c:  # statsmodels corrects beyond no difference at all
        assert (approximate.statistic, approximate.pvalue) == (0, 1)
    else:
        expected = statsmodels_mcnemar(table, exact=False, correction=True)
        assert approximate.pvalue == pytest.approx(expected.pvalue)
        assert approximate.statistic == pytest.approx(expected.statistic)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (([0, 1], [0, 1], [0]), {}, r"same length.* Got shapes \(2,\), \(2,\) and \(1,\)"),
        (([], [], []), {}, "not empty"),
        (([0, 1],) * 3, {"folds": [0]}, r"each of the 2 samples. Got shape \(1,\)"),
        (([0, 1],) * 3, {"confidence_level": 90}, "'confidence_level' parameter must be"),
        (([0, 1],) * 3, {"n_resamples": 0}, "'n_resamples' parameter must be an int"),
    ],
)
def test_bad_input_is_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_difference(*data, **options)


GOOD = np.array([0.90, 0.92, 0.91, 0.93, 0.90])
SAME = np.array([0.91, 0.91, 0.90, 0.93, 0.90])


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_without_correction_it_is_scipys_t_test_of_the_differences(alternative):
    for first, second in ((GOOD, SAME), (SAME, GOOD), (GOOD, GOOD - [0.1, 0.2, 0.1, 0.1, 0.1])):
        found = corrected_resampled_t(first, second, 0, alternative=alternative)
        expected = stats.ttest_1samp(first - second, 0, alternative=alternative)
        assert found.pvalue == pytest.approx(expected.pvalue)
        assert found.statistic == pytest.approx(expected.statistic)
        assert found.degrees_of_freedom == expected.df


def test_the_correction_by_hand():
    # d = 0, 0.1, 0.2: mean 0.1, deviation 0.1; t = 0.1 / (0.1 sqrt(1/3 + 1/2)); two degrees of
    # freedom, for which P(T > t) = 1/2 - t / (2 sqrt(2 + t^2))
    t = 1 / np.sqrt(5 / 6)
    tail = 1 / 2 - t / (2 * np.sqrt(2 + t**2))
    first, second = [0.5, 0.6, 0.7], [0.5, 0.5, 0.5]
    expected = {"two-sided": 2 * tail, "greater": tail, "less": 1 - tail}
    for alternative, pvalue in expected.items():
        found = corrected_resampled_t(first, second, 1 / 2, alternative=alternative)
        assert found.statistic == pytest.approx(t)
        assert found.pvalue == pytest.approx(pvalue)


@pytest.mark.parametrize(
    ("first", "second", "two_sided", "greater", "less"),
    [
        (GOOD, GOOD, 1, 1, 1),
        (GOOD, GOOD - 0.1, 0, 0, 1),  # by 0.1 but for rounding
        (GOOD - 0.1, GOOD, 0, 1, 0),
        ([0.9], [0.8], 0, 0, 1),
        ([0.9], [0.9], 1, 1, 1),
        ([0.0, 0.0], [0.0, 0.0], 1, 1, 1),
    ],
)
def test_differences_without_spread(first, second, two_sided, greater, less):
    expected = {"two-sided": two_sided, "greater": greater, "less": less}
    for alternative, pvalue in expected.items():
        found = corrected_resampled_t(first, second, 0.25, alternative=alternative)
        assert found.pvalue == pvalue, alternative
        assert found.statistic == (0 if two_sided else np.inf if less else -np.inf)


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        ([1, 2], [1], {}, "of the same length"),
        ([], [], {}, "not empty"),
        ([1, np.nan], [1, 2], {}, "Got 1 that are not"),
        ([1, 2], [1, 2], {"test_ratio": -1}, "'test_ratio' parameter"),
        ([1, 2], [1, 2], {"alternative": "larger"}, "'alternative' parameter must be one of"),
    ],
)
def test_what_the_corrected_t_test_refuses(first, second, options, message):
    with pytest.raises(ValueError, match=message):
        corrected_resampled_t(first, second, **{"test_ratio": 0.1, **options})


@pytest.mark.slow
def test_the_corrected_t_test_rarely_finds_what_is_not_there():
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    found = []
    for seed in range(400):  # two copies of one method on different noise features
        rng = np.random.default_rng(seed)
        y = np.arange(100) % 2
        X = rng.normal(size=(100, 4)) + 0.5 * y[:, np.newaxis]
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        one, two = (
            cross_val_score(KNeighborsClassifier(), X[:, part], y, cv=folds)
            for part in (slice(0, 2), slice(2, 4))
        )
        found.append(corrected_resampled_t(one, two, 1 / 4, alternative="greater").pvalue < 0.05)
    assert np.mean(found) < 0.08
