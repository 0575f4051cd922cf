"""One palette for all displays: a side, a class or a method keeps its colour everywhere."""

PLUS = "#2166ac"
MINUS = "#b2182b"
NEITHER = "#f0f0f0"
LINES = "#777777"
ERRORS = "Reds"

# Okabe and Ito's colours, which colour-blind readers can tell apart.
CLASSES = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
    "#f0e442",
)
