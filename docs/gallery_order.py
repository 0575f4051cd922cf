"""The order in which the gallery is read: codes, readout, structures, one classifier, size."""

EXAMPLES = (
    "plot_codes.py",
    "plot_decoding.py",
    "plot_ordered_classes.py",
    "plot_decision_regions.py",
    "plot_probability_triangle.py",
    "plot_reliability.py",
    "plot_reject_curves.py",
    "plot_critical_differences.py",
    "plot_tree_design.py",
    "plot_satellite_trees.py",
    "plot_couplings.py",
    "plot_subsampling.py",
    "plot_active_learning.py",
    "plot_shared_kernel.py",
    "plot_thousand_classes.py",
    "plot_characters.py",
)


class ReadingOrder:
    """Tells the place of an example, as sphinx-gallery asks for it."""

    def __init__(self, src_dir: str) -> None:
        self.src_dir = src_dir

    def __call__(self, filename: str) -> int:
        """Return the place of a file; one that is not in the list stops the build."""
        return EXAMPLES.index(filename)
