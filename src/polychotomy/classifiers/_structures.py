"""The structure that a classifier is told to use, fitted to the classes there are."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.codes import one_vs_one
from polychotomy.errors import StructureError, unknown_name
from polychotomy.structures import Structure, from_code, parse_structure
from polychotomy.structures._build import BUILDERS
from polychotomy.structures._labels import with_labels
from polychotomy.structures._language import MAX_CHARACTERS

Indices = NDArray[np.intp]

_NAMES = (*BUILDERS, "ddag")


def goes_by_data(structure: Any) -> bool:
    """Whether a structure cannot be made without samples."""
    if isinstance(structure, str):
        return structure in BUILDERS and BUILDERS[structure].needs_samples
    return callable(structure)


def resolve_structure(
    structure: Any,
    classes: NDArray[Any],
    X: Any,
    y: Indices | None,
    *,
    distance: Any,
    sample_weight: Any,
    pairwise: bool,
) -> Structure:
    """Return the structure from a builder's name, a structure, text, a path or a function.

    Its labels are those of `classes`, each once.
    """
    labels = classes.tolist()
    if callable(structure):
        structure = structure(X, classes if y is None else classes[y])
    if isinstance(structure, str) and structure == "ddag":
        return from_code(one_vs_one(len(labels)), labels)
    if isinstance(structure, str) and structure in BUILDERS:
        if BUILDERS[structure].needs_distances and pairwise:
            raise ValueError(
                f"structure={structure!r} measures distances between samples and cannot go by a "
                "precomputed kernel. Give another structure, such as 'balanced'."
            )
        y_labels = classes if y is None else classes[y]
        return BUILDERS[structure].make(X, y_labels, distance, sample_weight)
    if isinstance(structure, Structure):
        return with_labels(structure, labels)
    return parse_structure(_text(structure), labels)


def _text(structure: Any) -> str:
    """Return text in the control language, read from a file if it names one."""
    if isinstance(structure, str) and "{" in structure:
        return structure
    if isinstance(structure, os.PathLike) or (isinstance(structure, str) and _is_file(structure)):
        path = Path(structure)
        size = path.stat().st_size
        if size > 4 * MAX_CHARACTERS:
            raise StructureError(
                f"The file of a structure may have {MAX_CHARACTERS} characters. "
                f"Got {size} bytes in {path.name}."
            )
        try:
            return path.read_text("utf-8-sig")
        except UnicodeDecodeError as error:
            raise StructureError(f"{path.name} must be a text file in UTF-8: {error}.") from None
    if isinstance(structure, str):
        unknown = unknown_name("structure", structure, _NAMES)
        unknown.add_note("It is also neither text in the control language nor the name of a file.")
        raise unknown
    raise ValueError(
        f"The 'structure' parameter must be a builder's name ({', '.join(map(repr, _NAMES))}), a "
        "Structure, text in the control language, the path of a file with it, or a function of X "
        f"and y. Got {type(structure).__name__}."
    )


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # too long, or with characters that no file name has
        return False
