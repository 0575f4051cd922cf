"""Decoding: from binary outputs to class scores, a class, or a rejection."""

from polychotomy.decoding._best_classes import best_classes, largest
from polychotomy.decoding._losses import LOSSES, Loss
from polychotomy.decoding._reject import accepted_by_confidence, accepted_by_votes
from polychotomy.decoding._rules import (
    RULES,
    SIGN_RULES,
    check_one_vs_one,
    check_outputs,
    count_votes,
    ddag,
    decode,
)

__all__ = [
    "LOSSES",
    "RULES",
    "SIGN_RULES",
    "Loss",
    "accepted_by_confidence",
    "accepted_by_votes",
    "best_classes",
    "check_one_vs_one",
    "check_outputs",
    "count_votes",
    "ddag",
    "decode",
    "largest",
]
