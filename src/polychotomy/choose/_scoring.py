"""What a search must know of its score."""

from inspect import signature
from typing import Any


def goes_by_probability(scorer: Any) -> bool:
    """Whether a scorer looks at probabilities, where that can be told."""
    asked = getattr(scorer, "_response_method", "")
    return "predict_proba" in ([asked] if isinstance(asked, str) else asked)


def takes_weights(scorer: Any) -> bool:
    """Whether a scorer takes the weights of samples."""
    if hasattr(scorer, "_accept_sample_weight"):
        return bool(scorer._accept_sample_weight())
    return "sample_weight" in signature(scorer).parameters


def score_name(scoring: Any) -> str:
    """Return what to call a score."""
    if scoring is None:
        return "accuracy"
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
