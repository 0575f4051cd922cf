"""From problems to trained problems and held-out outputs."""

from polychotomy.training._cost_of_pairs import refuse_pairs
from polychotomy.training._inputs import (
    Params,
    check_batch_labels,
    check_data,
    check_labels,
    check_own_weights,
    check_params,
    check_weights,
    class_weights,
    route_params,
    unless_fit_fails,
    weigh,
)
from polychotomy.training._joint_trainer import JointlyTrained, JointTrainer
from polychotomy.training._problems import (
    Asking,
    Counts,
    Folds,
    HeldOut,
    KnownOutputs,
    Problems,
    RememberedOutputs,
    TrainedProblems,
    Trainer,
)
from polychotomy.training._progress import FitProgress
from polychotomy.training._separate_trainer import SeparatelyTrained, SeparateTrainer
from polychotomy.training._shared_problems import shared_problems

__all__ = [
    "Asking",
    "Counts",
    "FitProgress",
    "Folds",
    "HeldOut",
    "JointTrainer",
    "JointlyTrained",
    "KnownOutputs",
    "Params",
    "Problems",
    "RememberedOutputs",
    "SeparateTrainer",
    "SeparatelyTrained",
    "TrainedProblems",
    "Trainer",
    "check_batch_labels",
    "check_data",
    "check_labels",
    "check_own_weights",
    "check_params",
    "check_weights",
    "class_weights",
    "refuse_pairs",
    "route_params",
    "shared_problems",
    "unless_fit_fails",
    "weigh",
]
