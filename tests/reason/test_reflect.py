"""What new statements do to what stands: the newest wins, in whatever order they arrive, on both engines."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from hindbrain.capture.event import Event, session_id
from hindbrain.ledger import reasoned
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.known import Known
from hindbrain.ledger.statement import Statement
from hindbrain.reason.changes import Change, Contradict, Insight, Reinforce, Supersede
from hindbrain.reason.likeness import Likeness
from hindbrain.reason.partners import PARTNERS, Partners
from hindbrain.reason.reflect import apply, founded, judge, reflect
from hindbrain.reason.reflecting import compared
from tests.conformance.reasoning import RULES, tell
from tests.conformance.states import is_sound, rows
from tests.engines import NewLedger
from tests.ledger.making import event, place_event
from tests.reason.knowing import by_words, know

POSTGRES = know("m1", "Use Postgres for the orders.", at=10)
MYSQL = know("m2", "We moved the orders to MySQL.", at=20)
SQLITE = know("m3", "MySQL is out, the orders are on SQLite now.", at=30)


def short(changes: Sequence[Change]) -> list[tuple[str, ...]]:
    """Changes in few words."""
    told: list[tuple[str, ...]] = []
    for change in changes:
        match change:
            case Supersede():
                told.append(("supersede", change.old, change.new))
            case Contradict():
                told.append(("contradict", change.other, change.one))
            case Reinforce():
                told.append(("reinforce", change.old, change.new))
            case Insight():
                told.append(("insight", change.text, *change.supports))
            case _:
                told.append(("other",))
    return told


def test_the_newer_takes_the_olders_place_whichever_arrives_first() -> None:
    assert short(reflect([MYSQL], [POSTGRES, MYSQL], by_words)) == [("supersede", "m1", "m2")]
    assert short(reflect([POSTGRES], [MYSQL], by_words)) == [("supersede", "m1", "m2")]
    assert short(reflect([MYSQL, POSTGRES], [], by_words)) == [("supersede", "m1", "m2")]


def test_another_tool_for_the_same_is_found_even_where_no_word_is_shared() -> None:
    old, new = know("m1", "We stay on Core Data.", at=10), know("m2", "Settled on GRDB after all.", at=20)
    assert short(reflect([new], [old, MYSQL], by_words)) == [("supersede", "m1", "m2")]


def test_one_word_in_common_ends_nothing() -> None:
    old = know("m1", "New tables get UUIDv7 primary keys", at=10)
    new = know("m2", "JWT signing switches to EdDSA, RS256 keys are retired", at=20)
    assert short(reflect([new], [old], by_words)) == []


def test_a_change_says_how_it_was_before() -> None:
    (change,) = reflect([MYSQL], [POSTGRES], by_words)
    assert isinstance(change, Supersede) and 0.5 < change.sure < 1.0
    assert change == Supersede("m1", "m2", 20, "said otherwise later",
                               {"confidence": 0.8, "valid_to": None, "superseded_by": None, "seen": 1}, change.sure)  # fmt: skip


def test_what_was_superseded_still_supersedes_what_came_before_it() -> None:
    gone = replace(MYSQL, superseded_by="m3", valid_to=30)
    assert ("supersede", "m1", "m2") in short(reflect([POSTGRES], [gone, SQLITE], by_words))


def test_a_pinned_memory_is_contradicted_and_stays() -> None:
    assert short(reflect([MYSQL], [replace(POSTGRES, pinned=True)], by_words)) == [("contradict", "m1", "m2")]


def test_a_rule_for_everywhere_is_not_replaced_by_what_one_project_says_without_a_word_of_change() -> None:
    everywhere = know("m1", "indent with tabs in all code", "instruction", 10, scope="global")
    here = know("m2", "indent with spaces in all code", "instruction", 20)
    assert judge(here, everywhere, by_words).said == "contradicts"
    assert judge(replace(here, text="from now on indent with spaces in all code"), everywhere, by_words).said == "supersedes"


def test_what_is_held_back_or_of_another_project_or_no_statement_changes_nothing() -> None:
    others = [replace(MYSQL, held="quarantine"), replace(MYSQL, held="rejected"), replace(MYSQL, project_id="p2"),
              replace(MYSQL, level="digest_long"), replace(MYSQL, level="contradiction")]  # fmt: skip
    assert [reflect([each], [POSTGRES], by_words) for each in others] == [[]] * len(others)


def test_what_somebody_else_decided_of_a_pair_is_kept_but_replaces_no_pin_and_no_persons_word() -> None:
    agent = replace(MYSQL, trust="assistant")
    for older, newer, found in ((POSTGRES, MYSQL, "supersede"), (replace(POSTGRES, pinned=True), MYSQL, "contradict"),
                                (POSTGRES, agent, "contradict")):  # fmt: skip
        assert short(reflect([newer], [older], by_words, {("m2", "m1"): "supersedes"})) == [(found, "m1", "m2")]
    assert reflect([MYSQL], [POSTGRES], by_words, {("m2", "m1"): ""}) == []


REVIEW = know("m1", "Never push to main without a review by Ada.", "instruction", 10)
UNRELATED = {
    "one word in common": ("We deploy the orders service to main cluster by helm.", {}, "contradict"),
    "nothing in common": ("The API listens on port 8085.", {}, ""),
    "it says that it replaces something else": ("The API listens on port 8085.", {"instead_of": "port 80"}, ""),
    "beside it stands what it is about": ("Force is fine.", {"before": "We push to main all day."}, "contradict"),
    "another word for it": ("Force pushes to main are fine from now on.", {}, "supersede"),
    "it says what it replaces": ("Whoever is awake may merge.", {"instead_of": "the review by Ada"}, "supersede"),
}


@pytest.mark.parametrize("name", UNRELATED)
def test_a_model_s_word_ends_nothing_of_which_the_newer_one_does_not_speak(name: str) -> None:
    text, detail, wanted = UNRELATED[name]
    newer = know("m2", text, "instruction", 20, detail=detail)
    decided = {("m2", "m1"): "supersedes"}
    known = know("m3", f"{text} {REVIEW.text}", "fact", 5)  # so that the two are compared at all
    told = [each for each in short(reflect([newer], [REVIEW, known], by_words, decided)) if {"m1", "m2"} <= {*each}]
    assert told == ([(wanted, "m1", "m2")] if wanted else [])
    assert founded(newer, REVIEW, "supersedes", by_words) == (f"{wanted}s" if wanted else "")


def test_a_model_may_see_a_change_that_rules_do_not() -> None:
    older, newer = know("m1", "Uploads wait for the virus scan.", at=10), know("m2", "The virus scan runs behind uploads.", at=20)
    assert reflect([newer], [older], by_words) == []
    assert short(reflect([newer], [older], by_words, {("m2", "m1"): "supersedes"})) == [("supersede", "m1", "m2")]


def test_two_sides_of_one_turn_are_both_meant() -> None:
    one, other = (replace(each, session_id="s", valid_from=10) for each in (POSTGRES, MYSQL))
    assert reflect([one, other], [], by_words) == []


def test_later_in_one_session_only_what_says_that_it_changes_something_does() -> None:
    older = know("m1", "the timeout for uploads is 30 seconds", at=1, session_id="s")
    plain = know("m2", "the timeout for uploads is 60 seconds", at=2, session_id="s")
    said = replace(plain, text="the timeout for uploads is 60 seconds now")
    assert (judge(plain, older, by_words).said, judge(said, older, by_words).said) == ("", "supersedes")
    assert judge(replace(plain, kind="correction"), older, by_words).said == "supersedes"


def test_a_contradiction_of_what_was_superseded_in_the_same_breath_is_not_told() -> None:
    first = know("m1", "the rate limit is 100 requests per minute", "fact", 1)
    heard = know("m2", "the rate limit is 60 requests per minute afaik", "fact", 2)
    settled = know("m3", "the rate limit is now 200 requests per minute", "decision", 3)
    assert short(reflect([first, heard], [], by_words)) == [("contradict", "m1", "m2")]
    told = short(reflect([first, heard, settled], [], by_words))
    assert ("contradict", "m1", "m2") not in told and ("supersede", "m1", "m3") in told


AGREEING = [
    know("m1", "run make lint before every commit", "instruction", 1),
    know("m2", "as always, run make lint before the commit", "instruction", 2),
    know("m3", "again: make lint before you commit, as always", "instruction", 3),
]


def test_what_three_sessions_agree_on_is_an_insight_in_the_best_words_with_its_supports() -> None:
    insights = [each for each in reflect(AGREEING[2:], AGREEING[:2], by_words) if isinstance(each, Insight)]
    assert insights == [Insight("instruction", AGREEING[2].text, ("m1", "m2", "m3"), "project", "p1")]


@pytest.mark.parametrize(
    "told",
    [
        ("Never edit files under vendor/", "Never edit generated files by hand", "Never edit files of the licence, as always"),
        ("run make lint before every commit", "run make test before every commit", "run make docs before each commit, as always"),
        ("the orders service runs on MySQL", "the orders service stays on MySQL", "the orders service stays on PostgreSQL"),
    ],
)
def test_three_that_share_words_and_say_different_things_are_no_insight(told: tuple[str, ...]) -> None:
    said = [know(f"m{number}", text, "instruction", number) for number, text in enumerate(told)]
    for likeness in (Likeness(), lambda one, other: 1.0):
        assert not [each for each in reflect(said, [], likeness) if isinstance(each, Insight)]


def test_what_is_said_three_times_in_one_session_is_none() -> None:
    once = [replace(each, session_id="s") for each in AGREEING]
    assert not [each for each in reflect(once[2:], once[:2], by_words) if isinstance(each, Insight)]


def test_what_tools_say_three_times_is_none() -> None:
    tools = [replace(each, kind="fact", trust="tool") for each in AGREEING]
    assert not [each for each in reflect(tools[2:], tools[:2], by_words) if isinstance(each, Insight)]


def test_an_insight_in_other_words_of_fewer_is_replaced() -> None:
    made = know("i1", AGREEING[0].text, "instruction", 2, level="derived", session_id=None)
    (insight,) = [each for each in reflect(AGREEING[2:], [*AGREEING[:2], made], by_words) if isinstance(each, Insight)]
    assert (insight.text, insight.replaces) == (AGREEING[2].text, ("i1",))


def test_a_statement_is_compared_with_few_of_many_and_the_right_one_is_among_them() -> None:
    choose = random.Random(3)
    words = [f"{first}{second}{third}" for first in "bdfg" for second in "aeio" for third in ("lun", "mar", "ner", "pak", "rus")]
    many = [know(f"x{number:05}", " ".join(choose.choices(words, k=9)), "fact", number) for number in range(10_000)]
    asked: list[str] = []

    def counting(one: str, other: str) -> float:
        asked.append(one)
        return by_words(one, other)

    new = [replace(MYSQL, id=f"n{number}", valid_from=20_000 + number, text=f"We moved the orders{number} table to MySQL.")
           for number in range(50)]  # fmt: skip
    old = [replace(POSTGRES, id=f"o{number}", text=f"Use Postgres for the orders{number} table.") for number in range(50)]
    partners = Partners([*many, *old])
    assert max(len(partners.of(each)) for each in new) == PARTNERS <= 30
    found = short(reflect(new, [*many, *old], counting))
    assert {("supersede", f"o{number}", f"n{number}") for number in range(50)} <= set(found)
    assert len(asked) <= 50 * PARTNERS * 2


SAID = [
    ("s1", 100, "decision", "Use Postgres for the orders service."),
    ("s2", 200, "decision", "We moved the orders service to MySQL."),
    ("s3", 300, "decision", "MySQL is out, the orders service is on SQLite now."),
    ("s4", 150, "instruction", "run make lint before every commit"),
    ("s5", 250, "instruction", "as always, run make lint before the commit"),
    ("s6", 350, "instruction", "again: make lint before you commit, as always"),
    ("s7", 120, "fact", "the rate limit is 100 requests per minute"),
    ("s8", 220, "fact", "the rate limit is 60 requests per minute afaik"),
    ("s9", 130, "task", "still to do: rotate the signing keys"),
    ("s10", 330, "fact", "rotating the signing keys is done"),
]


def turn(said: tuple[str, int, str, str]) -> Event:
    session, at, _, text = said
    return event(session=session, key=f"turn of {session}", at=at, text=text, cwd="/p")


def end_state(ledger: Evidence, order: Sequence[int]) -> dict[str, Any]:
    """What stands after statements were found one after the other and reflected on each time."""
    tell(ledger, place_event("/p", "git:h/p", 3), *(turn(each) for each in SAID))
    (project,) = rows(ledger, "SELECT id FROM projects")[0]
    for number in order:
        session, _, kind, text = SAID[number]
        found = Statement(kind, text, (turn(SAID[number]).id,), text, 0.8)
        with ledger.writing() as database:
            reasoned.put(database, session_id("claude-code", session), RULES, [found], 5_000)
            new = reasoned.unreflected(database, project)
            apply(database, reflect(new, compared(database, project), by_words), 9_000)
            reasoned.mark_reflected(database, [each.id for each in new])
    memories = "SELECT id, level, kind, text, confidence, valid_from, valid_to, superseded_by FROM memories ORDER BY id"
    links = "SELECT memory_id, role, turn_id, target_memory_id FROM links ORDER BY 1, 2, 3, 4"
    assert is_sound(ledger)
    return {"memories": rows(ledger, memories), "links": sorted(rows(ledger, links), key=str)}


def test_whatever_the_order_of_arrival_the_same_stands_in_the_end(new_ledger: NewLedger) -> None:
    orders = [list(range(len(SAID))), list(reversed(range(len(SAID))))]
    for seed in range(3):
        random.Random(seed).shuffle(mixed := list(range(len(SAID))))
        orders.append(mixed)
    states = [end_state(new_ledger(), order) for order in orders]
    standing = {row[3] for row in states[0]["memories"] if row[6] is None}
    assert SAID[2][3] in standing and not {SAID[0][3], SAID[1][3], SAID[8][3]} & standing
    levels = sorted(row[1] for row in states[0]["memories"])
    assert [level for level in levels if level != "observation"] == ["contradiction", "derived"]
    assert all(state == states[0] for state in states)


@pytest.mark.parametrize("turned", [False, True])
def test_how_sure_a_change_is_decides_in_the_ledger_and_outlasts_a_dream_that_is_taken_back(
    new_ledger: NewLedger, turned: bool
) -> None:
    ledger = new_ledger()
    tell(ledger, place_event("/p", "git:h/p", 3), *(turn(each) for each in SAID))
    found = [Statement(kind, text, (turn(SAID[number]).id,), text, 0.8) for number, (_, _, kind, text) in enumerate(SAID[:3])]
    with ledger.writing() as database:
        for (session, *_), each in zip(SAID, found, strict=False):
            reasoned.put(database, session_id("claude-code", session), RULES, [each], 5_000)
        first, second, third = (each.id for each in found)
        changes = [Supersede(first, second, 200, "", {}, 0.9), Supersede(first, third, 300, "", {}, 0.6)]
        assert apply(database, changes[::-1] if turned else changes, 9_000) == 2
    replaced = f"SELECT superseded_by, valid_to FROM memories WHERE id = '{first}'"
    sure = "SELECT memory_id, sure FROM links WHERE role = 'supersedes' ORDER BY sure"
    before = rows(ledger, sure)
    assert rows(ledger, replaced) == [(second, 200)] and before == [(third, 0.6), (second, 0.9)]
    with ledger.writing() as database:
        apply(database, [Supersede(second, third, 400, "", {})], 9_100, dream="nap")
        database.execute("DELETE FROM links WHERE role = 'supersedes' AND memory_id = ?", (second,))  # gone since the dream
        reasoned.undo(database, "nap", 9_200)
    assert (rows(ledger, replaced), rows(ledger, sure)) == ([(second, 200)], before)


def test_a_decision_in_the_first_person_replaces_another_and_what_is_told_of_two_days_does_not() -> None:
    old, new = know("m1", "The export writes csv files", at=10), know("m2", "I asked Ana: the export moves to parquet", at=20)
    assert short(reflect([new], [old], by_words)) == [("supersede", "m1", "m2")]
    days = know("m1", "I went to the lake on Monday", "fact", 10), know("m2", "I no longer go to the lake on Monday", "fact", 20)
    assert judge(days[1], days[0], by_words).said == ""


@pytest.mark.parametrize("seed", range(4))
def test_of_any_set_of_statements_the_pairs_found_do_not_depend_on_which_are_new(seed: int) -> None:
    choose = random.Random(seed)
    every: list[Known] = [know(f"m{number}", text, kind, at) for number, (_, at, kind, text) in enumerate(SAID)]
    whole = lasting(reflect(every, [], by_words))
    choose.shuffle(every)
    split = choose.randrange(len(every))
    first, second = every[:split], every[split:]
    assert lasting([*reflect(first, [], by_words), *reflect(second, first, by_words)]) == whole


def lasting(changes: Sequence[Change]) -> set[tuple[str, ...]]:
    """Contradictions and insights depend on what stands when they are found."""
    return {each for each in short(changes) if each[0] in ("supersede", "reinforce")}
