"""A home of a program whose ids were of the first version goes on: nothing is stored twice, and every id still names its turn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import NotFound
from hindbrain.base.home import Home
from hindbrain.capture.decode import events_of
from hindbrain.capture.event import Event
from hindbrain.capture.record import Recorder
from hindbrain.capture.transcript import follow
from hindbrain.journal.append import append
from hindbrain.journal.line import HOOK, frame
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.rebuild import fingerprint, rebuild
from hindbrain.ledger.store import Ledger
from hindbrain.serve.forgetting import finish
from tests.faults.homes import CLOCK, NOW, store, turn
from tests.recall.forgetting import holding
from tests.serve.commands import CommandLine
from tests.serve.sharing import Machine, machine, shared_ledger
from tests.serve.test_import import files, stored, write

GONE = "zqxwvorblatting"


def old(event: Event) -> Event:
    return replace(event, version=1)


def told(home: Home, *events: Event) -> list[str]:
    """Events in the journal of a home; their ids."""
    home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    recorder = Recorder(home.root)
    recorder.record(events, NOW)
    recorder.close()
    return [each.id for each in events]


def told_by_the_older(home: Home, *events: Event) -> list[str]:
    """Lines as the older program wrote them; the ids it gave."""
    return told(home, *(old(each) for each in events))


def read(path: Path) -> list[Event]:
    return list(follow(str(path), [path.parent], None, now_ms=NOW).events)


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return CommandLine(Home(tmp_path / "data"), tmp_path, capsys)


def test_transcripts_that_were_taken_in_before_are_known_to_an_import(run: CommandLine) -> None:
    path = write(run, "s1", 3)
    ids = told_by_the_older(run.home, *(each for each in read(path) if each.kind == "turn"))
    store(run.home)
    path = write(run, "s1", 4)
    planned = run.one("import", "claude-code", "--dry-run")
    assert (planned["turns_new"], planned["turns_known"]) == (1, 3)
    done = run.one("import", "claude-code")
    assert (done["turns_new"], done["turns_known"]) == (1, 3)
    assert [each for each, _ in stored(run)][:3] == ids
    assert len({text for _, text in stored(run)}) == len(stored(run)) == 4


def test_a_hook_of_the_older_program_and_the_transcript_are_one_turn(run: CommandLine) -> None:
    path = write(run, "s1", 1)
    said = f'"session_id": "s1", "transcript_path": "{path}", "cwd": "/p", "prompt_id": "p0"'
    payload = f'{{{said}, "hook_event_name": "UserPromptSubmit", "prompt": "s1 asks number 0"}}'.encode()
    run.home.root.mkdir(mode=0o700)
    append(os.fsencode(run.home.root), frame(HOOK, b"claude-code", NOW * 1_000_000, payload))
    run.one("import", "claude-code")
    with Ledger.open(run.home.ledger, SystemClock(), read_only=True) as ledger:
        rows = ledger.connection.execute("SELECT id, origins FROM turns").fetchall()
    (event,) = (each for each in read(path) if each.kind == "turn")
    assert rows == [(old(event).id, 9)]


@pytest.mark.parametrize("rebuilding", [False, True])
def test_a_turn_is_forgotten_by_the_id_the_older_program_showed(tmp_path: Path, rebuilding: bool) -> None:
    home = Home(tmp_path / "home")
    said = turn(1, text=f"a word about {GONE}", cwd="")
    (shown, _) = told_by_the_older(home, said, turn(4, cwd=""))
    store(home)
    with Memory.open(home=home.root) as memory:
        memory.record(agent=said.agent, session=said.session, role="user", text="said later", key="later")
        again = memory.record(agent=said.agent, session=said.session, role="user", text=said.text, key=said.key)
        memory.settle()
    if rebuilding:
        rebuild(home.archive, home.journal, events_of, tmp_path / "new.db", CLOCK)
        os.replace(tmp_path / "new.db", home.ledger)
        for side in ("-wal", "-shm"):
            (home.root / f"ledger.db{side}").unlink(missing_ok=True)
    with Memory.open(home=home.root) as memory:
        gone = memory.forget(id=shown)
        assert (gone.turns, gone.lines) == (1, 2), "its line of each version"
        assert again != shown and holding(home.root, GONE) == []
        memory.record(agent=said.agent, session=said.session, role="user", text=said.text, key=said.key)
        memory.settle()
        assert memory.search(GONE) == []
    rebuild(home.archive, home.journal, events_of, tmp_path / "anew.db", CLOCK)
    with Ledger.open(tmp_path / "anew.db", CLOCK) as anew, Ledger.open(home.ledger, CLOCK) as kept:
        assert fingerprint(anew)["turns"] == fingerprint(kept)["turns"]
        assert anew.counts().turns == 2


def test_what_the_older_program_forgot_stays_forgotten(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    said = turn(1, text=f"a word about {GONE}", cwd="")
    told_by_the_older(home, forget_event([old(said).id], NOW + 5))
    with Memory.open(home=home.root) as memory:
        memory.record(agent=said.agent, session=said.session, role="user", text=said.text, key=said.key)
        memory.settle()
        assert memory.search(GONE) == []


def test_a_wish_of_the_older_program_leaves_no_line_of_the_newer(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    said = turn(1, text=f"a word about {GONE}", cwd="")
    told(home, said, old(forget_event([old(said).id], NOW + 5)))
    with Ledger.open(home.ledger, CLOCK) as ledger:
        assert finish(home, ledger, CLOCK) == 1
    assert holding(home.root, GONE) == []


def test_what_was_forgotten_is_not_read_from_a_transcript_again(run: CommandLine) -> None:
    path = write(run, "s1", 2)
    first = next(each for each in read(path) if each.kind == "turn")
    told_by_the_older(run.home, forget_event([old(first).id], NOW))
    assert run.one("import", "claude-code")["turns_new"] == 1
    assert not any(first.text.encode() in data for data in files(run.home.root).values())


def test_a_turn_recorded_again_answers_to_the_id_it_is_given_now(run: CommandLine) -> None:
    said = turn(1, text="a word", cwd="")
    (shown,) = told_by_the_older(run.home, said)
    with Memory.open(home=run.home.root) as memory:
        given = memory.record(agent=said.agent, session=said.session, role="user", text=said.text, key=said.key)
        memory.settle()
    assert given != shown
    assert run.one("show", given)["id"] == run.one("show", shown)["id"] == shown
    with Memory.open(home=run.home.root) as memory:
        assert memory.forget(id=given).turns == 1
        with pytest.raises(NotFound):
            memory.forget(id=shown)


def test_a_statement_kept_again_rests_on_the_turn_that_is_there(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with Memory.open(home=home.root) as memory:
        memory.remember("tabs, not spaces")
        memory.settle()
    with Ledger.open(home.ledger, SystemClock(), read_only=True) as ledger:
        query = "SELECT agent, client_id, key, at FROM turns JOIN sessions ON sessions.id = session_id"
        agent, session, key, at = ledger.connection.execute(query).fetchone()
    said = Event(kind="turn", agent=agent, session=session, role="user", key=key, at=at, origin="api", text="tabs, not spaces")
    (shown,) = told_by_the_older(home, said)  # the turn comes under its older id as well
    with Memory.open(home=home.root) as memory:
        memory.settle()
        (kept,) = memory.memories()
        assert [ground.turn_id for ground in memory.why(kept.id).turns] == [shown]


@pytest.fixture
def pair(tmp_path: Path, pg_url: str) -> Iterator[tuple[Machine, Machine]]:
    with machine(tmp_path / "laptop", pg_url) as laptop, machine(tmp_path / "desktop", pg_url) as desktop:
        yield laptop, desktop


@pytest.mark.parametrize("asking", ["laptop", "desktop"])
def test_machines_that_know_a_turn_by_ids_of_two_versions_forget_it_together(
    pair: tuple[Machine, Machine], asking: str
) -> None:
    laptop, desktop = pair
    said = turn(1, text=f"a word about {GONE}", cwd="")
    told_by_the_older(laptop.home, said)
    laptop.tell("something else")
    with desktop.memory() as memory:
        memory.record(agent=said.agent, session=said.session, role="user", text=said.text, key=said.key)
        memory.settle()
    with laptop.local() as one, desktop.local() as two, shared_ledger(laptop.url) as three:
        known = [{row[0] for row in connection.execute("SELECT id FROM turns WHERE key = ?", (said.key,)).fetchall()}
                 for connection in (one.connection, two.connection)]  # fmt: skip
        with three.reading() as connection:
            known.append({row[0] for row in connection.execute("SELECT id FROM turns WHERE key = ?", (said.key,)).fetchall()})
    assert known == [{old(said).id}, {said.id}, {old(said).id}]
    first, second = (laptop, desktop) if asking == "laptop" else (desktop, laptop)
    with first.memory() as memory:
        assert memory.forget(id=old(said).id).turns == 1
    second.tell("a new day")
    assert [holding(each.home.root, GONE) for each in pair] == [[], []]
    assert first.found(GONE) == second.found(GONE) == []


@pytest.mark.parametrize("by", ["older", "newer"])
def test_a_wish_of_another_machine_is_taken_over_under_its_id(pair: tuple[Machine, Machine], by: str) -> None:
    laptop, desktop = pair
    wish = forget_event(["e_" + "0" * 24], NOW)
    written = old(wish) if by == "older" else wish
    told(laptop.home, written)
    laptop.tell("something")
    desktop.tell("something else")
    desktop.tell("and more")
    with laptop.local() as one, desktop.local() as two:
        wishes = [each.connection.execute("SELECT id FROM events WHERE kind = 'forget'").fetchall() for each in (one, two)]
    assert wishes == [[(written.id,)]] * 2
