"""CodeClassifier beside scikit-learn's reductions, and what decoding costs.

CPU seconds of one process, one worker, after an untimed warm-up; the best of several rounds, in
which the competitors take turns. Prints the tables and stores the raw figures with the environment.

    python benchmarks/reductions.py [--rounds 5] [--out benchmarks/results/reductions.json]
"""

import argparse
import json
import os
from pathlib import Path
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.svm import SVC

from environment import environment
from polychotomy import CodeClassifier, make_code
from polychotomy.decoding import decode


def measure(jobs, rounds):
    """Return the best CPU seconds of each job; a job is a function without arguments."""
    best = dict.fromkeys(jobs, float("inf"))
    for job in jobs.values():
        job()
    for _ in range(rounds):
        for name, job in jobs.items():
            start = process_time()
            job()
            best[name] = min(best[name], process_time() - start)
    return best


def classifiers(base):
    """Return pairs of ours and theirs that train the same binary problems."""
    length = make_code("dense_random", 10, random_state=0).n_problems
    return {
        "one_vs_rest": (
            CodeClassifier(base, code="one_vs_rest", decoder="votes", probability=None),
            OneVsRestClassifier(base),
        ),
        "one_vs_one": (
            CodeClassifier(base, code="one_vs_one", decoder="votes", probability=None),
            OneVsOneClassifier(base),
        ),
        "dense_random": (
            CodeClassifier(
                base, code=make_code("dense_random", 10, random_state=0), probability=None
            ),
            OutputCodeClassifier(base, code_size=length / 10, random_state=0),
        ),
    }


def compare_with_scikit_learn(rounds):
    """Measure fit, predict and error of ours and theirs on the digits."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    train, test = np.arange(1200), np.arange(1200, 1797)
    rows = []
    for base in (LogisticRegression(), SVC()):
        for code, (ours, theirs) in classifiers(base).items():
            fit = measure(
                {
                    "ours": lambda ours=ours: ours.fit(X[train], y[train]),
                    "theirs": lambda theirs=theirs: theirs.fit(X[train], y[train]),
                },
                rounds,
            )
            predict = measure(
                {
                    "ours": lambda ours=ours: ours.predict(X[test]),
                    "theirs": lambda theirs=theirs: theirs.predict(X[test]),
                },
                rounds,
            )
            labels = ours.predict(X[test]), theirs.predict(X[test])
            rows.append(
                {
                    "base": type(base).__name__,
                    "code": code,
                    "fit_ours": fit["ours"],
                    "fit_theirs": fit["theirs"],
                    "predict_ours": predict["ours"],
                    "predict_theirs": predict["theirs"],
                    "error_ours": float(np.mean(labels[0] != y[test])),
                    "error_theirs": float(np.mean(labels[1] != y[test])),
                    "agreement": float(np.mean(labels[0] == labels[1])),
                }
            )
    return rows


def naive_exponential(outputs, matrix):
    """Decode as one would write it down first: an array of n × ℓ × k."""
    return -np.exp(-outputs[:, np.newaxis, :] * matrix).sum(axis=2)


def measure_decoding(rounds):
    """Measure exponential decoding as samples, classes and problems grow."""
    rng = np.random.default_rng(0)
    rows = []
    for name, k, n in (
        ("one_vs_rest", 10, 10_000),
        ("one_vs_one", 10, 10_000),
        ("one_vs_one", 26, 10_000),
        ("dense_random", 100, 10_000),
        ("dense_random", 100, 40_000),
    ):
        options = {"random_state": 0} if "random" in name else {}
        code = make_code(name, k, **options)
        outputs = rng.normal(size=(n, code.n_problems))
        matrix = code.matrix.astype(float)
        jobs = {"ours": lambda outputs=outputs, code=code: decode(outputs, code, "exponential")}
        if n * matrix.size < 1e8:
            jobs["naive"] = lambda outputs=outputs, m=matrix: naive_exponential(outputs, m)
        seconds = measure(jobs, rounds)
        rows.append({"code": name, "k": k, "problems": code.n_problems, "n": n, **seconds})
    return rows


def main():
    """Run, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results" / "reductions.json"
    )
    options = parser.parse_args()
    reductions = compare_with_scikit_learn(options.rounds)
    print("CPU seconds, ours and scikit-learn's, on 1200 (fit) and 597 (predict) digits")
    for r in reductions:
        print(
            f"{r['base']:<20}{r['code']:<14}"
            f"fit {r['fit_ours']:.3f} {r['fit_theirs']:.3f} "
            f"(theirs/ours {r['fit_theirs'] / r['fit_ours']:.2f})  "
            f"predict {r['predict_ours']:.4f} {r['predict_theirs']:.4f} "
            f"({r['predict_theirs'] / r['predict_ours']:.2f})  "
            f"error {r['error_ours']:.2%} {r['error_theirs']:.2%}  agree {r['agreement']:.1%}"
        )
    decoding = measure_decoding(options.rounds)
    print("\nexponential decoding, CPU seconds, ours and an n × ℓ × k array")
    for r in decoding:
        naive = (
            f"{r['naive']:.3f} ({r['naive'] / r['ours']:.0f} ×)" if "naive" in r else "too large"
        )
        print(
            f"{r['code']:<14}k={r['k']:<5}ℓ={r['problems']:<5}n={r['n']:<7}{r['ours']:.4f}  {naive}"
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    stored = {"environment": environment(), "reductions": reductions, "decoding": decoding}
    options.out.write_text(json.dumps(stored, indent=2) + "\n")
    print(f"\nstored in {options.out}")


if __name__ == "__main__":
    main()
