"""What a person says is done, or wrote into a file, counts whatever comes when; on every engine."""

from __future__ import annotations

import pytest

from hindbrain.capture.event import Event, Json
from hindbrain.ledger import reasoned
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.memories import memory_event, memory_id
from hindbrain.reason.dream import fades
from tests.conformance.reasoning import LATER, ONE, PLACE, RULES, TEXTS, TURNS, TWO, act, put, standing, statement, tell
from tests.conformance.states import is_sound, rows
from tests.ledger.making import event

ENDS = "SELECT id, valid_to FROM memories ORDER BY valid_from, id"


def remembered(text: str, at: int = 9_000, **more: Json) -> list[Event]:
    said = event(agent="hindbrain", session="kept", key=f"k {text} {at}", at=at, text=text, cwd="/p")
    detail: dict[str, Json] = {"turn": said.id, "kind": "task", "scope": "project", **more}
    return [said, memory_event("remember", agent="hindbrain", session="kept", at=at, text=text, detail=detail)]


def test_what_is_done_no_longer_holds_from_then_on_and_what_is_undone_holds(told: Evidence) -> None:
    found = statement(TURNS[0], kind="task")
    put(told, ONE, [found])
    for done, wanted in ((act("done", found.id, 9_000), 9_000), (act("undone", found.id, 9_100), None),
                         (act("done", found.id, 9_200), 9_200)):  # fmt: skip
        tell(told, *done)
        assert rows(told, ENDS) == [(found.id, wanted)]
        assert standing(told) == ([TEXTS[0]] if wanted is None else [])
        put(told, ONE, [found])
        put(told, ONE, [statement(TURNS[0], kind="task", why="found anew")])
        put(told, ONE, [])
        assert rows(told, ENDS) == [(found.id, wanted)], "found again or not, the person's word counts"
    assert is_sound(told)


def test_a_word_that_is_forgotten_leaves_no_trace(told: Evidence) -> None:
    found = statement(TURNS[0], kind="task")
    put(told, ONE, [found])
    before = rows(told, "SELECT * FROM memories")
    words = [*act("done", found.id, 9_000), *act("undone", found.id, 9_100), *act("done", found.id, 9_200)]
    tell(told, *words)
    tell(told, forget_event([words[2].id], 9_998))
    assert rows(told, ENDS) == [(found.id, None)]
    tell(told, forget_event([each.id for each in words], 9_999))
    assert rows(told, "SELECT * FROM memories") == before


def test_what_is_done_keeps_how_it_stood_when_it_is_found_anew(told: Evidence) -> None:
    found = statement(TURNS[0], kind="task")
    put(told, ONE, [found])
    with told.writing() as database:
        database.execute("UPDATE memories SET confidence = 0.3")  # it has faded somewhat
    word = act("done", found.id, 9_000)
    tell(told, *word)
    put(told, ONE, [found])
    assert rows(told, "SELECT confidence, valid_to FROM memories") == [(0.3, 9_000)]
    put(told, ONE, [statement(TURNS[0], kind="task", why="found anew")])
    tell(told, forget_event([word[0].id], 9_999))
    assert rows(told, "SELECT confidence, valid_to FROM memories") == [(0.8, None)]


def test_the_order_in_which_words_arrive_does_not_matter(ledger: Evidence) -> None:
    found, kept = statement(TURNS[0], kind="task"), remembered("Rotate the keys.", 500)
    made = memory_id(kept[1].id)
    tell(ledger, *act("undone", found.id, 9_300), *act("done", made, 9_100))
    tell(ledger, *act("done", found.id, 9_200))
    tell(ledger, PLACE, *TURNS, *kept)
    put(ledger, ONE, [found])
    assert rows(ledger, ENDS) == [(found.id, None), (made, 9_100)]
    tell(ledger, *act("done", found.id, 9_400))
    assert rows(ledger, ENDS) == [(found.id, 9_400), (made, 9_100)]


def test_a_word_from_before_a_statement_ends_it_where_it_began(told: Evidence) -> None:
    found = statement(LATER[0], kind="task")
    put(told, TWO, [found])
    tell(told, *act("done", found.id, 5))
    assert rows(told, ENDS) == [(found.id, 1_000)]


def test_what_a_person_had_kept_can_be_done_and_undone(told: Evidence) -> None:
    kept = remembered("Rotate the keys.")
    made = memory_id(kept[1].id)
    tell(told, *kept)
    tell(told, *act("done", made, 9_100))
    assert rows(told, ENDS) == [(made, 9_100)]
    tell(told, *act("pin", made, 9_150))
    assert rows(told, ENDS) == [(made, 9_100)]
    tell(told, *act("undone", made, 9_200))
    assert standing(told) == ["Rotate the keys."]
    tell(told, *act("correct", made, 9_300, text="Rotate all keys."), *act("done", made, 9_400))
    assert standing(told) == ["Rotate all keys."], "what was replaced stays replaced, and what took its place is not done"
    assert rows(told, "SELECT valid_to FROM memories WHERE id = ?", (made,)) == [(9_300,)]
    assert is_sound(told)


def test_what_is_done_does_not_come_back_when_what_had_replaced_it_goes(told: Evidence) -> None:
    old, new = statement(TURNS[0]), statement(LATER[2])
    put(told, ONE, [old])
    put(told, TWO, [new])
    with told.writing() as database:
        assert reasoned.supersede(database, old.id, new.id, 1_002)
    tell(told, *act("done", old.id, 9_000))
    assert rows(told, ENDS) == [(old.id, 1_002), (new.id, None)]
    tell(told, *act("reject", new.id, 9_100))
    assert rows(told, ENDS) == [(old.id, 9_000), (new.id, None)]
    tell(told, *act("undone", old.id, 9_200))
    assert standing(told) == [TEXTS[0]]
    put(told, TWO, [])
    assert is_sound(told)


def test_what_faded_holds_again_when_a_person_says_so_and_does_not_fade_any_more(told: Evidence) -> None:
    found = statement(TURNS[0], kind="task")
    put(told, ONE, [found])
    with told.writing() as database:
        database.execute("UPDATE memories SET valid_to = 7000")
        assert fades(reasoned.known(database, [found.id])[found.id])
    word = act("undone", found.id, 9_000)
    tell(told, *word)
    assert standing(told) == [TEXTS[0]]
    with told.reading() as database:
        assert not fades(reasoned.known(database, [found.id])[found.id])
    tell(told, forget_event([word[0].id], 9_999))
    assert rows(told, ENDS) == [(found.id, 7_000)]


def test_a_contradiction_ends_with_one_of_its_sides(told: Evidence) -> None:
    first, second = statement(TURNS[0]), statement(TURNS[2])
    put(told, ONE, [first, second])
    with told.writing() as database:
        assert reasoned.contradict(database, first.id, second.id, "they differ", 600)
        reasoned.mark_reflected(database, [first.id, second.id])
    tell(told, *act("done", first.id, 9_000))
    assert rows(told, "SELECT count(*) FROM memories WHERE level = 'contradiction'") == [(0,)]
    tell(told, *act("undone", first.id, 9_100))
    assert rows(told, "SELECT id FROM memories WHERE reflected = 0") == [(first.id,)], "it is looked at again"


def test_an_insight_that_is_made_anew_is_still_done(told: Evidence) -> None:
    found = [statement(turn) for turn in TURNS[:2]]

    def made() -> str:
        put(told, ONE, found)
        with told.writing() as database:
            return reasoned.put_insight(database, "insight", "it fits", [each.id for each in found], "global", None, RULES, 600)

    insight = made()
    tell(told, *act("done", insight, 9_000))
    tell(told, forget_event([found[1].id], 9_500))
    found.pop()
    assert made() == insight
    assert rows(told, "SELECT valid_to FROM memories WHERE id = ?", (insight,)) == [(9_000,)]
    assert is_sound(told)


@pytest.mark.parametrize(("told_trust", "trust"), [("human_file", "human_file"), ("user", "user"), ("tool", "user"), (7, "user")])
def test_what_a_person_wrote_into_a_file_is_trusted_as_that(told: Evidence, told_trust: Json, trust: str) -> None:
    found = statement(TURNS[0])
    put(told, ONE, [found])
    tell(told, *remembered("The port is 5433.", trust=told_trust))
    tell(told, *act("edit", found.id, 9_100, text="We use SQLite.", trust=told_trust))
    by_person = "SELECT text, trust FROM memories WHERE made_by = 'person' ORDER BY valid_from"
    assert rows(told, by_person) == [("The port is 5433.", trust), ("We use SQLite.", trust)]
    made = rows(told, "SELECT id FROM memories WHERE text = 'We use SQLite.'")[0][0]
    word = act("accept", made, 9_200)
    tell(told, *word)
    assert rows(told, by_person)[1] == ("We use SQLite.", "user")
    tell(told, *act("pin", made, 9_300))
    assert rows(told, by_person)[1] == ("We use SQLite.", "user")
    tell(told, forget_event([word[0].id], 9_999))
    assert rows(told, by_person)[1] == ("We use SQLite.", trust)


def test_an_edit_may_say_of_which_kind_it_is_and_why(told: Evidence) -> None:
    kept = remembered("Use SQLite.")
    made = memory_id(kept[1].id)
    edited = act("edit", made, 9_100, text="Use SQLite for all.", why="one file", instead_of="", **{"as": "decision"})
    other = act("edit", memory_id(edited[1].id), 9_200, text="Use SQLite for everything.", **{"as": "gossip"})
    tell(told, *kept, *edited, *other)
    query = "SELECT kind, text, detail FROM memories ORDER BY valid_from"
    assert rows(told, query) == [
        ("task", "Use SQLite.", "{}"), ("decision", "Use SQLite for all.", '{"why":"one file"}'),
        ("decision", "Use SQLite for everything.", "{}"),
    ]  # fmt: skip
