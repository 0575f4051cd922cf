"""Trained models as files that are safe to open."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import polychotomy
from polychotomy.cli._disk import check_can_write
from polychotomy.errors import DataError, require
from polychotomy.files import replacing

_FORMAT, _VERSION = "polychotomy model", 2

# What models are made of, in addition to scikit-learn's own classes.
_PARTS = (
    *("calibration", "classifiers", "codes", "evaluate", "kernel", "learners", "readout"),
    *("structures", "training"),
)
_OTHERS = frozenset(
    {
        "numpy.dtype",
        "collections.OrderedDict",  # this and the next two are parts of LightGBM's models
        "lightgbm.basic.Booster",
        "lightgbm.sklearn.LGBMClassifier",
        "scipy.sparse._csc.csc_array",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.tree._tree.Tree",
        "polychotomy.calibration.own_probability",
        "polychotomy.datasets._preprocess._texts",
        "polychotomy.datasets._scaler.GapScaler",
    }
)


@dataclass(frozen=True, eq=False)
class Model:
    """A trained classifier with all that is needed to ask it about a file of samples.

    Attributes
    ----------
    pipeline : Pipeline
        Preprocessing and classifier.
    features, nominal : sequence of str
        The columns it uses, and which of them are nominal.
    facts : dict
        What is known of its training, in JSON's types.
    """

    pipeline: Any
    features: Sequence[str]
    nominal: Sequence[str]
    facts: dict[str, Any]

    @property
    def classifier(self) -> Any:
        """The classifier, behind the preprocessing."""
        return self.pipeline[-1]


def save_model(model: Model, path: Path) -> None:
    """Write a model beside its place, and put it there when it is complete."""
    io = require("skops.io", extra="cli")
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "pipeline": model.pipeline,
        "features": list(model.features),
        "nominal": list(model.nominal),
        "facts": model.facts,
        "versions": _versions(),
    }
    with writing(path) as file:
        io.dump(content, file, compression=ZIP_DEFLATED)


def load_model(path: Path) -> tuple[Model, str]:
    """Return a model from a file, and a warning if another version of a library has written it.

    Only the classes that models are made of are loaded: a file cannot run code of its own.

    Raises DataError for a file that is no model, or holds anything else.
    """
    io = require("skops.io", extra="cli")
    from skops.io.exceptions import UntrustedTypesFoundException

    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    _check_version(path)
    try:
        trusted = [name for name in io.get_untrusted_types(file=path) if _is_ours(name)]
        content = io.load(path, trusted=trusted)
    except UntrustedTypesFoundException as error:
        raise DataError(
            f"{path} holds what does not belong into a model, and is not opened. {error}"
        ) from error
    except (BadZipFile, KeyError, ValueError, TypeError, AttributeError, ImportError) as error:
        raise DataError(
            f"{path} is not a model of this program, or is damaged; polychotomy fit makes one."
        ) from error
    model = Model(*(content[key] for key in ("pipeline", "features", "nominal", "facts")))
    return model, _differences(content["versions"], path)


def _check_version(path: Path) -> None:
    """Raise DataError unless a file was written by this version, before its content is opened.

    Format and version are read from the plain text that describes the content.
    """
    try:
        with ZipFile(path) as file:
            parts = json.loads(file.read("schema.json"))["content"]
        if json.loads(parts["format"]["content"]) != _FORMAT:
            raise ValueError(path)
    except (BadZipFile, KeyError, ValueError, TypeError) as error:
        raise DataError(
            f"{path} is not a model of this program, or is damaged; polychotomy fit makes one."
        ) from error
    try:
        version = json.loads(parts["version"]["content"])
        writer = json.loads(parts["versions"]["content"]["polychotomy"]["content"])
    except (KeyError, ValueError, TypeError):
        return  # then the content is not a model's, and opening it says so
    if version != _VERSION:
        raise DataError(
            f"{path} was written by version {writer} of this program, in another form "
            f"({version}, here {_VERSION}): train it again with polychotomy fit."
        )


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside `path` that takes its place when all has been written, and not before."""
    check_can_write(path)
    with replacing(path) as beside, beside.open("wb") as file:
        yield file


def _is_ours(name: str) -> bool:
    """Whether a model may hold a type of this name."""
    if name in _OTHERS:
        return True
    if not name.startswith(tuple(f"polychotomy.{part}." for part in _PARTS)):
        return False
    module, _, attribute = name.rpartition(".")
    return isinstance(getattr(import_module(module), attribute, None), type)


def _versions() -> dict[str, str]:
    import numpy
    import sklearn

    return {
        "polychotomy": polychotomy.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": numpy.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def _differences(versions: dict[str, str], path: Path) -> str:
    here = _versions()
    others = [
        f"{name} {versions[name]} (here {here[name]})"
        for name in ("polychotomy", "scikit-learn")
        if versions[name] != here[name]
    ]
    return f"{path} was written with {', '.join(others)}: results may differ." if others else ""
