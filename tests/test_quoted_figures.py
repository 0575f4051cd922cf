"""Figures that pages quote are those of the committed results."""

import json
import re

import pytest

from tests.programs import ROOT


def stored(name):
    """Return the results of a benchmark."""
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def growth_in_classes():
    characters = stored("growth-hanzi")["classes"]
    earlier = stored("growth-in-classes")["classes"]
    methods = {
        "`SharedLinear()`, one-vs-rest": "one-vs-rest",
        "one-vs-rest, class means": "one-vs-rest, means",
        "dense code, 20 log k": "dense, 20 log k",
        'the same, `assignment="similar"`': "dense, 20 log k, similar",
        "trellis, 8 wide": "trellis, 8 wide",
        "linkage tree": "linkage tree",
        'wide tree, `structure="kmeans"`': "wide tree",
        "Nystroem (1000), one-vs-rest": "Nystroem, one-vs-rest",
        "Nystroem (1000), one-vs-rest, class means": "Nystroem, one-vs-rest, means",
        "Nystroem (1000), dense code, 20 log k, class means": "Nystroem, dense, 20 log k, means",
        "`RidgeClassifier`": "RidgeClassifier",
        "`LinearDiscriminantAnalysis`": "LinearDiscriminantAnalysis",
        "`LogisticRegression` (multinomial)": "LogisticRegression",
        "napkinXC, label tree": "napkinXC, label tree",
        "omikuji, label trees": "omikuji, label trees",
    }
    for label, method in methods.items():
        found = [characters[k].get(method) or earlier[k].get(method, {}) for k in ("100", "300")]
        many = characters["1000"].get(method) or earlier["1000"][method]
        values = [many[kind] for kind in ("fit", "predict", "accuracy", "top_5")]
        yield label, [*values, *(cell["accuracy"] for cell in found if cell)]
    yield from all_characters(characters["3755"])
    yield from log_losses(characters, earlier)
    yield from places(stored("growth-cities")["classes"])


def places(measured):
    methods = {
        "one-vs-rest": "one-vs-rest",
        "one-vs-rest, squared hinge": "one-vs-rest, squared hinge",
        "dense code, 20 log k": "dense, 20 log k",
        "dense code, class means": "dense, 20 log k, means",
        "trellis, 8 wide": "trellis, 8 wide",
        "wide tree": "wide tree",
        "wide tree, squared hinge": "wide tree, squared hinge",
        "label tree of napkinXC": "napkinXC, label tree",
        "omikuji, label trees": "omikuji, label trees",
    }
    for label, method in methods.items():
        rows = [measured[k].get(method, {}) for k in ("30", "300", "1000")]
        yield label, [row[kind] for row in rows if "fit" in row for kind in ("fit", "accuracy")]


def all_characters(measured):
    methods = {
        "one-vs-rest": "one-vs-rest",
        "one-vs-rest, class means": "one-vs-rest, means",
        "dense code": "dense, 20 log k",
        "dense code, class means": "dense, 20 log k, means",
        "trellis, class means": "trellis, 8 wide, means",
        "wide tree": "wide tree",
        "linkage tree": "linkage tree",
        "napkinXC, label tree": "napkinXC, label tree",
        "omikuji, label trees": "omikuji, label trees",
    }
    for label, method in methods.items():
        row = measured[method]
        values = [row[kind] for kind in ("fit", "predict", "accuracy", "top_5")]
        yield label, [*values, row["megabytes"] / 1024]


def log_losses(characters, earlier):
    methods = {
        "multinomial `LogisticRegression`": "LogisticRegression",
        "one-vs-rest, `normalise`": "one-vs-rest, probabilities",
        "dense code, 20 log k, least squares": "dense, 20 log k, probabilities",
        "dense code, 20 log k, `product`": "dense, 20 log k, product",
        "trellis, 8 wide, `product`": "trellis, 8 wide, probabilities",
        "wide tree, calibrated": "wide tree, probabilities",
        "`LinearDiscriminantAnalysis`, uncalibrated": "LinearDiscriminantAnalysis",
        "napkinXC, normalised": "napkinXC, label tree",
    }
    for label, method in methods.items():
        old = method.replace("8 wide, probabilities", "width 8")
        rows = (
            characters[k].get(method) or earlier[k].get(old, {})
            for k in ("100", "300", "1000", "3755")
        )
        yield label, [row["log_loss"] for row in rows if "log_loss" in row]


def many_samples():
    ways = {"exact, `SharedKernelSVC`": "exact"}
    for features in ("`Nystroem` 300", "`Nystroem` 1000", "`Nystroem` 2000", "`RBFSampler` 300"):
        ways[f"{features}, least squares"] = f"{features.replace('`', '')}, squared"
    ways["`Nystroem` 300, squared hinge"] = "Nystroem 300, squared_hinge"
    rows = stored("many-samples")["rows"]
    for label, way in ways.items():
        cells = [next(r for r in rows if r["data"] == d and r["way"] == way) for d in DATA]
        yield label, [value for cell in cells for value in (cell["fit"], 100 * cell["error"])]


DATA = ("shuttle", "mnist")


def on_a_gpu():
    cases = stored("gpu")["cases"]
    seconds = {
        "mnist, one-vs-rest, 12 points of C and γ in ten folds": "mnist, 12 points in ten folds",
        "letter, all 325 one-vs-one problems": "letter one_vs_one",
        "letter, SBC with the identity, 390 000 replicas": "letter SBC identity",
        "mnist, SBC with the identity, 600 000 replicas": "mnist SBC identity",
        "letter, SBC-KERNEL with learned weights, 6 solves": "letter SBC-KERNEL, learned weights",
    }
    for label, case in seconds.items():
        yield label, [cases[case]["seconds"]]
    both = [cases[f"mnist {code}, probabilities"] for code in ("one_vs_rest", "one_vs_one")]
    label = "mnist, one-vs-rest / one-vs-one with calibrated probabilities"
    yield label, [case["seconds"] for case in both]
    host, device = cases["mnist one_vs_rest"], cases["mnist one_vs_rest, from the GPU"]
    label = "mnist, predicting 10 000 samples from the host / from the GPU"
    yield label, [host["predict"], device["predict"]]
    error = f"{100 * host['error']:.2f}"
    yield f"mnist, 60 000 samples, one-vs-rest (test error {error} %)", [host["seconds"]]


def calibrated():
    rows = stored("calibrated")["rows"]
    for name in dict.fromkeys(row["data"] for row in rows):
        yield name, [row["auto"] / row["None"] for row in rows if row["data"] == name]


def linear_problems():
    results = {loss: part["rows"] for loss, part in stored("many_classes").items()}
    squared, hinge, logistic = (
        [row["fit_cpu"] for row in results[loss]] for loss in ("squared", "hinge", "logistic")
    )
    yield "squared, 1000 classes, 16 000 × 64", squared
    yield "logistic, 50 classes, 16 000 × 64", logistic
    ours, theirs = results["hinge"][0], results["hinge"][2]
    label = (
        "squared hinge, 195 countries from the n-grams of 107 841 names, 138 055 sparse features"
    )
    yield label, [hinge[0], ours["fit_wall"], hinge[2], theirs["fit_wall"]]


def streams():
    rows = stored("scaling-streams")["rows"]
    for n_rows in sorted({row["rows"] for row in rows}):
        cells = [r for w in ("stream", "parquet", "memory") for r in rows if r["way"] == w]
        cells = [cell for cell in cells if cell["rows"] == n_rows]
        values = [(c["cpu_seconds"], c["peak_mb"] - c["libraries_mb"]) for c in cells]
        yield f"{n_rows:,}".replace(",", " "), [value for pair in values for value in pair]


def a_cluster():
    none, one, two = stored("scaling-workers")["rows"][:3]
    yield "seconds", [none["seconds"], one["seconds"], two["seconds"]]
    here = "cpu_seconds_here"
    yield "CPU seconds of this process", [none[here], one[here], two[here]]
    there = "cpu_seconds_of_workers"
    yield "CPU seconds of the workers", [one[there], two[there]]
    lost = "seconds_lost_to_a_kill"
    yield "seconds lost when a worker is killed halfway", [one[lost], two[lost]]


def single_binary_classifiers():
    figures = stored("sbc")["figures"]
    for label, method in {
        "scikit-learn's `OneVsRestClassifier(SVC())`": "OneVsRestClassifier(SVC)",
        "SBC-IDENTITY": "SBC-IDENTITY",
        "SBC-BCH": "SBC-BCH",
        "SBC-KERNEL, class frequencies": "SBC-KERNEL, frequencies",
        "SBC-KERNEL, learned weights": "SBC-KERNEL",
        "SBC-KERNEL, learned weights, R = 26": "SBC-KERNEL, R = k",
    }.items():
        found = figures[f"size / letter / {method}"]
        yield label, [found["seconds"], 100 * found["error"]]


TABLES = {
    "docs/many-classes.md": growth_in_classes,
    "docs/shared-kernel.md": lambda: [*many_samples(), *on_a_gpu(), *calibrated()],
    "docs/shared-linear.md": linear_problems,
    "docs/streams.md": streams,
    "docs/cluster.md": a_cluster,
    "docs/single-binary.md": single_binary_classifiers,
}


def quoted_rows(page, label):
    """Return the numbers of each table row of a page that has a label."""
    for line in (ROOT / page).read_text().splitlines():
        first, _, others = line.removeprefix("|").partition("|")
        if first.strip() == label:
            yield re.findall(r"\d+(?:\.\d+)?", others)


@pytest.mark.parametrize("page", TABLES)
def test_tables_show_what_was_measured(page):
    for label, values in TABLES[page]():
        found = [row for row in quoted_rows(page, label) if len(row) == len(values)]
        assert found, f"{page} has no row {label} with {len(values)} figures"
        for text, value in zip(found[0], values, strict=True):
            digits = len(text.partition(".")[2])
            assert abs(float(text) - value) <= 0.501 * 10**-digits, f"{label}: {text}, not {value}"


def test_the_readme_quotes_what_was_measured():
    text = " ".join((ROOT / "README.md").read_text().split())
    rows = stored("svm")["rows"]
    row = next(r for r in rows if (r["data"], r["work"]) == ("letter", "one-vs-rest"))
    assert (
        f"trains in {row['fit_ours']:.1f} CPU seconds and predicts in {row['predict_ours']:.2f}"
        in text
    )
    assert f"in {row['fit_theirs']:.1f} and {row['predict_theirs']:.1f}, with the same" in text
    assert row["agreement"] == 1
    cases = stored("gpu")["cases"]
    assert f"samples train in {cases['mnist one_vs_rest']['seconds']:.2f} seconds on one" in text
    search = cases["mnist, 12 points in ten folds"]["seconds"]
    assert f"a search of 12 points in ten folds takes {search:.1f} (" in text
    cases = stored("gpu")["cases"]
    assert f"train in {cases['mnist one_vs_rest']['seconds']:.2f} seconds on one H200" in text
    points = cases["mnist, 12 points in ten folds"]["seconds"]
    assert f"a search of 12 points in ten folds takes {points:.1f}" in text
