// Rounds of the solver on a GPU: solve the blocks that _choose_blocks.cu has chosen, and add what changed.

// Write the kernel among the entries of each block, times the coupling of their problems.
extern "C" __global__ void gather_blocks(
    const KERNEL* K, long long stride, const long long* slot, const double* M, int n_problems, int m,
    const int* groups, long long length, const int* blocks, const int* sizes, KERNEL* Q)
{
    int g = groups[blockIdx.y], size = sizes[g];
    if (blockIdx.x >= size) return;
    const int* block = blocks + (long long)g * BLOCK;
    int own = block[blockIdx.x], first = (int)(length / m) * g;
    const KERNEL* row = K + slot[own % m] * stride;
    const double* mixed = M ? M + (long long)(first + own / m) * n_problems + first : 0;
    KERNEL* out = Q + ((long long)blockIdx.y * BLOCK + blockIdx.x) * BLOCK;
    for (int k = threadIdx.x; k < size; k += THREADS) {
        KERNEL value = row[block[k] % m];
        out[k] = mixed ? (KERNEL)(value * mixed[block[k] / m]) : value;
    }
}

// Return the largest key of the warp's threads.
__device__ __forceinline__ word largest_of_warp(word key) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(~0u, key);
#else
    for (int step = 16; step; step /= 2) key = max(key, __shfl_xor_sync(~0u, key, step));
    return key;
#endif
}

// Return the largest key of the block's threads; calls in a row need different rooms.
__device__ __forceinline__ word largest(word key, word* room) {
    key = largest_of_warp(key);
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = key;
    __syncthreads();
    int lane = threadIdx.x % 32;
    return largest_of_warp(lane < WARPS ? room[lane] : 0);
}

// Keys of values and the numbers they belong to, which take the place of the last bits.
__device__ __forceinline__ word keyed(float value, int number) {
    return (ordered(value) & ~(word)(BLOCK - 1)) | (word)(BLOCK - 1 - number);
}

__device__ __forceinline__ int number_of(word key) { return BLOCK - 1 - (int)(key & (BLOCK - 1)); }

// An entry of a block: how far it can go up and down, its coefficient and what this depends on.
struct Entry {
    double a, c;
    int side;
    __device__ double up() const { return side > 0 ? c - a : side < 0 ? a : 0.0; }
    __device__ double down() const { return side > 0 ? a : side < 0 ? c - a : 0.0; }
};

// Solve the problem of each block by pairs of the largest second-order gain, to a part of its
// violation; see solve_block in _compiled/_blocks.py. Writes the coefficients, and lists what changed:
// entries and y times change. A step is a chain of dependent operations, and is kept short: within
// the block, e and what is chosen by it are in the kernel's precision, with the rounding that e has
// lost (Kahan), and keys hold some 13 bits of its distance from a reference in their middle.
extern "C" __global__ void __launch_bounds__(THREADS) solve_blocks(
    const KERNEL* __restrict__ Qs, const signed char* y, double* a, const double* c, const double* f,
    const int* groups, long long length, const int* blocks, const int* sizes,
    const double* violations, double tol, double part, long long most, const long long* left,
    long long* steps, int* changed, double* changes, int* n_changed)
{
    __shared__ KERNEL e[BLOCK], diagonal[BLOCK], up_room[BLOCK], down_room[BLOCK];
    __shared__ word room[7][WARPS];
    __shared__ int sums[WARPS];
    int g = groups[blockIdx.x], n = sizes[g];
    const int* block = blocks + (long long)g * BLOCK;
    long long base = (long long)g * length;
    const KERNEL* __restrict__ Q = Qs + (long long)blockIdx.x * BLOCK * BLOCK;
    KERNEL own_e[ENTRIES], lost[ENTRIES], own_diagonal[ENTRIES];
    Entry own[ENTRIES];
    bool up[ENTRIES], down[ENTRIES];
    word first = 0;
    #pragma unroll
    for (int r = 0; r < ENTRIES; r++) {
        int k = threadIdx.x + r * THREADS;
        own_e[r] = lost[r] = own_diagonal[r] = 0;
        own[r].a = own[r].c = 0;
        own[r].side = 0;
        up[r] = down[r] = false;
        if (k >= n) continue;
        long long entry = base + block[k];
        own[r].a = a[entry];
        own[r].c = c[entry];
        own[r].side = y[entry];
        diagonal[k] = own_diagonal[r] = Q[(long long)k * BLOCK + k];
        double exact = own[r].side - f[entry];
        e[k] = own_e[r] = (KERNEL)exact;
        lost[r] = (KERNEL)(own_e[r] - exact);
        up_room[k] = (KERNEL)own[r].up();
        down_room[k] = (KERNEL)own[r].down();
        up[r] = up_room[k] > 0;
        down[r] = down_room[k] > 0;
        if (up[r]) first = max(first, keyed((float)exact, k));
    }
    first = largest(first, room[6]);
    KERNEL middle = first ? e[number_of(first)] - (KERNEL)(0.5 * violations[g]) : (KERNEL)0;
    double enough = fmax(0.5 * tol, part * violations[g]);
    if (left) most = min(most, left[g]);
    long long step = 0;
    for (; step < most; step++) {
        word best = 0;
        #pragma unroll
        for (int r = 0; r < ENTRIES; r++) {
            word key = keyed((float)(own_e[r] - middle), threadIdx.x + r * THREADS);
            if (up[r]) best = max(best, key);
        }
        best = largest(best, room[step & 1]);
        if (!best) break;
        int i = number_of(best);
        const KERNEL* row_i = Q + i * BLOCK;
        KERNEL value_i[ENTRIES], value_j[ENTRIES];
        #pragma unroll
        for (int r = 0; r < ENTRIES; r++) value_i[r] = row_i[threadIdx.x + r * THREADS];
        KERNEL e_i = e[i], own_i = diagonal[i], room_i = up_room[i];
        word gain = 0;
        #pragma unroll
        for (int r = 0; r < ENTRIES; r++) {
            float slope = (float)(e_i - own_e[r]);
            float curve = fmaxf((float)(own_i + own_diagonal[r] - 2 * value_i[r]), (float)FLAT);
            word key = keyed(__fdividef(slope * slope, curve), threadIdx.x + r * THREADS);
            if (down[r] && slope > 0) gain = max(gain, key);
        }
        gain = largest(gain, room[2 + (step & 1)]);
        if (!gain) break;
        int j = number_of(gain);
        const KERNEL* row_j = Q + j * BLOCK;
        #pragma unroll
        for (int r = 0; r < ENTRIES; r++) value_j[r] = row_j[threadIdx.x + r * THREADS];
        KERNEL curve = own_i + diagonal[j] - 2 * row_i[j], room_j = down_room[j];
        KERNEL t = (e_i - e[j]) / (curve > (KERNEL)FLAT ? curve : (KERNEL)FLAT);
        t = min(t, min(room_i, room_j));
        if (step % 8 == 0) {
            word lowest = 0;
            #pragma unroll
            for (int r = 0; r < ENTRIES; r++) {
                word key = keyed((float)(middle - own_e[r]), threadIdx.x + r * THREADS);
                if (down[r]) lowest = max(lowest, key);
            }
            lowest = largest(lowest, room[4 + (step / 8 & 1)]);
            if ((double)e_i - e[number_of(lowest)] <= enough) break;
        }
        __syncthreads();  // all have read what now changes
        #pragma unroll
        for (int r = 0; r < ENTRIES; r++) {
            int k = threadIdx.x + r * THREADS;
            KERNEL change = t * (value_j[r] - value_i[r]) - lost[r];
            KERNEL moved = own_e[r] + change;
            lost[r] = (moved - own_e[r]) - change;
            e[k] = own_e[r] = moved;
            if (k == i || k == j) {
                int side = k == i ? own[r].side : -own[r].side;
                double at_bound = side > 0 ? own[r].c : 0.0;  // exactly
                own[r].a = t == (k == i ? room_i : room_j) ? at_bound : own[r].a + side * (double)t;
                up_room[k] = (KERNEL)own[r].up();
                down_room[k] = (KERNEL)own[r].down();
                up[r] = up_room[k] > 0;
                down[r] = down_room[k] > 0;
            }
        }
    }
    __syncthreads();
    int count = 0, total;
    for (int r = 0; r < ENTRIES; r++) {
        int k = threadIdx.x + r * THREADS;
        double change = 0;
        if (k < n) change = own[r].side * (own[r].a - a[base + block[k]]);
        int where = count + place(change != 0, sums, total);
        count += total;
        if (change != 0) {
            a[base + block[k]] = own[r].a;
            changed[(long long)blockIdx.x * BLOCK + where] = block[k];
            changes[(long long)blockIdx.x * BLOCK + where] = change;
        }
    }
    if (threadIdx.x == 0) { n_changed[blockIdx.x] = count; steps[g] += step; }
}

// Add the kernel rows of what changed to the outputs of each listed problem: those of the group in
// the same place or, if there is only one, those of its entries that belong to the problem.
extern "C" __global__ void add_changes(
    const KERNEL* K, long long stride, const long long* slot, int m, const signed char* y,
    const int* problems, const int* groups, int n_groups, long long length,
    const int* changed, const double* changes, const int* n_changed, double* f)
{
    __shared__ const KERNEL* rows[TILE];
    __shared__ double weights[TILE];
    __shared__ int sums[WARPS];
    int s = problems[blockIdx.y], b = n_groups > 1 ? blockIdx.y : 0, n = n_changed[b];
    long long base = (long long)groups[b] * length;
    int first = (blockIdx.x * THREADS + threadIdx.x) * COLUMNS;
    bool some = false;
    for (int k = 0; k < COLUMNS; k++) some |= first + k < m && y[(long long)s * m + first + k];
    if (!__syncthreads_or(some)) return;
    double sum[COLUMNS] = {0};
    for (int start = 0; start < n; start += TILE) {
        int k = start + threadIdx.x, total;
        long long entry = k < n ? base + changed[(long long)b * BLOCK + k] : 0;
        int flagged = k < n && entry / m == s;
        int where = place(flagged, sums, total);
        if (flagged) {
            rows[where] = K + slot[entry % m] * stride;
            weights[where] = changes[(long long)b * BLOCK + k];
        }
        __syncthreads();
        if (some) {
            #pragma unroll 8
            for (int r = 0; r < total; r++) {
                Columns row = *(const Columns*)(rows[r] + first);
                #pragma unroll
                for (int k = 0; k < COLUMNS; k++) sum[k] += weights[r] * (double)row.values[k];
            }
        }
        __syncthreads();
    }
    for (int k = 0; k < COLUMNS; k++) if (first + k < m) f[(long long)s * m + first + k] += sum[k];
}

// Write the outputs f = M G of coupled problems: the samples of a block of threads in one problem.
extern "C" __global__ void mix_outputs(const double* M, const double* G, int n_problems, int m, double* f)
{
    int p = blockIdx.x * THREADS + threadIdx.x, t = blockIdx.y;
    if (p >= m) return;
    double sum = 0;
    for (int s = 0; s < n_problems; s++) sum += M[t * n_problems + s] * G[(long long)s * m + p];
    f[(long long)t * m + p] = sum;
}

// Turn products of samples into the values of a Gaussian kernel.
extern "C" __global__ void gaussian_from_products(
    KERNEL* products, long long stride, const KERNEL* own, const KERNEL* squares, KERNEL gamma)
{
    long long column = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (column >= stride) return;
    KERNEL* value = products + blockIdx.y * stride + column;
    KERNEL distance = own[blockIdx.y] + squares[column] - 2 * *value;
    *value = exp(-gamma * (distance > 0 ? distance : 0));
}
