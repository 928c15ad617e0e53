"""What is forgotten is gone from every file of the home, and is turned away when it comes again (P13)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import LedgerBusy, NotFound, UsageError
from hindbrain.base.home import Home
from hindbrain.capture.decode import events_of
from hindbrain.journal.pack import pack
from hindbrain.journal.read import archives, segments
from hindbrain.ledger.check import problems
from hindbrain.ledger.rebuild import rebuild
from hindbrain.ledger.store import Ledger
from hindbrain.serve.asking import Asking
from hindbrain.serve.drain import Drain, Drained
from tests.crash.strace import Fault, calls, first_numbers, run_with
from tests.recall.forgetting import holding
from tests.recall.homes import Said, payload, tell
from tests.recall.test_injection import Agent
from tests.serve.test_transcripts import line

GONE = "zqxwvorblatting"  # what is to be forgotten says this, and nothing else does
STAYS = "kyjhumberdracking"


def archived(home: Path) -> None:
    """What was stored so far goes into an archive: the segment is sealed, so the next line begins another."""
    for path in segments(home / "journal"):
        path.chmod(0o400)
    with Memory.open(home=home) as memory:
        memory.record(agent="a", session="later", role="user", text="something said later", project="other")
        memory.settle()
    with Ledger.open(Home(home).ledger, SystemClock()) as ledger:
        drain = Drain(Home(home), ledger, SystemClock(), [], follows=False)
        drain.archive(0)
        drain.close()
    assert archives(home / "archive")


def rebuilt(home: Path, where: Path) -> set[str]:
    """All texts of a ledger made anew from journal and archives."""
    places = Home(home)
    where.mkdir()
    rebuild(places.archive, places.journal, events_of, where / "new.db", SystemClock())
    return texts(where / "new.db")


def texts(path: Path) -> set[str]:
    with Ledger.open(path, SystemClock()) as ledger:
        assert problems(ledger) == []
        tables = ("turns", "events", "memories")
        return {row[0] for table in tables for row in ledger.connection.execute(f"SELECT text FROM {table}")}


def filled(memory: Memory) -> dict[str, str]:
    """Something to forget in each way, next to something that stays; by what it is called."""
    ids = tell(memory, [
        Said(f"before {STAYS}", session="s1"), Said(f"a turn about {GONE} here", session="s1"),
        Said(f"after {STAYS}", session="s1", role="assistant"), Said("nothing to do with it", session="s2", project="/p/two"),
    ])  # fmt: skip
    return {"turn": ids[1], "before": ids[0]}


@pytest.mark.parametrize("in_archive", [False, True])
def test_a_forgotten_turn_is_in_no_file(memory: Memory, home: Path, tmp_path: Path, in_archive: bool) -> None:
    ids = filled(memory)
    if in_archive:
        archived(home)
    assert [name for name in holding(home, GONE) if "journal" in name or "archive" in name]
    assert [name for name in holding(home, GONE) if name.startswith("ledger.db")]
    gone = memory.forget(id=ids["turn"])
    assert (gone.turns, gone.memories, gone.sessions, gone.lines) == (1, 0, 0, 1)
    assert holding(home, GONE) == []
    assert memory.search(GONE, project="/p/one") == []
    assert {hit.text for hit in memory.search(STAYS, project="/p/one")} == {f"before {STAYS}", f"after {STAYS}"}
    assert not any(GONE in text for text in rebuilt(home, tmp_path / "rebuilt"))
    assert {f"before {STAYS}", f"after {STAYS}"} <= texts(tmp_path / "rebuilt" / "new.db")
    assert holding(tmp_path / "rebuilt", GONE) == []


@pytest.mark.parametrize("in_archive", [False, True])
def test_a_forgotten_statement_takes_its_evidence_along(memory: Memory, home: Path, tmp_path: Path, in_archive: bool) -> None:
    kept = memory.remember(f"statement about {GONE}", project="/p/one")
    other = memory.remember(f"statement about {STAYS}", project="/p/one")
    memory.settle()
    memory.pin(kept)
    memory.settle()
    if in_archive:
        archived(home)
    gone = memory.forget(id=kept)
    assert (gone.turns, gone.memories) == (1, 1)
    assert holding(home, GONE) == []
    memory.remember("one more, so that all are put together anew")
    memory.settle()
    assert memory.search(GONE, project="/p/one") == []
    assert [hit.id for hit in memory.search(STAYS, project="/p/one")] == [other]
    assert not any(GONE in text for text in rebuilt(home, tmp_path / "rebuilt"))


def test_a_forgotten_session_is_gone_with_all_it_said_and_may_go_on(memory: Memory, home: Path, tmp_path: Path) -> None:
    tell(memory, [Said(f"{GONE} number {number}", session="s1", minute=number + 1) for number in range(5)])
    tell(memory, [Said(f"{STAYS}", session="s2")])
    gone = memory.forget(session="s1")
    assert (gone.turns, gone.sessions, gone.lines) == (5, 1, 5)
    assert holding(home, GONE) == []
    memory.record(agent="claude-code", session="s1", role="user", text=f"{STAYS} again", project="/p/one")
    memory.settle()
    assert {hit.text for hit in memory.search(STAYS, project="/p/one")} == {STAYS, f"{STAYS} again"}
    assert not any(GONE in text for text in rebuilt(home, tmp_path / "rebuilt"))


def test_a_session_whose_clock_runs_ahead_is_forgotten_too(memory: Memory, home: Path) -> None:
    ahead = datetime.now(UTC) + timedelta(days=400)
    for number in range(3):
        memory.record(agent="a", session="s1", role="user", text=f"{GONE} {number}", at=ahead + timedelta(days=number))
    memory.settle()
    assert memory.forget(session="s1").turns == 3
    assert holding(home, GONE) == []


def test_a_forgotten_project_is_gone_with_its_sessions_and_statements(memory: Memory, home: Path, tmp_path: Path) -> None:
    tell(memory, [Said(f"{GONE} {number}", session=f"s{number}", project="/p/gone") for number in range(3)])
    tell(memory, [Said(STAYS, session="s9", project="/p/stays")])
    memory.remember(f"rule about {GONE}", kind="instruction", project="/p/gone")
    memory.remember(f"rule about {STAYS}", kind="instruction")
    memory.settle()
    gone = memory.forget(project="/p/gone")
    assert (gone.turns, gone.memories) == (4, 1)
    assert holding(home, GONE) == []
    assert memory.search(GONE) == []
    assert len(memory.search(STAYS, project="/p/stays")) == 2
    assert not any(GONE in text for text in rebuilt(home, tmp_path / "rebuilt"))


def test_what_was_forgotten_is_turned_away_when_it_is_recorded_again(memory: Memory, home: Path) -> None:
    ids = filled(memory)
    memory.forget(id=ids["turn"])
    assert filled(memory)["turn"] == ids["turn"]
    assert memory.search(GONE, project="/p/one") == []


def test_copies_of_the_text_go_too(memory: Memory, home: Path) -> None:
    ids = filled(memory)
    with Ledger.open(Home(home).ledger, SystemClock()) as ledger:
        Asking(Home(home), SystemClock()).answer(ledger, "SessionStart", dict(payload("SessionStart", "/p/one")))
    assert [name for name in holding(home, GONE) if name.startswith("prepared/")]
    for name in ("damage", "archive"):
        (home / name).mkdir(exist_ok=True)
    (home / "damage" / "x-1.bin").write_text(GONE)
    (home / "archive" / ".x.log.gz.1.tmp").write_text(GONE)
    (home / "journal" / ".x.log.1.tmp").write_text(GONE)
    (home / "ledger.db.before-0002").write_text(GONE)
    memory.forget(id=ids["turn"])
    assert holding(home, GONE) == []


def follow(home: Path, roots: list[Path], path: Path) -> None:
    """As a worker does that has lost its place in a transcript: from the beginning."""
    with Ledger.open(Home(home).ledger, SystemClock()) as ledger:
        with ledger.writing() as connection:
            connection.execute("DELETE FROM cursors WHERE source LIKE 'transcript:%'")
        drain = Drain(Home(home), ledger, SystemClock(), roots)
        drain.follow(str(path), Drained())
        drain.run()
        drain.close()


@pytest.mark.parametrize("what", ["id", "session"])
def test_a_transcript_followed_again_does_not_bring_it_back(memory: Memory, home: Path, tmp_path: Path, what: str) -> None:
    root = tmp_path / "claude" / "projects"
    path = root / "-p-one" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(line("user", f"tell me of {GONE}") + line("assistant", [{"type": "text", "text": f"{STAYS} it is"}]))
    memory.settle()
    follow(home, [root], path)
    (hit,) = memory.search(f"tell {GONE}", k=1)
    gone = memory.forget(id=hit.id) if what == "id" else memory.forget(session="s1")
    assert gone.turns == (1 if what == "id" else 2)
    assert holding(home, GONE) == []
    follow(home, [root], path)
    assert holding(home, GONE) == []
    assert memory.search(GONE) == []
    assert len(memory.search(STAYS)) == (1 if what == "id" else 0)


def test_lines_of_hooks_are_forgotten_like_all_others(memory: Memory, home: Path, tmp_path: Path) -> None:
    agent = Agent(home)
    agent.call("", payload("UserPromptSubmit", "/p/one", f"tell me of {GONE}", session="s1", prompt_id="p1"))
    agent.call("", payload("UserPromptSubmit", "/p/one", f"tell me of {STAYS}", session="s1", prompt_id="p2"))
    memory.settle()
    (hit,) = [hit for hit in memory.search(f"tell {GONE}") if GONE in hit.text]
    assert memory.forget(id=hit.id).lines == 1
    assert holding(home, GONE) == []
    assert [hit.text for hit in memory.search(STAYS)] == [f"tell me of {STAYS}"]


@pytest.mark.parametrize("wish", [{}, {"id": "e_1", "session": "s"}, {"id": "e_1", "session": "s", "project": "p"}])
def test_a_wish_that_names_nothing_or_too_much_is_refused(memory: Memory, wish: dict[str, str]) -> None:
    filled(memory)
    with pytest.raises(UsageError):
        memory.forget(**wish)


@pytest.mark.parametrize("wish", [{"id": "e_1"}, {"session": "never"}, {"project": "never"}, {"id": "' OR 1=1 --"}, {"id": "%"}])
def test_what_is_not_stored_cannot_be_forgotten(memory: Memory, wish: dict[str, str]) -> None:
    filled(memory)
    with pytest.raises(NotFound):
        memory.forget(**wish)
    assert len(memory.search(GONE, project="/p/one")) == 3  # itself and its two neighbours


def test_what_is_recorded_meanwhile_is_kept(memory: Memory, home: Path) -> None:
    ids = filled(memory)
    recorded, stop = list[str](), threading.Event()

    def record() -> None:
        with Memory.open(home=home) as other:
            for number in range(300):
                if stop.is_set():
                    break
                recorded.append(other.record(agent="a", session="busy", role="user", text=f"{STAYS} {number}", project="/p/one"))

    threads = [threading.Thread(target=record) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        memory.forget(id=ids["turn"])
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    memory.settle()
    assert holding(home, GONE) == []
    with Ledger.open(Home(home).ledger, SystemClock()) as ledger:
        stored = {row[0] for row in ledger.connection.execute("SELECT id FROM turns")}
    assert set(recorded) <= stored and recorded


@pytest.mark.slow  # it waits out the time a busy ledger is given
def test_a_reader_in_the_way_is_told_of_and_the_rest_is_done_later(memory: Memory, home: Path) -> None:
    """A program that holds an old view keeps the old pages from being emptied; nobody is told then that all is gone."""
    ids = filled(memory)
    with Ledger.open(Home(home).ledger, SystemClock(), read_only=True) as reader, reader.reading() as connection:
        connection.execute("SELECT count(*) FROM turns").fetchone()
        with pytest.raises(LedgerBusy):
            memory.forget(id=ids["turn"])
        assert (home / "forgetting").exists()
    completed(home)
    assert holding(home, GONE) == []


def completed(home: Path) -> None:
    """The next worker comes, does what was left, and leaves."""
    argv = [sys.executable, "-m", "hindbrain", "--home", str(home), "daemon", "run", "--on-demand"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "HINDBRAIN_WORKER_IDLE_SECONDS": "0"}
    ran = subprocess.run(argv, env=environ, capture_output=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert not (home / "forgetting").exists()


FORGET = "import sys; from hindbrain import Memory; Memory.open(home=sys.argv[1]).forget(id=sys.argv[2])"


@pytest.mark.strace
@pytest.mark.timeout(900)
def test_a_wish_cut_off_anywhere_is_completed_by_the_next_worker(tmp_path: Path) -> None:
    whole, log = tmp_path / "whole", tmp_path / "log"
    with Memory.open(home=whole) as memory:
        ids = filled(memory)
    archived(whole)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    def command(home: Path) -> list[str]:
        return [sys.executable, "-c", FORGET, str(home), ids["turn"]]

    dry = tmp_path / "dry"
    shutil.copytree(whole, dry)
    lines = calls(command(dry), b"", environ, log)
    assert holding(dry, GONE) == []
    first = first_numbers(lines, lambda text: ".forgetting." in text or "/forgetting" in text)
    cut = 0
    for name in first.keys() & {"fdatasync", "fsync", "rename", "unlink", "pwrite64", "write", "ftruncate", "openat"}:
        total = sum(f"{name}(" in text for text in lines)
        numbers = sorted({first[name], (first[name] + total) // 2, total - 1, (first[name] + 3 * total) // 4})
        for number in (each for each in numbers if first[name] <= each <= total):
            home = tmp_path / f"{name}-{number}"
            shutil.copytree(whole, home)
            ran = run_with(Fault(name, "signal=KILL", number), command(home), b"", environ, log)
            cut += ran.injected
            completed(home)
            judged(home, f"{name} {number}")
            shutil.rmtree(home)
    assert cut >= 8


def judged(home: Path, case: str) -> None:
    """The wish was durable and all of it is done, or it was not and nothing is changed."""
    with Ledger.open(Home(home).ledger, SystemClock()) as ledger:
        wished = ledger.connection.execute("SELECT count(*) FROM forgotten").fetchone()[0]
        assert problems(ledger) == [], case
        left = {row[0] for row in ledger.connection.execute("SELECT text FROM turns")}
    assert {f"before {STAYS}", f"after {STAYS}", "something said later"} <= left, case
    if wished:
        assert holding(home, GONE) == [], case
    else:
        assert any(GONE in text for text in left), case


def test_the_search_of_bytes_finds_a_word_in_each_kind_of_file(tmp_path: Path) -> None:
    (tmp_path / "a.log.gz").write_bytes(pack(f"x {GONE} y\n".encode() * 100))
    (tmp_path / "b").write_text(json.dumps({"text": GONE.upper()}))
    (tmp_path / "c").write_text("nothing")
    assert holding(tmp_path, GONE) == ["a.log.gz", "b"]

