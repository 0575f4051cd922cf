"""``polychotomy export``: a model file as an ONNX graph."""

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from polychotomy.cli._disk import check_can_write, check_exists, report_errors
from polychotomy.cli._models import ModelFile, report_warnings
from polychotomy.cli._running import print_message


def export_command(
    model: ModelFile,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File to write; by default next to the model.", metavar="FILE.onnx"
        ),
    ] = None,
    opset: Annotated[
        int | None,
        typer.Option(min=14, help="Version of the ONNX operators; by default the newest."),
    ] = None,
) -> None:
    """Export a model as an ONNX graph, which runs without Python and without this library.

    A model with numeric features has one float32 input X with a column for each feature. If some
    columns contain names, every column is a separate input: float32, or strings, where an empty
    string is a missing value. The outputs are the labels and, if they have a closed form, the
    probabilities.

    Examples: `polychotomy export land.skops`, `polychotomy export land.skops -o land.onnx`
    """
    path = model.with_suffix(".onnx") if out is None else out
    with report_errors():
        check_exists(model)
        check_can_write(path)
    from polychotomy.cli._model_files import writing
    from polychotomy.export import to_onnx
    from polychotomy.saving import load

    with report_errors(), report_warnings():
        loaded = load(model)
        notes = getattr(loaded, "notes_", {})
        with warnings.catch_warnings():
            warnings.filterwarnings("always", message="Only labels are exported")
            exported = to_onnx(loaded, _columns(notes), target_opset=opset)
        with writing(path) as file:
            file.write(exported.SerializeToString())
    print_message(f"{_inputs(exported, notes)} -> {_names(exported.graph.output)}: {path}")


def _columns(notes: dict[str, Any]) -> Any:
    """Return a data frame with the columns of a model's file; None if they are all numbers."""
    named = {*notes.get("nominal", ()), *(notes.get("reading", {}).get("text") or ())}
    features = list(notes.get("features", ()))
    if not named & set(features):
        return None
    import pandas as pd

    kinds = {name: "object" if name in named else "float32" for name in features}
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})


def _inputs(exported: Any, notes: dict[str, Any]) -> str:
    """Return the inputs in words: their names, and the columns of the only one."""
    names = _names(exported.graph.input)
    features = notes.get("features", ())
    return f"{names} ({', '.join(features)})" if names == "X" and features else names


def _names(values: Any) -> str:
    return ", ".join(value.name for value in values)
