"""``write_reproduction``: a paper's figures next to ours, on one page."""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polychotomy.report._write import write_page

if TYPE_CHECKING:
    from polychotomy.lab.experiments import Comparison, Experiment, Figure

_MARKS = {"agrees": "✓", "differs": "✗", "not judged": "–"}
_FEWEST_POINTS = 2


def write_reproduction(
    figures: "Iterable[Figure]",
    experiments: "Sequence[Experiment]",
    path: str | os.PathLike[str],
    *,
    environment: Mapping[str, Any] | None = None,
    title: str | None = None,
) -> Path:
    """Write a page with published figures and ours side by side.

    One HTML file that needs nothing else: how many figures agree; for each table a plot of ours
    against theirs and the figures; what the papers leave open; what the figures depend on.

    Parameters
    ----------
    figures : iterable of Figure
        At least one, from :meth:`~polychotomy.lab.experiments.Experiment.figures`.
    experiments : sequence of Experiment
        Those that the figures are of.
    path : path-like
        Where to write. A file of this name is replaced once the page is complete.
    environment : mapping, optional
        Versions, machine and the like, by name.
    title : str, optional
        By default, which experiments they are.

    Returns
    -------
    path : Path
        Where it was written.

    Raises
    ------
    ValueError
        There is no figure.
    OSError
        The file cannot be written; nothing is left behind.

    Examples
    --------
    >>> from polychotomy.report import write_reproduction
    >>> write_reproduction([], [], "reproduction.html")
    Traceback (most recent call last):
    ...
    ValueError: A reproduction needs at least one figure. Got none: run an experiment first.
    """
    contents = reproduction_contents(figures, experiments, environment, title)
    return write_page(path, "reproduction", contents)


def reproduction_contents(
    figures: "Iterable[Figure]",
    experiments: "Sequence[Experiment]",
    environment: Mapping[str, Any] | None,
    title: str | None,
) -> dict[str, Any]:
    """Return the variables of the template."""
    from polychotomy.lab.experiments import compare_tables

    tables = compare_tables(figures)
    if not tables:
        raise ValueError(
            "A reproduction needs at least one figure. Got none: run an experiment first."
        )
    plots: dict[str, Any] = {}
    shown = [_table(f"table-{i}", table, plots) for i, table in enumerate(tables)]
    n_judged, n = (sum(table[key] for table in shown) for key in ("n_judged", "n_agreeing"))
    return {
        "title": title or f"{', '.join(each.name for each in experiments)} again",
        "words": f"{n} of {n_judged} figures agree." if n_judged else "No figure can be judged.",
        "tables": shown,
        "experiments": [
            {
                "name": each.name,
                "title": each.title,
                "terms": f"Protocol {_told(each.protocol)}; tuning {each.tuning}.",
                "choices": each.choices,
            }
            for each in experiments
        ],
        "environment": {_heading(k): _told(v) for k, v in (environment or {}).items()},
        "data": {"plots": plots},
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _table(name: str, table: "Comparison", plots: dict[str, Any]) -> dict[str, Any]:
    """Return the contents of a section, and add its plots to `plots`."""
    drawn = _plots(name, table)
    plots |= {each["name"]: each.pop("spec") for each in drawn}
    return {
        "id": name,
        "name": table.name,
        "title": table.title,
        "reference": table.reference,
        "words": table.words,
        "ranks": table.rank_words,
        "n_agreeing": table.n_agreeing,
        "n_judged": len(table.judged),
        "several": len(table.quantities) > 1,
        "plots": drawn,
        "rows": [_row(figure) for figure in table.figures],
    }


def _plots(name: str, table: "Comparison") -> list[dict[str, Any]]:
    """Return a plot of ours against theirs for each quantity that has enough of them."""
    from polychotomy.lab.experiments import quantity_label
    from polychotomy.report._charts import agreement_figure

    drawn = []
    for i, quantity in enumerate(table.quantities):
        both = [
            figure
            for figure in table.figures
            if figure.quantity == quantity and isfinite(figure.theirs) and isfinite(figure.ours)
        ]
        if len(both) < _FEWEST_POINTS:
            continue
        lower = sum(figure.ours < figure.theirs for figure in both)
        label = quantity_label(quantity)
        spec = agreement_figure(
            [_point(figure) for figure in both],
            f"{label}, theirs",
            f"{label}, ours",
            logarithmic=quantity.endswith("_seconds"),
        )
        drawn.append(
            {
                "name": f"{name}-plot-{i}",
                "caption": f"{label}: ours against theirs",
                "about": f"On the diagonal they are equal. Ours is lower in {lower} of "
                f"{len(both)} figures. Circles agree, crosses differ, squares are not judged.",
                "spec": spec,
            }
        )
    return drawn


def _point(figure: "Figure") -> dict[str, Any]:
    return {
        "data_set": figure.data_set,
        "method": figure.method,
        "theirs": figure.theirs,
        "ours": float(f"{figure.ours:.6g}"),
        "difference": float(f"{figure.difference:.6g}"),
        "verdict": _verdict(figure),
    }


def _verdict(figure: "Figure") -> str:
    if figure.agrees is None:
        return "not judged"
    return "agrees" if figure.agrees else "differs"


def _row(figure: "Figure") -> dict[str, Any]:
    from polychotomy.lab.experiments import quantity_label, write_value

    def written(value: float, spread: float) -> dict[str, str]:
        text = write_value(value, figure.quantity)
        more = f" ± {write_value(spread, figure.quantity)}" if isfinite(spread) else ""
        return {"text": text + more, "value": _sortable(value)}

    ends = [write_value(end, figure.quantity) for end in (figure.low, figure.high)]
    difference = write_value(figure.difference, figure.quantity, sign=True)
    return {
        "data_set": figure.data_set,
        "method": figure.method,
        "quantity": quantity_label(figure.quantity),
        "numbers": [
            written(figure.ours, figure.spread),
            {
                "text": " to ".join(ends) if isfinite(figure.low) else "",
                "value": _sortable(figure.low),
            },
            written(figure.theirs, figure.their_spread),
            {"text": difference, "value": _sortable(figure.difference)},
            {
                "text": f"{figure.n_folds} of {figure.of_folds}" if figure.of_folds else "",
                "value": str(figure.n_folds),
            },
        ],
        "verdict": _verdict(figure),
        "mark": _MARKS[_verdict(figure)],
    }


def _sortable(value: float) -> str:
    return f"{value:.6g}" if isfinite(value) else ""


def _heading(name: str) -> str:
    return name.replace("_", " ").capitalize().replace("Cpu", "CPU")


def _told(value: Any) -> str:
    """Return a value in words; of a mapping what is set."""
    if isinstance(value, Mapping):
        given = [(k, v) for k, v in value.items() if v is not None and v is not False]
        return ", ".join(f"{k} {_told(v)}" for k, v in given)
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return str(value)
