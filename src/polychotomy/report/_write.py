"""``write_report``: write finished cells as an HTML report."""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polychotomy.errors import require
from polychotomy.files import replacing
from polychotomy.report._source import Source

if TYPE_CHECKING:
    from polychotomy.evaluate import Cell, Summary

_HERE = Path(__file__).parent


def write_report(
    cells: "Iterable[Cell]",
    path: str | os.PathLike[str],
    *,
    model: Any = None,
    title: str | None = None,
    summary: "Summary | None" = None,
    source: Source | None = None,
) -> Path:
    """Write a page that recommends a reduction, with the evidence.

    One HTML file that needs nothing else: what to use and why; how sure that is; a table; plots;
    and of the chosen method the problems, confusions, calibration, and what a reject threshold
    would gain. It recommends what :func:`polychotomy.evaluate.recommend` does.

    Parameters
    ----------
    cells : iterable of Cell
        Those of one comparison (see :func:`polychotomy.evaluate.comparisons`), at least one.
    path : path-like
        Where to write. A file of this name is replaced once the page is complete.
    model : fitted classifier, optional
        The problems of this one are shown, and what is known of its method; also a search or a
        pipeline that ends in one. By default, those of the reduction that the report advises, if
        they do not depend on the training data.
    title : str, optional
        By default, what is compared.
    summary : Summary, optional
        Of these cells, with the recommendation; by default it is made here.
    source : Source, optional
        Where the samples come from, for the program that the page shows.

    Returns
    -------
    path : Path
        Where it was written.

    Raises
    ------
    ValueError
        There is no cell, or they are of several comparisons.
    OSError
        The file cannot be written; nothing is left behind.

    Notes
    -----
    The page is about 1 MB, most of which is the drawing library Vega-Lite. Results are summed up
    here, not in the browser: fifty data sets and twenty methods make no difference to speak of.

    Examples
    --------
    >>> from polychotomy.report import write_report
    >>> write_report([], "report.html")
    Traceback (most recent call last):
    ...
    ValueError: A report needs at least one finished cell. Got none: run a comparison first.
    """
    from polychotomy.report._page import page_contents

    return write_page(path, "page", page_contents(cells, model, title, summary, source))


def write_page(path: str | os.PathLike[str], name: str, contents: dict[str, Any]) -> Path:
    """Write the page of the template ``name.html.jinja`` with the script ``name.js``."""
    jinja2 = require("jinja2", extra="report")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    html = environment.get_template(f"{name}.html.jinja").render(
        **contents,
        style=(_HERE / "page.css").read_text("utf-8"),
        shared_script=(_HERE / "shared.js").read_text("utf-8"),
        script=(_HERE / f"{name}.js").read_text("utf-8"),
        library=_drawing_library(),
    )
    return _replace(Path(path), html)


@cache
def _drawing_library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script; making it takes a few seconds."""
    bundle: str = require("vl_convert", extra="report").javascript_bundle()
    # In a string of a script this is the same, and it cannot end the element.
    return bundle.replace("</script", "<\\/script")


def _replace(path: Path, text: str) -> Path:
    try:
        with replacing(path) as beside:
            beside.write_text(text, encoding="utf-8", errors="replace", newline="\n")
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def _unwritable(path: Path, error: OSError) -> OSError:
    reason = (error.strerror or str(error)).lower()
    return OSError(error.errno, f"The report cannot be written to {path}: {reason}")
