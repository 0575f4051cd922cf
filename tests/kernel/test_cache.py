"""Compiled code gives the same bits in the process that compiles it and in those that load it."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from polychotomy import CodeClassifier, SharedKernelSVC, SingleBinaryClassifier

random = np.random.default_rng(0)
X, y = random.normal(size=(200, 7)), random.integers(0, 3, size=200)
for classifier in (
    CodeClassifier(SharedKernelSVC(C=2), "one_vs_rest"),
    SingleBinaryClassifier(SharedKernelSVC(C=2), extension="identity"),
):
    print(classifier.fit(X, y).decision_function(X).tobytes().hex())
"""


@pytest.mark.slow
def test_the_process_that_compiles_gives_the_same_outputs_as_one_that_loads(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def outputs():
        return subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True
        ).stdout

    compiled = outputs()
    assert any(tmp_path.rglob("*.nbc"))
    assert outputs() == compiled
