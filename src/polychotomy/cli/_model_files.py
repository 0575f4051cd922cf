"""Trained models as files that are safe to open."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, BadZipFile

import polychotomy
from polychotomy._files import replacing
from polychotomy.cli._files import check_can_write
from polychotomy.errors import DataError, require

_FORMAT, _VERSION = "polychotomy model", 1

# What a model is made of beside scikit-learn's own classes.
_PARTS = ("calibration", "choose", "classifiers", "codes", "kernel", "learners", "structures")
_OTHERS = frozenset(
    {
        "numpy.dtype",
        "scipy.sparse._csc.csc_array",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
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
        The columns it goes by, and which of them are nominal.
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
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise DataError(f"{path} is not a model of this program; polychotomy fit makes one.")
    if content["version"] != _VERSION:
        raise DataError(
            f"{path} was written by another version of this program "
            f"({content['versions']['polychotomy']}): train it again with polychotomy fit."
        )
    model = Model(*(content[key] for key in ("pipeline", "features", "nominal", "facts")))
    return model, _differences(content["versions"], path)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside `path` that takes its place when all has been written, and not before."""
    check_can_write(path)
    with replacing(path) as beside, beside.open("wb") as file:
        yield file


def _is_ours(name: str) -> bool:
    """Whether a model may hold what goes by this name."""
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
