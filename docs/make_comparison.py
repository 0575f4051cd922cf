"""Writes docs/comparison.md and its pictures from results/comparison.csv: ``make results``.

The file is what ``make comparison`` writes: a row for each data set, reduction and binary learner.
``results/reasons.toml`` has what follows from it in words.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from markdown_table import markdown_table

from polychotomy.assess import (
    average_ranks,
    bayesian_signed_rank,
    bootstrap_ranks,
    holm,
    iman_davenport,
    nemenyi,
)

ROOT = Path(__file__).parent.parent
TITLES = {
    "svm": "RBF SVM, tuned",
    "logistic": "Logistic regression",
    "boosting": "Gradient-boosted trees",
}
CONTROL = "one_vs_rest"  # what times are compared with
METRICS = {"error": "error", "log_loss": "log loss", "brier": "Brier"}
INTRODUCTION = """# All reductions on all data sets

Which reduction should one take? The papers compare a few of them on up to thirteen data sets; this
page compares all of the library's, with three binary learners. It is made by `make results` from
`results/comparison.csv`, which `make comparison` writes; that run can be interrupted and continued.
At most 1000 samples of each data set are drawn, class by class. The data set's own test part, or
else 30 % of the samples, is set aside once, and numbers are standardised by the training part. The
SVM's width and C are tuned for every reduction by the papers' greedy search, in five folds of the
training part; the other learners have scikit-learn's defaults.

Ranks are averages over the data sets; 1 is the best of the reductions that all data sets have. The
exhaustive code is left out: from a dozen classes on it has too many problems. *p* tests whether a
reduction's rank by error differs from the best (Holm's procedure), and the interval of a rank is
that of other data sets of this kind (bootstrap, 95 %). *Better / same / worse* are the
probabilities, in per cent, that a reduction's error is lower than that of one-vs-rest by more than
a point, within a point of it, or higher (Bayesian signed-rank test); *effect* is the median
difference in points (Hodges and Lehmann). Times are geometric means of CPU seconds relative to
one-vs-rest, with calibration and without tuning.

What this comparison cannot show: each data set is split once, only the SVM is tuned, each random
code is one draw, and some codes are the same on data sets of few classes. The learner's own
multi-class form and a majority baseline are not included."""


def make_page(cells: pd.DataFrame, advice: str) -> str:
    """Return the page for a table with a row for each cell."""
    parts = [INTRODUCTION, _about_run(cells), advice.strip()]
    for base, title in TITLES.items():
        found = cells[cells["base"] == base]
        if len(found):
            parts += [f"## {title}", *_of_base(found, base)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _about_run(cells: pd.DataFrame) -> str:
    versions = [
        f"{name.replace('_', '-')} {', '.join(sorted(cells[name].unique()))}"
        for name in ("python", "polychotomy", "numpy", "scikit_learn")
    ]
    hours = (cells["fit_seconds"] + cells["predict_seconds"]).sum() / 3600
    return (
        f"{len(cells)} cells of {cells['data_set'].nunique()} data sets, seed "
        f"{', '.join(map(str, cells['seed'].unique()))}, {hours:.2g} CPU hours of training and "
        f"predicting, without the tuning; {', '.join(versions)}."
    )


def _of_base(cells: pd.DataFrame, base: str) -> Iterator[str]:
    errors = pivot(cells, "error")
    compared = complete(errors)
    test, critical = iman_davenport(compared), nemenyi(compared).critical_difference
    yield (
        f"{compared.shape[1]} reductions on {len(compared)} data sets. Their ranks by error "
        f"{'differ' if test.pvalue < 0.05 else 'do not differ'} (Iman and Davenport, "
        f"F = {test.statistic:.3g}, p = {test.pvalue:.2g}); two of them differ significantly "
        f"if their ranks are {critical:.2f} apart (Nemenyi, 5 %)."
    )
    yield f"![Ranks by error and critical difference, {base}](images/comparison-{base}.png)"
    yield _ranked(cells, compared)
    yield from (_unranked(name, errors, compared) for name in errors if name not in compared)
    yield "<details><summary>Errors on each data set (%)</summary>"
    yield markdown_table(
        ["", *errors],
        [
            [name, *("" if np.isnan(e) else f"{100 * e:.1f}" for e in row)]
            for name, row in zip(errors.index, errors.to_numpy(), strict=True)
        ],
    )
    yield "</details>"


def pivot(cells: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a table of data sets and reductions."""
    return cells.pivot_table(column, "data_set", "reduction", sort=True)


def complete(table: pd.DataFrame) -> pd.DataFrame:
    """Return the reductions that all data sets have."""
    return table.dropna(axis="columns")


def _ranked(cells: pd.DataFrame, compared: pd.DataFrame) -> str:
    """Return the ranks by each metric, the mean error and the times of reductions, best first."""
    names = list(compared)
    of = {metric: pivot(cells, metric).loc[compared.index, names] for metric in METRICS}
    ranks = {metric: average_ranks(table) for metric, table in of.items()}
    against, intervals = holm(compared).adjusted, bootstrap_ranks(compared)
    times = [
        np.exp(np.log(seconds).sub(np.log(seconds[CONTROL]), axis=0).mean())
        for column in ("fit_seconds", "predict_seconds")
        for seconds in [pivot(cells, column).loc[compared.index, names]]
    ]
    rows = [
        [
            names[j],
            f"{intervals.low[j]:.1f}–{intervals.high[j]:.1f}",
            *(f"{ranks[metric][j]:.2f}" for metric in METRICS),
            f"{100 * compared[names[j]].mean():.2f}",
            "best" if r == 0 else f"{against[j]:.2g}",
            *_against_control(compared, names[j]),
            *(f"{time[names[j]]:.2g}" for time in times),
        ]
        for r, j in enumerate(np.argsort(ranks["error"], kind="stable"))
    ]
    heads = [f"rank, {title}" for title in METRICS.values()]
    posterior = ["better / same / worse", "effect"]
    heads = ["rank, interval", *heads, "mean error %", "p", *posterior]
    return markdown_table(["reduction", *heads, "fit ×", "predict ×"], rows)


def _against_control(compared: pd.DataFrame, name: str) -> list[str]:
    """Return the posterior of a reduction against one-vs-rest, and the size of the effect."""
    if name == CONTROL:
        return ["–", "–"]
    found = bayesian_signed_rank(compared[name], compared[CONTROL])
    shares = (found.lower, found.equivalent, found.higher)
    said = " / ".join(f"{100 * share:.0f}" for share in shares)
    return [said, f"{100 * found.median:+.1f}".replace("-", "−")]


def _unranked(name: str, errors: pd.DataFrame, compared: pd.DataFrame) -> str:
    """Return how a reduction that not all data sets have compares with the best of the others."""
    best = compared.columns[np.argmin(average_ranks(compared))]
    difference = (errors[name] - compared[best]).dropna()
    return (
        f"Not ranked: {name}, which was had on {len(difference)} data sets only. There its error "
        f"is lower than that of {best} on {(difference < 0).sum()} and higher on "
        f"{(difference > 0).sum()}, on average by {100 * difference.mean():+.2f} points."
    ).replace("-", "−")


def draw(cells: pd.DataFrame, folder: Path) -> None:
    """Draw the critical differences of each learner."""
    from matplotlib import pyplot as plt

    from polychotomy.plot import CriticalDifferenceDisplay

    for base in cells["base"].unique():
        table = complete(pivot(cells[cells["base"] == base], "error"))
        display = CriticalDifferenceDisplay.from_table(table)
        display.figure_.savefig(folder / f"comparison-{base}.png", dpi=110)
        plt.close(display.figure_)


if __name__ == "__main__":
    found = pd.read_csv(ROOT / "results" / "comparison.csv")
    told = tomllib.loads((ROOT / "results" / "reasons.toml").read_text("utf-8"))
    page = make_page(found, told["comparison"]["advice"])
    (ROOT / "docs" / "comparison.md").write_text(page, "utf-8")
    draw(found, ROOT / "docs" / "images")
