"""Evaluation: error bounds, binary errors, quality of probabilities, significance tests."""

from polychotomy.assess._binary_errors import BinaryErrors, binary_errors
from polychotomy.assess._bound import TrainingErrorBound, training_error_bound
from polychotomy.assess._pairs import (
    BootstrapInterval,
    McNemarTest,
    ResampledTTest,
    bootstrap_difference,
    corrected_resampled_t,
    mcnemar,
)
from polychotomy.assess._probabilities import (
    RejectCurve,
    Reliability,
    brier_score,
    expected_calibration_error,
    log_loss,
    reject_curve,
    reliability,
    uncertainty_coefficient,
)
from polychotomy.assess._ranks import RankTest, average_ranks, friedman, iman_davenport
from polychotomy.assess._risk_bound import risk_bound
from polychotomy.assess._signed_rank import (
    RankIntervals,
    SignedRankPosterior,
    bayesian_signed_rank,
    bootstrap_ranks,
)
from polychotomy.assess._significance import HolmTest, NemenyiTest, adjust_by_holm, holm, nemenyi

__all__ = [
    "BinaryErrors",
    "BootstrapInterval",
    "HolmTest",
    "McNemarTest",
    "NemenyiTest",
    "RankIntervals",
    "RankTest",
    "RejectCurve",
    "Reliability",
    "ResampledTTest",
    "SignedRankPosterior",
    "TrainingErrorBound",
    "adjust_by_holm",
    "average_ranks",
    "bayesian_signed_rank",
    "binary_errors",
    "bootstrap_difference",
    "bootstrap_ranks",
    "brier_score",
    "corrected_resampled_t",
    "expected_calibration_error",
    "friedman",
    "holm",
    "iman_davenport",
    "log_loss",
    "mcnemar",
    "nemenyi",
    "reject_curve",
    "reliability",
    "risk_bound",
    "training_error_bound",
    "uncertainty_coefficient",
]
