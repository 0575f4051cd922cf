"""All reductions on all data sets, in 5 × 2 folds: plan, measure and export.

    python benchmarks/comparison.py run --base logistic [--hours 10] [--samples 10000] [--data …]
    python benchmarks/comparison.py export

``run`` first prints what it will do. It trains three reductions once on each data set, or on those
of ``--data``, estimates from that what all of them take, and halves the samples of the most
expensive data set until the sum fits into the hours; a data set that does not fit with 500 samples
is left out. The plan is kept in ``results/comparison/plan.csv``, so that an interrupted run goes on
with it; to plan a learner anew, remove its rows there, in ``tuned.csv`` and in ``cells.csv.gz``.
Data sets come in the order of their cost, and `--until 19:30` stops between two cells.

Two-fold cross-validation is repeated with five seeds. Every reduction is tuned once for each data
set, on the first training half: logistic regression's C and the leaf size and the rounds of boosted
trees on a grid, the SVM's width and C by three rounds of the greedy search. Random codes are drawn
anew in each of the ten folds. The learner's own multi-class form and a majority baseline take part.

``export`` writes the cells of complete data sets to ``results/comparison/cells.csv.gz``. What is
there already stays, and is not computed again where the store is gone.
"""

import argparse
import csv
import json
import os
import warnings
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from threadpoolctl import threadpool_limits

from environment import environment
from polychotomy.datasets import available, load, make_bands
from polychotomy.evaluate import Contestant, Failure, GreedySearchCV, Samples, Schedule, Store
from polychotomy.evaluate import compute as compute_cells
from polychotomy.reductions import Reduction, available_reductions, make_base

ROOT = Path(__file__).parents[1]
RESULTS = Path(os.environ.get("COMPARISON_RESULTS") or ROOT / "results" / "comparison")
PROTOCOL, SEEDS = "cv2", range(5)
FOLDS = [(seed, half) for seed in SEEDS for half in range(2)]
LEFT_OUT = ("exhaustive",)  # from a dozen classes on it asks too many questions
MOST_SAMPLES = {"logistic": 10_000, "svm": 10_000, "boosting": 2000}
GRIDS = {
    "logistic": {"C": [0.01, 0.1, 1.0, 10.0, 100.0]},
    "boosting": {"min_samples_leaf": [5, 20], "max_iter": [30, 100]},
}
GRID_FOLDS, GREEDY_FOLDS = 3, 5
LEAST_SAMPLES = 500
PROBES = ("one_vs_rest", "one_vs_one", "dense_random")
TUNING = {"logistic": 10, "svm": 20, "boosting": 8}  # trainings of a whole half that it equals
PLAN = ("base", "data_set", "n_classes", "wanted", "samples", "hours")
TUNED = ("base", "data_set", "reduction", "seconds", "parameters", "failure")
PLACE = ("base", "data_set", "reduction", "seed", "fold")  # which cell it is


def generated():
    """Return data sets that are generated, as functions."""

    def gaussians(k, n_features=20, per_class=100):
        rng = np.random.default_rng(k)
        centres, y = rng.normal(size=(k, n_features)), np.repeat(np.arange(k), per_class)
        return Samples.make(f"gaussian-{k}", centres[y] + rng.normal(size=(len(y), n_features)), y)

    made = {f"gaussian-{k}": lambda k=k: gaussians(k) for k in (10, 30, 100)}
    return {**made, "bands": lambda: Samples.of(make_bands(8, random_state=0))}


def characters():
    """Return a hundred Chinese characters from pixels, where their file is."""
    path = Path(os.environ.get("POLYCHOTOMY_DATA") or ".") / "hanzi.npz"

    def hundred():
        with np.load(path) as file:
            rows = np.flatnonzero(file["y"] < 100)
            return Samples.make("hanzi-100", file["x"][rows].astype(float), file["y"][rows])

    return {"hanzi-100": hundred} if path.exists() else {}


def known_data():
    """Return the known data sets of more than two classes; digits are part of optdigits."""
    names = [data.name for data in available() if data.classes > 2 and data.name != "digits"]
    return {name: lambda name=name: Samples.of(load(name)) for name in names}


@cache
def all_data():
    """Return all data sets, as functions."""
    return {**known_data(), **generated(), **characters()}


@cache
def read_samples(name, most):
    """Return at most so many samples of a data set, without its fixed split."""
    samples = replace(all_data()[name](), train=None, test=None)
    return samples.limited(most, 0)


def reductions_of(base):
    """Return the names of what suits a learner."""
    names = [name for name in available_reductions() if name not in LEFT_OUT]
    return [name for name in names if not Reduction(name).unsuited(make_base(base))]


def contestant(base, name, draw):
    """Return a reduction whose code and learner are drawn by a seed."""
    made = Reduction(name)
    return Contestant.of(made, make_base(base), base, random_state=draw, class_order=None)


def task_of(samples, method, fold):
    """Return the task of a method on one of the ten folds."""
    seed, half = fold
    return Schedule(samples, [method], protocol=PROTOCOL, seed=seed).tasks[half]


def training_half(samples, method):
    """Return features and class numbers of the first training half, prepared."""
    task = task_of(samples, method, FOLDS[0])
    X = task.make_preparation().fit_transform(samples.data.iloc[task.train])
    return X, samples.y[task.train]


def search_of(base, method):
    """Return the search that tunes a reduction, the same for all of a learner."""
    options = {"refit": False, "error_score": np.nan}
    if base not in GRIDS:
        folds = StratifiedKFold(GREEDY_FOLDS, shuffle=True, random_state=0)
        return GreedySearchCV(method.to_tune, method.scales, cv=folds, **options)
    known = method.to_tune.get_params(deep=True)
    grid = {
        (f"estimator__{n}" if f"estimator__{n}" in known else n): v for n, v in GRIDS[base].items()
    }
    folds = StratifiedKFold(GRID_FOLDS, shuffle=True, random_state=0)
    return GridSearchCV(method.to_tune, grid, cv=folds, **options)


def tune(samples, base, name):
    """Return the tuned parameters of a reduction on a data set, or why there are none."""
    method, start = contestant(base, name, 0), process_time()
    found, failure = {}, ""
    if method.scales != {}:  # the majority baseline has nothing to tune
        X, y = training_half(samples, method)
        try:
            found = search_of(base, method).fit(X, y).best_params_
        except ValueError as error:  # such as codes that do not exist for so few classes
            failure = str(error).strip().splitlines()[-1].strip()
    return {"seconds": process_time() - start, "parameters": json.dumps(found), "failure": failure}


class Rows:
    """Rows of a CSV file that is appended to."""

    def __init__(self, name, columns):
        self.path, self.columns = RESULTS / f"{name}.csv", columns
        if not self.path.exists():
            self.path.parent.mkdir(exist_ok=True, parents=True)
            self.path.write_text(",".join(columns) + "\n", "utf-8")

    def of(self, **wanted):
        """Return the rows with these values."""
        with self.path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return [row for row in rows if all(row[name] == value for name, value in wanted.items())]

    def add(self, row):
        """Append a row."""
        texts = {n: format(v, ".4g") if isinstance(v, float) else str(v) for n, v in row.items()}
        with self.path.open("a", encoding="utf-8", newline="") as file:
            csv.DictWriter(file, self.columns, lineterminator="\n").writerow(texts)


def probe(base, name, most):
    """Return about how many hours a data set takes, from three trainings on the first half."""
    samples, took = read_samples(name, most), []
    for reduction in PROBES:
        method = contestant(base, reduction, 0)
        X, y = training_half(samples, method)
        start = process_time()
        clone(method.classifier).fit(X, y)
        took.append(process_time() - start)
    trainings = len(reductions_of(base)) * (len(FOLDS) + TUNING[base])
    return float(np.mean(took) * trainings / 3600)


def make_plan(base, names, hours, most):
    """Return the planned samples and hours of each data set, the cheapest first."""
    wanted = {name: len(read_samples(name, most).y) for name in names}
    samples, cost = dict(wanted), {}
    for name in names:
        cost[name] = probe(base, name, wanted[name])
    while sum(cost.values()) > hours:
        name = max(cost, key=cost.get)
        if samples[name] // 2 < LEAST_SAMPLES:
            samples[name], cost[name] = 0, 0.0
            continue
        samples[name] //= 2
        cost[name] = probe(base, name, samples[name])
    return [
        {
            "base": base,
            "data_set": name,
            "wanted": wanted[name],
            "samples": samples[name],
            "n_classes": len(read_samples(name, wanted[name]).classes),
            "hours": cost[name],
        }
        for name in sorted(names, key=lambda name: cost[name] or np.inf)
    ]


def print_plan(rows):
    """Print what will be done, and what was cut."""
    for row in rows:
        cut = int(row["wanted"]) - int(row["samples"])
        said = "" if not cut else " left out" if row["samples"] in (0, "0") else " cut"
        print(
            f"{row['data_set']:14}{row['n_classes']:>4} classes{row['samples']:>6} of "
            f"{row['wanted']:>6} samples{float(row['hours']):8.3f} h{said}"
        )
    print(f"{sum(float(row['hours']) for row in rows):.2f} hours in all", flush=True)


def run(base, hours, most, until, store_path, names=None):
    """Measure what is missing of a plan, which is made first if there is none."""
    plan, tuned = Rows("plan", PLAN), Rows("tuned", TUNED)
    if not plan.of(base=base):
        for row in make_plan(base, names or list(all_data()), hours, most):
            plan.add(row)
    rows = plan.of(base=base)
    print_plan(rows)
    store_path.parent.mkdir(exist_ok=True, parents=True)
    with Store(store_path) as store, threadpool_limits(1):
        known = store.keys() | exported().keys()
        for row in rows:
            if row["samples"] == "0":
                continue
            samples = read_samples(row["data_set"], int(row["samples"]))
            for name in reductions_of(base):
                if not measure(samples, base, name, tuned, store, known, until):
                    return
            print(datetime.now().strftime("%H:%M"), base, row["data_set"], flush=True)


def measure(samples, base, name, tuned, store, known, until):
    """Tune a reduction and compute its missing cells; return whether there was time for all."""
    which = {"base": base, "data_set": samples.name, "reduction": name}
    if not tuned.of(**which):
        tuned.add(which | tune(samples, base, name))
    (row,) = tuned.of(**which)
    if row["failure"]:
        return True
    for task in tasks_of(samples, base, name, row):
        if until and datetime.now().strftime("%H:%M") >= until:
            return False
        if task.key in known or (*which.values(), task.seed, task.fold) in known:
            continue
        (outcome,) = compute_cells([task], samples)
        if isinstance(outcome, Failure):
            print(f"{samples.name}, {name}, {task.seed}, {task.fold}: {outcome.reason}", flush=True)
        else:
            store.add(outcome)
    return True


def tasks_of(samples, base, name, row):
    """Yield the tasks of a tuned reduction, with a draw of its own in each fold."""
    for draw, fold in enumerate(FOLDS):
        method = contestant(base, name, draw)
        made = clone(method.classifier).set_params(**json.loads(row["parameters"]))
        yield task_of(samples, replace(method, classifier=made), fold)


def place_of(row):
    """Return which cell a row is of."""
    return tuple(row[name] for name in PLACE)


def exported():
    """Return the rows of exported cells, by their places."""
    path = RESULTS / "cells.csv.gz"
    rows = pd.read_csv(path).to_dict("records") if path.exists() else []
    return {place_of(row): row for row in rows}


def export(store_path):
    """Add the cells of complete data sets to the exported ones, and write the environment."""
    cells, parts = exported(), {}
    with Store(store_path) as store:
        cells.update((place_of(row), row) for row in map(row_of, store.cells()))
    for place in sorted(cells):
        parts.setdefault(place[:2], []).append(cells[place])
    whole = [row for (base, _), rows in parts.items() if is_whole(rows, base) for row in rows]
    if not whole:
        raise ValueError("No data set is complete.")
    found = pd.DataFrame(whole)
    packed = {"method": "gzip", "mtime": 0}
    found.to_csv(RESULTS / "cells.csv.gz", index=False, float_format="%.8g", compression=packed)
    (RESULTS / "environment.json").write_text(json.dumps(environment(), indent=1) + "\n", "utf-8")
    print(len(found), "cells,", found.groupby("base")["data_set"].nunique().to_dict(), "data sets")


def row_of(cell):
    """Return what is written of a cell."""
    return {
        "base": cell.base,
        "data_set": cell.data_set,
        "reduction": cell.reduction,
        "protocol": "5x2",
        "seed": cell.seed,
        "fold": cell.fold,
        "n_classes": len(cell.classes),
        "n_train": cell.settings["n_train"],
        "n_test": len(cell.rows),
        **{name: cell.metrics.get(name) for name in ("error", "log_loss", "brier")},
        "n_problems": cell.n_problems,
        "n_questions": None if cell.cost is None else cell.cost.questions,
        "fit_seconds": cell.fit_seconds,
        "predict_seconds": cell.predict_seconds,
        **{name.replace("-", "_"): version for name, version in cell.versions.items()},
    }


def is_whole(rows, base):
    """Return whether the last reduction, the majority, which cannot fail, has all folds."""
    return sum(row["reduction"] == reductions_of(base)[-1] for row in rows) == len(FOLDS)


def main():
    """Run or export."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "export"])
    parser.add_argument("--base", choices=list(MOST_SAMPLES), default="logistic")
    parser.add_argument("--hours", type=float, default=10.0)
    parser.add_argument("--samples", type=int)
    parser.add_argument("--data", nargs="+", choices=list(all_data()), metavar="NAME")
    parser.add_argument("--until", help="a time of day, such as 19:30")
    parser.add_argument("--store", type=Path, default=ROOT / "build" / "comparison-5x2.sqlite")
    args = parser.parse_args()
    if args.what == "export":
        export(args.store)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # steps that ran out, classes with a single sample
        most = args.samples or MOST_SAMPLES[args.base]
        run(args.base, args.hours, most, args.until, args.store, args.data)


if __name__ == "__main__":
    main()
