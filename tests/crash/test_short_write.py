"""A write that stops in the middle of a line leaves a torn line that nobody trips over, and is told (P1, P3)."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from hindbrain.journal import losses
from tests.crash.agent import Agent, payload, worker_or_none
from tests.crash.history import Ended, History, read_journal
from tests.crash.strace import run_plain
from tests.journal.written import everything, framed, numbers_in, write

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="not run: needs root to mount a small file system")

# Appends one line per limit, in a process of its own: the limit is the process's. Python ignores SIGXFSZ, so a write that
# goes past the limit stops at it, as on a disk that is full.
LIMITED = """
import json, os, resource, sys
from hindbrain.journal.append import NotKept, append
home, fresh, lines = os.fsencode(sys.argv[1]), sys.argv[2] == "fresh", json.load(sys.stdin)
ended = []
for key, (limit, line) in lines.items():
    journal = sys.argv[1] + "/journal"
    found = [os.stat(f"{journal}/{name}") for name in sorted(os.listdir(journal))] if os.path.isdir(journal) else []
    size = max((each.st_size for each in found[-1:] if each.st_mode & 0o200 and not fresh), default=0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + limit, resource.RLIM_INFINITY))
    try:
        append(home, bytes.fromhex(line))
        ended.append(True)
    except NotKept:
        ended.append(False)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(json.dumps(ended))
"""


def limited(home: Path, lines: Mapping[str, tuple[int, bytes]], *, fresh: bool = False) -> list[bool]:
    text = json.dumps({key: (limit, line.hex()) for key, (limit, line) in lines.items()})
    argv = [sys.executable, "-c", LIMITED, str(home), "fresh" if fresh else "used"]
    done = subprocess.run(argv, input=text.encode(), capture_output=True, check=True, timeout=60)
    answer: list[bool] = json.loads(done.stdout)
    return answer


def test_a_write_cut_short_at_any_byte_goes_to_the_next_segment_whole(tmp_path: Path) -> None:
    write(tmp_path, range(1000, 1003), size=400)
    length = len(framed(0))
    lines = {str(number): (number, framed(number)) for number in range(length)}
    ended = limited(tmp_path, lines)
    kept = [number for number in numbers_in(everything(tmp_path)) if number < 1000]
    assert [number for number, said in enumerate(ended) if said and number not in kept] == []
    assert sum(ended) >= length // 2, "a segment in use is longer than a line: a fresh one takes it within the same limit"
    assert [item for item in read_journal(tmp_path).damages if item.kind != "torn"] == []
    write(tmp_path, [2000])
    assert numbers_in(everything(tmp_path))[-1] == 2000


def test_a_line_that_finds_no_room_anywhere_is_refused_at_any_byte(tmp_path: Path) -> None:
    line = framed(5)
    ended = limited(tmp_path, {str(cut): (cut, line) for cut in range(len(line))}, fresh=True)
    assert ended == [False] * len(line)
    assert set(numbers_in(everything(tmp_path))) <= {5}, "all but the closing newline may have come through"
    assert {item.kind for item in read_journal(tmp_path).damages} == {"torn"}
    write(tmp_path, [6])
    assert numbers_in(everything(tmp_path))[-1] == 6


def test_a_hook_whose_write_is_cut_short_keeps_the_event_or_counts_it(agent: Agent) -> None:
    def run(limit: int, argv: list[str], data: bytes, environ: Mapping[str, str]) -> object:
        lower = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
        return run_plain(argv, data, environ, preexec_fn=lower)

    with worker_or_none(agent.home):
        for number, limit in enumerate([0, 1, 100, 511, 512, 513, 600, 1000, 1500, 2010, 2080, 2500, 4000, 9000]):
            key = f"limit-{number}-{limit}"
            agent.call(key, payload(key, 2000), partial(run, limit))  # type: ignore[arg-type]
        agent.call("last", payload("last", 2000))
    assert agent.history.operations[-1].ended is Ended.ACKNOWLEDGED
    assert agent.history.count(Ended.REPORTED) >= 8
    assert agent.problems() == []


@contextlib.contextmanager
def small_disk(where: Path, size: str) -> Iterator[Path]:
    where.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "none", str(where)]
    mounted = subprocess.run(argv, capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"not run: cannot mount: {mounted.stderr.decode().strip()}")
    try:
        yield where
    finally:
        subprocess.run(["umount", str(where)], check=True)


@needs_root
@pytest.mark.parametrize("size", ["16k", "64k"])
def test_a_disk_that_runs_full_counts_what_it_loses_and_works_again_with_room(tmp_path: Path, hook: list[str], size: str) -> None:
    with small_disk(tmp_path / "disk", size) as disk:
        agent = Agent(disk, hook)
        agent.user = tmp_path
        agent.environ["HOME"] = str(tmp_path)
        agent.prepare()
        (disk / "filler").write_bytes(bytes(4096))
        with worker_or_none(agent.home):
            for number in range(20 if size == "16k" else 24):
                agent.call(f"n{number}", payload(f"n{number}", 3000))
            lost = agent.history.count(Ended.REPORTED)
            assert lost >= 2
            assert agent.losses() == lost
            assert agent.problems() == []
            (disk / "filler").unlink()
            agent.call("room", payload("room", 500))
        assert agent.history.operations[-1].ended is Ended.ACKNOWLEDGED
        assert agent.problems() == []
        assert len(list((agent.home / "journal").iterdir())) < 12, "empty segments pile up on a full disk"


@needs_root
def test_a_home_on_a_disk_that_was_full_from_the_start_is_counted_elsewhere(tmp_path: Path, hook: list[str]) -> None:
    with small_disk(tmp_path / "disk", "16k") as disk:
        agent = Agent(disk, hook)
        agent.environ["HOME"] = str(tmp_path)
        with contextlib.suppress(OSError):
            (disk / "filler").write_bytes(bytes(1 << 20))
        with worker_or_none(agent.home):
            agent.call("a", payload("a", 3000))
            agent.call("b", payload("b", 3000))
        assert [each.ended for each in agent.history.operations] == [Ended.REPORTED] * 2
        assert agent.losses() == 2
        assert losses.read(os.fsencode(agent.home), {}).count == 0
        assert agent.problems() == []


def test_the_history_is_not_fooled_by_a_torn_line_nobody_explains(tmp_path: Path) -> None:
    segment = write(tmp_path, [1])
    segment.write_bytes(segment.read_bytes() + framed(2)[:30])
    history = History()
    history.add("1", framed(1).split(b" ", 7)[7][:-1], Ended.ACKNOWLEDGED)
    assert history.problems(read_journal(tmp_path)) == ["1 torn lines, 0 explained"]
