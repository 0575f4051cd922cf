"""What measured figures depend on."""

import os
import platform

import numpy as np
import scipy
import sklearn

import polychotomy


def environment():
    """Return versions and the machine, to be stored with results."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "threads": os.environ.get("OMP_NUM_THREADS", "default"),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "polychotomy": polychotomy.__version__,
    }
