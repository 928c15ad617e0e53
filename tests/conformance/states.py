"""What a ledger holds and whether it is sound, asked the same way on every engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg

from hindbrain.ledger import check
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.postgres import check as postgres_check
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.ledger.rebuild import fingerprint
from hindbrain.ledger.store import Ledger

_MEMORY = """id, level, kind, text, confidence, trust, observer, subject, scope, project_id, valid_from, valid_to, superseded_by,
             pinned, use_count, used_at, created_at, detail, evidence, held, made_by, session_id, reflected"""

_READING = "session_id, read_to, made_by, at, digested_at, digested_memories, digested_tokens"


def rows(ledger: Evidence, query: str, values: Any = ()) -> list[Any]:
    """What a query gives."""
    with ledger.reading() as database:
        return database.execute(query, values).fetchall()


def everything(ledger: Evidence) -> dict[str, Any]:
    """All that a ledger says, through its methods and beneath them; equal on every engine that was told the same."""
    sessions = ledger.sessions(1_000)
    return {
        "tables": fingerprint(ledger),
        "counts": ledger.counts(),
        "sessions": sessions,
        "turns": {each.id: ledger.turns_of(each.id) for each in sessions},
        "forks": {each.id: ledger.forked_at(each.id) for each in sessions},
        "cursors": ledger.cursors(),
        "memories": rows(ledger, f"SELECT {_MEMORY} FROM memories ORDER BY id"),
        "links": rows(ledger, "SELECT memory_id, number, role, turn_id, target_memory_id, created_at FROM links ORDER BY 1, 2"),
        "injections": rows(ledger, "SELECT session_id, item_id, at FROM injections ORDER BY 1, 2"),
        "forgotten": rows(ledger, "SELECT id, at FROM forgotten ORDER BY id"),
        "readings": rows(ledger, f"SELECT {_READING} FROM readings ORDER BY session_id"),
        "changes": rows(ledger, "SELECT dream, at, memory_id, before FROM changes ORDER BY dream, memory_id"),
        "meta": rows(ledger, "SELECT key, value FROM meta ORDER BY key"),
    }


def is_sound(ledger: Evidence) -> bool:
    """Whether doctor would find nothing, the full-text index included; says what it found otherwise."""
    if isinstance(ledger, Ledger):
        found = check.problems(ledger)
    else:
        assert isinstance(ledger, PostgresLedger)
        found = postgres_check.problems(ledger)
    assert found == []
    return True


def refuse_events(ledger: Evidence, text: str) -> Callable[[], None]:
    """Let the database refuse events with this text, until the function given back is called."""
    if isinstance(ledger, Ledger):
        connection = ledger.connection
        connection.execute(
            f"CREATE TEMP TRIGGER refuse BEFORE INSERT ON main.events WHEN new.text = '{text}' "
            "BEGIN SELECT raise(ABORT, 'no'); END"
        )
        return lambda: list(connection.execute("DROP TRIGGER refuse")).clear()
    assert isinstance(ledger, PostgresLedger)
    url = ledger.address.url
    _as_owner(url, f"ALTER TABLE hindbrain.events ADD CONSTRAINT refuse CHECK (text <> '{text}')")
    return lambda: _as_owner(url, "ALTER TABLE hindbrain.events DROP CONSTRAINT refuse")


def _as_owner(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())
