"""A published figure and ours."""

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from io import StringIO
from math import isfinite, nan, sqrt
from pathlib import Path
from typing import Any

from polychotomy.errors import DataError
from polychotomy.files import replacing
from polychotomy.lab import published


@dataclass(frozen=True)
class Estimate:
    """Our value of a quantity.

    Attributes
    ----------
    value : float
    spread : float
        Standard deviation over the folds; NaN where there is one fold, or no sense in it.
    low, high : float
        Bootstrap interval of the value, at 95 %; NaN where there is none.
    n_folds : int
        Folds that it is made of; 0 if it is not made of folds.
    agrees : bool or None
        Whether it agrees with the published value, where that is decided in a way of its own.
    judged : bool
        False for what has no meaning on another machine, such as times: it never agrees or not.
    """

    value: float
    spread: float = nan
    low: float = nan
    high: float = nan
    n_folds: int = 0
    agrees: bool | None = None
    judged: bool = True


@dataclass(frozen=True)
class Figure:
    """A published figure and ours.

    Attributes
    ----------
    paper, table, data_set, method, quantity : str
        As in :class:`polychotomy.lab.published.PublishedCell`.
    theirs, their_spread : float
        As published; NaN where nothing was.
    ours, spread, low, high : float
        See :class:`Estimate`.
    n_folds, of_folds : int
        Folds that were run, and that the protocol has.
    agrees : bool or None
        Whether ours lies within their spread; where they give none, whether theirs lies within our
        bootstrap interval. If only a part of the folds was run, whether the published figure, give
        or take its spread, lies within our interval. None where that has no meaning, as for times.
    """

    paper: str
    table: str
    data_set: str
    method: str
    quantity: str
    theirs: float
    their_spread: float
    ours: float
    spread: float
    low: float
    high: float
    n_folds: int
    of_folds: int
    agrees: bool | None

    @property
    def difference(self) -> float:
        """Ours less theirs."""
        return self.ours - self.theirs

    @property
    def complete(self) -> bool:
        """Whether all folds were run."""
        return self.n_folds == self.of_folds


def compare(cell: published.PublishedCell, ours: Estimate, of_folds: int) -> Figure:
    """Compare our value with a published one."""
    if ours.n_folds == of_folds:
        agrees = _agrees(cell, ours)
    else:
        ours = _with_interval(ours)
        agrees = _agrees_in_part(cell, ours)
    return Figure(
        cell.paper,
        cell.table,
        cell.data_set,
        cell.method,
        cell.quantity,
        cell.value,
        cell.spread,
        ours.value,
        ours.spread,
        ours.low,
        ours.high,
        ours.n_folds,
        of_folds,
        agrees,
    )


def _agrees(cell: published.PublishedCell, ours: Estimate) -> bool | None:
    if ours.agrees is not None or not ours.judged or not isfinite(cell.value):
        return ours.agrees
    return _matches(ours.value, ours.low, ours.high, cell.value, cell.spread, cell.decimals)


def matches(figure: "Figure", value: float, spread: float, decimals: int) -> bool | None:
    """Return whether our figure agrees with a published value; None where that has no meaning."""
    return _matches(figure.ours, figure.low, figure.high, value, spread, decimals)


def _matches(
    ours: float, low: float, high: float, theirs: float, spread: float, decimals: int
) -> bool | None:
    rounding = 0.5 * 10.0**-decimals
    if isfinite(spread):
        return abs(ours - theirs) <= spread + rounding
    if isfinite(low):
        return low - rounding <= theirs <= high + rounding
    return None


def _with_interval(ours: Estimate) -> Estimate:
    """Return an estimate with the 95 % interval of a mean over folds, if it has none."""
    if isfinite(ours.low) or not isfinite(ours.spread) or ours.n_folds < 2:
        return ours
    from scipy.stats import t

    half = float(t.ppf(0.975, ours.n_folds - 1)) * ours.spread / sqrt(ours.n_folds)
    return replace(ours, low=ours.value - half, high=ours.value + half)


def _agrees_in_part(cell: published.PublishedCell, ours: Estimate) -> bool | None:
    """Return whether what a part of the folds gives can be the published figure."""
    if ours.agrees is not None or not ours.judged or not isfinite(cell.value):
        return ours.agrees
    if not isfinite(ours.low):
        return None
    margin = 0.5 * 10.0**-cell.decimals + (cell.spread if isfinite(cell.spread) else 0.0)
    return ours.low - margin <= cell.value <= ours.high + margin


def write_figures(figures: Iterable[Figure], path: Path) -> None:
    """Write figures as a CSV file, all of them or none."""
    names = [field.name for field in fields(Figure)]
    text = StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for figure in figures:
        writer.writerow({name: _written(value) for name, value in asdict(figure).items()})
    with replacing(path) as beside:
        beside.write_text(text.getvalue(), encoding="utf-8")


def read_figures(path: Path) -> list[Figure]:
    """Read what :func:`write_figures` wrote.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from polychotomy.lab.experiments import Figure, read_figures, write_figures
    >>> nan = float("nan")
    >>> figure = Figure("sbc", "2", "car", "OVA", "error_percent", 1.1, nan, 0.8, 0.3, 0.4, 1.2,
    ...                 10, 10, True)
    >>> with TemporaryDirectory() as folder:
    ...     write_figures([figure], Path(folder) / "sbc-2.csv")
    ...     read_figures(Path(folder) / "sbc-2.csv")[0].difference
    -0.30...
    """
    kinds = {field.name: field.type for field in fields(Figure)}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    try:
        return [Figure(**{name: _read(row[name], kinds[name]) for name in kinds}) for row in rows]
    except (KeyError, ValueError) as error:
        raise DataError(f"{path} does not hold figures as this version writes them.") from error


def _written(value: object) -> str:
    if isinstance(value, float):
        return format(value, ".6g") if isfinite(value) else ""
    return "" if value is None else str(value)


def _read(text: str, kind: Any) -> Any:
    if kind is float:
        return float(text) if text else nan
    if kind is int:
        return int(text)
    if kind is str:
        return text
    return {"": None, "True": True, "False": False}[text]
