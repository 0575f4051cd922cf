"""One engine, one opinion: every front gives the same advice, every time, under any load."""

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from typer.testing import CliRunner

from polychotomy import ReductionSearchCV, SharedLinear, datasets
from polychotomy.cli._app import app
from polychotomy.evaluate import Samples, Schedule, recommend
from polychotomy.report._page import page_contents

LOADERS = {"iris": load_iris, "wine": load_wine}


@pytest.fixture(params=["idle", "busy"])
def load(request):
    """Nothing else, or a process that keeps a core busy."""
    if request.param == "idle":
        yield
        return
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    yield
    busy.kill()
    busy.wait()


def invoke(*arguments):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def advice_of(name, seed, tmp_path):
    """Return what each front recommends, and why."""
    X, y = LOADERS[name](return_X_y=True)
    search = ReductionSearchCV(random_state=seed).fit(X, y)
    frame = LOADERS[name](as_frame=True)
    by_frame = ReductionSearchCV(random_state=seed, n_jobs=2).fit(frame.data, frame.target)
    compared = invoke("compare", name, "--seed", seed, "--json", "--jobs", 2)
    fitted = invoke("fit", name, "--seed", seed, "--json", "-o", tmp_path / "m", "--jobs", 1)
    cells, _ = Schedule(Samples.of(datasets.load(name)), seed=seed).run()
    page = page_contents(cells, None, None)
    return {
        "search": (search.best_reduction_, search.recommendation_.words),
        "search of a frame": (by_frame.best_reduction_, by_frame.recommendation_.words),
        "compare": (compared["recommended"], compared["why"]),
        "fit": (fitted["reduction"], fitted["explanation"]),
        "report": (page["chosen"], f"{page['chosen']}: {page['why'][0].lower()}{page['why'][1:]}"),
        "library": (recommend(cells).method, recommend(cells).words),
    }


SEEN = {}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(LOADERS))
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_all_fronts_agree_whatever_the_load(load, name, seed, tmp_path):
    found = advice_of(name, seed, tmp_path)
    assert len(set(found.values())) == 1, found
    first = SEEN.setdefault((name, seed), found["compare"])
    assert found["compare"] == first


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Calibration by:UserWarning")
def test_fronts_agree_on_many_classes():
    """With 100 classes or more, all of them try the class means of linear learners."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), 6)
    X = 3 * rng.normal(size=(100, 3))[y] + rng.normal(size=(600, 3))
    search = ReductionSearchCV(SharedLinear(), random_state=0, cv=2).fit(X, y)
    options = {"bases": ["polychotomy.SharedLinear"], "protocol": "cv2", "seed": 0}
    cells, _ = Schedule(Samples.make("many", X, y), **options).run()
    advice = recommend(cells)
    assert advice.method == search.best_reduction_ == "one_vs_rest:class_means"
    assert advice.words == search.recommendation_.words
    assert search.best_estimator_[-1].decoder_ == "class_means"
