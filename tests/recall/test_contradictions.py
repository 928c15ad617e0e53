"""What is held back is never told, and what contradicts something is told as such; by every way of asking."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain import Memory
from hindbrain.base.clock import ManualClock, SystemClock
from hindbrain.base.home import Home
from hindbrain.ledger import reasoned
from hindbrain.ledger.statement import Statement
from hindbrain.ledger.store import Ledger
from hindbrain.recall import rank
from hindbrain.recall.context import Asked, build
from hindbrain.recall.contradictions import marked
from hindbrain.recall.left_out import left_out
from hindbrain.recall.search import Finder
from tests.conformance.reasoning import LATER, ONE, PLACE, RULES, TURNS, TWO, act, put, statement, tell
from tests.recall.homes import Said, by_hook, by_worker, payload
from tests.recall.homes import tell as tell_home

ALL = rank.Scope(None, everything=True)
USE = statement(TURNS[0], "We use Postgres for storage.", kind="preference")
NEVER = statement(LATER[0], "Never use Postgres.", kind="instruction")
SAID = {TURNS[0].id: USE.id, LATER[0].id: NEVER.id}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db", ManualClock()) as opened:
        tell(opened, PLACE, *TURNS, *LATER)
        put(opened, ONE, [USE])
        put(opened, TWO, [NEVER])
        yield opened


def contradict(ledger: Ledger) -> str:
    with ledger.writing() as database:
        return reasoned.contradict(database, USE.id, NEVER.id, "use Postgres / never use Postgres", 2_000)


def notes(ledger: Ledger, scope: rank.Scope = ALL) -> list[dict[str, str]]:
    """What is said of memories where rules are told, and where the turns that say them are found."""
    finder = Finder(None, None, lambda: 5_000)
    with ledger.reading() as database:
        rules = {each.id: each.disputed for each in rank.standing(database, scope)}
        hits = finder.search(database, "postgres", scope, 50)
        assert not [each.id for each in rank.search(database, "postgres", scope, 50) if each.kind != "turn"]
    assert all(each.kind == "turn" for each in hits), "told by the turns that say them"
    return [rules, {SAID[each.id]: each.disputed for each in hits if each.id in SAID}]


def test_both_sides_of_a_contradiction_are_told_as_such_and_the_note_itself_is_not(ledger: Ledger) -> None:
    assert notes(ledger) == [{USE.id: "", NEVER.id: ""}] * 2
    noted = contradict(ledger)
    found = notes(ledger)
    assert noted and all(set(each) == {USE.id, NEVER.id} for each in found)
    for each in found:
        assert each[USE.id] == f"contradicts [{NEVER.id[:6]}], said on 1970-01-01"
        assert each[NEVER.id] == f"contradicts [{USE.id[:6]}], said on 1970-01-01"


def test_an_agent_is_told_in_the_block(ledger: Ledger) -> None:
    contradict(ledger)
    with ledger.reading() as database:
        text, _ = build(database, Asked(ALL, prompt="which database do we use, postgres?"))
    lines = [line for line in text.splitlines() if "contradicts [m_" in line]
    assert len(lines) == 2 and all("said on 1970-01-01: " in line for line in lines), text


@pytest.mark.parametrize("end", ["superseded", "rejected", "gone"])
def test_a_contradiction_that_is_resolved_is_told_no_more(ledger: Ledger, end: str) -> None:
    noted = contradict(ledger)
    if end == "superseded":
        with ledger.writing() as database:
            assert reasoned.supersede(database, USE.id, NEVER.id, 3_000)
    elif end == "rejected":
        tell(ledger, *act("reject", noted))
    else:
        put(ledger, ONE, [])
    assert [each[NEVER.id] for each in notes(ledger)] == ["", ""]


def test_as_of_a_time_before_it_was_noted_there_is_no_contradiction(ledger: Ledger) -> None:
    contradict(ledger)
    found = notes(ledger, rank.Scope(None, everything=True, before=1_500))
    assert found == [{USE.id: "", NEVER.id: ""}] * 2


def test_what_is_held_back_is_not_told_and_counted_as_left_out(ledger: Ledger) -> None:
    put(ledger, TWO, [statement(LATER[0], "Never use Postgres.", kind="instruction", quarantine="an order")])
    assert notes(ledger)[0] == {USE.id: ""}
    with ledger.reading() as database:
        assert "1 memory held back until a person has looked at it" in left_out(database, "postgres", ALL)
    tell(ledger, *act("reject", NEVER.id))
    assert notes(ledger)[0] == {USE.id: ""}
    with ledger.reading() as database:
        assert not any("held back" in each for each in left_out(database, "postgres", ALL))


def test_digests_are_not_told_as_facts(ledger: Ledger) -> None:
    with ledger.writing() as database:
        reasoned.put_digest(database, ONE, "postgres in short", "postgres at length", RULES, 4_000)
    assert [set(each) for each in notes(ledger)] == [{USE.id, NEVER.id}] * 2


def test_odd_ids_harm_nothing(ledger: Ledger) -> None:
    hits = [rank.Found(each, "fact", "user", "x", 0, "", "", "", None, {}) for each in ('m_"]; DROP', "", "m_é", "m_x")]
    with ledger.reading() as database:
        assert [each.note for each in marked(database, hits, 1 << 60)] == ["", "", "", ""]


SOURCES = {"the hook": by_hook, "the worker": by_worker}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("call", ["UserPromptSubmit", "SessionStart"])
def test_the_hook_without_a_worker_marks_what_the_worker_marks(home: Path, memory: Memory, source: str, call: str) -> None:
    said = [Said("we keep the marmoset orders in Postgres"), Said("marmoset orders moved to MySQL", session="s2")]
    ids = tell_home(memory, said)
    with Ledger.open(Home(home).ledger, SystemClock()) as opened, opened.writing() as database:
        found = []
        for turn in ids:
            session, text = database.execute("SELECT session_id, text FROM turns WHERE id = ?", (turn,)).fetchone()
            found.append(statement_of(turn, text))
            reasoned.put(database, session, RULES, [found[-1]], 1)
        reasoned.supersede(database, found[0].id, found[1].id, 1_780_000_000_000)
    text = SOURCES[source](home, call, payload(call, "/p/one", "where are the marmoset orders kept, in Postgres or MySQL?"))
    told = [line.partition("] ")[2] for line in text.splitlines() if "marmoset" in line]
    assert told == ["user, no longer so: we keep the marmoset orders in Postgres", "user: marmoset orders moved to MySQL"]


def statement_of(turn: str, text: str) -> Statement:
    return Statement("decision", text, (turn,), text, 0.9)
