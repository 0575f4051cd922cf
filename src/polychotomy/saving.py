"""Trained models as files that are safe to open.

A model file is a file of skops with one more part: which versions wrote it, and a checksum.
Needs the extra ``models`` (skops).
"""

import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from pathlib import Path
from pkgutil import iter_modules
from types import FunctionType
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import polychotomy
from polychotomy.errors import ModelError, require
from polychotomy.files import replacing

_FORMAT, _VERSION = "polychotomy model", 5
_RECORD = "polychotomy.json"
_UNSAFE = (".pkl", ".pickle", ".joblib", ".sav")

# What models are made of, in addition to the classes that skops trusts by itself.
_PARTS = (
    *("calibration", "classifiers", "codes", "evaluate", "kernel", "learners", "linear"),
    *("readout", "reductions", "structures", "training"),
)
_TYPES = (*(f"polychotomy.{part}" for part in _PARTS), "polychotomy.datasets.scaling", "sklearn")
_NO_TYPES = ("sklearn.conftest", "sklearn.datasets", "sklearn.experimental", "sklearn.externals")
_NOT_BELOW = ("tests", "_testing", "_build_utils")  # of any package
# Modules whose functions are parts of models. They compute, and touch no files and no names.
_FUNCTIONS = (
    "polychotomy.calibration",
    "polychotomy.datasets._preprocess",
    "polychotomy.evaluate._greedy",
    "sklearn.metrics._classification",
    "sklearn.metrics._ranking",
)
_OTHERS = (
    "builtins.frozenset",
    "collections.OrderedDict",  # this and the next two are parts of LightGBM's models
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "numpy.dtype",
    "scipy.sparse._csc.csc_array",
    "scipy.sparse._csr.csr_array",
)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a trained model to a file that is safe to open, unlike a pickle.

    An existing file is replaced only when the new one is complete.

    Parameters
    ----------
    model : estimator
        A trained classifier or search of this library, or a scikit-learn pipeline or search that
        contains one. If it has an attribute ``notes_``, of JSON's types, that is kept with it.
    path : str or path
        The file, by convention with the ending ``.skops``.

    Raises
    ------
    ModelError
        If the model is not trained or contains nothing of this library, if a part of it cannot be
        saved, or if the ending of the path is that of a pickle.
    FileNotFoundError
        If the folder of the path does not exist.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import polychotomy
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = polychotomy.CodeClassifier(RidgeClassifier(), "one_vs_rest").fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     polychotomy.save(model, Path(folder) / "iris.skops")
    ...     again = polychotomy.load(Path(folder) / "iris.skops")
    >>> (again.predict(X) == model.predict(X)).all()
    np.True_
    >>> again.written_by_["polychotomy"] == polychotomy.__version__
    True
    """
    path = Path(path)
    check_ending(path)
    if not path.resolve().parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}.")
    _check_model(model)
    record = {"format": _FORMAT, "version": _VERSION, "versions": _versions()}
    bare = copy(model)
    for name in ("notes", "written_by"):
        if hasattr(bare, f"{name}_"):
            delattr(bare, f"{name}_")
    try:
        record["notes"] = json.loads(json.dumps(getattr(model, "notes_", None)))
    except (TypeError, ValueError) as error:
        raise ModelError(f"The model cannot be saved: {_one_line(error)}") from error
    content = BytesIO(_dumped(bare))
    with ZipFile(content, "a", compression=ZIP_DEFLATED) as file:
        file.writestr(_RECORD, json.dumps(record | {"checksum": _checksum(file, record)}))
    with replacing(path) as beside:
        beside.write_bytes(content.getbuffer())


def load(path: str | os.PathLike[str], *, trusted: Sequence[str | type] = ()) -> Any:
    """Load a model saved by :func:`save` or ``polychotomy fit``.

    Only trusted classes are loaded (:func:`trusted_types`): a file cannot run code.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : sequence of str or type
        Further classes to load, such as those of a binary classifier of another library. The
        error names those that a file needs.

    Returns
    -------
    estimator
        The model, with the attribute ``written_by_``: a dict of the versions of polychotomy,
        scikit-learn, numpy and python that wrote the file.

    Raises
    ------
    ModelError
        If the file is not a model, is damaged, was changed after it was written or written in
        the form of another version, or contains classes that are not trusted.
    FileNotFoundError
        If the file does not exist.

    Warns
    -----
    UserWarning
        If the file was written with another version of polychotomy or scikit-learn.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import polychotomy
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "iris.skops"
    ...     polychotomy.save(polychotomy.CodeClassifier(RidgeClassifier()).fit(X, y), path)
    ...     polychotomy.load(path).predict(X[:2])
    array([0, 0])
    """
    path = Path(path)
    io = require("skops.io", extra="models")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    content = path.read_bytes()
    record = _record(content, path)
    further = {each if isinstance(each, str) else _name_of(each) for each in trusted}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other versions are reported below
            needed = io.get_untrusted_types(data=content)
            refused = _refused(name for name in needed if name not in further)
            if not refused:
                model = io.loads(content, trusted=needed)
                _check_model(model)
    except Exception as error:  # a damaged file can make any part of the libraries fail
        writer = record["versions"]["polychotomy"]
        raise ModelError(
            f"{path}, written by version {writer} of polychotomy, cannot be opened by this one "
            f"({polychotomy.__version__}): train it again."
        ) from error
    if refused:
        raise ModelError(
            f"{path} contains types that are not trusted, and is not opened: {', '.join(refused)}. "
            "If you trust them, give them to polychotomy.load as 'trusted'."
        )
    if record["notes"] is not None:
        model.notes_ = record["notes"]
    versions, here = record["versions"], _versions()
    model.written_by_ = versions
    others = [
        f"{name} {versions.get(name)} (here {here[name]})"
        for name in ("polychotomy", "scikit-learn")
        if versions.get(name) != here[name]
    ]
    if others:
        warnings.warn(
            f"{path} was written with {', '.join(others)}: results may differ.", stacklevel=2
        )
    return model


def trusted_types() -> list[str]:
    """Return the names of the types that :func:`load` trusts in addition to those of skops.

    They can be given to ``skops.io.load(path, trusted=...)``.

    Examples
    --------
    >>> import polychotomy
    >>> "polychotomy.codes._code.Code" in polychotomy.trusted_types()
    True
    """
    own = (f"{module}.{name}" for module in _modules() for name in vars(import_module(module)))
    return sorted({*_OTHERS, *filter(_is_ours, own)})


def refused_types(model: Any) -> list[str]:
    """Return the types in a trained model that :func:`load` would refuse, by their names.

    Raises ModelError if a part of the model cannot be saved at all.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from polychotomy.saving import refused_types
    >>> refused_types(DecisionTreeClassifier().fit([[0], [1]], [0, 1]))
    []
    """
    return _refused(require("skops.io", extra="models").get_untrusted_types(data=_dumped(model)))


def check_ending(path: Path) -> None:
    """Raise ModelError if a file has the ending of a pickle, which a model is not."""
    if path.suffix.lower() in _UNSAFE:
        raise ModelError(
            f"Models are saved as .skops files, which are safe to open, not as {path.suffix} "
            f"files: name it {path.with_suffix('.skops')}."
        )


def _check_model(model: Any) -> None:
    """Raise ModelError unless this is a trained estimator with a part of this library."""
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    known = isinstance(model, BaseEstimator)
    parts = [model, *model.get_params(deep=True).values()] if known else []
    if not any(_is_below(type(part).__module__, "polychotomy") for part in parts):
        raise ModelError(
            "A model to save must be a trained classifier of polychotomy, or a pipeline or search "
            f"that contains one. Got {type(model).__name__} instead."
        )
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ModelError(
            f"This {type(model).__name__} is not trained. Call its method 'fit' before saving it."
        ) from None


def _record(content: bytes, path: Path) -> dict[str, Any]:
    """Return the record of a file; raise ModelError if it is damaged or not a model."""
    try:
        with ZipFile(BytesIO(content)) as file:
            if _RECORD in file.namelist():
                record = json.loads(file.read(_RECORD))
                checksum = record.pop("checksum")
                whole = checksum == _checksum(file, record)
            else:
                record, whole = _early_record(file), False
        version, writer = record["version"], record["versions"]["polychotomy"]
        complete = whole and isinstance(record["versions"], dict) and "notes" in record
        known = record["format"] == _FORMAT and (version != _VERSION or complete)
    except Exception as error:  # a damaged file can make any part of the libraries fail
        raise _damaged(path) from error
    if not known:
        raise _damaged(path)
    if version != _VERSION:
        raise ModelError(
            f"{path} was written by version {writer} of polychotomy, in another form ({version}, "
            f"here {_VERSION}): train it again."
        )
    found: dict[str, Any] = record
    return found


def _early_record(file: ZipFile) -> dict[str, Any]:
    """Return what a file of the first two forms says about itself, within skops' own schema."""
    content = json.loads(file.read("schema.json"))["content"]
    writer = content["versions"]["content"]["polychotomy"]["content"]
    return {
        "format": json.loads(content["format"]["content"]),
        "version": json.loads(content["version"]["content"]),
        "versions": {"polychotomy": json.loads(writer)},
    }


def _damaged(path: Path) -> ModelError:
    return ModelError(
        f"{path} is not a model of this version of polychotomy, or is damaged: train it again."
    )


def _checksum(file: ZipFile, record: dict[str, Any]) -> str:
    """Return a hash of all parts of a file and of its record."""
    found = sha256(json.dumps(record, sort_keys=True).encode())
    for name in sorted(set(file.namelist()) - {_RECORD}):
        part = file.read(name)
        found.update(f"{name!r} {len(part)}".encode())
        found.update(part)
    return found.hexdigest()


def _dumped(model: Any) -> bytes:
    """Return the content of a file of skops."""
    io = require("skops.io", extra="models")
    content = BytesIO()
    try:
        io.dump(model, content, compression=ZIP_DEFLATED)
    except Exception as error:  # whatever a part of the model raises
        raise ModelError(f"The model cannot be saved: {_one_line(error)}") from error
    return content.getvalue()


def _refused(names: Iterable[str]) -> list[str]:
    return [name for name in names if not _is_ours(name)]


def _is_ours(name: str) -> bool:
    """Whether models may contain this type: one defined by this library or scikit-learn."""
    if name in _OTHERS:
        return True
    module, _, attribute = name.rpartition(".")
    has_types, has_functions = _has_types(module), module in _FUNCTIONS
    if not (has_types or has_functions):
        return False
    found = vars(import_module(module)).get(attribute)
    kinds = (type,) * has_types + (FunctionType,) * has_functions
    return isinstance(found, kinds) and _name_of(found) == name


def _has_types(module: str) -> bool:
    """Whether the types that a module defines may be parts of models."""
    return (
        any(_is_below(module, each) for each in _TYPES)
        and not any(_is_below(module, each) for each in _NO_TYPES)
        and not set(module.split(".")) & set(_NOT_BELOW)
    )


def _is_below(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _name_of(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _modules() -> Iterator[str]:
    """Yield the names of all modules that define parts of models."""
    left = [*_TYPES, *_FUNCTIONS]
    while left:
        name = left.pop()
        if _has_types(name) or name in _FUNCTIONS:
            yield name
            places = getattr(import_module(name), "__path__", [])
            left += [each.name for each in iter_modules(places, f"{name}.")]


def _versions() -> dict[str, str]:
    import numpy
    import sklearn

    return {
        "polychotomy": polychotomy.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": numpy.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
