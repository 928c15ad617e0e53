"""What is wrong with a ledger is found, named and repaired."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerError
from hindbrain.ledger.check import problems, repair_index
from hindbrain.ledger.rebuild import fingerprint
from hindbrain.ledger.store import Ledger, suspect_mark
from tests.ledger.making import Delivery, batch, batch_to, event, place_event, record

CLOCK = ManualClock()


def many(number: int) -> list[Delivery]:
    found = []
    for index in range(number):
        detail = {"file": f"/src/file{index}.py", "action": "read"}
        text, session = f"word{index} said here " * 20, f"s{index % 5}"
        turn = event(key=str(index), session=session, cwd=f"/p{index % 3}", text=text, detail=detail)
        found.append(record(10 * index, turn, event(kind="notice", key=f"n{index}", session=session)))
    return [*found, record(10 * number, place_event("/p1", "git:h/p", 5))]


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    ledger.ingest(batch(*many(50)))
    return ledger


def test_a_sound_ledger_has_no_problems(filled: Ledger) -> None:
    assert problems(filled) == []
    with Ledger.open(filled.path, CLOCK, read_only=True) as reader:
        assert problems(reader) == []


@pytest.mark.parametrize("harm", [
    "DELETE FROM turns_fts_docsize WHERE id = 7",
    "INSERT INTO turns_fts (turns_fts, rowid, text) VALUES ('delete', 3, 'word2 never said')",
    "INSERT INTO turns_fts (turns_fts) VALUES ('delete-all')",
])  # fmt: skip
def test_turns_that_are_not_in_the_index_are_found_and_put_in(filled: Ledger, harm: str) -> None:
    filled.connection.execute(harm)
    found = [problem for problem in problems(filled) if problem.where == "turns_fts"]
    assert {(problem.repair, problem.severity) for problem in found} == {("reindex", "error")}
    repair_index(filled)
    assert problems(filled) == []
    assert filled.search("word12")[0].text.startswith("word12 ")


@pytest.mark.parametrize("harm", [
    "INSERT INTO turns_fts (rowid, text) VALUES (7777, 'no such turn')",
    "UPDATE turns SET text = 'changed behind the index' WHERE rowid = 4",
    "UPDATE turns_fts_data SET block = zeroblob(length(block)) WHERE id > 10",
    "INSERT INTO memories_fts (id, text) VALUES ('m_none', 'no such memory')",
])  # fmt: skip
def test_where_index_and_content_say_something_else_only_the_journal_knows(filled: Ledger, harm: str) -> None:
    filled.connection.execute(harm)
    found = problems(filled)
    assert {problem.repair for problem in found} == {"rebuild"}
    assert all(problem.severity == "error" for problem in found)


def test_a_reference_to_nothing_is_found(filled: Ledger) -> None:
    filled.connection.execute("PRAGMA foreign_keys = OFF")
    filled.connection.execute("UPDATE turns SET session_id = 's_gone' WHERE rowid = 1")
    filled.connection.execute("PRAGMA foreign_keys = ON")
    (problem,) = problems(filled)
    assert (problem.where, problem.repair) == ("table turns", "rebuild")


@pytest.mark.parametrize(("harm", "where", "what"), [
    ("DROP INDEX turns_by_session", "index turns_by_session", "is missing"),
    ("CREATE TABLE extra (x)", "table extra", "was added"),
    ("CREATE TRIGGER spy AFTER INSERT ON turns BEGIN DELETE FROM meta; END", "trigger spy", "was added"),
    ("ALTER TABLE damage ADD COLUMN more TEXT", "table damage", "differs"),
])  # fmt: skip
def test_a_schema_that_is_not_the_shipped_one_is_found(filled: Ledger, harm: str, where: str, what: str) -> None:
    filled.connection.execute(harm)
    (problem,) = problems(filled)
    assert problem.where == where
    assert problem.what.startswith(what)


def test_a_changed_migration_is_found(filled: Ledger) -> None:
    filled.connection.execute("UPDATE migrations SET checksum = 'x' WHERE number = 1")
    (problem,) = problems(filled)
    assert (problem.where, problem.repair) == ("table migrations", "none")


def test_a_cursor_behind_the_end_of_its_segment_is_found(filled: Ledger, tmp_path: Path) -> None:
    (tmp_path / "0000000001-a-1.log").write_bytes(b"short")
    filled.ingest(batch_to(5))
    assert problems(filled, tmp_path) == []
    filled.ingest(batch_to(6))
    (problem,) = problems(filled, tmp_path)
    assert problem.what == "read to byte 6, but the segment has 5"


def is_noticed_or_harmless(path: Path, wanted: dict[str, str]) -> bool:
    """Whether opening or checking tells of the damage, or there is none: the content is what it was."""
    try:
        with Ledger.open(path, CLOCK) as ledger:
            return problems(ledger) != [] or fingerprint(ledger) == wanted
    except LedgerError:
        return True


def test_a_page_of_noise_is_found(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(path, CLOCK) as ledger:
        ledger.ingest(batch(*many(400)))
        wanted = fingerprint(ledger)
    whole = path.read_bytes()
    chosen = random.Random(1)
    for page in range(1, len(whole) // 4096, 3):
        path.write_bytes(whole[: page * 4096] + chosen.randbytes(4096) + whole[(page + 1) * 4096 :])
        assert is_noticed_or_harmless(path, wanted), page
        suspect_mark(path).unlink(missing_ok=True)


def test_checks_that_cannot_be_carried_out_are_findings(filled: Ledger) -> None:
    filled.connection.execute("PRAGMA writable_schema = ON")
    filled.connection.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE nonsense' WHERE name = 'turns_fts_docsize'")
    filled.connection.execute("PRAGMA writable_schema = RESET")
    other = sqlite3.connect(filled.path)
    other.close()
    assert problems(filled) != []
