"""Looking at it: displays in the style of scikit-learn. Needs the extra ``plot``."""

from polychotomy.plot._code_display import CodeDisplay
from polychotomy.plot._probability_displays import (
    ProbabilityTriangleDisplay,
    RejectCurveDisplay,
    ReliabilityDisplay,
)
from polychotomy.plot._search_display import SearchPathDisplay
from polychotomy.plot._tree_display import TreeDisplay

__all__ = [
    "CodeDisplay",
    "ProbabilityTriangleDisplay",
    "RejectCurveDisplay",
    "ReliabilityDisplay",
    "SearchPathDisplay",
    "TreeDisplay",
]
