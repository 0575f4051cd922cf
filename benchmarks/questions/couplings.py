"""Question 1: what makes an SBC matrix effective, and is one equivalent to the learned kernel.

    python benchmarks/questions/couplings.py run [--data glass …]
    python benchmarks/questions/couplings.py show

With an RBF kernel an SBC matrix acts through the coupling M_rs = exp(−γ‖E_r − E_s‖²) alone. Here it
is M = (1 − c) I + c 11ᵀ, codewords at equal distance, with C / (1 − c) for C. Every method is given
the same 20 pairs of γ and C, drawn once for each data set, and takes the one with the least error
in three-fold cross-validation of the training half; the tuned coupling takes a c of its own with
each pair, so that its budget is the same. Both halves are tested. ``run`` goes on where it was.
"""

import argparse
import os
import warnings
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
from sklearn.model_selection import StratifiedKFold
from stored_rows import RESULTS, StoredRows, halves, load_samples

from polychotomy import CodeClassifier, KernelSBCClassifier, SharedKernelSVC

DATA = (
    *("iris", "wine", "crabs", "glass", "ecoli", "vehicle", "dermatology", "waveform", "vowel"),
    *("digits", "segment", "optdigits", "soybean", "car", "satimage", "pendigits", "page-blocks"),
    *("usps", "mfeat-pix", "urban", "thyroid", "yeast", "humidity", "letter", "shuttle", "mnist"),
    *("spectrometer", "isolet", "abalone"),
)
COLUMNS = (
    *("data_set", "seed", "half", "n_classes", "n_train", "n_test", "method", "inner_error"),
    *("error", "gamma", "C", "c", "cpu_seconds", "fits", "same_as_diagonal"),
)
COUPLINGS = (0.0, 0.5, 0.9, 0.99)
N_PAIRS = 20
MOST_LEARNED = 12


def coupled(gamma, C, c, k):
    """Return SBC with codewords at equal distance: M_rs = c."""
    M = (1 - c) * np.eye(k) + c
    return KernelSBCClassifier(C, gamma, 1.0, [1.0], couplings=[M], probability=None)


def diagonal_form(trained, C):
    """Return SBC with one codeword on each axis, for a trained SBC-KERNEL of the default bases."""
    a = trained.weights_ * (1 - np.exp(-trained.gamma_)) / trained.radius_
    M = np.outer(1 - a, 1 - a)
    np.fill_diagonal(M, 1.0)
    C_scaled = C * trained.radius_
    return KernelSBCClassifier(
        C_scaled, trained.gamma_, 1.0, [1.0], couplings=[M], probability=None
    )


def one_vs_rest(gamma, C, *_):
    """Return one-vs-rest with a bias for each problem."""
    return CodeClassifier(
        SharedKernelSVC(C, gamma=gamma), "one_vs_rest", "linear", probability=None
    )


def methods(k):
    """Return each method as a function of γ, C and c, with its couplings."""

    def identity(gamma, C, *_):
        M = np.full((k, k), np.exp(-2 * gamma))
        np.fill_diagonal(M, 1.0)
        return KernelSBCClassifier(C, gamma, 1.0, [1.0], couplings=[M], probability=None)

    def kernel(weights):
        return lambda gamma, C, *_: KernelSBCClassifier(C, gamma, weights=weights, probability=None)

    found = {"one-vs-rest": one_vs_rest, "SBC-IDENTITY": identity}
    found["SBC-KERNEL, frequencies"] = kernel("class_frequencies")
    if k <= MOST_LEARNED:
        found["SBC-KERNEL, learned"] = kernel("learned")
    return found


def cross_validate(make, X, y):
    """Return the error of three-fold cross-validation."""
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
    wrong = [make().fit(X[a], y[a]).predict(X[b]) != y[b] for a, b in folds]
    return float(np.concatenate(wrong).mean())


def draw_pairs(n_features, seed):
    """Return γ and C of each attempt, log-uniform around 1/d and 8."""
    rng = np.random.default_rng(seed)
    gammas = 2.0 ** rng.uniform(-4, 3, N_PAIRS) / n_features
    return list(zip(gammas, 2.0 ** rng.uniform(-2, 8, N_PAIRS), strict=True))


def measure_half(train, test, k, seed):
    """Yield a row for each method."""
    (X, y), (X_test, y_test) = train, test
    pairs = draw_pairs(X.shape[1], seed)

    def tested(make, settings, inner, seconds):
        gamma, C, c = settings
        trained = make(gamma, C, c, k).fit(X, y)
        predicted = trained.predict(X_test)
        same = np.nan
        if isinstance(trained, KernelSBCClassifier) and trained.couplings is None:
            same = np.mean(diagonal_form(trained, C).fit(X, y).predict(X_test) == predicted)
        error = float(np.mean(predicted != y_test))
        return {
            "inner_error": inner,
            "error": error,
            "gamma": float(gamma),
            "C": float(C),
            "c": c,
            "cpu_seconds": seconds,
            "fits": 3 * N_PAIRS,
            "same_as_diagonal": same,
        }

    inner = {}
    for c in COUPLINGS:
        start = process_time()
        inner[c] = [cross_validate(lambda: coupled(g, C / (1 - c), c, k), X, y) for g, C in pairs]  # noqa: B023
        best = int(np.argmin(inner[c]))
        make = lambda g, C, c, k: coupled(g, C / (1 - c), c, k)  # noqa: E731
        row = tested(make, (*pairs[best], c), inner[c][best], process_time() - start)
        yield {"method": f"c = {c:g}", **row}
    # One coupling for each pair, the same 20 attempts as the others.
    own = [COUPLINGS[i % len(COUPLINGS)] for i in range(N_PAIRS)]
    errors = [inner[c][i] for i, c in enumerate(own)]
    best = int(np.argmin(errors))
    yield {
        "method": "tuned c",
        **tested(make, (*pairs[best], own[best]), errors[best], np.nan),
    }
    for name, make_of in methods(k).items():
        start = process_time()
        errors = [cross_validate(lambda: make_of(g, C), X, y) for g, C in pairs]  # noqa: B023
        best = int(np.argmin(errors))
        row = tested(make_of, (*pairs[best], np.nan), errors[best], process_time() - start)
        yield {"method": name, **row}


def run(names, seeds, folder):
    """Measure what the file does not have."""
    store = StoredRows("couplings", COLUMNS, folder)
    for seed in seeds:
        for name in names:
            if store.has(data_set=name, seed=seed, half=1):
                continue
            data, y = load_samples(name, 1000)
            k = int(y.max()) + 1
            for half, (train, test) in enumerate(halves(data, y, seed)):
                if store.has(data_set=name, seed=seed, half=half):
                    continue
                common = {"data_set": name, "seed": seed, "half": half, "n_classes": k}
                sizes = {"n_train": len(train[1]), "n_test": len(test[1])}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # merged classes and steps that ran out
                    rows = list(measure_half(train, test, k, seed))
                for row in rows:
                    store.add(**common, **sizes, **row)
                print(
                    name,
                    seed,
                    half,
                    {r["method"]: round(100 * r["error"], 1) for r in rows},
                    flush=True,
                )


def main():
    """Run, or show what was run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("run", "show"))
    parser.add_argument("--data", nargs="+", default=DATA)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--folder", default=RESULTS, help="where the rows are stored")
    options = parser.parse_args()
    if options.what == "run":
        run(options.data, options.seeds, options.folder)


if __name__ == "__main__":
    main()
