"""Evaluation of reductions: tasks → cells → a recommendation.

A :class:`Task` (a method on a fold) determines its :class:`Cell` to the last bit, except times. A
:class:`Schedule` holds all tasks of a comparison, and computes the cells that a :class:`Store` does
not have; :func:`recommend` says which method to use, :func:`summarise` makes the tables.
:class:`ReductionSearchCV` does the same for a training set in memory, and
:class:`GreedySearchCV` and :class:`SharedGridSearchCV` tune hyper-parameters.
"""

from polychotomy.evaluate._bench import compute
from polychotomy.evaluate._cell import Cell, Failure
from polychotomy.evaluate._cell_store import Store
from polychotomy.evaluate._contestant import Contestant
from polychotomy.evaluate._expected_time import expected_seconds
from polychotomy.evaluate._greedy import GreedySearchCV
from polychotomy.evaluate._preparation import Preparation
from polychotomy.evaluate._protocol import DEFAULT_FOLDS, Protocol
from polychotomy.evaluate._recommendation import Reason, Recommendation, recommend
from polychotomy.evaluate._samples import Samples
from polychotomy.evaluate._schedule import Progress, Schedule
from polychotomy.evaluate._search import ReductionSearchCV
from polychotomy.evaluate._shared_grid import SharedGridSearchCV
from polychotomy.evaluate._summary import Row, Summary, comparisons, rank_digits, summarise
from polychotomy.evaluate._task import Task, TrainedMethod, train_task

__all__ = [
    "DEFAULT_FOLDS",
    "Cell",
    "Contestant",
    "Failure",
    "GreedySearchCV",
    "Preparation",
    "Progress",
    "Protocol",
    "Reason",
    "Recommendation",
    "ReductionSearchCV",
    "Row",
    "Samples",
    "Schedule",
    "SharedGridSearchCV",
    "Store",
    "Summary",
    "Task",
    "TrainedMethod",
    "comparisons",
    "compute",
    "expected_seconds",
    "rank_digits",
    "recommend",
    "summarise",
    "train_task",
]
