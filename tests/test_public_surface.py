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
        "SharedLinear",
        "SingleBinaryClassifier",
        "Structure",
        "TreeClassifier",
        "active",
        "assess",
        "available_codes",
        "calibration",
        "codes",
        "datasets",
        "decoding",
        "errors",
        "evaluate",
        "export",
        "format_structure",
        "kernel",
        "lab",
        "learners",
        "linear",
        "load",
        "make_code",
        "parse_structure",
        "plot",
        "probability",
        "readout",
        "reductions",
        "report",
        "save",
        "structures",
        "training",
        "trusted_types",
    }
    for name in polychotomy.__all__:
        assert getattr(polychotomy, name) is not None
    assert set(polychotomy.__all__) <= set(dir(polychotomy))


def test_every_public_package_is_an_attribute_without_being_imported():
    program = "import polychotomy as p; print([getattr(p, n).__name__ for n in p.__all__])"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "'polychotomy.kernel'" in result.stdout


def test_every_public_package_has_the_names_it_lists():
    packages = [getattr(polychotomy, name) for name in polychotomy.__all__]
    for package in (p for p in packages if hasattr(p, "__path__")):
        assert package.__all__
        assert len(set(package.__all__)) == len(package.__all__)
        assert all(hasattr(package, name) for name in package.__all__)


def test_the_names_of_codes():
    assert set(polychotomy.codes.__all__) == {
        "Code",
        "DistinctProblems",
        "RuleMatrix",
        "Targets",
        "adjacent",
        "are_sides",
        "assigned",
        "available_codes",
        "bch",
        "ALIASES",
        "check_entries",
        "check_int",
        "check_ordered",
        "check_positive",
        "check_rows",
        "column_blocks",
        "dense_random",
        "describe_problems",
        "distinct_problems",
        "exhaustive",
        "hamming",
        "hamming_distance",
        "make_code",
        "one_vs_one",
        "one_vs_rest",
        "order_remark",
        "orthogonal",
        "problem_words",
        "resolve_code",
        "sparse_random",
        "trellis",
    }


def test_the_names_of_structures():
    assert set(polychotomy.structures.__all__) == {
        "BUILDERS",
        "MAX_CHARACTERS",
        "Node",
        "Problem",
        "Structure",
        "TreeBuilder",
        "balanced",
        "chain",
        "class_distances",
        "flatten",
        "format_structure",
        "from_code",
        "from_linkage",
        "kmeans",
        "lay_out",
        "linkage",
        "name_problems",
        "needs_samples",
        "nest",
        "order_classes",
        "ordered_categories",
        "parse_structure",
        "relabel",
        "resolve_class_order",
        "resolve_structure",
        "single_node",
        "two_children",
        "with_labels",
    }


def test_the_names_of_datasets():
    assert set(polychotomy.datasets.__all__) == {
        "PAPERS",
        "ArrayStream",
        "DataSet",
        "Stream",
        "available",
        "column_remarks",
        "describe",
        "load",
        "make_bands",
        "make_preprocessor",
        "make_waveform",
        "match_labels",
        "read",
        "read_features",
        "stream",
        "used_columns",
    }


def test_the_names_of_assess():
    assert set(polychotomy.assess.__all__) == {
        "BinaryErrors",
        "BootstrapInterval",
        "HolmTest",
        "McNemarTest",
        "NemenyiTest",
        "RankIntervals",
        "RankTest",
        "RejectCurve",
        "Reliability",
        "ResampledTTest",
        "SignedRankPosterior",
        "TrainingErrorBound",
        "adjust_by_holm",
        "average_ranks",
        "bayesian_signed_rank",
        "binary_errors",
        "bootstrap_difference",
        "bootstrap_ranks",
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
        "risk_bound",
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
        "method_colours",
    }
    assert all(hasattr(polychotomy.plot, name) for name in polychotomy.plot.__all__)


def test_the_names_of_report():
    assert polychotomy.report.__all__ == ["Source", "write_report", "write_reproduction"]


def test_the_names_of_reductions():
    assert set(polychotomy.reductions.__all__) == {
        "Expansion",
        "Reduction",
        "Scale",
        "available_bases",
        "available_reductions",
        "class_means_rows",
        "is_baseline",
        "make_base",
        "suitable_reductions",
        "untrained",
    }
    assert all(hasattr(polychotomy.reductions, name) for name in polychotomy.reductions.__all__)


def test_the_names_of_evaluate():
    assert set(polychotomy.evaluate.__all__) == {
        "DEFAULT_FOLDS",
        "Cell",
        "Contestant",
        "Failure",
        "GreedySearchCV",
        "Preparation",
        "Progress",
        "Protocol",
        "Reason",
        "Recommendation",
        "ReductionSearchCV",
        "Row",
        "Samples",
        "Schedule",
        "SharedGridSearchCV",
        "Store",
        "Summary",
        "Task",
        "TrainedMethod",
        "comparisons",
        "compute",
        "expected_seconds",
        "rank_digits",
        "recommend",
        "summarise",
        "train_task",
    }
    assert all(hasattr(polychotomy.evaluate, name) for name in polychotomy.evaluate.__all__)


def test_the_names_of_export():
    assert set(polychotomy.export.__all__) == {"register", "to_onnx"}


def test_the_names_of_lab():
    assert set(polychotomy.lab.__all__) == {"experiments", "published"}
    assert all(hasattr(polychotomy.lab, name) for name in polychotomy.lab.__all__)


def test_the_names_of_experiments():
    from polychotomy.lab import experiments

    assert set(experiments.__all__) == {
        "Agreement",
        "Comparison",
        "Estimate",
        "Experiment",
        "Figure",
        "FinishedCells",
        "RankStatistics",
        "compare_tables",
        "get",
        "is_derived",
        "measure_agreement",
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
