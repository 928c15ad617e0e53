"""A throw-away home -> the product shown: a decision, its amendment, the next session told how it stands, a page corrected.

Nothing of the user's is touched. The home is made in a temporary directory, the hook is the installed one, every call a
process of its own, the worker a real process and the kill a real SIGKILL; at the end all of it is gone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import HindbrainError, LedgerNotReady
from hindbrain.base.files import lock_holder
from hindbrain.base.home import Home
from hindbrain.capture.launcher import install_launcher
from hindbrain.capture.start import start_worker
from hindbrain.ledger import reasoned
from hindbrain.ledger.reasoned import Known
from hindbrain.serve import daemon
from hindbrain.serve.status import look, opened

_WAIT_SECONDS: Final = 150.0  # the killed worker may have held a job, which is taken back when its lease of 120 s is over
_DECIDED: Final = "We'll use PostgreSQL for the orders service, not MySQL."
_AMENDED: Final = "We decided to move the orders service from PostgreSQL to MySQL, because the hosting only offers MySQL."
_REASON: Final = "the hosting only offers MySQL"
_BETTER_REASON: Final = "the contract with the hosting covers MySQL alone"
# put together here, so that no file of this package holds a text that looks like a key
SECRET: Final = "gh" + "p_" + "k9Zt" * 9

Say = Callable[[str], None]


def run(say: Say) -> None:
    """Show it; raises when anything is not as promised."""
    with tempfile.TemporaryDirectory(prefix="hindbrain-demo-") as scratch:
        home, shop = Home(Path(scratch) / "home"), Path(scratch) / "shop"
        shop.mkdir()
        hook = [*install_launcher(home.root), "claude-code"]
        say(f"home      {home.root}")
        say(f"hook      {' '.join(hook)} EVENT")
        try:
            _first_session(home, hook, shop, say)
            _second_session(home, hook, shop, say)
            _third_session(home, hook, shop, say)
            _wiki(home, say)
            _secret(home, say)
        finally:
            daemon.stop(home.root)
    say("done      the worker has left and the home is removed")
    say("next      hindbrain install claude-code, then start a session; hindbrain status shows what it captured")


def _first_session(home: Home, hook: list[str], shop: Path, say: Say) -> None:
    say("")
    say("session 1, as Claude Code's hooks report it")
    calls = list(_calls(shop))
    half = len(calls) // 2
    for event, call in calls[:half]:
        _fire(hook, event, call)
        _show(say, call)
    pid = _until(lambda: lock_holder(home.worker_lock), "a worker to start")
    os.kill(pid, signal.SIGKILL)
    say(f"          -- worker {pid}, started by the first call, is killed with SIGKILL --")
    for event, call in calls[half:]:
        _fire(hook, event, call)
        _show(say, call)
    lines = _until(lambda: _settled(home, len(calls)), "all lines to be stored")
    seen = look(home, SystemClock())
    stored = f"{seen.stored.turns} turns in {seen.stored.sessions} session"
    say(f"stored    {len(calls)} calls, each its own process, gave {lines} lines: {stored}; lost {seen.lost.count}")
    _until(lambda: len(_decisions(home)), "the session to be read")
    for kept in _decisions(home):
        say(f"known     {kept.kind}: {kept.text} [{kept.id}]")


def _show(say: Say, call: dict[str, object]) -> None:
    for name, who in (("prompt", "user"), ("last_assistant_message", "assistant")):
        if name in call:
            say(f"          {who}: {str(call[name]).replace(SECRET, SECRET[:6] + '...')}")


def _second_session(home: Home, hook: list[str], shop: Path, say: Say) -> None:
    """A later decision replaces an earlier one."""
    say("")
    say("session 2 changes a decision")
    base = {"session_id": "demo-2", "transcript_path": "/nonexistent/demo-2.jsonl", "cwd": str(shop)}
    turn = {**base, "prompt_id": "prompt-1"}
    for event, call in (
        ("SessionStart", {**base, "hook_event_name": "SessionStart", "source": "startup"}),
        ("UserPromptSubmit", {**turn, "hook_event_name": "UserPromptSubmit", "prompt": _AMENDED}),
        ("Stop", {**turn, "hook_event_name": "Stop", "last_assistant_message": "Done: the orders service runs on MySQL."}),
        ("SessionEnd", {**base, "hook_event_name": "SessionEnd", "reason": "other"}),
    ):
        _fire(hook, event, dict(call))
        _show(say, dict(call))
    _until(lambda: sum(not kept.stands for kept in _decisions(home)), "the older decision to be replaced")
    for kept in _decisions(home):
        state = "stands" if kept.stands else f"replaced by {kept.superseded_by}"
        say(f"known     {kept.kind}: {kept.text} [{kept.id}], {state}")


def _decisions(home: Home) -> list[Known]:
    """What is known of the database, the oldest first."""
    ledger = opened(home, SystemClock())
    if ledger is None:
        return []
    with ledger, ledger.reading() as database:
        rows = database.execute("SELECT id FROM memories WHERE level = 'observation' AND text LIKE '%orders service%'").fetchall()
        return sorted(reasoned.known(database, [row[0] for row in rows]).values(), key=lambda kept: kept.valid_from)


def _third_session(home: Home, hook: list[str], shop: Path, say: Say) -> None:
    say("")
    say("session 3, in the same folder, asks \"which database does the orders service use?\"; the hook's answer:")
    call: dict[str, object] = {
        "session_id": "demo-3", "cwd": str(shop), "hook_event_name": "UserPromptSubmit", "prompt_id": "p9",
        "prompt": "which database does the orders service use?", "transcript_path": "/nonexistent/demo-3.jsonl",
    }  # fmt: skip
    _tell(_fire(hook, "UserPromptSubmit", call), "MySQL", say)
    _source(home, say)
    say("session 3 asks it once more; nothing is told twice:")
    again = _fire(hook, "UserPromptSubmit", call | {"prompt_id": "p10"})
    say(again or "          (silence: the session has it already)")


def _tell(answer: str, wanted: str, say: Say) -> None:
    if wanted not in answer:
        raise HindbrainError(f"the second session was not told of {wanted}: {answer[:200]!r}")
    for line in json.loads(answer)["hookSpecificOutput"]["additionalContext"].splitlines():
        say(f"          {line if len(line) < 170 else line[:167] + '...'}")


def _source(home: Home, say: Say) -> None:
    """Where what stands was said: down to the line of the journal."""
    (kept,) = [each for each in _decisions(home) if each.stands]
    ledger = opened(home, SystemClock())
    if ledger is None:
        raise HindbrainError("the ledger is gone")
    with ledger, ledger.reading() as database:
        ground = reasoned.why(database, kept.id).turns[0]
    place = f"journal {ground.segment}, byte {ground.start}"
    say(f"source    {kept.id} rests on what the {ground.role} said: \"{ground.text}\" ({place})")


def _wiki(home: Home, say: Say) -> None:
    """The pages, and a line that a person corrects in one."""
    from hindbrain.base.config import load
    from hindbrain.serve.wikis import Wiki

    wiki = Wiki.of(load(str(home.root), environ={"HOME": str(home.root)}))
    pages, _ = wiki.compile(settle=True)
    say("")
    say(f"wiki      {len(pages.written)} pages; of projects/shop.md:")
    page = wiki.folder.root / "projects/shop.md"
    for line in page.read_text("utf-8").partition("## Decisions\n")[2].partition("\n## ")[0].strip().splitlines():
        say(f"          {line}")
    page.write_text(page.read_text("utf-8").replace(_REASON, _BETTER_REASON), "utf-8")
    os.utime(page, (0, 0))  # one that was saved this very moment may be half there, and would wait
    done, _ = wiki.compile()
    say(f"edit      a person puts \"{_BETTER_REASON}\" for \"{_REASON}\" and compiles: {len(done.acts)} edit taken in")
    (kept,) = [each for each in _decisions(home) if each.stands]
    if _BETTER_REASON not in kept.text:
        raise HindbrainError(f"the edit did not reach the memory: {kept.text!r}")
    say(f"known     {kept.kind}: {kept.text} [{kept.id}], by a person, stands")


def _settled(home: Home, lines: int) -> int:
    if lock_holder(home.worker_lock) is None:  # killed so soon after its start that no call started another
        start_worker(os.fsencode(home.root))
    try:
        seen = look(home, SystemClock())
    except LedgerNotReady:
        return 0  # killed while it made the tables; the next one goes on
    return seen.stored.lines if seen.stored.lines > lines and seen.lag.lines == 0 else 0


def _calls(shop: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """What Claude Code sends in a short session."""
    base = {"session_id": "demo-1", "transcript_path": "/nonexistent/demo-1.jsonl", "cwd": str(shop)}
    talk = [
        (_DECIDED, "I will use PostgreSQL and note the decision."),
        (f"The deploy token is {SECRET}, keep it to yourself.", "Understood, I will not repeat it."),
        ("Why does the login test fail?", "The login test's clock was in UTC while the cookie used local time; fixed."),
    ]
    yield "SessionStart", {**base, "hook_event_name": "SessionStart", "source": "startup"}
    for number, (prompt, reply) in enumerate(talk):
        turn = {**base, "prompt_id": f"prompt-{number}"}
        yield "UserPromptSubmit", {**turn, "hook_event_name": "UserPromptSubmit", "prompt": prompt}
        yield "PostToolUse", {
            **turn, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": f"tool-{number}",
            "tool_input": {"command": "pytest -q"}, "tool_response": {"stdout": f"{number} failed", "stderr": ""},
        }  # fmt: skip
        yield "Stop", {**turn, "hook_event_name": "Stop", "last_assistant_message": reply}
    yield "SessionEnd", {**base, "hook_event_name": "SessionEnd", "reason": "other"}


def _fire(hook: list[str], event: str, call: dict[str, object]) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HINDBRAIN_")}
    argv, data = [*hook, event], json.dumps(call).encode()
    ran = subprocess.run(argv, input=data, capture_output=True, env=environ, timeout=30, check=False)
    if ran.returncode:
        raise HindbrainError(f"the hook ended with {ran.returncode}: {ran.stderr[:200]!r}")
    return ran.stdout.decode()


def _until(ready: Callable[[], int | None], what: str) -> int:
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        if found := ready():
            return found
        if time.monotonic() > deadline:
            raise HindbrainError(f"waited {_WAIT_SECONDS:g} s in vain for {what}")
        time.sleep(0.05)


def _secret(home: Home, say: Say) -> None:
    files = [path for path in home.root.rglob("*") if path.is_file()]
    holding = [path for path in files if SECRET.encode() in path.read_bytes()]
    redacted = look(home, SystemClock()).stored.redacted
    if holding or not redacted:
        raise HindbrainError(f"the secret was found in {holding}" if holding else "the secret was not seen by any rule")
    say("")
    say(f"secret    the token typed in session 1 is in none of {len(files)} files; removed by rule {', '.join(redacted)}")
