"""Training all binary problems at once: kernel rows, solvers, and the classifier made of them."""

from polychotomy.kernel._concatenated import (
    ConcatenatedLearner,
    ConcatenatedSVC,
    fit_concatenated,
)
from polychotomy.kernel._coupled import check_coupling
from polychotomy.kernel._coupling_learner import CoupledModel, CouplingLearner, merged_problems
from polychotomy.kernel._device import beside, is_on_device, to_host
from polychotomy.kernel._functions import resolve_gamma
from polychotomy.kernel._joint_problem import one_blas_thread
from polychotomy.kernel._joint_svc import JointSVC
from polychotomy.kernel._kernel_rows import free_memory
from polychotomy.kernel._kernel_samples import check_samples
from polychotomy.kernel._kernel_store import active_store, rows_kept, shared_kernel
from polychotomy.kernel._svc import SharedKernelSVC
from polychotomy.kernel._threads import count_threads, in_dask_task, uses_cluster_backend

__all__ = [
    "ConcatenatedLearner",
    "ConcatenatedSVC",
    "CoupledModel",
    "CouplingLearner",
    "JointSVC",
    "SharedKernelSVC",
    "active_store",
    "beside",
    "check_coupling",
    "check_samples",
    "count_threads",
    "fit_concatenated",
    "free_memory",
    "in_dask_task",
    "is_on_device",
    "merged_problems",
    "one_blas_thread",
    "resolve_gamma",
    "rows_kept",
    "shared_kernel",
    "to_host",
    "uses_cluster_backend",
]
