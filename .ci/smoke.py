"""Try an installed package: train, calibrate, reject, save, load, and run the command line."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import polychotomy
from polychotomy import CodeClassifier, SharedKernelSVC, TreeClassifier


def main():
    """Raise an exception if anything basic does not work."""
    assert "site-packages" in polychotomy.__file__, "this is not an installed package"
    assert version("polychotomy") == polychotomy.__version__
    X, y = load_iris(return_X_y=True)
    for model in (
        CodeClassifier(LogisticRegression(max_iter=500), "bch"),
        CodeClassifier(SharedKernelSVC(), "one_vs_one"),
        TreeClassifier(SharedKernelSVC(), "linkage"),
    ):
        model.fit(X, y)
        assert model.score(X, y) > 0.9
        assert model.predict_proba(X).sum(axis=1).round(6).min() == 1
    labels, accepted = model.predict_or_reject(X, threshold=0.8)
    assert (labels == y)[accepted].mean() > 0.95
    with TemporaryDirectory() as folder:
        path = Path(folder) / "iris.skops"
        polychotomy.save(model, path)
        assert (polychotomy.load(path).predict(X) == model.predict(X)).all()
    command = Path(sys.executable).parent / "polychotomy"
    subprocess.run([command, "code", "show", "bch", "4"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
