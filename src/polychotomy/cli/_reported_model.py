"""The model that a report shows: the recommended method, trained on all samples."""

from typing import TYPE_CHECKING, Any

from polychotomy.cli._running import print_message

if TYPE_CHECKING:
    from polychotomy.evaluate import Samples, Task


def train_recommended(task: "Task", samples: "Samples", jobs: int) -> Any:
    """Return the method of a task, trained on all samples, and print how long that takes.

    If it cannot be trained, print the reason and return None.
    """
    from polychotomy.evaluate import train_task

    method = f"{task.reduction} ({task.base})"
    print_message(
        f"Training {method} on all {len(samples.y)} samples of {samples.name} for the report …"
    )
    try:
        model = train_task(task, samples.data, samples.targets, n_jobs=jobs)
    except Exception as error:  # whatever a learner may raise
        print_message(f"The report shows no trained model: {' '.join(str(error).split())}")
        return None
    print_message(f"That took {model.seconds:.1f} s.")
    return model.estimator
