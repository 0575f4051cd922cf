"""SharedKernelSVC on one GPU: all problems of a code at once, beside LIBSVM and our CPU engine.

    POLYCHOTOMY_DATA=… python benchmarks/gpu.py [--cases mnist letter …] [--peers] [--out FILE]

Seconds on the clock, of the second call in a process (``first`` is the first, with what CuPy
compiles), from arrays on the host to a trained classifier. mnist: pixels / 255, C = 10, γ = 0.02,
60 000 samples, tested on the other 10 000. letter: standardised, C = 10, γ = 1/16. `generated`:
Gaussian clusters of 54 features and 7 classes with a tenth of random labels, C = 1, γ = 1/108.
The case `peer` is scikit-learn's OneVsRestClassifier(SVC, n_jobs=10) on mnist. With ``--peers`` the
CPU engine and scikit-learn take part in the growth with samples and problems.
"""

import argparse
import json
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from environment import environment
from polychotomy import (
    CodeClassifier,
    GreedySearchCV,
    KernelSBCClassifier,
    SharedKernelSVC,
    SingleBinaryClassifier,
)
from polychotomy.datasets import load
from polychotomy.evaluate import SharedGridSearchCV

RESULTS = Path(__file__).parent / "results" / "gpu.json"
MNIST = {"C": 10, "gamma": 0.02}
LETTER = {"C": 10, "gamma": 1 / 16}
GENERATED = {"C": 1, "gamma": 1 / 108}


def mnist():
    """Return the training and the test part."""
    samples = load("mnist")
    X = samples.data.to_numpy(np.float32) / np.float32(255)
    y = np.asarray(samples.target)
    return X[:60000], y[:60000], X[60000:], y[60000:]


def letter():
    """Return all samples, standardised."""
    samples = load("letter")
    X = samples.data.to_numpy(float)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.asarray(samples.target)


def generated(n_samples, seed=0):
    """Return clusters of 7 classes, four for each, with a tenth of random labels."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(28, 54)).astype(np.float32)
    cluster = rng.integers(28, size=n_samples)
    X = centres[cluster] + rng.standard_normal((n_samples, 54), dtype=np.float32)
    y = cluster % 7
    noisy = rng.random(n_samples) < 0.1
    y[noisy] = rng.integers(7, size=noisy.sum())
    return X, y


def bch(n_classes):
    """Return make_code("bch", n_classes) as 0 and 1: unit messages and x^-r modulo a polynomial."""
    n_parity, polynomial = (5, 0b100101) if n_classes > 11 else (4, 0b10011)
    parity, remainder = [], 1
    for _ in range(n_classes):
        remainder = (remainder ^ polynomial if remainder & 1 else remainder) >> 1
        parity.append([remainder >> bit & 1 for bit in reversed(range(n_parity))])
    return np.hstack([np.eye(n_classes), parity])


def svm(device="cuda", **options):
    """Return the learner."""
    return SharedKernelSVC(device=device, **options)


def code(name, options, **further):
    """Return a classifier without probabilities unless they are asked for."""
    return CodeClassifier(svm(**options), name, **{"probability": None, **further})


def timed(make, X, y, *, repeats=2):
    """Return the last classifier and the seconds of each call of fit."""
    seconds = []
    for _ in range(repeats):
        classifier = make()
        begin = perf_counter()
        classifier.fit(X, y)
        seconds.append(perf_counter() - begin)
    return classifier, {"first": seconds[0], "seconds": seconds[-1]}


def predicted(classifier, X, y):
    """Return the seconds of the second prediction and the error."""
    classifier.predict(X)
    begin = perf_counter()
    labels = classifier.predict(X)
    return {"predict": perf_counter() - begin, "error": float(np.mean(labels != y))}


def case_mnist(args):
    """One-vs-rest and one-vs-one, without and with probabilities."""
    X, y, X_test, y_test = mnist()
    for name, make in {
        "mnist one_vs_rest": lambda: code("one_vs_rest", MNIST),
        "mnist one_vs_one": lambda: code("one_vs_one", MNIST),
        "mnist one_vs_rest, probabilities": lambda: code("one_vs_rest", MNIST, probability="auto"),
        "mnist one_vs_one, probabilities": lambda: code("one_vs_one", MNIST, probability="auto"),
    }.items():
        classifier, row = timed(make, X, y)
        yield name, {**row, **predicted(classifier, X_test, y_test)}


def case_peer(args):
    """Train scikit-learn's one-vs-rest on ten cores, first on a quarter of the samples."""
    X, y, _, _ = mnist()
    peer = OneVsRestClassifier(SVC(**MNIST, cache_size=4000), n_jobs=10)
    for n in (15000, 60000):
        _, row = timed(lambda: peer, X[:n], y[:n], repeats=1)
        yield f"mnist one_vs_rest, scikit-learn, {n} samples", row


def case_device_arrays(args):
    """Begin with samples that are on the GPU already."""
    import cupy

    X, y, X_test, y_test = mnist()
    X, X_test = cupy.asarray(X), cupy.asarray(X_test)
    classifier, row = timed(lambda: code("one_vs_rest", MNIST), X, y)
    yield "mnist one_vs_rest, from the GPU", {**row, **predicted(classifier, X_test, y_test)}


def case_letter(args):
    """One-vs-one and one-vs-rest on all samples."""
    X, y = letter()
    for name in ("one_vs_one", "one_vs_rest"):
        _, row = timed(lambda: code(name, LETTER), X, y)  # noqa: B023
        yield f"letter {name}", row


def case_single(args):
    """Train one binary classifier on all replicas, and learn couplings."""
    X, y = letter()
    for name, extension in {"identity": "identity", "bch": bch(26)}.items():
        make = lambda e=extension: SingleBinaryClassifier(svm(**LETTER), e, probability=None)  # noqa: E731
        classifier, row = timed(make, X[:15000], y[:15000])
        yield f"letter SBC {name}", {**row, **predicted(classifier, X[15000:], y[15000:])}
    X, y, X_test, y_test = mnist()
    for name, extension in {"identity": "identity", "bch": bch(10)}.items():
        make = lambda e=extension: SingleBinaryClassifier(svm(**MNIST), e, probability=None)  # noqa: E731
        classifier, row = timed(make, X, y)
        yield f"mnist SBC {name}", {**row, **predicted(classifier, X_test, y_test)}


def case_learned(args):
    """Learn the weights of the couplings."""
    X, y = letter()
    make = lambda: KernelSBCClassifier(  # noqa: E731
        **LETTER, weights="learned", probability=None, device="cuda"
    )
    classifier, row = timed(make, X[:15000], y[:15000], repeats=1)
    row["solves"] = classifier.n_solves_
    yield (
        "letter SBC-KERNEL, learned weights",
        {**row, **predicted(classifier, X[15000:], y[15000:])},
    )


def case_generated(args):
    """Many samples, whose kernel does not fit into memory."""
    for n in args.samples:
        X, y = generated(n + 10000)
        classifier, row = timed(
            lambda: code("one_vs_rest", GENERATED), X[:n], y[:n], repeats=2 if n <= 500_000 else 1
        )
        row["support"] = len(classifier._trained.model.support_)
        model = classifier._trained.model
        row["largest relative gap"] = float((model.duality_gap_ / model.dual_objective_).max())
        yield f"generated {n}", {**row, **predicted(classifier, X[n:], y[n:])}


def case_grid(args):
    """Search 12 points in ten folds."""
    X, y, _, _ = mnist()
    grid = {"estimator__gamma": [0.005, 0.01, 0.02, 0.04], "estimator__C": [1, 10, 100]}
    make = lambda: SharedGridSearchCV(code("one_vs_rest", MNIST), grid, cv=10, refit=False)  # noqa: E731
    search, row = timed(make, X, y)
    row |= {"best": search.best_params_, "error": 1 - search.best_score_}
    yield "mnist, 12 points in ten folds", row


def case_search(args):
    """GreedySearchCV as in the papers, with three rounds."""
    X, y, _, _ = mnist()
    search = GreedySearchCV(code("one_vs_rest", MNIST), rounds=3, verbose=0)
    search, row = timed(lambda: search, X, y, repeats=1)
    row |= {"attempts": len(search.cv_results_["params"]), "best": search.best_params_}
    row["error"] = 1 - search.best_score_
    yield "mnist GreedySearchCV, three rounds", row


def compared(make, X, y, X_test):
    """Return how far the GPU and the CPU engine agree."""
    ours, theirs = (make(device).fit(X, y) for device in ("cuda", "cpu"))
    a, b = (np.asarray(model._trained.model.dual_objective_) for model in (ours, theirs))
    return {
        "relative difference of objectives": float(np.max(np.abs(a - b) / np.abs(b))),
        "equal predictions": float(np.mean(ours.predict(X_test) == theirs.predict(X_test))),
    }


def case_agreement(args):
    """Objectives and predictions beside those of the CPU engine."""
    X, y, X_test, _ = mnist()
    for name in ("one_vs_rest", "one_vs_one"):
        make = lambda device: code(name, {**MNIST, "device": device, "n_jobs": -1})  # noqa: B023, E731
        yield (
            f"mnist {name}, 20000 samples, beside the CPU",
            compared(make, X[:20000], y[:20000], X_test),
        )
    X, y = letter()
    for name in ("one_vs_rest", "one_vs_one"):
        make = lambda device: code(name, {**LETTER, "device": device, "n_jobs": -1})  # noqa: B023, E731
        yield f"letter {name}, beside the CPU", compared(make, X[:15000], y[:15000], X[15000:])
    make = lambda device: SingleBinaryClassifier(  # noqa: E731
        svm(**{**LETTER, "device": device}), "identity", probability=None
    )
    yield "letter SBC identity, beside the CPU", compared(make, X[:15000], y[:15000], X[15000:])


def case_libsvm(args):
    """One-vs-one with other parameters than elsewhere: unseen samples' labels beside LIBSVM's."""
    X, y, X_test, y_test = mnist()
    parts = [("mnist", {"C": 2, "gamma": 0.035}, X[:5000], y[:5000], X_test, y_test)]
    X, y = letter()
    parts += [
        ("letter", options, X[:15000], y[:15000], X[15000:], y[15000:])
        for options in ({"C": 30, "gamma": 0.03}, {"C": 1, "gamma": 0.2})
    ]
    for name, options, X, y, X_test, y_test in parts:
        theirs = SVC(**options, cache_size=4000).fit(X, y).predict(X_test)
        first, second = (code("one_vs_one", options).fit(X, y) for _ in range(2))
        ours = first.predict(X_test)
        outputs = first.binary_outputs(X_test), second.binary_outputs(X_test)
        yield (
            f"{name} one_vs_one, {len(y)} samples, {options}, beside LIBSVM",
            {
                "equal labels": float(np.mean(ours == theirs)),
                "error": float(np.mean(ours != y_test)),
                "LIBSVM's error": float(np.mean(theirs != y_test)),
                "same bits again": bool((outputs[0] == outputs[1]).all()),
            },
        )


def grown(sizes, seconds):
    """Return a row with the exponent over the three largest sizes."""
    exponent = float(np.polyfit(np.log(sizes[-3:]), np.log(seconds[-3:]), 1)[0])
    return {"sizes": sizes, "seconds": seconds, "exponent": exponent}


def case_growth(args):
    """Seconds against samples and against problems; with --peers those of others, too."""
    X, y = generated(128000)
    contestants = {"GPU": lambda: code("one_vs_rest", GENERATED)}
    if args.peers:
        contestants["CPU"] = lambda: code("one_vs_rest", {**GENERATED, "device": "cpu"})
        contestants["scikit-learn"] = lambda: OneVsRestClassifier(SVC(**GENERATED))
    rows = {}
    for name, make in contestants.items():
        sizes = [1000, 2000, 4000, 8000] if name != "GPU" else [16000, 32000, 64000, 128000]
        seconds = [timed(make, X[:n], y[:n])[1]["seconds"] for n in sizes]
        rows[name] = grown(sizes, seconds)
    yield "growth with samples", rows
    X, y, _, _ = mnist()
    rng, rows = np.random.default_rng(0), {}
    lengths = [10, 20, 40, 80, 160]
    codes = [np.where(rng.random((10, n)).argsort(axis=0) < 5, 1, -1) for n in lengths]
    for name in contestants:
        n = 20000 if name == "GPU" else 1000
        options = {**MNIST, "device": "cuda" if name == "GPU" else "cpu"}
        seconds = []
        for matrix in codes[:5] if name == "GPU" else codes[:4]:
            make = lambda m=matrix, o=options: code(m, o)  # noqa: E731
            if name == "scikit-learn":
                make = lambda m=matrix: EachColumn(m)  # noqa: E731
            seconds.append(timed(make, X[:n], y[:n])[1]["seconds"])
        rows[name] = grown(lengths[: len(seconds)], seconds)
    yield "growth with problems", rows


class EachColumn:
    """scikit-learn's SVC on each column of a code."""

    def __init__(self, matrix):
        self.matrix = matrix

    def fit(self, X, y):
        """Train one after the other."""
        for column in self.matrix.T:
            SVC(**MNIST).fit(X, column[np.asarray(y, dtype=int)])


CASES = {name[5:]: function for name, function in globals().items() if name.startswith("case_")}


def main():
    """Run the cases and store what they gave."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--samples", nargs="+", type=int, default=[500_000, 1_000_000])
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    known = json.loads(args.out.read_text())["cases"] if args.out.exists() else {}
    warnings.simplefilter("ignore")
    for case in args.cases:
        for label, row in CASES[case](args):
            print(
                label,
                {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()},
                flush=True,
            )
            known[label] = row
            about = {**environment(), "cupy": cupy.__version__, "gpu": name}
            args.out.write_text(
                json.dumps({"environment": about, "cases": known}, indent=1, default=str) + "\n"
            )


if __name__ == "__main__":
    main()
