"""Whether a search that starts on few samples finds parameters as good as one on all samples.

    python benchmarks/tuning_samples.py [--data letter satimage …] [--draws 1]

From each data set 4000 samples to train on and 2000 to test are drawn, or all that there are in
that proportion. The SVM of a reduction is tuned as ``--tune`` does it, and by the same greedy
search on all training samples and five folds; then it is trained on all of them with what was
found. Prints the errors on the test samples, CPU seconds of the searches and, for each data set,
the p-value of McNemar's test over all its reductions and draws; raw figures are stored with the
environment.
"""

import argparse
import json
import os
import warnings
from pathlib import Path
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from environment import environment
from polychotomy import GreedySearchCV
from polychotomy.datasets import load
from polychotomy.evaluate import Contestant, Preparation, Samples
from polychotomy.evaluate._task import Tuner
from polychotomy.reductions import Reduction, make_base

RESULTS = Path(__file__).parent / "results"
DATA = (  # those that are large enough for it
    *("page-blocks", "optdigits", "satimage", "pendigits", "shuttle"),
    *("thyroid", "usps", "letter", "isolet", "humidity"),
)
REDUCTIONS = ("one_vs_rest", "one_vs_one")
N_TRAIN, N_TEST = 4000, 2000


def draw(samples, seed):
    """Return prepared samples to train on and to test."""
    few = samples.limited(N_TRAIN + N_TEST, seed)
    rows = np.random.default_rng(seed).permutation(len(few.y))
    train, test = np.split(rows, [round(len(rows) * N_TRAIN / (N_TRAIN + N_TEST))])
    prepare = Preparation()
    X = prepare.fit_transform(few.data.iloc[train])
    return X, few.y[train], prepare.transform(few.data.iloc[test]), few.y[test]


def measure(samples, name, seed):
    """Return the figures of both searches for one reduction and draw."""
    X, y, X_test, y_test = draw(samples, seed)
    method = Contestant.of(Reduction(name, probability=None), make_base("svm"), "svm")
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    searches = {
        "few": Tuner().search(method, X, y, seed),
        "all": GreedySearchCV(method.classifier, method.scales, cv=folds, refit=False),
    }
    row, right = {"data": samples.name, "reduction": name, "draw": seed, "samples": len(y)}, {}
    for way, search in searches.items():
        start = process_time()
        found = search.fit(X, y).best_params_
        row[way] = {"seconds": process_time() - start, "tuned": found}
        model = clone(method.classifier).set_params(**found).fit(X, y)
        right[way] = model.predict(X_test) == y_test
        row[way]["error"] = float(np.mean(~right[way]))
    row["only_few_right"] = int(np.sum(right["few"] & ~right["all"]))
    row["only_all_right"] = int(np.sum(right["all"] & ~right["few"]))
    few, whole = row["few"], row["all"]
    print(
        f"{row['data']:<12}{name:<12} error {few['error']:7.2%} against {whole['error']:7.2%}, "
        f"{few['seconds']:6.1f} s against {whole['seconds']:6.1f} s",
        flush=True,
    )
    return row


def judge(rows):
    """Return a line for a data set: mean errors, seconds and whether they differ."""
    gained, lost = (sum(row[f"only_{way}_right"] for row in rows) for way in ("few", "all"))
    p = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    errors = {way: float(np.mean([row[way]["error"] for row in rows])) for way in ("few", "all")}
    seconds = {way: sum(row[way]["seconds"] for row in rows) for way in ("few", "all")}
    worse = p < 0.05 and errors["few"] > errors["all"]
    return {
        "data": rows[0]["data"],
        "errors": errors,
        "seconds": seconds,
        "p_value": float(p),
        "as_good": not worse,
    }


def main():
    """Read the options, measure, judge and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", nargs="+", default=DATA)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS / "tuning-samples.json")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "The least populated class", UserWarning)
    rows, judged = [], []
    for data in options.data:
        samples = Samples.of(load(data))
        own = [measure(samples, name, s) for s in range(options.draws) for name in REDUCTIONS]
        rows += own
        judged.append(judge(own))
        stored = {"environment": environment(), "data_sets": judged, "rows": rows}
        options.out.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    print("\n            few samples  all samples  p      CPU time")
    for each in judged:
        errors, seconds = each["errors"], each["seconds"]
        print(
            f"{each['data']:<12}{errors['few']:9.2%}{errors['all']:13.2%}{each['p_value']:9.2g}"
            f"{seconds['few'] / seconds['all']:8.2f}  {'as good' if each['as_good'] else 'WORSE'}"
        )
    print(f"as good on {sum(each['as_good'] for each in judged)} of {len(judged)}")


if __name__ == "__main__":
    main()
