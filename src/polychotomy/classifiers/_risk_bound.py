"""The risk bound of SBC-KERNEL: Srebro and Ben-David's theorem, carried over to many classes."""

from math import e, inf, log, sqrt
from numbers import Real


def multiclass_risk_bound(
    margin_error: float,
    *,
    n_samples: int,
    n_classes: int,
    n_bases: int,
    radius: float,
    margin: float,
    delta: float,
    corrected: bool = False,
) -> float:
    """Return the bound (26) on the multi-class error of a single binary classifier.

    With m samples, c classes, t = mc replicas, n basis kernels, Σ μ ≤ R, margin γ and ε the
    fraction of replicas whose margin is at most γ, it is

        c ε + c √(8 (2 + n log(128 e t³ R / (γ² n)) + A log(γ e t / (8 √R)) log(128 t R / γ²)
                     − log δ) / t),

    where A = 256 R/γ as printed, or 256 R/γ² if `corrected`.

    Parameters
    ----------
    margin_error : float
        ε.
    n_samples, n_classes, n_bases : int
        m, c and n.
    radius : float
        R.
    margin : float
        γ.
    delta : float
        The bound holds with probability 1 − δ over the draw of the training samples.
    corrected : bool, default=False

    Returns
    -------
    bound : float
        Above 1 it says nothing. Infinite where the argument of a logarithm is below 1: there are
        too few samples for the margin, or the margin is larger than any.

    Examples
    --------
    >>> from polychotomy.classifiers._risk_bound import multiclass_risk_bound
    >>> bound = multiclass_risk_bound(0.01, n_samples=10**12, n_classes=3, n_bases=3, radius=1,
    ...                               margin=0.5, delta=0.05)
    >>> round(bound, 4)
    0.0334
    """
    t, n, R = n_samples * n_classes, n_bases, radius
    ratios = (
        128 * e * t**3 * R / (margin**2 * n),
        margin * e * t / (8 * sqrt(R)),
        128 * t * R / margin**2,
    )
    if min(ratios) < 1:
        return inf
    family, separation, scale = (log(ratio) for ratio in ratios)
    steepness = 256 * R / (margin**2 if corrected else margin)
    complexity = 2 + n * family + steepness * separation * scale - log(delta)
    return n_classes * (margin_error + sqrt(8 * complexity / t))


def check_bound_parameters(margin: object, delta: object) -> tuple[float, float]:
    """Return margin and δ, or raise ValueError."""
    if not isinstance(margin, Real) or not 0 < float(margin) < inf:
        raise ValueError(f"The 'margin' parameter must be a positive number. Got {margin!r}.")
    if not isinstance(delta, Real) or not 0 < float(delta) < 1:
        raise ValueError(f"The 'delta' parameter must be a number between 0 and 1. Got {delta!r}.")
    return float(margin), float(delta)
