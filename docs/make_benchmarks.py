"""Writes the page of benchmarks from benchmarks/results/; ``make docs`` calls it."""

import json
from pathlib import Path

from markdown_table import markdown_table

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"

HEAD = """# Benchmarks

This page is made from the files in `benchmarks/results/`, which the programs in `benchmarks/`
write together with the versions and the machine. Both sides are measured in one run, on the same
data, in CPU seconds. `make bench` runs the quick ones."""


def read(name):
    """Return the stored results of a benchmark."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def number(value):
    """Return a number with three digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def where(results):
    """Return in a line where results were measured."""
    facts = results["environment"]
    machine = facts.get("gpu", f"{facts['cores']} cores, {facts['threads']} thread(s)")
    versions = [f"{name} {facts[name]}" for name in ("python", "numpy", "scikit-learn")]
    return f"Measured on {machine}, with {', '.join(versions)}."


def against_libsvm():
    """Return the table of SVMs, ours and scikit-learn's."""
    results, search = read("svm"), read("svm-search")
    heads = ["data", "work", "samples", "fit, ours", "theirs", "ratio", "predict, ours", "theirs"]
    heads += ["error %, ours", "theirs"]
    rows = [
        [
            row["data"],
            row["work"],
            str(row["n_train"]),
            number(row["fit_ours"]),
            number(row["fit_theirs"]),
            number(row["fit_theirs"] / row["fit_ours"]),
            number(row["predict_ours"]) if "predict_ours" in row else "",
            number(row["predict_theirs"]) if "predict_theirs" in row else "",
            number(100 * row["error_ours"]),
            number(100 * row["error_theirs"]),
        ]
        for row in results["rows"] + search["rows"]
    ]
    text = (
        "`CodeClassifier(SharedKernelSVC())` against scikit-learn's `SVC` in the same reduction "
        "(`benchmarks/svm.py`)."
    )
    return "\n\n".join(
        ["## Kernel SVMs", text, markdown_table(heads, rows, n_words=2), where(results)]
    )


def against_reductions():
    """Return the table of scikit-learn's own reductions with the same learners."""
    results = read("reductions")
    heads = ["learner", "code", "fit, ours", "theirs", "predict, ours", "theirs", "agreement"]
    kinds = ["fit_ours", "fit_theirs", "predict_ours", "predict_theirs", "agreement"]
    rows = [
        [row["base"], row["code"], *(number(row[kind]) for kind in kinds)]
        for row in results["reductions"]
    ]
    text = (
        "Any other learner is trained as often as in scikit-learn's reductions, and takes about as "
        "long (`benchmarks/reductions.py`)."
    )
    return "\n\n".join(
        ["## Other learners", text, markdown_table(heads, rows, n_words=2), where(results)]
    )


def probabilities():
    """Return the table of microseconds per sample for class probabilities."""
    results = read("probabilities-speed")
    kinds = ["least_squares", "scipy", "coupling", "libsvm"]
    rows = [
        [row["code"], str(row["k"]), *(number(1e6 * row[k]) if k in row else "" for k in kinds)]
        for row in results["results"]
        if "least_squares" in row
    ]
    heads = [
        "code",
        "classes",
        "least squares",
        "by SciPy's nnls",
        "coupling",
        "by LIBSVM's method",
    ]
    text = (
        "Microseconds for the class probabilities of a sample "
        "(`benchmarks/probabilities.py speed`)."
    )
    return "\n\n".join(["## Probabilities", text, markdown_table(heads, rows), where(results)])


def gpu():
    """Return the table of seconds on a GPU."""
    results = read("gpu")
    cases = {name: case for name, case in results["cases"].items() if "seconds" in case}
    rows = [
        [
            name.replace("_", "-"),
            number(case["first"]),
            number(case["seconds"]),
            number(case["predict"]) if "predict" in case else "",
            number(100 * case["error"]) if "error" in case else "",
        ]
        for name, case in sorted(cases.items())
    ]
    heads = ["work", "first fit", "second fit", "predict", "error %"]
    text = (
        "Wall-clock seconds from arrays on the host, except where the name says otherwise "
        "(`benchmarks/gpu.py`)."
    )
    return "\n\n".join(["## On a GPU", text, markdown_table(heads, rows), where(results)])


def files():
    """Return the list of all stored results."""
    names = [f"- `benchmarks/results/{path.name}`" for path in sorted(RESULTS.glob("*.json"))]
    return "\n\n".join(["## All stored results", "\n".join(names)])


def page():
    """Return the page in Markdown."""
    parts = [HEAD, against_libsvm(), against_reductions(), probabilities(), gpu(), files()]
    return "\n\n".join(parts) + "\n"


def write_benchmarks(path: Path) -> None:
    """Write the page, unless it is as it should be."""
    if not path.exists() or path.read_text() != page():
        path.write_text(page())
