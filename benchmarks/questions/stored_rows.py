"""What the programs on open questions share: stored rows, and data sets in halves."""

import csv
import os
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from polychotomy.datasets import load
from polychotomy.evaluate import Preparation

ROOT = Path(__file__).parents[2]
RESULTS = Path(os.environ.get("QUESTIONS_RESULTS") or ROOT / "results" / "questions")
IMAGES = ROOT / "docs" / "questions"


class StoredRows:
    """Rows of a CSV file, written one by one, so that an interrupted run goes on where it was."""

    def __init__(self, name, columns):
        self.path, self.columns = RESULTS / f"{name}.csv", columns
        self.path.parent.mkdir(exist_ok=True, parents=True)
        if not self.path.exists():
            self.path.write_text(",".join(columns) + "\n", "utf-8")
        with self.path.open(encoding="utf-8", newline="") as file:
            self.rows = list(csv.DictReader(file))

    def has(self, **wanted):
        """Return whether there is a row with these values."""
        texts = {name: str(value) for name, value in wanted.items()}
        return any(all(row[n] == t for n, t in texts.items()) for row in self.rows)

    def add(self, **row):
        """Append a row."""
        texts = {name: _text(row[name]) for name in self.columns}
        self.rows.append(texts)
        with self.path.open("a", encoding="utf-8", newline="") as file:
            csv.DictWriter(file, self.columns, lineterminator="\n").writerow(texts)

    def frame(self):
        """Return all rows as a data frame."""
        import pandas as pd

        return pd.read_csv(self.path)


def _text(value):
    return format(value, ".6g") if isinstance(value, float) else str(value)


def load_samples(name, most=1000, seed=0):
    """Return features and class indices of some samples, without classes of fewer than 8."""
    bunch = load(name)
    data, y = bunch.data, np.unique(np.asarray(bunch.target), return_inverse=True)[1]
    kept = np.flatnonzero(np.bincount(y)[y] >= 8)
    if len(kept) > most:
        kept = np.sort(
            train_test_split(kept, train_size=most, stratify=y[kept], random_state=seed)[0]
        )
    kept = kept[np.bincount(y[kept], minlength=y.max() + 1)[y[kept]] >= 8]
    rows = data.iloc[kept] if hasattr(data, "iloc") else data[kept]
    return rows, np.unique(y[kept], return_inverse=True)[1]


def halves(data, y, seed):
    """Yield (X, y) of the training half and of the test half, and then the other way round."""
    for train, test in StratifiedKFold(2, shuffle=True, random_state=seed).split(y, y):
        preparation = Preparation(dense=True).fit(_rows(data, train))
        X = [np.asarray(preparation.transform(_rows(data, rows)), float) for rows in (train, test)]
        yield (X[0], y[train]), (X[1], y[test])


def _rows(data, rows):
    return data.iloc[rows] if hasattr(data, "iloc") else data[rows]
