"""Time and memory of training block by block, against the number of samples.

    python benchmarks/scaling.py streams [--largest 7]

Generated rows of 26 classes and 16 features, one-vs-one (325 problems) by least squares, with
probabilities: ``stream`` is ``partial_fit`` on blocks of 65 536 rows that are made and forgotten,
calibrated on a reservoir; ``memory`` is ``fit`` on all of them, calibrated on folds, up to a
million; ``parquet`` reads the rows from a file, up to a million. Each number of rows has a process
of its own. CPU seconds without the generation of rows, and the largest memory of the process beyond
that of the libraries.
"""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from polychotomy import CodeClassifier, SharedLinear

N_CLASSES, N_FEATURES, BLOCK = 26, 16, 2**16
MOST = {"stream": 10**7, "parquet": 10**6, "memory": 10**6}


def generated(n_rows):
    """Yield blocks of rows and labels; classes have different centres and widths."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(N_CLASSES, N_FEATURES))
    widths = rng.uniform(0.5, 1.5, size=(N_CLASSES, N_FEATURES))
    for start in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - start)
        y = rng.integers(N_CLASSES, size=n)
        yield rng.normal(size=(n, N_FEATURES)) * widths[y] + centres[y], y


def peak():
    """Return the largest memory of this process so far, in MB."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (2**20 if sys.platform == "darwin" else 2**10)


def write_parquet(n_rows, path):
    """Write generated rows to a file, a row group for each block."""
    import pyarrow as pa
    import pyarrow.parquet

    names = [f"x{i}" for i in range(N_FEATURES)]
    fields = [*((name, pa.float64()) for name in names), ("y", pa.int64())]
    with pa.parquet.ParquetWriter(path, pa.schema(fields)) as writer:
        for X, y in generated(n_rows):
            writer.write_table(pa.table([*X.T, y], names=[*names, "y"]))


def measure(way, n_rows, folder):
    """Train in this process, and return what it took."""
    classifier = CodeClassifier(SharedLinear(), "one_vs_one", reservoir=200 * N_CLASSES)
    warm = next(generated(2000))  # what is compiled and imported once
    CodeClassifier(SharedLinear(), "one_vs_one").fit(*warm).predict_proba(warm[0][:5])
    if way == "parquet":
        from polychotomy import datasets

        path = Path(folder) / "rows.parquet"
        if not path.exists():
            write_parquet(n_rows, path)
            os.execv(sys.executable, [sys.executable, *sys.argv])  # with its memory given back
    before, seconds = peak(), 0.0
    if way == "memory":
        X, y = (np.concatenate(parts) for parts in zip(*generated(n_rows), strict=True))
        start = process_time()
        classifier.fit(X, y)
        seconds = process_time() - start
    elif way == "stream":
        for X, y in generated(n_rows):
            start = process_time()
            classifier.partial_fit(X, y, classes=np.arange(N_CLASSES))
            seconds += process_time() - start
    else:
        start = process_time()
        rows = datasets.stream(path, "y", size=BLOCK)
        for X, y in rows:
            classifier.partial_fit(X.to_numpy(), y, classes=rows.classes)
        seconds = process_time() - start
    X, y = next(generated(20_000))
    facts = {"way": way, "rows": n_rows, "cpu_seconds": seconds, "libraries_mb": before}
    return {**facts, "peak_mb": peak(), "error": 1 - classifier.score(X, y)}


def measure_streams(args):
    """Yield what each way takes for each number of rows, in a process of its own."""
    for way, most in MOST.items():
        for power in range(3, args.largest + 1):
            if 10**power > most:
                continue
            with TemporaryDirectory() as folder:
                command = [sys.executable, __file__, way, str(10**power), folder]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
            yield json.loads(done.stdout)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
