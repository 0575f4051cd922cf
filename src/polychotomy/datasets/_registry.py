"""The registry of known data sets and their sources."""

import os
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from polychotomy.errors import unknown_name

PAPERS = {
    "allwein": "Allwein, Schapire and Singer (2000)",
    "sbc": "El-Yaniv, Kotek, Pechyony and Yom-Tov, a single binary classifier",
    "sbckernel": "El-Yaniv, Pechyony and Yom-Tov, a margin-optimised single binary problem",
    "mills": "Mills (2023)",
    "tax-duin": "Tax and Duin (2002)",
}
WITHIN_SKLEARN = ("breast_cancer", "digits", "iris", "wine")
_FORMULAS = ("waveform",)


@dataclass(frozen=True)
class DataSet:
    """A known data set: its size, its sources and the papers that use it.

    Attributes
    ----------
    name, summary, note : str
        Name for :func:`load`, a short description, and remarks.
    samples, features, classes : int
        The size.
    test : int
        Number of samples in the fixed test part, which come last; 0 if there is none.
    papers : tuple of str
        The papers that use it: keys of ``PAPERS``.
    openml : tuple of int and str, or None
        Number and name at OpenML.
    test_order, codes, drop
        How to recognise and adapt a copy from elsewhere: see registry.toml.
    """

    name: str
    summary: str
    samples: int
    features: int
    classes: int
    test: int = 0
    papers: tuple[str, ...] = ()
    note: str = ""
    openml: tuple[int, str] | None = None
    test_order: int | None = None
    codes: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    @property
    def file(self) -> Path | None:
        """The file in the folder POLYCHOTOMY_DATA, or None."""
        folder = os.environ.get("POLYCHOTOMY_DATA")
        path = Path(folder or ".") / f"{self.name}.csv.gz"
        return path if folder and path.is_file() else None

    @property
    def source(self) -> str:
        """The source in use: file, scikit-learn, formula, OpenML or none."""
        if self.file is not None:
            return "file"
        if self.name in WITHIN_SKLEARN:
            return "scikit-learn"
        if self.name in _FORMULAS:
            return "formula"
        return "OpenML" if self.openml else "nowhere"

    @property
    def here(self) -> bool:
        """Whether the data set can be loaded without a network."""
        return self.source in ("file", "scikit-learn", "formula") or self._is_cached()

    def _is_cached(self) -> bool:
        """Whether scikit-learn has downloaded it before; its cache folder is not created."""
        if self.openml is None:
            return False
        home = Path(os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")).expanduser()
        return any((home / "openml").glob(f"**/data/{self.openml[0]}.gz"))


def available() -> tuple[DataSet, ...]:
    """Return all data sets that :func:`load` accepts, in alphabetical order.

    Examples
    --------
    >>> from polychotomy.datasets import available
    >>> [data.name for data in available() if "tax-duin" in data.papers]
    ['crabs', 'vehicle', 'vowel', 'waveform']
    >>> {data.name: data.classes for data in available() if data.classes > 26}
    {'abalone': 28, 'spectrometer': 48}
    """
    return tuple(_registry().values())


def find(name: str) -> DataSet:
    """Return a data set by name, or raise ValueError with the known names."""
    if name not in _registry():
        raise unknown_name("name", name, _registry())
    return _registry()[name]


@cache
def _registry() -> dict[str, DataSet]:
    tables = tomllib.loads((files("polychotomy.datasets") / "registry.toml").read_text("utf-8"))
    return {name: DataSet(name, **_frozen(tables[name])) for name in sorted(tables)}


def _frozen(table: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in table.items()}
