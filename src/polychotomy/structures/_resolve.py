"""The 'structure' parameter of a classifier, resolved to a structure of its classes."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Indices
from polychotomy.codes import one_vs_one
from polychotomy.errors import StructureError, unknown_name
from polychotomy.structures._build import BUILDERS
from polychotomy.structures._convert import from_code, relabel
from polychotomy.structures._known_labels import with_labels
from polychotomy.structures._language import MAX_CHARACTERS, parse_structure
from polychotomy.structures._structure import Structure

_NAMES = (*BUILDERS, "ddag")


def needs_samples(structure: Any) -> bool:
    """Whether building the structure needs samples, not only the classes."""
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
    order: Indices | None = None,
) -> Structure:
    """Return the structure that a classifier's 'structure' parameter describes.

    Parameters
    ----------
    structure : str, Structure, path or callable
        The name of a builder, "ddag", a structure, text in the control language, the path of a
        file with such text, or a function of X and the labels that returns any of these.
    classes : ndarray of shape (n_classes,)
        The labels, each of which the structure has once.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Used by builders that need samples, see :func:`needs_samples`.
    y : ndarray of shape (n_samples,), or None
        Class indices; None for one sample of each class.
    distance : str or callable
        Distance between classes, see :func:`class_distances`.
    sample_weight : array-like of shape (n_samples,), or None
    pairwise : bool
        Whether X is a precomputed kernel.
    order : ndarray of shape (n_classes,), optional
        The class indices from first to last, for builders and "ddag"; by default 0, 1, …

    Returns
    -------
    structure : Structure

    Examples
    --------
    >>> import numpy as np
    >>> from polychotomy.structures import resolve_structure
    >>> classes = np.array(["elm", "oak"])
    >>> options = {"distance": "hausdorff", "sample_weight": None, "pairwise": False}
    >>> print(resolve_structure("balanced", classes, None, None, **options))
    "" {elm oak}
    """
    labels = classes.tolist() if order is None else classes[order].tolist()
    if callable(structure):
        structure = structure(X, classes if y is None else classes[y])
    if isinstance(structure, str) and structure == "ddag":
        return from_code(one_vs_one(len(labels)), labels)
    if isinstance(structure, str) and structure in BUILDERS:
        if BUILDERS[structure].needs_distances and pairwise:
            raise ValueError(
                f"structure={structure!r} measures distances between samples, for which a "
                "precomputed kernel is not enough. Give another structure, such as 'balanced'."
            )
        rank = np.arange(len(labels)) if order is None else np.argsort(order)
        tree = BUILDERS[structure].make(X, rank if y is None else rank[y], distance, sample_weight)
        return relabel(tree, dict(enumerate(labels)))
    if isinstance(structure, Structure):
        return with_labels(structure, labels)
    return parse_structure(_text(structure), labels)


def _text(structure: Any) -> str:
    """Return the text in the control language, from a file if `structure` names one."""
    if isinstance(structure, str) and "{" in structure:
        return structure
    if isinstance(structure, os.PathLike) or (isinstance(structure, str) and _is_file(structure)):
        path = Path(structure)
        size = path.stat().st_size
        if size > 4 * MAX_CHARACTERS:
            raise StructureError(
                f"The file of a structure may have at most {MAX_CHARACTERS} characters. "
                f"Got {size} bytes in {path.name}."
            )
        try:
            return path.read_text("utf-8-sig")
        except UnicodeDecodeError as error:
            raise StructureError(f"{path.name} must be a text file in UTF-8: {error}.") from None
    if isinstance(structure, str):
        unknown = unknown_name("structure", structure, _NAMES)
        unknown.add_note("It is neither text in the control language nor the name of a file.")
        raise unknown
    raise ValueError(
        f"The 'structure' parameter must be a builder's name ({', '.join(map(repr, _NAMES))}), a "
        "Structure, text in the control language, the path of a file with such text, or a function "
        f"of X and y. Got {type(structure).__name__}."
    )


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # too long, or with characters that are invalid in file names
        return False
