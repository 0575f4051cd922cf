"""Tests whether published errors are those of putting all samples into one class.

    python benchmarks/reasons/one_class.py

Prints the error for each class of which it is within two points of the published one; ten-fold
cross-validation that leaves over what does not fill ten parts can move it by a point.
"""

import numpy as np

from polychotomy import datasets
from polychotomy.lab import published

CASES = (
    ("sbc-2", "spectrometer", "SBC-SINGLE"),
    ("sbc-2", "soybean", "SBC-ECOC"),
    ("sbc-2", "soybean", "SBC-SINGLE"),
    ("sbckernel-2", "iris", "SBC-SINGLE"),
    ("sbckernel-2", "wine", "SBC-SINGLE"),
    ("allwein-3", "yeast", "One-vs-all, Hamming"),
    ("allwein-3", "yeast", "One-vs-all, loss-based"),
)

if __name__ == "__main__":
    for table, name, method in CASES:
        value = next(
            cell.value
            for cell in published.table(table).cells
            if (cell.data_set, cell.method, cell.quantity) == (name, method, "error_percent")
        )
        bunch = datasets.load(name, paper=table.partition("-")[0])
        y = np.asarray(bunch.target)
        if bunch.get("test") is not None:
            y = y[bunch.test]
        counts = np.sort(np.unique(y, return_counts=True)[1])[::-1]
        errors = 100 * (1 - counts / len(y))
        near = [f"{e:.1f} (class {i + 1} by size)" for i, e in enumerate(errors)]
        near = [words for words, e in zip(near, errors, strict=True) if abs(e - value) <= 2]
        words = ", ".join(near[:4]) or f"none; the largest class gives {errors[0]:.1f}"
        print(f"{table}, {name}, {method}: published {value}; one class: {words}")
