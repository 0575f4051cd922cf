import json
from copy import deepcopy
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from polychotomy import (
    Code,
    CodeClassifier,
    KernelSBCClassifier,
    TreeClassifier,
    make_code,
    parse_structure,
)
from polychotomy.evaluate._naming import cell_key, current_versions, parameters_of


@dataclass(frozen=True)
class Holder:
    extension: np.ndarray


WHAT = {
    "reduction": "bch",
    "base": "ridge",
    "fold": 1,
    "seed": 0,
    "settings": {"protocol": "cv3", "parameters": {"cv": 5}},
    "versions": {"polychotomy": "1", "numpy": "2", "python": "3.11"},
}


@pytest.mark.parametrize(
    "change",
    [
        {"reduction": "bch:hamming"},
        {"base": "lda"},
        {"fold": 2},
        {"seed": 1},
        {"settings": {"protocol": "cv4", "parameters": {"cv": 5}}},
        {"settings": {"protocol": "cv3", "parameters": {"cv": 4}}},
        {"versions": {"polychotomy": "1", "numpy": "2.1", "python": "3.11"}},
    ],
)
def test_the_key_changes_with_whatever_matters(change):
    assert cell_key(**{**WHAT, **change}) != cell_key(**WHAT)


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"parameters": {"cv": 5}, "protocol": "cv3"}},
        {"versions": {"polychotomy": "1", "numpy": "2", "python": "3.12"}},
    ],
)
def test_the_key_stays_otherwise(change):
    assert cell_key(**{**WHAT, **change}) == cell_key(**WHAT)


def test_the_key_is_a_sha_256_of_canonical_json():
    # sha256 of {"base":"b","fold":0,"reduction":"r","seed":0,"settings":{},"versions":{}}
    key = cell_key(reduction="r", base="b", fold=0, seed=0, settings={}, versions={})
    assert key == "0ff3f5c30d269de7b3e26a3f35911fbb28f5727eb949420eea1d160a85b2cdd0"


def test_parameters_are_those_that_change_results():
    def found(**options):
        return parameters_of(CodeClassifier(RidgeClassifier(alpha=2.0), **options))

    assert found()["estimator__alpha"] == 2.0
    assert found()["estimator"] == "RidgeClassifier"
    assert found(n_jobs=3, verbose=2) == found()
    assert found(cv=3) != found()
    assert parameters_of(SVC(kernel=max))["kernel"] == "max"
    assert parameters_of(HistGradientBoostingClassifier())["loss"] == "log_loss"
    assert parameters_of(SVC(C=float("inf")))["C"] == "inf"


def test_versions_are_those_in_use():
    import numpy
    import sklearn

    assert current_versions()["numpy"] == numpy.__version__
    assert current_versions()["scikit-learn"] == sklearn.__version__
    assert set(current_versions()) == {"polychotomy", "scikit-learn", "numpy", "python"}


def test_parameters_that_json_cannot_hold_are_told_apart():
    def found(code):
        return parameters_of(CodeClassifier(RidgeClassifier(), code))

    one, two = np.eye(3) * 2 - 1, 1 - np.eye(3) * 2
    assert found(Code(one)) == found(Code(one)) != found(Code(two))
    assert found(Code(one)) != found(one) != found(two)
    near = [[np.eye(3)], [np.eye(3) + 1e-12]]  # as text both are the same
    assert len({str(parameters_of(KernelSBCClassifier(extensions=e))) for e in near}) == 2
    trees = [parse_structure(text) for text in ("m {n {a b} c}", "m {n {a c} b}")]
    assert len({str(parameters_of(TreeClassifier(structure=s))) for s in trees}) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.zeros((40, 100)), np.eye(40, 100)),
        ([np.zeros((40, 100))], [np.eye(40, 100)]),
        ({"a": np.zeros((40, 100))}, {"a": np.eye(40, 100)}),
        (Holder(np.zeros((40, 100))), Holder(np.eye(40, 100))),
        (csr_array(np.zeros((40, 100))), csr_array(np.eye(40, 100))),
        ([RidgeClassifier(alpha=1)], [RidgeClassifier(alpha=2)]),
        (StratifiedKFold(3), StratifiedKFold(4)),
        (np.int64(3), np.int64(4)),
        (frozenset("ab"), frozenset("ac")),
    ],
)
def test_values_are_named_by_content(one, other):
    """As texts, large arrays are cut short, so that different ones look alike."""
    again = deepcopy(one)
    assert named(one) == named(again) != named(other)
    json.dumps(named(one))


def named(value):
    return parameters_of(CodeClassifier(code=value))["code"]


@pytest.mark.parametrize(
    "value", [np.random.RandomState(0), np.random.default_rng(0), partial(max), object()]
)
def test_what_cannot_be_named_is_refused(value):
    with pytest.raises(ValueError, match="cannot be named by its content"):
        named(value)


def own_code(n_classes):
    return np.eye(n_classes)


def test_functions_are_named_with_the_module_of_a_user():
    assert named(own_code) == f"{__name__}.own_code"
    assert named(make_code) == "make_code"


def test_functions_without_a_name_are_refused():
    with pytest.raises(ValueError, match=r"defined in a module, by name.*<lambda>"):
        parameters_of(CodeClassifier(code=lambda n_classes: np.eye(n_classes)))
