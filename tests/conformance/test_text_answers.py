"""A question has one answer: the same turns and memories, in the same order, with the same scores, whichever engine is asked."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.capture.event import Event
from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.postgres import narrowing, terms, text_check
from hindbrain.ledger.postgres.fulltext import TextIndex
from hindbrain.ledger.schema import shipped
from hindbrain.recall import rank
from hindbrain.recall.rank import NEAR_WEIGHT, Scope
from hindbrain.recall.words import words_of
from tests.conformance.states import rows
from tests.conformance.text_corpus import ODD, QUESTIONS, TALK, turns
from tests.engines import Engine
from tests.ledger.making import event, place_event, record
from tests.postgres import Cluster

EVERYTHING = Scope(None, everything=True)


@dataclass(frozen=True, slots=True)
class Both:
    """Two ledgers that are told the same."""

    sqlite: Evidence
    postgres: Evidence

    def take_in(self, *events: Event, at: int = 0) -> None:
        for ledger in (self.sqlite, self.postgres):
            ledger.ingest(Batch([record(at + 10 * number, each) for number, each in enumerate(events)], [], {}))

    def on_each(self, ask: Callable[[Database], Any]) -> tuple[Any, Any]:
        with self.sqlite.reading() as sqlite, self.postgres.reading() as postgres:
            return ask(sqlite), ask(postgres)


Pair = Callable[[], Both]


@pytest.fixture(scope="module")
def pair(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, empty_file: Path) -> Iterator[Pair]:
    """A function that opens two more empty ledgers."""
    sqlite = Engine("sqlite", tmp_path_factory.mktemp("ledgers"), None, empty_file)
    postgres = Engine("postgresql", tmp_path_factory.mktemp("none"), cluster)
    yield lambda: Both(sqlite.open_empty(), postgres.open_empty())
    sqlite.close()
    postgres.close()


def keep(text: str, number: int) -> list[Event]:
    """A statement worth keeping, with the turn that is its evidence."""
    said = event(session="kept", key=f"said{number}", at=9_000 + number, text=text, agent="hindbrain", origin="api")
    detail: Any = {"op": "remember", "turn": said.id, "kind": "fact", "scope": "global"}
    noted = event(kind="memory", session="kept", key=f"note{number}", at=9_000 + number, text=text, agent="hindbrain",
                  origin="api", detail=detail)  # fmt: skip
    return [said, noted]


@pytest.fixture(scope="module")
def told(pair: Pair) -> Both:
    """The corpus and some memories, on both engines."""
    both = pair()
    both.take_in(*(place_event(f"/p{number}", f"git:h/{number}", 1) for number in range(3)))
    corpus = turns()
    for start in range(0, len(corpus), 60):
        both.take_in(*corpus[start : start + 60], at=1_000 + 10 * start)
    texts = [text for text in [*TALK, *ODD] if text.strip()]
    both.take_in(*(each for number, text in enumerate(texts) for each in keep(text, number)), at=90_000)
    return both


def answers(database: Database, question: str, scope: Scope = EVERYTHING) -> list[Any]:
    """Everything recall says to a question, scores to the ninth digit."""
    found: list[Any] = []
    for k, talk_only in ((1_000, False), (40, True)):
        for each in rank.search(database, question, scope, k, talk_only=talk_only):
            parts = {name: _digits(value) for name, value in each.parts.items()}
            said = each.role, each.text, each.at, each.project, each.session
            found.append((each.id, each.kind, said, _digits(each.score), parts))
    return found


def _digits(value: float) -> str:
    return f"{value:.9e}"


def words_answers(database: Database, question: str) -> list[Any]:
    """What the index itself says: row numbers and scores for few and for all, and the scores of given turns."""
    words = words_of(question)
    if not words:
        return []
    few, every = (fulltext.best(database, words, NEAR_WEIGHT, limit) for limit in (7, -1))
    these = [row[0] for row in database.execute("SELECT id FROM turns WHERE rowid % 3 = 0 ORDER BY id").fetchall()]
    own = sorted(fulltext.scores(database, words, 0.0, these).items())
    return [
        [[(key, _digits(score)) for key, score in each] for each in (few, every, own)],
        [(key, _digits(score)) for key, score in rank.best_memories(database, words, -1)],
    ]


def assert_same_answers(both: Both, ask: Callable[[Database, str], Any], questions: list[str]) -> int:
    """Every question has the same answer on both; gives back how many had any."""
    sqlite, postgres = both.on_each(lambda database: {question: ask(database, question) for question in questions})
    for question in questions:
        assert postgres[question] == sqlite[question], question
    return sum(any(answer) for answer in sqlite.values())


def test_recall_answers_alike(told: Both) -> None:
    assert assert_same_answers(told, answers, QUESTIONS) > 130


def test_recall_answers_alike_inside_a_project(told: Both) -> None:
    for (project,) in rows(told.sqlite, "SELECT id FROM projects ORDER BY id"):
        within = functools.partial(answers, scope=Scope(project, before=2_500))
        assert assert_same_answers(told, within, QUESTIONS[::8]) > 10


def test_the_turns_of_one_project_have_the_scores_they_have_among_all(told: Both) -> None:
    """When the best of all turns are of other projects, the rest is looked for inside the one that is meant."""
    own = "SELECT turns.rowid FROM turns JOIN sessions ON sessions.id = turns.session_id WHERE sessions.project_id = ?"
    found = 0
    for (project,) in rows(told.sqlite, "SELECT id FROM projects ORDER BY id"):
        for words in filter(None, map(words_of, QUESTIONS[::5])):

            def ask(database: Database, project: str = project, words: list[str] = words) -> list[tuple[int, float]]:
                inside = sorted(rank.every_turn(database, words, Scope(project)))
                numbers = {row[0] for row in database.execute(own, (project,)).fetchall()}
                assert inside == sorted(each for each in rank.best_turns(database, words, -1) if each[0] in numbers), words
                return inside

            sqlite, postgres = told.on_each(ask)
            assert [number for number, _ in sqlite] == [number for number, _ in postgres]
            found += len(sqlite)
    assert found > 500


def test_the_index_answers_alike(told: Both) -> None:
    assert assert_same_answers(told, words_answers, QUESTIONS) > 130


def test_search_by_words_with_underscores_answers_alike(told: Both) -> None:
    for question in QUESTIONS:
        assert told.postgres.search(question, 50) == told.sqlite.search(question, 50), question
    assert told.sqlite.search("user_id") != told.sqlite.search("user id")  # such a word is a phrase: its parts in this order


@pytest.mark.slow
@pytest.mark.parametrize("first", [1, 20, 100])
def test_leaving_out_what_cannot_matter_changes_no_answer(told: Both, monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    monkeypatch.setattr(narrowing, "FIRST_DOCUMENTS", first)
    assert assert_same_answers(told, words_answers, QUESTIONS) > 130


def test_the_vocabulary_is_the_same(told: Both) -> None:
    assert vocabulary_of_postgres(told.postgres) == vocabulary_of_sqlite(told.sqlite)


def vocabulary_of_sqlite(ledger: Evidence) -> dict[str, tuple[int, int]]:
    """Each term with how many turns hold it and how often it occurs; of a long one its short name."""
    with ledger.writing() as database:
        database.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'turns_fts', 'row')")
        found = database.execute("SELECT CAST(term AS BLOB), doc, cnt FROM vocabulary").fetchall()
        database.execute("DROP TABLE temp.vocabulary")
    return {_name(term): (docs, occurrences) for term, docs, occurrences in found}


def _name(term: bytes) -> str:
    text = term.decode(errors="replace")
    return text if len(text) <= terms.LONGEST_TERM else terms._short_name(term)


def vocabulary_of_postgres(ledger: Evidence) -> dict[str, tuple[int, int]]:
    counted: dict[int, int] = {}
    for ids, counts in rows(ledger, "SELECT ids, counts FROM turn_terms"):
        for number, count in zip(ids, counts, strict=False):  # behind them stand those it is strong in, without counts
            counted[number] = counted.get(number, 0) + count // terms.OWN + count % terms.OWN
    found = rows(ledger, "SELECT term, id, docs FROM terms WHERE docs > 0")
    return {term: (docs, counted[number]) for term, number, docs in found}


@pytest.mark.slow
def test_every_letter_there_is_makes_the_same_word(pair: Pair) -> None:
    letters = [chr(code) for code in range(0x30000) if not 0xD800 <= code < 0xE000]
    both = pair()
    both.take_in(*(
        event(session=str(start), key=str(start), role="tool_result", text=" ".join(letters[start : start + 4096]))
        for start in range(0, len(letters), 4096)
    ))  # fmt: skip
    wanted = vocabulary_of_sqlite(both.sqlite)
    assert vocabulary_of_postgres(both.postgres) == wanted
    assert len(wanted) > 80_000


def test_the_tokenizer_is_the_one_of_the_ledger() -> None:
    named = [line for step in shipped() for line in step.sql.splitlines() if "tokenize" in line]
    assert len(named) >= 3
    assert all(f"tokenize = '{terms.TOKENIZER}'" in line for line in named)


def test_answers_are_alike_after_rewrites_forgetting_and_a_new_index(pair: Pair) -> None:
    both, corpus = pair(), turns()[:120]
    both.take_in(*corpus)
    questions = QUESTIONS[::3]
    # the same turns again, told by hooks in other words: those stand before a transcript's
    both.take_in(*(
        event(session=each.session, key=each.key, at=each.at, role=each.role, text=f"reworded {number} {each.text[:30]}")
        for number, each in enumerate(corpus) if each.origin == "transcript"
    ), at=5_000)  # fmt: skip
    assert assert_same_answers(both, words_answers, [*questions, "reworded"]) > 40
    both.take_in(forget_event([each.id for each in corpus[::4]], 1_000_000), at=9_000)
    assert assert_same_answers(both, words_answers, [*questions, "reworded"]) > 40
    assert_index_is_right(both.postgres)
    assert vocabulary_of_postgres(both.postgres) == vocabulary_of_sqlite(both.sqlite)  # no word of what is forgotten is left
    with both.postgres.writing() as postgres, both.sqlite.writing() as sqlite:
        assert isinstance(postgres, TextIndex)
        text_check.make_anew(postgres)
        sqlite.execute("INSERT INTO turns_fts (turns_fts) VALUES ('rebuild')")
    assert assert_same_answers(both, words_answers, [*questions, "reworded"]) > 40
    assert_index_is_right(both.postgres)


def assert_index_is_right(ledger: Evidence) -> None:
    with ledger.reading() as database:
        assert isinstance(database, TextIndex)
        assert list(text_check.differences(database)) == []


WORDS = st.one_of(
    st.sampled_from(["alpha", "beta", "Alphas", "beta_alpha", "gámma", "x", "the", "δέλτα", "42"]),
    st.text(min_size=1, max_size=4),
)
TEXTS = st.lists(WORDS, max_size=9).map(" ".join)
SAID = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.sampled_from(["user", "assistant"]), TEXTS), max_size=9)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(said=SAID, kept=st.lists(TEXTS.filter(str.strip), max_size=3), questions=st.lists(TEXTS, min_size=1, max_size=4))
def test_any_texts_and_any_questions_have_the_same_answers(pair: Pair, said: Any, kept: list[str], questions: list[str]) -> None:
    both = pair()
    both.take_in(*(
        event(session=session, at=at, key=f"{number}", role=role, text=text)
        for number, (session, at, role, text) in enumerate(said)
    ))  # fmt: skip
    both.take_in(*(each for number, text in enumerate(kept) for each in keep(text, number)), at=5_000)
    asked = [*questions, *(text for *_, text in said)]
    assert_same_answers(both, answers, asked)
    assert_same_answers(both, words_answers, asked)
    assert_index_is_right(both.postgres)
