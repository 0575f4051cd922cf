"""The cells of a search in memory: computed fold by fold, and made into ``cv_results_``."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning

from polychotomy.arrays import Array
from polychotomy.evaluate._bench import compute
from polychotomy.evaluate._cell import Cell, Failure
from polychotomy.evaluate._recommendation import mean_cost
from polychotomy.evaluate._samples import Samples
from polychotomy.evaluate._task import Task
from polychotomy.reductions import Reduction, is_baseline

Cells = Mapping[tuple[str, int], Cell]
"""The cell of each row and fold; those that failed without a score are missing."""


def compute_fold(tasks: Sequence[Task], shared: tuple[Samples, bool]) -> list[Cell | Failure]:
    """Return the outcomes of a fold; methods share the problems they have in common."""
    samples, raising = shared
    return list(compute(tasks, samples, raising=raising, sharing=True))


def finished_cells(
    units: Sequence[Sequence[Task]],
    outcomes: Iterable[Cell | Failure],
    samples: Samples,
    error_score: Any,
) -> Cells:
    """Return the cells of a search, and warn of what has failed.

    What failed is missing or, if it gets a score, a cell without predictions. Raises ValueError
    if nothing but baselines is complete.
    """
    tasks = {task.key: task for unit in units for task in unit}
    cells: dict[tuple[str, int], Cell] = {}
    reasons: dict[str, None] = {}
    for outcome in outcomes:
        place = outcome.reduction, outcome.fold
        if isinstance(outcome, Cell):
            cells[place] = outcome
            continue
        reason = f"{outcome.kind}: {outcome.reason}"
        reasons[reason] = None
        warnings.warn(
            f"{outcome.reduction!r} failed on a fold, and its score there is {error_score}. "
            f"{reason}",
            FitFailedWarning,
            stacklevel=2,
        )
        if not np.isnan(error_score):
            cells[place] = _failed_cell(tasks[outcome.key], samples, float(error_score))
    labels = (task.reduction for task in units[0])
    complete = (name for name in labels if all((name, fold) in cells for fold in range(len(units))))
    if reasons and all(map(is_baseline, complete)):
        same = all(reason.startswith("TypeError:") for reason in reasons)  # features, say
        wrong = TypeError if same else ValueError
        raise wrong(f"Every reduction failed on some fold. {' '.join(reasons)[:1000]}")
    return cells


def _failed_cell(task: Task, samples: Samples, score: float) -> Cell:
    return task.cell(
        samples,
        predicted=np.full(len(task.test), -1),
        metrics={"score": score, "error": 1.0},
        n_problems=0,
        fit_seconds=0.0,
        predict_seconds=0.0,
    )


def cv_results(
    rows: Mapping[str, Any], cells: Cells, n_folds: int, pvalues: Mapping[str, float]
) -> dict[str, Any]:
    """Return the cells as scikit-learn's searches do, a line for each row that was compared."""
    found = [[cells.get((label, j)) for j in range(n_folds)] for label in rows]

    def each(name: str) -> Array:
        values = [
            [np.nan if cell is None else getattr(cell, name) for cell in row] for row in found
        ]
        return np.array(values, dtype=float)

    table: dict[str, Any] = {}
    for name, values in (
        ("fit_time", each("fit_seconds")),
        ("score_time", each("predict_seconds")),
    ):
        table[f"mean_{name}"], table[f"std_{name}"] = values.mean(axis=1), values.std(axis=1)
    params = [_params(label, row) for label, row in rows.items()]
    for name in ("reduction", "decoder", "probability"):
        table[f"param_{name}"] = np.array([row[name] for row in params], dtype=object)
    table["params"] = params
    table["label"] = np.array(list(rows), dtype=object)
    scores = each("score")
    means = scores.mean(axis=1)
    table |= {f"split{j}_test_score": column for j, column in enumerate(scores.T)}
    table["mean_test_score"], table["std_test_score"] = means, scores.std(axis=1)
    worst_last = np.nan_to_num(-means, nan=np.inf)
    table["rank_test_score"] = rankdata(worst_last, method="min").astype(np.int32)
    costs = [mean_cost([None if cell is None else cell.cost for cell in row]) for row in found]
    for name in ("problems", "questions"):
        table[f"n_{name}"] = np.array([getattr(cost, name, np.nan) for cost in costs])
    table["p_value"] = np.array([pvalues.get(label, np.nan) for label in rows])
    tuned = [
        [{} if cell is None else cell.chosen.get("tuned", {}) for cell in row] for row in found
    ]
    if any(any(row) for row in tuned):
        columns = np.array(tuned, dtype=object).T
        table |= {f"split{j}_tuned": column for j, column in enumerate(columns)}
    return table


def _params(label: str, row: Any) -> dict[str, Any]:
    if not isinstance(row, Reduction):
        return {"reduction": label, "decoder": None, "probability": None}
    return {"reduction": row.name, "decoder": row.decoder, "probability": row.probability}
