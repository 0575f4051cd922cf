"""One binary classifier for all classes: the papers' experiments, sizes and speeds.

    POLYCHOTOMY_DATA=… python benchmarks/sbc.py tables [--data glass …] [--methods SBC-BCH …]
    POLYCHOTOMY_DATA=… python benchmarks/sbc.py codes          Figure 2: extensions on car
    POLYCHOTOMY_DATA=… python benchmarks/sbc.py subsampling    Figure 3: fewer replicas
    POLYCHOTOMY_DATA=… python benchmarks/sbc.py weights        optimisers, and the shortcut
    POLYCHOTOMY_DATA=… python benchmarks/sbc.py speed          against explicit replication
    POLYCHOTOMY_DATA=… python benchmarks/sbc.py size           letter, 20 000 × 26

The protocol is the papers': nominal features one-hot, all features standardised by the training
part, the fixed split or else ten folds, and in each training part the greedy search of σ and C by
ten folds. Every finished figure is stored at once and not computed again; ``--folds`` takes fewer
outer folds. Without the folder of data sets, those inside scikit-learn are used.
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
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from environment import environment
from polychotomy import (
    CodeClassifier,
    GreedySearchCV,
    KernelSBCClassifier,
    SharedKernelSVC,
    SingleBinaryClassifier,
    datasets,
    make_code,
)
from polychotomy.lab import published

RESULTS = Path(__file__).parent / "results" / "sbc.json"
SBC_SETS = ("glass", "soybean", "satimage", "abalone", "optdigits", "car", "spectrometer", "yeast")
SETS = (*SBC_SETS, "page-blocks", "iris", "wine", "vehicle")
QUICK_SETS = ("iris", "wine", "glass", "vehicle", "soybean")


def single(extension, **options):
    """Return an SBC without probabilities."""
    return SingleBinaryClassifier(SharedKernelSVC(), extension, probability=None, **options)


def methods():
    """Return the methods of both papers' tables, and the shortcut, by name."""
    learner, plain = SharedKernelSVC(), {"probability": None}
    return {
        "OVA": CodeClassifier(learner, "one_vs_rest", **plain),
        "ALL-PAIRS": CodeClassifier(learner, "one_vs_one", "votes", **plain),
        "ECOC": CodeClassifier(learner, "bch", "hamming", **plain),
        "SBC-SINGLE": single("single"),
        "SBC-IDENTITY": single("identity"),
        "SBC-ECOC": single("bch", scheme="single_call"),
        "SBC-HAMMING": single("hamming"),
        "SBC-BCH": single("bch"),
        "SBC-KERNEL": KernelSBCClassifier(**plain),
        "SBC-KERNEL, frequencies": KernelSBCClassifier(weights="class_frequencies", **plain),
    }


class Results:
    """Figures by name, in a file that is rewritten after each."""

    def __init__(self, path):
        self.path = path
        stored = json.loads(path.read_text()) if path.exists() else {}
        self.figures = stored.get("figures", {})

    def get(self, key, compute):
        """Return a figure, computed if it is not there yet."""
        name = " / ".join(str(part) for part in key)
        if name not in self.figures:
            self.figures[name] = compute()
            beside = self.path.with_suffix(".new")
            stored = {"environment": environment(), "figures": self.figures}
            beside.write_text(json.dumps(stored, indent=1) + "\n")
            beside.replace(self.path)
        return self.figures[name]


def splits(name, n_folds):
    """Yield standardised training and test parts: the fixed split, or some of ten folds."""
    data = datasets.load(name, paper="sbc" if name in (*SBC_SETS, "page-blocks") else "sbckernel")
    y = np.asarray(data.target)
    if data.train is not None:
        parts = [(data.train, data.test)]
    else:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class")
            folds = StratifiedKFold(10, shuffle=True, random_state=0)
            parts = list(folds.split(np.zeros(len(y)), y))[:n_folds]
    for train, test in parts:
        encoder = make_pipeline(datasets.make_preprocessor(data.data), StandardScaler())
        X = np.ascontiguousarray(encoder.fit_transform(data.data.iloc[train]))
        yield X, y[train], np.ascontiguousarray(encoder.transform(data.data.iloc[test])), y[test]


def tuned(model, X, y):
    """Return the model tuned by the greedy search, and how many attempts it took."""
    inner = StratifiedKFold(10, shuffle=True, random_state=1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        search = GreedySearchCV(model, cv=inner).fit(X, y)
    return search.best_estimator_, search


def table(results, options):
    """Fill the papers' Tables 2 and print ours beside theirs."""
    theirs = {
        (cell.data_set, cell.method): cell.value
        for name in ("sbckernel-2", "sbc-2")
        for cell in published.table(name).cells
    }
    for data in options.data or QUICK_SETS:
        for name, model in methods().items():
            if options.methods and name not in options.methods:
                continue
            errors, wrong, seconds = [], 0, 0.0
            for fold, (X, y, X_test, y_test) in enumerate(splits(data, options.folds)):
                figure = results.get(
                    ("tables", data, name, fold),
                    lambda m=model, a=X, b=y, c=X_test, d=y_test: one_cell(m, a, b, c, d),
                )
                errors.append(figure["error"])
                wrong += figure["wrong"]
                seconds += figure["seconds"]
            published_error = theirs.get((data, name))
            beside = "" if published_error is None else f"  published {published_error:6.2f}"
            print(
                f"{data:<13}{name:<25}{100 * np.mean(errors):6.2f} % of {len(errors)} part(s)"
                f"{beside}  {seconds:8.1f} s",
                flush=True,
            )


def one_cell(model, X, y, X_test, y_test):
    """Return the test error of a tuned model, and what was chosen."""
    start = process_time()
    best, search = tuned(model, X, y)
    wrong = best.predict(X_test) != y_test
    return {
        "error": float(wrong.mean()),
        "wrong": int(wrong.sum()),
        "chosen": {key.rpartition("__")[2]: v for key, v in search.best_params_.items()},
        "attempts": len(search.cv_results_["params"]),
        "seconds": process_time() - start,
    }


def codes(results, options):
    """Print Figure 2: which extension serves best on car."""
    longer = {"SBC-BCH (4, 23)": bch_extension(31, 11), "SBC-BCH (4, 55)": bch_extension(127, 64)}
    contenders = {name: methods()[name] for name in ("SBC-SINGLE", "SBC-IDENTITY", "SBC-HAMMING")}
    contenders["SBC-BCH"] = methods()["SBC-BCH"]
    contenders |= {name: single(E) for name, E in longer.items()}
    data = (options.data or ["car"])[0]
    for name, model in contenders.items():
        cells = [
            results.get(("tables", data, name, fold), lambda m=model, p=parts: one_cell(m, *p))
            for fold, parts in enumerate(splits(data, options.folds))
        ]
        error = 100 * np.mean([cell["error"] for cell in cells])
        print(f"{data:<13}{name:<18}{error:6.2f} % of {len(cells)} part(s)", flush=True)


def bch_extension(length, dimension):
    """Return four codewords of a BCH code, without the places that are the same in all."""
    import galois

    words = np.asarray(galois.BCH(length, dimension).encode(np.eye(dimension, dtype=int)[:4]))
    return words[:, np.ptp(words, axis=0) > 0].astype(float)


def subsampling(results, options):
    """Print Figure 3: the error with s negatives relative to all, random, near and hard ones.

    The parameters are those tuned with all replicas.
    """
    for data in options.data or QUICK_SETS:
        errors = {}
        for fold, (X, y, X_test, y_test) in enumerate(splits(data, options.folds)):
            k = len(np.unique(y))
            chosen = results.get(
                ("tables", data, "SBC-BCH", fold),
                lambda p=(X, y, X_test, y_test): one_cell(methods()["SBC-BCH"], *p),
            )["chosen"]
            learner = SharedKernelSVC(**chosen)
            for kind in ("random", "near", "hard"):
                for s in sorted({1, 2, min(4, k - 1), (k - 1) // 2, k - 1} - {0}):
                    model = SingleBinaryClassifier(
                        learner, "bch", n_negatives=s, negatives=kind, probability=None
                    ).set_params(random_state=0)
                    key = ("subsampling", data, kind, s, fold)
                    figure = results.get(
                        key, lambda m=model, p=(X, y, X_test, y_test): plain_cell(m, *p)
                    )
                    errors.setdefault((kind, s), []).append(figure)
        full = np.mean([f["error"] for f in errors["random", k - 1]])
        for (kind, s), figures in errors.items():
            error = np.mean([f["error"] for f in figures])
            print(
                f"{data:<13}{kind:<8}{s:3d} negatives, {(s + 1) / k:5.0%} of the replicas: error "
                f"{error:.2%}, relative {error / full if full else np.nan:.3f}, "
                f"fit {np.mean([f['seconds'] for f in figures]):.3f} s",
                flush=True,
            )


def plain_cell(model, X, y, X_test, y_test):
    """Return the test error of a model as it is."""
    start = process_time()
    model.fit(X, y)
    seconds = process_time() - start
    return {"error": float(np.mean(model.predict(X_test) != y_test)), "seconds": seconds}


def weights(results, options):
    """Print what each way to weights needs and reaches, on one training part of each set."""
    for data in options.data or QUICK_SETS:
        X, y, X_test, y_test = next(iter(splits(data, 1)))
        KernelSBCClassifier(probability=None).fit(X, y)  # compiles
        for gamma, C in ((0.25, 16.0), (1 / X.shape[1], 1.0), (1 / X.shape[1], 16.0)):
            for kind in ("multiplicative", "paper", "frequencies", "identity", "identity, scaled"):
                figure = results.get(
                    ("weights", data, f"gamma {gamma:.4g}", f"C {C:g}", kind),
                    lambda k=kind, g=gamma, c=C, p=(X, y, X_test, y_test): one_weighting(
                        k, g, c, *p
                    ),
                )
                more = ""
                if "solves" in figure:
                    more = (
                        f"{figure['solves']:4d} solves, objective {figure['objective']:.6g}, gap "
                        f"{figure['gap']:.1e}{'' if figure['converged'] else ', not converged'}"
                    )
                print(
                    f"{data:<10} gamma {gamma:6.3f} C {C:4.0f} {kind:<17} error "
                    f"{figure['error']:.2%} {figure['seconds']:7.2f} s {more}",
                    flush=True,
                )


def one_weighting(kind, gamma, C, X, y, X_test, y_test):
    """Return what one way to weights gives; "scaled" has the coupling of SBC-IDENTITY times R."""
    if kind.startswith("identity"):
        factor = np.sqrt(len(y)) if kind.endswith("scaled") else 1.0
        learner = SharedKernelSVC(C=C * factor, gamma=gamma)
        return plain_cell(
            SingleBinaryClassifier(learner, "identity", probability=None), X, y, X_test, y_test
        )
    options = {"weights": "class_frequencies"} if kind == "frequencies" else {"optimizer": kind}
    model = KernelSBCClassifier(C=C, gamma=gamma, probability=None, **options)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        figure = plain_cell(model, X, y, X_test, y_test)
    return figure | {
        "solves": model.n_solves_,
        "objective": float(model.objectives_[-1]),
        "gap": model.optimality_gap_,
        "converged": not any("coupling would still change" in str(w.message) for w in told),
    }


def standard_split(name):
    """Return standardised parts of a data set, three quarters for training."""
    data = datasets.load(name)
    X = datasets.make_preprocessor(data.data).fit_transform(data.data)
    y = np.asarray(data.target)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def timed(job):
    """Return CPU seconds and the result."""
    start = process_time()
    result = job()
    return process_time() - start, result


def replicated(X, E):
    """Return all replicas, those of a sample one after the other."""
    return np.hstack([np.repeat(X, len(E), axis=0), np.tile(E, (len(X), 1))])


def speed(results, options):
    """Print the joint solver beside explicit replication with LIBSVM, and beside OVA."""
    for data in options.data or ("satimage", "optdigits"):
        for name, f in results.get(("speed", data), lambda d=data: measure_speed(d)).items():
            print(f"{data:<11}{name:<34}{f}", flush=True)


def measure_speed(data):
    """Return CPU seconds and ratios; one thread, C = 10, gamma = 1/d, bch extension."""
    X, y, X_test, _ = standard_split(data)
    options = {"C": 10, "gamma": 1 / X.shape[1], "cache_size": 1000}
    ours = SingleBinaryClassifier(SharedKernelSVC(**options), "bch", probability=None)
    ours.fit(X[:600], y[:600])  # compiles
    fit, _ = timed(lambda: ours.fit(X, y))
    predict, labels = timed(lambda: ours.predict(X_test))
    E = (make_code("bch", len(np.unique(y))).matrix > 0).astype(float)
    classes, index = np.unique(y, return_inverse=True)
    own = (np.arange(len(E)) == index[:, np.newaxis]).ravel()
    their_fit, svc = timed(lambda: SVC(**options).fit(replicated(X, E), own))
    outputs = lambda: svc.decision_function(replicated(X_test, E)).reshape(-1, len(E))  # noqa: E731
    their_predict, scores = timed(outputs)
    kernel = KernelSBCClassifier(C=10, gamma=1 / X.shape[1], probability=None)
    kernel_fit, _ = timed(lambda: kernel.fit(X, y))
    alone = KernelSBCClassifier(**kernel.get_params() | {"weights": "class_frequencies"})
    alone_fit, _ = timed(lambda: alone.fit(X, y))
    return {
        "replicas": len(own),
        "fit, ours": fit,
        "fit, SVC on replicas": their_fit,
        "fit, ratio": their_fit / fit,
        "predict, ours": predict,
        "predict, SVC on replicas": their_predict,
        "predict, ratio": their_predict / predict,
        "same predictions": float(np.mean(classes[scores.argmax(axis=1)] == labels)),
        "SBC-KERNEL": kernel_fit,
        "SBC-KERNEL, solves": kernel.n_solves_,
        "SBC-KERNEL against one solve": kernel_fit / alone_fit,
    }


def size(results, options):
    """Print what the data set takes that the papers left out as too large.

    C = 10 and gamma = 1/d; SBC-KERNEL's weights sum to √m, which multiplies C by as much.
    """
    for data in options.data or ("letter",):
        X, y, X_test, y_test = standard_split(data)
        contenders = large_contenders(1 / X.shape[1])
        contenders["SBC-BCH"].fit(X[:800], y[:800])  # compiles
        for name, model in contenders.items():
            figure = results.get(
                ("size", data, name),
                lambda m=model, p=(X, y, X_test, y_test): plain_cell(m, *p),
            )
            print(
                f"{data:<10}{len(y)} × {len(np.unique(y))}  {name:<26}"
                f"fit {figure['seconds']:7.1f} s  error {figure['error']:.2%}",
                flush=True,
            )


def large_contenders(gamma):
    """Return the SBC family beside OVA with LIBSVM."""
    options = {"C": 10, "gamma": gamma, "cache_size": 1000}
    ours, plain = SharedKernelSVC(**options), {"probability": None}
    return {
        "OneVsRestClassifier(SVC)": OneVsRestClassifier(SVC(**options)),
        "SBC-BCH": SingleBinaryClassifier(ours, "bch", **plain),
        "SBC-IDENTITY": SingleBinaryClassifier(ours, "identity", **plain),
        "SBC-KERNEL, frequencies": KernelSBCClassifier(
            10, gamma, weights="class_frequencies", **plain
        ),
        "SBC-KERNEL": KernelSBCClassifier(10, gamma, **plain),
    }


def main():
    """Run one part."""
    parts = {
        "tables": table,
        "codes": codes,
        "subsampling": subsampling,
        "weights": weights,
        "speed": speed,
        "size": size,
    }
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=parts)
    parser.add_argument("--data", nargs="+", choices=(*SETS, "letter"))
    parser.add_argument("--methods", nargs="+", choices=list(methods()))
    parser.add_argument("--folds", type=int, default=10, help="at most so many of ten")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    parts[options.part](Results(options.out), options)


if __name__ == "__main__":
    main()
