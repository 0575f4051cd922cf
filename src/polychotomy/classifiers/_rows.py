"""Some of the samples at a time."""

from collections.abc import Iterator
from typing import Any

from sklearn.utils import _safe_indexing, gen_batches

_BLOCK_OUTPUTS = 2**23


def rows_of(X: Any, rows: Any) -> Any:
    """Return some rows of an array, sparse matrix or data frame."""
    return _safe_indexing(X, rows)


def blocks_of(X: Any, n_problems: int) -> Iterator[Any]:
    """Cut X so that the outputs of a block stay small."""
    size = max(1, _BLOCK_OUTPUTS // n_problems)
    if X.shape[0] <= size:
        yield X
        return
    for block in gen_batches(X.shape[0], size):
        yield rows_of(X, block)
