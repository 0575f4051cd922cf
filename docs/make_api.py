"""Writes the pages of the API, a page for each public package, from what the packages list.

``make docs`` calls it. A package's first names are those that most users need, in the order given
here; every further public name follows by itself, so that no name can be forgotten.
"""

import inspect
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import GenericAlias

import polychotomy

# What most users need of a package, in the order in which they need it.
FIRST = {
    "polychotomy": {
        "Classifiers": [
            "CodeClassifier",
            "TreeClassifier",
            "SingleBinaryClassifier",
            "KernelSBCClassifier",
        ],
        "Binary learners for many problems": ["SharedKernelSVC", "SharedLinear"],
        "Searches": ["ReductionSearchCV", "GreedySearchCV"],
        "Codes and structures": [
            "make_code",
            "available_codes",
            "Code",
            "parse_structure",
            "format_structure",
            "Structure",
        ],
        "Saving": ["save", "load", "trusted_types"],
    },
    "polychotomy.codes": {
        "Codes": [
            "one_vs_rest",
            "one_vs_one",
            "exhaustive",
            "dense_random",
            "sparse_random",
            "hamming",
            "bch",
            "orthogonal",
            "adjacent",
            "trellis",
            "assigned",
        ]
    },
    "polychotomy.structures": {
        "Building structures": [
            "balanced",
            "chain",
            "linkage",
            "kmeans",
            "from_code",
            "from_linkage",
            "single_node",
            "two_children",
            "nest",
            "flatten",
        ],
        "Distances and orders": ["class_distances", "order_classes", "ordered_categories"],
    },
    "polychotomy.decoding": {"Decoding": ["decode", "ddag", "best_classes", "RULES", "LOSSES"]},
    "polychotomy.probability": {"Probabilities": ["solve", "METHODS", "Method"]},
    "polychotomy.datasets": {
        "Data": [
            "load",
            "read",
            "read_features",
            "stream",
            "Stream",
            "ArrayStream",
            "make_preprocessor",
            "available",
            "describe",
            "make_waveform",
            "make_bands",
        ]
    },
    "polychotomy.learners": {
        "Replication": ["Concatenated", "SingleCall", "Kesler"],
        "Learners": ["StumpBoosting", "JointLearner"],
    },
    "polychotomy.kernel": {
        "Shared kernels": ["shared_kernel", "free_memory"],
    },
    "polychotomy.reductions": {
        "By name": [
            "available_reductions",
            "available_bases",
            "make_base",
            "suitable_reductions",
            "Reduction",
        ]
    },
    "polychotomy.evaluate": {
        "Judging": ["recommend", "Recommendation", "summarise", "Summary", "Task", "Cell"]
    },
}
OTHERS = "For extensions"


def public_packages():
    """Return the names of all public packages and modules, ``polychotomy`` first."""
    names = [n for n in polychotomy.__all__ if inspect.ismodule(getattr(polychotomy, n))]
    packages = [f"polychotomy.{name}" for name in names]
    return ["polychotomy", *packages, "polychotomy.lab.experiments", "polychotomy.lab.published"]


def public_names(package):
    """Return the names that a package lists, or what a module defines, without its modules."""
    module = import_module(package)
    listed = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", package) == package
    ]
    return [name for name in listed if not inspect.ismodule(getattr(module, name))]


def home_of(package, name):
    """Return the package under which a name is documented: ``polychotomy`` where it has it."""
    top = getattr(polychotomy, name, None) if name in polychotomy.__all__ else None
    return "polychotomy" if top is getattr(import_module(package), name) else package


def groups(package):
    """Return headings and the names below them, every public name once."""
    found = {heading: list(names) for heading, names in FIRST.get(package, {}).items()}
    named = {name for names in found.values() for name in names}
    rest = sorted(set(public_names(package)) - named, key=str.lower)
    rest = [name for name in rest if home_of(package, name) == package]
    if rest:
        found[OTHERS if found else "Names"] = rest
    return found


def documented():
    """Return every public name with the package that it is documented in."""
    return [f"{p}.{n}" for p in public_packages() for names in groups(p).values() for n in names]


def file_names():
    """Return other file names for names that differ by case only, as not every disk knows case."""
    every = documented()
    lower = Counter(name.lower() for name in every)
    clashes = [name for name in every if lower[name.lower()] > 1 and name != name.lower()]
    return {n: f"{n}-{'class' if n.rpartition('.')[2][1].islower() else 'data'}" for n in clashes}


def page(package):
    """Return the page of a package in reStructuredText."""
    module = import_module(package)
    lines = [package, "=" * len(package), "", f".. automodule:: {package}", "   :no-members:", ""]
    lines += [f".. currentmodule:: {package}", ""]
    elsewhere = [n for n in public_names(package) if home_of(package, n) != package]
    if elsewhere:
        links = ", ".join(f":obj:`~polychotomy.{name}`" for name in elsewhere)
        lines += [f"Documented as names of :doc:`polychotomy <polychotomy>`: {links}.", ""]
    for heading, names in groups(package).items():
        aliases = [name for name in names if isinstance(getattr(module, name), GenericAlias)]
        names = [name for name in names if name not in aliases]
        lines += [heading, "-" * len(heading), "", ".. autosummary::", "   :toctree: generated/"]
        lines += ["   :nosignatures:", "", *(f"   {name}" for name in names), ""]
        for name in aliases:
            lines += [f".. py:data:: {name}", f"   :value: {getattr(module, name)}", ""]
    return "\n".join(lines)


def index():
    """Return the first page of the API, with a line for each package."""
    lines = ["API", "===", "", "Every public name. The first page is all that most users need.", ""]
    lines += [".. list-table::", ""]
    for package in public_packages():
        summary = inspect.getdoc(import_module(package)).splitlines()[0]
        lines += [f"   * - :doc:`{package}`", f"     - {summary}"]
    lines += ["   * - :doc:`command-line`", "     - Every command with its options.", ""]
    lines += [".. toctree::", "   :hidden:", ""]
    lines += [f"   {package}" for package in public_packages()]
    return "\n".join([*lines, "   command-line", ""])


def write_pages(folder: Path) -> None:
    """Write all pages into a folder; unchanged ones are left alone."""
    folder.mkdir(exist_ok=True)
    pages = {package: page(package) for package in public_packages()} | {"index": index()}
    others = file_names()
    known = {f"{others.get(name, name)}.rst" for name in documented()}
    for stale in (p for p in folder.glob("generated/*.rst") if p.name not in known):
        stale.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
