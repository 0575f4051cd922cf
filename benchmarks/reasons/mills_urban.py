"""Tests whether other calibration folds explain Mills' figures on urban and segment.

    python benchmarks/reasons/mills_urban.py

One-vs-one and one-vs-rest as in the experiment, on the same ten draws, the sigmoid fitted to 3, 5
and 10 folds and to five folds of another shuffle: uncertainty coefficients and Brier scores.
"""

import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

from polychotomy.assess import brier_score, uncertainty_coefficient
from polychotomy.evaluate import Preparation, Protocol
from polychotomy.lab import experiments, published

METHODS = ("1 vs. 1, inv.", "1 vs. rest, lsq.")
FOLDS = {
    "3 folds": 3,
    "5 folds": 5,
    "10 folds": 10,
    "5 folds, another shuffle": StratifiedKFold(5, shuffle=True, random_state=7),
}


def print_scores(name):
    """Print the means and deviations over the ten draws."""
    experiment = experiments.get("mills")
    samples = experiment.load_samples(name)
    found = {m.reduction: m.classifier for m in experiment.make_methods(samples, 0)}
    for cell in (c for n in experiment.tables for c in published.table(n).cells):
        wanted = cell.method in (*METHODS, "1 vs. 1", "1 vs. rest")
        if cell.data_set == name and wanted and not cell.quantity.endswith("seconds"):
            print(f"{name}, published, {cell.method}: {cell.quantity} {cell.value} ± {cell.spread}")
    for method in METHODS:
        for words, cv in FOLDS.items():
            scores = []
            for train, test in Protocol.of("repeat10").divide(samples, 0):
                change = Preparation().fit(samples.data.iloc[train])
                X = [change.transform(samples.data.iloc[rows]) for rows in (train, test)]
                trained = found[method].set_params(cv=cv).fit(X[0], samples.y[train])
                p = trained.predict_proba(X[1])
                truth = samples.y[test]
                u = uncertainty_coefficient(truth, trained.predict(X[1]))
                scores.append((u, brier_score(truth, p, form="mills", classes=trained.classes_)))
            (u, b), (du, db) = np.mean(scores, axis=0), np.std(scores, axis=0, ddof=1)
            print(f"  {method}, {words}: uncertainty {u:.3f} ± {du:.3f}, Brier {b:.4f} ± {db:.4f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print_scores("urban")
