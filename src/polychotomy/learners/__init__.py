"""Binary learners: what each offers, and ways to train one learner on all problems."""

from polychotomy.learners._additive import additive_kind, why_not_replicated
from polychotomy.learners._boosting import StumpBoosting
from polychotomy.learners._gathered_model import GatheredModel
from polychotomy.learners._learner import (
    JointLearner,
    Learner,
    Says,
    TrainedProblem,
    check_learner,
    has_trusted_probabilities,
    margin_factor,
    minimised_loss,
    problem_seeds,
    with_options,
)
from polychotomy.learners._multi_output import MultiOutputLearner, multi_output
from polychotomy.learners._negatives import NEGATIVES, Negatives
from polychotomy.learners._replicas import (
    Concatenation,
    Placement,
    ReplicaLearner,
    ReplicatedModel,
)
from polychotomy.learners._replication import (
    Concatenated,
    Kesler,
    SingleCall,
    check_rows_differ,
    resolve_extension,
    resolve_replication,
)

__all__ = [
    "NEGATIVES",
    "Concatenated",
    "Concatenation",
    "GatheredModel",
    "JointLearner",
    "Kesler",
    "Learner",
    "MultiOutputLearner",
    "Negatives",
    "Placement",
    "ReplicaLearner",
    "ReplicatedModel",
    "Says",
    "SingleCall",
    "StumpBoosting",
    "TrainedProblem",
    "additive_kind",
    "check_learner",
    "check_rows_differ",
    "has_trusted_probabilities",
    "margin_factor",
    "minimised_loss",
    "multi_output",
    "problem_seeds",
    "resolve_extension",
    "resolve_replication",
    "why_not_replicated",
    "with_options",
]
