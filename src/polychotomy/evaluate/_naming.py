"""Names by content: the key of a cell, and the parameters that go into it."""

import json
import platform
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from inspect import isfunction
from typing import Any

import numpy as np
import sklearn
from scipy.sparse import csr_array, issparse

import polychotomy
from polychotomy.codes import Code, column_blocks
from polychotomy.structures import Structure, format_structure

_WITHOUT_INFLUENCE = ("n_jobs", "verbose")


def cell_key(*, versions: Mapping[str, str], **what: Any) -> str:
    """Return the SHA-256 of all that determines the result of a cell, as hexadecimal digits.

    That is its reduction, base, fold, seed and settings, and the versions of libraries except
    Python's. The name of the data set is not among it; its content is, in the settings.
    """
    deciding = {name: version for name, version in versions.items() if name != "python"}
    return digest({**what, "versions": deciding})


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of a value: sorted keys, no blanks."""
    return sha256(canonical(value).encode()).hexdigest()


def canonical(value: Any) -> str:
    """Return the one JSON text of a value, whatever the order of its keys."""
    options: dict[str, Any] = {"sort_keys": True, "separators": (",", ":"), "allow_nan": False}
    text = json.dumps(value, ensure_ascii=False, **options)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character, which only escapes can write
        return json.dumps(value, **options)
    return text


def current_versions() -> dict[str, str]:
    """Return the versions of the libraries in use."""
    return {
        "polychotomy": polychotomy.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def parameters_of(classifier: Any) -> dict[str, Any]:
    """Return all parameters of an estimator that can change its results, as JSON can hold them.

    Arrays, codes and structures are named by a hash of their content, functions by their name.
    Raises ValueError for what cannot be named so: two different values would look alike.
    """
    return {
        name: _plain(value, inside=False)
        for name, value in sorted(classifier.get_params(deep=True).items())
        if name.rpartition("__")[2] not in _WITHOUT_INFLUENCE
    }


def function_name(function: Any) -> str:
    """Return the name of a function, with its module if that is a user's own.

    Raises ValueError if it has no name of its own.
    """
    name: str = function.__qualname__
    if "<" in name:
        raise ValueError(
            "A function that results depend on must be defined in a module, by name: results are "
            f"kept under that name. Got {name}."
        )
    ours = not isfunction(function) or function.__module__.partition(".")[0] == "polychotomy"
    return name if ours else f"{function.__module__}.{name}"


def _plain(value: Any, inside: bool = True) -> Any:
    """Return a value as JSON can hold it, arrays and the like by a hash of their content.

    `inside` a list or mapping, parameters of an estimator are included; outside, they are among
    the parameters of the estimator that it belongs to.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if hasattr(value, "get_params") and not isinstance(value, type):
        name = type(value).__qualname__
        return [name, parameters_of(value)] if inside else name
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return [str(value.dtype), list(value.shape), sha256(value.tobytes()).hexdigest()]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Code):
        blocks = [_plain(block) for _, block in column_blocks(value.columns)]
        return ["Code", blocks[0] if len(blocks) == 1 else blocks]
    if isinstance(value, Structure):
        return ["Structure", format_structure(value)]
    return function_name(value) if hasattr(value, "__qualname__") else _rarely_met(value)


def _rarely_met(value: Any) -> Any:
    """Name what few parameters hold, or refuse it."""
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, np.dtype):
        return str(value)
    if isinstance(value, np.ndarray):
        return ["object", list(value.shape), [_plain(each) for each in value.ravel().tolist()]]
    if issparse(value):
        rows = csr_array(value)
        return ["sparse", *(_plain(part) for part in (rows.data, rows.indices, rows.indptr))]
    if isinstance(value, Mapping):
        pairs = [[_plain(key), _plain(each)] for key, each in value.items()]
        return ["mapping", sorted(pairs, key=canonical)]
    if isinstance(value, set | frozenset):
        return ["set", sorted((_plain(each) for each in value), key=canonical)]
    if is_dataclass(value):
        parts = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return [type(value).__qualname__, parts]
    if not callable(value) and getattr(value, "__dict__", None) and not _is_random(value):
        return [type(value).__qualname__, {k: _plain(v) for k, v in sorted(vars(value).items())}]
    raise ValueError(
        "Results are kept under the content of all parameters, and this one cannot be named by its "
        f"content. Got {type(value).__module__}.{type(value).__qualname__}."
    )


def _is_random(value: Any) -> bool:
    return isinstance(value, np.random.RandomState | np.random.Generator)
