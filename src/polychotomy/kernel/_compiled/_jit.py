"""How the functions of this folder are compiled."""

import numba

compiled = numba.njit(cache=True, nogil=True, error_model="numpy")

# Fused products are worth their rounding. Sums are never put in another order, which would depend
# on how wide the processor's vectors are, and on which copy of a helper runs: it exists several
# times, alone and within each caller, and numba's cache decides.
fast = numba.njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "ninf", "nsz", "contract"}
)
