import subprocess
import sys

import pytest

import polychotomy


def test_the_public_names():
    assert set(polychotomy.__all__) == {
        "Code",
        "CodeClassifier",
        "GreedySearchCV",
        "KernelSBCClassifier",
        "ReductionSearchCV",
        "SharedKernelSVC",
        "SingleBinaryClassifier",
        "Structure",
        "TreeClassifier",
        "active",
        "assess",
        "available_codes",
        "calibration",
        "choose",
        "codes",
        "datasets",
        "decoding",
        "errors",
        "format_structure",
        "lab",
        "make_code",
        "parse_structure",
        "plot",
        "probability",
        "report",
        "structures",
    }
    for name in polychotomy.__all__:
        assert getattr(polychotomy, name) is not None
    assert set(polychotomy.__all__) <= set(dir(polychotomy))


def test_the_names_of_assess():
    assert set(polychotomy.assess.__all__) == {
        "BinaryErrors",
        "BootstrapInterval",
        "HolmTest",
        "McNemarTest",
        "NemenyiTest",
        "RankTest",
        "RejectCurve",
        "Reliability",
        "ResampledTTest",
        "TrainingErrorBound",
        "average_ranks",
        "binary_errors",
        "bootstrap_difference",
        "brier_score",
        "corrected_resampled_t",
        "expected_calibration_error",
        "friedman",
        "holm",
        "iman_davenport",
        "log_loss",
        "mcnemar",
        "nemenyi",
        "reject_curve",
        "reliability",
        "training_error_bound",
        "uncertainty_coefficient",
    }
    assert all(hasattr(polychotomy.assess, name) for name in polychotomy.assess.__all__)


def test_the_names_of_plot():
    assert set(polychotomy.plot.__all__) == {
        "BootstrapIntervalDisplay",
        "CodeDisplay",
        "CriticalDifferenceDisplay",
        "DecisionRegionDisplay",
        "PairwiseDifferenceDisplay",
        "ProbabilityTriangleDisplay",
        "RejectCurveDisplay",
        "ReliabilityDisplay",
        "SearchPathDisplay",
        "SubsamplingDisplay",
        "TreeDisplay",
    }
    assert all(hasattr(polychotomy.plot, name) for name in polychotomy.plot.__all__)


def test_the_names_of_report():
    assert polychotomy.report.__all__ == ["write_report", "write_reproduction"]


def test_the_names_of_lab():
    assert set(polychotomy.lab.__all__) == {
        "Cell",
        "Failure",
        "Method",
        "Plan",
        "Progress",
        "Protocol",
        "Row",
        "Samples",
        "Store",
        "Summary",
        "available_bases",
        "base_scales",
        "comparisons",
        "make_base",
        "published",
        "summarise",
    }
    assert all(hasattr(polychotomy.lab, name) for name in polychotomy.lab.__all__)


def test_the_names_of_experiments():
    from polychotomy.lab import experiments

    assert set(experiments.__all__) == {
        "Comparison",
        "Estimate",
        "Experiment",
        "Figure",
        "RankStatistics",
        "Results",
        "compare_tables",
        "get",
        "names",
        "quantity_label",
        "rank_statistics",
        "read_figures",
        "write_figures",
        "write_value",
    }
    assert all(hasattr(experiments, name) for name in experiments.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        polychotomy.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("program", "heavy"),
    [
        ("import polychotomy", {"rich", "sklearn", "numpy", "scipy"}),
        ("from polychotomy import codes; codes.dense_random(5)", {"sklearn", "scipy"}),
        ("from polychotomy.decoding import decode", {"sklearn", "scipy"}),
        ("from polychotomy import Structure; Structure([[1], [-1]], 'ab')", {"sklearn", "scipy"}),
        ("from polychotomy.assess import holm, nemenyi", {"sklearn", "scipy"}),
        ("from polychotomy.plot import DecisionRegionDisplay", {"sklearn", "scipy"}),
        ("from polychotomy.report import write_report", {"sklearn", "scipy", "numpy"}),
        ("from polychotomy import CodeClassifier", set()),  # scikit-learn imports pandas itself
    ],
)
def test_heavy_modules_are_not_imported(program, heavy):
    heavy |= {"galois", "matplotlib", "numba", "lark", "typer", "jinja2", "vl_convert"}
    heavy |= {"pandas"} if "CodeClassifier" not in program else set()
    check = f"{program}; import sys; print({heavy!r} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "set()"


def test_a_missing_extra_is_named_with_the_command_that_installs_it():
    from polychotomy.errors import MissingExtraError, require

    with pytest.raises(MissingExtraError, match=r"pip install 'polychotomy\[plot\]'"):
        require("no_such_module.pyplot", extra="plot")
