"""A journal whose end is missing, zeroed or garbage keeps everything before it, and goes on behind it."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

import pytest

from hindbrain.journal import read
from hindbrain.journal.append import append
from hindbrain.journal.read import Damage, read_segment, read_stream
from tests.journal.written import damages_in, everything, framed, numbers_in, write


def test_a_journal_cut_at_any_byte_of_its_last_line_loses_that_line_alone(tmp_path: Path) -> None:
    segment = write(tmp_path, range(5))
    whole = segment.read_bytes()
    last = framed(4)
    for cut in range(len(whole) - len(last), len(whole)):
        segment.write_bytes(whole[:cut])
        found = list(read_segment(segment, final=True))
        tail = whole[len(whole) - len(last) + 1 : cut]
        if cut == len(whole) - 1:  # nothing but the closing newline is missing, and the checksum vouches for the rest
            assert numbers_in(found) == [0, 1, 2, 3, 4] and not damages_in(found)
            continue
        assert numbers_in(found) == [0, 1, 2, 3], cut
        told = [(d.kind, d.start, d.end, d.copy) for d in damages_in(found)]
        assert told == ([("torn", cut - len(tail), cut, tail)] if tail else [])
        assert damages_in(list(read_segment(segment, final=False))) == [], "a writer may still be at work"


def test_appends_after_a_cut_at_any_byte_are_whole(tmp_path: Path) -> None:
    segment = write(tmp_path, range(3))
    whole = segment.read_bytes()
    last = framed(2)
    for cut in range(len(whole) - len(last), len(whole)):
        segment.write_bytes(whole[:cut] + framed(7))
        found = list(read_segment(segment, final=False))
        assert numbers_in(found) in ([0, 1, 7], [0, 1, 2, 7]), cut
        assert all(damage.kind == "torn" for damage in damages_in(found)), cut
    write(tmp_path, [8])
    assert numbers_in(everything(tmp_path))[-2:] == [7, 8]


@pytest.mark.parametrize("sector", [512, 4096])
def test_zero_filled_sectors_at_the_end_are_told_as_torn(tmp_path: Path, sector: int) -> None:
    segment = write(tmp_path, range(30))
    whole = segment.read_bytes()
    edge = len(whole) // sector * sector
    for at in range(edge - sector if edge > sector else edge, 0, -sector):
        segment.write_bytes(whole[:at] + bytes(len(whole) - at))
        found = list(read_segment(segment, final=True))
        kept = numbers_in(found)
        assert kept == list(range(len(kept))) and len(kept) >= at // (len(framed(0)) + 7) - 1
        assert [damage.kind for damage in damages_in(found)] == ["torn"]
    write(tmp_path, [77])
    assert numbers_in(everything(tmp_path))[-1] == 77


@pytest.mark.parametrize("garbage", [b"\xff" * 300, b"H1 ", b"H1 00000000 5 hook", b"\x00garbage\x00", b"H1 zz 99999999999 x"])
def test_a_garbage_tail_costs_nothing_before_or_behind_it(tmp_path: Path, garbage: bytes) -> None:
    segment = write(tmp_path, range(4))
    size = segment.stat().st_size
    with segment.open("ab") as file:
        file.write(garbage)
    found = list(read_segment(segment, final=True))
    assert numbers_in(found) == [0, 1, 2, 3]
    assert [(d.start, d.end, d.copy) for d in damages_in(found)] == [(size, size + len(garbage), garbage)]
    write(tmp_path, [4, 5])
    found = everything(tmp_path, final=False)
    assert numbers_in(found) == [0, 1, 2, 3, 4, 5]
    assert [(d.start, d.end) for d in damages_in(found)] == [(size, size + len(garbage) + 1)]


def test_reading_goes_on_from_where_it_stopped(tmp_path: Path) -> None:
    segment = write(tmp_path, range(6))
    for stop in range(6):
        first = list(read_segment(segment))[: stop + 1]
        rest = list(read_segment(segment, first[-1].end))
        assert numbers_in([*first, *rest]) == [0, 1, 2, 3, 4, 5]


def test_a_line_is_not_judged_while_it_is_being_written(tmp_path: Path) -> None:
    segment = write(tmp_path, range(2))
    line = framed(2)
    for written in range(1, len(line)):
        stream = BytesIO(segment.read_bytes() + line[:written])
        assert numbers_in(list(read_stream(stream, "s", 0, final=False))) == [0, 1]


def test_a_run_without_newlines_is_passed_over_and_the_lines_behind_it_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MAX_LINE", 3000)
    monkeypatch.setattr(read, "BLOCK", 1000)
    for run in (2999, 3001, 4500, 5000, 12_345):
        for behind in (1, 2, 20):
            data = framed(0) + b"z" * run + b"".join(framed(number) for number in range(1, behind + 1))
            found = list(read_stream(BytesIO(data), "s", 0, final=True))
            assert numbers_in(found) == list(range(behind + 1)), (run, behind)
            [damage] = damages_in(found)
            assert (damage.start, damage.end) == (len(framed(0)), len(framed(0)) + run + 1)


def test_a_run_without_newlines_up_to_the_end_is_one_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MAX_LINE", 3000)
    monkeypatch.setattr(read, "BLOCK", 1000)
    found = list(read_stream(BytesIO(framed(0) + b"z" * 9000), "s", 0, final=True))
    assert numbers_in(found) == [0]
    assert [(d.start, d.end) for d in damages_in(found)] == [(len(framed(0)), len(framed(0)) + 9000)]


def test_lines_longer_than_a_block_are_whole(tmp_path: Path) -> None:
    big = framed(0, size=3 * read.BLOCK + 11)
    for line in (framed(1), big, framed(2), big, framed(3)):
        append(os.fsencode(tmp_path), line)
    found = everything(tmp_path)
    assert numbers_in(found) == [1, 0, 2, 0, 3]
    assert not [item for item in found if isinstance(item, Damage)]
