"""Loading the programs in docs/, which are no part of the package."""

import sys
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).parent.parent


def load_program(name):
    """Return a program of docs/ as a module, found as when it is run."""
    with patch.object(sys, "path", [str(ROOT / "docs"), *sys.path]):
        return import_module(name)
