"""One binary classifier for all classes: the papers' experiments, sizes and speeds.

    POLYCHOTOMY_DATA=… python benchmarks/sbc.py tables         Tables 2 of both papers
    POLYCHOTOMY_DATA=… python benchmarks/sbc.py codes          Figure 2: extensions on car
    POLYCHOTOMY_DATA=… python benchmarks/sbc.py subsampling    Figure 3: fewer replicas
    POLYCHOTOMY_DATA=… python benchmarks/sbc.py weights        optimisers, and the shortcut
    POLYCHOTOMY_DATA=… python benchmarks/sbc.py speed          against explicit replication
    POLYCHOTOMY_DATA=… python benchmarks/sbc.py size           letter, 20 000 × 26

The first three are the papers' experiments, as ``polychotomy reproduce`` runs them: nominal
features one-hot, all features standardised by the training part, the fixed split or else ten folds,
and in each training part the greedy search of σ and C by ten folds. ``--data`` takes some data
sets (by default those that take minutes), ``--folds`` fewer folds. Every finished cell is in
``--store`` at once, every other figure in ``--out``; nothing that is there is computed again.
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
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from environment import environment
from polychotomy import (
    KernelSBCClassifier,
    SharedKernelSVC,
    SingleBinaryClassifier,
    datasets,
    make_code,
)
from polychotomy.evaluate import Store
from polychotomy.lab import experiments

RESULTS = Path(__file__).parent / "results" / "sbc.json"
QUICK_SETS = ("iris", "wine", "glass", "vehicle", "soybean")


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


def reproduce(names):
    """Return a part that runs experiments of the papers and prints ours beside theirs."""

    def part(_, options):
        for name in names:
            experiment = experiments.get(name)
            data = [
                each for each in options.data or experiment.quick if each in experiment.data_sets
            ]
            if data:
                print_beside(experiment, run(experiment, data, options))

    return part


def run(experiment, data, options):
    """Return the cells of an experiment; those in the store are not computed again."""
    plan = experiment.plan(data, n_folds=options.folds)
    with Store(options.store) as store:
        cells, failures = plan.run(store, n_jobs=1)
    for failure in failures:
        print(f"{failure.data_set} {failure.reduction} failed: {failure.reason}")
    return cells


def print_beside(experiment, cells):
    """Print ours beside theirs."""
    print(f"{experiment.name}: {experiment.title}")
    for figure in experiment.figures(cells):
        theirs = "" if np.isnan(figure.theirs) else f"  published {figure.theirs:8.2f}"
        print(
            f"{figure.data_set:<13}{figure.method:<26}{figure.quantity:<25}{figure.ours:8.2f} of "
            f"{figure.n_folds} part(s){theirs}",
            flush=True,
        )


def first_part(name):
    """Return standardised training and test parts: the fixed split, or the first of ten folds."""
    experiment = experiments.get(
        "sbc-2" if name in experiments.get("sbc-2").data_sets else "sbckernel-2"
    )
    task = experiment.plan([name], n_folds=1).tasks[0]
    samples = experiment.load_samples(name)
    encoder = make_pipeline(datasets.make_preprocessor(samples.data), StandardScaler())
    X = np.ascontiguousarray(encoder.fit_transform(samples.data.iloc[task.train]))
    X_test = np.ascontiguousarray(encoder.transform(samples.data.iloc[task.test]))
    return X, samples.y[task.train], X_test, samples.y[task.test]


def plain_cell(model, X, y, X_test, y_test):
    """Return the test error of a model as it is."""
    start = process_time()
    model.fit(X, y)
    seconds = process_time() - start
    return {"error": float(np.mean(model.predict(X_test) != y_test)), "seconds": seconds}


def weights(results, options):
    """Print what each way to weights needs and reaches, on one training part of each set."""
    for data in options.data or QUICK_SETS:
        X, y, X_test, y_test = first_part(data)
        KernelSBCClassifier(probability=None).fit(X, y)  # compiles
        for gamma, C in ((0.25, 16.0), (1 / X.shape[1], 1.0), (1 / X.shape[1], 16.0)):
            for kind in ("learned", "frequencies", "identity", "identity, scaled"):
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
    weights = "class_frequencies" if kind == "frequencies" else "learned"
    model = KernelSBCClassifier(C=C, gamma=gamma, probability=None, weights=weights)
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
    kernel = KernelSBCClassifier(C=10, gamma=1 / X.shape[1], weights="learned", probability=None)
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

    C = 10 and gamma = 1/d. SBC-KERNEL's weights sum to √m, which multiplies C by as much; with
    R = k they are 1 in the mean, as in SBC-IDENTITY.
    """
    for data in options.data or ("letter",):
        X, y, X_test, y_test = standard_split(data)
        contenders = large_contenders(1 / X.shape[1], len(np.unique(y)))
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


def large_contenders(gamma, n_classes):
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
        "SBC-KERNEL, R = k": KernelSBCClassifier(
            10, gamma, radius=n_classes, weights="learned", **plain
        ),
        "SBC-KERNEL": KernelSBCClassifier(10, gamma, weights="learned", **plain),
    }


def main():
    """Run one part."""
    parts = {
        "tables": reproduce(["sbckernel-2", "sbc-2"]),
        "codes": reproduce(["sbc-figure-2"]),
        "subsampling": reproduce(["sbc-figure-3"]),
        "weights": weights,
        "speed": speed,
        "size": size,
    }
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=parts)
    parser.add_argument("--data", nargs="+", help="data sets, by name")
    parser.add_argument("--folds", type=int, default=10, help="at most so many of ten")
    parser.add_argument("--store", type=Path, default=Path("sbc.sqlite"), help="for experiments")
    parser.add_argument("--out", type=Path, default=RESULTS, help="for all else")
    options = parser.parse_args()
    parts[options.part](Results(options.out), options)


if __name__ == "__main__":
    main()
