// Rounds of the solver on a GPU: find violations and choose blocks. _solve_blocks.cu goes on from here.
//
// The problem and its words (e, up, down, violation) are those of _compiled/__init__.py. An *entry*
// is a sample in a problem; problem s has the entries s m ... s m + m - 1. A *group* is a range of
// `length` entries whose coefficients sum to zero: one problem, or all of them. Of every array with
// a row for each listed group, row b is that of group `groups[b]`. All sums have a fixed order, so
// that the same input gives the same bits.
//
// Where all problems form one group, replicas of a sample have nearly equal kernel rows, and a block
// must hold both replicas of a sample that violate for them to move: candidates are then one entry of
// either side for each sample, those that violate most.
//
// Compiled with KERNEL as float or double, and ENTRIES as the entries of a block per thread.

#define THREADS 256
#define BLOCK (THREADS * ENTRIES)
#define WARPS (THREADS / 32)
#define MOST_WARPS 32
#define BINS 2048
#define TILE 256
#define COLUMNS 4
#define FLAT 1e-12
#define NEVER 1e300

typedef unsigned int word;

struct __align__(16) Columns { KERNEL values[COLUMNS]; };  // read at once

__device__ __forceinline__ bool goes_up(int y, double a, double c) { return y > 0 ? a < c : a > 0; }
__device__ __forceinline__ bool goes_down(int y, double a, double c) { return y > 0 ? a > 0 : a < c; }

// Unsigned numbers in the order of the floats; 0 is smaller than that of any float.
__device__ __forceinline__ word ordered(float x) {
    word bits = __float_as_uint(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// Write the largest e of the block's threads that can go up and the smallest that can go down.
__device__ void write_extremes(double most, double least, double* extremes) {
    __shared__ double highest[WARPS], lowest[WARPS];
    for (int step = 16; step; step /= 2) {
        most = fmax(most, __shfl_xor_sync(~0u, most, step));
        least = fmin(least, __shfl_xor_sync(~0u, least, step));
    }
    if (threadIdx.x % 32 == 0) { highest[threadIdx.x / 32] = most; lowest[threadIdx.x / 32] = least; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < WARPS; w++) { most = fmax(most, highest[w]); least = fmin(least, lowest[w]); }
        long long part = 2 * ((long long)blockIdx.y * gridDim.x + blockIdx.x);
        extremes[part] = most;
        extremes[part + 1] = least;
    }
}

// Write how far each entry can go up and down as ordered numbers, 0 where it cannot, and for each
// part of THREADS entries the largest e that can go up and the smallest that can go down.
extern "C" __global__ void find_violations(
    const signed char* y, const double* a, const double* c, const double* f, const int* groups,
    long long length, word* up_key, word* down_key, double* extremes)
{
    long long base = (long long)groups[blockIdx.y] * length;
    long long p = (long long)blockIdx.x * THREADS + threadIdx.x;
    double most = -NEVER, least = NEVER;
    if (p < length) {
        long long entry = base + p;
        int side = y[entry];
        word up = 0, down = 0;
        if (side) {
            double e = side - f[entry];
            if (goes_up(side, a[entry], c[entry])) { most = e; up = ordered((float)e); }
            if (goes_down(side, a[entry], c[entry])) { least = e; down = ordered((float)-e); }
        }
        up_key[entry] = up;
        down_key[entry] = down;
    }
    write_extremes(most, least, extremes);
}

// Where all problems are one group: write for each sample which of its entries can go up most and
// which down, with their keys and one of the difference, 0 where there is none.
extern "C" __global__ void find_pairs(
    const signed char* y, const double* a, const double* c, const double* f, int n_problems, int m,
    word* up_key, word* down_key, word* pair_key, int* up_entry, int* down_entry, double* extremes)
{
    int p = blockIdx.x * THREADS + threadIdx.x;
    double most = -NEVER, least = NEVER;
    if (p < m) {
        int up = 0, down = 0;
        for (int s = 0; s < n_problems; s++) {
            int entry = s * m + p, side = y[entry];
            if (!side) continue;
            double e = side - f[entry], own = a[entry], bound = c[entry];
            if (e > most && goes_up(side, own, bound)) { most = e; up = entry; }
            if (e < least && goes_down(side, own, bound)) { least = e; down = entry; }
        }
        up_key[p] = most > -NEVER ? ordered((float)most) : 0;
        down_key[p] = least < NEVER ? ordered((float)-least) : 0;
        pair_key[p] = most > -NEVER && least < NEVER && most > least ? ordered((float)(most - least)) : 0;
        up_entry[p] = up;
        down_entry[p] = down;
    }
    write_extremes(most, least, extremes);
}

// Return how many of the block's threads before this one hold flagged entries, and all of them.
__device__ int place(int flagged, int* sums, int& total) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = flagged;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(~0u, before, step);
        if (lane >= step) before += other;
    }
    if (lane == 31) sums[warp] = before;
    __syncthreads();
    int offset = 0;
    total = 0;
    for (int w = 0; w < blockDim.x / 32; w++) {
        if (w < warp) offset += sums[w];
        total += sums[w];
    }
    __syncthreads();
    return offset + before - flagged;
}

// Return the `wanted`-th largest key, or 1 if there are fewer; `above` counts those larger than it.
__device__ word threshold(const word* key, long long length, int wanted, word* bins, int* sums, int& above) {
    __shared__ word chosen;
    __shared__ int larger;
    word prefix = 0, mask = 0;
    int rest = wanted;
    above = 0;
    const int shifts[3] = {21, 10, 0};
    for (int pass = 0; pass < 3; pass++) {
        word width = pass == 2 ? 1024 : BINS;
        for (int k = threadIdx.x; k < BINS; k += blockDim.x) bins[k] = 0;
        __syncthreads();
        for (long long p = threadIdx.x; p < length; p += blockDim.x) {
            word value = key[p];
            if (value && (value & mask) == prefix) atomicAdd(&bins[(value >> shifts[pass]) & (width - 1)], 1u);
        }
        __syncthreads();
        // Each thread has some of the bins, from the top.
        int share = BINS / blockDim.x;
        word mine[BINS / THREADS];
        int own = 0;
        for (int k = 0; k < share; k++) {
            int bin = BINS - 1 - (threadIdx.x * share + k);
            mine[k] = bins[bin];
            own += mine[k];
        }
        if (threadIdx.x == 0) { chosen = ~0u; larger = 0; }
        int total, lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = own;
        for (int step = 1; step < 32; step *= 2) {
            int other = __shfl_up_sync(~0u, before, step);
            if (lane >= step) before += other;
        }
        if (lane == 31) sums[warp] = before;
        __syncthreads();
        int offset = 0;
        total = 0;
        for (int w = 0; w < blockDim.x / 32; w++) { if (w < warp) offset += sums[w]; total += sums[w]; }
        if (total < rest) { above = total + above; return 1; }  // only in the first pass
        int seen = offset + before - own;
        if (seen < rest && seen + own >= rest) {
            for (int k = 0; k < share; k++) {
                if (seen + (int)mine[k] >= rest) {
                    chosen = BINS - 1 - (threadIdx.x * share + k);
                    larger = seen;
                    break;
                }
                seen += mine[k];
            }
        }
        __syncthreads();
        prefix |= chosen << shifts[pass];
        mask |= (width - 1) << shifts[pass];
        above += larger;
        rest -= larger;
        __syncthreads();
    }
    return prefix;
}

// Append the entries of the `wanted` largest keys that are not marked to the block, and mark them.
// Key p is of entry p or, if they are given, of first[p] and second[p].
__device__ int append_largest(
    const word* key, long long length, int wanted, const int* first, const int* second, int n, int* block,
    char* marked, word* bins, int* sums)
{
    int above, equal = 0, total;
    word limit = threshold(key, length, wanted, bins, sums, above);
    int most_equal = wanted - above;
    __syncthreads();
    for (long long start = 0; start < length; start += blockDim.x * 4) {
        long long begin = start + threadIdx.x * 4;
        word value[4];
        int ties = 0;
        for (int k = 0; k < 4; k++) {
            value[k] = begin + k < length ? key[begin + k] : 0;
            ties += value[k] == limit;
        }
        int rank = equal + place(ties, sums, total);
        equal += total;
        int taken[8], count = 0;
        for (int k = 0; k < 4; k++) {
            if (!(value[k] > limit || (value[k] == limit && rank++ < most_equal))) continue;
            int entry = first ? first[begin + k] : (int)(begin + k);
            if (!marked[entry]) taken[count++] = entry;
            if (second && !marked[second[begin + k]]) taken[count++] = second[begin + k];
        }
        int where = n + place(count, sums, total);
        for (int k = 0; k < count; k++) { block[where++] = taken[k]; marked[taken[k]] = 1; }
        n += total;
    }
    __syncthreads();
    return n;
}

// Choose the block of each listed group: the worst of either side, then what fits of the last one.
// With pair_key, a half of the worst are pairs of one sample; `n_keys` are the keys of a group.
extern "C" __global__ void choose_blocks(
    const word* up_key, const word* down_key, const word* pair_key, const int* up_entry,
    const int* down_entry, long long n_keys, const double* extremes, int n_parts, const int* groups,
    long long length, double tol, int* blocks, int* sizes, double* violations, char* marked)
{
    __shared__ word bins[BINS];
    __shared__ int sums[MOST_WARPS], last[BLOCK], block[BLOCK];
    __shared__ double highest, lowest;
    int g = groups[blockIdx.x];
    long long base = (long long)g * length;
    if (threadIdx.x == 0) { highest = -NEVER; lowest = NEVER; }
    __syncthreads();
    double most = -NEVER, least = NEVER;
    for (int k = threadIdx.x; k < n_parts; k += blockDim.x) {
        long long part = 2 * ((long long)blockIdx.x * n_parts + k);
        most = fmax(most, extremes[part]);
        least = fmin(least, extremes[part + 1]);
    }
    for (int step = 16; step; step /= 2) {
        most = fmax(most, __shfl_xor_sync(~0u, most, step));
        least = fmin(least, __shfl_xor_sync(~0u, least, step));
    }
    for (int w = 0; w < blockDim.x / 32; w++) {
        if (threadIdx.x == w * 32) { highest = fmax(highest, most); lowest = fmin(lowest, least); }
        __syncthreads();
    }
    double violation = highest == -NEVER || lowest == NEVER ? 0.0 : highest - lowest;
    if (threadIdx.x == 0) violations[g] = violation;
    if (violation <= tol) return;
    int size = sizes[g], n = 0, total;
    for (int k = threadIdx.x; k < size; k += blockDim.x) last[k] = blocks[(long long)g * BLOCK + k];
    __syncthreads();
    int wanted = size == 0 ? BLOCK / 2 : BLOCK / 4;
    if (pair_key) {
        wanted /= 2;
        n = append_largest(
            pair_key, n_keys, wanted, up_entry, down_entry, n, block, marked + base, bins, sums);
    }
    const word* side[2] = {up_key + base, down_key + base};
    const int* entry[2] = {up_entry, down_entry};
    for (int k = 0; k < 2; k++) {
        n = append_largest(side[k], n_keys, wanted, entry[k], 0, n, block, marked + base, bins, sums);
    }
    for (int start = 0; start < size; start += blockDim.x) {
        int k = start + threadIdx.x;
        int flagged = k < size && !marked[base + last[k]];
        int where = n + place(flagged, sums, total);
        if (flagged && where < BLOCK) block[where] = last[k];
        n = min(n + total, BLOCK);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        marked[base + block[k]] = 0;
        blocks[(long long)g * BLOCK + k] = block[k];
    }
    if (threadIdx.x == 0) sizes[g] = n;
}

// Flag the samples of the blocks of listed groups.
extern "C" __global__ void flag_samples(
    const int* groups, const int* blocks, const int* sizes, int m, bool* flags)
{
    int g = groups[blockIdx.x];
    for (int k = threadIdx.x; k < sizes[g]; k += THREADS) flags[blocks[(long long)g * BLOCK + k] % m] = true;
}
