"""The scorer of a search, and the arguments that it and the training get."""

from inspect import signature
from typing import Any

from sklearn.metrics import accuracy_score, check_scoring, make_scorer
from sklearn.utils.metadata_routing import _routing_enabled, process_routing
from sklearn.utils.validation import _check_method_params


def check_scorer(classifier: Any, scoring: Any) -> Any:
    """Return the scorer of a name, a function or None: the accuracy, weighted if samples are."""
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise ValueError(
            "The 'scoring' parameter must be a name, a function or None: reductions are "
            f"compared by one score. Got {type(scoring).__name__}."
        )
    if scoring is not None:
        return check_scoring(classifier, scoring)
    accuracy = make_scorer(accuracy_score)
    return accuracy.set_score_request(sample_weight=True) if _routing_enabled() else accuracy


def uses_probabilities(scorer: Any) -> bool:
    """Whether a scorer uses probabilities, as far as that is known."""
    asked = getattr(scorer, "_response_method", "")
    return "predict_proba" in ([asked] if isinstance(asked, str) else asked)


def score_name(scoring: Any) -> str:
    """Return the name of a score for messages."""
    if scoring is None:
        return "accuracy"
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")


def route_params(
    search: Any, X: Any, params: dict[str, Any], scorer: Any
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the arguments for training, for splitting and for scoring."""
    params = _check_method_params(X, params)
    if _routing_enabled():
        routed = process_routing(search, "fit", **params)
        return routed.classifier.fit, routed.splitter.split, routed.scorer.score
    split = {"groups": params.pop("groups", None)}
    weight = params.get("sample_weight")
    weighted = weight is not None and _takes_weights(scorer)
    return params, split, {"sample_weight": weight} if weighted else {}


def _takes_weights(scorer: Any) -> bool:
    if hasattr(scorer, "_accept_sample_weight"):
        return bool(scorer._accept_sample_weight())
    return "sample_weight" in signature(scorer).parameters
