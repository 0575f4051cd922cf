"""The findings in words."""

from polychotomy.report._findings import ALPHA, Findings, Rival
from polychotomy.report._results import Results, in_words


def why(results: Results, findings: Findings) -> list[str]:
    """Return why the chosen method is chosen, in sentences."""
    chosen, best = findings.chosen, findings.best
    name = results.methods[chosen]
    if len(findings.methods) == 1:
        return [
            f"{name} is the only method that was tried, so there is nothing to hold it against."
        ]
    n_others = len(findings.methods) - 1
    others = "the other method" if n_others == 1 else f"the {n_others} other methods"
    level = [rival for rival in findings.rivals if not rival.worse]
    time = seconds(findings.seconds[chosen])
    if chosen == best:
        said = [f"{name} has the lowest {_score(findings, best)}, compared with {others}."]
        if not level:
            return [*said, "Every other method is significantly worse."]
        names = in_words([results.methods[rival.method] for rival in level])
        verb = "is" if len(level) == 1 else "are"
        return [*said, f"{names} {verb} not significantly worse, but not faster either ({time})."]
    return [
        f"{results.methods[best]} has the lowest {_score(findings, best)}, but {name}, with "
        f"{_value(findings, chosen)}, is not significantly worse.",
        f"Of the {len(level) + 1} methods of which that can be said it is the fastest: {time} to "
        f"train and predict, against {seconds(findings.seconds[best])}.",
    ]


def sureness(results: Results, findings: Findings) -> list[str]:
    """Return how far the comparison can be trusted, in sentences."""
    if len(findings.methods) == 1:
        return ["With a single method no difference can be tested."]
    best = results.methods[findings.best]
    worse = [results.methods[r.method] for r in findings.rivals if r.worse]
    level = [results.methods[r.method] for r in findings.rivals if not r.worse]
    said = []
    if findings.all_alike is not None:
        said.append(_ranks_in_words(findings))
    if worse:
        said.append(f"Significantly worse than {best}: {in_words(worse, most=20)}.")
    if level:
        said.append(
            f"Not significantly worse than {best}: {in_words(level, most=20)}. That is no proof "
            "that they are equally good: with more samples or data sets a difference may show."
        )
    said.append(
        "Worse means: wrong more often, where only one of the two is wrong, than chance allows "
        "(McNemar’s test)"
        + (", or ranked lower than chance allows" if findings.ranks else "")
        + f"; at the level {ALPHA:g}, with Holm’s adjustment for {len(findings.rivals)} "
        + ("comparisons." if len(findings.rivals) > 1 else "comparison.")
    )
    said.append(
        "The best was found by looking at these results, so that its error on new data is likely "
        "to be a little higher than it is here."
    )
    return said


def rival_in_words(rival: Rival) -> str:
    """Return how often only one of a method and the best is wrong."""
    test = rival.mcnemar
    return (
        f"alone wrong on {test.only_first_wrong}, alone right on {test.only_second_wrong} samples"
    )


def seconds(value: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> from polychotomy.report._sentences import seconds
    >>> seconds(0.01234), seconds(12.34), seconds(200)
    ('0.012 s', '12 s', '3 min 20 s')
    """
    if value < 60:
        return f"{value:#.2g}".rstrip(".") + " s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def p_value(value: float) -> str:
    """Return a p-value as "= 0.012" or "< 0.0001"."""
    return "< 0.0001" if value < 0.0001 else f"= {value:#.2g}"


def _score(findings: Findings, method: int) -> str:
    what = "error" if findings.ranks is None else "average rank"
    return f"{what}, {_value(findings, method)}"


def _value(findings: Findings, method: int) -> str:
    value = findings.score[findings.methods.index(method)]
    return f"{100 * value:.2f} %" if findings.ranks is None else f"{value:.2f}"


def _ranks_in_words(findings: Findings) -> str:
    test = findings.all_alike
    assert test is not None
    differ = test.pvalue <= ALPHA
    said = (
        f"Over {len(findings.data_sets)} data sets the methods "
        + ("do not perform alike" if differ else "cannot be told apart by their ranks")
        + f" (Iman and Davenport: F {'= ∞' if test.statistic > 1e6 else f'= {test.statistic:.2f}'}"
        + f", p {p_value(test.pvalue)})."
    )
    few = len(findings.data_sets) < 10
    return said + (" On fewer than ten data sets ranks show large differences only." if few else "")
