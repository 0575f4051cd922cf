"""Files that are written whole, or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from shutil import copymode

_LONGEST_NAME = 100  # of which there is room for more in any file system


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a file beside the path that takes its place in the end.

    A file that is replaced leaves its permissions to the new one, a link stays a link, and to a
    device or a pipe the caller writes directly. An OSError of the system names the path.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from polychotomy._files import replacing
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "note.txt"
    ...     with replacing(place) as beside:
    ...         written = beside.write_text("all of it")
    ...         print(place.exists())
    ...     print(place.read_text())
    False
    all of it
    """
    place = path.resolve()
    if place.exists() and not place.is_file():
        yield place
        return
    beside = place.with_name(f".{place.name[:_LONGEST_NAME]}.{os.getpid()}.{token_hex(4)}")
    try:
        yield beside
        if place.exists():
            copymode(place, beside)
        beside.replace(place)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(beside)):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
    finally:
        beside.unlink(missing_ok=True)
