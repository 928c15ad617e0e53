"""Parts of different versions meet: what a newer one wrote is kept, counted and shown, and an older launcher goes on working."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final

import pytest

import hindbrain
from hindbrain.base.home import Home
from hindbrain.capture.decode import events_of
from hindbrain.capture.event import Event, decode, encode
from hindbrain.capture.launcher import install_launcher
from hindbrain.journal.append import append
from hindbrain.journal.line import EVENT, HOOK, frame
from hindbrain.journal.read import Record
from hindbrain.ledger.check import problems
from hindbrain.ledger.rebuild import rebuild
from hindbrain.ledger.store import Ledger
from hindbrain.serve.status import look
from tests.crash.agent import Agent, payload, worker_or_none
from tests.crash.history import Ended
from tests.faults.homes import CLOCK, NOW, store, turn

AT_NS: Final = NOW * 1_000_000
MARK: Final = "wordofthefuture"


def event_line(**changed: object) -> bytes:
    """An event of ours, changed as another version might write it; a value of None takes the field away."""
    data = {**json.loads(encode(turn(1, text=MARK, cwd=""))), **changed}
    told = {name: value for name, value in data.items() if value is not None}
    return frame(EVENT, b"claude-code", AT_NS, json.dumps(told).encode())


def hook_line(agent: bytes = b"claude-code", meta: dict[str, bytes] | None = None, **changed: object) -> bytes:
    data = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt_id": "p", "prompt": MARK, **changed}
    return frame(HOOK, agent, AT_NS, json.dumps(data).encode(), meta)


# what is written -> what kind of row it becomes
LINES: Final[dict[str, tuple[bytes, str]]] = {
    "an event of the next version": (event_line(v=3), "unparsed"),
    "an event whose version is no number": (event_line(v="next"), "unparsed"),
    "an event without a version": (event_line(v=None), "unparsed"),
    "an event of an unknown kind": (event_line(kind="dream"), "unparsed"),
    "a turn of an unknown role": (event_line(role="oracle"), "unparsed"),
    "an event of an unknown origin": (event_line(origin="telepathy"), "unparsed"),
    "an event whose source has another shape": (event_line(source={"path": "/t", "line": 3}), "unparsed"),
    "an event whose time is written as text": (event_line(at="2031-01-01"), "unparsed"),
    "an event with fields that came later": (event_line(mood="calm", weight=[1, 2]), "turn"),
    "an event with unknown details": (event_line(detail={"future": {"deep": [1]}}), "turn"),
    "a line of an unknown kind": (frame("digest", b"claude-code", AT_NS, MARK.encode()), "unparsed"),
    "a hook of an agent that is not known yet": (hook_line(agent=b"agent-of-2031"), "unparsed"),
    "a hook with header fields that came later": (hook_line(meta={"zz": b"new", "q": b"1"}), "turn"),
    "a hook with fields that came later": (hook_line(future={"x": 1}), "turn"),
    "a hook call of an unknown name": (hook_line(hook_event_name="DreamStarted"), "notice"),
    "a hook payload that is a list": (frame(HOOK, b"claude-code", AT_NS, json.dumps([MARK]).encode()), "unparsed"),
}  # fmt: skip


def journal_of(home: Home, *lines: bytes) -> None:
    """The lines between two that are as always."""
    first, last = (frame(EVENT, b"claude-code", AT_NS, encode(turn(number, cwd=""))) for number in (10, 11))
    for line in (first, *lines, last):
        append(bytes(home.root), line)


def texts(ledger: Ledger) -> dict[str, list[str]]:
    """By kind: what rows say, with their details."""
    found: dict[str, list[str]] = {}
    rows = ledger.connection.execute("SELECT 'turn', text || detail FROM turns UNION ALL SELECT kind, text || detail FROM events")
    for kind, text in rows:
        found.setdefault(kind, []).append(text)
    return found


@pytest.mark.parametrize("name", LINES)
def test_what_another_version_wrote_is_kept_and_shown(tmp_path: Path, name: str) -> None:
    line, kind = LINES[name]
    home = Home(tmp_path / "home")
    journal_of(home, line)
    store(home)
    with Ledger.open(home.ledger, CLOCK) as ledger:
        found = texts(ledger)
        assert len(found["turn"]) == (3 if kind == "turn" else 2), "its neighbours are stored as always"
        assert kind == "notice" or any(MARK in text for text in found[kind]), found
        assert problems(ledger, home.journal, home.archive) == []
    seen = look(home, CLOCK)
    assert (seen.stored.lines, seen.lag.lines, seen.stored.unparsed) == (3, 0, int(kind == "unparsed"))
    assert seen.stored.events.get("notice", 0) == int(kind == "notice")


def test_a_line_of_another_format_is_told_as_damage_and_a_copy_is_kept(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    line = LINES["an event with fields that came later"][0].replace(b"\nH1 ", b"\nH2 ")
    journal_of(home, line)
    store(home)
    seen = look(home, CLOCK)
    assert (seen.stored.turns, seen.stored.damaged + seen.stored.torn) == (2, 1)
    (copy,) = home.damage.iterdir()
    assert copy.read_bytes() == line.strip(b"\n")


def test_a_later_version_reads_what_this_one_could_only_keep(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    journal_of(home, event_line(v=3))
    store(home, archive=True)

    def later(record: Record) -> list[Event]:
        """A reader to which the next version of an event is known."""
        if b'"v": 3' in record.line.payload:
            return [decode(record.line.payload.replace(b'"v": 3', b'"v": 1'))]
        return events_of(record)

    rebuild(home.archive, home.journal, later, tmp_path / "new.db", CLOCK)
    with Ledger.open(tmp_path / "new.db", CLOCK) as ledger:
        assert ledger.search(MARK)[0].text == MARK
        assert set(texts(ledger)) == {"turn"}


def test_the_check_notices_a_reader_that_drops_what_it_does_not_know(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    journal_of(home, event_line(v=3))

    def dropping(record: Record) -> list[Event]:
        return [event for event in events_of(record) if event.kind != "unparsed"]

    rebuild(home.archive, home.journal, dropping, tmp_path / "new.db", CLOCK)
    with Ledger.open(tmp_path / "new.db", CLOCK) as ledger:
        assert not any(MARK in text for kind in texts(ledger).values() for text in kind)


# The first launcher: it knew nothing of answers.
FIRST_LAUNCHER: Final = """\
import sys
sys.path.append({package!r})
from hindbrain.capture.hook import main
main({home!r})
"""


def test_a_launcher_of_the_first_version_works_with_the_package_of_today(tmp_path: Path) -> None:
    package = str(Path(hindbrain.__file__).parent.parent)
    agent = Agent(tmp_path, install_launcher(tmp_path / "installed")).prepare()
    (tmp_path / "installed" / "hook.py").write_text(FIRST_LAUNCHER.format(package=package, home=bytes(agent.home)))
    with worker_or_none(agent.home):
        agent.call("old", payload("old"))
        agent.argv = [*agent.argv, "PostToolUse"]
        agent.call("old, with the event named", payload("old, with the event named"))
    assert [operation.ended for operation in agent.history.operations] == [Ended.ACKNOWLEDGED] * 2
    assert agent.problems() == []


@pytest.mark.parametrize("main", ["def main(home): posix._exit(0)", "def main(home, answers, more): posix._exit(0)"])
def test_a_launcher_of_today_with_a_package_it_does_not_fit_is_a_counted_loss(tmp_path: Path, main: str) -> None:
    package = tmp_path / "lib"
    shutil.copytree(Path(hindbrain.__file__).parent, package / "hindbrain", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "hindbrain" / "capture" / "hook.py").write_text(f"import posix\n{main}\n")
    agent = Agent(tmp_path, install_launcher(tmp_path / "installed")).prepare()
    launcher = tmp_path / "installed" / "hook.py"
    own = str(Path(hindbrain.__file__).resolve().parent.parent)
    launcher.write_text(launcher.read_text().replace(repr(own), repr(str(package))))
    with worker_or_none(agent.home):
        agent.call("misfit", payload("misfit"))
    assert [operation.ended for operation in agent.history.operations] == [Ended.REPORTED]
    assert agent.losses() == 1
