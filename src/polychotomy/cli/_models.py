"""``polychotomy fit``, ``predict`` and ``explain``: from a file of samples to a decision."""

import csv
import io
import json
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from polychotomy.cli._disk import (
    check_can_write,
    printable,
    read_data,
    tell_columns,
    telling_errors,
)
from polychotomy.cli._explanation import explanation, facts_of
from polychotomy.cli._fitted_model import train_model
from polychotomy.cli._model_files import Model, load_model, save_model, writing
from polychotomy.cli._options import (
    AsJson,
    Budget,
    Jobs,
    Prefer,
    Preference,
    Seed,
    StoreFile,
    Tune,
    check_bases,
    parse_budget,
)
from polychotomy.cli._running import (
    keeping_results,
    run_with_progress,
    tell,
    tell_not_tried,
    tell_plan,
    telling_interruption,
)
from polychotomy.evaluate import DEFAULT_FOLDS, Schedule, Store
from polychotomy.reductions import available_bases

_SHARE_OF_CHOICE = 0.7  # of a budget; the rest is for the training of the model

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file written by polychotomy fit.")
]


def fit_command(
    data: Annotated[str, typer.Argument(help="A file of samples, or a known data set.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to put the model.")],
    target: Annotated[
        str | None,
        typer.Option(
            help="The column of the labels; by default class, target, label or y, else the last."
        ),
    ] = None,
    base: Annotated[
        str, typer.Option(help=f"The binary classifier: {', '.join(available_bases())}.")
    ] = "logistic",
    reduction: Annotated[
        str,
        typer.Option(
            help="Such as ovr, bch:hamming, sbc_bch or native; auto chooses by cross-validation."
        ),
    ] = "auto",
    tune: Tune = False,
    budget: Budget = None,
    prefer: Prefer = Preference.balanced,
    seed: Seed = 0,
    jobs: Jobs = -1,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Train a model on a file of labelled samples and save it.

    The reduction is the one that `polychotomy compare` recommends, and the command says why. The
    model holds the preprocessing (numbers standardised, other columns made indicators): it takes
    files as they are. With `--budget`, most of the time goes to the choice, and the rest to the
    training of the model, which is never cut short. Interrupt it when you like: with the same
    `--store` it continues.

    Examples: `polychotomy fit land.csv -o land.skops`, `polychotomy fit land.csv --target cover
    --base svm --tune -o land.skops`, `polychotomy fit letter --reduction bch -o letter.skops`
    """
    check_bases([base], tuned=tune)
    seconds = parse_budget(budget)
    with (
        telling_interruption(store) as check,
        telling_errors(),
        _telling_warnings(),
        keeping_results(store) as kept,
    ):
        check_can_write(out)
        samples = read_data(data, target)
        tell_columns(samples, target)
        model = train_model(
            samples,
            base=base,
            reduction=reduction,
            tune=tune,
            prefer=prefer.value,
            seed=seed,
            jobs=jobs,
            run=partial(_run, store=kept, jobs=jobs, check=check, budget=seconds),
        )
        save_model(model, out)
    if as_json:
        typer.echo(json.dumps({"model": str(out), **model.facts}, indent=2))
    else:
        typer.echo(printable(f"Use {model.facts['explanation']}"))
        typer.echo(_error_text(model.facts))
        name = shlex.quote(str(out))
        typer.echo(f"The model is in {out}. See it with: polychotomy explain {name}")
        typer.echo(f"Ask it about new samples with: polychotomy predict {name} FILE")


def _run(
    schedule: Schedule, store: Store, jobs: int, check: Callable[[], None], budget: float | None
) -> Any:
    """Compute the cells; a part of the time is left for the training of the model."""
    for remark in schedule.remarks:
        tell(remark)
    tell_plan(schedule, store, jobs, budget)
    share = None if budget is None else _SHARE_OF_CHOICE * budget
    found, failures = run_with_progress(schedule, store, jobs, check, share)
    cells, not_tried = schedule.comparable(found, failures)
    tell_not_tried(not_tried)
    tell("Training the model on all samples.")
    return cells, failures, not_tried


def predict_command(
    model: ModelFile,
    data: Annotated[str, typer.Argument(help="A file of samples, with or without labels.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write here, not to the terminal.")
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    reject: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Leave out predictions that are less probable than this."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict the classes of samples, as a CSV table.

    Columns may come in any order, and others are ignored. With --reject, a sample whose most
    probable class is below the threshold gets no class, and "accepted" is no.

    Examples: `polychotomy predict land.skops new.csv`, `polychotomy predict land.skops new.csv
    --proba --reject 0.8 -o classes.csv`
    """
    with telling_errors(), _telling_warnings():
        if out is not None:
            check_can_write(out)
        loaded = _load(model)
        table = _predictions(loaded, _features(loaded, data), proba, reject)
        text = _json_text(table) if as_json else _csv_text(table)
        if out is None:
            typer.echo(text, nl=False)
        else:
            with writing(out) as file:
                file.write(text.encode())


def explain_command(
    model: ModelFile,
    problems: Annotated[int, typer.Option(min=1, help="Number of weakest problems to show.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Show the binary problems of a model, why it was chosen, and its weakest problems.

    Examples: `polychotomy explain land.skops`, `polychotomy explain land.skops --json`
    """
    with telling_errors():
        loaded = _load(model)
        if as_json:
            typer.echo(json.dumps(facts_of(loaded), indent=2))
            return
        console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
        for part in explanation(loaded, problems):
            console.print(part, markup=False)


def _load(path: Path) -> Model:
    model, warning = load_model(path)
    if warning:
        typer.echo(warning, err=True)
    return model


def _features(model: Model, data: str) -> Any:
    """Return the columns that a model goes by, of a file or a known data set."""
    from polychotomy import datasets

    if data in {each.name for each in datasets.available()}:
        frame = datasets.load(data).data
        lacking = [name for name in model.features if name not in frame]
        if lacking:
            raise ValueError(f"{data} lacks the columns of the model, such as {lacking[0]!r}.")
        return frame[list(model.features)]
    return datasets.read_features(data, model.features, model.nominal)


def _predictions(
    model: Model, frame: Any, proba: bool, reject: float | None
) -> dict[str, list[Any]]:
    """Return the columns of the answer."""
    pipeline = model.pipeline
    if not (proba or reject is not None):
        return {"predicted": pipeline.predict(frame).tolist()}
    if not hasattr(pipeline, "predict_proba"):
        raise ValueError(
            "This model has no probabilities: train it with another reduction, without ':None'."
        )
    p = pipeline.predict_proba(frame)
    table: dict[str, list[Any]] = {"predicted": pipeline.predict(frame).tolist()}
    if reject is not None:
        labels, accepted = pipeline.classes_[p.argmax(axis=1)], p.max(axis=1) >= reject
        table["predicted"] = [
            label if sure else None for label, sure in zip(labels.tolist(), accepted, strict=True)
        ]
        table["accepted"] = accepted.tolist()
    if proba:
        for label, column in zip(pipeline.classes_.tolist(), p.T, strict=True):
            table[f"p({label})"] = column.tolist()
    return table


def _csv_text(table: dict[str, list[Any]]) -> str:
    """Return the table; its classes as they are called, which may be True and False."""
    accepted = {"accepted": ["yes" if sure else "no" for sure in table.get("accepted", [])]}
    said = {name: accepted.get(name, column) for name, column in table.items()}
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(said)
    writer.writerows(zip(*said.values(), strict=True))  # None is written as nothing
    return stream.getvalue()


def _json_text(table: dict[str, list[Any]]) -> str:
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    return json.dumps(rows, indent=2) + "\n"


def _error_text(facts: dict[str, Any]) -> str:
    how = "in five-fold cross-validation"
    if facts["folds"] < DEFAULT_FOLDS:
        how = f"on {facts['folds']} of {DEFAULT_FOLDS} folds"
    text = f"Its error {how} is {100 * facts['error']:.2f} %"
    if "test_error" in facts:
        text += f", and {100 * facts['test_error']:.2f} % on the test part"
    return f"{text}; {facts['samples']} samples of {len(facts['classes'])} classes were used."


@contextmanager
def _telling_warnings() -> Iterator[None]:
    """Print what libraries warn of, each once and without the place in their source."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for message in dict.fromkeys(str(each.message) for each in caught):
                typer.echo(printable(message), err=True)
