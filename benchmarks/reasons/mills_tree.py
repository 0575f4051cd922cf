"""Compares Mills' tree for pendigits (2023, Figure 6) with the tree that linkage finds here.

    python benchmarks/reasons/mills_tree.py

Three draws of 70 % for training. Trees are by the Hausdorff distance, as his is; printed is how
many of the groups of classes below his nodes ours has too, which ones it does not have, and the
errors of both trees with the C and γ of the experiment.
"""

import warnings

import numpy as np

from polychotomy import SharedKernelSVC, TreeClassifier, parse_structure
from polychotomy.evaluate import Preparation, Protocol
from polychotomy.lab import experiments

HIS = "a {b {c {d {e {f {g {h {7 2} 3} 1} i {8 5}} 9} 4} 6} 0}"


def groups(structure):
    """Return the sets of classes below the nodes of a tree."""
    below = (frozenset(map(str, node.classes)) for node in structure.nodes())
    return {group for group in below if len(group) > 1}


def compare(train, test, samples, y):
    """Print what both trees have in common, and their errors."""
    change = Preparation().fit(samples.data.iloc[train])
    X = [change.transform(samples.data.iloc[rows]) for rows in (train, test)]
    his, errors = parse_structure(HIS), []
    for structure in (his, "linkage"):
        learner = SharedKernelSVC(50.0, gamma=0.01)
        tree = TreeClassifier(learner, structure, "hausdorff", probability=None)
        errors.append(100 * np.mean(tree.fit(X[0], y[train]).predict(X[1]) != y[test]))
    common = groups(his) & groups(tree.structure_)
    missing = sorted(" ".join(sorted(group)) for group in groups(his) - common)
    print(f"{len(common)} of {len(groups(his))} groups are the same; not in ours: {missing}")
    print(f"  errors: his tree {errors[0]:.2f} %, ours {errors[1]:.2f} %", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    found = experiments.get("mills").load_samples("pendigits")
    names = np.array(found.classes)[found.y]
    for parts in Protocol.of("repeat3").divide(found, 0):
        compare(*parts, found, names)
