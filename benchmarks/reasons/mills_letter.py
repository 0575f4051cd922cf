"""Tests whether Mills' iteration, or a true orthogonal code, explains his figures on letter.

    python benchmarks/reasons/mills_letter.py

His Tables 8, 10 and 12 name the iteration for orthogonal codes, and a random code in place of an
orthogonal one. On the first of the experiment's draws, with 4000 of its 14 000 training samples,
the random code is solved by least squares, as in the experiment, and by the iteration; and so is an
orthogonal code of 26 classes. Only the differences between these count.
"""

import warnings

import numpy as np

from polychotomy import CodeClassifier
from polychotomy.assess import brier_score, uncertainty_coefficient
from polychotomy.classifiers import with_rules
from polychotomy.evaluate import Preparation, Protocol
from polychotomy.lab import experiments, published

METHODS = {
    "dense_random": ("least_squares", "iteration"),
    "orthogonal": ("least_squares", "orthogonal"),
}
N_TRAIN = 4000


def print_published(experiment):
    """Print his figures."""
    for cell in (c for name in experiment.tables for c in published.table(name).cells):
        ours = cell.data_set == "letter" and cell.method.startswith("ortho.")
        if ours and not cell.quantity.endswith("seconds"):
            print(f"letter, published: {cell.quantity} {cell.value} ± {cell.spread}")


def print_scores(experiment):
    """Print the scores of each code and method on the first draw."""
    samples = experiment.load_samples("letter")
    made = {each.reduction: each.classifier for each in experiment.make_methods(samples, 0)}
    base = made["ortho., iter."]
    train, test = next(iter(Protocol.of("repeat10").divide(samples, 0)))
    train = np.random.default_rng(0).permutation(train)[:N_TRAIN]
    change = Preparation().fit(samples.data.iloc[train])
    X = [change.transform(samples.data.iloc[rows]) for rows in (train, test)]
    truth = samples.y[test]
    for code, methods in METHODS.items():
        options = base.get_params(deep=False) | {"code": code, "probability": methods[0]}
        trained = CodeClassifier(**options).fit(X[0], samples.y[train])
        for method in methods:
            read = with_rules(trained, None, method)
            p, predicted = read.predict_proba(X[1]), read.predict(X[1])
            winning = p[np.arange(len(p)), np.searchsorted(read.classes_, predicted)]
            u = uncertainty_coefficient(truth, predicted)
            b = brier_score(truth, p, form="mills", classes=read.classes_)
            w = np.sqrt(np.mean((winning - (predicted == truth)) ** 2))
            print(
                f"  {code} of {read.code_.n_problems} problems, {method}: uncertainty {u:.3f}, "
                f"Brier {b:.4f}, winning {w:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    mills = experiments.get("mills")
    print_published(mills)
    print_scores(mills)
