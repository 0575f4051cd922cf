"""The GPU: whether there is one, its arrays, and the compiled rounds of the solver on it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from polychotomy.arrays import Array
from polychotomy.errors import DeviceError, MissingExtraError, require, unknown_name

DEVICES = ("cpu", "cuda", "auto")
THREADS = 256
_COLUMNS = 4  # of a thread of add_changes
_CHOOSING_THREADS = 1024
_NOTHING = np.uintp(0)
_SOURCE = ("_choose_blocks.cu", "_solve_blocks.cu")
_PART_OF_FREE = 0.85
_LEAST_VALUES = 2**22  # samples × problems × features from which "auto" takes the GPU


@dataclass
class State:
    """The state of all problems, on a device.

    Attributes
    ----------
    y, a, c, f, G : arrays of shape (n_problems, n_samples)
        Sides, coefficients, bounds, outputs without bias, and W K, which is f without coupling.
    M : array of shape (n_problems, n_problems), or None without coupling
    blocks, sizes : arrays of shape (n_groups, size) and (n_groups,)
        The last block of each group, as numbers within the group, and how many they are.
    violations, steps : arrays of shape (n_groups,)
    """

    y: Any
    a: Any
    c: Any
    f: Any
    G: Any
    M: Any
    blocks: Any
    sizes: Any
    violations: Any
    steps: Any

    @property
    def length(self) -> int:
        """The number of entries of a group."""
        return int(self.y.size // len(self.sizes))

    @property
    def together(self) -> bool:
        """Whether all problems are one group."""
        return len(self.sizes) < len(self.y)

    @property
    def part(self) -> float:
        """To which part of its violation a block is solved: one alone takes longer than a round."""
        return 0.3 if self.together else 0.1


class Device(Protocol):
    """Where arrays live, and the functions that a round of the solver takes there.

    The problem and its words are those of ``_compiled``; entries, groups and blocks those of
    ``_choose_blocks.cu``, which has the arguments' meanings, too.
    """

    xp: Any
    """The array module: CuPy, or NumPy in the tests."""

    def free_bytes(self) -> int:
        """Return how much memory can be had."""

    def guarded(self, n_bytes: int = 0) -> AbstractContextManager[None]:
        """Raise a short error if memory runs out, and free what was allocated.

        `n_bytes` are of use: what is kept for later is given back if they are not free otherwise.
        """

    def choose(self, state: "State", groups: Any, tol: float) -> None:
        """Choose the next block of each listed group, and write its violation."""

    def flag(self, state: "State", groups: Any, flags: Any) -> None:
        """Flag the samples of the blocks of listed groups."""

    def solve(
        self, K: Any, slot: Any, state: "State", groups: Any, tol: float, most: int, left: Any
    ) -> tuple[Any, Any, Any]:
        """Solve the blocks of the listed groups, and change the coefficients.

        Takes at most `most` steps for each, or what is `left` for it. Returns what changed: the
        entries, y times their change, and how many there are in each group.
        """

    def add(
        self, K: Any, slot: Any, state: "State", groups: Any, problems: Any, changes: Any
    ) -> None:
        """Add the kernel rows of what changed to the outputs G of the listed problems."""

    def mix(self, state: "State") -> None:
        """Write the outputs f = M G of coupled problems."""

    def gaussian(self, products: Any, own: Any, squares: Any, gamma: float) -> None:
        """Turn products of samples into values of the Gaussian kernel, in place."""


def find_device(name: str, n_values: float = np.inf) -> Device | None:
    """Return the device of this name, or None for the CPU; raise an error if it is missing.

    Parameters
    ----------
    name : {"cpu", "cuda", "auto"}
        ``"auto"`` takes the GPU where there is one and the problem is large enough to gain.
    n_values : float
        Samples × problems × features.
    """
    if name not in DEVICES:
        raise unknown_name("device", name, DEVICES)
    if name == "cpu" or (name == "auto" and n_values < _LEAST_VALUES):
        return None
    try:
        return _cuda()
    except (MissingExtraError, DeviceError):
        if name == "auto":
            return None
        raise


@cache
def _cuda() -> "Cuda":
    cupy = require("cupy", extra="gpu")
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceError(
            "device='cuda' needs an NVIDIA GPU and its driver. The driver says: "
            f"{error}. Use device='cpu' or 'auto' here."
        ) from error
    if not n_devices:
        raise DeviceError(
            "device='cuda' needs an NVIDIA GPU. There is none: use device='cpu' or 'auto'."
        )
    return Cuda(cupy)


class Cuda:
    """The current GPU, through CuPy."""

    def __init__(self, cupy: ModuleType) -> None:
        self.xp = cupy

    def free_bytes(self) -> int:
        """Return how much memory can be had, with what CuPy keeps for later."""
        pool = self.xp.get_default_memory_pool()
        free = self.xp.cuda.runtime.memGetInfo()[0] + pool.free_bytes()
        return int(_PART_OF_FREE * free)

    @contextmanager
    def guarded(self, n_bytes: int = 0) -> Iterator[None]:
        """Raise a short error if memory runs out, and free what was allocated."""
        if n_bytes > self.xp.cuda.runtime.memGetInfo()[0]:
            self.xp.get_default_memory_pool().free_all_blocks()
        try:
            yield
        except self.xp.cuda.memory.OutOfMemoryError as error:
            self.xp.get_default_memory_pool().free_all_blocks()
            raise DeviceError(
                f"The GPU has not enough memory: {error} Set cache_size (MiB for kernel rows) to "
                "less, train fewer problems or samples at once, or use device='cpu'."
            ) from None

    def choose(self, state: "State", groups: Any, tol: float) -> None:
        """Choose the next block of each listed group, and write its violation."""
        xp, (n_problems, m) = self.xp, state.y.shape
        n_keys = m if state.together else state.length
        n_parts = -(-n_keys // THREADS)
        n_words = m if state.together else state.y.size
        up, down, pairs = (xp.empty(n_words, dtype=np.uint32) for _ in range(3))
        extremes = xp.empty((len(groups), n_parts, 2))
        marked = xp.zeros(state.y.size, dtype=np.int8)
        run = _functions(np.float32, state.blocks.shape[1] // THREADS)
        where: Any = (state.y, state.a, state.c, state.f)
        candidates: Any = (_NOTHING, _NOTHING, _NOTHING)
        if state.together:
            candidates = (pairs, *xp.empty((2, m), dtype=np.int32))
            sizes = (np.int32(n_problems), np.int32(m))
            run("find_pairs", (n_parts,), (*where, *sizes, up, down, *candidates, extremes))
        else:
            listed = (groups, np.int64(state.length), up, down, extremes)
            run("find_violations", (n_parts, len(groups)), (*where, *listed))
        keys = (up, down, *candidates, np.int64(n_keys), extremes, np.int32(n_parts))
        rule = (groups, np.int64(state.length), np.float64(tol))
        written = (state.blocks, state.sizes, state.violations, marked)
        run("choose_blocks", (len(groups),), keys + rule + written, _CHOOSING_THREADS)

    def flag(self, state: "State", groups: Any, flags: Any) -> None:
        """Flag the samples of the blocks of listed groups."""
        run = _functions(np.float32, state.blocks.shape[1] // THREADS)
        arguments = (groups, state.blocks, state.sizes, np.int32(len(flags)), flags)
        run("flag_samples", (len(groups),), arguments)

    def solve(
        self, K: Any, slot: Any, state: "State", groups: Any, tol: float, most: int, left: Any
    ) -> tuple[Any, Any, Any]:
        """Solve the blocks of the listed groups, and change the coefficients."""
        xp, M = self.xp, state.M
        n, size, m, length = len(groups), state.blocks.shape[1], len(slot), np.int64(state.length)
        Q = xp.empty((n, size, size), dtype=K.dtype)
        run = _functions(K.dtype.type, size // THREADS)
        coupling = (_NOTHING, np.int32(0)) if M is None else (M, np.int32(len(M)))
        arguments: Any = (K, np.int64(K.shape[1]), slot, *coupling, np.int32(m), groups, length)
        run("gather_blocks", (size, n), (*arguments, state.blocks, state.sizes, Q))
        changed, changes = xp.empty((n, size), dtype=np.int32), xp.empty((n, size))
        counts = xp.empty(n, dtype=np.int32)
        arguments = (Q, state.y, state.a, state.c, state.f, groups, length)
        arguments += (state.blocks, state.sizes, state.violations, np.float64(tol))
        arguments += (np.float64(state.part), np.int64(most))
        arguments += (_NOTHING if left is None else left, state.steps, changed, changes, counts)
        run("solve_blocks", (n,), arguments)
        return changed, changes, counts

    def add(
        self, K: Any, slot: Any, state: "State", groups: Any, problems: Any, changes: Any
    ) -> None:
        """Add the kernel rows of what changed to the outputs G of the listed problems."""
        m = len(slot)
        arguments: Any = (K, np.int64(K.shape[1]), slot, np.int32(m), state.y, problems, groups)
        arguments += (np.int32(len(groups)), np.int64(state.length), *changes, state.G)
        run = _functions(K.dtype.type, state.blocks.shape[1] // THREADS)
        run("add_changes", (-(-m // (THREADS * _COLUMNS)), len(problems)), arguments)

    def mix(self, state: "State") -> None:
        """Write the outputs f = M G of coupled problems."""
        n, m = state.y.shape
        arguments = (state.M, state.G, np.int32(n), np.int32(m), state.f)
        _functions(np.float32, 1)("mix_outputs", (-(-m // THREADS), n), arguments)

    def gaussian(self, products: Any, own: Any, squares: Any, gamma: float) -> None:
        """Turn products of samples into values of the Gaussian kernel, in place."""
        kind = products.dtype.type
        n, stride = products.shape
        arguments = (products, np.int64(stride), own, squares, kind(gamma))
        _functions(kind, 1)("gaussian_from_products", (-(-stride // THREADS), n), arguments)


@cache
def _functions(kind: Any, entries: int) -> Any:
    """Return what runs a function of the CUDA source; compiled once, and kept on disk by CuPy."""
    import cupy

    parts = (Path(__file__).with_name(part) for part in _SOURCE)
    source = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    name = "float" if kind is np.float32 else "double"
    options = (f"-DKERNEL={name}", f"-DENTRIES={entries}", "-std=c++14")
    module = cupy.RawModule(code=source, options=options)
    functions: dict[str, Any] = {}

    def run(
        function: str, grid: tuple[int, ...], arguments: tuple[Any, ...], threads: int = THREADS
    ) -> None:
        if function not in functions:
            functions[function] = module.get_function(function)
        functions[function](grid, (threads,), arguments)

    return run


def is_on_device(X: Any) -> bool:
    """Return whether X is an array on a GPU: of CuPy, of torch, or of others that say so alike."""
    return hasattr(X, "__cuda_array_interface__")


def to_host(values: Any) -> NDArray[Any]:
    """Return a NumPy array of a device's array."""
    if not is_on_device(values):
        return np.asarray(values)
    import cupy

    return cupy.asarray(values).get()


def beside(values: Any, X: Any) -> Array:
    """Return values as an array of the kind of X, on its GPU; as NumPy's if X is on the host."""
    if not is_on_device(X):
        return to_host(values)
    import cupy

    values = cupy.asarray(values)
    if type(X).__module__.partition(".")[0] == "torch":
        import torch

        return torch.from_dlpack(values)
    return values
