"""Tests reasons why figures of Allwein's Table 3 disagree: SVMs with a kernel of degree 4.

    python benchmarks/reasons/allwein_svm.py [yeast vowel pendigits satimage]

Yeast: one-vs-all at seven values of C. Scale: errors on fixed test parts with features as they are
and standardised; on satimage also (⟨x, x'⟩ + 1)⁴ with LIBSVM stopped after 20 000 steps.
"""

import sys
import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from polychotomy import CodeClassifier, datasets
from polychotomy.decoding import decode
from polychotomy.evaluate import Preparation
from polychotomy.lab import published

CODES = {"One-vs-all": "one_vs_rest", "All-Pairs": "one_vs_one"}
RULES = {"Hamming": "hamming", "loss-based": "hinge"}
WAYS = {
    "standardised": lambda X: Preparation().fit(X).transform,
    "as they are": lambda _: lambda X: X,
    "divided by 255": lambda _: lambda X: X / 255,
}


def misses(learner, code, train, test):
    """Return which test samples are wrong, a row for each decoding rule."""
    trained = CodeClassifier(learner, code, probability=None).fit(*train)
    outputs = trained.binary_outputs(test[0])
    rows = [decode(outputs, trained.code_, rule).argmax(axis=1) for rule in RULES.values()]
    return np.array([trained.classes_[row] != test[1] for row in rows])


def print_published(name):
    """Print the published figures of both codes."""
    found = {
        cell.method: cell.value
        for cell in published.table("allwein-3").cells
        if cell.data_set == name
    }
    values = [f"{code}, {rule} {found[f'{code}, {rule}']}" for code in CODES for rule in RULES]
    print(f"{name}, published: {'; '.join(values)}")


def compare_constants():
    """Print errors of one-vs-all on yeast at seven values of C, with and without scaling."""
    bunch = datasets.load("yeast", paper="allwein")
    X, y = np.asarray(bunch.data, float), np.asarray(bunch.target)
    print_published("yeast")
    for words in ("standardised", "as they are"):
        for C in 10.0 ** np.arange(-6, 1):
            wrong = []
            for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
                change = WAYS[words](X[train])
                learner = SVC(kernel="poly", degree=4, coef0=1, C=C)
                parts = [(change(X[rows]), y[rows]) for rows in (train, test)]
                wrong.append(misses(learner, "one_vs_rest", *parts))
            errors = 100 * np.concatenate(wrong, axis=1).mean(axis=1)
            print(
                f"  one-vs-all, ten folds, {words}, C = {C:g}: Hamming {errors[0]:.1f}, "
                f"loss-based {errors[1]:.1f}",
                flush=True,
            )


def compare_scales(name, words, **settings):
    """Print errors of both codes on the test part, the features prepared in some way."""
    bunch = datasets.load(name)
    X, y = np.asarray(bunch.data, float), np.asarray(bunch.target)
    change = WAYS[words](X[bunch.train])
    parts = [(change(X[rows]), y[rows]) for rows in (bunch.train, bunch.test)]
    for title, code in CODES.items():
        learner = SVC(kernel="poly", degree=4, coef0=1, **settings)
        errors = 100 * misses(learner, code, *parts).mean(axis=1)
        print(
            f"  {title}, {words} {settings or ''}: Hamming {errors[0]:.1f}, "
            f"loss-based {errors[1]:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    wanted = sys.argv[1:] or ("yeast", "vowel", "pendigits", "satimage")
    if "yeast" in wanted:
        compare_constants()
    for name in ("vowel", "pendigits", "satimage"):
        if name in wanted:
            print_published(name)
            compare_scales(name, "standardised")
            if name != "satimage":
                compare_scales(name, "as they are")
    if "satimage" in wanted:
        for words in ("as they are", "divided by 255"):
            compare_scales("satimage", words, gamma=1.0, max_iter=20_000)
