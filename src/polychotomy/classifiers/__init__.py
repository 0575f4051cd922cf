"""The scikit-learn estimators: they connect the parts."""

from polychotomy.classifiers._code_classifier import CodeClassifier

__all__ = ["CodeClassifier"]
