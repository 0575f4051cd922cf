"""Learning curves: the errors of a few reductions against training samples and against classes.

    python benchmarks/learning_curves.py samples --base svm [--data letter …] [--until 21:30]
    python benchmarks/learning_curves.py classes --base logistic [--data gaussian …] [--until …]

``samples`` trains on 125 to 4000 samples of letter, pendigits and optdigits and tests on 1500
others. ``classes`` draws 3 to 26 classes of letter, up to 100 of Gaussian clusters or up to 50 of
Chinese characters, trains on 20 samples of each and tests on others. Both do so in three draws, for
which random codes are drawn anew. A reduction is tuned once for each data set, as in
``comparison.py``, on 500 samples or on 13 classes of the first draw.

Rows go to results/comparison/curves.csv one by one, so that an interrupted run goes on where it
was; ``make results`` writes a table and a picture from them.
"""

import argparse
import json
import warnings
from datetime import datetime
from itertools import product
from time import process_time

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

import comparison
from polychotomy.evaluate import Preparation

REDUCTIONS = ("one_vs_rest", "one_vs_one", "dense_random", "linkage_tree", "native")
SIZES = (125, 250, 500, 1000, 2000, 4000)
N_CLASSES = (3, 6, 13, 26, 50, 100)
BY_SAMPLES = ("letter", "pendigits", "optdigits")
BY_CLASSES = {"letter": "letter", "gaussian": "gaussian-100", "hanzi": "hanzi-100"}
N_DRAWS = 3
N_TEST = 1500
PER_CLASS, TEST_PER_CLASS = 20, 30
TUNED_ON = {"samples": 500, "classes": 13}
COLUMNS = (
    *("curve", "base", "data_set", "reduction", "n_classes", "n_train", "n_test", "draw"),
    *("error", "fit_seconds", "parameters"),
)


def parts_of_samples(name, draw):
    """Return samples, and (train, test) by the number of training samples."""
    samples, parts = comparison.read_samples(name, 10_000), {}
    rows = np.arange(len(samples.y))
    pool, test = train_test_split(rows, test_size=N_TEST, stratify=samples.y, random_state=draw)
    for n in SIZES:
        stratify = samples.y[pool]
        train, _ = train_test_split(pool, train_size=n, stratify=stratify, random_state=draw)
        parts[n] = train, test
    return samples, parts


def parts_of_classes(name, draw):
    """Return samples, and (train, test) by the number of classes, which are drawn at random."""
    samples, parts = comparison.read_samples(BY_CLASSES[name], 10_000), {}
    counts, rng = np.bincount(samples.y), np.random.default_rng(draw)
    order = rng.permutation(np.flatnonzero(counts > PER_CLASS))
    rows = rng.permutation(len(samples.y))
    of_class = {c: rows[samples.y[rows] == c] for c in order}
    for k in [k for k in N_CLASSES if k <= len(order)]:
        train = np.concatenate([of_class[c][:PER_CLASS] for c in order[:k]])
        test = [of_class[c][PER_CLASS : PER_CLASS + TEST_PER_CLASS] for c in order[:k]]
        parts[k] = train, np.concatenate(test)
    return samples, parts


PARTS = {"samples": parts_of_samples, "classes": parts_of_classes}


def reductions_of(base):
    """Return which reductions are measured; an SVM has no multi-class form of its own."""
    return [name for name in REDUCTIONS if name in comparison.reductions_of(base)]


def prepared(samples, train, test):
    """Return features and classes of both parts, prepared by the training part."""
    preparation = Preparation().fit(samples.data.iloc[train])
    X = [preparation.transform(samples.data.iloc[rows]) for rows in (train, test)]
    return (X[0], samples.y[train]), (X[1], samples.y[test])


def tuned_parameters(rows, curve, base, name, reduction):
    """Return the parameters of a reduction, of its first row or else by a search."""
    known = rows.of(curve=curve, base=base, data_set=name, reduction=reduction)
    if known:
        return json.loads(known[0]["parameters"])
    samples, parts = PARTS[curve](name, 0)
    train, _ = prepared(samples, *parts[TUNED_ON[curve]])
    method = comparison.contestant(base, reduction, 0)
    return comparison.search_of(base, method).fit(*train).best_params_


def measure(place, parameters, train, test):
    """Return the row of a reduction on one draw."""
    method = comparison.contestant(place["base"], place["reduction"], place["draw"])
    classifier = clone(method.classifier).set_params(**parameters)
    start = process_time()
    classifier.fit(*train)
    seconds = process_time() - start
    error = float(np.mean(classifier.predict(test[0]) != test[1]))
    return {**place, "error": error, "fit_seconds": seconds, "parameters": json.dumps(parameters)}


def run(curve, base, names, until):
    """Measure what the file does not have; stop between two measurements."""
    rows = comparison.Rows("curves", COLUMNS)
    for name, draw in product(names, range(N_DRAWS)):
        samples, parts = PARTS[curve](name, draw)
        for (train, test), reduction in product(parts.values(), reductions_of(base)):
            place = {"curve": curve, "base": base, "data_set": name, "reduction": reduction}
            place |= {"n_classes": len(np.unique(samples.y[train])), "n_train": len(train)}
            place |= {"n_test": len(test), "draw": draw}
            if rows.of(**{key: str(value) for key, value in place.items()}):
                continue
            if until and datetime.now().strftime("%H:%M") >= until:
                return
            parameters = tuned_parameters(rows, curve, base, name, reduction)
            rows.add(measure(place, parameters, *prepared(samples, train, test)))
        print(datetime.now().strftime("%H:%M"), curve, base, name, draw, flush=True)


def main():
    """Measure one kind of curve with a learner."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("curve", choices=list(PARTS))
    parser.add_argument("--base", choices=list(comparison.MOST_SAMPLES), default="logistic")
    parser.add_argument("--data", nargs="+", help="by default all")
    parser.add_argument("--until", help="a time of day, such as 19:30")
    args = parser.parse_args()
    known = BY_SAMPLES if args.curve == "samples" else tuple(BY_CLASSES)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # steps that ran out, classes with a single sample
        run(args.curve, args.base, args.data or known, args.until)


if __name__ == "__main__":
    main()
