"""The plots of the report, as specifications of Vega-Lite: plain dictionaries.

Vega-Lite draws SVG in the browser, whose marks have labels for screen readers, with a script of
0.9 MB (Plotly's has 4.8 MB; Bokeh draws on a canvas, which screen readers cannot see). Colours are
the variables ``--m0``, ``--m1``, … of the page's style, so that plots follow it from
light to dark and into print. Every specification has the parameter ``method``, the one that the
reader selected.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from polychotomy.report._findings import Findings
from polychotomy.report._gathered import Gathered, measured

Spec = dict[str, Any]

_ROW = 24
_MOST_POINTS = 3000
_MOST_LABELS = 12
_SHORTEST_TIME = 1e-4  # a logarithmic axis has no place for 0

_DIMMED: Spec = {
    "condition": {"test": "method === null || datum.method === method", "value": 1},
    "value": 0.12,
}


def interval_figure(results: Gathered, findings: Findings) -> Spec:
    """Return the plot of each method's error minus the best's, with its interval, in points."""
    values: list[dict[str, Any]] = [
        {"method": findings.best.method, "low": 0, "high": 0, "difference": 0}
    ]
    for rival in findings.rivals:
        assert rival.interval is not None
        ends = {name: getattr(rival.interval, name) for name in ("low", "high", "difference")}
        row = {name: 100 * value for name, value in ends.items()}
        values.append({"method": rival.row.method, **row})
    order = [row["method"] for row in values]
    y = _row(order)
    shown = [_told("method", "Method"), _told("difference", "Difference", ".2f")]
    shown += [_told("low", "From", ".2f"), _told("high", "To", ".2f")]
    title = "Error minus that of the best, in points"
    common = {"color": _colour(results.methods), "opacity": _DIMMED, "tooltip": shown}
    return _spec(
        values,
        [
            {"mark": {"type": "rule", "strokeDash": [3, 3], "color": "var(--line)"}}
            | {"data": {"values": [{"zero": 0}]}, "encoding": {"x": _number("zero", title)}},
            {
                "mark": {"type": "rule", "strokeWidth": 3},
                "encoding": {"y": y, "x": _number("low", title), "x2": {"field": "high"}, **common},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                "encoding": {"y": y, "x": _number("difference", title), **common},
            },
        ],
        n_rows=len(order),
    )


def rank_figure(results: Gathered, findings: Findings) -> Spec:
    """Return the critical-difference diagram, with a row for each method.

    The band reaches from the best rank as far as the critical difference; the bars at the right
    join methods that do not differ.
    """
    test = findings.ranks
    assert test is not None
    order = [test.names[i] for i in np.argsort(test.ranks, kind="stable")]
    values = [{"method": m, "rank": r} for m, r in zip(test.names, test.ranks, strict=True)]
    best, k = float(test.ranks.min()), len(order)
    bars: list[dict[str, Any]] = [
        {
            "first": test.names[group[0]],
            "last": test.names[group[-1]],
            "place": k + 0.02 * k * (1 + level),
        }
        for level, group in enumerate(test.groups)
    ]
    y = _row(order)
    # The bars stand beyond the last rank; with few data sets the band may reach there, too.
    end = max([k, *(bar["place"] for bar in bars)])
    x = _number("rank", "Average rank") | {
        "scale": {"domain": [1, end], "zero": False, "nice": False},
        "axis": {"values": list(range(1, k + 1, -(-k // 12))), "labelSeparation": 8},
    }
    band = {"from": best, "to": min(best + test.critical_difference, end)}
    return _spec(
        values,
        [
            {
                "data": {"values": [band]},
                "mark": {"type": "rect", "color": "var(--band)"},
                "encoding": {"x": x | {"field": "from"}, "x2": {"field": "to"}},
            },
            {
                "data": {"values": bars},
                "mark": {"type": "rule", "strokeWidth": 4, "color": "var(--ink)"},
                "encoding": {
                    "x": x | {"field": "place"},
                    "y": y | {"field": "first", "bandPosition": 0.1},
                    "y2": {"field": "last", "bandPosition": 0.9},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
                "encoding": {
                    "y": y,
                    "x": x,
                    "color": _colour(results.methods),
                    "opacity": _DIMMED,
                    "tooltip": [_told("method", "Method"), _told("rank", "Average rank", ".2f")],
                },
            },
        ],
        n_rows=k,
    )


def measure_figure(results: Gathered, order: Sequence[str]) -> Spec:
    """Return the plot of one measure, chosen by the parameter ``measure``.

    A point for each fold or, with several data sets, for each of these, and a line for the mean.
    """
    names = results.measures
    values = _data_sets(results, names) if results.several else _folds(results, names)
    y = _row(order)
    x = _number("value", None) | {"scale": {"zero": False}}
    common = {"color": _colour(results.methods), "opacity": _DIMMED}
    shown = [_told("method", "Method"), _told("where", "Where"), _told("value", "Value", ".4~g")]
    mean = {"field": "value", "aggregate": "mean"}
    told = _told("value", "Mean", ".4~g") | mean
    spec = _spec(
        values,
        [
            {
                "mark": {"type": "point", "size": 36},
                "encoding": {"y": y, "x": x | {"field": "value"}, **common, "tooltip": shown},
            },
            {
                "mark": {"type": "tick", "thickness": 4, "size": 18},
                "encoding": {"y": y, "x": x | mean, **common, "tooltip": [shown[0], told]},
            },
        ],
        n_rows=len(order),
    )
    spec["params"].append({"name": "measure", "value": names[0]})
    spec["transform"] = [
        {"calculate": "datum[measure]", "as": "value"},
        {"filter": "isValid(datum.value)"},
    ]
    return spec


def cost_figure(results: Gathered) -> Spec:
    """Return the plot of the error, or the average rank, against the time."""
    title = "Average rank" if results.several else "Error (%)"
    values = [
        {
            "method": row.method,
            "seconds": max(row.seconds, _SHORTEST_TIME),
            "score": row.rank if results.several else measured(row, "error"),
        }
        for row in results.ranked
    ]
    encoding = {
        "x": _number("seconds", "Time to train and predict, a fold (s)")
        | {"scale": {"type": "log"}},
        "y": _number("score", title) | {"scale": {"zero": False}},
        "color": _colour(results.methods),
        "opacity": _DIMMED,
        "tooltip": [
            _told("method", "Method"),
            _told("score", title, ".2f"),
            _told("seconds", "Seconds", ".3~g"),
        ],
    }
    points = {
        "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
        "encoding": encoding,
    }
    name = {"type": "text", "align": "left", "dx": 8, "limit": 140}
    labels = {"mark": name, "encoding": encoding | {"text": {"field": "method"}}}
    layers = [points, labels] if len(values) <= _MOST_LABELS else [points]
    return _spec(values, layers)


def reliability_figure() -> Spec:
    """Return the plot of how often the winning class is right; the data ``points`` are to come."""
    shown = [_told("predicted", "Probability given", ".3f")]
    shown += [_told("observed", "Came true", ".3f"), _told("count", "Samples")]
    square = {"scale": {"domain": [0, 1]}}
    encoding = {
        "x": _number("predicted", "Probability given to the winning class") | square,
        "y": _number("observed", "Fraction that came true") | square,
    }
    ends = [{"predicted": 0, "observed": 0}, {"predicted": 1, "observed": 1}]
    return _spec(
        [],
        [
            {
                "data": {"values": ends},
                "mark": {"type": "line", "color": "var(--line)", "strokeDash": [3, 3]},
                "encoding": encoding,
            },
            {"mark": {"type": "line", "color": "var(--chosen)"}, "encoding": encoding},
            {
                "mark": {"type": "point", "filled": True, "color": "var(--chosen)", "opacity": 1},
                "encoding": encoding
                | {
                    "size": {
                        "field": "count",
                        "type": "quantitative",
                        "legend": None,
                        "scale": {"range": [30, 300]},
                    },
                    "tooltip": shown,
                },
            },
        ],
    )


def reject_figure() -> Spec:
    """Return the plot of the error among the accepted; ``points`` and ``marker`` are to come."""
    shown = [_told("threshold", "Threshold", ".3f"), _told("rejected", "Rejected", ".1%")]
    shown.append(_told("error", "Error of the accepted", ".2%"))
    encoding = {
        "x": _number("rejected", "Fraction rejected") | {"axis": {"format": "%"}},
        "y": _number("error", "Error of the accepted") | {"axis": {"format": ".1%"}},
        "tooltip": shown,
    }
    colour = "var(--chosen)"
    return _spec(
        [],
        [
            {"mark": {"type": "line", "color": colour, "point": False}, "encoding": encoding},
            {
                "data": {"name": "marker", "values": []},
                "mark": {"type": "point", "filled": True, "size": 160, "color": colour}
                | {"opacity": 1, "stroke": "var(--ink)"},
                "encoding": encoding,
            },
        ],
    )


def agreement_figure(
    points: list[dict[str, Any]], x_title: str, y_title: str, *, logarithmic: bool
) -> Spec:
    """Return the plot of our figures against published ones, with the diagonal.

    Each point has ``theirs``, ``ours``, ``difference``, ``data_set``, ``method`` and ``verdict``,
    which the shape shows as well as the colour.
    """
    least = _SHORTEST_TIME if logarithmic else -np.inf
    points = [p | {name: max(p[name], least) for name in ("theirs", "ours")} for p in points]
    both = [p[name] for p in points for name in ("theirs", "ours")]
    ends = [{"theirs": end, "ours": end} for end in (min(both), max(both))]
    scale = {"scale": {"type": "log"} if logarithmic else {"zero": False}}
    place = {"x": _number("theirs", x_title) | scale, "y": _number("ours", y_title) | scale}
    verdicts = ["agrees", "differs", "not judged"]
    told = {"field": "verdict", "type": "nominal", "legend": {"title": None, "orient": "top"}}
    shown = [_told("data_set", "Data set"), _told("method", "Method")]
    shown += [_told(name, name.capitalize(), ".4~g") for name in ("ours", "theirs", "difference")]
    encoding = {
        "shape": told | {"scale": {"domain": verdicts, "range": ["circle", "cross", "square"]}},
        "color": told
        | {"scale": {"domain": verdicts, "range": ["var(--plus)", "var(--minus)", "var(--line)"]}},
        "tooltip": [*shown, _told("verdict", "Agreement")],
    }
    diagonal = {"type": "line", "color": "var(--line)", "strokeDash": [3, 3]}
    return _spec(
        points,
        [
            {"data": {"values": ends}, "mark": diagonal, "encoding": place},
            {
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                "encoding": place | encoding,
            },
        ],
    )


def _spec(values: list[Any], layers: list[Spec], *, n_rows: int = 12) -> Spec:
    return {
        "width": "container",
        "height": _ROW * n_rows,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "params": [{"name": "method", "value": None}],
        "data": {"name": "points", "values": values},
        "layer": layers,
    }


def _folds(results: Gathered, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each cell of the only data set, or for each method if there are too many."""
    if sum(map(len, results.cells.values())) > _MOST_POINTS:
        return _data_sets(results, names)
    return [
        {"method": method, "where": f"fold {cell.fold}"}
        | {name: _rounded(measured(cell, name)) for name in names}
        for (_, method), found in results.cells.items()
        for cell in found
    ]


def _data_sets(results: Gathered, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each method and data set, of as many data sets as can be shown."""
    most = max(_MOST_POINTS // len(results.methods), 1)
    return [
        {"method": row.method, "where": data_set}
        | {name: _rounded(measured(row, name)) for name in names}
        for data_set, table in list(results.summary.tables.items())[:most]
        for row in table
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def _number(field: str, title: str | None) -> Spec:
    apart = {"labelOverlap": "greedy", "labelSeparation": 8}  # labels of ticks must not touch
    return {"field": field, "type": "quantitative", "title": title, "axis": apart}


def _row(order: Sequence[str]) -> Spec:
    """Return the place of a method, from the top in the order given."""
    scale = {"domain": list(order)}
    return {"field": "method", "type": "nominal", "title": None, "scale": scale, "sort": None}


def _told(field: str, title: str, form: str | None = None) -> Spec:
    kind = "nominal" if form is None else "quantitative"
    return {"field": field, "title": title, "type": kind} | ({"format": form} if form else {})


def _colour(methods: Sequence[str]) -> Spec:
    colours = [f"var(--m{m})" for m in range(len(methods))]
    scale = {"domain": list(methods), "range": colours}
    return {"field": "method", "type": "nominal", "legend": None, "scale": scale}
