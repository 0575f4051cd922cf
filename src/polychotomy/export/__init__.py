"""Export trained models as ONNX graphs, which run without Python. Needs the extra ``onnx``."""

from contextlib import suppress

from polychotomy.errors import MissingExtraError
from polychotomy.export._converters import register
from polychotomy.export._to_onnx import to_onnx

__all__ = ["register", "to_onnx"]

with suppress(MissingExtraError):  # to_onnx says what is missing
    register()
