"""How SharedKernelSVC on the CPU gains from threads: kernel rows alone, and whole trainings.

    POLYCHOTOMY_DATA=… python benchmarks/threads.py [--data mnist letter] [--jobs 1 2 4]

Seconds on the clock, the best of some rounds, one-vs-rest with C = 10 on the first samples; rows
are computed by several threads at once, each some of them. Efficiency is seconds with one thread
over threads × seconds with these.
"""

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

import numpy as np

from environment import environment
from polychotomy import CodeClassifier, SharedKernelSVC
from polychotomy.datasets import load
from polychotomy.kernel._functions import Kernel
from polychotomy.kernel._joint_problem import one_blas_thread
from polychotomy.kernel._kernel_rows import KernelRows

RESULTS = Path(__file__).parent / "results" / "threads.json"
GAMMA = {"mnist": 0.02, "letter": 1 / 16}


def samples(name, n):
    """Return the first samples, pixels between 0 and 1 or standardised."""
    found = load(name)
    X = found.data.to_numpy(np.float32)[:n]
    X = X / 255 if name == "mnist" else (X - X.mean(axis=0)) / X.std(axis=0)
    return X, np.asarray(found.target)[:n]


def rows_seconds(X, gamma, jobs):
    """Return the seconds of 2048 kernel rows, computed in parts of 64."""
    rows = KernelRows(Kernel("rbf", gamma, 0.0, 3.0, "float32"), X, 8192)
    parts = np.arange(2048).reshape(-1, 64)
    with one_blas_thread(), ThreadPoolExecutor(jobs) as workers:
        begin = perf_counter()
        list(workers.map(rows.pin, parts))
        seconds = perf_counter() - begin
    rows.close()
    return seconds


def fit_seconds(X, y, gamma, jobs):
    """Return the seconds of a training."""
    svm = SharedKernelSVC(C=10, gamma=gamma, cache_size=8192)
    classifier = CodeClassifier(svm, "one_vs_rest", probability=None, n_jobs=jobs)
    begin = perf_counter()
    classifier.fit(X, y)
    return perf_counter() - begin


def main():
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", nargs="+", default=["mnist", "letter"])
    parser.add_argument("--jobs", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--samples", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    found = []
    for name in args.data:
        X, y = samples(name, args.samples)
        fit_seconds(X[:500], y[:500], GAMMA[name], 1)
        for what, measure in {
            "rows": lambda jobs: rows_seconds(X, GAMMA[name], jobs),  # noqa: B023
            "fit": lambda jobs: fit_seconds(X, y, GAMMA[name], jobs),  # noqa: B023
        }.items():
            alone = None
            for jobs in args.jobs:
                seconds = min(measure(jobs) for _ in range(args.rounds))
                alone = alone or seconds * args.jobs[0]
                row = {"data": name, "samples": len(X), "what": what, "threads": jobs}
                row |= {"seconds": seconds, "efficiency": alone / jobs / seconds}
                print(
                    *(round(v, 3) if isinstance(v, float) else v for v in row.values()), flush=True
                )
                found.append(row)
    args.out.write_text(json.dumps({"environment": environment(), "rows": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
