"""Linear classifiers of other libraries for very many classes, with the methods of scikit-learn.

``prepare`` writes what a library reads from files, which is not timed. What is not installed is
listed in ``MISSING`` with the reason. PECOS is left out: libpecos 1.2.8 needs a SciPy before 1.17.
"""

import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file


class Napkin:
    """A probabilistic label tree of napkinXC."""

    def fit(self, X, y):
        """Train in a temporary folder, as napkinXC does."""
        from napkinxc.models import PLT

        self.model_ = PLT(tempfile.mkdtemp(), threads=1, seed=0)
        self.model_.fit(csr_matrix(X), y)
        self.n_classes_ = int(y.max()) + 1
        return self

    def predict_top(self, X, n):
        """Return the labels of the n best classes."""
        found = self.model_.predict(csr_matrix(X), top_k=n)
        return np.array([(row + [-1] * n)[:n] for row in found])

    def predict(self, X):
        """Return the best label."""
        return self.predict_top(X, 1)[:, 0]

    def predict_proba(self, X):
        """Return its probabilities of all labels, divided by their sum."""
        k = self.n_classes_
        found = np.zeros((X.shape[0], k))
        for row, pairs in zip(found, self.model_.predict_proba(csr_matrix(X), k), strict=True):
            labels, values = zip(*pairs, strict=True)
            row[list(labels)] = values
        return found / found.sum(axis=1, keepdims=True)


class Omikuji:
    """Balanced label trees of omikuji (Parabel), three of them, as it has by default."""

    def prepare(self, X, y, test):
        """Write the training samples."""
        self.path_ = Path(tempfile.mkdtemp()) / "train.txt"
        with self.path_.open("wb") as file:
            file.write(f"{X.shape[0]} {X.shape[1]} {y.max() + 1}\n".encode())
            dump_svmlight_file(csr_matrix(X), y, file)
        test = csr_matrix(test)
        self.pairs_ = [
            list(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in test
        ]

    def fit(self, X, y):
        """Train on the file."""
        import omikuji

        self.model_ = omikuji.Model.train_on_data(str(self.path_), n_threads=1)
        self.model_.init_prediction_thread_pool(1)
        return self

    def predict_top(self, X, n):
        """Return the labels of the n best classes of the prepared test samples."""
        found = [[label for label, _ in self.model_.predict(p, top_k=n)] for p in self.pairs_]
        return np.array([(row + [-1] * n)[:n] for row in found])

    def predict(self, X):
        """Return the best label."""
        return self.predict_top(X, 1)[:, 0]


class VowpalWabbit:
    """A multi-class reduction of Vowpal Wabbit, five passes of online logistic regression."""

    def __init__(self, reduction):
        self.reduction = reduction

    def prepare(self, X, y, test):
        """Write training and test samples."""
        self.folder_ = Path(tempfile.mkdtemp())
        self.n_classes_ = int(y.max()) + 1
        for name, samples, labels in (("train", X, y), ("test", test, np.zeros(test.shape[0]))):
            with (self.folder_ / name).open("w") as file:
                for row, label in zip(csr_matrix(samples), labels, strict=True):
                    features = zip(row.indices.tolist(), row.data.tolist(), strict=True)
                    text = " ".join(f"{i}:{v:.5g}" for i, v in features)
                    file.write(f"{int(label) + 1} | {text}\n")

    def fit(self, X, y):
        """Train on the file."""
        from vowpalwabbit import Workspace

        bits = max(18, int(np.ceil(np.log2(X.shape[1] * self.n_classes_))))
        model = Workspace(
            f"--{self.reduction} {self.n_classes_} -d {self.folder_ / 'train'} --passes 5 -k "
            f"--cache_file {self.folder_ / 'cache'} -b {min(bits, 26)} --loss_function logistic "
            f"-f {self.folder_ / 'model'} --holdout_off --quiet"
        )
        model.finish()
        return self

    def predict(self, X):
        """Return the labels of the prepared test samples."""
        from vowpalwabbit import Workspace

        said = self.folder_ / "said"
        model = Workspace(
            f"-t -i {self.folder_ / 'model'} -d {self.folder_ / 'test'} -p {said} --quiet"
        )
        model.finish()
        return np.loadtxt(said).astype(int) - 1


_PEERS = {
    "napkinXC, label tree": ("napkinxc", Napkin),
    "omikuji, label trees": ("omikuji", Omikuji),
    "Vowpal Wabbit, one-vs-rest": ("vowpalwabbit", lambda: VowpalWabbit("oaa")),
    "Vowpal Wabbit, recall tree": ("vowpalwabbit", lambda: VowpalWabbit("recall_tree")),
}
PEERS = {name: make for name, (package, make) in _PEERS.items() if find_spec(package)}
MISSING = {
    name: f"skipped: {package} is not installed"
    for name, (package, _) in _PEERS.items()
    if not find_spec(package)
}
VERSIONS = {package: version(package) for package, _ in _PEERS.values() if find_spec(package)}
