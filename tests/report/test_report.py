import os
import re
import stat
from html.parser import HTMLParser
from threading import Thread

import numpy as np
import pytest
from sklearn.datasets import load_iris

from polychotomy import CodeClassifier, report
from polychotomy.plot._palette import method_colours
from polychotomy.report import _write, write_report
from polychotomy.report._charts import (
    agreement_figure,
    cost_figure,
    interval_figure,
    measure_figure,
    rank_figure,
    reject_figure,
    reliability_figure,
)
from polychotomy.report._findings import find
from polychotomy.report._gathered import gather
from polychotomy.report._page import _facts, on_dark, page_contents
from tests.report.cells import make_cell, random_cells

vl_convert = pytest.importorskip("vl_convert", reason="needs the extra 'report'")
pytest.importorskip("jinja2", reason="needs the extra 'report'")

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "x" * 300,
    "🦊🦋 emoji 🏳️‍🌈",
    "‮שלום עולם‬ مرحبا",
    "</script><!-- {{ 7*7 }} ${7*7} &amp; 'quoted'",
)
VOID = {"meta", "link", "input", "br", "img"}


class Page(HTMLParser):
    """Checks that elements are closed in order, and keeps what the tests ask for."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)


@pytest.fixture(autouse=True, scope="module")
def _library():
    _write._drawing_library()  # takes seconds, and is the same for all


def _written(path, cells, **options):
    text = write_report(cells, path / "report.html", **options).read_text("utf-8")
    return text.replace(_write._drawing_library(), "")


def _hostile_cells(rng):
    errors = dict(zip(HOSTILE, np.linspace(0.1, 0.4, len(HOSTILE)), strict=True))
    return [
        cell
        for name in HOSTILE
        for cell in random_cells(
            rng, errors, data_set=name, classes=HOSTILE, n_classes=len(HOSTILE), base=name
        )
    ]


def test_the_page_needs_nothing_else(tmp_path, rng):
    text = _written(tmp_path, random_cells(rng, {"bch": 0.1, "one_vs_one": 0.2}))
    assert not re.search(r"https?:|[\"'(]//", text)
    page = Page(text)
    assert [a for a in page.attributes if a[1] == "src"] == []
    links = [value for _, name, value in page.attributes if name in ("href", "action", "data")]
    assert all(link.startswith("#") or link == "data:," for link in links)
    assert "default-src 'none'" in text
    assert (tmp_path / "report.html").stat().st_size < 1.5e6


def test_the_order_of_the_answers(tmp_path, rng):
    text = _written(tmp_path, random_cells(rng, {"bch": 0.1, "one_vs_one": 0.2}), title="Mine")
    sections = re.findall(r'<section id="(\w+)"', text)
    assert sections == ["what", "sure", "table", "plots", "model"]
    assert "<title>Mine</title>" in text
    assert "Use <" in text


def test_tables_and_plots_can_be_heard(tmp_path, rng):
    text = _written(tmp_path, random_cells(rng, {"bch": 0.1, "one_vs_one": 0.2}))
    tables = re.findall(r"<table.*?</table>", text, re.S)
    assert tables
    assert all("<caption>" in table and 'scope="col"' in table for table in tables)
    assert all(not re.search(r"<th(?![^>]*scope=)[ >]", table) for table in tables)
    figures = re.findall(r"<figure>.*?</figure>", text, re.S)
    assert len(figures) == 5
    assert all("<figcaption>" in figure and 'class="about"' in figure for figure in figures)
    page = Page(text)
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert text.count("aria-sort=") == 1 + text.count('[aria-sort="')


def test_hostile_names_are_text(tmp_path, rng):
    text = _written(tmp_path, _hostile_cells(rng), title=HOSTILE[0])
    page = Page(text)
    assert page.tags.count("script") == 4
    assert "img" not in page.tags
    assert not any(name.startswith("on") for _, name, _ in page.attributes)
    shown = "".join(page.texts)
    assert all(name in shown for name in HOSTILE)
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert "<" not in data


def test_fifty_data_sets_and_twenty_methods_stay_small(tmp_path, rng):
    errors = {f"method {m}": 0.05 + 0.01 * m for m in range(20)}
    cells = [
        cell
        for d in range(50)
        for cell in random_cells(
            rng, errors, n_folds=2, n_samples=30, n_classes=26, data_set=f"data {d}"
        )
    ]
    path = write_report(cells, tmp_path / "report.html")
    assert path.stat().st_size < 4e6
    Page(path.read_text("utf-8").replace(_write._drawing_library(), ""))


@pytest.mark.slow
def test_a_thousand_data_sets_stay_small_too(tmp_path, rng):
    errors = {f"method {m}": 0.2 for m in range(4)}
    cells = [
        cell
        for d in range(1000)
        for cell in random_cells(rng, errors, n_samples=10, n_classes=3, data_set=f"data {d}")
    ]
    text = _written(tmp_path, cells)
    assert "only the means are shown" in text
    assert (tmp_path / "report.html").stat().st_size < 5e6


def test_the_table_has_the_means_and_marks_the_best(rng):
    cells = [
        make_cell(
            [0, 1], [0, 0], reduction="a", metrics={"error": 0.5, "score": 0.5, "log_loss": 0.25}
        ),
        make_cell(
            [0, 1], [0, 1], reduction="b", metrics={"error": 0.0, "score": 1.0, "log_loss": 0.75}
        ),
        make_cell(
            [0, 1], [0, 0], reduction="a", metrics={"error": 0.25, "score": 0.75}, data_set="wine"
        ),
        make_cell(
            [0, 1], [0, 1], reduction="b", metrics={"error": 0.5, "score": 0.5}, data_set="wine"
        ),
    ]
    contents = page_contents(cells, None, None)
    rows = {(row["data_set"], row["method"]): row for row in contents["rows"]}
    assert len(rows) == 6
    assert rows[-1, 0]["values"]["error"]["text"] == "37.50"
    assert rows[-1, 1]["values"]["error"] == {"text": "25.00", "value": "25", "best": True}
    assert rows[-1, 0]["rank"]["text"] == "1.5"
    assert rows[0, 0]["values"]["log_loss"]["best"]
    assert not rows[0, 1]["values"]["log_loss"]["best"]
    assert rows[0, 1]["rank"]["text"] == "1"
    assert rows[1, 0]["verdict"] == "best"
    assert rows[1, 0]["values"]["log_loss"]["text"] == "—"
    assert contents["title"] == "Which reduction for 2 data sets?"


def test_the_model_that_is_given_is_shown(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = CodeClassifier(code="one_vs_rest", probability=None).fit(X, y)
    names = ["0", "1", "2"]
    cells = [
        make_cell(y, y, reduction="one_vs_one", classes=names),
        make_cell(y, np.roll(y, 9), reduction="one_vs_rest", classes=names),
    ]
    text = _written(tmp_path, cells, model=model)
    assert "0 against the rest" in text
    assert "not the one that is advised above" in text
    assert "0 against 1" in _written(tmp_path, cells)
    other = CodeClassifier(code="bch", probability=None).fit(X, y)
    assert "belongs to none of the methods compared" in _written(tmp_path, cells, model=other)


@pytest.mark.parametrize("reduction", ["linkage_tree", "unheard_of"])
def test_problems_that_are_not_known(tmp_path, rng, reduction):
    text = _written(tmp_path, random_cells(rng, {reduction: 0.1}))
    assert "depends on the training data" in text
    assert ("Schedule(samples" in text) == (reduction == "linkage_tree")


def test_what_is_no_reduction_has_no_problems(tmp_path, rng):
    assert "Its problems" in _written(tmp_path, random_cells(rng, {"native": 0.5, "bch": 0.1}))
    assert "Its problems" not in _written(tmp_path, random_cells(rng, {"native": 0.1, "bch": 0.5}))


def test_the_page_of_a_single_model_compares_nothing(tmp_path, rng):
    text = _written(tmp_path, random_cells(rng, {"bch": 0.1}, settings={}))
    shown = re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL)
    assert "How good it is" in shown
    assert "training (s)" not in shown
    for words in ("comparison", "compared", "method", "Method", "the best", "chosen", "advice"):
        assert words not in re.sub(r"<[^>]*>", "", shown), words


@pytest.fixture
def specifications(rng):
    """The plots of reports on one data set and on three."""
    errors = {"bch": 0.1, "one_vs_one": 0.2, "ddag": 0.3}
    one = gather(random_cells(rng, errors))
    several = gather([c for d in "abc" for c in random_cells(rng, errors, data_set=d)])
    return (
        interval_figure(one, find(one)),
        rank_figure(several, find(several)),
        measure_figure(one, one.methods),
        measure_figure(several, several.methods),
        cost_figure(one),
        cost_figure(several),
        reliability_figure(),
        reject_figure(),
        agreement_figure([AGREEMENT], "theirs", "ours", logarithmic=True),
    )


def test_every_plot_is_a_valid_specification(specifications):
    for spec in specifications:
        assert vl_convert.vegalite_to_vega(spec)["marks"]


DRAWN_LATER = {"predicted", "observed", "count", "threshold", "rejected", "error"}  # by the page


def fields(encoding):
    """Yield the names of the columns that an encoding reads."""
    for channel in encoding.values():
        for each in channel if isinstance(channel, list) else [channel]:
            if "field" in each:
                yield each["field"]


def test_every_plot_reads_columns_that_it_has(specifications):
    for spec in specifications:
        for layer in spec["layer"]:
            values = layer.get("data", spec["data"]).get("values")
            known = set(values[0]) if values else DRAWN_LATER
            known |= {made["as"] for made in spec.get("transform", []) if "as" in made}
            assert set(fields(layer["encoding"])) <= known
            for channel in {"x", "y", "color"} & set(layer["encoding"]):
                assert layer["encoding"][channel]["type"] in ("quantitative", "nominal")


AGREEMENT = {
    "theirs": -3.0,
    "ours": 1e-9,
    "difference": 3.0,
    "data_set": "iris",
    "method": "OVA",
    "verdict": "differs",
}


def test_only_times_are_kept_off_zero():
    linear = agreement_figure([AGREEMENT], "x", "y", logarithmic=False)
    assert linear["data"]["values"] == [AGREEMENT]
    times = agreement_figure([AGREEMENT], "x", "y", logarithmic=True)
    assert times["data"]["values"] == [AGREEMENT | {"theirs": 1e-4, "ours": 1e-4}]


def test_of_too_many_data_sets_the_first_are_drawn(rng, monkeypatch):
    monkeypatch.setattr("polychotomy.report._charts._MOST_POINTS", 7)
    errors = {"bch": 0.1, "one_vs_one": 0.2, "ddag": 0.3}
    many = gather([c for d in "abcde" for c in random_cells(rng, errors, data_set=d)])
    points = measure_figure(many, many.methods)["data"]["values"]
    assert [point["where"] for point in points] == ["a"] * 3 + ["b"] * 3


def test_plots_hold_the_findings(rng):
    errors = {"bch": 0.1, "one_vs_one": 0.3}
    one = gather(random_cells(rng, errors, n_folds=3))
    findings = find(one)
    best, rival = interval_figure(one, findings)["data"]["values"]
    assert best == {"method": "bch", "low": 0, "high": 0, "difference": 0}
    assert rival["difference"] == 100 * findings.rivals[0].interval.difference
    points = measure_figure(one, one.methods)["data"]["values"]
    assert len(points) == 6
    expected = [100 * cell.metrics["error"] for cell in one.cells["iris", "bch"]]
    assert [p["error"] for p in points if p["method"] == "bch"] == pytest.approx(expected)
    several = gather([c for d in "abc" for c in random_cells(rng, errors, data_set=d)])
    spec = rank_figure(several, find(several))
    rows = [interval_figure(one, findings), measure_figure(one, one.methods), spec]
    assert [each["height"] for each in rows] == [48] * 3  # 24 pixels for each method
    assert [p["rank"] for p in spec["data"]["values"]] == find(several).ranks.ranks.tolist()


def test_facts_name_the_learner_and_the_samples(rng):
    cells = random_cells(rng, {"bch": 0.1, "ddag": 0.2}, base="ridge")
    facts = _facts(gather(cells))
    assert (facts["Binary learner"], facts["Methods"]) == ("ridge", "2")
    assert facts["Tested on"] == f"{len(np.unique([c.rows for c in cells]))} samples"


def test_colours_are_those_of_the_other_plots(rng):
    contents = page_contents(random_cells(rng, {"bch": 0.1, "exhaustive": 0.2}), None, None)
    assert [m["light"] for m in contents["methods"]] == method_colours(["bch", "exhaustive"])
    assert on_dark("#ffffff") == "#ffffff"
    assert contents["methods"][1]["dark"] != "#000000"


def test_a_path_that_cannot_be_written(tmp_path, rng):
    cells = random_cells(rng, {"bch": 0.1})
    with pytest.raises(OSError, match=r"The report cannot be written to .*: no such file"):
        write_report(cells, tmp_path / "missing" / "report.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"cannot be written to .*folder: is a directory"):
        write_report(cells, tmp_path / "folder")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="not a directory"):
        write_report(cells, tmp_path / "file" / "report.html")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_pipes_and_links_stay_what_they_are(tmp_path, rng):
    """A device such as /dev/stdout must not become a file, as it would by renaming."""
    cells = random_cells(rng, {"bch": 0.1})
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = Thread(target=lambda: read.append(pipe.read_text("utf-8")), daemon=True)
    reader.start()
    write_report(cells, pipe)
    reader.join(10)
    assert pipe.is_fifo()
    assert read[0].startswith("<!doctype html>")
    (tmp_path / "link.html").symlink_to(tmp_path / "place.html")
    write_report(cells, tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "place.html").is_file()


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, rng, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_write.os, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        write_report(random_cells(rng, {"bch": 0.1}), path)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="at least one finished cell"):
        write_report([], path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_can_be_read_by_others(tmp_path, rng):
    (tmp_path / "other").write_text("")
    path = report.write_report(random_cells(rng, {"bch": 0.1}), tmp_path / "report.html")
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
    assert stat.S_ISREG(path.stat().st_mode)


def test_the_program_of_a_known_data_set_runs_as_printed(rng):
    cells = random_cells(rng, {"one_vs_one": 0.1, "linkage_tree": 0.3}, base="ridge")
    program = page_contents(cells, None, None)["recipe"]
    names = {}
    exec(program, names)
    assert names["model"].score(names["X"], names["y"]) > 0.9
    assert names["X"].shape == (150, 4)
    assert type(names["model"][-1].estimator).__name__ == "RidgeClassifier"


def test_the_program_of_a_file_runs_as_printed(tmp_path, rng):
    path = tmp_path / "land.csv"
    path.write_text("x,soil,cover\n" + "".join(f"{i % 3},clay,k{i % 3}\n" for i in range(60)))
    cells = random_cells(rng, {"one_vs_rest": 0.1}, base="svm", data_set="land")
    source = report.Source(str(path), {"target": "cover"})
    program = page_contents(cells, None, None, None, source)["recipe"]
    names = {}
    exec(program, names)
    assert names["model"].score(names["X"], names["y"]) == 1
    without = page_contents(cells, None, None)["recipe"]
    assert "# X: your samples" in without
    exec(without, {"X": names["X"], "y": names["y"]})


def test_a_file_that_is_named_like_a_data_set_is_read(tmp_path, rng):
    path = tmp_path / "iris.csv"
    path.write_text("x,cover\n" + "".join(f"{i % 3},k{i % 3}\n" for i in range(60)))
    cells = random_cells(rng, {"one_vs_rest": 0.1}, base="ridge")
    names = {}
    exec(page_contents(cells, None, None, None, report.Source(str(path)))["recipe"], names)
    assert names["X"].shape == (60, 1)


def test_warnings_are_sentences_and_settings_are_words(tmp_path, rng):
    cells = [
        make_cell([0, 1, 2], [0, 1, 2], fold=fold, chosen={"warnings": ["Scale your data.", "Ah."]})
        for fold in range(2)
    ]
    contents = page_contents(cells, None, None)
    assert contents["warnings"] == ["Scale your data.", "Ah."]
    assert contents["settled"] == {}
    assert contents["facts"]["Tested by"] == "10-fold cross-validation"
    text = _written(tmp_path, cells)
    assert text.count("Scale your data.") == 1
    assert "[&#39;Scale" not in text


def test_shared_ranks_are_written_alike(rng):
    cells = [
        make_cell([0, 1, 1, 1], predicted, reduction=name, fold=fold)
        for name, predicted in zip("abc", ([0, 1, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1]), strict=True)
        for fold in range(2)
    ]
    rows = page_contents(cells, None, None)["rows"]
    assert [row["rank"]["text"] for row in rows] == ["1.5", "1.5", "3.0"]
