"""Lines that were forgotten: as long as before, silent to readers, and nothing but erasing makes one (P7, P13)."""

from __future__ import annotations

import fcntl
import gzip
import os
import random
import stat
import threading
from io import BytesIO
from pathlib import Path

import pytest

from hindbrain.base.errors import LockTimeout
from hindbrain.journal import erase as erasing
from hindbrain.journal.append import append
from hindbrain.journal.erase import erase
from hindbrain.journal.line import is_void, parse, void
from hindbrain.journal.pack import pack
from hindbrain.journal.read import Damage, Record, read_archive, read_segment, read_stream, segments
from tests.journal.written import framed

SEED = int(os.environ.get("FLIP_SEED", "20260101"))


def written(home: Path, number: int) -> Path:
    for each in range(number):
        append(os.fsencode(home), framed(each, size=60))
    (segment,) = segments(home / "journal")
    return segment


def records(path: Path) -> list[tuple[int, bytes]]:
    items = list(read_archive(path) if path.name.endswith(".gz") else read_segment(path))
    assert not [item for item in items if isinstance(item, Damage)]
    return [(item.start, item.line.payload) for item in items if isinstance(item, Record)]


@pytest.mark.parametrize("in_archive", [False, True])
def test_the_other_lines_stay_where_they_are(tmp_path: Path, in_archive: bool) -> None:
    path = written(tmp_path / "home", 20)
    if in_archive:
        packed = tmp_path / f"{path.name}.gz"
        packed.write_bytes(pack(path.read_bytes()))
        path = packed
    before = records(path)
    gone = {before[0][0], before[7][0], before[19][0]}
    assert erase(path, lambda record: record.start in gone) == 3
    assert records(path) == [each for each in before if each[0] not in gone]
    data = gzip.decompress(path.read_bytes()) if in_archive else path.read_bytes()
    assert not any(payload in data for start, payload in before if start in gone)
    assert erase(path, lambda record: record.start in gone) == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 or in_archive


def test_a_file_without_such_lines_is_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "home", 3)
    before = path.stat()
    assert erase(path, lambda record: False) == 0
    after = path.stat()
    assert (after.st_ino, after.st_mode, after.st_mtime_ns) == (before.st_ino, before.st_mode, before.st_mtime_ns)


def test_lines_can_be_appended_afterwards_and_meanwhile(tmp_path: Path) -> None:
    home = tmp_path / "home"
    path = written(home, 20)
    first = records(path)
    wanted = [framed(number, size=80) for number in range(1000, 1080)]

    def write() -> None:
        for line in wanted:
            append(os.fsencode(home), line)

    writer = threading.Thread(target=write)
    writer.start()
    for start, _ in first[:8]:
        erase(path, lambda record, start=start: record.start == start)  # type: ignore[misc]
    writer.join()
    kept = [payload for each in segments(home / "journal") for _, payload in records(each)]
    assert sorted(kept) == sorted([payload for _, payload in first[8:]] + [parse(line.strip(b"\n")).payload for line in wanted])


def test_a_writer_that_does_not_end_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "home", 2)
    monkeypatch.setattr(erasing, "LOCK_SECONDS", 0.05)
    with path.open("rb") as writer:
        fcntl.flock(writer, fcntl.LOCK_SH)
        with pytest.raises(LockTimeout):
            erase(path, lambda record: True)
    assert len(records(path)) == 2
    append(os.fsencode(tmp_path / "home"), framed(9, size=60))  # capturing goes on
    assert len([each for path in segments(tmp_path / "home" / "journal") for each in records(path)]) == 3


def test_a_flipped_bit_never_takes_a_record_away_in_silence() -> None:
    data = b"".join(framed(number, size=60) for number in range(200))
    whole = list(read_stream(BytesIO(data), "s", 0, final=True))
    choose = random.Random(SEED)
    for _ in range(2000):
        offset, bit = choose.randrange(len(data)), 1 << choose.randrange(8)
        changed = bytearray(data)
        changed[offset] ^= bit
        items = list(read_stream(BytesIO(bytes(changed)), "s", 0, final=True))
        told = sum(isinstance(item, Damage) for item in items)
        kept = len(items) - told
        assert kept == len(whole) or told > 0, f"FLIP_SEED={SEED} offset {offset} bit {bit}"


def test_a_flipped_bit_in_a_void_line_is_told_of_or_costs_nothing() -> None:
    lines = [framed(number, size=60) for number in range(5)]
    lines[2] = b"\n" + void(len(lines[2]) - 2) + b"\n"
    data = b"".join(lines)
    assert [type(item) for item in read_stream(BytesIO(data), "s", 0, final=True)] == [Record] * 4
    start = sum(map(len, lines[:2]))
    for offset in range(start, start + len(lines[2])):
        for bit in range(8):
            changed = bytearray(data)
            changed[offset] ^= 1 << bit
            items = list(read_stream(BytesIO(bytes(changed)), "s", 0, final=True))
            assert sum(isinstance(item, Record) for item in items) >= 3, (offset, bit)
            assert all(item.line.payload in b"".join(lines) for item in items if isinstance(item, Record))


def test_no_record_looks_like_a_void_line_nor_a_void_line_like_a_record() -> None:
    for number in range(50):
        line = framed(number, size=number).strip(b"\n")
        assert not is_void(line) and is_void(void(len(line))) and len(void(len(line))) == len(line)
        assert bin(line[0] ^ void(len(line))[0]).count("1") + bin(line[1] ^ void(len(line))[1]).count("1") >= 2
