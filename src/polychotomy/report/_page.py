"""The contents of the page: everything the template and the script need, as plain values."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.evaluate import Cell, Row, Summary, rank_digits
from polychotomy.plot import method_colours
from polychotomy.report import _charts as charts
from polychotomy.report._details import chosen_values, details, warning_sentences
from polychotomy.report._findings import Findings, find, sureness
from polychotomy.report._gathered import MEASURES, Gathered, gather, in_words, measured, remarks
from polychotomy.report._questions import (
    Questions,
    asks_problems,
    belongs_to,
    problems_shown,
    questions_of_model,
    questions_of_reduction,
    shorten,
)
from polychotomy.report._recipe import recipe, setting_words
from polychotomy.report._source import Source

_MOST_ROWS = 3000
_MOST_DETAILS = 60
_DARK = (22, 24, 29)
_CONTRAST = 3.5
_VERDICTS = {
    "best": "best",
    "": "not worse",
    "worse": "worse",
    "baseline": "baseline",
    "incomplete": "incomplete",
}


def page_contents(
    cells: Iterable[Cell],
    model: Any,
    title: str | None,
    summary: Summary | None = None,
    source: Source | None = None,
) -> dict[str, Any]:
    """Return the variables of the template."""
    results = gather(cells, summary)
    findings = find(results)
    method, model_remark = _method_shown(model, results)
    focus, questions = _questions(model, results, method)
    colours = method_colours(results.methods)
    return {
        "title": title or _title(results),
        "alone": _alone(results),
        "chosen": findings.chosen.method,
        "chosen_index": results.methods.index(findings.chosen.method),
        "why": _sentence(results.summary.recommendation.why),
        "facts": _facts(results),
        "recipe": recipe(results, findings.chosen.method, source),
        "sureness": sureness(results, findings),
        "remarks": remarks(results),
        "rivals": _rivals(results, findings),
        "groups": _groups(findings),
        "several": results.several,
        "summaries": _summaries(results, findings),
        "methods": [
            {"name": name, "light": light, "dark": on_dark(light)}
            for name, light in zip(results.methods, colours, strict=True)
        ],
        "measures": {name: MEASURES[name].label for name in results.measures},
        "data_sets": results.data_sets,
        "rows": _rows(results),
        "left_out": _too_many(results),
        "shown_method": method,
        "shown_index": results.methods.index(method),
        "model_remark": model_remark,
        "settled": chosen_values(results.cells[focus, method]),
        "warnings": warning_sentences(results.cells[focus, method]),
        "focus": focus,
        "asks_problems": asks_problems(results.reductions[results.methods.index(method)]),
        "problems": questions and problems_shown(questions, results.cells[focus, method]),
        "data": {
            "plots": _plots(results, findings),
            "details": _details(results, method, focus, questions),
        },
        "versions": _versions(results),
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def on_dark(colour: str) -> str:
    """Return a colour that can be seen on the dark page: with as much white as it needs.

    Examples
    --------
    >>> from polychotomy.report._page import on_dark
    >>> on_dark("#000000"), on_dark("#e69f00")
    ('#737373', '#e69f00')
    """
    own = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], dtype=float)
    for white in np.linspace(0, 1, 21):
        mixed = own + white * (255 - own)
        if (_luminance(mixed) + 0.05) / (_luminance(np.array(_DARK)) + 0.05) >= _CONTRAST:
            break
    return "#" + "".join(f"{round(part):02x}" for part in mixed)


def _luminance(rgb: NDArray[np.float64]) -> float:
    """Return the relative luminance of the Web Content Accessibility Guidelines."""
    part = rgb / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _title(results: Gathered) -> str:
    n = len(results.data_sets)
    where = shorten(results.data_sets[0]) if n == 1 else f"{n} data sets"
    return f"Which reduction for {where}?"


def _alone(results: Gathered) -> str | None:
    """Return how good a single method on a single data set is; None where something is compared."""
    if len(results.methods) > 1 or results.several:
        return None
    (row,) = results.summary.overall
    values = [(measure, measured(row, name)) for name, measure in MEASURES.items() if measure.score]
    known = [(measure, value) for measure, value in values if value is not None]
    return ", ".join(f"{m.label.lower()} {value:.{m.digits}f}" for m, value in known)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _plots(results: Gathered, findings: Findings) -> dict[str, Any]:
    plots = {"reliability": charts.reliability_figure(), "reject": charts.reject_figure()}
    if _alone(results) is None:
        order = [row.method for row in results.summary.overall]
        plots["measure"] = charts.measure_figure(results, order)
        plots["cost"] = charts.cost_figure(results)
    if findings.rivals:
        draw = charts.rank_figure if results.several else charts.interval_figure
        plots["sure"] = draw(results, findings)
    return plots


def _method_shown(model: Any, results: Gathered) -> tuple[str, str | None]:
    """Return the method that the model belongs to, else the advised one, and what to remark."""
    advised = results.summary.recommendation.method
    if model is None:
        return advised, None
    known = zip(results.methods, results.reductions, strict=True)
    found = [method for method, reduction in known if belongs_to(model, reduction)]
    if advised in found or _alone(results) is not None:
        return advised, None
    if found:
        return found[0], (
            "This is the method of the model that was given, not the one that is advised above."
        )
    return advised, (
        "The model that was given belongs to none of the methods compared: below are its problems, "
        f"and the test results of {advised}."
    )


def _questions(model: Any, results: Gathered, method: str) -> tuple[str, Questions | None]:
    """Return the data set on which the problems are shown, and these."""
    there = [d for d in results.data_sets if (d, method) in results.cells]
    classes = {d: results.cells[d, method][0].classes for d in there}
    if model is None:
        reduction = results.reductions[results.methods.index(method)]
        return there[0], questions_of_reduction(reduction, classes[there[0]])
    asked = questions_of_model(model)
    if asked is not None:
        for d in there:
            if set(classes[d]) == set(asked.classes):
                return d, asked.ordered(classes[d])
    return there[0], None


def _details(
    results: Gathered, method: str, focus: str, questions: Questions | None
) -> list[dict[str, Any]]:
    there = [d for d in results.data_sets if d != focus and (d, method) in results.cells]
    return [
        details(results.cells[d, method], questions if d == focus else None)
        for d in [focus, *there][:_MOST_DETAILS]
    ]


def _facts(results: Gathered) -> dict[str, str]:
    cells = [found[0] for found in results.cells.values()]
    facts = {"Data": in_words([shorten(d) for d in results.data_sets])}
    if not results.several:
        tested = results.cells[results.data_sets[0], results.summary.recommendation.method]
        n_samples = len(np.unique(np.concatenate([cell.rows for cell in tested])))
        facts |= {"Tested on": f"{n_samples} samples", "Classes": str(len(cells[0].classes))}
    if _alone(results) is None:
        facts["Methods"] = str(len(results.methods))
    facts["Binary learner"] = in_words(sorted({cell.base for cell in cells}))
    for name, label in (("protocol", "Tested by"), ("tuning", "Tuned")):
        told = sorted({str(cell.settings[name]) for cell in cells if name in cell.settings})
        facts |= {label: in_words([setting_words(each) for each in told])} if told else {}
    return facts


def _rivals(results: Gathered, findings: Findings) -> list[dict[str, str]]:
    """Return the rows of the table of tests."""

    def points(value: float) -> str:
        return f"{100 * value:+.2f}".replace("-", "−")

    higher = _times_higher(results, findings.best.method)
    rows = []
    for rival in findings.rivals:
        p = rival.row.pvalue
        row = {"method": rival.row.method, "verdict": _VERDICTS[rival.row.verdict]}
        row["p"] = "—" if p is None else "< 0.0001" if p < 0.0001 else f"{p:#.2g}"
        if rival.interval is not None and rival.mcnemar is not None:
            row["difference"] = points(rival.interval.difference)
            row["interval"] = f"{points(rival.interval.low)} to {points(rival.interval.high)}"
            row["only_it"] = str(rival.mcnemar.only_first_wrong)
            row["only_best"] = str(rival.mcnemar.only_second_wrong)
        else:
            row["higher_on"] = f"{higher[rival.row.method]} of {len(results.data_sets)}"
        rows.append(row)
    return rows


def _times_higher(results: Gathered, best: str) -> Counter[str]:
    """Return on how many data sets the error of each method is higher than that of the best."""
    counts: Counter[str] = Counter()
    for table in results.summary.tables.values():
        errors = {row.method: row.means["error"] for row in table}
        least = errors.get(best, np.inf)
        counts.update(method for method, error in errors.items() if error > least)
    return counts


def _groups(findings: Findings) -> list[str]:
    """Return the groups of methods that do not differ among themselves, by their ranks."""
    if (ranks := findings.ranks) is None:
        return []
    return [in_words([ranks.names[i] for i in group], most=20) for group in ranks.groups]


def _summaries(results: Gathered, findings: Findings) -> dict[str, str]:
    """Return in words what each plot of several methods shows."""
    best, worst = findings.best.method, results.ranked[-1].method
    fastest = min(results.ranked, key=lambda row: row.seconds)
    said = {
        "measure": f"By error, {best} comes first and {worst} last.",
        "cost": f"Left is fast, low is good. {best} is the best, {fastest.method} the fastest "
        f"({fastest.seconds:.2g} s).",
    }
    if findings.ranks is not None:
        said["sure"] = (
            f"{best} has the best average rank, {findings.ranks.ranks.min():.2f}; methods differ "
            f"if their ranks are {findings.ranks.critical_difference:.2f} or more apart (Nemenyi’s "
            "test). Those in the shaded band do not differ from the best; each bar at the right "
            "joins methods that do not differ among themselves."
        )
    elif findings.rivals:
        said["sure"] = (
            "The difference of each method’s error to that of the best, and where it would lie in "
            "90 % of resamples (Rifkin and Klautau; with cross-validation, of a tenth of the "
            "samples, hence wide). Right of the line a method is worse."
        )
    return said


def _too_many(results: Gathered) -> bool:
    return sum(map(len, results.summary.tables.values())) > _MOST_ROWS


def _rows(results: Gathered) -> list[dict[str, Any]]:
    """Return the rows of the table: the means over data sets, if there are several, and each."""
    summary = results.summary
    groups: list[tuple[int, Sequence[Row]]] = [(-1, summary.overall)] if results.several else []
    if not (results.several and _too_many(results)):
        groups += [(results.data_sets.index(d), table) for d, table in summary.tables.items()]
    return [
        {
            "data_set": number,
            "method": results.methods.index(row.method),
            "rank": _written(row.rank, rank_digits(table)),
            "verdict": _VERDICTS[row.verdict],
            "values": {
                name: {
                    **_written(measured(row, name), MEASURES[name].digits),
                    "best": name != "n_problems" and measured(row, name) == leading[name],
                }
                for name in results.measures
            },
        }
        for number, table in groups
        for leading in [{name: _best(name, table) for name in results.measures}]
        for row in table
    ]


def _best(name: str, table: Sequence[Row]) -> float | None:
    """Return the best value of a measure among the methods that are complete."""
    rows = [row for row in table if row.verdict not in ("baseline", "incomplete")]
    values = [value for row in rows if (value := measured(row, name)) is not None]
    better = max if MEASURES[name].higher_is_better else min
    return better(values, default=None)


def _written(value: float | None, digits: int) -> dict[str, str]:
    if value is None:
        return {"text": "—", "value": ""}
    return {"text": f"{value:.{digits}f}", "value": f"{value:.6g}"}


def _versions(results: Gathered) -> list[str]:
    cells = [cell for found in results.cells.values() for cell in found]
    return sorted({f"{name} {v}" for cell in cells for name, v in cell.versions.items()})
