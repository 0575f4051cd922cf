"""Samples of many classes: Chinese characters, places by their names, and generated ones.

The first two need POLYCHOTOMY_DATA.
"""

import os
from pathlib import Path

import numpy as np


def hanzi(k):
    """Return pixels of the first k Chinese characters, from 0 to 1; test fonts are new ones."""
    stored = np.load(Path(os.environ["POLYCHOTOMY_DATA"]) / "hanzi.npz")
    x, y, is_test = stored["x"], stored["y"].astype(int), stored["split"] == 1
    train, test = (y < k) & ~is_test, (y < k) & is_test
    return x[train] / 255, y[train], x[test] / 255, y[test]


def cities(k):
    """Return character n-grams of the names of cities in the k largest regions."""
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer

    path = Path(os.environ["POLYCHOTOMY_DATA"]) / "cities.csv.gz"
    table = pd.read_csv(path, keep_default_na=False)
    regions = table["region"][(table["split"] == "train") & (table["region"] != "")]
    place = {region: i for i, region in enumerate(regions.value_counts().index[:k])}
    table = table[table["region"].isin(place)]
    train, test = table[table["split"] == "train"], table[table["split"] == "test"]
    ngrams = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4), min_df=2, dtype=np.float64)
    X, T = ngrams.fit_transform(train["name"]), ngrams.transform(test["name"])
    return X, train["region"].map(place).to_numpy(), T, test["region"].map(place).to_numpy()


def generated(k, d=64, each=10, radius=8):
    """Return samples around k random centres, `each` of every class for training."""
    random = np.random.default_rng(0)
    centres = radius * random.normal(size=(k, d)) / np.sqrt(d)
    y = np.arange(k * (each + 2)) % k
    X = centres[y] + random.normal(size=(len(y), d))
    n = k * each
    return X[:n], y[:n], X[n:], y[n:]


SAMPLES = {"hanzi": hanzi, "cities": cities, "generated": generated}
