"""A quick test of whether another learner is much better than the default."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils import _safe_indexing

from polychotomy.cli._options import DEFAULT_BASE
from polychotomy.evaluate import Preparation, Samples
from polychotomy.reductions import make_base

_SAMPLES, _PER_CLASS, _FOLDS = 500, 10, 3
_FEWEST = 5  # fewer samples may differ by chance


def hint_at_learner(samples: Samples) -> str:
    """Return a hint if a learner has at most half the error of the default one, else "".

    The learners' own multi-class forms are cross-validated on at most 500 samples (ten for each
    class), drawn class by class. SVC stands for ``svm``: it solves the same problems. The draw,
    the folds and the learners have fixed seeds, so that the same data give the same hint.
    """
    few = samples.limited(max(_SAMPLES, _PER_CLASS * len(samples.classes)))
    wrong = _wrong(few)
    n, usual = len(few.y), wrong.pop(DEFAULT_BASE)
    best = min(wrong, key=lambda name: wrong[name])
    if 2 * wrong[best] > usual or usual - wrong[best] < _FEWEST:
        return ""
    return (
        f"On a quick look at {n} samples {best} had an error of {100 * wrong[best] / n:.1f} %, "
        f"{DEFAULT_BASE} {100 * usual / n:.1f} %: try --base {best}."
    )


def _wrong(few: Samples) -> dict[str, int]:
    """Return how many samples each learner gets wrong in cross-validation."""
    learners = {
        DEFAULT_BASE: make_base(DEFAULT_BASE),
        "svm": SVC(),
        "random_forest": make_base("random_forest").set_params(random_state=0),
    }
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    wrong = dict.fromkeys(learners, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer samples than folds
        for train, test in folds.split(few.y, few.y):
            prepare = Preparation()
            X_train = prepare.fit_transform(_safe_indexing(few.data, train))
            X_test = prepare.transform(_safe_indexing(few.data, test))
            for name, learner in learners.items():
                predicted = clone(learner).fit(X_train, few.y[train]).predict(X_test)
                wrong[name] += int(np.sum(predicted != few.y[test]))
    return wrong
