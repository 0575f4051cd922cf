"""Question 1: what makes an SBC matrix effective, and is one equivalent to the learned kernel.

    python benchmarks/questions/couplings.py run [--data glass …]
    python benchmarks/questions/couplings.py large --device cuda
    python benchmarks/questions/couplings.py show

With an RBF kernel an SBC matrix acts through the coupling M_rs = exp(−γ‖E_r − E_s‖²) alone. Here it
is M = (1 − c) I + c 11ᵀ, codewords at equal distance, with C / (1 − c) for C. Every method is given
the same 20 pairs of γ and C, drawn once for each data set, and takes the one with the least error
in three-fold cross-validation of the training half; the tuned coupling takes a c of its own with
each pair, so that its budget is the same. Both halves are tested. ``run`` goes on where it was.
``large`` takes up to 20 000 samples of the larger data sets, one half, 10 pairs and one inner fold.
"""

import argparse
import os
import warnings
from dataclasses import dataclass, replace
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
from sklearn.model_selection import StratifiedKFold
from stored_rows import IMAGES, StoredRows, halves, load_samples

from polychotomy import CodeClassifier, KernelSBCClassifier, SharedKernelSVC
from polychotomy.assess import bayesian_signed_rank

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
MOST_LEARNED = 2000  # replicas of training samples, above which weights are not learned
LARGE = ("segment", "satimage", "optdigits", "pendigits", "usps", "letter", "isolet", "mnist")


@dataclass(frozen=True)
class Effort:
    """How much is done for a data set: samples, halves, pairs of γ and C, inner folds of three."""

    most: int = 1000
    n_halves: int = 2
    n_pairs: int = 20
    n_inner: int = 3
    learned: bool = True
    device: str = "cpu"


def given(M, gamma, C, device):
    """Return SBC with a coupling."""
    return KernelSBCClassifier(C, gamma, 1.0, [1.0], couplings=[M], probability=None, device=device)


def coupled(gamma, C, c, k, device="cpu"):
    """Return SBC with codewords at equal distance: M_rs = c."""
    return given((1 - c) * np.eye(k) + c, gamma, C, device)


def diagonal_form(trained, C):
    """Return SBC with one codeword on each axis, for a trained SBC-KERNEL of the default bases."""
    a = trained.weights_ * (1 - np.exp(-trained.gamma_)) / trained.radius_
    M = np.outer(1 - a, 1 - a)
    np.fill_diagonal(M, 1.0)
    return given(M, trained.gamma_, C * trained.radius_, trained.device)


def methods(k, n_train, effort):
    """Return each method that has a coupling of its own, as a function of γ and C."""
    device = effort.device

    def one_vs_rest(gamma, C):
        learner = SharedKernelSVC(C, gamma=gamma, device=device)
        return CodeClassifier(learner, "one_vs_rest", "linear", probability=None)

    def identity(gamma, C):
        c = np.exp(-2 * gamma)
        return coupled(gamma, C, c, k, device)

    def kernel(weights):
        return lambda gamma, C: KernelSBCClassifier(
            C, gamma, weights=weights, probability=None, device=device
        )

    found = {"one-vs-rest": one_vs_rest, "SBC-IDENTITY": identity}
    found["SBC-KERNEL, frequencies"] = kernel("class_frequencies")
    if effort.learned and n_train * k <= MOST_LEARNED:
        found["SBC-KERNEL, learned"] = kernel("learned")
    return found


def cross_validate(make, X, y, n_inner):
    """Return the error of the first inner folds of three."""
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))[:n_inner]
    wrong = [make().fit(X[a], y[a]).predict(X[b]) != y[b] for a, b in folds]
    return float(np.concatenate(wrong).mean())


def draw_pairs(n_features, seed, n_pairs):
    """Return γ and C of each attempt, log-uniform around 1/d and 8."""
    rng = np.random.default_rng(seed)
    gammas = 2.0 ** rng.uniform(-4, 3, n_pairs) / n_features
    return list(zip(gammas, 2.0 ** rng.uniform(-2, 8, n_pairs), strict=True))


def measure_half(train, test, k, seed, effort):
    """Yield a row for each method."""
    (X, y), _ = train, test
    pairs = draw_pairs(X.shape[1], seed, effort.n_pairs)
    inner = {}

    def search(name, make, c):
        start = process_time()
        inner[name] = [cross_validate(lambda: make(*p), X, y, effort.n_inner) for p in pairs]  # noqa: B023
        best = int(np.argmin(inner[name]))
        row = check(make, pairs[best], train, test)
        return {
            "method": name,
            "inner_error": inner[name][best],
            "c": c,
            **row,
            "cpu_seconds": process_time() - start,
            "fits": effort.n_inner * len(pairs),
        }

    of_coupling = {
        c: lambda gamma, C, c=c: coupled(gamma, C / (1 - c), c, k, effort.device) for c in COUPLINGS
    }
    for c, make in of_coupling.items():
        yield search(f"c = {c:g}", make, c)
    # One coupling for each pair: as many attempts as the others have.
    own = [COUPLINGS[i % len(COUPLINGS)] for i in range(len(pairs))]
    errors = [inner[f"c = {c:g}"][i] for i, c in enumerate(own)]
    best = int(np.argmin(errors))
    row = check(of_coupling[own[best]], pairs[best], train, test)
    more = {"c": own[best], "cpu_seconds": np.nan, "fits": effort.n_inner * len(pairs)}
    yield {"method": "tuned c", "inner_error": errors[best], **more, **row}
    for name, make in methods(k, len(y), effort).items():
        yield search(name, make, np.nan)


def check(make, pair, train, test):
    """Return the test error with a pair of γ and C, and how often the diagonal form agrees."""
    gamma, C = pair
    trained = make(gamma, C).fit(*train)
    predicted = trained.predict(test[0])
    same = np.nan
    if isinstance(trained, KernelSBCClassifier) and trained.couplings is None:
        same = float(np.mean(diagonal_form(trained, C).fit(*train).predict(test[0]) == predicted))
    error = float(np.mean(predicted != test[1]))
    return {"error": error, "gamma": float(gamma), "C": float(C), "same_as_diagonal": same}


def run(store, names, seeds, effort):
    """Measure what the file does not have."""
    for seed in seeds:
        for name in names:
            if store.has(data_set=name, seed=seed, half=effort.n_halves - 1):
                continue
            data, y = load_samples(name, effort.most)
            k = int(y.max()) + 1
            for half, (train, test) in enumerate(halves(data, y, seed)):
                if half < effort.n_halves and not store.has(data_set=name, seed=seed, half=half):
                    common = {"data_set": name, "seed": seed, "half": half, "n_classes": k}
                    sizes = {"n_train": len(train[1]), "n_test": len(test[1])}
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # merged classes, steps that ran out
                        rows = list(measure_half(train, test, k, seed, effort))
                    for row in rows:
                        store.add(**common, **sizes, **row)
                    errors = {row["method"]: round(100 * row["error"], 2) for row in rows}
                    print(name, seed, half, errors, flush=True)


ORDER = (
    *("one-vs-rest", "c = 0", "c = 0.5", "c = 0.9", "c = 0.99", "tuned c", "SBC-IDENTITY"),
    *("SBC-KERNEL, frequencies", "SBC-KERNEL, learned"),
)


def show():
    """Print errors, differences from one-vs-rest and tests, and draw the differences."""
    from matplotlib import pyplot as plt
    from scipy.stats import wilcoxon

    rows = StoredRows("couplings", COLUMNS).frame()
    mean = 100 * rows.groupby(["data_set", "method"])["error"].mean().unstack()[list(ORDER)]
    print(mean.round(1).to_string(), "\n")
    seconds = rows.groupby(["data_set", "method"])["cpu_seconds"].sum().unstack()
    excess = mean.sub(mean["one-vs-rest"], axis=0)
    for method in ORDER[1:]:
        each = excess[method].dropna()
        p = wilcoxon(each).pvalue if (each != 0).any() else 1.0
        counts = f"{(each < -0.005).sum()} / {(each > 0.005).sum()} of {len(each)}"
        times = seconds.loc[each.index, method].sum() / seconds.loc[each.index, "one-vs-rest"].sum()
        found = bayesian_signed_rank(
            mean.loc[each.index, method], mean.loc[each.index, "one-vs-rest"], rope=1.0
        )
        shares = (found.lower, found.equivalent, found.higher)
        said = " / ".join(f"{100 * share:.0f}" for share in shares)
        print(f"| {method} | {each.mean():+.2f} | {counts} | {p:.2f} | {said} | {times:.1f} |")
    same = rows.groupby("method")["same_as_diagonal"].agg(["mean", "min", "count"]).dropna()
    print("\nsame predictions as the diagonal form:\n", same.round(4).to_string())
    _, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    ax.boxplot(
        [excess[m].dropna() for m in ORDER[:0:-1]],
        orientation="horizontal",
        tick_labels=ORDER[:0:-1],
    )
    ax.axvline(0, color="0.7", linewidth=1)
    ax.set(xlabel="error less that of one-vs-rest (points), a value for each data set")
    plt.savefig(IMAGES / "couplings.png", dpi=110)


def main():
    """Run, or show what was run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("run", "large", "show"))
    parser.add_argument("--data", nargs="+")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if options.what == "show":
        show()
    effort = Effort(device=options.device)
    if options.what == "run":
        store = StoredRows("couplings", COLUMNS)
        run(store, options.data or DATA, options.seeds, effort)
    if options.what == "large":
        store = StoredRows("couplings-large", COLUMNS)
        effort = replace(effort, most=20_000, n_halves=1, n_pairs=10, n_inner=1, learned=False)
        run(store, options.data or LARGE, options.seeds, effort)


if __name__ == "__main__":
    main()
