"""Where the samples of a report come from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Source:
    """Where the samples of a report come from, for the program that it shows.

    Attributes
    ----------
    path : str
        The file, or the name of a known data set.
    options : mapping
        Arguments of :func:`polychotomy.datasets.read`, of a file.
    n_samples : int or None
        How many of the samples were drawn, if not all.
    class_order : "data", sequence of str or None
        Whether the data decide the order of the classes, or the classes in their order.
    """

    path: str
    options: Mapping[str, Any] = field(default_factory=dict)
    n_samples: int | None = None
    class_order: str | Sequence[str] | None = None
