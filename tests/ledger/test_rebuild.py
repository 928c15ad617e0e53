"""A ledger rebuilt from archives and journal has the content of the one that was lost."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerBusy, LedgerDamaged, NotFound
from hindbrain.journal.read import read_segment, segments
from hindbrain.ledger.check import problems
from hindbrain.ledger.ingest import batches
from hindbrain.ledger.pending import Pending, pending
from hindbrain.ledger.rebuild import Rebuilt, carry_jobs, fingerprint, rebuild, swap_in
from hindbrain.ledger.store import Ledger, suspect_mark
from hindbrain.queues.job import LeaseLost, NewJob, Park
from hindbrain.queues.queue import Queue
from tests.ledger.making import event, events_of, random_history, record, write_segments

CLOCK = ManualClock()


def worked_on(home: Path, seed: int) -> Ledger:
    """A ledger as a worker leaves it: segments taken in piece by piece, in turns, some again, some archived."""
    choose = random.Random(seed)
    ledger = Ledger.open(home / "ledger.db", CLOCK)
    ledger.connection.execute("PRAGMA synchronous = OFF")
    steps = []
    for path in segments(home / "journal"):
        steps.append(list(batches(read_segment(path), events_of, max_records=choose.randint(1, 4))))
    while any(steps):
        mine = choose.choice([each for each in steps if each])
        step = mine.pop(0)
        for _ in range(choose.choice((1, 1, 2))):
            ledger.ingest(step)
    for path in segments(home / "journal"):
        if choose.random() < 0.5:
            archive(path, home / "archive", keep=choose.random() < 0.3)
    return ledger


def archive(path: Path, directory: Path, *, keep: bool) -> None:
    directory.mkdir(exist_ok=True)
    (directory / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    if not keep:  # else: as after a crash between archiving and deleting
        path.unlink()


def rebuilt_equals_original(home: Path, seed: int) -> None:
    write_segments(home / "journal", random_history(seed))
    with worked_on(home, seed) as original:
        wanted = fingerprint(original)
    rebuild(home / "archive", home / "journal", events_of, home / "new.db", CLOCK)
    with Ledger.open(home / "new.db", CLOCK) as ledger:
        assert fingerprint(ledger) == wanted
        assert problems(ledger, home / "journal") == []
        assert pending(ledger, home / "journal") == []


@pytest.mark.parametrize("seed", range(5))
def test_a_rebuilt_ledger_equals_the_original(tmp_path: Path, seed: int) -> None:
    rebuilt_equals_original(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5, 55))
def test_a_rebuilt_ledger_equals_the_original_in_many_histories(tmp_path: Path, seed: int) -> None:
    rebuilt_equals_original(tmp_path, seed)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    lines = [record(0, event(key=str(number), text=f"said number{number}")) for number in range(20)]
    write_segments(tmp_path / "journal", lines)
    return tmp_path


def test_damage_and_an_unfinished_end_are_told_again(home: Path) -> None:
    (path,) = segments(home / "journal")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data[:-4]))
    told: list[str] = []
    made = rebuild(home / "archive", home / "journal", events_of, home / "a.db", CLOCK, told.append)
    assert made == Rebuilt(segments=1, records=18, damages=1)
    assert told == [path.name]
    assert rebuild(home / "archive", home / "journal", events_of, home / "a.db", CLOCK, is_final=lambda path: True).damages == 2
    with Ledger.open(home / "a.db", CLOCK) as ledger:
        assert (ledger.counts().turns, ledger.counts().damaged, ledger.counts().torn) == (18, 1, 1)


def test_an_archive_that_cannot_be_unpacked_gives_what_it_still_holds(home: Path) -> None:
    (path,) = segments(home / "journal")
    archive(path, home / "archive", keep=False)
    packed = home / "archive" / f"{path.name}.gz"
    packed.write_bytes(packed.read_bytes()[:-30])
    made = rebuild(home / "archive", home / "journal", events_of, home / "a.db", CLOCK)
    assert made.damages >= 1
    with Ledger.open(home / "a.db", CLOCK) as ledger:
        assert ledger.counts().damaged >= 1


def test_what_is_pending_is_counted_in_lines_and_bytes(home: Path) -> None:
    (path,) = segments(home / "journal")
    size = path.stat().st_size
    with Ledger.open(home / "ledger.db", CLOCK) as ledger:
        assert pending(ledger, home / "journal") == [Pending("0000000001-a-1", size, 20)]
        first, *rest = batches(read_segment(path), events_of, max_records=15)
        ledger.ingest(first)
        behind = size - first.records[-1][0].end
        assert pending(ledger, home / "journal") == [Pending("0000000001-a-1", behind, 5)]
        ledger.ingest(rest[0])
        assert pending(ledger, home / "journal") == []
        assert pending(ledger, home / "nowhere") == []


def test_the_new_ledger_takes_the_place_of_the_old_which_is_kept(home: Path) -> None:
    old, new = home / "ledger.db", home / "ledger.db.new"
    rebuild(home / "archive", home / "journal", events_of, new, CLOCK)
    old.write_bytes(b"damaged")
    (home / "ledger.db-wal").write_bytes(b"its log")
    (home / "ledger.db-shm").write_bytes(b"its memory")
    kept = swap_in(new, old, CLOCK)
    assert kept is not None and kept.name == "ledger.db.damaged-20260921T141320Z"
    assert kept.read_bytes() == b"damaged"
    assert (home / f"{kept.name}-wal").read_bytes() == b"its log"
    assert not new.exists() and not suspect_mark(old).exists()
    with Ledger.open(old, CLOCK) as ledger:
        assert ledger.counts().turns == 20
    rebuild(home / "archive", home / "journal", events_of, new, CLOCK)
    again = swap_in(new, old, CLOCK)
    assert again is not None and again != kept
    assert old.stat().st_nlink == 1


def test_a_swap_needs_a_closed_new_ledger_and_no_old_one(home: Path) -> None:
    old, new = home / "ledger.db", home / "ledger.db.new"
    with pytest.raises(NotFound):
        swap_in(new, old, CLOCK)
    with Ledger.open(new, CLOCK):
        with pytest.raises(LedgerBusy, match="still open"):
            swap_in(new, old, CLOCK)
    assert swap_in(new, old, CLOCK) is None
    Ledger.open(old, CLOCK).close()


def test_a_swap_that_was_cut_off_is_noticed_and_can_be_done_again(home: Path) -> None:
    old, new = home / "ledger.db", home / "ledger.db.new"
    for path in (old, new):
        rebuild(home / "archive", home / "journal", events_of, path, CLOCK)
    new_elsewhere = home / "held.db"
    new.rename(new_elsewhere)
    new.mkdir()  # the rename over the old ledger fails: a directory cannot replace a file
    with pytest.raises(Exception, match=r"ledger\.db"):
        swap_in(new, old, CLOCK)
    new.rmdir()
    new_elsewhere.rename(new)
    suspect_mark(old).write_bytes(b"swap " + bytes(new))
    suspect_mark(old).chmod(0o600)
    with pytest.raises(LedgerDamaged, match="cut off"):
        Ledger.open(old, CLOCK)
    swap_in(new, old, CLOCK)
    with Ledger.open(old, CLOCK) as ledger:
        assert ledger.counts().turns == 20


def test_a_crash_after_the_swap_is_no_damage(home: Path) -> None:
    old = home / "ledger.db"
    rebuild(home / "archive", home / "journal", events_of, old, CLOCK)
    suspect_mark(old).write_bytes(b"swap " + bytes(home / "ledger.db.new"))
    suspect_mark(old).chmod(0o600)
    Ledger.open(old, CLOCK).close()
    assert not suspect_mark(old).exists()


def test_jobs_that_are_not_over_are_carried_into_the_rebuilt_ledger(tmp_path: Path) -> None:
    clock = ManualClock()
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with Ledger.open(old, clock) as ledger:
        queue = Queue(ledger, clock)
        queue.add([NewJob("read", key, {"n": number}) for number, key in enumerate(("done", "running", "parked", "ready"))])
        done, running, parked = queue.claim("read", 3, "ada")
        queue.finish([done])
        queue.fail([parked], Park("no use"))
    with Ledger.open(new, clock):
        pass
    assert carry_jobs(old, new, clock) == 3
    with Ledger.open(new, clock) as ledger:
        queue = Queue(ledger, clock)
        assert {job.key: (job.state, job.payload["n"]) for job in queue.listing()} == {
            "running": ("ready", 1), "parked": ("parked", 2), "ready": ("ready", 3),
        }  # fmt: skip
        again = next(job for job in queue.claim("read", 5, "bob") if job.key == "running")
        assert again.token > running.token
        with pytest.raises(LeaseLost):
            queue.finish([running])


def test_a_file_that_tells_nothing_of_jobs_stops_no_rebuild(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    old.write_bytes(b"SQLite format 3\x00" + bytes(5000))
    with Ledger.open(new, ManualClock()):
        pass
    assert carry_jobs(old, new, ManualClock()) == 0
