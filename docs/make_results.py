"""Writes docs/results.md from the files in results/: ``make results``.

For each experiment, ``results/NAME.csv`` and ``results/NAME.environment.json`` are what
``polychotomy reproduce NAME --out results/NAME.csv`` wrote. ``results/reasons.toml`` has what a
program cannot know: likely reasons for disagreements, and verdicts on conclusions.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from math import isfinite
from pathlib import Path
from typing import Any

from markdown_table import markdown_table
from scipy.stats import binomtest

from polychotomy.assess import average_ranks, iman_davenport
from polychotomy.lab import experiments, published
from polychotomy.lab.experiments import (
    Comparison,
    Experiment,
    Figure,
    compare_tables,
    is_derived,
    measure_agreement,
    quantity_label,
    read_figures,
    write_value,
)

ROOT = Path(__file__).parent.parent
INTRODUCTION = """# The papers' experiments again

This page is made by `make results` from the files in `results/`; only reasons and verdicts are
written by hand. `polychotomy reproduce NAME --out results/NAME.csv` runs an experiment again, and
`polychotomy reproduce list` lists all of them. Questions that the papers leave open are answered
[on pages of their own](questions/index.md).

A figure agrees if it lies within the spread that the paper gives. Where the paper gives none, the
published figure must lie within our 95 % bootstrap interval; the ends of a published interval
agree if our difference lies between them. Our intervals come from the test samples: on a fixed test
part they do not include how much another training part would change. Random codes are one draw
each, or ten in allwein-3 where there are fewer than 1000 samples: then the mean is shown, and the
interval is that of a single draw. Times are not judged, nor are experiments of which only some
folds were run. In the tables, our figure comes first and the published one follows in parentheses;
✗ marks disagreement, \\* an experiment of which not all folds were run.

Agreement needs a control, since most figures of a data set are alike. *Shuffled* is how many would
agree on average if the published figures of each data set and quantity were shuffled among the
methods, and *p* how often shuffling gives at least as many as agree. *Order* is Spearman's rank
correlation of our figures and theirs over the methods, averaged over data sets and quantities;
*methods* is that of their average ranks. Figures that follow from others of the paper (average
ranks, total errors, intervals of differences) are shown, but not counted.

What the counts show: in Mills' and in Tax and Duin's tables the methods behave here as they do
there. In those of Allwein, Schapire and Singer the data sets do, and with AdaBoost the methods do
in part; with SVMs the order of the methods is hardly theirs. In both papers on a single binary
classifier the agreement is about what shuffling gives, so that it says nothing for or against the
order of methods that they find. [Which conclusions hold](#which-conclusions-hold) is the last
section.

![The published figures against ours, a plot for each paper and quantity; most points are near the
line of equal values](images/results.png)"""
PAPERS = {
    "allwein": "Allwein, Schapire and Singer",
    "sbc": "El-Yaniv, Kotek, Pechyony and Yom-Tov",
    "sbckernel": "El-Yaniv, Pechyony and Yom-Tov",
    "mills": "Mills",
    "tax-duin": "Tax and Duin",
}
FEWEST_POINTS = 5  # of a quantity that gets a plot of its own

FinishedCells = dict[str, list[Figure]]


def make_page(folder: Path) -> str:
    """Return the page as it follows from the files in a folder."""
    known = [experiments.get(name) for name in experiments.names()]
    results = {
        each.name: read_figures(folder / f"{each.name}.csv")
        for each in known
        if (folder / f"{each.name}.csv").exists()
    }
    told = tomllib.loads((folder / "reasons.toml").read_text("utf-8"))
    parts = [INTRODUCTION, _overview(known, results)]
    for each in known:
        if each.name in results:
            environment = json.loads((folder / f"{each.name}.environment.json").read_text("utf-8"))
            reasons = told.get("disagreement", [])
            parts += _experiment(each, results[each.name], environment, reasons)
    parts += ["## Which conclusions hold"]
    parts += [_conclusion(each, results) for each in told.get("conclusion", [])]
    return "\n\n".join(filter(None, parts)) + "\n"


def _expected(experiment: Experiment) -> list[published.PublishedCell]:
    """Return the published figures that the experiment could give."""
    return [
        cell
        for name in experiment.tables
        for cell in published.table(name).cells
        if cell.quantity in experiment.quantities
        and cell.data_set in (*experiment.data_sets, "all")
        and isfinite(cell.value)
    ]


def _overview(known: Sequence[Experiment], results: FinishedCells) -> str:
    rows = []
    for each in known:
        figures = results.get(each.name, [])
        n, total = len(_found(figures)), len(_expected(each))
        run = f"{n} of {total}" if total else str(len(figures))
        rows.append([each.name, each.title, run, *_agreement(figures), f"{each.hours:g}"])
    agreement = ["agree", "shuffled", "p", "order", "methods"]
    heads = ["experiment", "what it shows", "figures run", *agreement, "hours for all"]
    return markdown_table(heads, rows, n_words=2)


def _agreement(figures: Sequence[Figure]) -> list[str]:
    """Return the count of an experiment with its control, as cells of a row."""
    found = measure_agreement(figures)
    if not found.n_judged:
        return ["–"] * 5
    said = f"{found.n_agreeing} of {found.n_judged} ({found.n_agreeing / found.n_judged:.0%})"
    shuffled = f"{found.shuffled:.1f} ({found.shuffled / found.n_judged:.0%})"
    correlations = (
        f"{value:.2f}".replace("-", "−") if isfinite(value) else "–"
        for value in (found.correlation, found.rank_correlation)
    )
    return [said, shuffled, f"{found.pvalue:.2g}", *correlations]


def _found(figures: Iterable[Figure]) -> set[tuple[str, ...]]:
    """Return which published figures there are."""
    return {_place(figure) for figure in figures if isfinite(figure.theirs)}


def _place(what: Figure | published.PublishedCell) -> tuple[str, ...]:
    return what.paper, what.table, what.data_set, what.method, what.quantity


def _experiment(
    experiment: Experiment,
    figures: list[Figure],
    environment: dict[str, Any],
    reasons: list[dict[str, str]],
) -> Iterator[str]:
    yield f"## {experiment.name}: {experiment.title}"
    yield _about_run(environment)
    for table in compare_tables(figures):
        yield f"### {table.name}: {table.title}"
        yield table.words
        for quantity in table.quantities:
            yield _matrix(table, quantity)
        yield from table.rank_words
    yield _disagreements(experiment, figures, reasons)
    yield _not_run(experiment, figures)
    choices = "\n".join(f"- {choice}" for choice in experiment.choices)
    yield f"What the paper leaves open, and what was taken:\n\n{choices}" if choices else ""


def _about_run(environment: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {v}" for name, v in environment["versions"].items())
    hours = environment["cpu_seconds_without_tuning"] / 3600
    return (
        f"Run on {environment['date']} with seed {environment['options']['seed']}: "
        f"{environment['cells']} cells, {environment['failures']} failed, {hours:.2g} CPU hours of "
        f"training and predicting, without the tuning, on {environment['cores']} cores "
        f"({environment['machine']}); Python {environment['python']}, {versions}. "
        f"{environment.get('note', '')}"
    ).strip()


def _matrix(table: Comparison, quantity: str) -> str:
    """Return the figures of a quantity; of data sets and methods, the fewer are columns."""
    cells = {(f.data_set, f.method): _both(f) for f in table.figures if f.quantity == quantity}
    data_sets = list(dict.fromkeys(data_set for data_set, _ in cells))
    methods = list(dict.fromkeys(method for _, method in cells))
    label = quantity_label(quantity)
    if len(methods) <= len(data_sets):
        rows = [[d, *(cells.get((d, m), "") for m in methods)] for d in data_sets]
        return markdown_table([label, *methods], rows)
    rows = [[m, *(cells.get((d, m), "") for d in data_sets)] for m in methods]
    return markdown_table([label, *data_sets], rows)


def _both(figure: Figure) -> str:
    text = write_value(figure.ours, figure.quantity)
    if isfinite(figure.theirs):
        text += f" ({write_value(figure.theirs, figure.quantity)})"
    if not figure.complete:
        text += " \\*"
    return text + " ✗" * (figure.agrees is False)


def _disagreements(
    experiment: Experiment, figures: Iterable[Figure], reasons: list[dict[str, str]]
) -> str:
    """Return what disagrees, by its likely reason."""
    found: dict[str, list[Figure]] = {}
    for figure in figures:
        if figure.agrees is False:
            reason = next((_told(r) for r in reasons if _fits(r, experiment, figure)), "")
            found.setdefault(reason, []).append(figure)
    if not found:
        return ""
    lines = [
        f"- {_names(some)}: {reason or '**unexplained.**'}"
        for reason, some in sorted(found.items(), key=lambda item: item[0] == "")
    ]
    return "Where they do not agree, and the reason as far as it was found:\n\n" + "\n".join(lines)


def _told(reason: dict[str, str]) -> str:
    """Return a reason with the program that tests it."""
    return reason["reason"] + _tested(reason)


def _tested(told: dict[str, Any]) -> str:
    """Return where a reason or a verdict is tested by a program, and its output; or nothing."""
    if "program" not in told:
        return ""
    output = f"../results/reasons/{Path(told['program']).stem}.txt"
    return f" ([tested](../benchmarks/reasons/{told['program']}), [output]({output}))"


def _fits(reason: dict[str, str], experiment: Experiment, figure: Figure) -> bool:
    """Return whether all patterns of a reason match; those not given match everything."""
    given = {
        "experiment": experiment.name,
        "table": figure.table,
        "data_set": figure.data_set,
        "method": figure.method,
        "quantity": figure.quantity,
    }
    return all(fnmatchcase(value, reason.get(name, "*")) for name, value in given.items())


def _names(figures: Iterable[Figure]) -> str:
    by_data_set: dict[str, list[str]] = {}
    for figure in figures:
        by_data_set.setdefault(figure.data_set, []).append(figure.method)
    return "; ".join(
        f"{data_set} ({', '.join(dict.fromkeys(methods))})"
        for data_set, methods in by_data_set.items()
    )


def _not_run(experiment: Experiment, figures: Iterable[Figure]) -> str:
    found = _found(figures)
    missing = [cell for cell in _expected(experiment) if _place(cell) not in found]
    if not missing:
        return ""
    data_sets = ", ".join(dict.fromkeys(cell.data_set for cell in missing))
    return (
        f"Not run: {len(missing)} of {len(_expected(experiment))} figures ({data_sets}). The whole "
        f"experiment takes about {experiment.hours:g} hours on two cores."
    )


def _conclusion(told: dict[str, Any], results: FinishedCells) -> str:
    """Return a conclusion of a paper, what the figures say of it, and the verdict."""
    name = experiments.get(told["experiment"]).name
    where, without = told.get("data_set", "*"), told.get("without", [])
    figures = [
        f
        for f in results.get(name, [])
        if f.complete and fnmatchcase(f.data_set, where) and f.data_set not in without
    ]
    said = [_evidence(told, figures, whose) for whose in ("ours", "theirs")]
    verdict = told.get("verdict") or ("**not judged.**" if any(said) else "**not run.**")
    verdict += _tested(told)
    return "\n".join(
        [
            f"- {told['claim']} ({name}).",
            *(f"  - {sentence}" for sentence in said if sentence),
            f"  - Verdict: {verdict}",
        ]
    )


def _evidence(told: dict[str, Any], figures: Sequence[Figure], whose: str) -> str:
    """Return what our figures, or theirs for the same, say of a conclusion; "" if nothing.

    Nothing if a program tests it on its own figures.
    """
    if "program" in told:
        return ""
    quantity = told.get("quantity", "error_percent")
    values = _values(figures, quantity, whose)
    if "ranks" in told:
        return _ranks(values, told["ranks"], whose)
    if "value" in told:
        found = [v for (_, method), v in values.items() if method == told["value"]]
        return f"{whose.capitalize()}: {write_value(found[0], quantity)}." if found else ""
    others = _values(figures, told.get("second_quantity", quantity), whose)
    names = zip(_several(told["first"]), _several(told["second"]), strict=True)
    pairs, differences = list(names), {}
    for d in dict.fromkeys(data_set for data_set, _ in values):
        found = [
            round(values[d, a] - others[d, b], 6)
            for a, b in pairs
            if (d, a) in values and (d, b) in others
        ]
        if found:
            differences[d] = found
    return _pair(differences, quantity, whose) if differences else ""


def _values(figures: Iterable[Figure], quantity: str, whose: str) -> dict[tuple[str, str], float]:
    """Return the values of a quantity for which there is one of ours."""
    return {
        (f.data_set, f.method): getattr(f, whose)
        for f in figures
        if f.quantity == quantity and isfinite(f.ours) and isfinite(getattr(f, whose))
    }


def _several(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def _ranks(values: dict[tuple[str, str], float], methods: list[str], whose: str) -> str:
    """Return the average ranks over the data sets on which all methods were run."""
    data_sets = dict.fromkeys(data_set for data_set, _ in values)
    full = [d for d in data_sets if all((d, m) in values for m in methods)]
    if not full:
        return ""
    table = [[round(values[d, m], 2) for m in methods] for d in full]
    told = ", ".join(f"{m} {r:.2f}" for m, r in zip(methods, average_ranks(table), strict=True))
    if len(full) == 1:
        return f"{whose.capitalize()}: ranks on {full[0]}: {told}."
    p = iman_davenport(table).pvalue
    return (
        f"{whose.capitalize()}: average ranks over {len(full)} data sets: {told} "
        f"(Iman and Davenport, p = {p:.2g})."
    )


def _pair(by_data_set: dict[str, list[float]], quantity: str, whose: str) -> str:
    """Return how often, and by how much, one method is below another, with a sign test.

    The test is of the mean differences of the data sets: pairs of methods on one data set are no
    independent cases.
    """
    differences = [x for some in by_data_set.values() for x in some]
    below, above = sum(x < 0 for x in differences), sum(x > 0 for x in differences)
    means = [round(sum(some) / len(some), 6) for some in by_data_set.values()]
    lower, higher = sum(x < 0 for x in means), sum(x > 0 for x in means)
    p = binomtest(lower, lower + higher).pvalue if lower + higher else 1.0
    mean = write_value(sum(differences) / len(differences), quantity, sign=True)
    return (
        f"{whose.capitalize()}: lower in {below}, higher in {above} of {len(differences)} cases, "
        f"on average by {mean}; lower on {lower}, higher on {higher} of {len(means)} data sets "
        f"(sign test p = {p:.2g})."
    )


def draw_plots(folder: Path, images: Path) -> None:
    """Draw our figures against the published ones, a plot for each paper and quantity."""
    from matplotlib import pyplot as plt

    plots = {}
    for paper, title in PAPERS.items():
        figures = [f for f in _figures_of(paper, folder) if f.agrees is not None and f.ours > 0]
        for quantity, n in Counter(f.quantity for f in figures).items():
            if n >= FEWEST_POINTS:
                some = [f for f in figures if f.quantity == quantity]
                plots[f"{title}\n{quantity_label(quantity)}"] = some
    picture, axes = plt.subplots(-(-len(plots) // 4), 4, figsize=(13, 7), layout="constrained")
    for ax in axes.flat[len(plots) :]:
        ax.remove()
    for ax, (title, figures) in zip(axes.flat, plots.items(), strict=False):
        _scatter(ax, figures)
        ax.set(xlabel="published", ylabel="ours")
        ax.set_title(title, fontsize=9)
    picture.savefig(images / "results.png", dpi=100)
    plt.close()


def _figures_of(paper: str, folder: Path) -> list[Figure]:
    """Return what the paper prints of errors, rejects and scores; no variant, nothing derived."""
    names = [n for n in experiments.names() if experiments.get(n).paper == paper]
    paths = [folder / f"{n}.csv" for n in names if not n.endswith("-index")]
    figures = [f for path in paths if path.exists() for f in read_figures(path)]
    return [f for f in figures if not is_derived(f) and isfinite(f.theirs) and f.theirs > 0]


def _scatter(ax: Any, figures: Sequence[Figure]) -> None:
    """Draw a point for each figure, on logarithmic axes, and the line of equal values."""
    ax.axline((1, 1), slope=1, color="0.7", linewidth=1, zorder=0)
    for agrees, colour, label in ((True, "#0072b2", "agree"), (False, "#d55e00", "do not")):
        some = [f for f in figures if f.agrees is agrees]
        values = [f.theirs for f in some], [f.ours for f in some]
        ax.scatter(*values, s=9, color=colour, label=f"{len(some)} {label}")
    values = [value for f in figures for value in (f.theirs, f.ours)]
    limits = min(values) / 1.3, max(values) * 1.3
    ax.set(xscale="log", yscale="log", aspect="equal", xlim=limits, ylim=limits)
    ticks = [t for t in (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100) if limits[0] <= t <= limits[1]]
    ax.set(xticks=ticks, xticklabels=ticks, yticks=ticks, yticklabels=ticks)
    ax.minorticks_off()
    ax.legend(fontsize=8)


if __name__ == "__main__":
    draw_plots(ROOT / "results", ROOT / "docs" / "images")
    (ROOT / "docs" / "results.md").write_text(make_page(ROOT / "results"), "utf-8")
