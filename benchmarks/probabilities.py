"""Class probabilities: the solvers' speed, and the quality of what comes out, beside peers.

    python benchmarks/probabilities.py speed     # CPU seconds, one thread, best of ten rounds
    python benchmarks/probabilities.py many      # likewise: milliseconds a sample, up to 1000
    classes python benchmarks/probabilities.py quality   # needs POLYCHOTOMY_DATA, a folder of
    NAME.csv.gz python benchmarks/probabilities.py codes     # likewise python
    benchmarks/probabilities.py auto      # likewise, all files of the folder

Speed: a loop over ``scipy.optimize.nnls`` (the sum to 1 as a heavily weighted row) and LIBSVM's own
coupling, which is ``SVC(probability=True).predict_proba`` less its ``decision_function``.
Many: random strict codes of 10 and 20 log2 k problems, by every method that suits them, for outputs
that are noisy (see Speed), nearly consistent (a fifth of the noise), consistent, confident (few
classes share the probability) and certain (confident ones, rounded to 0 and 1); then how other
codes grow with k, as the slope of log seconds by log k over the last doubling. Quality: an RBF SVM
with C = 10 on standardised features, not tuned; the official split where there is one, else ten
random ones of 70/30. Codes: least squares and Kullback–Leibler on the same binary probabilities, of
logistic regression, of at most 1000 training samples in the same splits. Auto: what
``probability="auto"`` chooses out of fold, beside least squares and Kullback–Leibler of the same
training: RBF SVMs of about 300 samples of the ten largest classes, calibrated by five folds, two
draws, about 600 test samples each.
"""

import argparse
import json
import os
import warnings
from functools import lru_cache
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.optimize import nnls
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from environment import environment
from polychotomy import CodeClassifier, make_code
from polychotomy.assess import brier_score, expected_calibration_error
from polychotomy.classifiers import with_rules
from polychotomy.probability import solve
from probabilities_of_many import many

RIVALS = ("all", "the peers")
CODES = ("one_vs_rest", "dense_random", "sparse_random", "bch", "adjacent")
METHODS = ("least_squares", "kullback_leibler")
AUTO = ("ours one-vs-one auto", "ours one-vs-rest auto")
RESULTS = Path(__file__).parent / "results"
DATA_SETS = (
    "glass",
    "ecoli",
    "vehicle",
    "vowel",
    "yeast",
    "segment",
    "crabs",
    "wine",
    "satimage",
    "optdigits",
    "page-blocks",
    "pendigits",
)


def best_of(job, rounds=10):
    """Return the least CPU seconds of some rounds, after one that does not count."""
    job()
    seconds = []
    for _ in range(rounds):
        start = process_time()
        job()
        seconds.append(process_time() - start)
    return min(seconds)


def noisy_binary(code, n, rng):
    """Return binary probabilities of Dirichlet class probabilities, with noise."""
    p = rng.dirichlet(np.full(code.n_classes, 0.3), size=n)
    plus, minus = p @ (code.matrix == 1), p @ (code.matrix == -1)
    q = plus / np.maximum(plus + minus, 1e-300)
    return np.clip(q + rng.normal(scale=0.1, size=q.shape), 0, 1)


def scipy_loop(q, code):
    """Solve sample after sample by Lawson and Hanson's method in SciPy."""
    A = code.matrix.T.astype(float)
    B, heavy = np.abs(A), 1e3
    right = np.append(np.zeros(code.n_problems), heavy)
    for r in 2 * q - 1:
        nnls(np.vstack([A - r[:, np.newaxis] * B, np.full(code.n_classes, heavy)]), right)


def libsvm_seconds(k, n):
    """Return CPU seconds that LIBSVM spends on coupling n samples of k classes."""
    X, y = make_blobs(60 * k, n_features=5, centers=k, cluster_std=3.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        libsvm = SVC(probability=True, decision_function_shape="ovo", random_state=0).fit(X, y)
    sample = np.resize(X, (n, 5))
    both = best_of(lambda: libsvm.predict_proba(sample))
    return both - best_of(lambda: libsvm.decision_function(sample))


def speed():
    """Measure the solvers against their peers, and how their cost grows."""
    rng = np.random.default_rng(0)
    rows = []
    for k in (3, 10, 26, 100):
        for name in ("one_vs_rest", "one_vs_one", "dense_random", "sparse_random", "bch"):
            code = make_code(name, k, random_state=0)
            n, few = (20_000, 300) if k < 100 else (500, 10)
            q = noisy_binary(code, n, rng)
            ours = best_of(lambda q=q, code=code: solve(q, code, "least_squares")) / n
            loop = best_of(lambda q=q[:few], code=code: scipy_loop(q, code)) / few
            row = {"code": name, "k": k, "n": n, "least_squares": ours, "scipy": loop}
            if name == "one_vs_one":
                row["coupling"] = best_of(lambda q=q, code=code: solve(q, code, "coupling")) / n
                if k < 100:
                    row["libsvm"] = libsvm_seconds(k, 2000) / 2000
            rows.append(row)
            print(
                f"{name:<14}k={k:<5}µs a sample: least squares {1e6 * ours:9.2f}  "
                f"SciPy loop {1e6 * loop:9.1f} ({loop / ours:.0f} ×)"
                + (f"  coupling {1e6 * row['coupling']:.2f}" if "coupling" in row else "")
                + (f"  LIBSVM {1e6 * row['libsvm']:.2f}" if "libsvm" in row else "")
            )
    code = make_code("one_vs_one", 10)
    for n in (10_000, 100_000, 1_000_000):
        q = noisy_binary(code, n, rng)
        start = process_time()
        solve(q, code)
        seconds = process_time() - start
        rows.append({"code": "one_vs_one", "k": 10, "n": n, "coupling_total": seconds})
        print(f"one_vs_one    k=10   n={n:<9}{seconds:.3f} s")
    store("probabilities-speed", rows)


def load(name):
    """Return features, labels and the official training mask (None if there is none)."""
    import pandas as pd

    table = pd.read_csv(Path(os.environ["POLYCHOTOMY_DATA"]) / f"{name}.csv.gz")
    y = table.pop("class").astype(str).to_numpy()
    split = table.pop("split") if "split" in table else None
    X = pd.get_dummies(table, dtype=float)
    X = X.fillna(X.median()).to_numpy()
    return X, y, None if split is None else (split == "train").to_numpy()


def splits(y, official):
    """Yield training and test samples; rare classes need two samples to be split."""
    if official is not None:
        yield np.flatnonzero(official), np.flatnonzero(~official)
        return
    yield from StratifiedShuffleSplit(10, test_size=0.3, random_state=0).split(y, y)


def contenders(n_features):
    """Return the classifiers by name; those of ours begin with "ours".

    gamma is fixed: "scale" would go by the samples of each binary problem for some of them, and by
    all samples for others.
    """
    svm = SVC(C=10, gamma=1 / n_features)
    peers = {
        f"CalibratedClassifierCV {method}": CalibratedClassifierCV(svm, method=method, cv=5)
        for method in ("sigmoid", "isotonic", "temperature")
    }
    return {
        "ours one-vs-one auto": CodeClassifier(svm),
        "ours one-vs-rest auto": CodeClassifier(svm, code="one_vs_rest"),
        "ours one-vs-one KL": CodeClassifier(svm, probability="kullback_leibler"),
        "ours one-vs-one isotonic": CodeClassifier(svm, calibration="isotonic"),
        "SVC(probability=True)": clone(svm).set_params(probability=True, random_state=0),
        **peers,
        "OneVsRest of calibrated": OneVsRestClassifier(CalibratedClassifierCV(svm, cv=5)),
    }


def assess(model, X, y, training, test):
    """Fit and return the figures of one split."""
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(StandardScaler(), model).fit(X[training], y[training])
        p = model.predict_proba(X[test])
    seconds = process_time() - start
    return {**figures_of(p, y[test], model.classes_), "seconds": seconds}


def figures_of(p, y, classes):
    """Return how good probabilities are; logarithms are taken of no less than a millionth."""
    p = p / p.sum(axis=1, keepdims=True)
    of_truth = p[np.arange(len(y)), np.searchsorted(classes, y)]
    clipped = np.maximum(p, 1e-6)
    clipped /= clipped.sum(axis=1, keepdims=True)
    return {
        "log_loss": log_loss(y, clipped, labels=classes),
        "brier": brier_score(y, p, classes=classes),
        "brier_mills": brier_score(y, p, form="mills", classes=classes),
        "ece": expected_calibration_error(y, p, classes=classes),
        "error": float(np.mean(classes[p.argmax(axis=1)] != y)),
        "zeros_on_truth": float(np.mean(of_truth == 0)),
        "log_losses": -np.log(clipped[np.arange(len(y)), np.searchsorted(classes, y)]),
    }


def load_frequent(name):
    """Return a data set without the classes of fewer than ten samples."""
    X, y, official = load(name)
    frequent = np.isin(y, [c for c in np.unique(y) if (y == c).sum() >= 10])
    return X[frequent], y[frequent], None if official is None else official[frequent]


def of_code(code, X, y, training, test):
    """Train a code once and return the figures of both methods."""
    training = np.random.default_rng(0).permutation(training)[:1000]
    learner = LogisticRegression(max_iter=1000)
    classifier = CodeClassifier(learner, code, calibration="none", random_state=0)
    model = make_pipeline(StandardScaler(), classifier).fit(X[training], y[training])
    known = np.isin(y[test], classifier.classes_)
    binary = expit(classifier.binary_outputs(model[0].transform(X[test][known])))
    found = {}
    for method in METHODS:
        start = process_time()
        p = solve(binary, classifier.code_, method)
        seconds = process_time() - start
        found[method] = figures_of(p, y[test][known], classifier.classes_) | {"seconds": seconds}
    return found


def codes(names):
    """Compare least squares with Kullback–Leibler for codes."""
    rows, better = [], {key: [0, 0] for key in product(CODES, ("log_loss", "brier", "error"))}
    for name, code in product(names, CODES):
        X, y, official = load_frequent(name)
        parts = [of_code(code, X, y, *split) for split in splits(y, official)]
        means = {}
        for method in METHODS:
            figures = [part[method] for part in parts]
            means[method] = {
                key: float(np.mean([f[key] for f in figures]))
                for key in figures[0]
                if key != "log_losses"
            }
            rows.append({"data": name, "code": code, "method": method, **means[method]})
        first, second = (means[method] for method in METHODS)
        for key in ("log_loss", "brier", "error"):
            better[code, key][0] += second[key] < first[key] - 1e-4
            better[code, key][1] += second[key] > first[key] + 1e-4
        print(
            f"{name:<14}{code:<15}log loss {first['log_loss']:.4f} → {second['log_loss']:.4f}  "
            f"Brier {first['brier']:.4f} → {second['brier']:.4f}  error {first['error']:.2%} → "
            f"{second['error']:.2%}  zeros on the true class {first['zeros_on_truth']:.2%}",
            flush=True,
        )
    for (code, key), (lower, higher) in better.items():
        print(f"{code}: Kullback–Leibler's {key} is lower on {lower}, higher on {higher}")
    store("probabilities-codes", rows)


@lru_cache(1)
def table_of(name):
    """Return the features and labels of any file of the folder."""
    import pandas as pd

    folder = Path(os.environ["POLYCHOTOMY_DATA"])
    if (folder / f"{name}.npz").exists():
        held = np.load(folder / f"{name}.npz")
        return pd.DataFrame(held["x"].astype(float)), held["y"]
    table = pd.read_csv(folder / f"{name}.csv.gz", low_memory=False)
    y = table.pop("class").astype(str).to_numpy()
    # A region of the cities names its country, the class.
    return table.drop(columns=["split", "region"], errors="ignore"), y


@lru_cache(2)
def draw(name, seed):
    """Return training and test samples of the ten largest classes, as numbers."""
    import pandas as pd

    table, y = table_of(name)
    largest = pd.Series(y).value_counts(sort=True).index[:10]
    rows = np.flatnonzero(np.isin(y, largest))
    drawn = np.random.default_rng(seed).permutation(rows)[:900]
    table, y = table.iloc[drawn].reset_index(drop=True), y[drawn]
    for column in list(table.select_dtypes(exclude=["number", "bool"])):
        if table[column].nunique() > 50:  # texts, as counts of letters
            texts = table.pop(column).fillna("").astype(str).str.lower()
            table = table.assign(**{c: texts.str.count(c) for c in ascii_lowercase})
    X = pd.get_dummies(table, dtype=float)
    X = X.fillna(X.median()).to_numpy()
    n = len(y) // 3
    frequent = np.isin(y, [c for c in np.unique(y[:n]) if (y[:n] == c).sum() >= 5])
    training, test = np.arange(len(y)) < n, np.arange(len(y)) >= n
    scaler = StandardScaler().fit(X[training & frequent])
    parts = [(scaler.transform(X[m & frequent]), y[m & frequent]) for m in (training, test)]
    return [*parts[0], *parts[1]]


def auto(names):
    """Compare what "auto" chooses with either method."""
    rows, kept = [], ("least_squares", "kullback_leibler", "auto")
    for name, code in product(names, CODES[:3]):
        losses, chosen = {method: [] for method in kept}, []
        for seed in range(2):
            X, y, X_test, y_test = draw(name, seed)
            svm = SVC(C=10, gamma=1 / X.shape[1])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                trained = CodeClassifier(svm, code, random_state=seed).fit(X, y)
                for method in kept:
                    p = with_rules(trained, None, method).predict_proba(X_test)
                    losses[method].append(figures_of(p, y_test, trained.classes_)["log_loss"])
            chosen.append(trained.probability_)
        means = {method: float(np.mean(each)) for method, each in losses.items()}
        rows.append({"data": name, "code": code, "chosen": chosen, **losses})
        print(
            f"{name:<14}{code:<15}least squares {means['least_squares']:.4f}  "
            f"Kullback–Leibler {means['kullback_leibler']:.4f}  auto {means['auto']:.4f} "
            f"({', '.join(chosen)})",
            flush=True,
        )
    for method in kept[:2]:
        gaps = [np.mean(row["auto"]) - np.mean(row[method]) for row in rows]
        lower, higher = np.sum(np.array(gaps) < -1e-4), np.sum(np.array(gaps) > 1e-4)
        print(
            f"auto against {method}: lower on {lower}, higher on {higher} of {len(rows)}, "
            f"mean difference {np.mean(gaps):+.4f}"
        )
    store("probabilities-auto", rows)


def quality(names):
    """Compare the quality of probabilities on the data sets."""
    rows, wins = [], dict.fromkeys(product(AUTO, RIVALS), 0)
    for name in names:
        X, y, official = load_frequent(name)
        figures = {}
        for contender, model in contenders(X.shape[1]).items():
            parts = [assess(model, X, y, *split) for split in splits(y, official)]
            losses = [part.pop("log_losses") for part in parts]
            mean = {key: float(np.mean([part[key] for part in parts])) for key in parts[0]}
            figures[contender] = mean | {"losses": losses}
        for rivals in RIVALS:
            pool = [c for c in figures if rivals == "all" or not c.startswith("ours")]
            best = min(pool, key=lambda c: figures[c]["log_loss"])
            print(f"{name}: best of {rivals} {best}")
            for ours in AUTO:
                gap, error = _paired(figures[ours]["losses"], figures[best]["losses"])
                wins[ours, rivals] += int(gap <= error)
                print(f"  {ours} is {gap:+.4f} ± {error:.4f} from it")
        for contender, mean in figures.items():
            mean.pop("losses")
            rows.append({"data": name, "method": contender, **mean})
            print(
                f"  {contender:<36}log loss {mean['log_loss']:.4f}  Brier {mean['brier']:.4f}  "
                f"ECE {mean['ece']:.4f}  error {mean['error']:.2%}  {mean['seconds']:.1f} s"
            )
    for (ours, rivals), count in wins.items():
        print(
            f"{ours} is better than, or within one standard error of, the best of {rivals} "
            f"on {count} of {len(names)}"
        )
    store("probabilities-quality", rows)


def _paired(ours, best):
    """Return the mean difference of log losses and its standard error.

    Over the splits if there are several, else over the test samples.
    """
    if len(ours) > 1:
        differences = np.array([np.mean(a) - np.mean(b) for a, b in zip(ours, best, strict=True)])
    else:
        differences = ours[0] - best[0]
    return differences.mean(), differences.std(ddof=1) / np.sqrt(len(differences))


def store(name, rows):
    """Write the figures with the environment they come from."""
    RESULTS.mkdir(exist_ok=True)
    stored = {"environment": environment(), "results": rows}
    (RESULTS / f"{name}.json").write_text(json.dumps(stored, indent=1) + "\n")


def main():
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["speed", "many", "quality", "codes", "auto"])
    parser.add_argument("--data", nargs="*", default=DATA_SETS, help="for all but speed and many")
    options = parser.parse_args()
    if options.what == "speed":
        speed()
    elif options.what == "many":
        store("probabilities-many", many(best_of))
    elif options.what == "auto" and options.data is DATA_SETS:
        files = Path(os.environ["POLYCHOTOMY_DATA"]).glob("*.*z")
        auto(sorted(path.name.partition(".")[0] for path in files))
    else:
        {"quality": quality, "codes": codes, "auto": auto}[options.what](options.data)


if __name__ == "__main__":
    main()
