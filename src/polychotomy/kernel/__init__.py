"""Training all binary problems at once: kernel rows, solvers, and the classifier made of them."""

from polychotomy.kernel._concatenated import ConcatenatedSVC, fit_concatenated
from polychotomy.kernel._joint import JointSVC
from polychotomy.kernel._rows import free_memory
from polychotomy.kernel._store import rows_kept, shared_kernel
from polychotomy.kernel._svc import SharedKernelSVC

__all__ = [
    "ConcatenatedSVC",
    "JointSVC",
    "SharedKernelSVC",
    "fit_concatenated",
    "free_memory",
    "rows_kept",
    "shared_kernel",
]
