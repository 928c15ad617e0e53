"""Files of our own: private whatever the umask, never through a link, replaced whole, locked by one."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.base.errors import LockTimeout, StorageError, UnsafePath
from hindbrain.base.files import (
    Lock,
    ensure_private_dir,
    lock_holder,
    lock_said,
    new_file,
    open_private,
    read_private,
    replace_file,
    write_all,
)  # fmt: skip


@pytest.fixture(params=[0o000, 0o077, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_directories_and_files_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    folder = ensure_private_dir(tmp_path / "home") / "config"
    replace_file(folder, b"x")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, folder)] == [0o700, 0o600]


def test_a_directory_that_is_too_open_is_closed(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o777)
    assert stat.S_IMODE(ensure_private_dir(tmp_path / "home").stat().st_mode) == 0o700


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    replace_file(tmp_path / "a", b"one")
    replace_file(tmp_path / "a", b"two" * 100_000)
    assert read_private(tmp_path / "a") == b"two" * 100_000
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_writer_that_fails_half_way_leaves_the_old_version_and_no_litter(tmp_path: Path) -> None:
    replace_file(tmp_path / "a", b"old")
    with pytest.raises(RuntimeError), new_file(tmp_path / "a") as out:
        write_all(out, b"half of the new")
        raise RuntimeError
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"old"}


def test_a_link_in_the_files_place_is_replaced_and_what_it_points_to_stays(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"theirs")
    (tmp_path / "a").symlink_to(tmp_path / "elsewhere")
    replace_file(tmp_path / "a", b"ours")
    assert ((tmp_path / "elsewhere").read_bytes(), (tmp_path / "a").is_symlink()) == (b"theirs", False)


@pytest.mark.parametrize("kind", ["link", "second name", "fifo", "directory"])
def test_what_is_no_plain_file_of_ours_is_not_opened(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    (tmp_path / "other").write_bytes(b"x")
    match kind:
        case "link":
            path.symlink_to(tmp_path / "other")
        case "second name":
            path.hardlink_to(tmp_path / "other")
        case "fifo":
            os.mkfifo(path)
        case _:
            path.mkdir()
    with pytest.raises(UnsafePath) as caught:
        open_private(path, os.O_RDONLY)
    assert caught.value.path == str(path) and caught.value.hint


def test_a_file_larger_than_it_can_be_is_an_error_and_not_cut(tmp_path: Path) -> None:
    replace_file(tmp_path / "a", b"x" * 11)
    with pytest.raises(StorageError, match="larger than 10"):
        read_private(tmp_path / "a", limit=10)
    assert read_private(tmp_path / "none") is None


def test_an_error_names_the_path_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        replace_file(tmp_path / "missing" / "a", b"x")
    assert str(tmp_path / "missing" / "a") in caught.value.message
    assert caught.value.hint and caught.value.exit_code == 4


HOLD = """
import sys, time
from pathlib import Path
from hindbrain.base.files import Lock
lock = Lock(Path(sys.argv[1]))
assert lock.acquire()
lock.write("12345 test\\n")
print("held", flush=True)
time.sleep(60)
"""


def test_a_lock_is_held_by_one_and_freed_by_its_death(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert lock_holder(path) is None
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        assert (lock_holder(path), lock_said(path)) == (12345, "12345 test\n")
        assert not Lock(path).acquire()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert lock_holder(path) is None
    with Lock(path) as lock:
        lock.write("1\n")
        assert lock_holder(path) == 1


def test_waiting_for_a_lock_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = Lock(tmp_path / "lock")
    assert holder.acquire()
    assert not Lock(tmp_path / "lock").acquire(timeout=0.1)
    with pytest.raises(StorageError):
        Lock(tmp_path / "other").write("not held")
    holder.release()
    assert isinstance(LockTimeout().hint, str)
