"""What reasoning keeps: reconciled with what is found, and tied to its evidence; on every engine."""

from __future__ import annotations

from typing import Any

import pytest

from hindbrain.base.errors import LedgerError
from hindbrain.capture.event import session_id
from hindbrain.ledger import reasoned
from hindbrain.ledger.carry import carry
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.reasoned import BadStatement, Put, Reading
from tests.conformance.reasoning import LATER, ONE, PLACE, RULES, TEXTS, TURNS, TWO, put, standing, statement, tell
from tests.conformance.states import is_sound, rows
from tests.engines import NewPair
from tests.ledger.making import event, place_event


def test_a_session_is_read_whole_and_in_order_with_what_its_tools_did(ledger: Evidence) -> None:
    call = event(key="c", at=2_000, role="tool_call", tool="Bash", text="Bash: make", detail={"command": "make", "file": "/p/x"})
    result = event(key="r", at=2_001, role="tool_result", tool="Bash", text="boom", detail={"error": True})
    pasted = event(key="p", at=2_002, text="a page", detail={"trust": "human_file"})
    boast = event(key="b", at=2_003, role="assistant", text="trust me", detail={"trust": "user"})
    tell(ledger, result, boast, call, pasted)
    with ledger.reading() as database:
        found = reasoned.said(database, ONE)
        assert reasoned.said(database, "s_none") == []
    assert found == [
        reasoned.Said(call.id, "tool_call", "Bash: make", "Bash", 2_000, False, "make", ("/p/x",)),
        reasoned.Said(result.id, "tool_result", "boom", "Bash", 2_001, True),
        reasoned.Said(pasted.id, "user", "a page", "", 2_002, trust="human_file"),
        reasoned.Said(boast.id, "assistant", "trust me", "", 2_003),
    ]


def test_what_a_subagent_is_told_is_not_the_users_word(ledger: Evidence) -> None:
    tell(ledger, event(session="s1/child", parent="s1", text="do this"))
    with ledger.reading() as database:
        (found,) = reasoned.said(database, session_id("claude-code", "s1/child"))
    assert (found.role, found.trust) == ("user", "assistant")


def test_a_statement_becomes_a_memory_with_its_evidence(told: Evidence) -> None:
    found = statement(TURNS[0], why="it is there", turns=(TURNS[0].id, TURNS[3].id), instead_of="files")
    assert put(told, ONE, [found]) == Put([found.id], [], [])
    project = rows(told, "SELECT id FROM projects")[0][0]
    with told.reading() as database:
        (known,) = reasoned.current(database, project)
        lineage = reasoned.why(database, found.id)
    assert known == reasoned.Known(
        found.id, "observation", "decision", TEXTS[0], 0.8, "user", "project", project, ONE, 100, None, None, "", RULES,
        False, False, {"quote": TEXTS[0], "why": "it is there", "instead_of": "files", "found": 0.8, "trust": "user"},
    )
    assert [(each.turn_id, each.at) for each in lineage.grounds()] == [(TURNS[0].id, 100), (TURNS[3].id, 400)]
    assert is_sound(told)


def test_what_its_turn_says_beside_a_statement_is_noted_and_goes_with_the_turn(told: Evidence) -> None:
    turn = event(session="s1", key="beside", at=600, text="Oysters were too slow.  Use Redis.\nAsk Zoë first.", cwd="/p")
    tell(told, turn)
    found = statement(turn, "Use Redis.", quote="Use Redis.")
    put(told, ONE, [found])
    with told.reading() as database:
        known = reasoned.known(database, [found.id])[found.id]
    assert (known.detail["before"], known.detail["after"]) == ("Oysters were too slow.", "Ask Zoë first.")
    before = rows(told, "SELECT * FROM memories ORDER BY id")
    assert put(told, ONE, [found]) == Put() and rows(told, "SELECT * FROM memories ORDER BY id") == before
    tell(told, forget_event([turn.id], 9_000))
    assert not [row for row in rows(told, "SELECT * FROM memories") if "Oysters" in str(row)] and is_sound(told)


def test_reading_again_changes_nothing_and_adds_and_removes_what_differs(told: Evidence) -> None:
    first, second, third = (statement(turn) for turn in TURNS[:3])
    assert put(told, ONE, [first, second]).new == sorted([first.id, second.id])
    before = rows(told, "SELECT * FROM memories ORDER BY id")
    assert put(told, ONE, [second, first, first]) == Put()
    assert rows(told, "SELECT * FROM memories ORDER BY id") == before
    assert put(told, ONE, [third, first], "model:small/1") == Put([third.id], [second.id], [])
    assert standing(told) == [TEXTS[0], TEXTS[2]]
    assert rows(told, "SELECT DISTINCT made_by FROM memories") == [("model:small/1",)]
    assert put(told, ONE, []) == Put([], sorted([first.id, third.id]), [])
    assert rows(told, "SELECT * FROM links") == []
    assert is_sound(told)


def test_sessions_do_not_touch_each_other(told: Evidence) -> None:
    put(told, ONE, [statement(TURNS[0])])
    put(told, TWO, [statement(LATER[1])])
    assert put(told, ONE, []).gone == [statement(TURNS[0]).id]
    assert standing(told) == [TEXTS[1]]


@pytest.mark.parametrize("wrong", [
    {"kind": "gossip"}, {"scope": "galaxy"}, {"trust": "nobody"}, {"text": "  "}, {"quote": ""}, {"turns": ()},
    {"confidence": 1.5}, {"confidence": float("nan")}, {"quote": "never said"}, {"trust": "tool", "kind": "instruction"},
    {"trust": "tool", "kind": "preference"},
], ids=str)  # fmt: skip
def test_a_statement_that_breaks_a_rule_is_refused_with_all_others(told: Evidence, wrong: dict[str, Any]) -> None:
    with pytest.raises(BadStatement):
        put(told, ONE, [statement(TURNS[1]), statement(TURNS[0], **wrong)])
    assert rows(told, "SELECT * FROM memories") == []


def test_no_evidence_no_memory(told: Evidence) -> None:
    found = [statement(TURNS[0], turns=("e_none",)), statement(TURNS[0], turns=(TURNS[0].id, LATER[0].id))]
    assert put(told, ONE, found) == Put()
    assert put(told, "s_none", [statement(TURNS[0])]) == Put()


def test_a_session_without_a_project_keeps_only_what_is_global(ledger: Evidence) -> None:
    tell(ledger, *TURNS)
    found = [statement(TURNS[0]), statement(TURNS[1], scope="global")]
    assert put(ledger, ONE, found) == Put([found[1].id], [], [found[0].id])
    tell(ledger, PLACE)
    assert put(ledger, ONE, found) == Put([found[0].id], [], [])


def test_what_was_found_follows_its_session_to_another_project(told: Evidence) -> None:
    put(told, ONE, [statement(TURNS[0])])
    tell(told, place_event("/p", "git:h/other", 99_999))
    assert rows(told, "SELECT identity FROM memories JOIN projects ON projects.id = project_id") == [("git:h/other",)]


def test_the_newer_takes_the_place_of_the_older_and_gives_it_back(told: Evidence) -> None:
    old, new = statement(TURNS[0]), statement(LATER[2])
    put(told, ONE, [old])
    put(told, TWO, [new])
    with told.writing() as database:
        assert reasoned.supersede(database, old.id, new.id, 1_002)
        assert reasoned.supersede(database, old.id, new.id, 1_002)
        assert not reasoned.supersede(database, new.id, old.id, 1_002)
        assert not reasoned.supersede(database, old.id, "m_none", 1_002)
    replaced = rows(told, "SELECT id, superseded_by, valid_to FROM memories WHERE superseded_by IS NOT NULL")
    assert replaced == [(old.id, new.id, 1_002)]
    assert standing(told) == [TEXTS[2]]
    put(told, TWO, [])
    assert standing(told) == [TEXTS[0]]
    assert rows(told, "SELECT reflected, valid_to FROM memories") == [(0, None)]


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_of_several_that_replace_one_the_surest_does_whichever_was_seen_first(told: Evidence, order: tuple[int, int]) -> None:
    found = [statement(TURNS[0]), statement(TURNS[1]), statement(TURNS[2])]
    put(told, ONE, found)
    ids = [each.id for each in found]
    for place in order:
        with told.writing() as database:
            assert reasoned.supersede(database, ids[0], ids[place], 1_000 + place, sure={1: 0.9, 2: 0.6}[place])
    replaced = "SELECT id, superseded_by, valid_to FROM memories WHERE superseded_by IS NOT NULL"
    assert rows(told, replaced) == [(ids[0], ids[1], 1_001)]
    put(told, ONE, [found[0], found[2]])
    assert rows(told, replaced) == [(ids[0], ids[2], 1_002)], "the next surest, once the surest has gone"


def test_how_sure_a_change_is_comes_along_to_another_engine(new_pair: NewPair) -> None:
    for here, there in (new_pair(), new_pair()[::-1]):
        found = [statement(TURNS[0]), statement(TURNS[1]), statement(TURNS[2])]
        first, second, third = (each.id for each in found)
        for ledger in (here, there):
            tell(ledger, PLACE, *TURNS)
        put(here, ONE, found)
        with here.writing() as database:
            assert reasoned.supersede(database, first, second, 1_001, sure=0.9)
            assert reasoned.supersede(database, first, third, 1_002, sure=0.6, joined=True)
        with here.reading() as old, there.writing() as new:
            assert carry(old, new).new == 3
        links = "SELECT memory_id, sure, joined FROM links WHERE role = 'supersedes' ORDER BY sure"
        assert rows(there, links) == [(third, 0.6, 1), (second, 0.9, 0)]
        with there.writing() as database:  # what is worked out anew there follows it
            assert reasoned.supersede(database, first, third, 1_003, sure=0.7)
        assert rows(there, "SELECT superseded_by FROM memories WHERE superseded_by IS NOT NULL") == [(second,)]


def test_three_cannot_replace_each_other_in_a_circle(told: Evidence) -> None:
    found = [statement(turn) for turn in TURNS[:3]]
    put(told, ONE, found)
    first, second, third = (each.id for each in found)
    with told.writing() as database:
        assert reasoned.supersede(database, first, second, 1)
        assert reasoned.supersede(database, second, third, 2)
        assert not reasoned.supersede(database, third, first, 3)
    put(told, ONE, found[:2])
    assert standing(told) == [TEXTS[1]]


def test_what_is_said_again_is_surer(told: Evidence) -> None:
    old, new = statement(TURNS[0]), statement(LATER[0])
    put(told, ONE, [old])
    put(told, TWO, [new])
    with told.writing() as database:
        assert reasoned.reinforce(database, old.id, new.id, 1_000)
        assert reasoned.reinforce(database, old.id, new.id, 1_000)
        known = reasoned.known(database, [old.id])[old.id]
    assert (known.confidence, known.detail["seen"]) == (0.86, 2)
    put(told, ONE, [old])
    assert rows(told, "SELECT confidence FROM memories WHERE session_id = ?", (ONE,)) == [(0.86,)]
    put(told, TWO, [])
    assert rows(told, "SELECT confidence FROM memories") == [(0.8,)]


def test_a_contradiction_is_noted_once_and_goes_with_a_side(told: Evidence) -> None:
    found = [statement(turn) for turn in TURNS[:3]]
    put(told, ONE, found)
    first, second, third = (each.id for each in found)
    with told.writing() as database:
        noted = reasoned.contradict(database, first, second, "they differ", 50)
        assert reasoned.contradict(database, second, first, "they differ", 60) == noted != ""
        assert [each.id for each in reasoned.review(database)] == [noted]
        assert len(list(reasoned.why(database, noted).grounds())) == 2
        assert reasoned.supersede(database, first, third, 70)
        assert reasoned.review(database) == []
        assert reasoned.contradict(database, first, second, "they differ", 80) == ""
    with told.writing() as database:
        assert reasoned.contradict(database, second, third, "they differ", 90)
    put(told, ONE, found[::2])
    assert rows(told, "SELECT level FROM memories WHERE level <> 'observation'") == []
    assert is_sound(told)


def test_an_insight_rests_on_what_supports_it_and_goes_with_it(told: Evidence) -> None:
    found = [statement(turn) for turn in TURNS[:3]]
    put(told, ONE, found)
    ids = [each.id for each in found]
    project = rows(told, "SELECT id FROM projects")[0][0]
    with told.writing() as database:
        made = reasoned.put_insight(database, "insight", "they like databases", ids, "project", project, RULES, 500)
        assert reasoned.put_insight(database, "insight", "they like databases", ids, "project", project, RULES, 600) == made
        assert reasoned.put_insight(database, "insight", "x", [*ids, "m_none"], "project", project, RULES, 500) == ""
        reasoned.mark_reflected(database, ids)
        assert reasoned.unreflected(database, project) == []
        assert {each.turn_id for each in reasoned.why(database, made).grounds()} == {turn.id for turn in TURNS[:3]}
        assert reasoned.known(database, [made])[made].confidence == 0.95
    with pytest.raises(LedgerError), told.writing() as database:
        reasoned.put_insight(database, "gossip", "x", ids, "project", project, RULES, 500)
    put(told, ONE, found[:2])
    with told.reading() as database:
        assert sorted(each.id for each in reasoned.unreflected(database, project)) == sorted(ids[:2])
    assert rows(told, "SELECT count(*) FROM memories WHERE level = 'derived'") == [(0,)]


def test_what_tools_said_supports_no_instruction(told: Evidence) -> None:
    found = statement(TURNS[0], kind="fact", trust="tool")
    put(told, ONE, [found])
    with pytest.raises(LedgerError), told.writing() as database:
        reasoned.put_insight(database, "instruction", "obey", [found.id], "global", None, RULES, 500)


def test_a_session_has_one_short_and_one_long_digest(told: Evidence) -> None:
    found = statement(TURNS[1])
    put(told, ONE, [found])
    with told.writing() as database:
        made = reasoned.put_digest(database, ONE, "short", "long", RULES, 700)
        assert reasoned.put_digest(database, ONE, "shorter", "longer", RULES, 800) == made
        lineage = reasoned.why(database, made[0])
        assert reasoned.put_digest(database, "s_none", "short", "long", RULES, 700) == []
    assert [each.turn_id for each in lineage.turns] == [TURNS[0].id, TURNS[-1].id]
    assert [(each.link, each.memory.id) for each in lineage.below] == [("digested_from", found.id)]
    wanted = [("digest_long", "longer"), ("digest_short", "shorter")]
    assert rows(told, "SELECT level, text FROM memories WHERE level <> 'observation' ORDER BY level") == wanted
    put(told, ONE, [])
    assert rows(told, "SELECT count(*) FROM memories") == [(2,)]
    assert is_sound(told)


def test_how_far_a_session_was_read_is_kept(ledger: Evidence) -> None:
    with ledger.writing() as database:
        assert reasoned.reading(database, ONE) == Reading(ONE)
        reasoned.set_reading(database, Reading(ONE, 3, RULES, 5))
        reasoned.set_reading(database, ONE, digested_at=9, digested_memories=2)
        assert reasoned.reading(database, ONE) == Reading(ONE, 3, RULES, 5, 9, 2)


def test_a_dream_taken_back_counts_no_evidence_that_was_forgotten_since(told: Evidence) -> None:
    first, second, third = statement(TURNS[0]), statement(LATER[0]), statement(TURNS[3])
    put(told, ONE, [first, third])
    put(told, TWO, [second])
    with told.writing() as database:
        assert all(reasoned.reinforce(database, first.id, each.id, 2_000) for each in (second, third))
        reasoned.note_change(database, "nap", first.id, at=3_000)
    tell(told, forget_event([LATER[0].id], 99_999))
    sure = rows(told, "SELECT confidence FROM memories WHERE id = ?", (first.id,))
    with told.writing() as database:
        assert reasoned.undo(database, "nap", 100_000) == 1
    assert rows(told, "SELECT confidence FROM memories WHERE id = ?", (first.id,)) == sure == [(0.86,)]
