"""A forked session's transcript repeats what was said before the fork, unmarked; that stays with the session it came from."""

from __future__ import annotations

import time

from tests.serve.installed import Installed, until
from tests.serve.test_transcripts import line, texts, transcript


def at(ms: int) -> str:
    return time.strftime(f"%Y-%m-%dT%H:%M:%S.{ms % 1000:03d}Z", time.gmtime(ms // 1000))


def test_what_a_fork_copied_is_not_said_again_whoever_reads_it(installed: Installed) -> None:
    before = int(time.time() * 1000) - 60_000
    path = transcript(installed, "fork")
    payload = {"session_id": "fork", "transcript_path": str(path), "cwd": "/nonexistent/project"}
    installed.fire({**payload, "hook_event_name": "SessionStart", "source": "fork"})
    path.write_text(
        line("user", "said before", session="fork", timestamp=at(before))
        + line("user", "said here", session="fork", timestamp=at(before + 120_000))
    )
    installed.fire({**payload, "hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "prompt": "said here"})
    until(lambda: texts(installed, "fork") == [("user", "said here")], "the fork's own prompt")
    installed.cli("daemon", "stop")
    with path.open("a") as file:
        file.write(line("user", "said later", session="fork", timestamp=at(before + 130_000)))
    installed.cli("daemon", "start")  # reads what no hook told of
    until(lambda: texts(installed, "fork") == [("user", "said here"), ("user", "said later")], "the line added since")
