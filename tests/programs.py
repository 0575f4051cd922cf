"""Loading the programs in docs/ and benchmarks/, which are no part of the package."""

import sys
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).parent.parent


def load_program(name, folder="docs"):
    """Return a program of a folder as a module, found as when it is run."""
    with patch.object(sys, "path", [str(ROOT / folder), *sys.path]):
        return import_module(name)
