"""Self-contained reports: which reduction to use, or a paper's figures next to ours.

Needs the extra ``report``.
"""

from polychotomy.report._reproduction import write_reproduction
from polychotomy.report._source import Source
from polychotomy.report._write import write_report

__all__ = ["Source", "write_report", "write_reproduction"]
