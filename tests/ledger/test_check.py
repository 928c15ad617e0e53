"""What is wrong with a ledger is found, named and repaired."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerError
from hindbrain.ledger.check import problems, repair_index
from hindbrain.ledger.rebuild import fingerprint, rebuild, swap_in
from hindbrain.ledger.store import Ledger, suspect_mark
from tests.ledger.making import Delivery, batch, batch_to, event, events_of, place_event, record, write_segments

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
    "INSERT INTO turns_fts (turns_fts, rowid, text) VALUES ('delete', 3, 'word2 never said')",
    "DELETE FROM turns_fts_docsize WHERE id = 7",
    "INSERT INTO turns_fts (rowid, text) VALUES (7777, 'no such turn')",
    "UPDATE turns SET text = 'changed behind the index' WHERE rowid = 4",
    "UPDATE turns_fts_data SET block = zeroblob(length(block)) WHERE id > 10",
    "INSERT INTO turns_fts (turns_fts) VALUES ('delete-all')",
])  # fmt: skip
def test_an_index_that_does_not_match_the_turns_is_found_and_repaired(filled: Ledger, harm: str) -> None:
    filled.connection.execute(harm)
    found = problems(filled)
    assert {problem.repair for problem in found} == {"reindex"}
    assert all(problem.severity == "error" and "turns_fts" in str(problem) for problem in found)
    repair_index(filled)
    assert problems(filled) == []
    assert filled.search("word12")[0].text.startswith("word12 ")


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


def flipped(path: Path, chosen: random.Random) -> None:
    """Change one byte that is in use: a byte inside a free stretch means nothing to anybody."""
    data = bytearray(path.read_bytes())
    place = chosen.randrange(len(data))
    data[place] ^= 1 << chosen.randrange(8)
    path.write_bytes(data)


def is_noticed_or_harmless(path: Path, wanted: dict[str, str]) -> bool:
    """Whether opening or checking tells of the damage, or there is none: the content is what it was."""
    try:
        with Ledger.open(path, CLOCK) as ledger:
            return problems(ledger) != [] or fingerprint(ledger) == wanted
    except LedgerError:
        return True


def flips_are_found_and_repaired(home: Path, seeds: range) -> None:
    write_segments(home / "journal", many(150))
    rebuild(home / "archive", home / "journal", events_of, home / "sound.db", CLOCK)
    with Ledger.open(home / "sound.db", CLOCK) as ledger:
        wanted = fingerprint(ledger)
    whole = (home / "sound.db").read_bytes()
    silent = []
    for seed in seeds:
        path = home / "ledger.db"
        path.write_bytes(whole)
        flipped(path, random.Random(seed))
        if not is_noticed_or_harmless(path, wanted):
            silent.append(seed)
        suspect_mark(path).unlink(missing_ok=True)
    # SQLite has no checksums: a changed letter inside a text, or a number inside a row, is a valid database
    assert len(silent) <= len(seeds) * 0.15, f"seeds that went unnoticed: {silent}"
    rebuild(home / "archive", home / "journal", events_of, home / "new.db", CLOCK)
    swap_in(home / "new.db", home / "ledger.db", CLOCK)
    with Ledger.open(home / "ledger.db", CLOCK) as ledger:
        assert fingerprint(ledger) == wanted
        assert problems(ledger) == []


def test_flipped_bits_are_found_and_a_rebuild_gives_the_original_back(tmp_path: Path) -> None:
    flips_are_found_and_repaired(tmp_path, range(15))


@pytest.mark.slow
def test_flipped_bits_at_many_places(tmp_path: Path) -> None:
    flips_are_found_and_repaired(tmp_path, range(300))


def test_a_page_of_noise_is_found(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(path, CLOCK) as ledger:
        ledger.ingest(batch(*many(400)))
        wanted = fingerprint(ledger)
    whole = path.read_bytes()
    chosen = random.Random(1)
    for page in range(1, len(whole) // 8192, 3):
        path.write_bytes(whole[: page * 8192] + chosen.randbytes(8192) + whole[(page + 1) * 8192 :])
        assert is_noticed_or_harmless(path, wanted), page
        suspect_mark(path).unlink(missing_ok=True)


def test_checks_that_cannot_be_carried_out_are_findings(filled: Ledger) -> None:
    filled.connection.execute("PRAGMA writable_schema = ON")
    filled.connection.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE nonsense' WHERE name = 'turns_fts_docsize'")
    filled.connection.execute("PRAGMA writable_schema = RESET")
    other = sqlite3.connect(filled.path)
    other.close()
    assert problems(filled) != []
