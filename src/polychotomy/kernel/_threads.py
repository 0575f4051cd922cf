"""How many threads ``n_jobs`` means on this machine, whatever backend joblib uses."""

import sys

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` means on this machine, as joblib counts workers."""
    if not uses_cluster_backend():
        return int(effective_n_jobs(n_jobs))
    if in_dask_task():
        return 1
    with parallel_config(backend="threading", n_jobs=1):
        return int(effective_n_jobs(n_jobs))


def uses_cluster_backend() -> bool:
    """Whether the configured joblib backend is that of Dask, or ours."""
    return type(get_active_backend()[0]).__name__ in ("DaskDistributedBackend", "ClusterBackend")


def in_dask_task() -> bool:
    """Whether this code runs within a Dask task, which must not wait for further tasks."""
    if "distributed" not in sys.modules:
        return False
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True
