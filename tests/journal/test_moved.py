"""A segment that gets its lasting name, or goes into an archive, between being listed and being read."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.buffer import Buffer
from hindbrain.journal.read import SegmentGone, read_segment, segments
from hindbrain.serve.status import lag
from tests.journal.written import framed, numbers_in, write


def test_a_segment_that_was_named_since_it_was_listed_is_read_under_its_name(tmp_path: Path) -> None:
    named = write(tmp_path, range(3))
    unnamed = named.with_suffix(".new")
    named.rename(unnamed)
    (listed,) = segments(tmp_path / "journal")
    assert listed == unnamed
    unnamed.rename(named)
    assert numbers_in(list(read_segment(listed))) == [0, 1, 2]


def test_a_segment_that_is_gone_is_told_apart_from_one_that_cannot_be_read(tmp_path: Path) -> None:
    segment = write(tmp_path, range(3))
    segment.unlink()
    for path in (segment, segment.with_suffix(".new")):
        with pytest.raises(SegmentGone, match=segment.stem):
            list(read_segment(path))


def test_whoever_counts_what_waits_is_not_disturbed_by_segments_being_named_and_archived(tmp_path: Path) -> None:
    home, ended = Home(tmp_path), threading.Event()
    buffer = Buffer(tmp_path)
    write(tmp_path, range(1))

    def come_and_go() -> None:
        try:
            for number in range(2, 1500):
                unnamed = home.journal / f"{number:010d}-{number:x}-1.new"
                unnamed.write_bytes(framed(number))
                unnamed.rename(unnamed.with_suffix(".log"))
                unnamed.with_suffix(".log").unlink()
        finally:
            ended.set()

    thread = threading.Thread(target=come_and_go)
    thread.start()
    while not ended.is_set():
        assert 1 <= lag(home, {}, SystemClock()).lines <= 2
        buffer.has("claude-code", "s1")
    thread.join()
    assert lag(home, {}, SystemClock()).lines == 1
