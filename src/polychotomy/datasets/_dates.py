"""Dates and durations as numbers of days."""

import re
from typing import Any

from polychotomy.errors import require

_ISO, _DURATION = "ISO8601", "duration"
_FORMATS = {
    r"\d{4}-\d\d?-\d\d?([T ].*)?": (_ISO,),
    r"\d{4}/\d\d?/\d\d?": ("%Y/%m/%d",),
    r"\d\d?\.\d\d?\.\d{4}": ("%d.%m.%Y",),
    r"\d\d?/\d\d?/\d{4}": ("%d/%m/%Y", "%m/%d/%Y"),
}


def date_format(column: Any) -> str | None:
    """Return how a column writes dates or durations; None if that is ambiguous, or it does not."""
    if column.dtype.kind == "m":
        return _DURATION
    if column.dtype.kind == "M":
        return _ISO
    if column.dtype == "category":
        return None
    first = str(column[column.first_valid_index()])
    formats = next((f for pattern, f in _FORMATS.items() if re.fullmatch(pattern, first)), ())
    if not formats:
        return None
    texts = column.dropna().astype(str).drop_duplicates()
    suitable = [each for each in formats if as_days(texts, each).notna().all()]
    return suitable[0] if len(suitable) == 1 else None


def as_days(column: Any, how: str) -> Any:
    """Return dates as days since 1970, durations as days; NaN for what is neither."""
    pd = require("pandas", extra="data")
    day = pd.Timedelta(days=1)
    if how == _DURATION:
        return pd.to_timedelta(column, errors="coerce") / day
    if column.dtype.kind != "M":
        column = column.astype("string")
    dates = pd.to_datetime(column, format=how, errors="coerce", utc=True)
    start = pd.Timestamp(0, tz="UTC").as_unit(dates.dt.unit)  # in nanoseconds, years are few
    return (dates - start) / day
