"""The scores of a search as arrays, and as the table that scikit-learn's searches have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from polychotomy.choose._candidates import Candidate, Row
from polychotomy.choose._evaluation import Outcome

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Results:
    """What a search has found out: a row for each reduction, decoder and method.

    Attributes
    ----------
    rows : list of (Candidate, Row)
    scores, fit_seconds, score_seconds : ndarray of shape (n_rows, n_folds)
    costs, n_problems : ndarray of shape (n_rows,)
        Means over the folds.
    tuned : list of lists of dict
        The hyper-parameters of each row on each fold.
    errors : list of str
        What has gone wrong.
    """

    rows: list[tuple[Candidate, Row]]
    scores: Array
    fit_seconds: Array
    score_seconds: Array
    costs: Array
    n_problems: Array
    tuned: list[list[dict[str, Any]]]
    errors: list[str]

    @classmethod
    def of(cls, candidates: Sequence[Candidate], outcomes: Sequence[list[Outcome]]) -> "Results":
        """Return the results from the outcomes of all candidates, fold by fold."""
        by_candidate = list(zip(*outcomes, strict=True))
        repeats = [len(candidate.rows) for candidate in candidates]

        def each_row(name: str) -> Array:
            values = [[getattr(o, name) for o in folds] for folds in by_candidate]
            return np.repeat(np.array(values, dtype=float), repeats, axis=0)

        return cls(
            [(candidate, row) for candidate in candidates for row in candidate.rows],
            np.vstack([np.column_stack([o.scores for o in folds]) for folds in by_candidate]),
            each_row("fit_seconds"),
            np.vstack([np.column_stack([o.score_seconds for o in f]) for f in by_candidate]),
            each_row("cost").mean(axis=1),
            each_row("n_problems").mean(axis=1),
            [
                [o.tuned for o in folds]
                for folds, n in zip(by_candidate, repeats, strict=True)
                for _ in range(n)
            ],
            [error for folds in by_candidate for o in folds for error in o.errors],
        )

    @property
    def labels(self) -> list[str]:
        """The name of each row."""
        return [row.label for _, row in self.rows]

    @property
    def means(self) -> Array:
        """The mean score of each row."""
        means: Array = self.scores.mean(axis=1)
        return means

    def params(self, i: int) -> dict[str, Any]:
        """Return what a row is."""
        candidate, row = self.rows[i]
        return {
            "reduction": candidate.name,
            "decoder": row.decoder,
            "probability": row.probability,
        }

    def table(self, pvalues: Array) -> dict[str, Any]:
        """Return ``cv_results_``."""
        params = [self.params(i) for i in range(len(self.rows))]
        table: dict[str, Any] = {}
        for name, values in (
            ("fit_time", self.fit_seconds),
            ("score_time", self.score_seconds),
        ):
            table[f"mean_{name}"], table[f"std_{name}"] = values.mean(axis=1), values.std(axis=1)
        for name in ("reduction", "decoder", "probability"):
            table[f"param_{name}"] = np.array([each[name] for each in params], dtype=object)
        table["params"], table["label"] = params, np.array(self.labels, dtype=object)
        for j, column in enumerate(self.scores.T):
            table[f"split{j}_test_score"] = column
        table["mean_test_score"], table["std_test_score"] = self.means, self.scores.std(axis=1)
        worst_last = np.nan_to_num(-self.means, nan=np.inf)
        table["rank_test_score"] = rankdata(worst_last, method="min").astype(np.int32)
        table |= {"n_problems": self.n_problems, "cost": self.costs, "p_value": pvalues}
        if any(any(folds) for folds in self.tuned):
            for j in range(self.scores.shape[1]):
                column = np.empty(len(self.rows), dtype=object)
                column[:] = [folds[j] for folds in self.tuned]
                table[f"split{j}_tuned"] = column
        return table
