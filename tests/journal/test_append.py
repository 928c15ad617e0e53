"""A line -> bytes on the disk, over full, sealed, archived and unknown segments; in one process."""

from __future__ import annotations

import errno
import fcntl
import os
import posix
import sys
from pathlib import Path

import pytest

from hindbrain.journal import append as module
from hindbrain.journal.append import SEGMENT_BYTES, NotKept, append, append_to, open_journal
from hindbrain.journal.read import segments
from tests.journal.written import damages_in, everything, framed, numbers_in, write


def test_lines_are_read_in_the_order_they_were_written(tmp_path: Path) -> None:
    write(tmp_path, range(50))
    assert numbers_in(everything(tmp_path)) == list(range(50))
    assert len(segments(tmp_path / "journal")) == 1


def test_a_full_segment_is_left_and_a_newer_one_made(tmp_path: Path) -> None:
    write(tmp_path, range(10), size=SEGMENT_BYTES // 4 + 1)
    paths = segments(tmp_path / "journal")
    assert [path.name[:10] for path in paths] == ["0000000001", "0000000002", "0000000003"]
    assert numbers_in(everything(tmp_path)) == list(range(10))


def test_a_line_larger_than_a_segment_is_kept(tmp_path: Path) -> None:
    write(tmp_path, [1, 2], size=SEGMENT_BYTES + 100)
    assert numbers_in(everything(tmp_path)) == [1, 2]


def test_a_directory_kept_open_takes_many_lines(tmp_path: Path) -> None:
    journal = open_journal(os.fsencode(tmp_path / "a" / "b"))
    for number in range(5):
        append_to(journal, framed(number))
    os.close(journal)
    assert numbers_in(everything(tmp_path / "a" / "b")) == list(range(5))


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    write(tmp_path, [0])
    (tmp_path / "bad").write_bytes(b"")
    before = sorted(os.listdir("/dev/fd"))
    write(tmp_path, range(20), size=SEGMENT_BYTES // 8)
    for _ in range(5):
        with pytest.raises(NotKept):
            append(os.fsencode(tmp_path / "bad"), framed(1))
    assert sorted(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize(("home", "reason"), [("file", "enotdir"), ("file/home", "enotdir"), ("x" * 300, "enametoolong")])
def test_a_refusal_names_its_reason(tmp_path: Path, home: str, reason: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotKept) as caught:
        append(os.fsencode(tmp_path / home), framed(1))
    assert caught.value.reason == reason


@pytest.mark.parametrize("what", ["sealed", "hard link", "locked by the archiver"])
def test_a_segment_that_may_not_be_used_is_left_alone(tmp_path: Path, what: str) -> None:
    segment = write(tmp_path, [1])
    holder = os.open(segment, os.O_RDONLY)
    if what == "sealed":
        segment.chmod(0o400)
    elif what == "hard link":
        os.link(segment, tmp_path / "second name")
    else:
        fcntl.flock(holder, fcntl.LOCK_EX)
    before = segment.read_bytes()
    write(tmp_path, [2, 3])
    os.close(holder)
    assert segment.read_bytes() == before
    assert len(segments(tmp_path / "journal")) == 2
    assert numbers_in(everything(tmp_path)) == [1, 2, 3]


def test_a_segment_that_was_archived_after_it_was_opened_gets_no_line(tmp_path: Path) -> None:
    segment = write(tmp_path, [1])
    opened = os.open(segment, os.O_WRONLY | os.O_APPEND)
    segment.unlink()
    assert not module._takes_lines(opened)
    os.close(opened)


def test_a_file_system_without_locks_takes_lines_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    write(tmp_path, range(3))
    assert numbers_in(everything(tmp_path)) == [0, 1, 2]


def test_a_segment_that_its_maker_left_unnamed_is_read(tmp_path: Path) -> None:
    segment = write(tmp_path, [1])
    segment.rename(segment.with_suffix(".new"))
    write(tmp_path, [2])
    assert numbers_in(everything(tmp_path)) == [1, 2]
    assert not damages_in(everything(tmp_path))


def test_a_new_segment_taken_away_by_the_archiver_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The archiver sees an empty segment that nobody has locked yet."""
    taken: list[Path] = []
    share = module._share

    def after_the_archiver(segment: int) -> bool:
        if not taken:
            [path] = (tmp_path / "journal").glob("*.new")
            path.unlink()
            taken.append(path)
        return share(segment)

    monkeypatch.setattr(module, "_share", after_the_archiver)
    write(tmp_path, [1])
    assert taken and numbers_in(everything(tmp_path)) == [1]


def test_a_failed_start_of_a_segment_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object, **more: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    open_journal(os.fsencode(tmp_path))
    monkeypatch.setattr(posix, "rename", full)
    for _ in range(3):
        with pytest.raises(NotKept, match="enospc"):
            append(os.fsencode(tmp_path), framed(1))
    assert list((tmp_path / "journal").iterdir()) == []


@pytest.mark.skipif(sys.platform == "darwin", reason="not run: syncs by another call there")
def test_no_second_try_is_made_for_a_writer_that_is_out_of_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def failing(descriptor: int) -> None:
        tries.append(descriptor)
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(posix, "fdatasync", failing)
    with pytest.raises(NotKept, match="eio"):
        append(os.fsencode(tmp_path), framed(1), lambda: False)
    assert len(tries) == 1
    with pytest.raises(NotKept, match="eio"):
        append(os.fsencode(tmp_path), framed(1), lambda: True)
    assert len(tries) > 2
