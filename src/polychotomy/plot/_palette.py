"""One palette for all displays: a side, a class or a method keeps its colour everywhere."""

from collections.abc import Sequence
from zlib import crc32

PLUS = "#2166ac"
MINUS = "#b2182b"
NEITHER = "#f0f0f0"
LINES = "#777777"
ERRORS = "Reds"

# Okabe and Ito's colours, which colour-blind readers can distinguish, then Tol's muted ones;
# yellow, which is faint on white, comes last.
CLASSES = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
    "#882255",
    "#44aa99",
    "#999933",
    "#332288",
    "#cc6677",
    "#117733",
    "#aa4499",
    "#ddcc77",
    "#f0e442",
)

# The library's own reductions, each with a colour that no other method is given.
REDUCTIONS = {
    "one_vs_rest": "#0072b2",
    "one_vs_one": "#d55e00",
    "exhaustive": "#000000",
    "dense_random": "#cc79a7",
    "sparse_random": "#56b4e9",
    "hamming": "#e69f00",
    "bch": "#009e73",
    "orthogonal": "#332288",
    "adjacent": "#999933",
}
# For all others: the rest of Tol's muted colours, and some between them.
_OTHERS = (
    "#882255",
    "#44aa99",
    "#cc6677",
    "#117733",
    "#aa4499",
    "#6699cc",
    "#661100",
    "#888888",
    "#ddaa33",
    "#7b5ea7",
)


def method_colours(names: Sequence[str]) -> list[str]:
    """Return a colour for each method, which depends on its name.

    If two names would get the same colour, the later one gets the next free colour; only then does
    a colour depend on the other methods. After ten methods that are not reductions of the library,
    colours repeat.

    Parameters
    ----------
    names : sequence of str
        The methods, as a comparison names them.

    Examples
    --------
    >>> from polychotomy.plot import method_colours
    >>> method_colours(["one_vs_rest", "one_vs_one"])
    ['#0072b2', '#d55e00']
    """
    colours: list[str] = []
    for name in names:
        start = crc32(name.encode()) % len(_OTHERS)
        turned = _OTHERS[start:] + _OTHERS[:start]
        free = [colour for colour in turned if colour not in colours]
        colours.append(REDUCTIONS.get(name) or (free or turned)[0])
    return colours
