"""Plots: displays in the style of scikit-learn. Needs the extra ``plot``."""

from polychotomy.plot._code_display import CodeDisplay
from polychotomy.plot._difference_displays import (
    BootstrapIntervalDisplay,
    PairwiseDifferenceDisplay,
)
from polychotomy.plot._palette import method_colours
from polychotomy.plot._probability_displays import (
    ProbabilityTriangleDisplay,
    RejectCurveDisplay,
    ReliabilityDisplay,
)
from polychotomy.plot._rank_display import CriticalDifferenceDisplay
from polychotomy.plot._region_display import DecisionRegionDisplay
from polychotomy.plot._search_display import SearchPathDisplay
from polychotomy.plot._subsampling_display import SubsamplingDisplay
from polychotomy.plot._tree_display import TreeDisplay

__all__ = [
    "BootstrapIntervalDisplay",
    "CodeDisplay",
    "CriticalDifferenceDisplay",
    "DecisionRegionDisplay",
    "PairwiseDifferenceDisplay",
    "ProbabilityTriangleDisplay",
    "RejectCurveDisplay",
    "ReliabilityDisplay",
    "SearchPathDisplay",
    "SubsamplingDisplay",
    "TreeDisplay",
    "method_colours",
]
