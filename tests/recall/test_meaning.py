"""Search by meaning: the same on both engines, as exact as looking at every vector, and never outside of what was asked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hindbrain.ledger import memories, vectors
from hindbrain.ledger.database import Database, is_sqlite
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.recall import rank
from hindbrain.recall.matrix import Matrix
from hindbrain.recall.meaning import Meaning, Near
from hindbrain.recall.static import Static
from hindbrain.serve.embedding import adopt, embed_all
from tests.conformance import text_corpus
from tests.engines import NewPair, cluster, empty_file, new_pair
from tests.ledger.making import batch, event, place_event, record

__all__ = ["cluster", "empty_file", "new_pair"]

STATIC = Static.load()
EVERYWHERE = rank.Scope(None, everything=True)
Item = tuple[str, float, int, int]
Pair = tuple[Evidence, Evidence]


def told(ledger: Evidence) -> Evidence:
    """The corpus in three projects, two memories, and their vectors."""
    places = [place_event(f"/p{number}", f"name:{number}", 1) for number in range(3)]
    kept = [
        event(session="kept", key="m1", at=9_000, text="Deploys are done on Fridays", agent="hindbrain", cwd="/p0"),
        event(session="kept", key="m2", at=9_001, text="The staging server is called heron", agent="hindbrain"),
    ]
    acts = [
        memories.memory_event("remember", agent="hindbrain", session="kept", at=each.at, text=each.text,
                              detail={"turn": each.id, "kind": "fact", "scope": scope, "pinned": False})
        for each, scope in zip(kept, ("project", "global"), strict=True)
    ]  # fmt: skip
    events = [*places, *text_corpus.turns(), *kept, *acts]
    ledger.ingest(batch(*(record(number * 10, each) for number, each in enumerate(events))))
    adopt(ledger, STATIC)
    assert embed_all(ledger, STATIC)
    return ledger


@pytest.fixture(scope="module")
def pair(new_pair: NewPair) -> Iterator[Pair]:
    one, other = new_pair()
    yield told(one), told(other)


def meaning(ledger: Evidence, folder: Path) -> Meaning:
    with ledger.reading() as database:
        own = is_sqlite(database)
    return Meaning(STATIC, Matrix.open(folder, STATIC.name, STATIC.dimensions) if own else None)


def items(database: Database, found: list[Near]) -> list[Item]:
    """The same with ids that both engines have alike."""
    names = dict(database.execute("SELECT rowid, id FROM turns").fetchall())
    return [(each.memory or names[each.turn], each.likeness, each.start, each.end) for each in found]


def asked(ledger: Evidence, folder: Path, question: str, scope: rank.Scope = EVERYWHERE, k: int = 30) -> list[Item]:
    with ledger.reading() as database:
        return items(database, meaning(ledger, folder).nearest(database, STATIC.question(question), scope, k))


def project(ledger: Evidence, number: int) -> str:
    with ledger.reading() as database:
        (found,) = database.execute("SELECT project_id FROM project_aliases WHERE identity = ?", (f"name:{number}",)).fetchone()
        return str(found)


QUESTIONS = [each for each in text_corpus.QUESTIONS if len(each) < 500][::8]


def test_both_engines_give_the_same_to_the_last_digit(pair: Pair, tmp_path: Path) -> None:
    sqlite, postgresql = pair
    scopes = [(EVERYWHERE, EVERYWHERE)]
    for number in range(3):
        one, other = (rank.Scope(project(each, number), after=1_500) for each in pair)
        scopes.append((one, other))
    for question in QUESTIONS:
        for one, other in scopes:
            here, there = asked(sqlite, tmp_path, question, one), asked(postgresql, tmp_path, question, other)
            assert sorted(each[1] for each in here) == sorted(each[1] for each in there), question
            assert {each for each in here if each[1] > here[-1][1]} == {each for each in there if each[1] > here[-1][1]}, question


def test_the_first_are_those_that_looking_at_every_vector_finds(pair: Pair, tmp_path: Path) -> None:
    for ledger in pair:
        with ledger.reading() as database:
            # what was kept stands for the turn it rests on, which is not found by itself
            kept = {row[0] for row in database.execute("SELECT id FROM sessions WHERE agent = 'hindbrain'")}
            rows = [row for row in vectors.above(database, STATIC.name, 0, 100_000) if row.session not in kept]
            stored = np.array([np.frombuffer(row.vector, np.int8) for row in rows], np.float64)
            for question in QUESTIONS:
                vector = STATIC.question(question)
                if vector.any():
                    best = sorted((stored @ vector / 127).tolist(), reverse=True)[:20]
                    near = [each.likeness for each in meaning(ledger, tmp_path).nearest(database, vector, EVERYWHERE, 20)]
                    assert near == pytest.approx(best, abs=1e-3)


def test_nothing_outside_the_scope_is_found(pair: Pair, tmp_path: Path) -> None:
    for ledger in pair:
        mine = project(ledger, 1)
        with ledger.reading() as database:
            own = "SELECT turns.id FROM turns JOIN sessions ON sessions.id = session_id WHERE project_id = ?"
            inside = {row[0] for row in database.execute(own, (mine,))}
            everywhere = {row[0] for row in database.execute("SELECT id FROM memories WHERE scope = 'global'")}
            late = {row[0] for row in database.execute("SELECT id FROM turns WHERE at BETWEEN 1500 AND 2000")}
        for question in ("deploy on fridays", "the name of the staging server", "migration failed", "tests"):
            found = {each[0] for each in asked(ledger, tmp_path, question, rank.Scope(mine), 1000)}
            assert found & everywhere == everywhere
            assert found - everywhere <= inside
            assert len(found) > 20
            timed = {each[0] for each in asked(ledger, tmp_path, question, rank.Scope(mine, after=1500, before=2000), 1000)}
            assert timed
            assert timed <= inside & late
            assert {each[0] for each in asked(ledger, tmp_path, question, rank.Scope(None), 1000)} == everywhere


def test_every_passage_of_given_items_is_told(pair: Pair, tmp_path: Path) -> None:
    for ledger in pair:
        with ledger.reading() as database:
            turn, text = database.execute("SELECT rowid, text FROM turns WHERE text LIKE 'word word %'").fetchone()
            memory = database.execute("SELECT id FROM memories WHERE scope = 'global'").fetchone()[0]
            found = meaning(ledger, tmp_path).of(database, STATIC.question("the name of the server"), [turn], [memory])
        assert found[0].memory == memory
        assert len(found) > 10
        spans = sorted((each.start, each.end) for each in found if each.turn == turn)
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


def test_what_was_forgotten_is_not_found_although_its_signs_are_still_there(new_pair: NewPair, tmp_path: Path) -> None:
    for ledger in map(told, new_pair()):
        near = meaning(ledger, tmp_path)
        with ledger.reading() as database:
            first = items(database, near.nearest(database, STATIC.question("deploy on fridays"), EVERYWHERE, 5))
        doomed = first[0][0]
        ledger.ingest(batch(record(999_990, forget_event([doomed], 99_999))))
        with ledger.reading() as database:
            after = items(database, near.nearest(database, STATIC.question("deploy on fridays"), EVERYWHERE, 5))
        assert doomed not in {each[0] for each in after}
        assert after[:4] == first[1:]


def test_a_question_without_meaning_finds_nothing(pair: Pair, tmp_path: Path) -> None:
    for ledger in pair:
        for question in ("", " ", "?!"):
            with ledger.reading() as database:
                assert meaning(ledger, tmp_path).nearest(database, np.zeros(256, np.float32), EVERYWHERE, 5) == []
            assert len(asked(ledger, tmp_path, question)) in (0, 30)
        assert asked(ledger, tmp_path, "migration", EVERYWHERE, 0) == []
