"""From the outputs of problems back to class scores, probabilities and classes."""

from polychotomy.readout._choices import NO_PROBABILITIES, automatic_decoder
from polychotomy.readout._class_means import with_class_means
from polychotomy.readout._readout import Ask, Readout

__all__ = ["NO_PROBABILITIES", "Ask", "Readout", "automatic_decoder", "with_class_means"]
