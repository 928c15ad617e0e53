"""Migrations go forward, once, in one piece; what does not fit is refused untouched."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerError, MigrationChanged, SchemaTooNew
from hindbrain.ledger import removal, schema
from hindbrain.ledger.schema import Migration, shipped
from hindbrain.ledger.store import Ledger
from hindbrain.ledger.versions import HELD
from tests.ledger.making import batch, event, record

CLOCK = ManualClock()
NEXT = shipped()[-1].number + 1
SECOND = Migration(NEXT, "more", "CREATE TABLE more (x TEXT) STRICT;\n-- a trigger holds a semicolon\nCREATE TRIGGER t AFTER "
                   "INSERT ON more BEGIN\n  DELETE FROM more WHERE x = 'a;b';\nEND;\n")  # fmt: skip
THIRD = Migration(NEXT + 1, "most", "ALTER TABLE more ADD COLUMN y INTEGER;\n")
BROKEN = Migration(NEXT + 1, "broken", "CREATE TABLE half (x TEXT) STRICT;\nINSERT INTO nowhere VALUES (1);\n")


def shape_of(path: Path) -> list[tuple[str, str, str]]:
    connection = sqlite3.connect(path)
    try:
        return schema.shape(connection)
    finally:
        connection.close()


def test_shipped_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in shipped()] == list(range(1, len(shipped()) + 1))


def test_a_fresh_ledger_and_one_migrated_step_by_step_have_the_same_schema(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "fresh.db", CLOCK, migrations=(*shipped(), SECOND, THIRD)).close()
    for steps in range(1, len(shipped()) + 1):
        Ledger.open(tmp_path / "old.db", CLOCK, migrations=shipped()[:steps]).close()
    Ledger.open(tmp_path / "old.db", CLOCK, migrations=(*shipped(), SECOND)).close()
    Ledger.open(tmp_path / "old.db", CLOCK, migrations=(*shipped(), SECOND, THIRD)).close()
    assert shape_of(tmp_path / "old.db") == shape_of(tmp_path / "fresh.db")


def test_migrating_keeps_the_content_and_a_copy_of_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(path, CLOCK) as ledger:
        ledger.ingest(batch(record(0, event(text="kept through the change"))))
        assert ledger.migrate() == []
    with Ledger.open(path, CLOCK, migrations=(*shipped(), SECOND, THIRD)) as ledger:
        assert [hit.text for hit in ledger.search("change")] == ["kept through the change"]
    copy = tmp_path / f"ledger.db.before-{NEXT:04d}"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ledger.db", copy.name]
    assert copy.stat().st_mode & 0o777 == 0o600
    with Ledger.open(copy, CLOCK) as ledger:
        assert ledger.counts().turns == 1


@pytest.mark.parametrize("kind", ["", "turn", "notice"])
def test_a_ledger_with_something_in_it_is_known_to_hold_ids_of_the_first_version(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(path, CLOCK, migrations=shipped()[:9]) as ledger:
        if kind:
            ledger.ingest(batch(record(0, event(kind=kind))))
    with Ledger.open(path, CLOCK) as ledger:
        assert ledger.meta(HELD) == ("yes" if kind else "")


def test_a_migration_that_fails_leaves_the_state_before_it(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    Ledger.open(path, CLOCK, migrations=(*shipped(), SECOND)).close()
    before = shape_of(path)
    with pytest.raises(LedgerError, match="nowhere"):
        Ledger.open(path, CLOCK, migrations=(*shipped(), SECOND, BROKEN))
    assert shape_of(path) == before
    Ledger.open(path, CLOCK, migrations=(*shipped(), SECOND, THIRD)).close()


def test_a_newer_ledger_is_refused_untouched_with_both_numbers(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    Ledger.open(path, CLOCK, migrations=(*shipped(), SECOND, THIRD)).close()
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(SchemaTooNew, match=f"schema {NEXT + 1}, this version knows {NEXT - 1}"):
            Ledger.open(path, CLOCK, read_only=read_only)
    assert path.read_bytes() == before


def test_a_changed_migration_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    Ledger.open(path, CLOCK, migrations=(*shipped(), SECOND)).close()
    before = path.read_bytes()
    with pytest.raises(MigrationChanged, match="more"):
        Ledger.open(path, CLOCK, migrations=(*shipped(), Migration(NEXT, "more", SECOND.sql + "-- edited\n")))
    assert path.read_bytes() == before


def test_a_reader_says_that_the_ledger_waits_for_a_migration(tmp_path: Path, empty_ledger: Path) -> None:
    shutil.copyfile(empty_ledger, tmp_path / "ledger.db")
    with pytest.raises(LedgerError, match="waits for migration"):
        Ledger.open(tmp_path / "ledger.db", CLOCK, read_only=True, migrations=(*shipped(), SECOND))


def test_a_migration_must_end_with_a_whole_statement() -> None:
    with pytest.raises(LedgerError, match="ends inside a statement"):
        list(schema.statements("CREATE TABLE a (x);\nCREATE TABLE b (x)"))
    assert len(list(schema.statements("CREATE TABLE a (x);\n-- the end\n\n"))) == 1


_OPEN = """
import sys
from pathlib import Path
from hindbrain.base.clock import SystemClock
from hindbrain.ledger.store import Ledger
sys.stdin.readline()
with Ledger.open(Path(sys.argv[1]), SystemClock(), busy_ms=30_000) as ledger:
    print(ledger.counts().turns, flush=True)
"""


def test_processes_that_migrate_at_once_all_succeed(tmp_path: Path) -> None:
    for round_ in range(3):
        path = tmp_path / f"{round_}.db"
        command = [sys.executable, "-c", _OPEN, str(path)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started = [subprocess.Popen(command, text=True, env=os.environ, **pipes) for _ in range(4)]  # type: ignore[call-overload]
        for process in started:
            process.stdin.write("go\n")
            process.stdin.flush()
        ended = [process.communicate() for process in started]
        assert ended == [("0\n", "")] * 4
        with Ledger.open(path, CLOCK) as ledger:
            assert ledger.migrate() == []


_LEGACY = """
INSERT INTO memories (id, level, kind, text, confidence, trust, observer, subject, scope, valid_from, created_at, detail,
                      evidence, made_by)
VALUES (:id, 'observation', :kind, :id, 0.8, 'user', 'user', 'user', 'global', :at, :at, :detail, 0, :made_by)
"""
_TIED = "INSERT INTO links (memory_id, number, role, target_memory_id, created_at, sure) VALUES (?, ?, ?, ?, ?, ?)"


def test_what_dreams_joined_before_is_told_from_what_was_replaced(tmp_path: Path) -> None:
    """Of a ledger from before: `joined` by a dream, `replaced` by what was said later, `preferred` and `corrected` by a person,
    `unlike` what took its place though a dream's time is on it."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path, CLOCK, migrations=shipped()[:11]) as ledger, ledger.writing() as database:
        removal.defer(database)
        ledger_rows = {
            "joined": ("by", 9_000, 1.0, True), "replaced": ("by", 500, 1.0, True), "guessed": ("by", 9_000, 0.9, True),
            "preferred": ("over", 9_000, 1.0, True), "corrected": ("person", 500, 1.0, True), "unlike": ("by", 9_000, 1.0, False),
            "other kind": ("task", 9_000, 1.0, True),
        }  # fmt: skip
        by: dict[str, dict[str, object]] = {
            "by": {}, "over": {"detail": '{"over":["preferred"]}'}, "person": {"made_by": "person"}, "task": {"kind": "task"},
        }  # fmt: skip
        plain: dict[str, object] = {"at": 500, "kind": "fact", "detail": "{}", "made_by": "rules/1"}
        for name in (*by, *ledger_rows):
            database.execute(_LEGACY, {"id": name, **plain, **by.get(name, {"at": 100})})
            database.execute(_TIED, (name, 0, "supports", "by" if name != "by" else "over", 1, 1.0))
        for number, (older, (newer, at, sure, confirmed)) in enumerate(ledger_rows.items()):
            database.execute(_TIED, (newer, 2 * number + 1, "supersedes", older, at, sure))
            if confirmed:
                database.execute(_TIED, (newer, 2 * number + 2, "reinforces", older, 500, 1.0))
    with Ledger.open(path, CLOCK) as ledger, ledger.reading() as database:
        told = database.execute("SELECT target_memory_id FROM links WHERE joined = 1").fetchall()
    assert [row[0] for row in told] == ["joined"]
