"""The scikit-learn estimators."""

from polychotomy.classifiers._code_classifier import CodeClassifier
from polychotomy.classifiers._kernel_sbc import KernelSBCClassifier
from polychotomy.classifiers._single_binary import SingleBinaryClassifier
from polychotomy.classifiers._tree_classifier import TreeClassifier

__all__ = ["CodeClassifier", "KernelSBCClassifier", "SingleBinaryClassifier", "TreeClassifier"]
