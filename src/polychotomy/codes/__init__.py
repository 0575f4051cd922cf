"""Which binary questions are asked: code matrices over {−1, 0, +1}."""

from polychotomy.codes._algebraic import bch, hamming
from polychotomy.codes._code import Code, hamming_distance
from polychotomy.codes._hadamard import orthogonal
from polychotomy.codes._random import dense_random, sparse_random
from polychotomy.codes._registry import available_codes, make_code
from polychotomy.codes._standard import adjacent, exhaustive, one_vs_one, one_vs_rest

__all__ = [
    "Code",
    "adjacent",
    "available_codes",
    "bch",
    "dense_random",
    "exhaustive",
    "hamming",
    "hamming_distance",
    "make_code",
    "one_vs_one",
    "one_vs_rest",
    "orthogonal",
    "sparse_random",
]
