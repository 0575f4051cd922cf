"""Problems of several joint models as one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polychotomy.arrays import Array
from polychotomy.kernel import to_host


@dataclass(frozen=True, eq=False)
class GatheredModel:
    """Problems of several joint models, as if they had been trained at once.

    `places` has the model of each problem, and its number there.
    """

    places: tuple[tuple[Any, int], ...]

    def outputs(self, X: Any, kind: str = "margin") -> Array:
        """Return the outputs of all problems, shape (n_samples, n_problems)."""
        outputs = np.empty((X.shape[0], len(self.places)))
        for model, columns in self._models:
            said = model.outputs(X) if kind == "margin" else model.outputs(X, kind)
            outputs[:, columns] = to_host(said)
        return outputs

    def part(self, problems: Sequence[int]) -> "GatheredModel":
        """Return the model of some of the problems."""
        return GatheredModel(tuple(self.places[s] for s in problems))

    def estimator(self, s: int) -> Any:
        """Return one problem as a trained binary classifier of the labels 0 and 1."""
        model, place = self.places[s]
        return model.estimator(place)

    @cached_property
    def _models(self) -> list[tuple[Any, list[int]]]:
        """The needed part of each model, and the columns of its problems here."""
        found: dict[int, tuple[Any, list[int]]] = {}
        for s, (model, _) in enumerate(self.places):
            found.setdefault(id(model), (model, []))[1].append(s)
        return [
            (model.part([self.places[s][1] for s in own]), own) for model, own in found.values()
        ]
