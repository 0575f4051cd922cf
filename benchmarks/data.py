"""The papers' data sets, from the folder in the environment variable POLYCHOTOMY_DATA."""

import os
from pathlib import Path

import numpy as np
import pandas as pd


def load(name):
    """Return X and y of a data set, train and test part together, in the order of the file."""
    folder = os.environ.get("POLYCHOTOMY_DATA")
    if not folder:
        raise SystemExit("set POLYCHOTOMY_DATA to the folder with the data sets, NAME.csv.gz")
    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz")
    X = frame.drop(columns=[c for c in ("class", "split") if c in frame])
    return X.to_numpy(float), frame["class"].to_numpy()


def load_as_mills(name):
    """Return a data set as Mills prepared it: see the notes on each."""
    X, y = load(name)
    if name == "letter":
        X = X[:, 1:]  # fields 2 to 16 of the file, of which field 1 is the class
    elif name == "humidity":
        X, y = X[-8600:], y[-8600:]  # the last tenth
    return X[:, np.ptp(X, axis=0) > 0], y  # segment has a constant feature
