"""Names in plots."""

_LONGEST_NAME = 40


def plain(name: str) -> str:
    """Return a name shortened and with dollar signs escaped, as matplotlib needs."""
    short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    return short.replace("$", r"\$")
