"""Doctor and status: what is wrong is found, said, and repaired without loss."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.ledger.rebuild import fingerprint
from hindbrain.ledger.store import Ledger
from tests.serve.installed import Installed, prompt, until


def grades(installed: Installed, *options: str) -> dict[str, str]:
    ran = installed.cli("doctor", "--json", *options)
    findings = json.loads(ran.stdout)
    worst = any(found["grade"] == "problem" for found in findings)
    assert ran.returncode == (7 if worst else 0), ran.stderr
    return {found["check"]: found["grade"] for found in findings}


def test_a_sound_home_passes_and_a_test_event_goes_all_the_way(installed: Installed) -> None:
    installed.fire(prompt("s1", 1, "hello"))
    installed.settled(1)
    found = grades(installed)
    assert found.pop("install") == "warning"  # nothing was put into this user's Claude Code
    assert set(found.values()) == {"ok"}

    def texts() -> list[str]:
        with Ledger.open(installed.home.ledger, SystemClock(), read_only=True) as ledger:
            return [hit.text for hit in ledger.search("test hello")]

    until(lambda: texts() == ["hello"], "the test event to be taken back")


def test_a_home_that_does_not_exist_is_a_problem(installed: Installed) -> None:
    ran = installed.cli("--home", "/nonexistent/home", "doctor")
    assert (ran.returncode, "does not exist" in ran.stdout) == (7, True)


def test_a_broken_hook_is_found(installed: Installed) -> None:
    installed.fire(prompt("s1", 1, "hello"))
    installed.settled(1)
    installed.cli("daemon", "stop")
    # a worker that cannot come up: the event stays in the journal
    installed.home.ledger.unlink()
    installed.home.ledger.mkdir()
    assert grades(installed, "--no-hook")["ledger"] == "problem"


def test_open_permissions_are_found_and_repaired(installed: Installed) -> None:
    installed.fire(prompt("s1", 1, "hello"))
    installed.settled(1)
    installed.home.ledger.chmod(0o644)
    installed.home.journal.chmod(0o755)
    assert grades(installed, "--no-hook")["files"] == "problem"
    assert grades(installed, "--no-hook", "--repair")["files"] == "ok"
    assert stat.S_IMODE(installed.home.journal.stat().st_mode) == 0o700


@pytest.mark.parametrize("pages", [range(1), range(1, 12), range(8, 30)])
def test_a_damaged_ledger_is_rebuilt_from_the_journal_and_the_old_one_kept(installed: Installed, pages: range) -> None:
    for number in range(8):
        installed.fire(prompt("s1", number, f"statement {number}"))
    installed.settled(8)
    installed.cli("daemon", "stop")
    with Ledger.open(installed.home.ledger, SystemClock(), read_only=True) as ledger:
        before = fingerprint(ledger)
    with installed.home.ledger.open("r+b") as file:
        for page in pages:
            file.seek(page * 4096 + (100 if page == 0 else 0))
            file.write(b"\xa5" * 200)
    assert grades(installed, "--no-hook")["ledger"] == "problem"
    assert grades(installed, "--no-hook", "--repair")["ledger"] == "ok"
    with Ledger.open(installed.home.ledger, SystemClock(), read_only=True) as ledger:
        assert fingerprint(ledger) == before
    assert len(list(installed.home.root.glob("ledger.db.damaged-*"))) >= 1


def test_damage_in_the_journal_is_counted_shown_and_a_copy_kept(installed: Installed) -> None:
    for number in range(3):
        installed.fire(prompt("s1", number, f"statement {number}"))
    installed.settled(3)
    installed.cli("daemon", "stop")
    (segment,) = installed.home.journal.iterdir()
    with segment.open("ab") as file:
        file.write(b"\nH1 00000000 9 not right\n\nH1 torn")
    installed.fire(prompt("s1", 9, "after the damage"))
    installed.cli("daemon", "start")
    seen = installed.settled(4)
    assert (seen.stored.damaged, seen.stored.torn, seen.stored.turns) == (1, 1, 4)
    assert sorted(path.read_bytes() for path in installed.home.damage.iterdir()) == [b"H1 00000000 9 not right", b"H1 torn"]
    said = installed.cli("status").stdout
    assert "1 damaged, 1 torn" in said


def test_status_of_a_virgin_home_makes_nothing(installed: Installed, tmp_path: Path) -> None:
    ran = installed.cli("--home", str(tmp_path / "virgin"), "status", "--json")
    data = json.loads(ran.stdout)
    assert (ran.returncode, data["captured"], data["ingested"], data["worker"]["running"]) == (0, 0, 0, False)
    assert not (tmp_path / "virgin").exists()


def test_status_shows_what_waits_while_no_worker_can_run(installed: Installed) -> None:
    installed.home.ledger.mkdir()
    installed.fire(prompt("s1", 1, "hello"))
    log = installed.home.log / "worker.log"
    until(lambda: log.exists() and "ERROR" in log.read_text(), "an error in the log")
    ran = installed.cli("status")
    assert ran.returncode == 4 and "hint:" in ran.stderr and "Traceback" not in ran.stderr


def test_a_line_nobody_can_read_is_kept_and_shown(installed: Installed) -> None:
    installed.fire(b"this is not JSON")
    installed.fire({"hook_event_name": "Stop"}, agent="some-other-agent")
    seen = installed.settled(2)
    assert (seen.stored.unparsed, seen.stored.turns, seen.captured) == (2, 0, 2)


def test_the_demo_shows_what_it_promises_and_leaves_nothing(installed: Installed) -> None:
    ran = installed.cli("demo")
    assert ran.returncode == 0, ran.stderr
    told = ran.stdout.partition("session 3, in the same folder")[2]
    amended = "We decided to move the orders service from PostgreSQL to MySQL, because the hosting only offers MySQL."
    assert f"user: {amended}" in told and f'rests on what the user said: "{amended}" (journal ' in told
    assert "user, no longer so: We'll use PostgreSQL for the orders service, not MySQL." in told
    assert "12 turns in 1 session; lost 0" in ran.stdout and "in none of" in ran.stdout
    home = Path(ran.stdout.split()[1])
    assert not home.parent.exists()
