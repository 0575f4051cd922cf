"""The pages of the documentation, and the blocks of code in them."""

import re

from tests.programs import ROOT

PAGES = sorted(
    [*ROOT.glob("*.md"), *(p for p in ROOT.glob("docs/**/*.md") if p.parent.name != "api")]
)
NAMED = {str(page.relative_to(ROOT)): page for page in PAGES}


def without_code(text):
    """Return a page without its code and directives."""
    return re.sub(r"^(```|:::).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)


def blocks(page, kind):
    """Return the blocks of a kind in a page."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def blocks_to_run(page):
    """Return the console blocks of a page but those after a comment ``<!-- not run: WHY -->``."""
    pattern = r"(^<!-- not run: [^\n]+ -->\n)?^```console\n(.*?)^```$"
    found = re.findall(pattern, page.read_text(), re.DOTALL | re.MULTILINE)
    return [block for marked, block in found if not marked]
