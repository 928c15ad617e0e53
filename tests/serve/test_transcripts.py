"""Hooks and transcripts together: every turn once, whoever tells of it, and sessions no hook told of are caught up."""

from __future__ import annotations

import json
import os
from pathlib import Path

from hindbrain.base.clock import SystemClock
from hindbrain.capture.event import session_id
from hindbrain.ledger.store import Ledger
from hindbrain.serve.status import opened
from tests.serve.installed import Installed, until


def line(kind: str, content: object, *, prompt: str = "p1", session: str = "s1", **more: object) -> str:
    message = {"role": kind, "content": content}
    whole: dict[str, object] = {
        "type": kind, "message": message, "sessionId": session, "uuid": f"u{hash(str(content))}", "isSidechain": False,
        "timestamp": "2026-11-15T10:00:00.000Z", "cwd": "/nonexistent/project", **more,
    }  # fmt: skip
    if kind == "user":
        whole["promptId"] = prompt
    return json.dumps(whole) + "\n"


def transcript(installed: Installed, session: str = "s1") -> Path:
    folder = Path(installed.environ["HOME"]) / ".claude" / "projects" / "-nonexistent-project"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{session}.jsonl"


def texts(installed: Installed, session: str = "s1") -> list[tuple[str, str]]:
    ledger = opened(installed.home, SystemClock())
    if ledger is None:
        return []
    with ledger:
        return sorted((turn.role, turn.text) for turn in ledger.turns_of(session_id("claude-code", session)))


def test_what_hooks_and_transcript_both_say_is_one_turn_and_the_rest_is_added(installed: Installed) -> None:
    path = transcript(installed)
    base = {"session_id": "s1", "transcript_path": str(path), "cwd": "/nonexistent/project", "prompt_id": "p1"}
    path.write_text(line("user", "find the bug") + line("assistant", [{"type": "text", "text": "Looking."}]))
    installed.fire({**base, "hook_event_name": "UserPromptSubmit", "prompt": "find the bug"})
    installed.fire({**base, "hook_event_name": "Stop", "last_assistant_message": "Found it."})
    wanted = [("assistant", "Found it."), ("assistant", "Looking."), ("user", "find the bug")]
    until(lambda: texts(installed) == wanted, "hook and transcript to be one")
    with path.open("a") as file:  # the last reply reaches the file after Stop
        file.write(line("assistant", [{"type": "text", "text": "Found it."}]))
    installed.fire({**base, "hook_event_name": "SessionEnd", "reason": "other"})

    def known_from_both() -> bool:
        with Ledger.open(installed.home.ledger, SystemClock(), read_only=True) as ledger:
            found = {turn.text: turn.origins for turn in ledger.turns_of(session_id("claude-code", "s1"))}
        return found.get("Found it.") == frozenset({"hook", "transcript"})

    until(known_from_both, "the transcript's last line")
    assert texts(installed) == wanted


def test_a_secret_in_a_transcript_reaches_no_file_and_the_ids_still_agree(installed: Installed) -> None:
    secret = "gh" + "p_" + "Zz19" * 9
    path = transcript(installed)
    path.write_text(line("user", f"push with {secret} please"))
    installed.fire({
        "session_id": "s1", "transcript_path": str(path), "cwd": "/nonexistent/project", "prompt_id": "p1",
        "hook_event_name": "UserPromptSubmit", "prompt": f"push with {secret} please",
    })  # fmt: skip

    def from_both() -> bool:
        with Ledger.open(installed.home.ledger, SystemClock(), read_only=True) as ledger:
            turns = ledger.turns_of(session_id("claude-code", "s1"))
        return len(turns) == 1 and turns[0].origins == {"hook", "transcript"}

    installed.settled(1)
    until(from_both, "hook and transcript to be one turn")
    holding = [path for path in installed.home.root.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert holding == []


def test_a_session_whose_hooks_never_fired_is_caught_up_at_the_next_start(installed: Installed) -> None:
    installed.fire({"session_id": "other", "hook_event_name": "SessionStart", "source": "startup"})
    installed.settled(1)
    installed.cli("daemon", "stop")
    transcript(installed, "unseen").write_text(line("user", "nobody told of this", session="unseen"))
    installed.cli("daemon", "start")
    until(lambda: texts(installed, "unseen") == [("user", "nobody told of this")], "the unseen session")


def test_a_transcript_older_than_the_installation_is_left_to_an_import(installed: Installed) -> None:
    old = transcript(installed, "old")
    old.write_text(line("user", "from last year", session="old"))
    os.utime(old, (1_600_000_000, 1_600_000_000))
    installed.fire({"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup"})
    installed.settled(1)
    installed.cli("daemon", "stop")
    installed.cli("daemon", "start")
    installed.fire({"session_id": "s1", "hook_event_name": "SessionEnd", "reason": "other"})
    installed.settled(2)
    assert texts(installed, "old") == []


def test_a_transcript_path_outside_the_agents_folder_is_not_read(installed: Installed, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text(line("user", "read me"))
    installed.fire({
        "session_id": "s1", "transcript_path": str(foreign), "hook_event_name": "UserPromptSubmit", "prompt_id": "p9",
        "prompt": "hi",
    })  # fmt: skip
    installed.settled(1)
    until(lambda: "not followed" in (installed.home.log / "worker.log").read_text(), "the refusal in the log")
    assert texts(installed) == [("user", "hi")]


def test_a_folders_project_is_known_after_it_is_gone_and_the_ledger_rebuilt(installed: Installed, tmp_path: Path) -> None:
    project = tmp_path / "repo"
    (project / ".git").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (project / ".git" / "config").write_text('[remote "origin"]\n\turl = git@example.com:team/shop.git\n')
    (project / ".git" / "objects").mkdir()
    (project / ".git" / "refs").mkdir()
    installed.fire({
        "session_id": "s1", "cwd": str(project), "hook_event_name": "UserPromptSubmit", "prompt_id": "1", "prompt": "hi",
    })  # fmt: skip

    def identity() -> str | None:
        with Ledger.open(installed.home.ledger, SystemClock(), read_only=True) as ledger:
            place = ledger.place(str(project))
        return place[0] if place else None

    installed.settled(2)
    assert until(identity, "the place") == "git:example.com/team/shop"
    installed.cli("daemon", "stop")
    (project / ".git" / "config").unlink()
    installed.home.ledger.unlink()
    installed.cli("daemon", "start")
    installed.settled(2)
    assert identity() == "git:example.com/team/shop"
