"""From problems to trained problems and held-out outputs."""

from polychotomy.training._cost_of_pairs import refuse_pairs
from polychotomy.training._inputs import (
    Params,
    TrainingData,
    check_data,
    check_labels,
    check_own_weights,
    check_params,
    class_weights,
    part_of_batch,
    unless_fit_fails,
    weigh,
)
from polychotomy.training._joint_trainer import JointlyTrained, JointTrainer
from polychotomy.training._problems import (
    Asking,
    Counts,
    HeldOut,
    KnownOutputs,
    Problems,
    RememberedOutputs,
    TrainedProblems,
    Trainer,
)
from polychotomy.training._progress import FitProgress
from polychotomy.training._reservoir import Reservoir
from polychotomy.training._separate_trainer import SeparatelyTrained, SeparateTrainer
from polychotomy.training._shared_problems import shared_problems

__all__ = [
    "Asking",
    "Counts",
    "FitProgress",
    "HeldOut",
    "JointTrainer",
    "JointlyTrained",
    "KnownOutputs",
    "Params",
    "Problems",
    "RememberedOutputs",
    "Reservoir",
    "SeparateTrainer",
    "SeparatelyTrained",
    "TrainedProblems",
    "Trainer",
    "TrainingData",
    "check_data",
    "check_labels",
    "check_own_weights",
    "check_params",
    "class_weights",
    "part_of_batch",
    "refuse_pairs",
    "shared_problems",
    "unless_fit_fails",
    "weigh",
]
