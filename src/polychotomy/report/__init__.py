"""One page that says which reduction to use, and how sure that is. Needs the extra ``report``."""

from polychotomy.report._write import write_report

__all__ = ["write_report"]
