import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polychotomy import CodeClassifier, memory
from polychotomy.codes import Targets, one_vs_one
from polychotomy.errors import NotEnoughMemoryError
from polychotomy.training import _inputs, check_own_weights, part_of_batch, weigh


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_part_of_a_batch_has_its_own_arguments(form):
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 2, 0, 1, 2])
    params = {"sample_weight": np.arange(6.0), "passes": 3}
    which = np.array([True, False, True, True, False, False])
    part, labels, own, factor = part_of_batch(form(X), y, params, np.arange(6) / 10, which)
    np.testing.assert_array_equal(part if form is np.asarray else part.toarray(), X[[0, 2, 3]])
    assert labels.tolist() == [0, 2, 0]
    assert own["sample_weight"].tolist() == [0, 2, 3]
    assert own["passes"] == 3
    assert factor.tolist() == [0, 0.2, 0.3]
    assert part_of_batch(X, y, params, None, which)[3] is None


def test_factors_multiply_weights():
    factor = np.array([1.0, 3.0])
    assert weigh({"passes": 2}, None) == {"passes": 2}
    assert weigh({}, factor)["sample_weight"].tolist() == [1, 3]
    both = weigh({"sample_weight": [2, 2], "passes": 2}, factor)
    assert both["sample_weight"].tolist() == [2, 6]
    assert both["passes"] == 2


def test_a_learner_weighs_sides_and_not_classes():
    def learner(weight):
        return make_pipeline(StandardScaler(), LogisticRegression(class_weight=weight))

    message = "'logisticregression__class_weight' of Pipeline .* keys 'oak', 'elm'.*to Owner"
    with pytest.raises(ValueError, match=message):
        check_own_weights(learner({"oak": 1, "elm": 2}), "Owner")
    for right in (learner({0: 1, 1: 2}), learner("balanced"), learner(None), "no learner"):
        check_own_weights(right, "Owner")
    check_own_weights(FrozenEstimator(learner({"oak": 1, "elm": 2})), "Owner")


def test_held_out_outputs_need_room_for_the_samples_that_take_part(monkeypatch):
    """Of one-vs-one, each sample takes part in three of the six problems; twice, as they grow."""
    y = np.repeat(np.arange(4), [10, 20, 30, 40])
    needed = 2 * 8 * 3 * 100
    monkeypatch.setattr(memory, "SMALL", 1)
    monkeypatch.setattr(_inputs, "_BLOCK", 4)  # six problems in two blocks
    monkeypatch.setattr(memory, "free_bytes", lambda: needed)
    targets = Targets(one_vs_one(4).distinct.columns, y)
    _inputs.check_held_out_room(targets)
    monkeypatch.setattr(memory, "free_bytes", lambda: needed - 1)
    with pytest.raises(NotEnoughMemoryError, match=r"held-out outputs .* Set probability=None"):
        _inputs.check_held_out_room(targets)
    model = CodeClassifier(LogisticRegression(), "one_vs_one", calibration="sigmoid")
    with pytest.raises(NotEnoughMemoryError, match="held-out outputs"):
        model.fit(y[:, np.newaxis], y)
    model.set_params(probability=None).fit(y[:, np.newaxis], y)
