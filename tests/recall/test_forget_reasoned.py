"""What reasoning made of something goes with it, from every file of the home: memories, digests, insights, replies (P13)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.event import session_id
from hindbrain.capture.record import Recorder
from hindbrain.ledger import reasoned
from hindbrain.ledger.reasoned import Call, Statement
from hindbrain.ledger.store import Ledger
from tests.recall.forgetting import holding
from tests.recall.homes import Said, tell
from tests.recall.test_forget import GONE, STAYS, archived, rebuilt

RULES = "rules/1"


def reason(home: Path) -> dict[str, str]:
    """All that can be made of the session that is to be forgotten, and of another one."""
    one, two = session_id("claude-code", "s1"), session_id("claude-code", "s2")
    replies = [Call("k1", 5, "p", "m", "extract", f"it says {GONE}", sessions=(one,)),
               Call("k2", 5, "p", "m", "extract", f"it says {STAYS}", sessions=(two,))]  # fmt: skip
    recorder = Recorder(home)
    recorder.record([reasoned.call_event(each) for each in replies], 5)
    recorder.close()
    with Ledger.open(Home(home).ledger, SystemClock()) as ledger, ledger.writing() as database:
        made = {}
        for session in (one, two):
            said = reasoned.said(database, session)
            found = [Statement("fact", f"found: {turn.text}", (turn.id,), turn.text, 0.8, scope="global") for turn in said]
            reasoned.put(database, session, RULES, found, 5)
            reasoned.put_digest(database, session, said[-1].text, " ".join(turn.text for turn in said), RULES, 5)
            made[session] = next((each.id for each in found if GONE in each.text), found[0].id)
        reasoned.put_insight(database, "insight", f"both about {GONE}", list(made.values()), "global", None, RULES, 5)
        reasoned.contradict(database, made[one], made[two], f"{GONE} or not", 5)
        reasoned.note_change(database, "nap", made[one])
        for each in replies:
            reasoned.put_call(database, each)
    return {"session": "s1", "memory": made[one]}


@pytest.mark.parametrize("what", ["session", "turn"])
@pytest.mark.parametrize("in_archive", [False, True])
def test_what_was_made_of_it_is_in_no_file(memory: Memory, home: Path, tmp_path: Path, what: str, in_archive: bool) -> None:
    ids = tell(memory, [Said(f"before {STAYS}", session="s1"), Said(f"all about {GONE} here", session="s1"),
                        Said(f"elsewhere {STAYS}", session="s2")])  # fmt: skip
    reason(home)
    if in_archive:
        archived(home)
    assert holding(home, GONE)
    if what == "session":
        memory.forget(session="s1")
    else:
        memory.forget(id=ids[1])
    assert holding(home, GONE) == []
    with Ledger.open(Home(home).ledger, SystemClock()) as ledger:
        memory.settle_here()
        assert ledger.connection.execute("SELECT key FROM calls").fetchall() == [("k2",)]
    assert not any(GONE in text for text in rebuilt(home, tmp_path / "new"))
    with Ledger.open(tmp_path / "new" / "new.db", SystemClock()) as ledger:
        assert ledger.connection.execute("SELECT key, reply FROM calls").fetchall() == [("k2", f"it says {STAYS}")]


@pytest.mark.parametrize("in_archive", [False, True])
def test_what_was_found_goes_alone_with_all_that_told_it_and_is_not_found_again(
    memory: Memory, home: Path, tmp_path: Path, in_archive: bool
) -> None:
    ids = tell(memory, [Said(f"before {STAYS}", session="s1"), Said(f"all about {GONE} here", session="s1"),
                        Said(f"elsewhere {STAYS}", session="s2")])  # fmt: skip
    made = reason(home)["memory"]
    if in_archive:
        archived(home)
    gone = memory.forget(id=made)
    assert (gone.turns, gone.memories, gone.sessions) == (0, 1, 0)
    for told in (f"found: all about {GONE}", f"both about {GONE}", f"{GONE} or not", f"it says {GONE}"):
        assert holding(home, told) == []
    with Ledger.open(Home(home).ledger, SystemClock()) as ledger, ledger.writing() as database:
        session = session_id("claude-code", "s1")
        (turn,) = [each for each in reasoned.said(database, session) if each.id == ids[1]]
        found = Statement("fact", f"found: {turn.text}", (turn.id,), turn.text, 0.8, scope="global")
        assert (turn.text, found.id) == (f"all about {GONE} here", made)
        assert made not in reasoned.put(database, session, RULES, [found], 9).new
        assert database.execute("SELECT key FROM calls").fetchall() == [("k2",)]
    assert any(GONE in text for text in rebuilt(home, tmp_path / "new"))
    with Ledger.open(tmp_path / "new" / "new.db", SystemClock()) as ledger, ledger.writing() as database:
        assert reasoned.put(database, session, RULES, [found], 9) == reasoned.Put()
        assert database.execute("SELECT key FROM calls").fetchall() == [("k2",)]
