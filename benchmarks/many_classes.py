"""SharedLinear beside scikit-learn's linear classifiers as the number of classes grows.

Three cases: least squares with 1000 generated classes; the squared hinge loss on the names of
cities (country from character n-grams, needs POLYCHOTOMY_DATA); logistic regression with 50
generated classes. Each competitor is trained once after a small warm-up, and predicts test samples.
Seconds are wall time and CPU time of all processes: on a shared machine only the second is worth
comparing.
Prints the tables and stores the raw figures with the environment.

    python benchmarks/many_classes.py [squared] [hinge] [logistic]
        [--out benchmarks/results/many_classes.json]
"""

import argparse
import json
import os
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from joblib.externals.loky import get_reusable_executor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from environment import environment
from polychotomy import CodeClassifier, SharedLinear

LEAST_SAMPLES = 10


def cpu_seconds():
    """Return the CPU seconds of this process and of its workers, which end first."""
    get_reusable_executor().shutdown(wait=True)
    uses = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def generated(k, n, d, radius):
    """Return training and test samples around k random centres about this far from 0."""
    random = np.random.default_rng(0)
    centres = radius * random.normal(size=(k, d)) / np.sqrt(d)
    y = np.arange(n + n // 4) % k
    X = centres[y] + random.normal(size=(len(y), d))
    return X[:n], y[:n], X[n:], y[n:]


def cities():
    """Return n-grams of the names of cities, and their countries."""
    path = Path(os.environ["POLYCHOTOMY_DATA"]) / "cities.csv.gz"
    table = pd.read_csv(path, keep_default_na=False)
    counts = table["class"][table["split"] == "train"].value_counts()
    table = table[table["class"].isin(counts.index[counts >= LEAST_SAMPLES])]
    train, test = table[table["split"] == "train"], table[table["split"] == "test"]
    ngrams = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4))
    X = ngrams.fit_transform(train["name"])
    return (
        X,
        train["class"].to_numpy(),
        ngrams.transform(test["name"]),
        test["class"].to_numpy(),
    )


def measure(competitors, data, objective=None):
    """Return a row for each competitor: seconds of fit and predict, error, objective."""
    X, y, test, labels = data
    few = np.flatnonzero(np.isin(y, np.unique(y)[:3]))[:300]
    rows = []
    for name, classifier in competitors.items():
        classifier.fit(X[few], y[few])
        start, cpu = perf_counter(), cpu_seconds()
        classifier.fit(X, y)
        row = {"name": name, "fit_wall": perf_counter() - start, "fit_cpu": cpu_seconds() - cpu}
        start = perf_counter()
        row["error"] = float(np.mean(classifier.predict(test) != labels))
        row["predict_wall"] = perf_counter() - start
        if objective is not None:
            found = objective(classifier, X, y)
            row["objective"] = None if found is None else found.tolist()
        rows.append(row)
        print(
            f"  {name:<44}fit {row['fit_wall']:8.2f} s wall {row['fit_cpu']:8.2f} s CPU   "
            f"predict {row['predict_wall']:6.2f} s   error {row['error']:.2%}",
            flush=True,
        )
    return rows


def one_vs_rest_objectives(classifier, X, y, loss, penalises_intercept):
    """Return ½ ‖w‖² (+ ½ b²) + Σ L(t f) of each class against the rest."""
    parts = getattr(classifier, "estimators_", [classifier])
    W = np.vstack([part.coef_ for part in parts])
    b = np.concatenate([part.intercept_ for part in parts])
    found = []
    for s, label in enumerate(classifier.classes_):
        margins = np.where(y == label, 1, -1) * (X @ W[s] + b[s])
        penalty = W[s] @ W[s] + penalises_intercept * b[s] ** 2
        found.append(0.5 * penalty + loss(margins).sum())
    return np.array(found)


def hinge_objectives(classifier, X, y):
    """Return what linear SVMs minimise."""
    return one_vs_rest_objectives(classifier, X, y, lambda z: np.maximum(0, 1 - z) ** 2, True)


def logistic_objectives(classifier, X, y):
    """Return what logistic regressions of one class against the rest minimise."""
    if isinstance(classifier, LogisticRegression):  # one model of all classes
        return None
    return one_vs_rest_objectives(classifier, X, y, lambda z: np.logaddexp(0, -z), False)


def squared():
    """Compare least squares with 1000 classes."""
    competitors = {
        "SharedLinear": SharedLinear(),
        "CodeClassifier(SharedLinear, one_vs_rest)": CodeClassifier(
            SharedLinear(), "one_vs_rest", probability=None
        ),
        "RidgeClassifier": RidgeClassifier(alpha=0.5),
        "OneVsRestClassifier(RidgeClassifier)": OneVsRestClassifier(RidgeClassifier(alpha=0.5)),
    }
    return measure(competitors, generated(1000, 16_000, 64, radius=8))


def hinge():
    """Compare linear SVMs on text, by time and by what they minimise."""
    competitors = {
        "SharedLinear(squared_hinge, n_jobs=2)": SharedLinear("squared_hinge", n_jobs=2),
        "SharedLinear(squared_hinge, tol=1e-6, n_jobs=2)": SharedLinear(
            "squared_hinge", tol=1e-6, n_jobs=2
        ),
        "OneVsRestClassifier(LinearSVC, n_jobs=2)": OneVsRestClassifier(LinearSVC(), n_jobs=2),
        "OneVsRestClassifier(LinearSVC(tol=1e-2), n_jobs=2)": OneVsRestClassifier(
            LinearSVC(tol=1e-2), n_jobs=2
        ),
    }
    rows = measure(competitors, cities(), hinge_objectives)
    return with_excess(rows)


def with_excess(rows):
    """Return rows with the excess of each objective over the lowest instead of the objective."""
    known = [row for row in rows if row["objective"] is not None]
    best = np.min([row["objective"] for row in known], axis=0)
    for row in rows:
        if row["objective"] is None:
            del row["objective"]
            continue
        excess = np.array(row.pop("objective")) / best - 1
        row["largest_excess"], row["mean_excess"] = float(excess.max()), float(excess.mean())
        print(
            f"  {row['name']:<54}objective above the lowest: largest "
            f"{row['largest_excess']:.5%}, mean {row['mean_excess']:.5%}"
        )
    return rows


def logistic():
    """Compare logistic regression with 50 classes."""
    competitors = {
        "SharedLinear(logistic)": SharedLinear("logistic"),
        "CodeClassifier(SharedLinear(logistic), one_vs_rest)": CodeClassifier(
            SharedLinear("logistic"), "one_vs_rest"
        ),
        "LogisticRegression": LogisticRegression(),
        "OneVsRestClassifier(LogisticRegression)": OneVsRestClassifier(LogisticRegression()),
    }
    rows = measure(competitors, generated(50, 16_000, 64, radius=3), logistic_objectives)
    return with_excess(rows)


CASES = {"squared": squared, "hinge": hinge, "logistic": logistic}


def main():
    """Run, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], default=[])
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results" / "many_classes.json"
    )
    options = parser.parse_args()
    stored = json.loads(options.out.read_text()) if options.out.exists() else {}
    for name in options.cases or CASES:
        if name == "hinge" and "POLYCHOTOMY_DATA" not in os.environ:
            print("hinge: skipped, set POLYCHOTOMY_DATA to the folder with cities.csv.gz")
            continue
        print(CASES[name].__doc__)
        stored[name] = {"environment": environment(), "rows": CASES[name]()}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(stored, indent=2) + "\n")
    print(f"\nstored in {options.out}")


if __name__ == "__main__":
    main()
