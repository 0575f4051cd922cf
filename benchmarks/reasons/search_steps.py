"""Tests whether the methods of SBC's Table 2 need different numbers of search steps (section 4).

    python benchmarks/reasons/search_steps.py [glass car …]

The experiment's greedy search (σ, then C, from 1 on, ten folds, one round), once on at most 250
samples of each data set. Counted are the different pairs of σ and C that it tries, and how many it
has tried when it finds the best one. Over the data sets the methods are compared by Iman and
Davenport's test, as in the paper.
"""

import sys
import warnings

import numpy as np

from polychotomy.assess import average_ranks, iman_davenport
from polychotomy.evaluate import GreedySearchCV, Preparation
from polychotomy.lab import experiments

MOST_SAMPLES = 250


def count_steps(classifier, X, y):
    """Return how many pairs a search tries, and how many until the best."""
    search = GreedySearchCV(classifier, rounds=1, cv=10, refit=False).fit(X, y)
    return len(search.cv_results_["params"]), int(search.best_index_) + 1


def main(names):
    """Print the steps of each method and data set, and the tests."""
    experiment = experiments.get("sbc-2")
    found, methods = [], []
    for name in names or experiment.data_sets:
        samples = experiment.load_samples(name)
        made = experiment.make_methods(samples, 0)
        few = samples.limited(MOST_SAMPLES)
        X = Preparation(standardise_indicators=True, dense=True).fit_transform(few.data)
        methods = [each.reduction for each in made]
        found.append([count_steps(each.classifier, np.asarray(X, float), few.y) for each in made])
        said = (
            f"{m} {tried} ({best})" for m, (tried, best) in zip(methods, found[-1], strict=True)
        )
        print(f"{name}: {', '.join(said)}", flush=True)
    if len(found) < 2:
        return
    for which, words in enumerate(("pairs that are tried", "pairs until the best")):
        table = np.array(found)[:, :, which]
        ranks = zip(methods, average_ranks(table), strict=True)
        print(f"{words}, average ranks: {', '.join(f'{m} {rank:.2f}' for m, rank in ranks)}")
        test = iman_davenport(table)
        print(f"  Iman and Davenport: F = {test.statistic:.2f}, p = {test.pvalue:.2f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
