"""Structures: trees, flat codes and hybrids that split the classes into binary problems."""

from polychotomy.structures._build import (
    BUILDERS,
    TreeBuilder,
    balanced,
    chain,
    linkage,
    order_classes,
)
from polychotomy.structures._class_order import ordered_categories, resolve_class_order
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
from polychotomy.structures._kmeans import kmeans
from polychotomy.structures._known_labels import with_labels
from polychotomy.structures._language import MAX_CHARACTERS, parse_structure
from polychotomy.structures._layout import Node, lay_out, single_node
from polychotomy.structures._resolve import needs_samples, resolve_structure
from polychotomy.structures._structure import Problem, Structure

__all__ = [
    "BUILDERS",
    "MAX_CHARACTERS",
    "Node",
    "Problem",
    "Structure",
    "TreeBuilder",
    "balanced",
    "chain",
    "class_distances",
    "flatten",
    "format_structure",
    "from_code",
    "from_linkage",
    "kmeans",
    "lay_out",
    "linkage",
    "name_problems",
    "needs_samples",
    "nest",
    "order_classes",
    "ordered_categories",
    "parse_structure",
    "relabel",
    "resolve_class_order",
    "resolve_structure",
    "single_node",
    "two_children",
    "with_labels",
]
