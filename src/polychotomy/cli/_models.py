"""``polychotomy fit``, ``predict`` and ``explain``: train a model on a file, and use it."""

import csv
import io
import json
import shlex
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polychotomy.cli._disk import (
    check_can_write,
    check_exists,
    print_column_remarks,
    printable,
    report_errors,
)
from polychotomy.cli._file_options import FileOptions, reads_files
from polychotomy.cli._options import (
    BASES,
    DEFAULT_BASE,
    AsJson,
    Budget,
    ClassOrder,
    Jobs,
    NewEncoding,
    Prefer,
    Preference,
    Scheduler,
    Seed,
    StoreFile,
    Tune,
    check_bases,
    check_reductions,
    check_streamed,
    flag,
    parse_budget,
    parse_class_order,
    split_names,
)
from polychotomy.cli._running import (
    handle_interrupts,
    open_results,
    print_message,
    print_not_tried,
    print_plan,
    run_with_progress,
    show_rows,
    use_workers,
)
from polychotomy.cli._summary_tables import make_console

if TYPE_CHECKING:
    from polychotomy.cli._model_files import Model
    from polychotomy.cli._new_samples import NewSamples
    from polychotomy.evaluate import Schedule, Store

_SHARE_OF_CHOICE = 0.7  # of a budget; the rest is for the training of the model

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file written by polychotomy fit.")
]


@reads_files
def fit_command(
    data: Annotated[str, typer.Argument(help="A file of samples, or a known data set.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write the model to.")],
    *,
    file: FileOptions,
    base: Annotated[
        str, typer.Option(help=f"Binary learners to choose from, separated by commas: {BASES}.")
    ] = DEFAULT_BASE,
    reduction: Annotated[
        str,
        typer.Option(
            help="A reduction such as ovr, bch:hamming, sbc_bch or native; auto cross-validates."
        ),
    ] = "auto",
    tune: Tune = False,
    budget: Budget = None,
    class_order: ClassOrder = None,
    prefer: Prefer = Preference.balanced,
    seed: Seed = 0,
    jobs: Jobs = -1,
    scheduler: Scheduler = None,
    store: StoreFile = None,
    stream: Annotated[
        bool,
        flag("--stream", "Train in one pass, block by block: for files larger than memory."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Train a model on a file of labelled samples and save it.

    The command chooses the reduction that `polychotomy compare` recommends, and explains why. The
    model includes the preprocessing (numbers standardised, other columns one-hot encoded), so it
    predicts from files like the one it was trained on. With `--budget`, most of the time is spent
    on the choice, and the rest on training the model, which is never cut short. An interrupted
    run continues with the same `--store`.

    With `--stream`, a Parquet or CSV file is read in blocks and need not fit in memory. Nothing is
    compared: the reduction is one_vs_one (one_vs_rest for more than 50 classes) unless
    `--reduction` names one. Some samples are held out to calibrate probabilities and to measure
    the error.

    Examples: `polychotomy fit land.csv -o land.skops`, `polychotomy fit land.csv --target cover
    --base svm,boosting -o land.skops`, `polychotomy fit letter --reduction bch -o letter.skops`,
    `polychotomy fit big.parquet --stream -o big.skops`
    """
    from polychotomy.cli._model_files import check_learner, check_model_path, save_model

    seconds = parse_budget(budget)
    with report_errors():
        check_model_path(out)
    bases = split_names(base)
    if reduction != "auto":
        check_reductions([reduction], "--reduction")
    check_bases(bases, tuned=tune)
    with report_errors():
        known = file.check(data)
    if stream:
        unsuited = {"--tune": tune, "--budget": budget, "--store": store, "--text": file.text}
        unsuited |= {
            "--scheduler": scheduler,
            "a data set": known,
            "several --base": len(bases) > 1,
        }
        check_streamed(unsuited | {"--class-order data": class_order == "data"})
        model = _fit_stream(data, file, bases[0], reduction, class_order, seed, out)
        _print_model(model, out, as_json)
        return
    from polychotomy.cli._fitted_model import train_model
    from polychotomy.cli._quick_look import hint_at_learner
    from polychotomy.evaluate import Samples

    with (
        handle_interrupts(store) as check,
        report_errors(),
        report_warnings(),
        use_workers(jobs, scheduler) as n_jobs,
        open_results(store) as kept,
    ):
        for name in bases:
            check_learner(name)
        samples = file.read(data)
        print_column_remarks(samples)
        model = train_model(
            samples,
            bases=bases,
            reduction=reduction,
            tune=tune,
            class_order=class_order,
            prefer=prefer.value,
            seed=seed,
            jobs=n_jobs,
            run=partial(_run, store=kept, jobs=n_jobs, check=check, budget=seconds),
        )
        save_model(model, out)
        hint = hint_at_learner(Samples.of(samples)) if bases == [DEFAULT_BASE] else ""
    _print_model(model, out, as_json)
    if hint:
        print_message(hint)


def _fit_stream(
    data: str,
    file: FileOptions,
    base: str,
    reduction: str,
    class_order: str | None,
    seed: int,
    out: Path,
) -> "Model":
    """Train and save a model in one pass over a file; when it is interrupted, nothing is saved."""
    from polychotomy.cli._model_files import check_learner, save_model
    from polychotomy.cli._streamed_model import train_stream

    with handle_interrupts(None) as check, report_errors(), report_warnings():
        check_learner(base)
        stream = file.stream(data)
        for remark in stream.remarks:
            print_message(f"{data}: {remark}")
        order = parse_class_order(class_order)
        with show_rows(stream.n_samples, check) as show:
            model = train_stream(
                stream,
                Path(data).name.partition(".")[0],
                base=base,
                reduction=reduction,
                class_order=None if order is None else list(order),
                seed=seed,
                say=print_message,
                show=show,
            )
        save_model(model, out)
    return model


def _print_model(model: "Model", out: Path, as_json: bool) -> None:
    """Print what was trained, and what to do with it."""
    if as_json:
        typer.echo(json.dumps({"model": str(out), **model.facts}, indent=2))
    else:
        typer.echo(printable(f"Use {model.facts['explanation']}"))
        typer.echo(_error_text(model.facts))
        name = shlex.quote(str(out))
        typer.echo(f"The model is in {out}. Show it with: polychotomy explain {name}")
        typer.echo(f"Predict new samples with: polychotomy predict {name} FILE")


def _run(
    schedule: "Schedule", store: "Store", jobs: int, check: Callable[[], None], budget: float | None
) -> Any:
    """Compute the cells; a part of the time is left for the training of the model."""
    for remark in schedule.remarks:
        print_message(remark)
    print_plan(schedule, store, jobs, budget)
    share = None if budget is None else _SHARE_OF_CHOICE * budget
    found, failures = run_with_progress(schedule, store, jobs, check, share)
    cells, not_tried = schedule.comparable(found, failures)
    print_not_tried(not_tried)
    print_message("Training the model on all samples.")
    return cells, failures, not_tried


def predict_command(
    model: ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            help="A file of samples, with or without labels, a known data set, or - for the "
            "standard input, as CSV."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write to this file instead of the terminal.")
    ] = None,
    keep: Annotated[
        str, typer.Option(help="Columns of the file to copy, separated by commas, such as id,name.")
    ] = "",
    proba: Annotated[bool, flag("--proba", "Add the probability of each class.")] = False,
    reject: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Leave out predictions below this probability."),
    ] = None,
    encoding: NewEncoding = None,
    as_json: AsJson = False,
) -> None:
    """Predict the classes of samples and write them as CSV.

    The file is read with the options of the training file. Columns may be in any order, and further
    columns are ignored. With --reject, samples whose most probable class is below the threshold
    get no class, and "accepted" is no. If the file contains the labels, the command prints how many
    predictions are wrong.

    Examples: `polychotomy predict land.skops new.csv --keep id`, `polychotomy predict land.skops
    new.csv --proba --reject 0.8 -o classes.csv`, `polychotomy predict land.skops - < new.csv`
    """
    with report_errors():
        check_exists(model)
        if out is not None:
            check_can_write(out)
    from polychotomy.cli._model_files import writing
    from polychotomy.cli._new_samples import read_new_samples

    with report_errors(), report_warnings():
        loaded = load_with_warning(model)
        new = read_new_samples(loaded, data, keep=split_names(keep), encoding=encoding)
        table = _predictions(loaded, new.features, proba, reject)
        if both := sorted(new.kept.keys() & table.keys()):
            raise ValueError(f"--keep must not name a column of the predictions. Got {both[0]!r}.")
        said = _error_of_predictions(loaded, new, table["predicted"])
        table = {**new.kept, **table}
        text = _json_text(table) if as_json else _csv_text(table)
        if out is None:
            typer.echo(text, nl=False)
        else:
            with writing(out) as file:
                file.write(text.encode())
            print_message(f"{new.features.shape[0]} predictions in {out}")
    if said:
        print_message(said)


def explain_command(
    model: ModelFile,
    problems: Annotated[
        int, typer.Option(min=1, help="How many confusions, pairs and weak problems to show.")
    ] = 5,
    whole: Annotated[bool, flag("--all", "Show the whole code or tree, and all problems.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show why a model was chosen, its cost, its confusions and its binary problems.

    Examples: `polychotomy explain land.skops`, `polychotomy explain land.skops --all`
    """
    with report_errors():
        check_exists(model)
    from polychotomy.cli._explanation import explanation, facts_of

    with report_errors():
        loaded = load_with_warning(model)
        if as_json:
            typer.echo(json.dumps(facts_of(loaded), indent=2))
            return
        console = make_console()
        for part in explanation(loaded, problems, whole):
            whole_lines = bool(getattr(part, "no_wrap", False))
            console.print(part, soft_wrap=whole_lines)


def load_with_warning(path: Path) -> "Model":
    from polychotomy.cli._model_files import load_model

    model, warning = load_model(path)
    if warning:
        typer.echo(warning, err=True)
    return model


def _error_of_predictions(model: "Model", new: "NewSamples", predicted: list[Any]) -> str:
    """Return how many predictions are wrong, "" if no label is a class of the model."""
    if not (new.truth >= 0).any():
        return ""
    classes = model.pipeline.classes_.tolist()
    answers = [predicted[i] for i in new.labelled]
    truth = [classes[place] if place >= 0 else None for place in new.truth]
    pairs = [(a, t) for a, t in zip(answers, truth, strict=True) if a is not None]
    if not pairs:
        return ""
    n, wrong = len(pairs), sum(answer != true for answer, true in pairs)
    which = "accepted" if n < len(answers) else "labelled"
    said = f"{wrong} of {n} {which} predictions are wrong ({100 * wrong / n:.2f} %)"
    return f"{said}; polychotomy evaluate says more."


def _predictions(
    model: "Model", frame: Any, proba: bool, reject: float | None
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
    from polychotomy.evaluate import DEFAULT_FOLDS

    how = "in five-fold cross-validation"
    if not facts["folds"]:
        how = f"on {facts['tested']} samples that were held out"
    elif facts["folds"] < DEFAULT_FOLDS:
        how = f"on {facts['folds']} of {DEFAULT_FOLDS} folds"
    text = f"Its error {how} is {100 * facts['error']:.2f} %"
    if "test_error" in facts:
        text += f", and {100 * facts['test_error']:.2f} % on the test part"
    text += f"; {facts['samples']} samples of {len(facts['classes'])} classes were used."
    text += f"\nFor comparison: always the largest class {100 * facts['majority_error']:.2f} %"
    own = [row for row in facts["compared"] if row["reduction"].partition(" (")[0] == "native"]
    for row in own if facts["reduction"] != "native" else []:
        base = facts["base"] if row["reduction"] == "native" else row["reduction"][8:-1]
        text += f", {base} by itself, without a reduction, {100 * row['error']:.2f} %"
    if facts["error"] >= facts["majority_error"]:
        text += ".\nThe model has learned nothing: always predicting the largest class is as good"
    return f"{text}."


@contextmanager
def report_warnings() -> Iterator[None]:
    """Print what libraries warn of, each once and without the place in their source."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for message in dict.fromkeys(str(each.message) for each in caught):
                typer.echo(printable(message), err=True)
