"""Run independent tasks: in this process, on joblib's workers, or on a Dask cluster."""

from polychotomy.parallel._client import connected, count_threads, count_workers, uses_cluster
from polychotomy.parallel._cluster_backend import joblib_on_cluster
from polychotomy.parallel._map_tasks import map_tasks

__all__ = [
    "connected",
    "count_threads",
    "count_workers",
    "joblib_on_cluster",
    "map_tasks",
    "uses_cluster",
]
