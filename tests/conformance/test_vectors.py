"""Vectors on both engines: what is said or kept waits for them, what is embedded is stored once, what goes takes them along."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import LedgerError
from hindbrain.capture.event import Event
from hindbrain.ledger import vectors
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.memories import memory_event, memory_id
from hindbrain.ledger.rebuild import fingerprint
from hindbrain.ledger.vectors import Piece, Placed, Row, Waiting
from tests.conformance.states import is_sound, rows
from tests.engines import NewLedger
from tests.ledger.making import batch, event, record

PIECE = Piece(0, 5, b"\x01\x7f\x81", b"\xf0" * 32)


def said(key: str, text: str, **fields: Any) -> Event:
    return event(key=key, at=int(key, 36), text=text, **fields)


def remember(turn: Event, text: str, at: int = 50) -> Event:
    detail = {"turn": turn.id, "kind": "fact", "scope": "global"}
    return memory_event("remember", agent="hindbrain", session="s1", at=at, text=text, detail=detail)


def take_in(ledger: Evidence, *events: Event, start: int = 0) -> None:
    ledger.ingest(batch(*(record(start + 10 * number, each) for number, each in enumerate(events))))


def use(ledger: Evidence, name: str = "m1") -> bool:
    with ledger.writing() as database:
        return vectors.use_model(database, name)


def waits(ledger: Evidence, limit: int = 100) -> list[Waiting]:
    with ledger.transaction() as database:
        return vectors.waiting(database, limit)


def store(ledger: Evidence, items: list[Waiting], *pieces: Piece, model: str = "m1") -> int:
    with ledger.transaction() as database:
        return vectors.store(database, model, [(item, pieces) for item in items])


def embed_all(ledger: Evidence, *pieces: Piece) -> None:
    use(ledger)
    assert store(ledger, waiting := waits(ledger), *pieces) == len(waiting)


def counts(ledger: Evidence) -> tuple[int, int]:
    with ledger.reading() as database:
        return vectors.counts(database)


def held(ledger: Evidence) -> list[Any]:
    return rows(ledger, 'SELECT model, turn, memory, place, start, "end", vector FROM vectors ORDER BY id')


def test_what_is_said_and_kept_waits_and_what_tools_say_does_not(ledger: Evidence) -> None:
    turns = [said("1", "asked"), said("2", "answered", role="assistant"), said("3", "ran", role="tool_call"),
             said("4", "gave", role="tool_result")]  # fmt: skip
    take_in(ledger, *turns, remember(turns[0], "kept"), event(kind="notice", key="n"))
    found = waits(ledger)
    assert [(each.turn, each.memory, each.text) for each in found[1:]] == [(1, None, "asked"), (2, None, "answered")]
    assert (found[0].turn, found[0].text) == (None, "kept")
    assert counts(ledger) == (0, 3)
    with ledger.reading() as database:
        assert (vectors.waiting(database, 2), vectors.model(database)) == (found[:2], "")
    assert is_sound(ledger)


def test_vectors_are_kept_by_passage_and_told_as_they_were_stored(ledger: Evidence) -> None:
    take_in(ledger, said("1", "alpha beta"), said("2", "gamma"))
    assert (use(ledger), use(ledger)) == (True, False)
    first, second = waits(ledger)
    more = Piece(6, 10, b"\x80\x00\x01")
    with ledger.transaction() as database:
        assert vectors.store(database, "m1", [(first, [PIECE, more]), (second, [PIECE])]) == 2
    with ledger.reading() as database:
        assert vectors.model(database) == "m1"
        assert vectors.counts(database) == (3, 0)
        (session,) = database.execute("SELECT id FROM sessions").fetchone()
        placed = vectors.above(database, "m1", 0, 10)
        ids = [each.id for each in placed]
        assert placed == [Placed(ids[0], session, 1, PIECE.vector), Placed(ids[1], session, 1, more.vector),
                          Placed(ids[2], session, 2, PIECE.vector)]  # fmt: skip
        assert ids == sorted(set(ids))
        assert vectors.above(database, "m1", ids[0], 1) == placed[1:2]
        assert vectors.above(database, "other", 0, 10) == []
        stored = [Row(ids[0], 1, None, 0, 5, PIECE.vector), Row(ids[1], 1, None, 6, 10, more.vector),
                  Row(ids[2], 2, None, 0, 5, PIECE.vector)]  # fmt: skip
        assert vectors.fetch(database, [ids[2], ids[1], 999_999]) == stored[1:]
        assert vectors.of_items(database, "m1", [1, 2, 77], ["m_none"]) == stored
        assert vectors.of_items(database, "m0", [1, 2], []) == vectors.of_items(database, "m1", [], []) == []
        assert vectors.fetch(database, []) == []
    assert is_sound(ledger)


def test_a_changed_text_waits_again_and_an_older_one_cannot_pass_for_it(ledger: Evidence) -> None:
    take_in(ledger, said("1", "as the transcript has it", origin="transcript"))
    use(ledger)
    old = waits(ledger)
    take_in(ledger, said("1", "as the hook has it"), start=10)
    new = waits(ledger)
    assert [each.text for each in new] == ["as the hook has it"]
    assert new[0].stamp != old[0].stamp
    assert store(ledger, old, PIECE) == 0
    assert (held(ledger), waits(ledger)) == ([], new)
    assert store(ledger, new, PIECE) == 1
    assert (counts(ledger), waits(ledger)) == ((1, 0), [])


def test_a_stamp_is_not_used_twice(ledger: Evidence) -> None:
    """One worker reads, another is quicker, the text changes: what the first one made is of the older text."""
    take_in(ledger, said("1", "as the transcript has it", origin="transcript"))
    use(ledger)
    slow = waits(ledger)
    assert store(ledger, waits(ledger), PIECE) == 1
    assert store(ledger, slow, Piece(0, 1, b"late")) == 0  # somebody else has done it
    take_in(ledger, said("1", "as the hook has it"), start=10)
    assert store(ledger, slow, Piece(0, 1, b"late")) == 0
    assert [each.text for each in waits(ledger)] == ["as the hook has it"]
    assert [row[-1] for row in held(ledger)] == [PIECE.vector]


def test_what_is_told_again_without_a_change_does_not_wait(ledger: Evidence) -> None:
    turn = said("1", "asked")
    take_in(ledger, turn, remember(turn, "kept"))
    embed_all(ledger, PIECE)
    again = said("1", "asked", origin="transcript")
    take_in(ledger, again, said("2", "ran", role="tool_result"), remember(turn, "kept"), start=50)
    take_in(ledger, said("2", "beside it: neighbours change, words do not"), start=90)
    assert [each.text for each in waits(ledger)] == ["beside it: neighbours change, words do not"]
    assert is_sound(ledger)


def test_storing_again_takes_the_place_of_all_there_was(ledger: Evidence) -> None:
    take_in(ledger, said("1", "as the transcript has it", origin="transcript"))
    embed_all(ledger, PIECE, Piece(5, 9, b"abc"), Piece(9, 12, b"def"))
    before = [row[0] for row in rows(ledger, "SELECT id FROM vectors")]
    take_in(ledger, said("1", "as the hook has it"), start=10)
    assert store(ledger, waits(ledger), Piece(0, 3, b"xyz")) == 1
    assert held(ledger) == [("m1", 1, None, 0, 0, 3, b"xyz")]
    assert not {row[0] for row in rows(ledger, "SELECT id FROM vectors")} & set(before)


def test_what_is_forgotten_takes_its_vectors_and_its_place_in_the_line_along(ledger: Evidence) -> None:
    turns = [said("1", "one"), said("2", "two"), said("3", "three")]
    kept = remember(turns[0], "kept")
    take_in(ledger, *turns, kept)
    embed_all(ledger, PIECE)
    assert counts(ledger) == (4, 0)
    take_in(ledger, forget_event([turns[0].id], 99), start=100)  # and the memory that rests on it
    assert [row[1:3] for row in held(ledger)] == [(2, None), (3, None)]
    late = said("4", "four")
    take_in(ledger, late, start=200)
    assert len(waits(ledger)) == 1
    take_in(ledger, forget_event([late.id, turns[1].id], 99), start=300)
    assert (counts(ledger), waits(ledger)) == ((1, 0), [])
    assert is_sound(ledger)


def test_a_forgotten_turn_that_was_in_hand_is_not_stored(ledger: Evidence) -> None:
    turns = [said("1", "one"), said("2", "two")]
    kept = remember(turns[0], "kept")
    take_in(ledger, *turns, kept)
    use(ledger)
    in_hand = waits(ledger)
    take_in(ledger, forget_event([turns[1].id, memory_id(kept.id)], 99), start=100)
    assert store(ledger, in_hand, PIECE) == 1
    assert [row[1:3] for row in held(ledger)] == [(1, None)]
    # the row number may be given to another turn, which waits for vectors of its own
    take_in(ledger, said("3", "three"), start=200)
    assert store(ledger, in_hand, PIECE) == 0
    assert [each.text for each in waits(ledger)] == ["three"]
    assert is_sound(ledger)


def test_with_another_model_everything_waits_and_old_vectors_answer_to_their_own_name(ledger: Evidence) -> None:
    turn = said("1", "one")
    take_in(ledger, turn, said("2", "two"), remember(turn, "kept"))
    embed_all(ledger, PIECE)
    assert use(ledger, "m2")
    assert (counts(ledger), len(held(ledger))) == ((0, 3), 3)
    assert store(ledger, waits(ledger), PIECE, model="m1") == 0  # who still has the old one in hand
    assert store(ledger, waits(ledger, 1), Piece(0, 1, b"new"), model="m2") == 1
    assert sorted(row[0] for row in held(ledger)) == ["m1", "m1", "m2"]
    assert counts(ledger) == (1, 2)
    assert is_sound(ledger)
    assert use(ledger, "m1")  # and back: what has its vectors still does not wait
    assert counts(ledger) == (2, 3)  # two waited already, and may be embedded again
    assert store(ledger, waits(ledger), PIECE) == 3
    assert counts(ledger) == (3, 0)
    assert is_sound(ledger)


def test_a_text_without_passages_is_done_and_found_nowhere(ledger: Evidence) -> None:
    take_in(ledger, said("1", ""), said("2", " \u2003 "))
    embed_all(ledger)
    assert counts(ledger) == (0, 0)
    with ledger.reading() as database:
        assert vectors.above(database, "m1", 0, 10) == []
        assert vectors.of_items(database, "m1", [1, 2], []) == []
    assert is_sound(ledger)


def test_very_long_texts_come_a_few_at_a_time(ledger: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "MAX_LETTERS", 100)
    take_in(ledger, said("1", "x" * 5_000_000), said("2", "y" * 60), said("3", "z" * 60), said("4", "short"))
    assert [len(each.text) for each in waits(ledger)] == [5_000_000]
    use(ledger)
    assert store(ledger, waits(ledger), *(Piece(number, number + 1, bytes(256)) for number in range(200))) == 1
    assert [each.text[:1] for each in waits(ledger)] == ["y"]
    store(ledger, waits(ledger), PIECE)
    assert [each.text[:1] for each in waits(ledger)] == ["z", "s"]
    assert waits(ledger, 0) == []


def test_a_misuse_is_refused_and_changes_nothing(ledger: Evidence) -> None:
    take_in(ledger, said("1", "one"))
    items = waits(ledger)
    with pytest.raises(LedgerError, match="before a model was named"):
        store(ledger, items, PIECE)
    with pytest.raises(LedgerError, match="has no name"):
        use(ledger, "")
    use(ledger)
    with pytest.raises(LedgerError, match="32 bytes: 3 were given"):
        store(ledger, items, Piece(0, 1, b"abc", b"abc"))
    with pytest.raises(LedgerError):
        store(ledger, items, Piece(5, 1, b"abc"))
    assert (held(ledger), waits(ledger)) == ([], items)


def test_vectors_that_are_missing_or_odd_are_found_and_made_anew(ledger: Evidence) -> None:
    turn = said("1", "one")
    take_in(ledger, turn, said("2", "two"), said("3", "three"), remember(turn, "kept"))
    embed_all(ledger, PIECE)
    with ledger.writing() as database:
        database.execute("DELETE FROM vectors WHERE turn = 1 OR memory IS NOT NULL")
        database.execute("UPDATE vectors SET vector = ? WHERE turn = 2", (b"too long",))
        database.execute("UPDATE vectors SET vector = ? WHERE turn = 3", (b"abc",))
    with ledger.reading() as database:
        assert list(vectors.differences(database)) == [
            "1 turns neither have vectors nor wait for them", "1 memories neither have vectors nor wait for them",
            "1 vectors are not as long as most of their model",
        ]  # fmt: skip
    with ledger.writing() as database:
        vectors.mend(database)
    assert [each.text for each in waits(ledger)] == ["kept", "one", "two"]
    assert counts(ledger) == (1, 3)
    assert is_sound(ledger)


def test_vectors_are_no_part_of_what_the_journal_determines(new_ledger: NewLedger) -> None:
    one, other = new_ledger(), new_ledger()
    for ledger in (one, other):
        take_in(ledger, said("1", "one"), said("2", "two"))
    embed_all(one, PIECE)
    assert fingerprint(one) == fingerprint(other)


TURNS = st.lists(st.builds(
    said, key=st.sampled_from("123456"), text=st.sampled_from(["alpha", "beta gamma", ""]), session=st.sampled_from(["s1", "s2"]),
    role=st.sampled_from(["user", "assistant", "tool_result"]), origin=st.sampled_from(["hook", "transcript"]),
), max_size=10)  # fmt: skip


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(turns=TURNS, size=st.integers(1, 4), gone=st.sets(st.integers(0, 9), max_size=3), often=st.integers(1, 3))
def test_whatever_comes_every_turn_has_vectors_of_its_text_or_waits(
    new_ledger: NewLedger, turns: list[Event], size: int, gone: set[int], often: int
) -> None:
    """The vector of a text is made of the text, so that a stale one shows."""
    ledger = new_ledger()
    use(ledger)
    for start in range(0, len(turns), size):
        lines = [record(10 * number, turns[number]) for number in range(start, min(start + size, len(turns)))]
        ledger.ingest(Batch(lines, [], {}))
        if start % often == 0:
            with ledger.transaction() as database:
                items = vectors.waiting(database, 2)
                vectors.store(database, "m1", [(each, [Piece(0, 1, (each.text or "-").encode()[:1])]) for each in items])
    take_in(ledger, forget_event([turns[number].id for number in gone if number < len(turns)], 99), start=500)
    waiting = {each.turn for each in waits(ledger)}
    for row, text in rows(ledger, "SELECT rowid, text FROM turns WHERE role IN ('user', 'assistant')"):
        stored = [vector for _, turn, _, _, _, _, vector in held(ledger) if turn == row]
        assert row in waiting or stored == [(text or "-").encode()[:1]]
    assert is_sound(ledger)
