"""Samples for kernel machines, on the host or on a GPU: checked, and sent where they are needed."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import validate_data

from polychotomy.errors import DeviceError, MissingExtraError
from polychotomy.kernel._device import Device, beside, find_device, is_on_device, to_host
from polychotomy.kernel._model import KernelModel

if TYPE_CHECKING:
    from polychotomy.kernel._svc import SharedKernelSVC


def check_samples(learner: Any, X: Any, *labels: Any, reset: bool = True) -> Any:
    """Validate X, and y if it is given, even as None.

    Numbers in single precision stay so, and arrays on a GPU stay there.
    """
    if not is_on_device(X):
        options: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        return validate_data(learner, X, *labels, reset=reset, **options)
    xp = find_device("cuda").xp  # type: ignore[union-attr]
    X = xp.asarray(X)
    if X.ndim != 2 or not X.size:
        raise ValueError(f"X must have two dimensions and some samples. Got shape {X.shape}.")
    X = X if X.dtype in (np.float32, np.float64) else X.astype(float)
    if not bool(xp.isfinite(X).all()):
        raise ValueError("X must hold finite numbers. It contains NaN or infinity.")
    validate_data(learner, X, skip_check_array=True, reset=reset)
    if not labels:
        return X
    y = check_array(to_host(labels[0]), ensure_2d=False, dtype=None, input_name="y")
    check_consistent_length(X, y)
    return X, y


def device_for(learner: "SharedKernelSVC", X: Any, n_entries: int) -> Device | None:
    """Return where to train `n_entries` samples × problems."""
    if is_on_device(X):
        return find_device("cuda")
    if callable(learner.kernel):
        if learner.device == "cuda":
            raise ValueError(
                "With device='cuda' the kernel must be one of the names. Got a function: use "
                "device='cpu' or 'auto'."
            )
        return None
    return find_device(learner.device, n_entries * X.shape[1])


def outputs_of(learner: "SharedKernelSVC", model: KernelModel, X: Any) -> Any:
    """Return a model's outputs for samples, where these are; on the CPU if there is no GPU."""
    samples = check_samples(learner, X, reset=False)
    try:
        device = device_for(learner, samples, samples.shape[0] * len(model.support))
    except (MissingExtraError, DeviceError):
        device = None
    return beside(model.outputs(samples, device), X)
