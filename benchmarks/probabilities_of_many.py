"""The solvers of class probabilities for many classes, see ``probabilities.py many``."""

from itertools import product

import numpy as np

from polychotomy import make_code
from polychotomy.probability import solve

METHODS = ("least_squares", "kullback_leibler")
KINDS = ("noisy", "nearly consistent", "consistent", "confident", "certain")


def outputs(code, kind, n, rng):
    """Return binary probabilities of a kind that ``many`` lists."""
    concentration = 0.01 if kind in ("confident", "certain") else 0.3
    p = rng.dirichlet(np.full(code.n_classes, concentration), size=n)
    plus, minus = p @ (code.matrix == 1), p @ (code.matrix == -1)
    noise = {"nearly consistent": 0.02, "consistent": 0.0, "certain": 0.3}.get(kind, 0.1)
    q = plus / np.maximum(plus + minus, 1e-300) + rng.normal(scale=noise, size=plus.shape)
    return np.round(np.clip(q, 0, 1)) if kind == "certain" else np.clip(q, 0, 1)


def many(best_of):
    """Return the solvers' seconds for many classes; `best_of` measures a job."""
    rng, rows = np.random.default_rng(0), []
    for k, factor in product((50, 200, 1000), (10, 20)):
        code = make_code("dense_random", k, n_problems=int(factor * np.log2(k)), random_state=0)
        methods = ("least_squares", "kullback_leibler", "inverse", "votes")
        for kind, method in product(KINDS, methods):
            n = 40 if k < 1000 else 20
            q = outputs(code, kind, n, rng)
            seconds = best_of(lambda q=q, code=code, m=method: solve(q, code, m)) / n
            size = {"k": k, "problems": code.n_problems}
            rows.append({"code": "dense_random", **size, "kind": kind, method: seconds})
            print(
                f"k={k:<5}ℓ={code.n_problems:<5}{kind:<18}{method:<17}{1e3 * seconds:.3f} ms",
                flush=True,
            )
    return rows + growth(best_of, rng)


def growth(best_of, rng):
    """Return how the cost of other codes grows with the number of classes."""
    rows = []
    for name, method in product(("one_vs_rest", "one_vs_one", "sparse_random"), METHODS):
        before = None
        for k in (25, 50, 100, 200):
            code = make_code(name, k, random_state=0)
            n = 20 if method == "least_squares" or name == "one_vs_rest" else 2
            q = outputs(code, "noisy", n, rng)
            seconds = best_of(lambda q=q, code=code, m=method: solve(q, code, m), rounds=1) / n
            row = {"code": name, "k": k, "problems": code.n_problems, method: seconds}
            exponent = None if before is None else float(np.log2(seconds / before))
            rows.append(row | {"exponent": exponent})
            print(
                f"{name:<14}k={k:<5}ℓ={code.n_problems:<6}{method:<17}{1e3 * seconds:.3f} ms"
                + ("" if exponent is None else f", exponent {exponent:.1f}"),
                flush=True,
            )
            before = seconds
    return rows
