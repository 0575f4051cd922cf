"""Try random and damaged input for a stated time: it is understood, or refused in plain words.

``python tests/fuzz.py --seconds 60`` tries each kind of input for so long:

* ``language``: texts of the control language, mutated. They are parsed, and what is formatted again
  parses to the same structure, or a ``StructureError`` says what is wrong.
* ``readers``: damaged files of all formats. They are read, or a ``DataError`` says why not.
* ``models``: damaged model files. They are refused by a ``ModelError``, or predict the same bits.
* ``solve``: random codes and binary probabilities up to 0 and 1. Class probabilities are on the
  simplex, and those of least squares are optimal.

The seed is printed. A failure is printed with the command that repeats it alone:
``python tests/fuzz.py language --seed 7 --only 1234``; it becomes a test, with its repair.
"""

import argparse
import contextlib
import gzip
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from functools import cache
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

import polychotomy
from polychotomy import datasets
from polychotomy.codes import Code
from polychotomy.errors import CodeError, DataError, ModelError, StructureError
from polychotomy.probability import METHODS, solve
from polychotomy.probability._twins import kkt_residual
from polychotomy.structures import format_structure, parse_structure

LIMIT = 30  # seconds of CPU time for one input
SPECIAL = [
    b"\0",
    b"\xff",
    b"\n",
    b",",
    b'"',
    b"{",
    b"}",
    b";",
    b"nan",
    b"inf",
    b"1e999",
    b"-",
    b"%",
]


class TooLongError(Exception):
    """An input that was neither understood nor refused in time."""


def damaged(content, rng):
    """Return bytes with some of them changed, left out, repeated or put elsewhere."""
    content = bytearray(content)
    for _ in range(1 + rng.geometric(0.5)):
        place, length = int(rng.integers(len(content) + 1)), int(rng.geometric(0.1))
        match rng.integers(6):
            case 0:
                content[place : place + length] = rng.bytes(length)
            case 1:
                del content[place : place + length]
            case 2:
                content[place:place] = content[place : place + length] * int(rng.geometric(0.2))
            case 3:
                content[place:place] = SPECIAL[rng.integers(len(SPECIAL))]
            case 4:
                other = int(rng.integers(len(content) + 1))
                content[place:place] = content[other : other + length]
            case 5:
                del content[place + length * 50 :]
    return bytes(content)


# The control language

WORDS = [
    "a",
    "b",
    "c",
    "0",
    "1",
    "-2",
    "3.5",
    '"x y"',
    '"C=10"',
    "{",
    "}",
    "/",
    ";",
    "#",
    "\n",
    '""',
]


def random_structure(rng, depth=0):
    """Return a text that is mostly valid."""
    if depth > 2 or rng.random() < 0.3:
        return f"c{rng.integers(10**6)}" if rng.random() < 0.8 else str(rng.integers(10**6))
    n = int(rng.integers(2, 5))
    children = " ".join(random_structure(rng, depth + 1) for _ in range(n))
    names = ["m", '""', '"C=1"', "Round"]
    if n == 2:
        return f"{names[rng.integers(4)]} {{{children}}}"
    lines = []
    for c in range(n):
        others = " ".join(str(d) for d in range(n) if d != c)
        lines.append(f"{names[rng.integers(4)]} {others} / {c};")
    return " ".join(lines) + f" {{{children}}}"


def language(rng):
    """Parse a text; what is understood survives being formatted."""
    text = random_structure(rng)
    match rng.integers(3):
        case 0:
            words = text.split()
            for _ in range(rng.geometric(0.4)):
                words.insert(int(rng.integers(len(words) + 1)), WORDS[rng.integers(len(WORDS))])
            text = " ".join(words)
        case 1:
            text = damaged(text.encode(), rng).decode("utf-8", "replace")
    dialect = "libagf" if rng.random() < 0.2 else "polychotomy"
    try:
        found = parse_structure(text, dialect=dialect)
    except (StructureError, CodeError):
        return
    try:
        again = format_structure(found, dialect=dialect)
    except StructureError:  # what the other dialect cannot write
        assert dialect == "libagf", text
        return
    assert parse_structure(again, dialect=dialect) == found, text


# Files


@cache
def files():
    """Return valid files by their names."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=40).round(3),
            "soil": rng.choice(["clay", "sand", "a, b"], size=40),
            "day": pd.date_range("2020-01-01", periods=40).strftime("%Y-%m-%d"),
            "class": rng.choice(["x", "y", "z"], size=40),
        }
    )
    X, y = frame[["size"]].to_numpy(), rng.integers(3, size=40)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        frame.to_csv(place / "a.csv", index=False)
        frame.to_csv(place / "a.tsv", index=False, sep="\t")
        frame.to_parquet(place / "a.parquet", row_group_size=15)
        frame.to_excel(place / "a.xlsx", index=False)
        np.savez(place / "a.npz", X=X, y=y)
        np.savez_compressed(place / "b.npz", X=X, y=y)
        rows = [f"{label} 1:{a:.3f} 7:1" for label, a in zip(y, X[:, 0], strict=True)]
        (place / "a.svm").write_text("\n".join(rows) + "\n")
        head = "@relation r\n@attribute size numeric\n@attribute class {x,y,z}\n@data\n"
        lines = frame[["size", "class"]].to_csv(index=False, header=False)
        (place / "a.arff").write_text(head + lines)
        (place / "b.csv.gz").write_bytes(gzip.compress((place / "a.csv").read_bytes()))
        return {path.name: path.read_bytes() for path in sorted(place.iterdir())}


def readers(rng):
    """Read a damaged file, at once and block by block."""
    name, content = list(files().items())[rng.integers(len(files()))]
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(DataError):
        path = Path(folder) / name
        path.write_bytes(damaged(content, rng))
        if rng.random() < 0.3 and name.endswith((".csv", ".tsv", ".gz", ".parquet")):
            for X, y in datasets.stream(path, size=16):
                assert len(X) == len(y) > 0
            return
        found = datasets.read(path)
        assert found.data.shape[0] == len(found.target) > 0
        assert len(np.unique(found.target)) > 1


# Model files


@cache
def models():
    """Return model files, samples and their predictions."""
    X, y = load_iris(return_X_y=True)
    found = []
    for model in (
        polychotomy.CodeClassifier(RidgeClassifier(), "one_vs_rest"),
        polychotomy.TreeClassifier(polychotomy.SharedLinear(), "balanced"),
        polychotomy.CodeClassifier(polychotomy.SharedKernelSVC()),
    ):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.skops"
            polychotomy.save(model.fit(X, y), path)
            found.append((path.read_bytes(), model.predict_proba(X)))
    return X, found


def damaged_models(rng):
    """Load a damaged model."""
    X, found = models()
    content, expected = found[rng.integers(len(found))]
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(ModelError):
        path = Path(folder) / "model.skops"
        path.write_bytes(damaged(content, rng))
        np.testing.assert_array_equal(polychotomy.load(path).predict_proba(X), expected)


# Probabilities


def random_code(rng):
    """Return a code of up to eight classes, or None if what was drawn is none."""
    k = int(rng.integers(2, 9))
    if rng.random() < 0.3:
        return polychotomy.make_code("one_vs_one" if rng.random() < 0.5 else "one_vs_rest", k)
    entries = [-1, 1] if rng.random() < 0.5 else [-1, 0, 1]
    try:
        return Code(rng.choice(entries, size=(k, int(rng.integers(1, 12)))))
    except CodeError:
        return None


def solutions(rng):
    """Solve for the probabilities of random samples."""
    code = random_code(rng)
    if code is None:
        return
    q = rng.random((int(rng.integers(1, 6)), code.n_problems))
    match rng.integers(4):
        case 0:
            q = np.round(q)
        case 1:
            q = np.round(q * 4) / 4
        case 2:
            q = q ** rng.choice([20.0, 1e3])
    counts = rng.integers(1, 10**6, size=code.n_problems).astype(float)
    method = list(METHODS)[rng.integers(len(METHODS))]
    if not METHODS[method].suits(code):
        return
    p = solve(q, code, method, sample_counts=counts)
    assert p.shape == (len(q), code.n_classes)
    assert np.isfinite(p).all(), method
    assert p.min() >= 0, (method, p.min())
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-9)
    if method == "least_squares":
        worst = max(kkt_residual(pi, qi, code) for pi, qi in zip(p, q, strict=True))
        # A class that is within 3e-6 of others, as q near 0 makes them, need not be told apart.
        assert worst < 1e-5, worst


KINDS = {
    "language": language,
    "readers": readers,
    "models": damaged_models,
    "solve": solutions,
}


def stop(*_):
    raise TooLongError(f"an input took more than {LIMIT} s")


def try_one(kind, seed, number, limit=LIMIT):
    """Try one input; return the traceback of a failure, or None."""
    rng = np.random.default_rng([list(KINDS).index(kind), seed, number])
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            KINDS[kind](rng)
    except Exception:  # whatever it is, it is a fault
        return traceback.format_exc(limit=-6)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="by default all")
    parser.add_argument("--seconds", type=float, default=60, help="for each kind")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 10**6)
    parser.add_argument("--only", type=int, metavar="I", help="try this input alone")
    args = parser.parse_args()
    signal.signal(signal.SIGPROF, stop)
    print(f"seed {args.seed}", flush=True)
    files(), models()  # what is imported and compiled first must not be interrupted
    for number in range(100):
        try_one("solve", 0, number, limit=0)
    failures = 0
    for kind in args.kinds or KINDS:
        end, number, found = time.monotonic() + args.seconds, 0, 0
        while time.monotonic() < end:
            chosen = number if args.only is None else args.only
            said = try_one(kind, args.seed, chosen)
            number += 1
            if said is not None:
                found += 1
                print(f"\npython tests/fuzz.py {kind} --seed {args.seed} --only {chosen}\n{said}")
            if args.only is not None or found == 10:
                break
        failures += found
        print(f"{kind}: {number} inputs, {found} failures", flush=True)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
