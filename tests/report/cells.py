"""Made-up cells."""

import numpy as np

from polychotomy.evaluate import Cell


def make_cell(
    truth,
    predicted,
    *,
    data_set="iris",
    reduction="one_vs_one",
    base="svm",
    fold=0,
    seed=0,
    rows=None,
    classes=None,
    probabilities=None,
    seconds=1.0,
    **changes,
):
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    k = 1 + int(max(truth.max(), predicted.max()))
    values = {
        "data_set": data_set,
        "reduction": reduction,
        "base": base,
        "fold": fold,
        "seed": seed,
        "settings": {"protocol": "cv10", "tuning": "none", "n_train": 100},
        "classes": tuple("abcdefghijklmnopqrstuvwxyz"[:k]) if classes is None else tuple(classes),
        "rows": np.arange(len(truth)) if rows is None else np.asarray(rows),
        "truth": truth,
        "predicted": predicted,
        "probabilities": None if probabilities is None else np.float32(probabilities),
        "metrics": {"error": float(np.mean(truth != predicted))},
        "n_problems": 3,
        "fit_seconds": 0.9 * seconds,
        "predict_seconds": 0.1 * seconds,
        "chosen": {"C": 1.0, "decoder": "hinge"},
        "versions": {"polychotomy": "0.1", "numpy": "2.2"},
        "key": f"{data_set}-{reduction}-{base}-{fold}-{seed}",
    }
    return Cell(**values | changes)


def random_cells(rng, errors, *, n_samples=200, n_classes=4, n_folds=1, classes=None, **changes):
    """Return a cell per fold of each method, which is wrong with the probability given for it."""
    cells = []
    for fold in range(n_folds):
        truth = rng.integers(n_classes, size=n_samples)
        rows = fold * n_samples + np.arange(n_samples)
        for method, error in errors.items():
            wrong = rng.random(n_samples) < error
            other = (truth + rng.integers(1, n_classes, size=n_samples)) % n_classes
            predicted = np.where(wrong, other, truth)
            p = rng.dirichlet(np.ones(n_classes), size=n_samples) * 0.4
            p[np.arange(n_samples), predicted] += 0.6
            cells.append(
                make_cell(
                    truth,
                    predicted,
                    reduction=method,
                    fold=fold,
                    rows=rows,
                    probabilities=p,
                    classes=classes or [f"class {c}" for c in range(n_classes)],
                    **changes,
                )
            )
    return cells
