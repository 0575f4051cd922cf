"""One palette for all displays: a side, like a method, keeps its colour everywhere."""

PLUS = "#2166ac"
MINUS = "#b2182b"
NEITHER = "#f0f0f0"
