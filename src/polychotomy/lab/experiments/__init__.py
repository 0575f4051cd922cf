"""The papers' experiments: their methods, data, protocols and statistics, to be run again.

``get("sbc-2").plan()`` holds the cells, its ``figures`` compares ours with what was published. One
module for each paper; a new experiment is an :class:`Experiment` there and a line below.
"""

from polychotomy.errors import unknown_name
from polychotomy.lab.experiments import _allwein, _mills, _sbc, _tax_duin
from polychotomy.lab.experiments._agreement import Agreement, is_derived, measure_agreement
from polychotomy.lab.experiments._comparison import (
    Comparison,
    RankStatistics,
    compare_tables,
    quantity_label,
    rank_statistics,
    write_value,
)
from polychotomy.lab.experiments._experiment import Experiment, FinishedCells
from polychotomy.lab.experiments._figures import Estimate, Figure, read_figures, write_figures

__all__ = [
    "Agreement",
    "Comparison",
    "Estimate",
    "Experiment",
    "Figure",
    "FinishedCells",
    "RankStatistics",
    "compare_tables",
    "get",
    "is_derived",
    "measure_agreement",
    "names",
    "quantity_label",
    "rank_statistics",
    "read_figures",
    "write_figures",
    "write_value",
]

_EXPERIMENTS: dict[str, Experiment] = {
    each.name: each for paper in (_allwein, _sbc, _mills, _tax_duin) for each in paper.EXPERIMENTS
}


def names() -> tuple[str, ...]:
    """Return the names of the experiments.

    Examples
    --------
    >>> from polychotomy.lab import experiments
    >>> "sbc-2" in experiments.names()
    True
    """
    return tuple(_EXPERIMENTS)


def get(name: str) -> Experiment:
    """Return the experiment of this name.

    Examples
    --------
    >>> from polychotomy.lab import experiments
    >>> experiments.get("sbckernel-2").data_sets
    ('car', 'page-blocks', 'iris', 'wine', 'vehicle')
    """
    if name not in _EXPERIMENTS:
        raise unknown_name("experiment", name, _EXPERIMENTS)
    return _EXPERIMENTS[name]
