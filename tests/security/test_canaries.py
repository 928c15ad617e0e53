"""Every kind of secret, sent on every way in -> no byte of it in any file of the home (P10).

The home is searched as a thief would: journal, archives, ledger with its log and free pages, full-text index, damage, logs,
backups.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.launcher import install_launcher
from hindbrain.ledger.store import Ledger
from hindbrain.serve import backup
from hindbrain.serve.drain import Drain
from hindbrain.serve.memory import Memory
from tests.security.redaction_examples import TABLE

OPEN, CLOSE = "⟪", "⟫"
# Shorter ones may stand in a file by chance, or are ordinary words that only their context makes a secret.
SHORTEST = 12


def canaries() -> list[tuple[str, str, list[str]]]:
    """Rule, text, and the secrets in it that no file may hold."""
    found = []
    for rule, examples in TABLE.items():
        for text in examples.secrets:
            secrets = [part.split(CLOSE)[0] for part in text.split(OPEN)[1:]]
            found.append((rule, text.replace(OPEN, "").replace(CLOSE, ""), [each for each in secrets if len(each) >= SHORTEST]))
    return found


def drained(home: Home) -> None:
    with Ledger.open(home.ledger, SystemClock()) as ledger:
        drain = Drain(home, ledger, SystemClock(), [home.root.parent / "projects"])
        drain.run()
        drain.archive(keep=0)
        drain.close()


def leaks(home: Home, also: Path) -> list[tuple[str, str]]:
    """Rules whose secret stands in a file, plain or as JSON escapes it."""
    contents = {path: path.read_bytes() for path in [*home.root.rglob("*"), also] if path.is_file()}
    assert len(contents) >= 2
    wrong = []
    for rule, _, secrets in canaries():
        for secret in secrets:
            forms = {secret.encode(), json.dumps(secret)[1:-1].encode(), json.dumps(json.dumps(secret))[3:-3].encode()}
            wrong += [(rule, path.name) for path, data in contents.items() if any(form in data for form in forms)]
    return wrong


def as_payloads() -> list[dict[str, object]]:
    """Each text once as a prompt, once in what a tool printed, once as JSON that a tool was given."""
    base = {"session_id": "s1", "cwd": "/nonexistent/project", "transcript_path": "/nonexistent/s1.jsonl"}
    found: list[dict[str, object]] = []
    for number, (_, text, _) in enumerate(canaries()):
        found.append({**base, "hook_event_name": "UserPromptSubmit", "prompt_id": f"p{number}", "prompt": text})
        found.append({
            **base, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": f"t{number}",
            "tool_input": {"command": json.dumps({"body": text})}, "tool_response": {"stdout": text, "stderr": ""},
        })  # fmt: skip
    return found


@pytest.mark.slow
def test_no_secret_that_goes_through_the_hook_is_in_any_file(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    hook = [*install_launcher(home.root), "claude-code"]
    with Memory(home.root):
        home.wake.unlink(missing_ok=True)
    for payload in as_payloads():
        environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        (home.root / "worker.start").write_text("1\n")  # a worker seems to be coming up: none is started
        ran = subprocess.run(hook, input=json.dumps(payload).encode(), capture_output=True, env=environ, check=False)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    drained(home)
    written = backup.create(home, tmp_path / "backup.tar.gz", SystemClock(), lambda _: None)
    assert len(canaries()) >= 250
    assert leaks(home, written.path) == []


def test_no_secret_of_a_transcript_or_of_the_library_is_in_any_file(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    folder = tmp_path / "projects" / "-p"
    folder.mkdir(parents=True)
    path = folder / "s1.jsonl"
    lines = [
        {
            "type": "user", "uuid": f"u{number}", "promptId": f"p{number}", "sessionId": "s1",
            "message": {"role": "user", "content": text},
        }
        for number, (_, text, _) in enumerate(canaries())
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Memory(home.root) as memory:
        for number, (_, text, _) in enumerate(canaries()):
            memory.record(agent="a", session="s2", role="user", text=text, key=str(number))
            memory.remember(text)
    with Ledger.open(home.ledger, SystemClock()) as ledger:
        drain = Drain(home, ledger, SystemClock(), [tmp_path / "projects"])
        drain.follow(str(path), done := drain.run())
        drain.close()
        assert done.followed >= len(lines)
    assert leaks(home, path.with_name("none")) == []


def test_the_search_would_find_a_secret_that_was_let_through(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with Memory(home.root) as memory:
        memory.record(agent="a", session="s", role="user", text="nothing secret")
        memory.settle()
    rule, text, _ = next(each for each in canaries() if each[2])
    (home.root / "leak").write_text(json.dumps(text))
    (home.root / "more").write_text("x")
    assert (rule, "leak") in leaks(home, home.root / "more")
