"""Multi-class classification from any binary classifier.

Choose how the classes are split (:mod:`~polychotomy.codes`, :mod:`~polychotomy.structures`), train
the binary problems (:class:`CodeClassifier`, :class:`TreeClassifier`,
:class:`SingleBinaryClassifier`), and get back a class (:mod:`~polychotomy.decoding`), its
probability (:mod:`~polychotomy.probability`), or an honest "don't know".

Names are loaded when they are first used, so that ``import polychotomy`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polychotomy import (
        active,
        assess,
        calibration,
        codes,
        datasets,
        decoding,
        errors,
        evaluate,
        export,
        kernel,
        lab,
        learners,
        linear,
        plot,
        probability,
        readout,
        reductions,
        report,
        structures,
        training,
    )
    from polychotomy.classifiers import (
        CodeClassifier,
        KernelSBCClassifier,
        SingleBinaryClassifier,
        TreeClassifier,
    )
    from polychotomy.codes import Code, available_codes, make_code
    from polychotomy.evaluate import GreedySearchCV, ReductionSearchCV
    from polychotomy.kernel import SharedKernelSVC
    from polychotomy.linear import SharedLinear
    from polychotomy.saving import load, save, trusted_types
    from polychotomy.structures import Structure, format_structure, parse_structure

__version__ = "0.1.0.dev0"

__all__ = [
    "Code",
    "CodeClassifier",
    "GreedySearchCV",
    "KernelSBCClassifier",
    "ReductionSearchCV",
    "SharedKernelSVC",
    "SharedLinear",
    "SingleBinaryClassifier",
    "Structure",
    "TreeClassifier",
    "active",
    "assess",
    "available_codes",
    "calibration",
    "codes",
    "datasets",
    "decoding",
    "errors",
    "evaluate",
    "export",
    "format_structure",
    "kernel",
    "lab",
    "learners",
    "linear",
    "load",
    "make_code",
    "parse_structure",
    "plot",
    "probability",
    "readout",
    "reductions",
    "report",
    "save",
    "structures",
    "training",
    "trusted_types",
]

_HOME = {
    "Code": "codes",
    "CodeClassifier": "classifiers",
    "GreedySearchCV": "evaluate",
    "KernelSBCClassifier": "classifiers",
    "ReductionSearchCV": "evaluate",
    "SharedKernelSVC": "kernel",
    "SharedLinear": "linear",
    "SingleBinaryClassifier": "classifiers",
    "Structure": "structures",
    "TreeClassifier": "classifiers",
    "available_codes": "codes",
    "format_structure": "structures",
    "load": "saving",
    "make_code": "codes",
    "parse_structure": "structures",
    "save": "saving",
    "trusted_types": "saving",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
