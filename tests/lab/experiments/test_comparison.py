import pytest

from polychotomy.lab import published
from polychotomy.lab.experiments import compare_tables, quantity_label, rank_statistics, write_value
from tests.lab.experiments.tiny import make_figure


def figures_of(name):
    """Return the published figures with themselves as ours."""
    return [
        make_figure(
            cell.data_set,
            cell.method,
            cell.value,
            cell.value,
            paper=cell.paper,
            table=cell.table,
            quantity=cell.quantity,
        )
        for cell in published.table(name).cells
    ]


def test_tables_and_how_many_agree():
    figures = [
        make_figure(agrees=True),
        make_figure("wine", agrees=False),
        make_figure("car", agrees=None),
        make_figure(table="3", quantity="difference_low_percent", agrees=None),
        make_figure(table="of our own", agrees=None),
    ]
    second, third, own = compare_tables(figures)
    assert second.name == "sbckernel-2"
    assert second.title == published.table("sbckernel-2").title
    assert (second.n_agreeing, len(second.judged)) == (1, 2)
    assert second.words.startswith("1 of 2 figures agree; 1 more is not judged")
    assert third.words.startswith("None of 1 figures can be judged: ")
    assert third.quantities == ("difference_low_percent",)
    assert own.title == "What the paper does not print"
    assert compare_tables(figures[:2])[0].words == "1 of 2 figures agree."


def test_the_first_paper_finds_what_it_says():
    """Section 4.3: SBC-SINGLE and SBC-ECOC are the worst; the other five do not differ."""
    found = rank_statistics(figures_of("sbc-2"), theirs=True)
    assert set(found.worse) == {"SBC-SINGLE", "SBC-ECOC"}
    assert found.differ.pvalue < 0.1
    best = found.against_best.names[found.against_best.control]
    assert f"worse than {best}, the best: {'; '.join(found.worse)}." in found.words
    five = [f for f in figures_of("sbc-2") if f.method not in ("SBC-SINGLE", "SBC-ECOC")]
    rest = rank_statistics(five, theirs=True)
    assert rest.against_best is None
    assert rest.worse == ()
    assert "do not differ at 90%" in rest.words


def test_ours_and_theirs_are_apart():
    figures = [
        make_figure(f.data_set, f.method, f.theirs, 5.0, quantity=f.quantity)
        for f in figures_of("sbc-2")
    ]
    assert rank_statistics(figures).differ.pvalue == 1
    assert rank_statistics(figures, theirs=True).differ.pvalue < 0.1


def test_statistics_need_the_whole_table():
    figures = figures_of("sbckernel-2")
    assert rank_statistics(figures) is not None
    assert rank_statistics(figures[1:]) is None
    assert rank_statistics([f for f in figures if f.quantity == "error_percent"]) is None
    assert rank_statistics([]) is None


@pytest.mark.parametrize("name", published.names())
def test_every_quantity_has_a_name(name):
    for cell in published.table(name).cells:
        if not cell.quantity.startswith("n_"):
            assert "_" not in quantity_label(cell.quantity)
            assert quantity_label(cell.quantity) != cell.quantity.replace(
                "_", " "
            ).capitalize() or (cell.quantity in ("average_rank", "uncertainty_coefficient"))


def test_values_as_they_are_shown():
    assert write_value(-0.004, "error_percent") == "−0.00"
    assert write_value(3.0, "n_data_sets_improved") == "3"
    assert write_value(0.0123456, "predict_seconds", sign=True) == "+0.0123"
