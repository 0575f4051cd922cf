"""The model that a report shows: the recommended method, trained on all samples."""

from typing import TYPE_CHECKING, Any

from polychotomy.cli._running import tell

if TYPE_CHECKING:
    from polychotomy.evaluate import Samples, Task


def train_recommended(task: "Task", samples: "Samples", jobs: int) -> Any:
    """Return the method of a task, trained on all samples, and tell the user what takes so long.

    None, with the reason told, if it cannot be trained: a report can do without.
    """
    from polychotomy.evaluate import train_task

    method = f"{task.reduction} ({task.base})"
    tell(f"Training {method} on all {len(samples.y)} samples of {samples.name} for the report …")
    try:
        model = train_task(task, samples.data, samples.targets, n_jobs=jobs)
    except Exception as error:  # whatever a learner may raise
        tell(f"The report shows no trained model: {' '.join(str(error).split())}")
        return None
    tell(f"That took {model.seconds:.1f} s.")
    return model.estimator
