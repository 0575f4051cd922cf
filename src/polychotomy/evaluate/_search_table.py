"""The cells of a search as the table that scikit-learn's searches have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from polychotomy.arrays import Array
from polychotomy.evaluate._cell import Cell
from polychotomy.evaluate._recommendation import mean_cost
from polychotomy.evaluate._search_tasks import SearchTasks


@dataclass(frozen=True, eq=False)
class SearchTable:
    """What a search has found out: a row for each reduction, decoder and method.

    Attributes
    ----------
    labels : list of str
        The name of each row.
    params : list of dict
        Reduction, decoder and method of each row.
    cells : mapping
        The cell of each row and fold; those that failed without a score are missing.
    n_folds : int
    """

    labels: Sequence[str]
    params: Sequence[dict[str, Any]]
    cells: Mapping[tuple[str, int], Cell]
    n_folds: int

    @classmethod
    def of(cls, tasks: SearchTasks, cells: Mapping[tuple[str, int], Cell]) -> "SearchTable":
        """Return the table of a search and its cells."""
        params = [params for _, params in tasks.methods.values()]
        return cls(list(tasks.methods), params, cells, len(tasks.folds))

    @property
    def scores(self) -> Array:
        """The scores, of shape (n_rows, n_folds); NaN where there is none."""
        return self._each(lambda cell: cell.score)

    @property
    def means(self) -> Array:
        """The mean score of each row."""
        means: Array = self.scores.mean(axis=1)
        return means

    def as_dict(self, pvalues: Mapping[str, float]) -> dict[str, Any]:
        """Return ``cv_results_``."""
        table: dict[str, Any] = {}
        for name, values in (
            ("fit_time", self._each(lambda cell: cell.fit_seconds)),
            ("score_time", self._each(lambda cell: cell.predict_seconds)),
        ):
            table[f"mean_{name}"], table[f"std_{name}"] = values.mean(axis=1), values.std(axis=1)
        for name in ("reduction", "decoder", "probability"):
            table[f"param_{name}"] = np.array([each[name] for each in self.params], dtype=object)
        table["params"] = list(self.params)
        table["label"] = np.array(self.labels, dtype=object)
        scores, means = self.scores, self.means
        table |= {f"split{j}_test_score": column for j, column in enumerate(scores.T)}
        table["mean_test_score"], table["std_test_score"] = means, scores.std(axis=1)
        worst_last = np.nan_to_num(-means, nan=np.inf)
        table["rank_test_score"] = rankdata(worst_last, method="min").astype(np.int32)
        for name in ("problems", "questions"):
            table[f"n_{name}"] = np.array([self._cost(label, name) for label in self.labels])
        table["p_value"] = np.array([pvalues.get(label, np.nan) for label in self.labels])
        return table | self._tuned()

    def _tuned(self) -> dict[str, Any]:
        """Return the tuned parameters of each row and fold, if anything was tuned."""
        table = {}
        for j in range(self.n_folds):
            column = np.empty(len(self.labels), dtype=object)
            column[:] = [self._tuned_on(label, j) for label in self.labels]
            table[f"split{j}_tuned"] = column
        return table if any(any(column) for column in table.values()) else {}

    def _tuned_on(self, label: str, fold: int) -> dict[str, Any]:
        cell = self.cells.get((label, fold))
        return {} if cell is None else dict(cell.chosen.get("tuned", {}))

    def _cost(self, label: str, name: str) -> float:
        cells = [self.cells.get((label, j)) for j in range(self.n_folds)]
        cost = mean_cost([None if cell is None else cell.cost for cell in cells])
        return np.nan if cost is None else float(getattr(cost, name))

    def _each(self, value: Any) -> Array:
        found = [
            [value(self.cells[label, j]) if (label, j) in self.cells else np.nan
             for j in range(self.n_folds)]
            for label in self.labels
        ]  # fmt: skip
        return np.array(found, dtype=float)
