"""The compiled parts of the solver: flat functions of arrays and numbers.

A problem has n samples p and maximises, over coefficients 0 ≤ a ≤ c with Σ y a = 0,

    Σ a − ½ Σ_pq y_p a_p K_pq y_q a_q,

where y = ±1 is the side. Legend: f = Σ_q y_q a_q K_qp is the output without bias and e = y − f. A
coefficient can move its sample's output *up* if y a can grow, and *down* if it can shrink. The
optimum is where no sample that can go up has a larger e than one that can go down; the difference
of the two extremes is the *violation*, and training stops when it is at most `tol` (LIBSVM's rule).

Each round takes a block of the samples that violate most, together with some of the last block,
solves the block's own problem by pairs chosen by second-order gain (Fan, Chen and Lin, 2005), and
adds what changed to all f. ``sample[p]`` is the number of a sample among all, and ``K[slot[i]]``
the kernel row of sample i; ``starts`` and ``stops`` are the runs of consecutive numbers in
``sample``.
"""

from polychotomy.kernel._compiled._blocks import (
    fill_block,
    gather_block,
    place_block,
    select,
    select_pairs,
    solve_block,
)
from polychotomy.kernel._compiled._rounds import (
    DONE,
    INTERRUPTED,
    NEEDS_ROWS,
    TOO_MANY_STEPS,
    advance,
    advance_coupled,
)
from polychotomy.kernel._compiled._rows import (
    add_coupled,
    add_rows,
    are_rows,
    hash_rows,
    rbf_from_products,
    rbf_rows,
    sparse_outputs,
)

__all__ = [
    "DONE",
    "INTERRUPTED",
    "NEEDS_ROWS",
    "TOO_MANY_STEPS",
    "add_coupled",
    "add_rows",
    "advance",
    "advance_coupled",
    "are_rows",
    "fill_block",
    "gather_block",
    "hash_rows",
    "place_block",
    "rbf_from_products",
    "rbf_rows",
    "select",
    "select_pairs",
    "solve_block",
    "sparse_outputs",
]
