"""Loading the programs in docs/ and benchmarks/, which are no part of the package."""

import os
import sys
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).parent.parent


def load_program(name, folder="docs"):
    """Return a program of a folder as a module, found as when it is run.

    The environment stays as it is: numba refuses to compile after a change of its threads.
    """
    path = patch.object(sys, "path", [str(ROOT / folder), *sys.path])
    with path, patch.dict(os.environ):
        return import_module(name)
