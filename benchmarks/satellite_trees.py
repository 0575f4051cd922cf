"""Trees for the soils and crops of satimage: which question is hard, and what trees gain and lose.

    python benchmarks/satellite_trees.py

Trains three trees (designed from the data, written by hand, balanced) and two flat codes with the
same learner on satimage's own training part, and stores errors on its test part. The figures are
drawn by ``examples/plot_satellite_trees.py``.
"""

import json
import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from environment import environment
from polychotomy import CodeClassifier, TreeClassifier, datasets, format_structure

RESULTS = Path(__file__).parent / "results"
SOILS = {
    1: "red soil",
    2: "cotton crop",
    3: "grey soil",
    4: "damp grey soil",
    5: "vegetation stubble",
    7: "very damp grey soil",
}
BY_HAND = """
PlantsVsSoil {
  CropVsStubble {"cotton crop" "vegetation stubble"}
  RedVsGrey {
    "red soil"
    DryVsDamp {
      "grey soil"
      DampVsVeryDamp {"damp grey soil" "very damp grey soil"}
    }
  }
}
"""


def measure(model, X, y):
    """Return the error, how many problems are asked of a sample, and the tree if there is one."""
    found = {"error": float(1 - model.score(X, y)), "problems": len(model.problems_)}
    if not isinstance(model, TreeClassifier):
        return found | {"asked": float(len(model.problems_))}
    return found | {
        "asked": float(model.decision_path(X).sum(axis=1).mean()),
        "structure": format_structure(model.structure_),
        "node_errors": model.node_errors(X, y).tolist(),
    }


def main():
    """Train, print and store."""
    land = datasets.load("satimage")
    y = np.array([SOILS[int(label)] for label in land.target])
    train, test = land.train, land.test
    X = StandardScaler().fit(land.data.iloc[train]).transform(land.data)
    learner = LogisticRegression(max_iter=1000)
    models = {
        "tree, linkage": TreeClassifier(learner, "linkage", probability=None),
        "tree, by hand": TreeClassifier(learner, BY_HAND, probability=None),
        "tree, balanced": TreeClassifier(learner, "balanced", probability=None),
        "one_vs_rest": CodeClassifier(learner, "one_vs_rest", probability=None),
        "one_vs_one": CodeClassifier(learner, "one_vs_one", probability=None),
    }
    methods = {}
    for name, model in models.items():
        methods[name] = measure(model.fit(X[train], y[train]), X[test], y[test])
        print(f"{name:15} error {methods[name]['error']:.1%}, asks {methods[name]['asked']:.1f}")
    stored = {
        "environment": environment(),
        "samples": {"train": len(train), "test": len(test)},
        "methods": methods,
    }
    (RESULTS / "satellite-trees.json").write_text(json.dumps(stored, indent=2) + "\n")


if __name__ == "__main__":
    main()
