"""Free memory, and checks that the arrays of a training fit in it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from polychotomy.errors import NotEnoughMemoryError

SMALL = 2**26
"""Sizes in bytes below which the free memory is not looked up."""
_CGROUPS = Path("/sys/fs/cgroup")


def check_room(needed: Mapping[str, int], advice: str) -> None:
    """Raise NotEnoughMemoryError, before anything is computed, if arrays cannot fit in memory.

    Parameters
    ----------
    needed : mapping of str to int
        Size in bytes of each array that will certainly be filled, all held at the same time, by a
        description of it.
    advice : str
        A sentence that says what to change.

    Examples
    --------
    >>> from polychotomy.memory import check_room
    >>> check_room({"a small table": 1000}, "Take fewer samples.")
    >>> check_room({"a table of all stars": 10**18}, "Take fewer samples.")
    Traceback (most recent call last):
        ...
    polychotomy.errors.NotEnoughMemoryError: This needs at least 1000000000.0 GB of memory (a table
    of all stars: 1000000000.0 GB), and ... GB are free. Take fewer samples.
    """
    total = sum(needed.values())
    if total < SMALL:
        return
    free = free_bytes()
    if free is None or total <= free:
        return
    parts = ", ".join(f"{what}: {_gigabytes(n)}" for what, n in needed.items() if n >= total / 100)
    raise NotEnoughMemoryError(
        f"This needs at least {_gigabytes(total)} of memory ({parts}), and {_gigabytes(free)} are "
        f"free. {advice}"
    )


def free_bytes() -> int | None:
    """Return how many bytes this process can still allocate, or None if unknown.

    The minimum of the free memory of the machine, including swap, of what the process's control
    groups leave, and of its own limit (``ulimit -v``).
    """
    known = [*_of_machine(), *_of_groups(), *_of_process()]
    return max(0, min(known)) if known else None


def _gigabytes(n: int) -> str:
    return f"{n / 1e9:.1f} GB"


def _of_machine() -> Iterator[int]:
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        sizes = {line.split(":")[0]: 1024 * int(line.split()[1]) for line in lines}
        if "MemAvailable" in sizes:
            yield sizes["MemAvailable"] + sizes.get("SwapFree", 0)
            return
    with suppress(OSError, ValueError, AttributeError):  # elsewhere, all that the machine has
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_groups() -> Iterator[int]:
    """Yield what the memory limits of control groups (v1 and v2) leave."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            number, controllers, group = line.split(":", 2)
            if number == "0":
                base, names = _CGROUPS, ("memory.max", "memory.current", "inactive_file")
            elif "memory" in controllers.split(","):
                names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
                base = _CGROUPS / "memory"
            else:
                continue
            place = base / group.lstrip("/")
            for folder in (place, *place.parents):
                if folder.is_relative_to(base):
                    yield from _of_group(folder, *names)


def _of_group(folder: Path, limit: str, usage: str, cache: str) -> Iterator[int]:
    """Yield what one group leaves, counting cached files as free."""
    with suppress(OSError, ValueError):
        most, used = int((folder / limit).read_text()), int((folder / usage).read_text())
        kept = 0
        with suppress(OSError, ValueError):
            stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            kept = int(stat.get(cache, 0))
        yield most - used + kept


def _of_process() -> Iterator[int]:
    with suppress(ImportError, OSError, ValueError):
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

        most = getrlimit(RLIMIT_AS)[0]
        if most != RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            yield most - pages * os.sysconf("SC_PAGE_SIZE")
