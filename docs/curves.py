"""The learning curves of docs/comparison.md, from results/comparison/curves.csv."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from markdown_table import markdown_table

from polychotomy.plot import method_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONTROL = "one_vs_rest"
SIZES = {"samples": ("n_train", "training samples"), "classes": ("n_classes", "classes")}
REDUCTIONS = (CONTROL, "one_vs_one", "dense_random", "linkage_tree", "native")
INTRODUCTION = """## Learning curves

Errors against the number of training samples and of classes, from
`benchmarks/learning_curves.py` (`results/comparison/curves.csv`), means of {draws} draws.
*Samples*: 1500 other samples are tested. *Classes*: 20 training samples of each of so many classes
drawn at random, and up to 30 others of each are tested. Random codes are drawn anew each time.
Every reduction is tuned once for each data set, on 500 samples or on 13 classes of the first draw.
The first row of each block is the error of one-vs-rest in per cent, the others are differences from
it in points.

![Errors against the number of training samples and of classes](images/comparison-curves.png)"""


def means_of(curves: pd.DataFrame, curve: str) -> pd.DataFrame:
    """Return mean errors in per cent: rows are learner, data set and reduction, columns sizes.

    A size counts once all reductions have the draws of the one with most.
    """
    size = SIZES[curve][0]
    found = curves[curves["curve"] == curve]
    each = found.groupby(["base", "data_set", size, "reduction"])["error"].agg(["mean", "size"])
    draws = each["size"].groupby(["base", "data_set", size]).transform("min")
    most = each["size"].groupby(["base", "data_set"]).transform("max")
    full = each[draws == most]["mean"].mul(100).reset_index()
    return full.pivot_table("mean", ["base", "data_set", "reduction"], size)


def describe_curves(curves: pd.DataFrame, titles: dict[str, str]) -> Iterator[str]:
    """Yield the parts of the section, if there are curves; titles are of learners."""
    if curves.empty:
        return
    yield INTRODUCTION.format(draws=curves["draw"].nunique())
    for curve, (_, words) in SIZES.items():
        table = means_of(curves, curve)
        rows = [
            [titles[base], data_set, *row]
            for base, data_set in dict.fromkeys((base, data) for base, data, _ in table.index)
            for row in _block(table.loc[base, data_set])
        ]
        yield markdown_table(["learner", "data", words, *map(str, table)], rows, n_words=3)


def _block(errors: pd.DataFrame) -> Iterator[list[str]]:
    """Yield the error of one-vs-rest, and the differences of the others from it."""
    yield [CONTROL, *("" if pd.isna(e) else f"{e:.1f}" for e in errors.loc[CONTROL])]
    for name in REDUCTIONS[1:]:
        if name in errors.index:
            difference = errors.loc[name] - errors.loc[CONTROL]
            yield [name, *map(_signed, difference)]


def _signed(value: float) -> str:
    """Return a difference with its sign, or nothing where there is none; no minus of zero."""
    return "" if pd.isna(value) else f"{round(value, 1) + 0.0:+.1f}".replace("-", "−")


def draw_curves(curves: pd.DataFrame, titles: dict[str, str], path: Path) -> None:
    """Draw the curves: a row for each learner, a column for each kind and data set."""
    from matplotlib import pyplot as plt

    bases = [base for base in titles if base in set(curves["base"])]
    kinds = list(dict.fromkeys(zip(curves["curve"], curves["data_set"], strict=True)))
    kinds.sort(key=lambda kind: list(SIZES).index(kind[0]))
    shape = (3.1 * len(kinds), 2.6 * len(bases) + 0.4)
    figure, axes = plt.subplots(
        len(bases), len(kinds), figsize=shape, squeeze=False, layout="constrained"
    )
    lines = {}
    for base, row in zip(bases, axes, strict=True):
        for (curve, data_set), ax in zip(kinds, row, strict=True):
            table = means_of(curves, curve)
            if (base, data_set) not in table.index:
                ax.axis("off")
                continue
            lines |= _draw(ax, table.loc[base, data_set])
            ax.set(xlabel=SIZES[curve][1], ylabel="error (%)")
            ax.set_title(f"{titles[base]}, {data_set}", fontsize="medium")
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=len(lines))
    figure.savefig(path, dpi=100)
    plt.close(figure)


def _draw(ax: "Axes", errors: pd.DataFrame) -> dict[str, object]:
    """Draw the errors of each reduction, and return the lines."""
    lines = {}
    for name, colour in zip(REDUCTIONS, method_colours(REDUCTIONS), strict=True):
        if name in errors.index:
            each = errors.loc[name].dropna()
            (lines[name],) = ax.plot(each.index, each, "o-", color=colour, markersize=3)
    ax.set(xscale="log", yscale="log")
    sizes = errors.dropna(axis="columns", how="all").columns
    ax.set_xticks(sizes, map(str, sizes), fontsize="small")
    ax.minorticks_off()
    low, high = ax.get_ylim()
    ticks = [t for t in (0.5, 1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 70) if low <= t <= high]
    ax.set_yticks(ticks, map(str, ticks))
    return lines
