"""Lookup of classes by label, or by the text of the label."""

from collections.abc import Sequence
from typing import Any

from polychotomy.errors import StructureError
from polychotomy.structures._convert import relabel
from polychotomy.structures._structure import Label, Structure

_SHOWN = 8


class KnownLabels:
    """The labels of the classes, found by value or by text.

    Parameters
    ----------
    classes : sequence of labels
    """

    def __init__(self, classes: Sequence[Any]) -> None:
        self.labels = [Structure.of_class(label).classes[0] for label in classes]
        self._exact = {label: label for label in self.labels}
        self._written: dict[str, list[Label]] = {}
        for label in self._exact:
            self._written.setdefault(str(label), []).append(label)

    def find(self, label: Label, text: str) -> Label | None:
        """Return the matching label, or None if there is none or more than one."""
        if label in self._exact:
            return self._exact[label]
        written = self._written.get(text, [])
        return written[0] if len(written) == 1 else None

    def words(self) -> str:
        """Return the first labels as words for an error message."""
        known = list(self._exact)
        more = ", …" if len(known) > _SHOWN else ""
        return f"the classes are {', '.join(map(repr, known[:_SHOWN]))}{more}"


def with_labels(structure: Structure, classes: Sequence[Any]) -> Structure:
    """Return the structure with the labels of `classes`; it must have each of them once."""
    known = KnownLabels(classes)
    found: dict[Label, Label] = {}
    taken: set[Label] = set()
    for label in structure.classes:
        meant = known.find(label, str(label))
        if meant is None:
            raise StructureError(
                f"The structure has the class {label!r}, which y does not have; {known.words()}."
            )
        if meant in taken:
            raise StructureError(f"The structure has the class {meant!r} of y twice.")
        found[label] = meant
        taken.add(meant)
    missing = [label for label in known.labels if label not in taken]
    if missing:
        raise StructureError(
            "The structure must have each class of y. "
            f"It lacks {len(missing)}, first {missing[0]!r}."
        )
    return structure if all(a is b for a, b in found.items()) else relabel(structure, found)
