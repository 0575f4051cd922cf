"""Code matrices over {−1, 0, +1}, which define the binary problems."""

from polychotomy.codes._algebraic import bch, hamming
from polychotomy.codes._assignment import assigned
from polychotomy.codes._code import Code, check_entries, hamming_distance
from polychotomy.codes._distinct import DistinctProblems, distinct_problems
from polychotomy.codes._hadamard import orthogonal
from polychotomy.codes._parameters import check_int, check_positive
from polychotomy.codes._problem_words import describe_problems, problem_words
from polychotomy.codes._random import dense_random, sparse_random
from polychotomy.codes._registry import (
    ALIASES,
    available_codes,
    check_ordered,
    check_rows,
    make_code,
    order_remark,
    resolve_code,
)
from polychotomy.codes._rule_matrix import RuleMatrix, column_blocks
from polychotomy.codes._standard import adjacent, exhaustive, one_vs_one, one_vs_rest
from polychotomy.codes._targets import Targets, are_sides
from polychotomy.codes._trellis import trellis

__all__ = [
    "ALIASES",
    "Code",
    "DistinctProblems",
    "RuleMatrix",
    "Targets",
    "adjacent",
    "are_sides",
    "assigned",
    "available_codes",
    "bch",
    "check_entries",
    "check_int",
    "check_ordered",
    "check_positive",
    "check_rows",
    "column_blocks",
    "dense_random",
    "describe_problems",
    "distinct_problems",
    "exhaustive",
    "hamming",
    "hamming_distance",
    "make_code",
    "one_vs_one",
    "one_vs_rest",
    "order_remark",
    "orthogonal",
    "problem_words",
    "resolve_code",
    "sparse_random",
    "trellis",
]
