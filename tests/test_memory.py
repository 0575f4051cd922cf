"""Trainings that cannot fit in memory say so before they start, and no others do."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

from polychotomy import (
    CodeClassifier,
    SharedKernelSVC,
    SharedLinear,
    SingleBinaryClassifier,
    TreeClassifier,
    make_code,
    memory,
)
from polychotomy.errors import NotEnoughMemoryError


def samples(n, d, k):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), np.arange(n) % k


class Untouched(DecisionTreeClassifier):
    """A learner that must not be reached."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("training has started")


@pytest.mark.parametrize(
    ("classifier", "data", "advice"),
    [
        (SingleBinaryClassifier(Untouched()), (20_000, 40, 50), "n_negatives"),
        (CodeClassifier(SharedKernelSVC(), probability=None), (40_000, 2, 90), "fewer problems"),
        (CodeClassifier(Untouched(), calibration="sigmoid"), (60_000, 2, 90), "probability=None"),
    ],
)
def test_a_fit_that_cannot_fit_is_refused_before_it_starts(monkeypatch, classifier, data, advice):
    monkeypatch.setattr(memory, "free_bytes", lambda: 2**26)
    with pytest.raises(NotEnoughMemoryError, match="This needs at least") as refusal:
        classifier.fit(*samples(*data))
    assert advice in str(refusal.value)
    assert "GB are free" in str(refusal.value)
    assert isinstance(refusal.value, MemoryError)


def test_a_code_of_too_many_problems_is_refused_before_its_names_are_made(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 2**26)
    X, y = samples(1300, 2, 600)
    code = make_code("one_vs_one", 600)
    with pytest.raises(NotEnoughMemoryError, match=r"179700 binary problems.*dense_random"):
        CodeClassifier(Untouched(), code, probability=None).fit(X, y)


@pytest.mark.parametrize(
    ("name", "n_classes", "options", "advice"),
    [
        ("dense_random", 650, {"n_problems": 10**6}, "dense_random has 94 for so many classes"),
        ("sparse_random", 650, {"n_problems": 10**6}, "sparse_random has 141 for so many classes"),
        ("trellis", 20_000, {"width": 141}, "smaller 'width'"),
    ],
)
def test_a_code_that_cannot_fit_is_not_begun(monkeypatch, name, n_classes, options, advice):
    monkeypatch.setattr(memory, "free_bytes", lambda: 2**26)
    with pytest.raises(NotEnoughMemoryError, match="This needs at least") as refusal:
        _ = make_code(name, n_classes, **options).columns[:, :1]
    assert advice in str(refusal.value)


@pytest.mark.parametrize(
    "classifier",
    [
        TreeClassifier(Untouched(), "linkage", probability=None),
        CodeClassifier(Untouched(), "dense_random", assignment="similar", probability=None),
    ],
)
def test_distances_between_too_many_classes_are_not_begun(monkeypatch, classifier):
    monkeypatch.setattr(memory, "free_bytes", lambda: 2**26)
    with pytest.raises(NotEnoughMemoryError, match="distances between 2100 classes") as refusal:
        classifier.fit(*samples(4200, 2, 2100))
    assert "'kmeans'" in str(refusal.value)


def test_moments_of_a_stream_are_checked_at_its_first_batch(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 2**26)
    X, y = samples(100, 1000, 50)
    with pytest.raises(NotEnoughMemoryError, match="a code without zeros"):
        CodeClassifier(SharedLinear(), "one_vs_one").partial_fit(X, y, range(50))
    CodeClassifier(SharedLinear(), "one_vs_rest").partial_fit(X, y, range(50))


def test_small_trainings_do_not_look_at_the_memory(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: pytest.fail("looked up"))
    X, y = samples(300, 4, 5)
    for classifier in (CodeClassifier(RidgeClassifier()), TreeClassifier(SharedKernelSVC())):
        classifier.fit(X, y)


def test_what_fits_is_trained(monkeypatch):
    monkeypatch.setattr(memory, "SMALL", 0)
    X, y = samples(300, 4, 5)
    for classifier in (
        CodeClassifier(SharedKernelSVC()),
        SingleBinaryClassifier(DecisionTreeClassifier(), "identity"),
        SingleBinaryClassifier(RidgeClassifier(), "kesler"),
    ):
        classifier.fit(X, y)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are those of Linux")
def test_the_limit_of_the_process_counts():
    program = (
        "import resource\n"
        "from polychotomy.memory import free_bytes\n"
        "import numpy as np\n"
        "before = free_bytes()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "free = free_bytes()\n"
        "assert 2**29 < free < 2**31, free\n"
        "np.ones(int(0.95 * free), dtype=np.uint8)\n"
        "try:\n"
        "    np.ones(int(1.05 * free), dtype=np.uint8)\n"
        "except MemoryError:\n"
        "    print('as expected')\n"
    )
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | threads, check=False
    )
    assert done.stdout == "as expected\n", done.stderr


def test_the_limits_of_control_groups_count(tmp_path, monkeypatch):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    files = {"memory.max": "max", "memory.current": "5000000"}
    for folder, most in ((inner, "max"), (tmp_path / "a", "9000000")):
        for name, text in (files | {"memory.max": most}).items():
            (folder / name).write_text(f"{text}\n")
    (tmp_path / "a" / "memory.stat").write_text("anon 4000000\ninactive_file 1000000\n")
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path)
    monkeypatch.setattr(memory.Path, "read_text", reading_own_group(memory.Path.read_text))
    assert list(memory._of_groups()) == [9_000_000 - 5_000_000 + 1_000_000]


def reading_own_group(read):
    def read_text(path, *arguments, **options):
        if str(path) == "/proc/self/cgroup":
            return "0::/a/b\n"
        return read(path, *arguments, **options)

    return read_text
