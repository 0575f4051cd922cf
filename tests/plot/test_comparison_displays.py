from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from polychotomy.assess import BootstrapInterval, bootstrap_difference, nemenyi
from polychotomy.plot import (
    BootstrapIntervalDisplay,
    CriticalDifferenceDisplay,
    PairwiseDifferenceDisplay,
    SubsamplingDisplay,
)
from polychotomy.plot._palette import LINES, MINUS, PLUS, method_colours
from tests.assess.tables import SBC


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def _labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def _lines(ax, **properties):
    return [
        line
        for line in ax.lines
        if all(getattr(line, f"get_{name}")() == value for name, value in properties.items())
    ]


def test_critical_differences():
    display = CriticalDifferenceDisplay.from_table(SBC, alpha=0.1)
    test = nemenyi(SBC, alpha=0.1)
    bars = _lines(display.ax_, linewidth=3)
    ends = [bar.get_xdata() for bar in bars]
    np.testing.assert_allclose(ends[0], [test.ranks[0], test.ranks[4]], atol=0.05)
    np.testing.assert_allclose(ends[1], [test.ranks[1], test.ranks[2]], atol=0.05)
    assert len(bars) == 2
    dots = _lines(display.ax_, marker="o")
    assert sorted(dot.get_xdata()[0] for dot in dots) == sorted(test.ranks)
    heights = [height for bar in bars for height in set(bar.get_ydata())]
    highest = max(text.get_position()[1] for text in display.ax_.texts if "(" in text.get_text())
    np.testing.assert_allclose(np.diff([0, *heights]), np.diff([0, *heights])[0])  # below the scale
    assert 0 > heights[0] > heights[1] > highest
    reached = np.concatenate([line.get_xdata() for line in _lines(display.ax_, linewidth=0.8)])
    ends = reached.min(), reached.max()  # names stand beside the plot, where their lines end
    assert display.ax_.get_xlim() == pytest.approx(ends)
    assert ends[0] < 1 < 7 < ends[1]
    (length,) = _lines(display.ax_, marker="|")
    assert not length.get_clip_on()  # with few data sets it is longer than the scale
    assert np.ptp(length.get_xdata()) == pytest.approx(test.critical_difference)
    texts = [text.get_text() for text in display.ax_.texts]
    names = [text.split()[0] for text in texts if "(" in text]  # each side from the top
    assert names[:4] == ["OVA", "SBC-BCH", "SBC-HAMMING", "ECOC"]
    assert names[4:] == ["SBC-SINGLE", "SBC-ECOC", "SBC-IDENTITY"]  # else lines would cross
    assert "SBC-BCH (2.67)" in texts
    assert display.ax_.get_title() == "critical difference 2.74 (alpha = 0.1)"
    display.figure_.canvas.draw()


def test_the_methods_of_a_large_diagram_can_be_read(rng):
    names = [f"method {i} with a rather long $name" for i in range(21)]
    table = rng.random((12, 21))
    table[:, 1] = table[:, 0]
    display = CriticalDifferenceDisplay.from_table(table, names=names)
    display.figure_.canvas.draw()
    numbers = [text.get_text() for text in display.ax_.texts if text.get_text().isdigit()]
    assert numbers == [str(rank) for rank in range(1, 22, 2)]  # at most twelve
    boxes = [t.get_window_extent() for t in display.ax_.texts if "method" in t.get_text()]
    assert len(boxes) == 21
    width, height = display.figure_.canvas.get_width_height()
    assert all(0 <= b.x0 < b.x1 <= width and 0 <= b.y0 < b.y1 <= height for b in boxes)
    for side in (boxes[:11], boxes[11:]):
        assert all(above.y0 >= below.y1 for above, below in pairwise(side))
    scale = display.ax_.get_window_extent()
    assert scale.width > width / 3


def test_each_with_each():
    display = PairwiseDifferenceDisplay.from_table(SBC, limit=10)
    assert display.differences.shape == (7, 7, 9)
    np.testing.assert_allclose(display.differences[0, 4], SBC["OVA"] - SBC["SBC-ECOC"])
    assert _labels(display.ax_.yaxis) == _labels(display.ax_.xaxis) == list(SBC.columns)
    (bars,) = display.ax_.collections
    heights = [np.ptp(path.vertices[:, 1]) for path in bars.get_paths()]
    drawn = np.abs(display.differences[display.differences != 0])
    np.testing.assert_allclose(np.sort(heights), np.sort(0.45 * np.minimum(drawn, 10) / 10))
    (cut,) = _lines(display.ax_, marker="x")
    assert len(cut.get_xdata()) == np.sum(drawn > 10)
    display.figure_.canvas.draw()


def test_bars_point_to_the_better_method_in_its_colour():
    table = pd.DataFrame({"a": [1.0, 5.0], "b": [2.0, 5.0], "c": [4.0, 5.0]})
    display = PairwiseDifferenceDisplay.from_table(table)
    (bars,) = display.ax_.collections
    colour = dict(zip("abc", method_colours("abc"), strict=True))
    for path, face in zip(bars.get_paths(), bars.get_facecolors(), strict=True):
        (x, low), (_, high) = path.vertices[:4].min(axis=0), path.vertices[:4].max(axis=0)
        row, column = "cba"[int(low)], "abc"[int(x)]
        up = high > np.floor(low) + 0.5  # the column is better
        assert up == (column < row)
        assert to_hex(face) == colour[min(row, column)]
    assert len(bars.get_paths()) == 6  # nothing for the data set on which all are alike


def test_all_with_a_control():
    table = SBC[["OVA", "ECOC", "SBC-BCH"]].copy()
    table.loc["car", "ECOC"] = np.nan
    _, ax = plt.subplots()
    display = PairwiseDifferenceDisplay.from_table(table, control="OVA", ax=ax)
    assert display.ax_ is ax
    assert (display.rows, display.columns) == (["OVA"], ["ECOC", "SBC-BCH"])
    assert _labels(ax.xaxis) == list(SBC.index)
    heights = [[bar.get_height() for bar in bars] for bars in ax.containers]
    np.testing.assert_allclose(heights[1], SBC["OVA"] - SBC["SBC-BCH"])
    assert np.isnan(heights[0][5])
    display.figure_.canvas.draw()


def test_two_methods_need_no_control():
    display = PairwiseDifferenceDisplay.from_table([[0.3, 0.2], [0.1, 0.4]], limit=0.2)
    assert (display.rows, display.columns, display.datasets) == (["0"], ["1"], ["0", "1"])
    heights = [bar.get_height() for bar in display.ax_.containers[0]]
    np.testing.assert_allclose(heights, [0.1, -0.2])
    (cut,) = _lines(display.ax_, marker="x")
    np.testing.assert_allclose(cut.get_xydata(), [[1, -0.2]])


def test_methods_that_are_alike_can_be_drawn():
    display = PairwiseDifferenceDisplay.from_table(np.ones((3, 3)))
    display.figure_.canvas.draw()
    assert np.all(display.differences == 0)
    low, high = display.ax_.get_ylim()
    assert np.isfinite([low, high]).all()
    assert low != high


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ([[1.0, 2.0]], {"control": "x"}, "'control' parameter must be one of '0', '1'"),
        ([1.0, 2.0], {}, r"Got shape \(2,\)"),
        ([[1.0, 2.0]], {"datasets": ["a", "b"]}, r"shape \(1, 1, 2\): .* Got \(1, 1, 1\)"),
    ],
)
def test_bad_tables_are_refused(table, options, message):
    with pytest.raises(ValueError, match=message):
        PairwiseDifferenceDisplay.from_table(table, **options)


def test_intervals():
    intervals = [
        BootstrapInterval(-0.05, -0.01, -0.03, 0.9),
        BootstrapInterval(-0.01, 0.01, 0.0, 0.9),
        BootstrapInterval(0.01, 0.05, 0.03, 0.9),
    ]
    display = BootstrapIntervalDisplay(intervals, ["x" * 100, "$b", "c"], first="mine").plot()
    bars = _lines(display.ax_, marker="|")
    assert [bar.get_color() for bar in bars] == [PLUS, LINES, MINUS]
    np.testing.assert_allclose([bar.get_xdata() for bar in bars], [[-5, -1], [-1, 1], [1, 5]])
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "mine better",
        "not interesting",
        "mine worse",
    ]
    assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]  # the first on top
    assert _labels(display.ax_.yaxis)[1] == r"\$b"
    display.figure_.canvas.draw()
    with pytest.raises(ValueError, match="Got 3 intervals and 1 names"):
        BootstrapIntervalDisplay(intervals, ["a"])


def test_intervals_from_predictions(rng):
    y, first, second, third = rng.integers(0, 3, size=(4, 200))
    _, ax = plt.subplots()
    display = BootstrapIntervalDisplay.from_predictions(
        y, first, {"b": second, "c": third}, confidence_level=0.8, random_state=0, ax=ax
    )
    assert display.ax_ is ax
    expected = bootstrap_difference(y, first, second, confidence_level=0.8, random_state=0)
    assert display.intervals[0] == expected
    assert display.intervals[1].difference == pytest.approx(
        np.mean(first != y) - np.mean(third != y)
    )
    assert "80 % intervals" in ax.get_xlabel()


def test_subsampling():
    errors, kept = [[0.2, 0.1], np.linspace(3, 2, 9)], [[1, 2], np.arange(1, 10)]
    display = SubsamplingDisplay.from_errors(
        errors, n_negatives=kept, n_classes=[3, 10], names=["a", "$b"]
    )
    np.testing.assert_allclose(display.fractions[0], [2 / 3, 1])
    np.testing.assert_allclose(display.relative_errors[0], [2, 1])
    _, *lines = display.ax_.lines
    np.testing.assert_allclose(lines[2].get_ydata(), np.linspace(1.5, 1, 9))
    dots = [dot.get_xdata()[0] for dot in _lines(display.ax_, marker="o")]
    np.testing.assert_allclose(dots, [1, 0.5])  # all of three classes, five of ten
    display.figure_.canvas.draw()
    _, ax = plt.subplots()
    assert SubsamplingDisplay([[0.5, 1]], [[1.2, 1]], ["a"]).plot(ax=ax).ax_ is ax


def test_each_data_set_has_its_own_line():
    names = [str(i) for i in range(20)]
    display = SubsamplingDisplay([[0.5, 1]] * 20, [[1.2, 1]] * 20, names).plot()
    _, *lines = display.ax_.lines
    assert len({(to_hex(line.get_color()), line.get_linestyle()) for line in lines}) == 20


def test_subsampling_needs_the_error_with_all_replicas():
    options = {"n_classes": [4], "names": ["car"]}
    with pytest.raises(ValueError, match=r"replicas of 'car' .* all 3 of them"):
        SubsamplingDisplay.from_errors([[0.2, 0.1]], n_negatives=[[1, 2]], **options)
    with pytest.raises(ValueError, match="last error must be above 0"):
        SubsamplingDisplay.from_errors([[0.2, 0.0]], n_negatives=[[1, 3]], **options)
    with pytest.raises(ValueError, match="Got 1, 1, 2, 2"):
        SubsamplingDisplay([[1.0]], [[1.0]], ["a", "b"])
