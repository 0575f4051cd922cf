"""Model files of every form that this library has had, kept in ``tests/models``.

``python -m tests.model_files`` writes those of the present form, with what their models predict. Do
so after counting ``_VERSION`` in ``saving.py`` on, and keep one file of the form before.
"""

import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import polychotomy
from polychotomy import (
    CodeClassifier,
    KernelSBCClassifier,
    SharedKernelSVC,
    SharedLinear,
    SingleBinaryClassifier,
    TreeClassifier,
)

FOLDER = Path(__file__).parent / "models"
PREDICTED = FOLDER / "predicted.json"
ASKED = load_iris().data[::15].round(1)


def present_models():
    """Return untrained models of all kinds, by the names of their files."""
    logistic = LogisticRegression(max_iter=500)
    return {
        "code": CodeClassifier(logistic, "one_vs_rest", probability="normalise"),
        "isotonic": CodeClassifier(SVC(), "one_vs_one", calibration="isotonic", cv=2),
        "tree": TreeClassifier(SharedKernelSVC(), "first {setosa second {versicolor virginica}}"),
        "linear": make_pipeline(StandardScaler(), CodeClassifier(SharedLinear(), "exhaustive")),
        "single": SingleBinaryClassifier(SharedKernelSVC(), "identity", cv=2),
        "kernel": KernelSBCClassifier(probability=None),
    }


def predictions(model):
    """Return what a model says of some samples, as JSON keeps it."""
    said = {"labels": model.predict(ASKED).tolist()}
    if hasattr(model, "predict_proba"):
        said["probabilities"] = model.predict_proba(ASKED).tolist()
    return said


def write_present():
    """Train and save the models of the present form."""
    iris = load_iris()
    X, y = iris.data[::3], iris.target_names[iris.target[::3]]
    predicted = {}
    for name, model in present_models().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        polychotomy.save(model, FOLDER / f"{name}.skops")
        predicted[name] = predictions(model)
    PREDICTED.write_text(json.dumps(predicted, indent=1) + "\n")


if __name__ == "__main__":
    np.seterr(all="ignore")
    write_present()
