"""What stands on the page: everything the template and the script need, as plain values."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from polychotomy.assess import average_ranks
from polychotomy.plot._palette import method_colours
from polychotomy.report import _figures as figures
from polychotomy.report._details import chosen_values, details, shorten
from polychotomy.report._findings import Findings, find, verdicts
from polychotomy.report._problems import (
    Questions,
    problems_shown,
    questions_of_model,
    questions_of_reduction,
    reduction_names,
)
from polychotomy.report._results import MEASURES, Array, Results, gather, in_words, remarks
from polychotomy.report._sentences import p_value, rival_in_words, seconds, sureness, why

if TYPE_CHECKING:
    from polychotomy.lab import Cell

_MOST_ROWS = 3000
_MOST_DETAILS = 60
_DARK = (22, 24, 29)
_CONTRAST = 3.5
_VERDICTS = {"best": "best", "level": "not worse", "worse": "worse", "": "—"}


def page_contents(cells: "Iterable[Cell]", model: Any, title: str | None) -> dict[str, Any]:
    """Return the variables of the template."""
    results = gather(cells)
    findings = find(results)
    method, model_remark = _method_shown(model, results, findings)
    focus, questions = _questions(model, results, findings, method)
    shown = _details(results, method, focus, questions)
    several = len(findings.data_sets) > 1
    order = [results.methods[m] for m in _by_score(findings)]
    colours = method_colours(results.methods)
    plots: dict[str, Any] = {
        "measure": figures.measure_figure(results, order),
        "cost": figures.cost_figure(results, findings),
        "reliability": figures.reliability_figure(),
        "reject": figures.reject_figure(),
    }
    if findings.rivals:
        draw = figures.rank_figure if several else figures.interval_figure
        plots["sure"] = draw(results, findings)
    return {
        "title": title or _title(results),
        "chosen": results.methods[findings.chosen],
        "chosen_index": findings.chosen,
        "why": why(results, findings),
        "facts": _facts(results, findings),
        "recipe": _recipe(results.reductions[findings.chosen]),
        "sureness": sureness(results, findings),
        "remarks": remarks(results),
        "rivals": _rivals(results, findings),
        "groups": _groups(findings),
        "several": several,
        "summaries": _summaries(results, findings),
        "methods": [
            {"name": name, "light": light, "dark": on_dark(light)}
            for name, light in zip(results.methods, colours, strict=True)
        ],
        "measures": {name: MEASURES[name].label for name in results.means},
        "data_sets": results.data_sets,
        "rows": _rows(results, findings),
        "left_out": _too_many(results),
        "shown_method": results.methods[method],
        "shown_index": method,
        "model_remark": model_remark,
        "settled": chosen_values(results.of(focus, results.methods[method])),
        "focus": focus,
        "problems": None
        if questions is None
        else problems_shown(questions, results.of(focus, results.methods[method])),
        "data": {"plots": plots, "details": shown},
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


def _luminance(rgb: Array) -> float:
    """Return the relative luminance of the Web Content Accessibility Guidelines."""
    part = rgb / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _title(results: Results) -> str:
    n = len(results.data_sets)
    where = shorten(results.data_sets[0]) if n == 1 else f"{n} data sets"
    return f"Which reduction for {where}?"


def _by_score(findings: Findings) -> list[int]:
    """Return the methods compared, the best first, then those left out."""
    compared = [findings.best, *(rival.method for rival in findings.rivals)]
    return compared + [m for m in range(len(findings.seconds)) if m not in compared]


def _method_shown(model: Any, results: Results, findings: Findings) -> tuple[int, str | None]:
    """Return the method that the model belongs to, else the chosen one, and what to remark."""
    if model is None:
        return findings.chosen, None
    names = reduction_names(model)
    found = [m for m in findings.methods if results.reductions[m] in names]
    if findings.chosen in found:
        return findings.chosen, None
    if found:
        return found[0], (
            "This is the method of the model that was given, not the one that is advised above."
        )
    return findings.chosen, (
        "The model that was given belongs to none of the methods compared: below are its problems, "
        f"and the test results of {results.methods[findings.chosen]}."
    )


def _questions(
    model: Any, results: Results, findings: Findings, method: int
) -> tuple[str, Questions | None]:
    """Return the data set on which the problems are shown, and these."""
    there = [d for d in results.data_sets if results.of(d, results.methods[method])]
    classes = {d: results.of(d, results.methods[method])[0].classes for d in there}
    asked = None if model is None else questions_of_model(model)
    if asked is not None:
        for d in there:
            if set(classes[d]) == set(asked.classes):
                return d, asked.ordered(classes[d])
    focus = results.data_sets[findings.data_sets[0]]
    if model is not None:
        return focus, None
    return focus, questions_of_reduction(results.reductions[method], classes[focus])


def _details(
    results: Results, method: int, focus: str, questions: Questions | None
) -> list[dict[str, Any]]:
    name = results.methods[method]
    there = [d for d in results.data_sets if d != focus and results.of(d, name)]
    return [
        details(results.of(d, name), questions if d == focus else None)
        for d in [focus, *there][:_MOST_DETAILS]
    ]


def _facts(results: Results, findings: Findings) -> dict[str, str]:
    cells = [
        cell for d in results.data_sets for m in results.methods for cell in results.of(d, m)[:1]
    ]
    first = results.of(results.data_sets[findings.data_sets[0]], results.methods[findings.best])
    n_samples = len(np.unique(np.concatenate([cell.rows for cell in first])))
    several = len(results.data_sets) > 1
    protocols = sorted({str(cell.settings.get("protocol", "not told")) for cell in cells})
    tunings = sorted({str(cell.settings.get("tuning", "not told")) for cell in cells})
    return {
        "Data": in_words([shorten(d) for d in results.data_sets]),
        **({} if several else {"Tested on": f"{n_samples} samples"}),
        **({} if several else {"Classes": str(len(first[0].classes))}),
        "Methods": str(len(results.methods)),
        "Binary learner": in_words(sorted({cell.base for cell in cells})),
        "Protocol": in_words(protocols),
        "Tuning": in_words(tunings),
    }


def _recipe(reduction: str) -> str | None:
    from polychotomy.choose import Reduction

    try:
        Reduction.of(reduction)
    except (ValueError, TypeError):
        return None
    return (
        "from polychotomy.choose import Reduction\n\n"
        f"classifier = Reduction.of({reduction!r}).make(estimator).fit(X, y)"
    )


def _rivals(results: Results, findings: Findings) -> list[dict[str, str]]:
    def points(value: float) -> str:
        return f"{100 * value:+.2f}".replace("-", "−")

    rows = []
    for rival in findings.rivals:
        row = {"method": results.methods[rival.method], "samples": rival_in_words(rival)}
        row["p"] = p_value(rival.pvalue).removeprefix("= ")
        row["verdict"] = "worse" if rival.worse else "not worse"
        if rival.interval is not None:
            row["difference"] = points(rival.interval.difference)
            row["interval"] = f"{points(rival.interval.low)} to {points(rival.interval.high)}"
        if rival.rank_pvalue is not None:
            row["rank_p"] = p_value(rival.rank_pvalue).removeprefix("= ")
        rows.append(row)
    return rows


def _groups(findings: Findings) -> list[str]:
    """Return the groups of methods that do not differ among themselves, by their ranks."""
    if (ranks := findings.ranks) is None:
        return []
    return [in_words([ranks.names[i] for i in group], most=20) for group in ranks.groups]


def _summaries(results: Results, findings: Findings) -> dict[str, str]:
    """Return in words what each plot of several methods shows."""
    best = results.methods[findings.best]
    quickest = min(findings.methods, key=lambda m: float(findings.seconds[m]))
    fastest, time = results.methods[quickest], seconds(float(findings.seconds[quickest]))
    worst = results.methods[_by_score(findings)[len(findings.methods) - 1]]
    said = {
        "measure": f"By error, {best} comes first and {worst} last.",
        "cost": f"Left is fast, low is good. {best} is the best, {fastest} the fastest ({time}).",
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


def _too_many(results: Results) -> bool:
    return len(results.data_sets) * len(results.methods) > _MOST_ROWS


def _rows(results: Results, findings: Findings) -> list[dict[str, Any]]:
    """Return the rows of the table: the means over data sets, if there are several, and each."""
    rows: list[dict[str, Any]] = []
    chosen, several = findings.methods, len(results.data_sets) > 1
    if several:
        means = {name: np.full(len(results.methods), np.nan) for name in results.means}
        for name, table in results.means.items():
            means[name][chosen] = table[np.ix_(findings.data_sets, chosen)].mean(axis=0)
        ranks = np.full(len(results.methods), np.nan)
        ranks[chosen] = findings.score if findings.ranks is not None else np.nan
        said = {findings.best: "best"}
        said |= {r.method: "worse" if r.worse else "level" for r in findings.rivals}
        rows += _group(-1, means, ranks, said, _by_score(findings))
    if several and _too_many(results):
        return rows
    for d in range(len(results.data_sets)):
        means = {name: table[d] for name, table in results.means.items()}
        there = ~np.isnan(means["error"])
        ranks = np.full(len(results.methods), np.nan)
        ranks[there] = average_ranks([means["error"][there]]) if there.sum() > 1 else 1.0
        order = [m for m in np.argsort(ranks, kind="stable").tolist() if there[m]]
        rows += _group(d, means, ranks, verdicts(results, d), order)
    return rows


def _group(
    data_set: int, means: dict[str, Array], ranks: Array, said: dict[int, str], order: Sequence[int]
) -> list[dict[str, Any]]:
    leading: dict[str, Array] = {}
    for name, values in means.items():
        sign = -1 if MEASURES[name].higher_is_better else 1
        leading[name] = sign * values == np.fmin.reduce(sign * values)
    return [
        {
            "data_set": data_set,
            "method": m,
            "rank": _written(ranks[m], 2),
            "verdict": _VERDICTS[said.get(m, "")],
            "values": {
                name: {
                    **_written(MEASURES[name].scale * values[m], MEASURES[name].digits),
                    "best": bool(leading[name][m]) and name != "n_problems",
                }
                for name, values in means.items()
            },
        }
        for m in order
    ]


def _written(value: float, digits: int) -> dict[str, Any]:
    if np.isnan(value):
        return {"text": "—", "value": ""}
    return {"text": f"{value:.{digits}f}", "value": f"{value:.6g}"}


def _versions(results: Results) -> list[str]:
    found = {
        f"{name} {version}"
        for cells in results.cells.values()
        for cell in cells.values()
        for name, version in cell.versions.items()
    }
    return sorted(found)
