"""The scikit-learn estimators, and functions that take any of them."""

from polychotomy.classifiers._code_classifier import CodeClassifier
from polychotomy.classifiers._comparable import (
    Cost,
    code_of,
    cost_of,
    has_rules,
    parts_of,
    remember_outputs,
    with_rules,
    without_probabilities,
)
from polychotomy.classifiers._kernel_sbc import KernelSBCClassifier
from polychotomy.classifiers._single_binary import SingleBinaryClassifier
from polychotomy.classifiers._tree_classifier import TreeClassifier

__all__ = [
    "CodeClassifier",
    "Cost",
    "KernelSBCClassifier",
    "SingleBinaryClassifier",
    "TreeClassifier",
    "code_of",
    "cost_of",
    "has_rules",
    "parts_of",
    "remember_outputs",
    "with_rules",
    "without_probabilities",
]
