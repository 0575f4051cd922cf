"""What a model asks, in words and drawn for a terminal."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.text import Text

from polychotomy.cli._disk import printable
from polychotomy.cli._model_files import Model
from polychotomy.cli._structure_files import draw_structure

_SHOWN_PROBLEMS = 40
_DRAWN_DEPTH = 30


def facts_of(model: Model) -> dict[str, Any]:
    """Return all that is known of a model, as JSON can hold it."""
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
    return {**known, "problems": questions, "columns": list(model.features), **drawn}


def explanation(model: Model, n_weakest: int) -> Iterator[Any]:
    """Yield what is printed: what the model is, its code or tree, its problems, the weakest."""
    classifier, facts = model.classifier, model.facts
    yield _line(f"{facts['reduction']} with {facts['base']} on {facts['data']}")
    yield _line(
        f"{facts['samples']} samples, {facts['features']} features, "
        f"{len(facts['classes'])} classes, {_asked(facts)}"
    )
    yield _line(facts["explanation"])
    if facts["tuned"]:
        found = ", ".join(f"{name} = {value:g}" for name, value in facts["tuned"].items())
        yield _line(f"Tuned: {found}.")
    yield ""
    if hasattr(classifier, "structure_"):
        yield draw_structure(classifier.structure_, _DRAWN_DEPTH)
    elif hasattr(classifier, "code_"):
        yield _code(classifier)
    if not _asks(classifier):
        return
    yield ""
    yield from _problems(classifier, facts["problem_errors"])
    yield ""
    yield from _weakest(classifier, facts["problem_errors"], n_weakest)


def _asks(classifier: Any) -> list[str]:
    """Return the problems in words; none of a learner's own multi-class form."""
    return list(getattr(classifier, "problems_", []))


def _asked(facts: dict[str, Any]) -> str:
    if facts["reduction"].startswith("sbc_"):
        return f"one binary classifier that is asked {facts['problems']} questions"
    if not facts["problem_errors"]:
        return "the learner's own multi-class form"
    return f"{facts['problems']} binary problems"


def _decoder(classifier: Any) -> str:
    return getattr(classifier, "decoder_", "argmax")  # of a KernelSBCClassifier


def _code(classifier: Any) -> Text:
    """Return the code's matrix, each row with the name of its class."""
    rows = str(classifier.code_).splitlines()
    names = [printable(str(label))[:30] for label in classifier.classes_]
    width = max(map(len, names))
    lines = [f"{name:<{width}}  {row}" for name, row in zip(names, rows, strict=False)]
    lines += [f"{'':<{width}}  {row}" for row in rows[len(names) :]]
    return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")


def _problems(classifier: Any, errors: list[float | None]) -> Iterator[Text]:
    asked = classifier.problems_
    yield Text("The problems, and how often each is wrong about samples it has not seen:")
    for s, words in enumerate(asked[:_SHOWN_PROBLEMS]):
        yield _line(f"{s + 1:>4}  {_percent(errors[s])}  {words}")
    if len(asked) > _SHOWN_PROBLEMS:
        yield _line(f"      … and {len(asked) - _SHOWN_PROBLEMS} more")


def _weakest(classifier: Any, errors: list[float | None], n_weakest: int) -> Iterator[Text]:
    known = np.array([-1.0 if error is None else error for error in errors])
    order = np.argsort(-known, kind="stable")[:n_weakest]
    yield Text("The weakest:")
    for s in order:
        yield _line(f"{s + 1:>4}  {_percent(errors[s])}  {classifier.problems_[s]}")


def _percent(error: float | None) -> str:
    return "     ?  " if error is None else f"{100 * error:6.2f} %"


def _line(text: str) -> Text:
    return Text(printable(text))
