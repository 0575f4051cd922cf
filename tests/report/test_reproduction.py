import re

import pytest

from polychotomy.report import _write, write_reproduction
from polychotomy.report._charts import agreement_figure
from polychotomy.report._reproduction import reproduction_contents
from tests.lab.experiments.tiny import make_figure, make_tiny
from tests.report.test_report import HOSTILE, Page

vl_convert = pytest.importorskip("vl_convert", reason="needs the extra 'report'")
pytest.importorskip("jinja2", reason="needs the extra 'report'")

NAN = float("nan")
FIGURES = [
    make_figure("iris", "OVA", 6.0, 5.0),
    make_figure("wine", "OVA", 6.0, 9.0, agrees=False, their_spread=1.5),
    make_figure("car", "OVA", NAN, 9.0, agrees=None, spread=NAN, low=NAN, high=NAN),
    make_figure("iris", "OVA", 2.5, 2.0, None, quantity="fit_seconds", low=NAN, high=NAN),
    make_figure("wine", "OVA", 0.0, 20.0, None, quantity="fit_seconds", n_folds=2),
    make_figure("iris", "ECOC", 1.0, 1.0, table="3", quantity="difference_low_percent"),
]


def written(path, figures=FIGURES, **options):
    text = write_reproduction(figures, [make_tiny()], path / "page.html", **options)
    return text.read_text("utf-8").replace(_write._drawing_library(), "")


def test_the_page_needs_nothing_else(tmp_path):
    text = written(tmp_path)
    assert not re.search(r"https?:|[\"'(]//", text)
    page = Page(text)
    assert [a for a in page.attributes if a[1] == "src"] == []
    links = [value for _, name, value in page.attributes if name in ("href", "action", "data")]
    assert all(link.startswith("#") or link == "data:," for link in links)
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert "default-src 'none'" in text


def test_what_stands_on_it(tmp_path):
    environment = {"versions": {"numpy": "2.2"}, "options": {"folds": None, "seed": 7}, "cores": 2}
    text = written(tmp_path, environment=environment, title="Mine")
    assert "<title>Mine</title>" in text
    sections = re.findall(r'<section id="([\w-]+)"', text)
    assert sections == ["what", "table-0", "table-1", "choices", "environment"]
    shown = " ".join(" ".join(Page(text).texts).split())
    assert "2 of 3 figures agree." in shown
    assert "The learner is ridge regression." in shown
    assert "numpy 2.2" in shown
    assert "seed 7" in shown
    assert "folds None" not in shown


def test_nothing_to_judge(tmp_path):
    assert "No figure can be judged." in written(tmp_path, FIGURES[2:5])


def test_agreement_is_told_in_words_and_marks(tmp_path):
    rows = re.findall(r"<tr><th scope=\"row\"><span.*?</tr>", written(tmp_path), re.S)
    assert len(rows) == len(FIGURES)
    assert "✓ agrees" in rows[0]
    assert "✗ differs" in rows[1]
    assert "– not judged" in rows[2]


def test_figures_of_a_row():
    rows = reproduction_contents(FIGURES, [make_tiny()], None, None)["tables"][0]["rows"]
    texts = [[number["text"] for number in row["numbers"]] for row in rows]
    assert texts[0] == ["5.00 ± 1.00", "4.00 to 7.00", "6.00", "−1.00", "10 of 10"]
    assert texts[1][2:4] == ["6.00 ± 1.50", "+3.00"]
    assert texts[2] == ["9.00", "", "–", "–", "10 of 10"]
    assert texts[4][4] == "2 of 10"
    assert [number["value"] for number in rows[2]["numbers"]] == ["9", "", "", "", "10"]


def test_tables_and_plots_can_be_heard(tmp_path):
    text = written(tmp_path)
    tables = re.findall(r"<table.*?</table>", text, re.S)
    assert len(tables) == 3
    assert all("<caption>" in table and 'scope="col"' in table for table in tables)
    assert all(not re.search(r"<th(?![^>]*scope=)[ >]", table) for table in tables)
    figures = re.findall(r"<figure>.*?</figure>", text, re.S)
    assert len(figures) == 2  # a single point is not drawn
    assert all("<figcaption>" in figure and 'class="about"' in figure for figure in figures)
    assert "Ours is lower in 1 of 2 figures" in figures[0]


def test_plots_hold_the_figures_and_are_valid():
    plots = reproduction_contents(FIGURES, [make_tiny()], None, None)["data"]["plots"]
    errors, seconds = plots.values()
    points = errors["data"]["values"]
    assert [(p["theirs"], p["ours"], p["verdict"]) for p in points] == [
        (6.0, 5.0, "agrees"),
        (6.0, 9.0, "differs"),
    ]
    diagonal = errors["layer"][0]["data"]["values"]
    assert diagonal == [{"theirs": 5.0, "ours": 5.0}, {"theirs": 9.0, "ours": 9.0}]
    assert seconds["layer"][1]["encoding"]["x"]["scale"] == {"type": "log"}
    assert min(p["theirs"] for p in seconds["data"]["values"]) > 0
    for spec in (errors, seconds, agreement_figure(points, "x", "y", logarithmic=True)):
        assert vl_convert.vegalite_to_vega(spec)["marks"]


def test_hostile_names_are_text(tmp_path):
    figures = [make_figure(name, name, quantity="error_percent") for name in HOSTILE]
    text = written(tmp_path, figures, title=HOSTILE[0], environment={HOSTILE[1]: HOSTILE[0]})
    page = Page(text)
    assert page.tags.count("script") == 3
    assert "img" not in page.tags
    shown = "".join(page.texts)
    assert all(name in shown for name in HOSTILE)


def test_without_figures_nothing_is_written(tmp_path):
    with pytest.raises(ValueError, match="at least one figure"):
        write_reproduction([], [make_tiny()], tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []
