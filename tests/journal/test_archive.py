"""Segments whose every line is stored -> archives; at every moment each record is in one, the other or both (P8)."""

from __future__ import annotations

import fcntl
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain.base.errors import JournalError, StorageError, UnsafePath
from hindbrain.journal import append
from hindbrain.journal import archive as module
from hindbrain.journal.archive import archive_stored, without_writers
from hindbrain.journal.pack import BLOCK_BYTES
from hindbrain.journal.read import Damage, Record, archives, read_archive, segment_name, segments
from tests.crash.strace import Fault, calls, first_numbers, run_with
from tests.journal.written import everything, framed, numbers_in, write

SEED = int(os.environ.get("FLIP_SEED", "20260101"))
EVERYTHING = 1 << 40


def journal_of(home: Path, segments_wanted: int, each: int = 5) -> list[Path]:
    """So many segments, sealed one after the other."""
    for number in range(segments_wanted):
        segment = write(home, range(number * each, (number + 1) * each))
        if number < segments_wanted - 1:
            segment.chmod(0o400)
    return segments(home / "journal")


def stored(home: Path, offset: int = EVERYTHING) -> dict[str, int]:
    return {segment_name(path): offset for path in segments(home / "journal")}


def archived(home: Path) -> list[Record | Damage]:
    return [item for path in archives(home / "archive") for item in read_archive(path)]


def run(home: Path, marks: dict[str, int], keep: int = 0) -> list[str]:
    return archive_stored(home / "journal", home / "archive", marks, keep)


def test_stored_segments_are_archived_and_the_newest_stays(tmp_path: Path) -> None:
    paths = journal_of(tmp_path, 4)
    before = everything(tmp_path)
    assert run(tmp_path, stored(tmp_path)) == [segment_name(path) for path in paths[:3]]
    assert segments(tmp_path / "journal") == paths[3:]
    assert numbers_in(archived(tmp_path)) == list(range(15))
    after = [*archived(tmp_path), *everything(tmp_path)]
    assert [(i.segment, i.start, i.end) for i in after] == [(i.segment, i.start, i.end) for i in before]
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "archive").iterdir()}
    assert modes == {0o600} and (tmp_path / "archive").stat().st_mode & 0o777 == 0o700


def test_as_many_full_segments_as_wanted_are_kept(tmp_path: Path) -> None:
    paths = journal_of(tmp_path, 4)
    assert run(tmp_path, stored(tmp_path), keep=2) == [segment_name(paths[0])]
    assert run(tmp_path, stored(tmp_path), keep=9) == []


def test_a_segment_that_is_not_wholly_stored_stays(tmp_path: Path) -> None:
    paths = journal_of(tmp_path, 3)
    sizes = {segment_name(path): path.stat().st_size for path in paths}
    assert run(tmp_path, {}) == []
    assert run(tmp_path, {name: size - 1 for name, size in sizes.items()}) == []
    assert run(tmp_path, sizes) == [segment_name(path) for path in paths[:2]]


@pytest.mark.parametrize("mode", ["reader", "writer"])
def test_a_segment_that_a_writer_has_open_stays(tmp_path: Path, mode: str) -> None:
    paths = journal_of(tmp_path, 3)
    holder = os.open(paths[0], os.O_RDONLY if mode == "reader" else os.O_WRONLY | os.O_APPEND)
    fcntl.flock(holder, fcntl.LOCK_SH)
    with without_writers(paths[0]) as first, without_writers(paths[1]) as second:
        assert (first, second) == (False, True)
    assert run(tmp_path, stored(tmp_path)) == [segment_name(paths[1])]
    assert paths[0].exists()
    os.close(holder)
    assert run(tmp_path, stored(tmp_path)) == [segment_name(paths[0])]
    assert numbers_in([*archived(tmp_path), *everything(tmp_path)]) == list(range(15))


def test_a_hook_that_opened_a_segment_before_it_was_read_to_its_end_does_not_write_to_it(tmp_path: Path) -> None:
    paths = journal_of(tmp_path, 2)
    paths[0].chmod(0o600)
    late = os.open(paths[0], os.O_WRONLY | os.O_APPEND)
    with without_writers(paths[0]) as alone:
        assert alone
        assert not append._takes_lines(late), "it would write while the end is taken for torn"
    assert append._takes_lines(late)
    os.close(late)


def test_a_line_that_came_after_the_mark_keeps_the_segment(tmp_path: Path) -> None:
    paths = journal_of(tmp_path, 2)
    marks = {segment_name(paths[0]): paths[0].stat().st_size}
    paths[0].chmod(0o600)
    with paths[0].open("ab") as file:
        file.write(framed(99))
    assert run(tmp_path, marks) == []


def test_a_segment_that_is_renamed_or_gone_since_it_was_listed_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = journal_of(tmp_path, 3)
    monkeypatch.setattr(module, "segments", lambda journal: [journal / "0000000000-1-1.new", *paths])
    assert run(tmp_path, stored(tmp_path)) == [segment_name(path) for path in paths[:2]]


def test_a_link_in_place_of_a_segment_is_refused(tmp_path: Path) -> None:
    paths = journal_of(tmp_path, 3)
    (tmp_path / "elsewhere").write_bytes(paths[0].read_bytes())
    paths[0].unlink()
    paths[0].symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafePath):
        run(tmp_path, stored(tmp_path))
    assert (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("damage", ["cut", "one byte", "cut inside", "empty", "something else"])
def test_an_archive_that_does_not_hold_what_was_written_keeps_its_segment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    paths = journal_of(tmp_path, 2)
    compress = module._compress

    def damaged(descriptor: int, target: Path) -> bytes:
        wanted = compress(descriptor, target)
        data = target.read_bytes()
        other = {"cut": data[:-9], "one byte": data[:20] + bytes([data[20] ^ 255]) + data[21:], "cut inside": data[:30]}
        target.write_bytes(other.get(damage, b"" if damage == "empty" else b"no gzip"))
        return wanted

    monkeypatch.setattr(module, "_compress", damaged)
    with pytest.raises((JournalError, StorageError)):
        run(tmp_path, stored(tmp_path))
    assert paths[0].exists()
    monkeypatch.setattr(module, "_compress", compress)
    assert run(tmp_path, stored(tmp_path)) == [segment_name(paths[0])]
    assert numbers_in(archived(tmp_path)) == list(range(5))


def test_a_damaged_archive_gives_what_it_can_and_says_that_there_is_more(tmp_path: Path) -> None:
    journal_of(tmp_path, 2, each=200)
    run(tmp_path, stored(tmp_path))
    [path] = archives(tmp_path / "archive")
    whole = path.read_bytes()
    source = random.Random(SEED)
    for _ in range(150):
        offset, bit = source.randrange(len(whole)), 1 << source.randrange(8)
        changed = bytearray(whole)
        changed[offset] ^= bit
        path.write_bytes(changed)
        items = list(read_archive(path))
        numbers = numbers_in(items)
        assert numbers == sorted(set(numbers)), f"FLIP_SEED={SEED} offset {offset} bit {bit}"
        told = any(isinstance(item, Damage) for item in items)
        assert told or numbers == list(range(200)), f"FLIP_SEED={SEED} offset {offset} bit {bit}"
    for length in (0, 1, 10, 11, len(whole) // 2, len(whole) - 8, len(whole) - 1):
        path.write_bytes(whole[:length])
        items = list(read_archive(path))
        assert not items or isinstance(items[-1], Damage)
        assert items or length == 0


def test_one_damaged_bit_in_an_archive_costs_one_block_and_the_others_keep_their_places(tmp_path: Path) -> None:
    journal_of(tmp_path, 2, each=1200)
    run(tmp_path, stored(tmp_path))
    [path] = archives(tmp_path / "archive")
    whole = path.read_bytes()
    records = [item for item in read_archive(path) if isinstance(item, Record)]
    sound = {item.start: item.line.payload for item in records}
    shortest = min(item.end - item.start for item in records)
    source = random.Random(SEED)
    for _ in range(200):
        offset, bit = source.randrange(len(whole)), 1 << source.randrange(8)
        changed = bytearray(whole)
        changed[offset] ^= bit
        path.write_bytes(changed)
        left = {item.start: item.line.payload for item in read_archive(path) if isinstance(item, Record)}
        assert left.items() <= sound.items(), f"FLIP_SEED={SEED} offset {offset} bit {bit}"
        assert len(sound) - len(left) <= BLOCK_BYTES // shortest + 2, f"FLIP_SEED={SEED} offset {offset} bit {bit}"


ARCHIVE = """
import sys
from pathlib import Path
from hindbrain.journal.archive import archive_stored
from hindbrain.journal.read import segment_name, segments
home = Path(sys.argv[1])
marks = {segment_name(path): 1 << 40 for path in segments(home / "journal")}
sys.stdin.read()
archive_stored(home / "journal", home / "archive", marks, 0)
"""


@pytest.mark.strace
def test_an_archiver_killed_at_any_call_leaves_every_record_somewhere(tmp_path: Path) -> None:
    def argv(home: Path) -> list[str]:
        return [sys.executable, "-c", ARCHIVE, str(home)]

    probe = tmp_path / "probe"
    journal_of(probe, 3)
    first = first_numbers(calls(argv(probe), b"", os.environ, tmp_path / "log"), lambda line: " read(0," in line)
    wanted = {"openat", "write", "fsync", "rename", "unlink", "flock", "mkdir", "close", "read", "pread64", "newfstatat"}
    kills = 0
    for name in wanted & set(first):
        for number in range(first[name], first[name] + 300):
            home = tmp_path / f"{name}-{number}"
            journal_of(home, 3, each=3)
            ran = run_with(Fault(name, "signal=KILL", number), argv(home), b"", os.environ, tmp_path / "log")
            found = [*archived(home), *everything(home)]
            assert set(numbers_in(found)) == set(range(9)), (name, number)
            assert not [item for item in found if isinstance(item, Damage)], (name, number)
            subprocess.run(argv(home), input=b"", check=True)
            assert numbers_in([*archived(home), *everything(home)]) == list(range(9)), (name, number)
            assert len(list((home / "archive").iterdir())) == 2, "half an archive is left behind"
            if ran.code == 0:
                break
            kills += 1
    assert kills >= 30


@pytest.mark.strace
@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_an_archiver_whose_calls_fail_leaves_every_record_somewhere(tmp_path: Path, error: str) -> None:
    def argv(home: Path) -> list[str]:
        return [sys.executable, "-c", ARCHIVE, str(home)]

    probe = tmp_path / "probe"
    journal_of(probe, 3)
    first = first_numbers(calls(argv(probe), b"", os.environ, tmp_path / "log"), lambda line: " read(0," in line)
    fired = 0
    for name in {"openat", "write", "fsync", "rename", "unlink", "pread64", "mkdir"} & set(first):
        for number in range(first[name], first[name] + 300):
            home = tmp_path / f"{name}-{number}"
            journal_of(home, 3, each=3)
            ran = run_with(Fault(name, f"error={error}", number), argv(home), b"", os.environ, tmp_path / "log")
            assert set(numbers_in([*archived(home), *everything(home)])) == set(range(9)), (name, number)
            assert ran.code == 0 or b"\nhindbrain.base.errors." in ran.stderr, ran.stderr
            if not ran.injected:
                break
            fired += 1
    assert fired >= 8
