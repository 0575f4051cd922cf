import os
import signal

# Tests run in several processes: BLAS and OpenMP threads on top make them several times slower.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from sklearn.datasets import load_digits, load_iris

collect_ignore = ["mutants.py"]  # a program
mpl.use("Agg")
# CI tries the same examples every time; elsewhere new ones are drawn, to find new faults.
ALWAYS_THE_SAME = "CI" in os.environ
settings.register_profile("quick", deadline=None, max_examples=20, derandomize=ALWAYS_THE_SAME)
settings.register_profile("thorough", deadline=None, max_examples=100, derandomize=ALWAYS_THE_SAME)
settings.load_profile("quick")


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def digits():
    """600 digits in ten classes, pixels between 0 and 1."""
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600]


@pytest.fixture
def signals_heard():
    """Lets programs that a test starts hear signals, even if it runs in the background or nohup."""
    ignored = [
        number
        for number in (signal.SIGINT, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_IGN
    ]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


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
