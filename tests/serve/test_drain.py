"""One pass of the worker: segments archived once stored, a lost ledger replayed, one bad event blocking nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.event import Event
from hindbrain.capture.record import Recorder
from hindbrain.journal.read import archives, segments
from hindbrain.ledger import merge
from hindbrain.ledger.rebuild import fingerprint
from hindbrain.ledger.store import Ledger
from hindbrain.serve.drain import Drain, Drained


def turn(number: int, text: str = "") -> Event:
    return Event(
        kind="turn", agent="a", session="s", at=1_790_000_000_000 + number, key=str(number), origin="api", role="user",
        text=text or f"statement {number}",
    )  # fmt: skip


def record(home: Home, events: list[Event]) -> None:
    recorder = Recorder(home.root)
    for event in events:
        recorder.record([event], 1_790_000_000_000)
    recorder.close()


def drained(home: Home, keep: int = 0) -> tuple[Drained, dict[str, str]]:
    with Ledger.open(home.ledger, SystemClock()) as ledger:
        drain = Drain(home, ledger, SystemClock(), [], follows=False)
        done = Drained()
        drain.replay_archives(done)
        done = drain.run()
        drain.archive(keep)
        drain.close()
        return done, fingerprint(ledger)


@pytest.fixture
def archived(tmp_path: Path) -> tuple[Home, dict[str, str]]:
    """A home whose first segments are archives by now."""
    home = Home(tmp_path / "home")
    record(home, [turn(number, f"number {number} " + "x" * 190_000) for number in range(50)])
    _, content = drained(home)
    assert len(archives(home.archive)) >= 2 and len(segments(home.journal)) == 1
    return home, content


def test_a_ledger_that_is_gone_is_made_again_from_archives_and_journal(archived: tuple[Home, dict[str, str]]) -> None:
    home, content = archived
    home.ledger.unlink()
    assert drained(home)[1] == content


def test_a_replay_that_was_cut_off_is_completed_at_the_next_start(archived: tuple[Home, dict[str, str]]) -> None:
    home, content = archived
    home.ledger.unlink()
    hidden = [path.rename(path.with_suffix(".away")) for path in archives(home.archive)[1:]]
    with Ledger.open(home.ledger, SystemClock()) as ledger:  # the replay got this far and was killed
        drain = Drain(home, ledger, SystemClock(), [], follows=False)
        drain.replay_archives(Drained())
        ledger.connection.execute("DELETE FROM meta")
        drain.close()
    for path in hidden:
        path.rename(path.with_suffix(".gz"))
    assert drained(home)[1] == content


def test_an_event_nobody_foresaw_blocks_no_other_and_is_kept_as_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "home")
    record(home, [turn(1), turn(2, "poison"), turn(3)])
    piece_of = merge.piece_of

    def fails_on_poison(event: Event, *more: object) -> merge.Piece:
        if event.kind == "turn" and event.text == "poison":
            raise RuntimeError("a bug")
        return piece_of(event, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(merge, "piece_of", fails_on_poison)
    done, _ = drained(home)
    with Ledger.open(home.ledger, SystemClock(), read_only=True) as ledger:
        counts = ledger.counts()
        (kept,) = ledger.connection.execute("SELECT text FROM events WHERE kind = 'unparsed'").fetchone()
    assert (counts.turns, counts.unparsed, counts.lines, done.records) == (2, 1, 3, 3)
    assert "poison" in kept
