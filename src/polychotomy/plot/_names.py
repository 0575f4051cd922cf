"""Names as they are drawn."""

_LONGEST_NAME = 40


def plain(name: str) -> str:
    """Shorten a name, and keep its dollar signs from starting mathematics."""
    short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    return short.replace("$", r"\$")
