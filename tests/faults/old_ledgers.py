"""A schema the program once had -> a ledger of that time with rows in it, written by SQL of that time."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

from hindbrain.ledger import schema
from hindbrain.ledger.schema import Migration, shipped

NEWEST: Final = shipped()[-1].number
TURNS: Final = 30
SEGMENT: Final = "0000000001-18a-7"
_TURN = ("INSERT INTO turns (id, session_id, role, text, tool, at, key, origins, segment, start, detail)"
         " VALUES (?, 's_1', 'user', ?, '', ?, ?, 1, ?, ?, '{}')")  # fmt: skip


def make(path: Path, number: int, migrations: tuple[Migration, ...] | None = None) -> None:
    """A ledger that knows the first `number` migrations."""
    path.touch(0o600)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA page_size = 8192")
        connection.execute("PRAGMA journal_mode = WAL")
        for migration in (migrations or shipped())[:number]:
            connection.execute("BEGIN IMMEDIATE")
            schema.apply(connection, migration, 1_700_000_000_000)
            connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
        _fill(connection, number)
        connection.execute("COMMIT")


def _fill(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("INSERT INTO projects VALUES ('p_1', 'git:host/shop', 'shop', 'host/shop', '', 5)")
    connection.execute("INSERT INTO project_aliases VALUES ('git:host/shop', 'p_1')")
    machine = "'', " if number >= 4 else ""
    connection.execute(f"INSERT INTO places VALUES ({machine}'/shop', 'git:host/shop', 'p_1', 'host/shop', '', 'main', 5)")
    connection.execute(
        "INSERT INTO sessions (id, agent, client_id, project_id, cwd, cwd_at, started_at, last_at, model, detail)"
        " VALUES ('s_1', 'claude-code', 'c1', 'p_1', '/shop', 5, 5, 99, 'm', '{}')"
    )
    for each in range(TURNS):
        connection.execute(_TURN, (f"e_{each}", f"word{each} said long ago", each, f"k{each}", SEGMENT, 100 * each))
        connection.execute("INSERT INTO turns_fts (rowid, text) SELECT rowid, text FROM turns WHERE id = ?", (f"e_{each}",))
    connection.execute("INSERT INTO traces SELECT rowid, 0, 'file', 'read', '/shop/a.py' FROM turns WHERE id = 'e_3'")
    connection.execute("INSERT INTO events (id, session_id, kind, role, text, tool, at, key, origins, segment, start, detail)"
                       " VALUES ('e_n', 's_1', 'notice', '', 'noted', '', 9, 'n', 1, ?, 9000, '{}')", (SEGMENT,))  # fmt: skip
    connection.execute("INSERT INTO cursors VALUES (?, 0, 9999, '9999', 31, 5)", (f"segment:{SEGMENT}",))
    connection.execute("INSERT INTO damage VALUES (?, 8000, 8100, 'torn', 'the end is missing', 5)", (SEGMENT,))
    connection.execute("INSERT INTO redactions VALUES (?, 100, 'github-token', 2)", (SEGMENT,))
    if number >= 2:
        _fill_recall(connection)
    if number >= 5:
        connection.execute("INSERT INTO jobs (kind, key, state, run_after_ms, enqueued_ms, changed_ms)"
                           " VALUES ('digest', 's_1', 'ready', 1, 1, 1)")  # fmt: skip
    if number >= 6:
        connection.execute("INSERT INTO meta VALUES ('embedder', 'm1')")
        connection.execute("INSERT INTO vectors (model, turn, place, start, end, vector)"
                           " SELECT 'm1', rowid, 0, 0, 5, x'017f81' FROM turns WHERE id = 'e_1'")  # fmt: skip
        connection.execute("DELETE FROM unembedded_turns WHERE turn IN (SELECT turn FROM vectors)")


def _fill_recall(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO memories (id, level, kind, text, confidence, trust, observer, subject, scope, valid_from,"
                       " created_at, evidence) VALUES ('m_1', 'observation', 'fact', 'a kept fact', 1.0, 'user', 'user', 'user',"
                       " 'global', 5, 5, 0)")  # fmt: skip
    connection.execute(
        "INSERT INTO links (memory_id, number, role, turn_id, created_at) VALUES ('m_1', 0, 'derived_from', 'e_1', 5)"
    )
    connection.execute("INSERT INTO memories_fts (id, text) VALUES ('m_1', 'a kept fact')")
    connection.execute("INSERT INTO injections (session_id, item_id, at) VALUES ('s_1', 'e_1', 5)")
    connection.execute("INSERT INTO forgotten VALUES ('e_gone', 5)")
