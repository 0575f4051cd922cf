"""Serialise tasks for Dask workers, and their outcomes on the way back.

Both are sent as bytes that are pickled here: Dask inspects neither, and an object that cannot be
pickled raises an ordinary exception.
"""

import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from platform import node, python_version
from threading import Lock
from typing import Any

from joblib import parallel_config
from threadpoolctl import threadpool_limits

from polychotomy.errors import ClusterError

# What results depend on, and what pickles them.
_PACKAGES = (
    "polychotomy",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "joblib",
    "cloudpickle",
    "distributed",
)
_ONE_AT_A_TIME = Lock()  # warnings and BLAS threads belong to the process


class RemoteError(Exception):
    """Where an exception was raised on a worker, as the cause of the one raised here."""


@dataclass(frozen=True)
class _Call:
    function: Callable[[Any, Any], Any]
    task: Any
    config: dict[str, Any]  # of scikit-learn
    filters: list[Any]  # of warnings


@dataclass(frozen=True)
class Outcome:
    """What a task returned or raised, and its warnings: message, category, file and line."""

    value: Any = None
    error: Exception | None = None
    trace: str = ""
    warnings: tuple[tuple[Any, Any, str, int], ...] = ()

    @classmethod
    def of(cls, error: Exception, said: tuple[Any, ...] = ()) -> "Outcome":
        """Return the outcome of a task that has just raised an exception."""
        return cls(error=error, trace=traceback.format_exc(), warnings=said)

    def unwrap(self, registry: dict[Any, Any]) -> Any:
        """Repeat the warnings, then return or raise what the task did.

        `registry` remembers which warnings were shown, so that each is shown as often as if all
        tasks had run here.
        """
        for message, category, file, line in self.warnings:
            warnings.warn_explicit(message, category, file, line, registry=registry)
        if self.error is not None:
            raise self.error from RemoteError(f"\n{self.trace}")
        return self.value


def pack_call(function: Callable[[Any, Any], Any], task: Any) -> bytes:
    """Return a call as bytes, with the settings of this process that it depends on."""
    from cloudpickle import dumps
    from sklearn import get_config

    packed: bytes = dumps(_Call(function, task, get_config(), list(warnings.filters)))
    return packed


def run_call(packed: bytes, expected: dict[str, str], shared: Any) -> bytes:
    """Run a call on a worker, and return its outcome as bytes.

    It runs with one BLAS thread and without nested workers, since other tasks use the other cores.
    A worker process with several threads runs one call after another.
    """
    from cloudpickle import dumps, loads

    said: list[warnings.WarningMessage] = []
    try:
        _check_versions(expected)
        with _ONE_AT_A_TIME:
            call: _Call = loads(packed)
            with _alone(call, said):
                value = call.function(call.task, shared)
        made: bytes = dumps(Outcome(value, warnings=_plain(said)))
    except Exception as error:
        outcome = Outcome.of(error, _plain(said))
        try:
            made = dumps(outcome)
        except Exception:  # of a kind that cannot travel
            made = dumps(Outcome.of(RuntimeError(f"{type(error).__name__}: {error}")))
    return made


def _plain(said: list[warnings.WarningMessage]) -> tuple[tuple[Any, Any, str, int], ...]:
    return tuple((each.message, each.category, each.filename, each.lineno) for each in said)


@contextmanager
def _alone(call: _Call, said: list[warnings.WarningMessage]) -> Iterator[None]:
    """Set up the process for a call and collect its warnings in `said`."""
    from sklearn import config_context

    with ExitStack() as settings:
        settings.enter_context(config_context(**call.config))
        settings.enter_context(threadpool_limits(1))
        settings.enter_context(parallel_config(backend="sequential"))
        caught = settings.enter_context(warnings.catch_warnings(record=True))
        warnings.filters[:] = call.filters  # type: ignore[index]
        try:
            yield
        finally:
            said.extend(caught or ())


@cache
def versions() -> dict[str, str]:
    """Return the versions that workers must have."""
    found = {"Python": python_version().rpartition(".")[0]}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _check_versions(expected: dict[str, str]) -> None:
    own = versions()
    wrong = [
        f"{name} {own.get(name)} instead of {wanted}"
        for name, wanted in expected.items()
        if own.get(name) != wanted
    ]
    if wrong:
        raise ClusterError(
            "Workers must have the versions of the process that they work for. The worker on "
            f"{node()} has {', '.join(wrong)}."
        )
