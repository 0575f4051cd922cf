"""Writes docs/comparison.md, its pictures and the table of advice: ``make results``.

``benchmarks/comparison.py`` writes results/comparison/cells.csv.gz, a row for each of ten folds of
a data set, reduction and binary learner; the learning curves are in results/comparison/curves.csv.
``results/reasons.toml`` has what follows from them in words. What to try first with each learner is
in src/polychotomy/evaluate/experience.toml, from which docs/how-to/which-reduction.md gets it.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from advice import write_advice
from curves import describe_curves, draw_curves
from markdown_table import markdown_table
from scipy.stats import rankdata, spearmanr, wilcoxon

from polychotomy.assess import adjust_by_holm, bayesian_signed_rank, iman_davenport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOT = Path(__file__).parent.parent
TITLES = {
    "logistic": "Logistic regression",
    "svm": "RBF SVM, tuned",
    "boosting": "Gradient-boosted trees",
}
CONTROL = "one_vs_rest"  # what the others are compared with
METRICS = {"error": "error", "log_loss": "log loss", "brier": "Brier"}
SHOWN = {"one_vs_one": "o", "dense_random": "s", "linkage_tree": "^"}
N_DRAWS = 2000
FEWEST = 6  # data sets that tell methods apart: with five, no signed-rank test can reach 5 %
DIGITS = 7  # of errors that are compared: cells are stored with eight
INTRODUCTION = """# All reductions on all data sets

Which reduction should one take? The papers compare a few on up to thirteen data sets; here all of
the library's are compared with three binary learners. This page is made by `make results` from
committed cells (`results/comparison/`, by `make comparison`, which first prints its plan and can be
interrupted).

Two-fold cross-validation is repeated five times. Every reduction is tuned once for each data set,
on a first training half, with the same budget: logistic regression's C and the leaf size and the
rounds of boosted trees on a grid, the SVM's width and C by the greedy search. Every random code is
drawn anew in each of the ten folds. The learner's own multi-class form (`native`) and the
`majority` baseline take part. Fixed test parts are ignored; features are standardised by the
training half. Large data sets are cut to samples drawn class by class: to 10 000 with logistic
regression, 2000 with the SVM and 1000 with boosted trees, and to fewer where the plan says so. The
exhaustive code is left out: from a dozen classes on it has too many problems. Cells were computed
on two machines, those of the SVM on the CPU.
[Learning curves](#learning-curves) of five reductions on a few data sets show what more samples and
more classes change.

*Rank* is the average over the data sets, 1 for the best of the methods that all data sets have. Two
methods with the same error, log loss and Brier score on a data set are the same method there (a
clone) and count once: they share a rank and do not push others down. The interval is a 95 %
bootstrap over data sets. *p* is Wilcoxon's test of the errors against those of the best rank,
adjusted by Holm's method. *Better / same / worse* are the probabilities, in per cent, that the
error is lower than that of one-vs-rest by more than a point, within a point of it, or higher
(Bayesian signed-rank test); *effect* is the median difference in points (Hodges and Lehmann).
Times are CPU seconds against those of one-vs-rest, geometric means, calibration included and tuning
not."""

TOO_FEW = (
    "These are too few data sets to compare methods on; the cells are stored, and can be added to."
)


def read_cells(folder: Path) -> pd.DataFrame:
    """Return the cells."""
    return pd.read_csv(folder / "comparison" / "cells.csv.gz")


def read_plan(folder: Path) -> pd.DataFrame:
    """Return what was planned."""
    return pd.read_csv(folder / "comparison" / "plan.csv")


def read_curves(folder: Path) -> pd.DataFrame:
    """Return the errors of the learning curves."""
    return pd.read_csv(folder / "comparison" / "curves.csv")


def make_page(cells: pd.DataFrame, plan: pd.DataFrame, curves: pd.DataFrame, advice: str) -> str:
    """Return the page for tables with a row for each cell, and for each point of a curve."""
    parts = [INTRODUCTION, advice.strip(), *describe_curves(curves, TITLES)]
    for base, title in TITLES.items():
        found = cells[cells["base"] == base]
        if len(found):
            parts += [f"## {title}", _about_run(found, plan)]
            enough = found["data_set"].nunique() >= FEWEST
            parts += _of_base(found, image_of(base)) if enough else [TOO_FEW]
    return "\n\n".join(filter(None, parts)) + "\n"


def image_of(base: str) -> str:
    """Return the name of a picture."""
    return f"comparison-{base}.png"


def _about_run(cells: pd.DataFrame, plan: pd.DataFrame) -> str:
    versions = [
        f"{name.replace('_', '-')} {', '.join(sorted(cells[name].unique()))}"
        for name in ("python", "polychotomy", "numpy", "scikit_learn")
    ]
    hours = (cells["fit_seconds"] + cells["predict_seconds"]).sum() / 3600
    k, most = cells["n_classes"], (cells["n_train"] + cells["n_test"]).max()
    return (
        f"{len(cells)} cells of {cells['data_set'].nunique()} data sets with {k.min()} to "
        f"{k.max()} classes and at most {most} samples, {hours:.2g} CPU hours of training and "
        f"predicting without the tuning; {', '.join(versions)}. {_cut(cells, plan)}"
    ).strip()


def _cut(cells: pd.DataFrame, whole: pd.DataFrame) -> str:
    """Return what was planned and is missing, and which data sets have fewer samples."""
    found = set(cells["data_set"])
    plan = whole[whole["base"].isin(cells["base"])]
    never = whole[~whole["data_set"].isin(plan["data_set"])]["data_set"].drop_duplicates()
    dropped = plan[plan["samples"] == 0]["data_set"]
    fewer = plan[(plan["samples"] > 0) & (plan["samples"] < plan["wanted"])]
    late = plan[(plan["samples"] > 0) & ~plan["data_set"].isin(found)]["data_set"]
    said = {
        "Left out by the plan, for their time": dropped,
        "Cut to fewer samples": fewer["data_set"] + " " + fewer["samples"].astype(str),
        "Planned, but not finished": late,
        "Not planned": never,
    }
    return " ".join(f"{words}: {', '.join(names)}." for words, names in said.items() if len(names))


def _of_base(cells: pd.DataFrame, image: str) -> Iterator[str]:
    errors = pivot(cells, "error")
    compared = complete(errors)
    test = iman_davenport(compared)
    yield (
        f"{compared.shape[1]} methods on {len(compared)} data sets. Their ranks by error "
        f"{'differ' if test.pvalue < 0.05 else 'do not differ'} (Iman and Davenport, "
        f"F = {test.statistic:.3g}, p = {test.pvalue:.2g}). {_clones(cells)}"
    ).strip()
    yield f"![Differences of the error from one-vs-rest](images/{image})"
    yield _ranked(cells, compared)
    yield from (_unranked(name, errors, compared) for name in errors if name not in compared)
    yield _by_size(cells, errors)
    yield "<details><summary>Errors on each data set (%)</summary>"
    yield markdown_table(
        ["", *errors],
        [
            [name, *("" if np.isnan(e) else f"{100 * e:.1f}" for e in row)]
            for name, row in zip(errors.index, errors.to_numpy(), strict=True)
        ],
    )
    yield "</details>"


def _clones(cells: pd.DataFrame) -> str:
    """Return which methods are the same on how many data sets."""
    same = originals(cells)
    counts = {
        (name, other): int((same[name] == other).sum())
        for name in same
        for other in same
        if name != other
    }
    often = [f"{a} = {b} on {n}" for (a, b), n in counts.items() if n]
    return f"Clones: {', '.join(often)}." if often else ""


def _by_size(cells: pd.DataFrame, errors: pd.DataFrame) -> str:
    """Return how differences from one-vs-rest go with the number of classes."""
    sizes = cells.groupby("data_set")[["n_classes", "n_train"]].first().loc[errors.index]
    said = []
    for name in SHOWN:
        if name in errors and len(errors) > 2:
            difference = errors[name] - errors[CONTROL]
            by_classes = spearmanr(sizes["n_classes"], difference).statistic
            by_samples = spearmanr(sizes["n_train"] / sizes["n_classes"], difference).statistic
            said.append(f"{name} {by_classes:+.2f} and {by_samples:+.2f}".replace("-", "−"))
    if not said:
        return ""
    return (
        "Rank correlations of the difference from one-vs-rest with the number of classes, and with "
        f"the training samples of a class: {'; '.join(said)}."
    )


def pivot(cells: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a table of data sets and reductions."""
    return cells.pivot_table(column, "data_set", "reduction", sort=True)


def complete(table: pd.DataFrame) -> pd.DataFrame:
    """Return the reductions that all data sets have."""
    return table.dropna(axis="columns")


def originals(cells: pd.DataFrame) -> pd.DataFrame:
    """Return, for each data set and method, the first method with the same results."""
    means = {metric: pivot(cells, metric) for metric in METRICS}
    names, data_sets = list(means["error"]), means["error"].index
    found = pd.DataFrame("", data_sets, names)
    for data_set in data_sets:
        first: dict[tuple[str, ...], str] = {}
        for name in names:
            values = [table[name].get(data_set, np.nan) for table in means.values()]
            key = tuple(f"{value:.9f}" for value in values)
            found.loc[data_set, name] = name if "nan" in key else first.setdefault(key, name)
    return found


def ranks_of(table: pd.DataFrame, same: pd.DataFrame) -> pd.DataFrame:
    """Return the ranks on each data set, from 1 to the number of methods; clones count once."""
    ranks = pd.DataFrame(np.nan, table.index, table.columns)
    for data_set, row in table.iterrows():
        kept = row[[same.loc[data_set, name] == name for name in table.columns]]
        among = pd.Series(rankdata(kept.round(DIGITS)), kept.index)
        scale = (len(row) - 1) / max(len(kept) - 1, 1)
        for name in table.columns:
            ranks.loc[data_set, name] = 1 + (among[same.loc[data_set, name]] - 1) * scale
    return ranks


def _bootstrap(ranks: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return the ends of 95 % intervals of the average ranks, over draws of data sets."""
    rng = np.random.default_rng(0)
    rows = rng.integers(len(ranks), size=(N_DRAWS, len(ranks)))
    ends = np.quantile(ranks.to_numpy()[rows].mean(axis=1), [0.025, 0.975], axis=0)
    return pd.Series(ends[0], ranks.columns), pd.Series(ends[1], ranks.columns)


def _pvalues(errors: pd.DataFrame, best: str) -> dict[str, float]:
    """Return Wilcoxon's p-values against the best, adjusted by Holm's method."""
    others = [name for name in errors if name != best]
    differences = [(errors[name] - errors[best]).round(DIGITS) for name in others]
    pvalues = [wilcoxon(d).pvalue if d.any() else 1.0 for d in differences]
    return dict(zip(others, adjust_by_holm(np.array(pvalues)), strict=True))


def _ranked(cells: pd.DataFrame, compared: pd.DataFrame) -> str:
    """Return the ranks by each metric, the mean error and the times of methods, best first."""
    names = list(compared)
    same = originals(cells[cells["reduction"].isin(names)])
    ranks = {m: ranks_of(pivot(cells, m).loc[compared.index, names], same) for m in METRICS}
    order = ranks["error"].mean().sort_values(kind="stable").index
    low, high = _bootstrap(ranks["error"])
    pvalues = _pvalues(compared, order[0])
    times = [
        np.exp(np.log(seconds).sub(np.log(seconds[CONTROL]), axis=0).mean())
        for column in ("fit_seconds", "predict_seconds")
        for seconds in [pivot(cells, column).loc[compared.index, names].clip(lower=1e-6)]
    ]
    rows = [
        [
            name,
            f"{low[name]:.1f}–{high[name]:.1f}",
            *(f"{ranks[metric][name].mean():.2f}" for metric in METRICS),
            f"{100 * compared[name].mean():.2f}",
            f"{pvalues[name]:.2g}" if name in pvalues else "best",
            *_against_control(compared, name),
            *(f"{time[name]:.2g}" for time in times),
        ]
        for name in order
    ]
    heads = [f"rank, {title}" for title in METRICS.values()]
    posterior = ["better / same / worse", "effect"]
    heads = ["rank, interval", *heads, "mean error %", "p", *posterior]
    return markdown_table(["method", *heads, "fit ×", "predict ×"], rows)


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
    best = compared.rank(axis="columns").mean().idxmin()
    difference = (errors[name] - compared[best]).dropna()
    return (
        f"Not ranked: {name}, which was had on {len(difference)} data sets only. There its error "
        f"is lower than that of {best} on {(difference < 0).sum()} and higher on "
        f"{(difference > 0).sum()}, on average by {100 * difference.mean():+.2f} points."
    ).replace("-", "−")


def draw(cells: pd.DataFrame, folder: Path) -> None:
    """Draw the differences from one-vs-rest, for each learner and by the number of classes."""
    from matplotlib import pyplot as plt

    for base, found in cells.groupby("base"):
        if found["data_set"].nunique() < FEWEST:
            continue
        errors = complete(pivot(found, "error"))
        figure = _draw_differences(errors, TITLES[base])
        figure.savefig(folder / image_of(base), dpi=110)
        plt.close(figure)
    bases = [base for base in TITLES if base in set(cells["base"])]
    figure, axes = plt.subplots(
        1, len(bases), figsize=(3.6 * len(bases), 3.8), sharey=True, layout="constrained"
    )
    for ax, base in zip(np.atleast_1d(axes), bases, strict=True):
        _draw_by_classes(ax, cells[cells["base"] == base], TITLES[base])
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(SHOWN))
    figure.savefig(folder / "comparison-advice.png", dpi=110)
    plt.close(figure)


def _draw_differences(errors: pd.DataFrame, title: str) -> "Figure":
    """Return a figure of the difference of each method on each data set, and the medians."""
    from matplotlib import pyplot as plt

    points = 100 * errors.drop(columns=CONTROL).sub(errors[CONTROL], axis=0)
    points = points.drop(columns="majority", errors="ignore")
    points = points[points.median().sort_values(ascending=False).index]
    figure, ax = plt.subplots(figsize=(6.5, 0.8 + 0.28 * points.shape[1]), layout="constrained")
    for place, name in enumerate(points):
        ax.plot(points[name], [place] * len(points), "|", color="0.6", markersize=9)
        ax.plot(points[name].median(), place, "o", color="C0")
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xscale("symlog", linthresh=2)
    ax.set_yticks(range(points.shape[1]), list(points))
    ax.set_xlabel("error minus that of one-vs-rest (points): data sets, and the median")
    ax.set_title(title, fontsize="medium")
    return figure


def _draw_by_classes(ax: "Axes", cells: pd.DataFrame, title: str) -> None:
    errors = pivot(cells, "error")
    k = cells.groupby("data_set")["n_classes"].first().loc[errors.index]
    for name, marker in SHOWN.items():
        if name in errors:
            difference = 100 * (errors[name] - errors[CONTROL])
            ax.plot(k, difference, marker, label=name, alpha=0.7, markersize=5)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xscale("log")
    ax.set_yscale("symlog", linthresh=2)
    ax.set(xlabel="classes", ylabel="error minus that of one-vs-rest (points)")
    ax.set_xticks([3, 10, 30, 100], ["3", "10", "30", "100"])
    ax.set_xticks([], minor=True)
    ax.label_outer()
    ax.set_title(title, fontsize="medium")


if __name__ == "__main__":
    results, docs = ROOT / "results", ROOT / "docs"
    found, plan, curves = read_cells(results), read_plan(results), read_curves(results)
    told = tomllib.loads((results / "reasons.toml").read_text("utf-8"))
    page = make_page(found, plan, curves, told["comparison"]["advice"])
    (docs / "comparison.md").write_text(page, "utf-8")
    draw(found, docs / "images")
    draw_curves(curves, TITLES, docs / "images" / "comparison-curves.png")
    write_advice(docs / "how-to" / "which-reduction.md")
