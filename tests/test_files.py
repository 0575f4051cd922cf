import errno
import os
import pathlib
import stat

import pytest

from polychotomy.files import replacing


def write(path, text):
    with replacing(path) as beside:
        beside.write_text(text)


def test_a_file_is_replaced_when_all_is_written(tmp_path):
    place = tmp_path / ("long" * 60 + ".txt")
    place.write_text("before")
    with replacing(place) as beside:
        beside.write_text("after")
        assert place.read_text() == "before"
    assert place.read_text() == "after"
    assert list(tmp_path.iterdir()) == [place]


def test_nothing_changes_and_nothing_is_left_if_writing_fails(tmp_path):
    place = tmp_path / "note.txt"
    place.write_text("before")

    def fail_halfway():
        with replacing(place) as beside:
            beside.write_text("af")
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway()
    assert place.read_text() == "before"
    assert list(tmp_path.iterdir()) == [place]


def test_what_the_system_complains_of_names_the_file(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")  # as writing does, without a name

    place = tmp_path / "note.txt"
    with monkeypatch.context() as patched:
        patched.setattr(pathlib.Path, "write_text", full)
        with pytest.raises(OSError, match="No space left") as caught:
            write(place, "much")
    assert caught.value.filename == str(place)
    with pytest.raises(FileNotFoundError) as caught:
        write(tmp_path / "missing" / "note.txt", "much")
    assert caught.value.filename == str(tmp_path / "missing" / "note.txt")


def test_permissions_and_links_stay(tmp_path):
    place, link = tmp_path / "note.txt", tmp_path / "link.txt"
    place.write_text("before")
    place.chmod(0o640)
    link.symlink_to(place)
    write(link, "after")
    assert link.is_symlink()
    assert place.read_text() == "after"
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(pipe, "through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_device_is_named():
    with pytest.raises(OSError, match="/dev/full") as caught:
        write(pathlib.Path("/dev/full"), "much")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")


@pytest.mark.skipif(
    not pathlib.Path("/proc/self/fd").exists(), reason="files have no numbers in /proc"
)
def test_a_path_that_stands_for_a_pipe_is_written():
    """As /dev/stdout does in a pipeline: what it resolves to is no path."""
    reader, writer = os.pipe()
    write(pathlib.Path(f"/proc/self/fd/{writer}"), "through")
    os.close(writer)
    assert os.read(reader, 100) == b"through"
    os.close(reader)
