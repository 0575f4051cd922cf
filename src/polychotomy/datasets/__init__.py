"""Data sets: known ones by name, your own files, and their preprocessing.

:func:`load` and :func:`read` return the features as a data frame, the labels, the fixed split if
there is one, and the nominal columns. :func:`read_features` reads samples without labels,
and :func:`stream` samples that do not fit in memory, block by block.
:func:`make_preprocessor` turns data frames into matrices for classifiers. Needs the extra ``data``
(pandas).
"""

from polychotomy.datasets._generate import make_bands, make_waveform
from polychotomy.datasets._labels import match_labels
from polychotomy.datasets._load import describe, load
from polychotomy.datasets._preprocess import column_remarks, make_preprocessor, used_columns
from polychotomy.datasets._read import read, read_features
from polychotomy.datasets._registry import PAPERS, DataSet, available
from polychotomy.datasets._stream import ArrayStream, Stream, stream

__all__ = [
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
]
