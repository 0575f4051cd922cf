"""The documentation's site: ``make docs``. Nothing is downloaded, and warnings are errors."""

import os
import re
import sys
from pathlib import Path

from docutils import nodes
from pygments.lexers.shell import BashLexer

import polychotomy

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # examples print the same everywhere
    os.environ.setdefault(threads, "1")

from make_api import file_names, write_pages  # noqa: E402
from make_benchmarks import write_benchmarks  # noqa: E402
from make_command_line import write_page  # noqa: E402

project = "Polychotomy"
author = "The Polychotomy developers"
copyright = author  # noqa: A001
version = release = polychotomy.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["README.md"]
templates_path = ["_templates"]
smartquotes_action = "qe"  # quotes and ellipses, but not dashes: options begin with two

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_filename_map = file_names()
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_use_plots = False
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "within_subsection_order": "gallery_order.ReadingOrder",
    "copyfile_regex": r".*\.(png|csv|json)",
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 5,
    "doc_module": ("polychotomy",),
    "backreferences_dir": "gallery/backreferences",
    "reference_url": {"polychotomy": None},
    "write_computation_times": False,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "Polychotomy"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "search_scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "Polychotomy"},
    "github_url": "https://github.com/polychotomy/polychotomy",
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
}
html_sidebars = {"index": [], "tutorial": []}
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True


def escape(app, what, name, obj, options, lines):
    """Escape what docstrings write plainly: |x|, and names that end in an underscore."""
    for i, line in enumerate(lines):
        parts = line.split("``")
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[i] = re.sub(r"(?<=\()(\w+)_(?=[,)])", r"\1\\_", "``".join(parts))


def skip_inherited(app, what, name, obj, skip, options):
    """Leave out what scikit-learn and Python give to every class."""
    request = name.startswith("set_") and name.endswith("_request")
    home = getattr(getattr(obj, "fget", obj), "__module__", None) or "polychotomy"
    return True if request or not home.startswith("polychotomy") else None


def strip_blocks(app, doctree):
    """Remove the empty line at the end of code, which doctests need and readers do not."""
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip("\n")
            block[:] = [nodes.Text(block.rawsource)]


def setup(app):
    """Write the pages of the API before they are read, and colour console blocks as commands."""
    write_pages(HERE / "api")
    write_page(HERE / "api" / "command-line.md")
    write_benchmarks(HERE / "benchmarks.md")
    app.add_lexer("console", BashLexer)
    app.connect("autodoc-process-docstring", escape, priority=100)  # before numpydoc
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("doctree-read", strip_blocks)
