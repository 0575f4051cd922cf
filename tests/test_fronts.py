"""One engine, one opinion: every front gives the same advice, every time, under any load."""

import json
import subprocess
import sys

import pytest
from sklearn.datasets import load_iris, load_wine
from typer.testing import CliRunner

from polychotomy import ReductionSearchCV, datasets
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
