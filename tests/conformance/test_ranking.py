"""One ranking, whichever engine keeps the ledger: the same hits in the same order, with the same parts to the sixth digit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.capture.event import Event
from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import Batch
from hindbrain.recall.left_out import left_out
from hindbrain.recall.matrix import Matrix
from hindbrain.recall.meaning import Meaning
from hindbrain.recall.rank import Scope
from hindbrain.recall.search import Finder
from hindbrain.recall.static import Static
from hindbrain.recall.words import words_of
from hindbrain.serve.embedding import adopt, embed_all
from tests.conformance.states import rows
from tests.conformance.text_corpus import QUESTIONS, TALK, turns
from tests.engines import NewPair
from tests.ledger.making import event, place_event, record

ASKED = [
    *QUESTIONS[::5], "what did you tell me about the migration", "which database did we use before", "what failed last week",
    "KeyError in app.py", "what broke before the release", "how many requests per second", "user_id", "`user_id`",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """Both ledgers, and a search over each."""

    sqlite: Evidence
    postgres: Evidence
    finders: tuple[Finder, Finder]

    def ask(self, question: str, scope: Scope, k: int, talk_only: bool = False) -> tuple[list[Any], list[Any]]:
        with self.sqlite.reading() as one, self.postgres.reading() as other:
            return tuple(  # type: ignore[return-value]  # two of them
                answer(finder, database, question, scope, k, talk_only)
                for finder, database in zip(self.finders, (one, other), strict=True)
            )


def answer(finder: Finder, database: Database, question: str, scope: Scope, k: int, talk_only: bool) -> list[Any]:
    return [
        (hit.id, hit.kind, hit.role, hit.text, hit.at, hit.session_id, hit.start, hit.end, hit.superseded, hit.note,
         {name: f"{value:.6f}" for name, value in hit.parts.items()})
        for hit in finder.search(database, question, scope, k, talk_only=talk_only)
    ]  # fmt: skip


def kept(text: str, number: int) -> list[Event]:
    said = event(session="kept", key=f"said{number}", at=9_000 + number, text=text, agent="hindbrain", origin="api")
    detail: Any = {"op": "remember", "turn": said.id, "kind": "fact", "scope": "global"}
    return [said, event(kind="memory", session="kept", key=f"note{number}", at=9_000 + number, text=text, agent="hindbrain",
                        origin="api", detail=detail)]  # fmt: skip


@pytest.fixture(scope="module")
def told(new_pair: NewPair, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    sqlite, postgres = new_pair()
    static = Static.load()
    for ledger in (sqlite, postgres):
        for number, events in enumerate([
            [place_event(f"/p{each}", f"git:h/{each}", 1) for each in range(3)], turns()[:160], turns()[160:],
            [each for place, text in enumerate(TALK[:20]) for each in kept(text, place)],
        ]):  # fmt: skip
            ledger.ingest(Batch([record(100_000 * number + 10 * place, each) for place, each in enumerate(events)], [], {}))
        adopt(ledger, static)
        embed_all(ledger, static)
    matrix = Matrix.open(Path(tmp_path_factory.mktemp("derived")), static.name, static.dimensions)
    now = ManualClock().now_ms
    yield Told(sqlite, postgres, (Finder(static, Meaning(static, matrix), now), Finder(static, Meaning(static, None), now)))


def test_every_question_is_answered_alike(told: Told) -> None:
    found = 0
    for question in ASKED:
        sqlite, postgres = told.ask(question, Scope(None, everything=True), 40)
        assert postgres == sqlite, question
        found += bool(sqlite)
    assert found > 30


def test_every_question_is_answered_alike_inside_a_project_and_a_time(told: Told) -> None:
    for (project,) in rows(told.sqlite, "SELECT id FROM projects ORDER BY id"):
        for question in ASKED[::9]:
            for scope in (Scope(project), Scope(project, after=1_500, before=2_500)):
                sqlite, postgres = told.ask(question, scope, 20, talk_only=True)
                assert postgres == sqlite, question


def test_words_stand_in_as_many_turns_on_either_engine(told: Told) -> None:
    words = sorted({word for question in QUESTIONS[::3] for word in words_of(question)})
    with told.sqlite.reading() as one, told.postgres.reading() as other:
        assert fulltext.holding(other, words) == fulltext.holding(one, words)


def test_what_is_left_out_is_told_alike(told: Told) -> None:
    (project,) = rows(told.sqlite, "SELECT id FROM projects ORDER BY id")[0]
    scope = Scope(project, after=1_500, before=2_500)
    with told.sqlite.reading() as one, told.postgres.reading() as other:
        for question in ASKED[::5]:
            assert left_out(other, question, scope) == left_out(one, question, scope), question
        assert left_out(one, "migration index", scope) != []
