"""What was told and then used is counted once, and moves a hit a little."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.launcher import install_launcher
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.store import Ledger
from hindbrain.recall import feedback
from hindbrain.recall.rank import Found
from hindbrain.serve import daemon
from hindbrain.serve.using import Item, _mark, note_uses
from tests.ledger.making import batch, event, record
from tests.serve.installed import Installed, prompt, until

DAY = 86_400_000
TOLD_AT = 5_000
RULE = "Set the request timeout in src/net/client.py to thirty seconds and never retry"
LATER = {"session": "new", "origin": "transcript", "role": "assistant"}


def said(ledger: Evidence, *turns: dict[str, Any]) -> list[str]:
    """Turns of which each has its own key and journal line; their ids."""
    start = ledger.counts().turns * 10 + 10
    events = [event(**({"key": f"k{start + number}"} | turn)) for number, turn in enumerate(turns)]
    ledger.ingest(batch(*(record(start + 10 * number, each) for number, each in enumerate(events))))
    return [each.id for each in events]


def uses(ledger: Evidence) -> list[tuple[str, str, int | None]]:
    with ledger.reading() as database:
        rows = database.execute("SELECT session_id, item_id, used_at FROM injections ORDER BY session_id, item_id").fetchall()
    return [tuple(row) for row in rows]


@pytest.fixture
def told(ledger: Evidence) -> Iterator[tuple[Evidence, str, str]]:
    """A turn of an old session that a new one was told; the ledger, the turn's id and the new session's."""
    (item,) = said(ledger, {"session": "old", "at": 1_000, "text": RULE})
    said(ledger, {"session": "new", "at": 4_000, "text": "what about timeouts"})
    with ledger.reading() as database:
        (session,) = database.execute("SELECT id FROM sessions WHERE client_id = 'new'").fetchone()
    ledger.note_injections(session, [item], TOLD_AT)
    assert note_uses(ledger) == 0
    yield ledger, item, session


@pytest.mark.parametrize("turn", [
    {"text": "You said: request timeout in src/net/client.py to thirty seconds, so I did that."},
    {"text": "THE REQUEST timeout, in `src/net/client.py`: to thirty!"},
    {"text": "Editing.", "role": "tool_call", "detail": {"file": "/home/me/shop/src/net/client.py", "action": "modified"}},
    {"text": "Editing.", "role": "tool_call", "detail": {"file": "client.py", "action": "read"}},
], ids=["quoted", "quoted with other marks", "its file by the whole path", "its file by its name"])  # fmt: skip
def test_what_was_told_and_then_used_is_marked(told: tuple[Evidence, str, str], turn: dict[str, Any]) -> None:
    ledger, item, session = told
    said(ledger, LATER | {"at": 6_000} | turn)
    assert note_uses(ledger) == 1
    assert uses(ledger) == [(session, item, 6_000)]


@pytest.mark.parametrize("turn", [
    {"text": "request timeout in src/net"},
    {"text": RULE, "at": TOLD_AT},
    {"text": RULE, "session": "another"},
    {"text": RULE, "role": "user"},
    {"text": RULE, "role": "tool_result"},
    {"text": "Reading.", "role": "tool_call", "detail": {"file": "/home/me/shop/src/net/other_client.py", "action": "read"}},
    {"text": "Reading.", "role": "tool_call", "detail": {"file": "/home/me/lib/net.py", "action": "read"}},
], ids=["five words", "before it was told", "another session", "the user's own words", "a tool's output", "a longer name",
        "another file"])  # fmt: skip
def test_what_only_looks_like_a_use_is_none(told: tuple[Evidence, str, str], turn: dict[str, Any]) -> None:
    ledger, item, session = told
    said(ledger, LATER | {"at": 6_000} | turn)
    assert note_uses(ledger) == 0
    assert uses(ledger) == [(session, item, None)]


def test_a_use_is_counted_once_however_often_it_is_looked_at(told: tuple[Evidence, str, str]) -> None:
    ledger, item, session = told
    said(ledger, LATER | {"at": 6_000, "text": RULE}, LATER | {"at": 7_000, "text": RULE})
    assert [note_uses(ledger), note_uses(ledger)] == [1, 0]
    ledger.set_meta("uses", "0")  # as if the note of how far it looked had been lost
    said(ledger, LATER | {"at": 8_000, "text": RULE})
    assert note_uses(ledger) == 0
    assert uses(ledger) == [(session, item, 6_000)]


def test_of_two_workers_that_saw_the_same_use_one_counts_it(told: tuple[Evidence, str, str]) -> None:
    ledger, item, session = told
    seen = [(6_000, session, item)]
    with ledger.writing() as database:
        assert [_mark(database, seen), _mark(database, [(7_000, session, item)])] == [1, 0]
    assert uses(ledger) == [(session, item, 6_000)]


def test_turns_are_looked_at_in_pieces_and_none_is_left_out(told: tuple[Evidence, str, str]) -> None:
    ledger, item, session = told
    said(ledger, *(LATER | {"at": 6_000 + number, "text": f"nothing of it {number}"} for number in range(7)))
    said(ledger, LATER | {"at": 9_000, "text": RULE})
    assert note_uses(ledger, limit=2) == 1
    assert uses(ledger) == [(session, item, 9_000)]


def test_a_used_memory_knows_how_often_and_when(memory_told: tuple[Evidence, list[str]]) -> None:
    ledger, _ = memory_told
    for number, client in enumerate(("one", "two")):
        said(ledger, {"session": client, "role": "assistant", "at": 6_000 + number, "text": "I ran make lint-all first"})
    assert note_uses(ledger) == 2
    with ledger.reading() as database:
        assert tuple(database.execute("SELECT use_count, used_at FROM memories").fetchone()) == (2, 6_001)
        assert feedback.told(database, ["m1"]) == {"m1": feedback.Told(3, 2, 6_001)}
        assert feedback.told(database, ["m1"], until=6_000) == {"m1": feedback.Told(3, 1, 6_000)}
        assert feedback.told(database, ["m1"], until=4_999) == {}


@pytest.fixture
def memory_told(ledger: Evidence) -> tuple[Evidence, list[str]]:
    """A memory that three sessions were told."""
    (turn,) = said(ledger, {"session": "old", "text": "always run `make lint-all` before a commit"})
    said(ledger, *({"session": client, "at": 4_000, "text": "go on"} for client in ("one", "two", "three")))
    with ledger.writing() as database:
        keep(database, "m1", turn, "I ran make lint-all first: do that", kind="instruction")
        sessions = [row[0] for row in database.execute("SELECT id FROM sessions WHERE client_id <> 'old'").fetchall()]
    for session in sessions:
        ledger.note_injections(session, ["m1"], TOLD_AT)
    return ledger, sessions


def keep(database: Database, identifier: str, turn: str, text: str, *, kind: str = "fact", pinned: int = 0) -> None:
    database.execute(
        "INSERT INTO memories (id, level, kind, text, confidence, trust, observer, subject, scope, valid_from, pinned,"
        " created_at, evidence) VALUES (?, 'observation', ?, ?, 0.8, 'user', 'a', 'user', 'global', 5, ?, 5, 1)",
        (identifier, kind, text, pinned),
    )
    database.execute(
        "INSERT INTO links (memory_id, number, role, turn_id, created_at) VALUES (?, 1, 'derived_from', ?, 5)", (identifier, turn)
    )


@pytest.mark.parametrize(("text", "command", "is_use"), [
    ("always run `make lint-all` before a commit", "cd shop && make lint-all", True),
    ("run make lint-all before a commit", "make lint-all", True),
    ("run make lint-all before a commit", "make", False),
    ("the word `make` is short", "make something else", False),
    ("use pytest", "pytest -q", False),
])  # fmt: skip
def test_a_command_that_stands_in_it_is_a_use(text: str, command: str, is_use: bool) -> None:
    assert Item("i", 0, text).ran(command) is is_use


@given(text=st.text(st.characters(), max_size=200), other=st.text(st.characters(), max_size=200))
def test_any_text_can_be_told_and_said(text: str, other: str) -> None:
    item = Item("i", 0, text)
    assert {type(item.quoted(other)), type(item.touched(other)), type(item.ran(other))} == {bool}


def test_a_forgotten_thing_that_was_told_is_no_trouble(told: tuple[Evidence, str, str]) -> None:
    ledger, item, _ = told
    with ledger.writing() as database:
        database.execute("DELETE FROM traces")
        database.execute("UPDATE injections SET item_id = 'gone'")
    said(ledger, LATER | {"at": 6_000, "text": RULE})
    assert note_uses(ledger) == 0
    assert item not in [each[1] for each in uses(ledger)]


@given(used=st.integers(0, 10**9), unused=st.integers(0, 10**9), age=st.floats(-1e9, 1e9))
def test_the_factor_keeps_its_bounds(used: int, unused: int, age: float) -> None:
    assert feedback.LEAST <= feedback.factor(used, used + unused, age) <= feedback.MOST


def test_used_things_rise_and_unused_ones_sink_with_every_time_and_age_takes_half_of_its_share_in_a_year() -> None:
    assert feedback.factor(0, 0, 0) == 1
    assert feedback.factor(0, 20, 0) < feedback.factor(0, 3, 0) < 1 < feedback.factor(1, 3, 0) < feedback.factor(3, 3, 0)
    aged = [1 - feedback.factor(0, 0, days) for days in (365, 730, 36_500)]
    assert aged == pytest.approx([feedback.AGE_TAKES / 2, feedback.AGE_TAKES * 3 / 4, feedback.AGE_TAKES])


def test_of_equals_the_used_stands_first_and_rules_do_not_age(memory_told: tuple[Evidence, list[str]]) -> None:
    ledger, sessions = memory_told
    (turn,) = said(ledger, {"session": "old", "text": "evidence", "key": "e"})
    with ledger.writing() as database:
        for name, kind, pinned in (("used", "fact", 0), ("unused", "fact", 0), ("fact", "fact", 0), ("rule", "preference", 0),
                                   ("pinned", "fact", 1)):  # fmt: skip
            keep(database, name, turn, f"the {name} thing", kind=kind, pinned=pinned)
        for session in sessions:
            for name in ("used", "unused"):
                database.execute("INSERT INTO injections (session_id, item_id, at) VALUES (?, ?, 10)", (session, name))
        database.execute("UPDATE injections SET used_at = 20 WHERE item_id = 'used'")
    names = ("unused", "used", "fact", "rule", "pinned")
    kinds = {"rule": "preference"}
    hits = [Found(name, kinds.get(name, "fact"), "user", "", 0, "", "", "", None, {"words": 1.0}) for name in names]
    with ledger.reading() as database:
        feedback.weigh(database, hits, now_ms=1_000 * DAY)
    ranked = sorted(hits, key=lambda hit: (-hit.score, hit.id))
    assert [hit.id for hit in ranked] == ["used", "pinned", "rule", "fact", "unused"]
    assert [hit.score for hit in ranked if hit.id in ("pinned", "rule")] == [1.0, 1.0]
    assert all(hit.score == pytest.approx(1.0 + hit.parts.get("use", 0.0)) for hit in hits)
    with ledger.reading() as database:  # as things stood before anything was told
        feedback.weigh(database, hits, now_ms=1_000 * DAY, until=9)
    assert [hit.parts for hit in hits] == [{"words": 1.0}] * len(hits)


@pytest.mark.slow
def test_the_worker_counts_what_an_agent_used(tmp_path: Path) -> None:
    """The real hook and worker: a session is told something another one said, and the agent quotes it."""
    home, folder = Home(tmp_path / "home"), str(tmp_path)
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    installed = Installed(home, install_launcher(home.root), environ)
    asked = {"cwd": folder, "hook_event_name": "UserPromptSubmit"}
    installed.fire(prompt("old", 1, RULE, **asked))
    installed.settled(1)
    numbers = iter(range(2, 10_000))

    def told() -> bool:
        """A worker answers in time sooner or later, however busy the machine is."""
        number = next(numbers)
        call = prompt(f"new{number}", number, "what is the request timeout of the client", **asked)
        argv = [*installed.hook, "claude-code", "UserPromptSubmit"]
        ran = subprocess.run(argv, input=json.dumps(call).encode(), capture_output=True, env=environ, check=True)
        stop = call | {"hook_event_name": "Stop", "last_assistant_message": f"As you said: {RULE}."}
        installed.fire(stop)
        return b"thirty seconds" in ran.stdout and used(home) > 0  # of this session or of one before it

    def used(home: Home) -> int:
        with Ledger.open(home.ledger, SystemClock(), read_only=True) as ledger:
            return sum(used_at is not None for _, _, used_at in uses(ledger))

    try:
        until(told, "an answer of the worker whose use is counted", seconds=120)
    finally:
        daemon.stop(home.root)
