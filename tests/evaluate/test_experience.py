"""What recommendations quote is what the committed cells and the documentation say."""

import re

import numpy as np
import pandas as pd
import pytest

from polychotomy.evaluate import recommend
from polychotomy.evaluate._experience import experiences
from polychotomy.reductions import available_bases, available_reductions, make_base
from tests.evaluate.cells import make_cell
from tests.programs import ROOT, load_program

CONTROL = "one_vs_rest"


def errors_of(base):
    """Return the errors of the reductions that all data sets have."""
    cells = pd.read_csv(ROOT / "results" / "comparison" / "cells.csv.gz")
    cells = cells[cells["base"] == base]
    return cells.pivot_table("error", "data_set", "reduction").dropna(axis="columns")


def effect(errors, other):
    """Return the median of the Walsh averages of differences, in points to one decimal."""
    each = (errors - other).to_numpy()
    means = (each[:, np.newaxis] + each)[np.triu_indices(len(each))] / 2
    return f"{100 * abs(np.median(means)):.1f}"


@pytest.mark.parametrize("known", experiences(), ids=lambda known: known.name)
def test_figures_are_those_of_the_committed_cells(known):
    errors = errors_of(known.bases[0])
    assert len(errors) == known.data_sets
    ranks = errors.round(7).rank(axis="columns").mean().drop("ddag")  # one-vs-one, asked in turn
    assert list(ranks.sort_values().index[: len(known.first)]) == list(known.first)
    told = re.findall(r"\d\.\d", known.why)
    if told:
        named = [*known.first, "one_vs_one"] if len(known.first) > 1 else known.first
        found = [effect(errors[name], errors[CONTROL]) for name in named]
        assert told[: len(found)] == found


def test_logistic_regressions_own_form_is_that_far_behind():
    errors = errors_of("logistic")
    (known,) = [each for each in experiences() if "logistic" in each.bases]
    said = f"and {effect(errors['one_vs_one'], errors['native'])} below that of its own"
    assert said in known.why


def test_boosted_trees_took_smaller_leaves_where_problems_are_small():
    tuned = pd.read_csv(ROOT / "results" / "comparison" / "tuned.csv")
    tuned = tuned[tuned["base"] == "boosting"]
    small = tuned["parameters"].str.contains('min_samples_leaf": 5').groupby(tuned["reduction"])
    assert small.mean()["one_vs_one"] > small.mean().drop("one_vs_one").max() - 0.1
    assert small.mean()["one_vs_one"] > small.mean()["one_vs_rest"]


def test_the_documentation_has_the_same_words():
    page = (ROOT / "docs" / "how-to" / "which-reduction.md").read_text("utf-8")
    for known in experiences():
        first = ", ".join(f"`{name}`" for name in known.first)
        assert f"| {known.name} | {first} | {known.why[0].upper()}{known.why[1:]}. | " in page
    assert load_program("advice").with_table(page) == page, "run make results"


def lead(base, curve, size, value, data_set="letter"):
    """Return by how many points one-vs-one is ahead, to one decimal."""
    curves = pd.read_csv(ROOT / "results" / "comparison" / "curves.csv")
    which = (curves["base"] == base) & (curves["curve"] == curve) & (curves[size] == value)
    errors = curves[which & (curves["data_set"] == data_set)]
    means = errors.groupby("reduction")["error"].mean()
    return f"{100 * (means[CONTROL] - means['one_vs_one']):.1f}"


def test_sizes_are_those_of_the_learning_curves():
    page = (ROOT / "docs" / "how-to" / "which-reduction.md").read_text("utf-8")
    few, many = (lead("logistic", "samples", "n_train", n) for n in (125, 4000))
    assert f"from {few} points at 125 samples to {many} at 4000" in page
    few, many = (lead("logistic", "classes", "n_classes", k) for k in (3, 26))
    assert f"from {few} at 3 classes to {many} at 26" in page
    few, many = (lead("svm", "samples", "n_train", n) for n in (125, 4000))
    assert f"is {few} points ahead at 125 samples and {many[1:]} behind at 4000" in page
    clusters = lead("svm", "classes", "n_classes", 100, "gaussian")
    characters = lead("svm", "classes", "n_classes", 50, "hanzi")
    assert f"is {clusters} ahead with 100 Gaussian clusters and {characters[1:]} behind" in page
    assert (many[0], characters[0]) == ("-", "-")


def test_learners_and_reductions_exist():
    for known in experiences():
        name, of_class = known.bases
        assert name in available_bases()
        assert type(make_base(name)).__name__ == of_class
        assert set(known.first) <= set(available_reductions())


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("svm", "on 32 data sets a tuned RBF SVM did best with one_vs_one"),
        ("HistGradientBoostingClassifier", "dense_random, sparse_random and bch"),
    ],
)
def test_a_recommendation_quotes_it(base, said):
    found = recommend([make_cell("iris", "one_vs_rest", base=base)])
    assert said in found.experience
    assert found.as_dict()["experience"] == found.experience


def test_of_other_learners_nothing_is_known():
    assert recommend([make_cell("iris", "one_vs_rest", base="knn")]).experience == ""
