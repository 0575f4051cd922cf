"""Model files of the command line: classifiers with their columns and notes."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from polychotomy.cli._disk import check_can_write
from polychotomy.errors import ModelError
from polychotomy.files import replacing
from polychotomy.saving import check_ending, load, refused_types, save

_FEW = 40


@dataclass(frozen=True, eq=False)
class Model:
    """A trained classifier with all that is needed to predict from a file.

    Attributes
    ----------
    pipeline : Pipeline
        Preprocessing and classifier.
    features, nominal : sequence of str
        The columns it uses, and which of them are nominal.
    facts : dict
        What is known of its training, in JSON's types.
    reading : dict
        How its file was read, for :func:`polychotomy.datasets.read_features`.
    """

    pipeline: Any
    features: Sequence[str]
    nominal: Sequence[str]
    facts: dict[str, Any]
    reading: dict[str, Any] = field(default_factory=dict)

    @property
    def classifier(self) -> Any:
        """The classifier, behind the preprocessing."""
        return self.pipeline[-1]

    @property
    def order(self) -> list[int]:
        """The classes in the order that was given, as indices."""
        names = [str(label) for label in self.pipeline.classes_]
        order = self.facts.get("class_order")
        if not isinstance(order, list):
            return list(range(len(names)))
        return [names.index(name) for name in order if name in names]


def save_model(model: Model, path: Path) -> None:
    """Save the pipeline of a model, with everything else as its attribute ``notes_``."""
    check_model_path(path)
    notes = {name: value for name, value in vars(model).items() if name != "pipeline"}
    model.pipeline.notes_ = notes
    save(model.pipeline, path)


def load_model(path: Path) -> tuple[Model, str]:
    """Load a model, with a warning if another version of a library wrote it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pipeline = load(path)
    if not hasattr(pipeline, "notes_"):
        raise ModelError(
            f"{path} was saved by polychotomy.save and knows no columns of files: open it with "
            "polychotomy.load."
        )
    try:
        model = Model(pipeline, **pipeline.notes_)
    except TypeError:
        raise ModelError(f"{path} was not written by polychotomy fit.") from None
    return model, " ".join(str(each.message) for each in caught)


def check_model_path(path: Path) -> None:
    """Raise an error if a model cannot be saved there, before training."""
    check_ending(path)
    check_can_write(path)


def check_learner(name: str) -> None:
    """Raise ModelError if a model of this learner could not be loaded, before training.

    The learners that we name can; of another class, a small one is trained to see its parts.
    """
    if "." not in name:
        return
    import numpy as np

    from polychotomy.reductions import make_base

    X, y = np.random.default_rng(0).random((_FEW, 3)), np.arange(_FEW) % 2
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner = make_base(name).fit(X, y)
    except Exception:  # whatever a learner may raise; the training says it better
        return
    if refused := refused_types(learner):
        raise ModelError(
            f"Models of {name} cannot be opened again on the command line, which loads the types "
            f"of scikit-learn and of this library only: they contain {', '.join(refused)}. Train "
            "and save it in Python, and give these types to polychotomy.load as 'trusted'."
        )


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` when it is complete."""
    check_can_write(path)
    with replacing(path) as beside, beside.open("wb") as file:
        yield file
