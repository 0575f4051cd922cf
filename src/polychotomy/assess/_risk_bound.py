"""The risk bound of SBC-KERNEL: Srebro and Ben-David's theorem, carried over to many classes."""

from math import e, inf, log, sqrt
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polychotomy.codes import check_positive


def risk_bound(
    outputs: ArrayLike,
    y: ArrayLike,
    *,
    margin: float,
    radius: float,
    n_bases: int,
    delta: float = 0.05,
    norm: float | None = None,
) -> float:
    """Return the bound (26) on the error of a single binary classifier with a learned kernel.

    With m samples, c classes, t = mc replicas, n basis kernels, Σ μ ≤ R, margin γ and ε the
    fraction of training replicas whose output on their own side is at most γ, it is

        c ε + c √(8 (2 + n log(128 e t³ R / (γ² n)) + (256 R / γ) log(γ e t / (8 √R))
                     log(128 t R / γ²) − log δ) / t).

    The factor c comes from inequality (23), by which a wrong prediction takes a wrong replica; the
    first logarithm pays for the choice of μ, the product of the others for that of the SVM.

    Parameters
    ----------
    outputs : array-like of shape (n_samples, n_classes)
        Outputs on the training samples without the bias: ``binary_outputs(X) - intercept_`` of a
        :class:`~polychotomy.KernelSBCClassifier`. Its bias is one for all replicas and changes no
        prediction, and the theorem is about classifiers without.
    y : array-like of shape (n_samples,)
        Class indices.
    margin : float
        γ, on the scale of the outputs; if `norm` is given, of these divided by it.
    radius : float
        R, ``radius_`` of the classifier.
    n_bases : int
        n, the number of its ``weights_``.
    delta : float, default=0.05
        δ: the bound holds with probability 1 − δ over the draw of the training samples, for a γ
        and R chosen before.
    norm : float, optional
        ``norm_`` of the classifier, to read the theorem as Srebro and Ben-David prove it. As
        printed, (26) seems to differ from that in two ways: it has R/γ in place of R/γ², and its γ
        is not the margin of a classifier of norm 1.

    Returns
    -------
    bound : float
        Above 1 it says nothing, as for any number of samples that one can train on. Infinite where
        the argument of a logarithm is below 1: there are too few samples for the margin, or the
        margin is larger than any.

    References
    ----------
    El-Yaniv, Pechyony and Yom-Tov, "Superior multi-class classification through a margin-optimized
    single binary problem", section 4; Srebro and Ben-David (2006), "Learning bounds for support
    vector machines with learned kernels".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polychotomy import KernelSBCClassifier
    >>> from polychotomy.assess import risk_bound
    >>> X, y = load_iris(return_X_y=True)
    >>> sbc = KernelSBCClassifier(probability=None).fit(X, y)
    >>> outputs = sbc.binary_outputs(X) - sbc.intercept_
    >>> risk_bound(outputs, y, margin=0.5, radius=sbc.radius_, n_bases=3) > 1
    True
    """
    gamma, delta = check_bound_parameters(margin, delta)
    F, classes = np.asarray(outputs, dtype=float), np.asarray(y)
    m, c = F.shape
    margins = np.where(classes[:, np.newaxis] == np.arange(c), F, -F)
    return multiclass_risk_bound(
        float(np.mean(margins <= gamma * (1.0 if norm is None else norm))),
        n_samples=m,
        n_classes=c,
        n_bases=n_bases,
        radius=radius,
        margin=gamma,
        delta=delta,
        corrected=norm is not None,
    )


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
    >>> from polychotomy.assess._risk_bound import multiclass_risk_bound
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


def check_bound_parameters(margin: Any, delta: Any) -> tuple[float, float]:
    """Return margin and δ, or raise ValueError."""
    if not isinstance(delta, Real) or not 0 < float(delta) < 1:
        raise ValueError(f"The 'delta' parameter must be a number between 0 and 1. Got {delta!r}.")
    return check_positive("margin", margin), float(delta)
