"""Known data sets, users' own files, and what makes features of either.

:func:`load` and :func:`read` return the same: features as a frame, labels, the fixed split where
there is one, and which columns are nominal. :func:`read_features` reads samples without labels.
:func:`make_preprocessor` turns such frames into the matrices that classifiers take. Needs the extra
``data`` (pandas).
"""

from polychotomy.datasets._generate import make_bands, make_waveform
from polychotomy.datasets._load import load
from polychotomy.datasets._preprocess import make_preprocessor
from polychotomy.datasets._read import read, read_features
from polychotomy.datasets._registry import PAPERS, DataSet, available

__all__ = [
    "PAPERS",
    "DataSet",
    "available",
    "load",
    "make_bands",
    "make_preprocessor",
    "make_waveform",
    "read",
    "read_features",
]
