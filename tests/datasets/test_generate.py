import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from polychotomy.datasets import make_bands, make_waveform


def test_waveform_has_the_known_best_error():
    """Breiman et al. give about 14 % for the Bayes rule, here by integration over the mixing."""
    data = make_waveform(0, 3000, random_state=0)
    centres = {0: (7, 15), 1: (7, 11), 2: (15, 11)}
    position = np.arange(1, 22)
    X = data.data.to_numpy()
    density = np.zeros((len(X), 3))
    for label, (a, b) in centres.items():
        first, second = (np.maximum(6 - np.abs(position - c), 0) for c in (a, b))
        for u in (np.arange(200) + 0.5) / 200:
            density[:, label] += multivariate_normal.pdf(X, u * first + (1 - u) * second)
    error = (density.argmax(axis=1) != data.target).mean()
    assert error == pytest.approx(0.14, abs=0.02)  # three standard errors
    assert np.bincount(data.target) == pytest.approx(1000, abs=90)


@pytest.mark.parametrize("k", [2, 3, 8])
def test_bands_are_bands_of_the_size(k):
    data = make_bands(k, random_state=1)
    size = np.abs(data.data["x1"].to_numpy())
    assert np.bincount(data.target[data.train]).tolist() == [100] * k
    assert len(data.test) == 100 * k
    order = np.argsort(size)
    assert (np.diff(data.target[order]) >= 0).all()  # the same thresholds in both parts
    assert norm.ppf(0.5 + 0.5 / k) == pytest.approx(size[data.target > 0].min(), abs=0.2)


def test_draws_follow_the_random_state():
    assert (make_bands(3, random_state=0).data == make_bands(3, random_state=0).data).all(axis=None)
    assert (make_bands(3, random_state=0).data != make_bands(3, random_state=1).data).any(axis=None)


def test_bands_need_two_classes():
    with pytest.raises(ValueError, match="'n_classes' of at least 2"):
        make_bands(1)
