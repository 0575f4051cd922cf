"""The engine on a GPU; without one its driver runs on NumPy twins of the CUDA functions."""

import pickle
import re

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from polychotomy import (
    CodeClassifier,
    GreedySearchCV,
    KernelSBCClassifier,
    SharedKernelSVC,
    SingleBinaryClassifier,
    TreeClassifier,
    make_code,
)
from polychotomy.errors import DeviceError, MissingExtraError
from polychotomy.kernel import _device, _device_rows, _kernel_samples, shared_kernel
from polychotomy.kernel._device import State
from polychotomy.kernel._twins import HostDevice


def _gpu():
    try:
        return _device.find_device("cuda")
    except (MissingExtraError, DeviceError) as error:
        pytest.skip(str(error))


@pytest.fixture(params=["twin", "cuda"])
def device(request, monkeypatch):
    """The GPU, or where arrays are NumPy's and functions their twins."""
    if request.param == "cuda":
        return _gpu()
    twin = HostDevice()
    find = _device.find_device
    monkeypatch.setattr(
        _kernel_samples,
        "find_device",
        lambda name, n=np.inf: twin if name == "cuda" else find(name, n),
    )
    return twin


@pytest.fixture(scope="module")
def samples():
    X, y = load_digits(return_X_y=True)
    return X[:400] / 16, y[:400]


def trained(device, X, targets, **options):
    """Return a joint model; `fit` are the options of fit_joint."""
    fit = options.pop("fit", {})
    return SharedKernelSVC(**{"C": 5, "gamma": 0.05, "device": device, **options}).fit_joint(
        X, targets, **fit
    )


def agree(X, targets, tolerance=5e-3, **options):
    """Check a model of the device against the CPU engine: objectives, gaps and outputs."""
    ours, theirs = (trained(name, X, targets, **options) for name in ("cuda", "cpu"))
    scale = np.abs(theirs.dual_objective_).max()
    np.testing.assert_allclose(
        ours.dual_objective_, theirs.dual_objective_, rtol=1e-5, atol=1e-5 * scale
    )
    np.testing.assert_allclose(ours.outputs(X), theirs.outputs(X), atol=tolerance * np.sqrt(scale))
    return ours


@pytest.mark.parametrize("code", ["one_vs_rest", "one_vs_one", "adjacent"])
def test_codes_are_solved_as_on_the_cpu(device, samples, code):
    X, y = samples
    agree(X, make_code(code, 10).matrix[y])


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "linear"},
        {"kernel": "poly", "coef0": 1.0, "degree": 2},
        {"kernel": "sigmoid", "gamma": 0.01, "tol": 1e-5},
        {"dtype": "float64", "C": 100},
        {"class_weight": "balanced"},
        {"class_weight": {0: 1.0, 1: 3.0}},
        {"tol": 1e-5},
    ],
    ids=str,
)
def test_kernels_and_weights_are_those_of_the_cpu(device, samples, options):
    X, y = samples
    weight = np.random.default_rng(0).integers(0, 3, size=len(X))
    agree(X, make_code("one_vs_rest", 10).matrix[y], fit={"sample_weight": weight}, **options)


@pytest.mark.parametrize("common_bias", [True, False])
def test_coupled_problems_are_solved_as_on_the_cpu(device, samples, common_bias):
    X, y = samples
    targets = make_code("one_vs_rest", 10).matrix[y]
    options = {"fit": {"coupling": np.eye(10) + 0.3, "common_bias": common_bias}, "tol": 1e-5}
    ours = agree(X[:200], targets[:200], **options)
    theirs = trained("cpu", X[:200], targets[:200], **options)
    np.testing.assert_allclose(ours.products_, theirs.products_, atol=1e-3)
    assert len({*ours.n_iter_}) == 1  # the steps of all problems together, as on the CPU
    assert 0.2 < ours.n_iter_[0] / theirs.n_iter_[0] < 5


def test_a_common_bias_needs_no_coupling(device, samples):
    X, y = samples
    fit = {"common_bias": True}
    ours = agree(X[:200], make_code("one_vs_rest", 10).matrix[y[:200]], fit=fit)
    assert len(set(ours.intercept_)) == 1


def test_outputs_are_those_of_libsvm(device, samples):
    X, y = samples
    ours = SharedKernelSVC(C=3, gamma=0.02, tol=1e-5, device="cuda").fit(X, y < 5)
    theirs = SVC(C=3, gamma=0.02, tol=1e-5).fit(X, y < 5)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_sparse_and_precomputed_samples_are_taken(device, samples):
    X, y = samples
    targets = make_code("one_vs_rest", 10).matrix[y]
    dense = trained("cuda", X, targets).outputs(X)
    np.testing.assert_allclose(trained("cuda", csr_array(X), targets).outputs(csr_array(X)), dense)
    K = rbf_kernel(X, gamma=0.05)
    given = trained("cuda", K, targets, kernel="precomputed")
    np.testing.assert_allclose(given.outputs(K), dense, atol=5e-3)


def test_the_same_input_gives_the_same_bits(device, samples):
    X, y = samples
    targets = make_code("one_vs_one", 10).matrix[y]
    first, second = (trained("cuda", X, targets).outputs(X) for _ in range(2))
    assert (first == second).all()


def test_rows_are_given_up_when_there_is_no_room(device, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    targets = np.where(X[:, :3] * X[:, 2:] > 0, 1, -1)
    monkeypatch.setattr(_device_rows, "_LEAST_ROWS", 600)
    kept = []
    made = _device_rows.DeviceRows.__init__

    def spied(rows, *args):
        made(rows, *args)
        kept.append(rows)

    monkeypatch.setattr(_device_rows.DeviceRows, "__init__", spied)
    agree(X, targets, cache_size=0.001)
    assert kept[0].capacity == 600
    assert kept[0].n_computed > 1500


def test_steps_are_limited_and_progress_is_reported(device, samples):
    X, y = samples
    done = []
    with pytest.warns(ConvergenceWarning, match="were stopped early"):
        model = trained(
            "cuda",
            X,
            make_code("one_vs_rest", 10).matrix[y],
            max_iter=7,
            fit={"done": done.append},
        )
    assert sorted(done) == list(range(10))
    assert model.n_iter_.max() <= 7


def test_a_start_is_the_solution_already(device, samples):
    X, y = samples
    targets = make_code("one_vs_rest", 10).matrix[y]
    first = trained("cuda", X, targets)
    again = trained("cuda", X, targets, fit={"start": first.coefficients_})
    assert again.n_iter_.sum() < 0.05 * first.n_iter_.sum()
    np.testing.assert_allclose(again.outputs(X), first.outputs(X), atol=5e-3)


@pytest.mark.parametrize(
    "make",
    [
        lambda svm: CodeClassifier(svm, "one_vs_rest"),
        lambda svm: TreeClassifier(svm),
        lambda svm: SingleBinaryClassifier(svm, "identity", cv=2),
        lambda svm: KernelSBCClassifier(5, 0.05, svm_tol=1e-5, device=svm.device, cv=2),
        lambda svm: KernelSBCClassifier(
            5, 0.05, weights="learned", tol=0.1, device=svm.device, probability=None
        ),
        lambda svm: GreedySearchCV(
            CodeClassifier(svm, probability=None), {"estimator__C": 1.0}, cv=2, patience=1
        ),
    ],
    ids=["code", "tree", "single", "frequencies", "learned", "search"],
)
def test_classifiers_predict_as_on_the_cpu(device, samples, make):
    X, y = samples[0][:150], samples[1][:150]
    ours, theirs = (
        make(SharedKernelSVC(C=5, gamma=0.05, tol=1e-5, device=name)).fit(X, y)
        for name in ("cuda", "cpu")
    )
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.99
    if hasattr(theirs, "predict_proba"):
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.01)


def test_kernel_rows_are_shared_by_trainings(device, samples, monkeypatch):
    X, y = samples
    made = []
    init = _device_rows.DeviceRows.__init__
    monkeypatch.setattr(
        _device_rows.DeviceRows,
        "__init__",
        lambda rows, *args: (made.append(1), init(rows, *args))[1],
    )
    targets = make_code("one_vs_rest", 10).matrix[y]
    with shared_kernel(X, y):
        for C in (1, 5):
            shared = trained("cuda", X, targets, C=C)
    assert len(made) == 1
    np.testing.assert_allclose(shared.outputs(X), trained("cpu", X, targets).outputs(X), atol=5e-3)


@pytest.mark.parametrize("code", ["one_vs_rest", "one_vs_one"])
@pytest.mark.parametrize("name", ["cuda", "cpu"])
def test_outputs_on_what_folds_leave_out_are_known(device, samples, code, name):
    X, y = samples
    whole = make_code(code, 10).matrix[y].astype(np.int8)
    n = whole.shape[1]
    training, test = next(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    fold = whole.copy()
    fold[test] = 0
    fit = {"within": np.concatenate([np.full(n, -1), np.arange(n)])}
    model = trained(name, X, np.hstack([whole, fold]), tol=1e-5, fit=fit)
    alone = trained("cpu", X[training], whole[training], tol=1e-5)
    said = model.left_out(range(n, 2 * n), test)
    expected = np.where(whole[test] == 0, 0.0, alone.outputs(X[test]))
    np.testing.assert_allclose(said, expected, atol=1e-3)
    assert not model.left_out(range(2 * n), training).any()
    assert trained(name, X, whole).left_out(range(n), test) is None


@pytest.mark.parametrize("code", ["one_vs_rest", "one_vs_one"])
def test_all_folds_are_columns_of_one_solve(device, samples, code):
    X, y = samples
    targets = make_code(code, 10).matrix[y]
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    with shared_kernel(X, y):
        for gamma, C in ((0.05, 3.0), (0.05, 5.0), (0.1, 5.0)):  # each begins with the last
            learner = SharedKernelSVC(C=C, gamma=gamma, tol=1e-5, device="cuda")
            found = learner.held_out(X, targets, folds)
            for training, test in folds:
                alone = SharedKernelSVC(C=C, gamma=gamma, tol=1e-5)
                model = alone.fit_joint(X[training], targets[training])
                np.testing.assert_allclose(found[test], model.outputs(X[test]), atol=1e-3)
    again = learner.held_out(X, targets, folds)  # without anything shared
    np.testing.assert_allclose(again, found, atol=1e-3)


def test_folds_gain_nothing_at_once_where_they_cannot_be(samples):
    X, y = samples
    targets, folds = make_code("one_vs_rest", 10).matrix[y], [(np.arange(200), np.arange(200, 400))]
    for options in ({"gamma": 0.1}, {"device": "auto"}, {"gamma": 0.1, "class_weight": "balanced"}):
        assert SharedKernelSVC(**options).held_out(X, targets, folds) is None


def test_an_interrupt_leaves_the_device_in_order(device, samples):
    X, y = samples
    targets = make_code("one_vs_rest", 10).matrix[y]

    def interrupt(s):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained("cuda", X, targets, fit={"done": interrupt})
    agree(X, targets)


def test_memory_that_runs_out_half_way_is_given_back(samples, monkeypatch):
    gpu = _gpu()
    X, y = samples
    targets = make_code("one_vs_rest", 10).matrix[y]

    def exhausted(*args):
        return gpu.xp.empty(2**50, dtype=np.int8)

    with monkeypatch.context() as patched:
        patched.setattr(gpu, "add", exhausted)
        with pytest.raises(DeviceError, match=r"not enough memory.*cache_size"):
            trained("cuda", X, targets)
    agree(X, targets)


@pytest.mark.parametrize("name", ["cuda", "cpu"])
def test_a_kernel_beyond_single_precision_is_refused(device, samples, name):
    X, y = samples
    K = rbf_kernel(X, gamma=0.05) * 1e39
    learner = SharedKernelSVC(kernel="precomputed", dtype="float32", device=name)
    with pytest.raises(ValueError, match="must be finite in single precision"):
        learner.fit(K, y < 5)


@pytest.mark.parametrize("C", [0, -1.0, np.nan, np.inf])
def test_a_bound_must_be_positive(device, samples, C):
    X, y = samples
    with pytest.raises(ValueError, match="'C' parameter must be a positive number"):
        SharedKernelSVC(C=C, device="cuda").fit(X, y < 5)


def test_models_predict_where_there_is_no_gpu(device, samples, monkeypatch):
    X, y = samples
    model = CodeClassifier(SharedKernelSVC(C=5, gamma=0.05, device="cuda"), probability=None)
    expected = model.fit(X, y).decision_function(X)
    saved = pickle.dumps(model)

    def missing(name, n=np.inf):
        if name == "cuda":
            raise DeviceError("There is none.")

    monkeypatch.setattr(_kernel_samples, "find_device", missing)
    np.testing.assert_allclose(pickle.loads(saved).decision_function(X), expected, atol=1e-4)


def test_one_sample_of_each_class_and_opposite_duplicates(device):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    agree(X, make_code("one_vs_one", 3).matrix, gamma=1.0)
    twice = np.repeat(X, 2, axis=0)
    agree(twice, np.array([[1, -1, 1, -1, 1, -1]]).T, gamma=1.0)


def test_a_large_bound_is_solved(device, samples):
    X, y = samples
    agree(X, make_code("one_vs_rest", 10).matrix[y], C=1e6, tolerance=1e-2)


def test_a_thousand_problems_are_solved_at_once(device):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    agree(X, rng.choice([-1, 0, 1], size=(30, 1000)).astype(np.int8), C=1)


def test_values_that_are_not_finite_are_refused(device, samples):
    X, y = samples
    with pytest.raises(ValueError, match="must be finite"):
        SharedKernelSVC(kernel="poly", gamma=1.0, device="cuda").fit(X * 1e7, y < 5)


def test_functions_are_no_kernels_on_a_gpu(device, samples):
    X, y = samples
    with pytest.raises(ValueError, match="Got a function"):
        SharedKernelSVC(kernel=rbf_kernel, device="cuda").fit(X, y < 5)
    SharedKernelSVC(kernel=rbf_kernel, device="auto").fit(X, y < 5)


def test_too_little_memory_is_said_in_a_sentence(samples, monkeypatch):
    X, y = samples
    small = HostDevice(n_bytes=10_000)
    monkeypatch.setattr(_kernel_samples, "find_device", lambda *args: small)
    with pytest.raises(DeviceError, match=r"must have room for 400 kernel rows.*GiB.*cache_size"):
        SharedKernelSVC(device="cuda").fit(X, y < 5)
    with pytest.raises(DeviceError, match="Sparse samples are filled in"):
        SharedKernelSVC(device="cuda").fit(csr_array(X), y < 5)


def test_missing_devices_are_said_in_a_sentence(samples, monkeypatch):
    X, y = samples
    with pytest.raises(ValueError, match="must be one of 'auto', 'cpu', 'cuda'"):
        SharedKernelSVC(device="gpu").fit(X, y < 5)

    def no_cupy():
        raise MissingExtraError("cupy is needed for this and is not installed.")

    monkeypatch.setattr(_device, "_cuda", no_cupy)
    with pytest.raises(MissingExtraError, match="cupy is needed"):
        SharedKernelSVC(device="cuda").fit(X, y < 5)
    SharedKernelSVC(device="auto").fit(X, y < 5)


def test_without_a_driver_the_error_says_so(monkeypatch):
    class Broken:
        class cuda:  # noqa: N801
            class runtime:  # noqa: N801
                class CUDARuntimeError(RuntimeError):
                    pass

                @staticmethod
                def getDeviceCount():  # noqa: N802
                    raise Broken.cuda.runtime.CUDARuntimeError("no driver")

    monkeypatch.setattr(_device, "require", lambda *args, **kwargs: Broken)
    with pytest.raises(DeviceError, match=re.escape("The driver says: no driver")):
        _device._cuda.__wrapped__()
    monkeypatch.setattr(Broken.cuda.runtime, "getDeviceCount", lambda: 0)
    with pytest.raises(DeviceError, match="There is none: use device='cpu' or 'auto'"):
        _device._cuda.__wrapped__()


def test_arrays_on_the_gpu_stay_there(samples):
    xp = _gpu().xp
    X, y = samples
    there = xp.asarray(X, dtype=np.float32)
    model = CodeClassifier(SharedKernelSVC(C=5, gamma=0.05), "one_vs_rest").fit(there, y)
    for result in (model.decision_function(there), model.predict_proba(there)):
        assert isinstance(result, xp.ndarray)
    assert isinstance(model.predict(there), np.ndarray)
    host = model.predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(there).get(), host, atol=1e-3)


def test_tensors_of_torch_stay_there(samples):
    _gpu()
    torch = pytest.importorskip("torch")
    X, y = samples
    there = torch.asarray(X, device="cuda")
    model = CodeClassifier(SharedKernelSVC(C=5, gamma=0.05), "one_vs_rest").fit(there, y)
    probabilities = model.predict_proba(there)
    assert probabilities.is_cuda
    np.testing.assert_allclose(probabilities.cpu().numpy(), model.predict_proba(X), atol=1e-3)


def _states(xp, rng, n_groups, m, *, coupling=None, groups=None):
    """Return a state in the middle of a solve, on the host and where `xp` has its arrays."""
    y = rng.choice([-1, 0, 1], size=(n_groups, m)).astype(np.int8)
    c = np.where(y == 0, 0.0, rng.choice([1.0, 2.0], size=y.shape))
    a = np.where(rng.random(y.shape) < 0.3, c, np.where(rng.random(y.shape) < 0.5, 0, c / 2))
    f = rng.normal(size=y.shape).round(2)
    size = 2 * _device.THREADS
    n = groups or n_groups
    blocks, sizes = np.zeros((n, size), dtype=np.int32), np.zeros(n, dtype=np.int32)
    parts = (
        y,
        a,
        c,
        f,
        f.copy(),
        coupling,
        blocks,
        sizes,
        np.zeros(n),
        np.zeros(n, dtype=np.int64),
    )
    host = State(*(None if part is None else part.copy() for part in parts))
    return host, State(*(None if part is None else xp.asarray(part) for part in parts))


@pytest.mark.parametrize("m", [100, 700, 3000])
@pytest.mark.parametrize("kind", ["separate", "together"])
def test_cuda_functions_do_what_their_twins_do(m, kind):
    gpu, twin = _gpu(), HostDevice()
    xp, rng = gpu.xp, np.random.default_rng(m)
    coupling = np.eye(4) + 0.2 if kind == "together" else None
    host, there = _states(
        xp, rng, 4, m, coupling=coupling, groups=1 if kind == "together" else None
    )
    groups = np.arange(1 if kind == "together" else 4, dtype=np.int32)
    K = rbf_kernel(rng.normal(size=(m, 3))).astype(np.float32)
    K = np.pad(K, ((0, 0), (0, -m % 64)))
    slot = rng.permutation(m)
    stored = K[np.argsort(slot)]
    K_there, slot_there, groups_there = xp.asarray(stored), xp.asarray(slot), xp.asarray(groups)
    problems = np.arange(4, dtype=np.int32) if kind == "together" else groups
    for _ in range(3):
        twin.choose(host, groups, 1e-3)
        gpu.choose(there, groups_there, 1e-3)
        np.testing.assert_array_equal(there.sizes.get(), host.sizes)
        np.testing.assert_allclose(there.violations.get(), host.violations, rtol=1e-12)
        for g, n in zip(groups, host.sizes, strict=True):
            assert set(there.blocks[g, :n].get()) == set(host.blocks[g, :n])
        there.blocks[:] = xp.asarray(host.blocks)
        changes = twin.solve(stored, slot, host, groups, 1e-3, 10**6, None)
        twin.add(stored, slot, host, groups, problems, changes)
        found = gpu.solve(K_there, slot_there, there, groups_there, 1e-3, 10**6, None)
        gpu.add(K_there, slot_there, there, groups_there, xp.asarray(problems), found)
        # Pairs of equal gain may be taken in another order, and so the block's optimum differs.
        np.testing.assert_allclose(_dual(there.a.get(), host), _dual(host.a, host), rtol=0.02)
        there.a[:], there.G[:] = xp.asarray(host.a), xp.asarray(host.G)
        host.f[:] = host.G if coupling is None else coupling @ host.G
        there.f[:] = xp.asarray(host.f)


def _dual(a, state):
    return float(a.sum() - (state.y * a * state.f).sum() / 2)
