"""Looking at it: displays in the style of scikit-learn. Needs the extra ``plot``."""

from polychotomy.plot._code_display import CodeDisplay

__all__ = ["CodeDisplay"]
