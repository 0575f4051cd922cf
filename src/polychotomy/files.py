"""Atomic file replacement: a file is written completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from shutil import copymode

_LONGEST_NAME = 100  # leaves room for a suffix on every file system


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file in the same folder, which replaces the path on success.

    The new file gets the permissions of the old one, and a symbolic link stays a link. Devices
    and pipes are written directly. An OSError from the system names `path`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from polychotomy.files import replacing
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "note.txt"
    ...     with replacing(place) as temporary:
    ...         written = temporary.write_text("all of it")
    ...         print(place.exists())
    ...     print(place.read_text())
    False
    all of it
    """
    place = path.resolve()
    direct = path.exists() and not path.is_file()  # resolving /dev/stdout may lead nowhere
    unique = f".{place.name[:_LONGEST_NAME]}.{os.getpid()}.{token_hex(4)}"
    temporary = path if direct else place.with_name(unique)
    try:
        yield temporary
        if not direct:
            if place.exists():
                copymode(place, temporary)
            temporary.replace(place)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(temporary)):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
    finally:
        if not direct:
            temporary.unlink(missing_ok=True)
