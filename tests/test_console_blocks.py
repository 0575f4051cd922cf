"""The console blocks of the documentation run as they are printed."""

import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.pages import NAMED, blocks, blocks_to_run

PROGRAMS = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
RUN = [name for name, page in NAMED.items() if blocks_to_run(page)]


def run(script, folder):
    """Run the lines of a script in a folder until one fails."""
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": PROGRAMS},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with the reader's own files, and a model of them."""
    folder = tmp_path_factory.mktemp("files")
    means = {"water": [2, 1, 0], "pine": [3, 4, 6], "oak": [3, 5, 7], "corn": [5, 6, 9]}
    means |= {"wheat": [6, 7, 8], "road": [8, 8, 5]}
    labels = np.random.default_rng(0).permutation(np.repeat(list(means), 30))
    bands = np.random.default_rng(1).normal([means[label] for label in labels], 0.8).round(2)
    land = pd.DataFrame(bands, columns=["blue", "green", "infrared"]).assign(cover=labels)
    land[:120].to_csv(folder / "land.csv", index=False)
    land[120:].to_csv(folder / "test.csv", index=False)
    land[120:].drop(columns="cover").to_csv(folder / "new.csv", index=False)
    land.to_csv(folder / "big.csv.gz", index=False)
    land.to_parquet(folder / "big.parquet")
    topics = {"weather": "rain and wind", "sport": "goals and a late win"}
    mails = [
        (f"mail {i}", f"{text} {i}", topic) for i in range(9) for topic, text in topics.items()
    ]
    columns = ["subject", "body", "topic"]
    pd.DataFrame(mails, columns=columns).to_csv(folder / "mails.csv", index=False)
    steps = ["dry", "damp", "wet"]
    soil = pd.DataFrame({"moisture": range(30), "soil": np.repeat(steps, 10)})
    soil.to_csv(folder / "soil.csv", index=False)
    done = run("polychotomy fit land.csv --reduction one_vs_rest -o land.skops", folder)
    assert done.returncode == 0, done.stderr
    return folder


def files_named(script):
    """Return the files that the commands of a script are told to write."""
    words = script.replace("\\\n", " ").split()
    options = ("-o", "--report", "--store")
    return [name for option, name in pairwise(words) if option in options]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_console_blocks_run_and_write_their_files(name, files, tmp_path):
    folder = shutil.copytree(files, tmp_path / "files")
    script = "\n".join(blocks_to_run(NAMED[name]))
    before = {path: (folder / path).stat().st_mtime_ns for path in os.listdir(folder)}
    done = run(script, folder)
    assert done.returncode == 0, done.stderr
    for path in files_named(script):
        written = (folder / path).stat()
        assert written.st_size, f"{path} is empty"
        assert written.st_mtime_ns != before.get(path), f"{path} was not written"
    shown = blocks(NAMED[name], "text") if name == "docs/tutorial.md" else []
    printed = " ".join((done.stdout + done.stderr).split())
    for line in "".join(shown).splitlines():
        assert " ".join(line.split()) in printed, f"{name} shows: {line}"


def test_every_block_that_is_not_run_says_why():
    marked = [page.read_text().count("\n<!-- not run: ") for page in NAMED.values()]
    skipped = [len(blocks(page, "console")) - len(blocks_to_run(page)) for page in NAMED.values()]
    assert marked == skipped
    assert "docs/tutorial.md" in RUN
