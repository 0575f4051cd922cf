"""How the binary problems are trained."""

from polychotomy.learners._losses import minimised_loss
from polychotomy.learners._progress import FitProgress
from polychotomy.learners._separate import (
    TrainedProblem,
    outputs_of,
    seeded_clone,
    train_problems,
)
from polychotomy.learners._words import problem_words

__all__ = [
    "FitProgress",
    "TrainedProblem",
    "minimised_loss",
    "outputs_of",
    "problem_words",
    "seeded_clone",
    "train_problems",
]
