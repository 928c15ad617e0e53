"""The health line: there when something is wrong, and only then."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.home import Home
from hindbrain.capture.event import Event, Origin
from hindbrain.capture.record import Recorder
from hindbrain.journal import losses
from hindbrain.journal.read import segments
from hindbrain.ledger.store import Ledger
from hindbrain.serve.drain import Drain
from hindbrain.serve.health import complaint

NOW = 1_790_000_000_000


def taken_in(home: Home, origin: Origin, at: int = NOW) -> None:
    event = Event(
        kind="turn", agent="claude-code", session=f"{origin} {at}", at=at, key="k", origin=origin, role="user", text="hello"
    )
    recorder = Recorder(home.root)
    recorder.record([event], at)
    recorder.close()
    with Ledger.open(home.ledger, ManualClock(NOW)) as ledger:
        drain = Drain(home, ledger, ManualClock(NOW), [], follows=False)
        drain.run()
        drain.close()


def said(home: Home, clock: ManualClock | None = None) -> str:
    with Ledger.open(home.ledger, ManualClock(NOW), read_only=True) as ledger:
        return complaint(home, ledger, clock or ManualClock(NOW))


def test_nothing_is_said_while_all_is_well(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    taken_in(home, "hook")
    assert said(home) == ""


def test_a_recent_loss_is_said_and_an_old_one_is_history(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    taken_in(home, "hook")
    losses.count(os.fsencode(home.root), "enospc", {})
    last = losses.read(os.fsencode(home.root), {}).last_ns // 1_000_000
    assert "could not keep 1 events (enospc)" in said(home, ManualClock(last + 1000))
    assert said(home, ManualClock(last + 25 * 3600 * 1000)).startswith("Hindbrain could not keep") is False


def test_a_disk_that_is_nearly_full_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "home")
    taken_in(home, "hook")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=7 << 20))
    assert "only 7 MB of disk left" in said(home)


def test_lines_that_wait_for_long_are_said(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    taken_in(home, "hook")
    recorder = Recorder(home.root)
    recorder.record([Event(kind="notice", agent="a", session="s", at=NOW, key="w", origin="hook")], NOW)
    recorder.close()
    assert said(home, ManualClock(NOW + 299_000)) == ""
    assert "has not stored 1 events for 10 minutes" in said(home, ManualClock(NOW + 600_000))


def test_hooks_that_no_longer_fire_are_said(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    taken_in(home, "hook")
    (segment,) = segments(home.journal)
    began = int(segment.name.split("-")[1], 16) // 1_000_000  # capture began with this segment
    taken_in(home, "transcript", began - 1000)
    assert said(home, ManualClock(began + 1000)) == ""  # an import from before the installation
    taken_in(home, "api", began + 500)
    assert said(home, ManualClock(began + 1000)) == ""  # a program that records by itself has no hooks
    taken_in(home, "transcript", began + 600)
    assert "hooks did not fire in the last 1 sessions" in said(home, ManualClock(began + 1000))
    taken_in(home, "hook", began + 700)
    assert said(home, ManualClock(began + 1000)) == ""
