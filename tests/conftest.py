import os

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from sklearn.datasets import load_digits, load_iris

mpl.use("Agg")
# In CI the same examples every time; elsewhere new ones, so that what they find can be mended.
settings.register_profile("default", deadline=None, max_examples=60, derandomize="CI" in os.environ)
settings.load_profile("default")


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def digits():
    """600 digits in ten classes, pixels between 0 and 1."""
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600]


@pytest.fixture
def shared_data():
    """A function that loads one of the papers' data sets, where the folder with them is known."""
    folder = os.environ.get("POLYCHOTOMY_DATA")
    if not folder:
        pytest.skip("the environment variable POLYCHOTOMY_DATA names no folder with the data sets")

    def load(name):
        frame = pd.read_csv(f"{folder}/{name}.csv.gz")
        X = frame.drop(columns=[c for c in ("class", "split") if c in frame])
        return X.to_numpy(float), frame["class"].to_numpy()

    return load


@pytest.fixture
def rng():
    return np.random.default_rng(0)
