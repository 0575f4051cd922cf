"""How the binary problems are trained."""

from polychotomy.learners._joint import JointLearner, JointlyTrained, JointModel, train_jointly
from polychotomy.learners._losses import minimised_loss
from polychotomy.learners._problems import BinaryProblems, problem_words
from polychotomy.learners._progress import FitProgress
from polychotomy.learners._separate import SeparateModel, TrainedProblem, seeded_clone
from polychotomy.learners._sharing import shared_problems

__all__ = [
    "BinaryProblems",
    "FitProgress",
    "JointLearner",
    "JointModel",
    "JointlyTrained",
    "SeparateModel",
    "TrainedProblem",
    "minimised_loss",
    "problem_words",
    "seeded_clone",
    "shared_problems",
    "train_jointly",
]
