"""Run independent tasks: in this process, on joblib's workers, or on a Dask cluster."""

from polychotomy.parallel._client import connected, count_workers
from polychotomy.parallel._cluster_backend import joblib_on_cluster
from polychotomy.parallel._map_tasks import map_tasks, uses_cluster

__all__ = [
    "connected",
    "count_workers",
    "joblib_on_cluster",
    "map_tasks",
    "uses_cluster",
]
