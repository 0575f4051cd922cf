"""Ways to split classes: a class, or a code over structures. Trees, flat codes and hybrids."""

from polychotomy.structures._build import balanced, chain, linkage, order_classes
from polychotomy.structures._convert import (
    flatten,
    from_code,
    from_linkage,
    name_problems,
    nest,
    relabel,
    two_children,
)
from polychotomy.structures._distances import class_distances
from polychotomy.structures._format import format_structure
from polychotomy.structures._language import parse_structure
from polychotomy.structures._structure import Problem, Structure

__all__ = [
    "Problem",
    "Structure",
    "balanced",
    "chain",
    "class_distances",
    "flatten",
    "format_structure",
    "from_code",
    "from_linkage",
    "linkage",
    "name_problems",
    "nest",
    "order_classes",
    "parse_structure",
    "relabel",
    "two_children",
]
