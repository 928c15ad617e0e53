"""Statements a person has kept, corrected or pinned: what is found now, what was found then, and after a rebuild."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain import Memory
from hindbrain.base.clock import ManualClock, SystemClock
from hindbrain.base.errors import NotFound, UsageError
from hindbrain.base.home import Home
from hindbrain.capture.decode import events_of
from hindbrain.capture.event import Event
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.memories import memory_event, memory_id
from hindbrain.ledger.rebuild import rebuild
from hindbrain.ledger.store import Ledger
from tests.ledger.making import event, place_event, record
from tests.recall.homes import START, by_hook, payload


def found(memory: Memory, question: str, **how: object) -> list[tuple[str, str]]:
    return [(hit.kind, hit.text) for hit in memory.search(question, **how)]  # type: ignore[arg-type]


def test_a_statement_is_kept_and_found_once_with_its_kind(memory: Memory) -> None:
    kept = memory.remember("deploys go out on Tuesdays", kind="decision", project="shop")
    memory.settle()
    hits = memory.search("deploys Tuesdays", project="shop")
    assert [(hit.id, hit.kind, hit.text, hit.role) for hit in hits] == [(kept, "decision", "deploys go out on Tuesdays", "user")]


def test_a_correction_takes_the_statements_place_and_the_old_one_is_history(memory: Memory) -> None:
    day = timedelta(days=1)
    old = memory.remember("deploys go out on Tuesdays", kind="decision", project="shop", at=START)
    memory.settle()
    new = memory.correct(old, "deploys go out on Thursdays", at=START + day)
    memory.settle()
    assert found(memory, "deploys", project="shop") == [("decision", "deploys go out on Thursdays")]
    assert "Tuesdays" not in memory.context("deploys", project="shop").text
    before = memory.search("deploys", project="shop", as_of=START + day / 2)
    assert [(hit.id, hit.text) for hit in before] == [(old, "deploys go out on Tuesdays")]
    after = memory.search("deploys", project="shop", as_of=START + 2 * day)
    assert [hit.id for hit in after] == [new]
    assert memory.search("deploys", project="shop", as_of=START - day) == []


def test_a_correction_may_be_corrected(memory: Memory) -> None:
    kept = memory.remember("deploys on Monday", project="shop", at=START)
    for number, day in enumerate(("Tuesday", "Wednesday", "Thursday"), start=1):
        memory.settle()
        kept = memory.correct(kept, f"deploys on {day}", at=START + timedelta(days=number))
    memory.settle()
    assert found(memory, "deploys", project="shop") == [("fact", "deploys on Thursday")]


def test_what_is_kept_for_all_is_in_every_project_and_what_is_not_is_in_its_own(memory: Memory) -> None:
    memory.remember("marmosets for all", kind="preference")
    memory.remember("marmosets for the shop", kind="preference", project="shop")
    memory.record(agent="a", session="s", role="user", text="hello", project="farm")
    memory.settle()
    both = [("preference", "marmosets for all"), ("preference", "marmosets for the shop")]
    assert sorted(found(memory, "marmosets", project="shop")) == both
    for project in ("farm", "not stored yet"):
        assert found(memory, "marmosets", project=project) == [("preference", "marmosets for all")]
        assert "for all" in memory.context("anything", project=project).text


def test_a_pinned_statement_is_told_whatever_the_prompt_until_it_is_pinned_no_more(memory: Memory, home: Path) -> None:
    kept = memory.remember("the build machine is called heron", project="/p/one")
    memory.settle()
    start = payload("SessionStart", "/p/one", session="x")
    assert "heron" not in by_hook(home, "SessionStart", start)
    memory.pin(kept)
    memory.settle()
    said = by_hook(home, "SessionStart", start)
    assert "\nStanding rules:\n[m_" in said and "] fact, user: the build machine is called heron\n" in said
    memory.pin(kept, False)
    memory.settle()
    assert "heron" not in by_hook(home, "SessionStart", start)


def test_a_correction_of_a_pinned_statement_is_pinned(memory: Memory) -> None:
    kept = memory.remember("the build machine is called heron", project="shop", pinned=True)
    memory.settle()
    memory.correct(kept, "the build machine is called egret")
    memory.settle()
    text = memory.context("unrelated", project="shop").text
    assert "egret" in text and "heron" not in text


def test_what_took_a_forgotten_statements_place_stands_by_itself(memory: Memory, home: Path, tmp_path: Path) -> None:
    old = memory.remember("deploys go out on Tuesdays", kind="decision", project="shop", pinned=True)
    memory.settle()
    new = memory.correct(old, "deploys go out on Thursdays")
    memory.settle()
    memory.forget(id=old)
    places = Home(home)
    rebuild(places.archive, places.journal, events_of, tmp_path / "new.db", SystemClock())
    for path in (places.ledger, tmp_path / "new.db"):
        with Ledger.open(path, SystemClock()) as ledger:
            ((identifier, kind, text, scope, *_, pinned, _, indexed),) = statements(ledger)
            assert (identifier, text) == (new, "deploys go out on Thursdays")
            assert (kind, scope, pinned, indexed) == ("decision", "project", 1, 1)


@pytest.mark.parametrize("act", ["correct", "pin"])
def test_a_statement_that_is_not_there_cannot_be_changed(memory: Memory, act: str) -> None:
    memory.remember("something")
    memory.settle()
    with pytest.raises(NotFound, match="there is no memory m_0"):
        memory.correct("m_0", "other") if act == "correct" else memory.pin("m_0")


@pytest.mark.parametrize(("text", "kind"), [("", "fact"), (" \n", "fact"), ("something", "gossip"), ("something", "")])
def test_a_statement_without_words_or_of_no_kind_is_refused(memory: Memory, text: str, kind: str) -> None:
    with pytest.raises(UsageError):
        memory.remember(text, kind=kind)


def statements(ledger: Ledger) -> list[tuple[object, ...]]:
    query = """
        SELECT memories.id, kind, memories.text, scope, memories.project_id, valid_from, valid_to, superseded_by, pinned,
               (SELECT group_concat(role || coalesce(turn_id, target_memory_id), ' ') FROM
                (SELECT * FROM links WHERE memory_id = memories.id ORDER BY number)),
               (SELECT count(*) FROM memories_fts WHERE memories_fts.id = memories.id)
        FROM memories ORDER BY memories.id
    """
    return ledger.connection.execute(query).fetchall()


def test_kept_statements_survive_a_rebuild(memory: Memory, home: Path, tmp_path: Path) -> None:
    first = memory.remember("deploys go out on Tuesdays", kind="decision", project="shop", at=START)
    rule = memory.remember("answer briefly", kind="preference")
    memory.settle()
    memory.correct(first, "deploys go out on Thursdays", at=START + timedelta(days=1))
    memory.pin(rule)
    memory.settle()
    places = Home(home)
    rebuild(places.archive, places.journal, events_of, tmp_path / "new.db", SystemClock())
    with Ledger.open(places.ledger, SystemClock()) as old, Ledger.open(tmp_path / "new.db", SystemClock()) as new:
        assert len(statements(old)) == 3
        assert statements(new) == statements(old)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("kept") / "empty.db"
    Ledger.open(path, ManualClock()).close()
    yield path


def act(op: str, at: int, turn: Event, target: str = "", **more: bool | str) -> Event:
    detail: dict[str, object] = {"turn": turn.id, **({"target": target} if target else {}), **more}
    return memory_event(op, agent="hindbrain", session="kept", at=at, text=turn.text, detail=detail)  # type: ignore[arg-type]


@st.composite
def acts(draw: st.DrawFn) -> list[Event]:
    """Things a person does with statements, in any order of time, each with the turn that is its evidence."""
    events: list[Event] = [place_event("/p", "path:/p", 1)]
    known: list[str] = []
    said: dict[str, tuple[str, str]] = {}
    for number in range(draw(st.integers(1, 7))):
        at = draw(st.integers(1, 9))
        turn = event(agent="hindbrain", session="kept", key=f"t{number}", at=at, text=f"text {number}", cwd="/p")
        op = draw(st.sampled_from(["remember", "correct", "pin", "forget"])) if known else "remember"
        target = draw(st.sampled_from(known)) if known else ""
        if op == "forget":
            events.append(forget_event([target, *said[target]], 100 + number))  # as the library does, with its evidence
            continue
        if op == "pin":
            events.append(act("pin", at, turn, target, pinned=draw(st.booleans())))
            continue
        scope = draw(st.sampled_from(["project", "global"]))
        made = act(op, at, turn, target if op == "correct" else "", scope=scope, kind="fact")
        events += [turn, made]
        known.append(memory_id(made.id))
        said[known[-1]] = (turn.id, made.id)
    return events


_numbers = itertools.count()


def folded(empty: Path, events: list[Event], seed: int) -> list[tuple[object, ...]]:
    path = empty.with_name(f"{next(_numbers)}.db")
    shutil.copyfile(empty, path)
    choose = random.Random(seed)
    lines = [*events, *(each for each in events if choose.random() < 0.3)] if seed else list(events)
    if seed:
        choose.shuffle(lines)
    with Ledger.open(path, ManualClock()) as ledger:
        ledger.connection.execute("PRAGMA synchronous = OFF")
        start = 0
        while lines:
            size = choose.randint(1, 4)
            ledger.ingest(Batch([record(start + 10 * each, line) for each, line in enumerate(lines[:size])], [], {}))
            start += 10 * size
            del lines[:size]
        result = statements(ledger)
    path.unlink()
    return result


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(events=acts(), seed=st.integers(1, 1 << 20))
def test_what_is_kept_does_not_depend_on_the_order_of_arrival(empty: Path, events: list[Event], seed: int) -> None:
    assert folded(empty, events, seed) == folded(empty, events, 0)
