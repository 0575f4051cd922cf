"""The problems, weak points and cost of a model, in words and drawn for a terminal."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.text import Text

from polychotomy.cli._disk import printable
from polychotomy.cli._fitted_model import flat_code
from polychotomy.cli._model_files import Model
from polychotomy.cli._structure_files import draw_structure

_SMALL = 12  # problems that are shown in full
_DRAWN_DEPTH = 30


def facts_of(model: Model) -> dict[str, Any]:
    """Return all facts about a model, in a form for JSON."""
    classifier, facts = model.classifier, model.facts
    questions = [
        {"asks": words, "error": error}
        for words, error in zip(_asks(classifier), facts["problem_errors"], strict=True)
    ]
    known = {key: value for key, value in facts.items() if key != "problem_errors"}
    drawn: dict[str, Any] = {}
    if hasattr(classifier, "structure_"):
        drawn = {"structure": str(classifier.structure_)}
    elif hasattr(classifier, "code_"):
        drawn = {"code": classifier.code_.matrix.tolist(), "decoder": _decoder(classifier)}
    pairs = weak_pairs(model) if questions else []
    return {
        **known,
        "problems": questions,
        "weak_pairs": pairs,
        "columns": list(model.features),
        **drawn,
    }


def explanation(model: Model, n_shown: int, whole: bool) -> Iterator[Any]:
    """Yield what is printed: the model and its cost, its weak points, its problems.

    `n_shown` is the length of the lists. All problems are shown if there are few, or for `whole`.
    """
    facts = model.facts
    yield _line(f"{facts['reduction']} with {facts['base']} on {facts['data']}")
    yield _line(
        f"{facts['samples']} samples, {_features(facts)}, {len(facts['classes'])} classes, "
        f"{_asked(facts)}"
    )
    yield _line(facts["explanation"])
    if order := facts.get("class_order"):
        said = "found in the training samples" if order == "data" else ", ".join(order)
        yield _line(f"Order of the classes: {said}.")
    if facts["tuned"]:
        found = ", ".join(f"{name} = {value:g}" for name, value in facts["tuned"].items())
        yield _line(f"Tuned: {found}.")
    yield _line(f"Cost: {_cost(facts)}.")
    yield ""
    yield from _confusions(facts, n_shown)
    if not _asks(model.classifier):
        return
    yield ""
    few = len(_asks(model.classifier)) <= _SMALL
    pairs = weak_pairs(model)
    if not few and any(pair["problems"] > 1 for pair in pairs):  # else the problems say it
        yield Text("Classes that are hardest to separate, and the error of the best problem:")
        for pair in pairs[:n_shown]:
            one, other = pair["classes"]
            how = f"({pair['problems']} problems separate them)"
            yield _line(f"{_percent(pair['error'])}  {one} and {other} {how}")
        yield ""
    yield from _problems(model, n_shown, whole or few)


def weak_pairs(model: Model) -> list[dict[str, Any]]:
    """Return the pairs of classes by the best problem that separates them, the weakest first.

    Pairs whose problems' errors are unknown are left out.
    """
    sides, errors = flat_code(model.classifier).matrix, model.facts["problem_errors"]
    known = np.array([np.nan if error is None else error for error in errors])
    k = len(sides)
    best = np.full((k, k), -1)
    number = np.zeros((k, k), dtype=int)
    for s in np.argsort(-known, kind="stable"):  # the most accurate last; NaN at the end
        plus, minus = np.flatnonzero(sides[:, s] == 1), np.flatnonzero(sides[:, s] == -1)
        for one, other in ((plus, minus), (minus, plus)):
            number[np.ix_(one, other)] += 1
            if not np.isnan(known[s]):
                best[np.ix_(one, other)] = s
    rows, columns = np.nonzero(np.triu(best >= 0, 1))
    found = best[rows, columns]
    order = np.argsort(-known[found], kind="stable")
    names, asks = model.facts["classes"], _asks(model.classifier)
    return [
        {
            "classes": [names[rows[i]], names[columns[i]]],
            "problems": int(number[rows[i], columns[i]]),
            "best": asks[found[i]],
            "error": float(known[found[i]]),
        }
        for i in order
    ]


def _asks(classifier: Any) -> list[str]:
    """Return the problems in words; none of a learner's own multi-class form."""
    return list(getattr(classifier, "problems_", []))


def _features(facts: dict[str, Any]) -> str:
    """Return the number of features, before and after the preparation."""
    n, prepared = facts["features"], facts["prepared_features"]
    return f"{n} features" + (f" (prepared: {prepared} numbers)" if prepared != n else "")


def _asked(facts: dict[str, Any]) -> str:
    if facts["reduction"].startswith("sbc_"):
        return f"one binary classifier that is asked {facts['problems']} questions"
    if not facts["problem_errors"]:
        return "the learner's own multi-class form"
    return f"{facts['problems']} binary problems"


def _cost(facts: dict[str, Any]) -> str:
    n = facts["questions"]
    asked = f"{n:.4g} {'question' if n == 1 else 'questions'} per sample; " if n else ""
    where = "in a fold of the cross-validation" if facts["folds"] else "what was held out"
    return (
        f"{asked}{facts['fit_seconds']:.2g} s of CPU time to train and "
        f"{facts['predict_seconds']:.2g} s to predict {where}"
    )


def _decoder(classifier: Any) -> str:
    return getattr(classifier, "decoder_", "argmax")  # of a KernelSBCClassifier


def _confusions(facts: dict[str, Any], n_shown: int) -> Iterator[Text]:
    wrong, tested = facts["wrong"], facts["tested"]
    share = f"{wrong} of {tested} samples ({100 * wrong / tested:.2f} %)"
    where = "in cross-validation" if facts["folds"] else "of what was held out of the stream"
    yield _line(f"Wrong {where}: {share}" + (", most often:" if wrong else "."))
    for pair in facts["confused"][:n_shown]:
        yield _line(f"{pair['samples']:>6}  {pair['truth']} predicted as {pair['predicted']}")


def _problems(model: Model, n_shown: int, whole: bool) -> Iterator[Any]:
    """Yield the code or tree with all problems, or the weakest of them."""
    classifier, errors = model.classifier, model.facts["problem_errors"]
    asks = _asks(classifier)
    if whole and hasattr(classifier, "structure_"):
        yield _tree(classifier.structure_)
        yield ""
    elif whole and hasattr(classifier, "code_"):
        yield _code(model)
        yield ""
    known = np.array([-1.0 if error is None else error for error in errors])
    order = np.argsort(-known, kind="stable")
    shown = order if whole else order[:n_shown]
    which = "The problems" if whole else f"The weakest of {len(asks)} problems"
    yield Text(f"{which}, and how often each is wrong about samples it has not seen:")
    for s in shown:
        yield _line(f"{s + 1:>4}  {_percent(errors[s])}  {asks[s]}")
    if not whole:
        yield _line("      (--all shows all problems, and the code or tree)")


def _code(model: Model) -> Text:
    """Return the code's matrix, each row with the name of its class, whatever its width."""
    rows = model.classifier.code_.draw().splitlines()
    names = [printable(str(label))[:30] for label in model.classifier.classes_]
    width = max(map(len, names))
    lines = [f"{names[c]:<{width}}  {rows[c]}" for c in model.order]
    return Text("\n".join(lines), no_wrap=True)


def _tree(structure: Any) -> Any:
    """Return the tree drawn, or in the control language if it is too deep for a terminal."""
    if structure.depth <= _DRAWN_DEPTH:
        return draw_structure(structure, _DRAWN_DEPTH)
    return Text(printable(str(structure)), no_wrap=True)


def _percent(error: float | None) -> str:
    return "     ?  " if error is None else f"{100 * error:6.2f} %"


def _line(text: str) -> Text:
    return Text(printable(text))
