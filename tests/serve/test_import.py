"""hindbrain import: transcripts from before become memory, each turn once, whatever happens on the way."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.files import lock_holder
from hindbrain.base.home import Home
from hindbrain.capture.event import session_id
from hindbrain.ledger.store import Ledger
from tests.serve.commands import CommandLine
from tests.serve.installed import Installed, until
from tests.serve.test_transcripts import line, texts, transcript

HOLDER = """
import os, sys
from pathlib import Path
from hindbrain.base.files import Lock

lock = Lock(Path(sys.argv[1]))
lock.acquire()
lock.write(f"{os.getpid()}\\n")
print("held", flush=True)
sys.stdin.readline()
lock.release()
sys.stdin.readline()
"""


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return CommandLine(Home(tmp_path / "data"), tmp_path, capsys)


def write(run: CommandLine, session: str, turns: int, *, age: int = 0, folder: str = "user/.claude/projects/-shop") -> Path:
    place = run.folder / folder
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{session}.jsonl"
    said = [line("user", f"{session} asks number {n}", prompt=f"p{n}", session=session) for n in range(turns)]
    path.write_text("".join(said))
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    return path


def stored(run: CommandLine) -> list[tuple[str, str]]:
    with Ledger.open(run.home.ledger, SystemClock(), read_only=True) as ledger:
        rows = ledger.connection.execute("SELECT id, text FROM turns ORDER BY rowid").fetchall()
    return [(row[0], row[1]) for row in rows]


def files(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_everything_is_imported_oldest_first_and_only_once(run: CommandLine) -> None:
    for session, age in (("new", 0), ("old", 200), ("middle", 100)):
        write(run, session, 2, age=age)
    first = run.one("import", "claude-code")
    assert (first["files"], first["turns_new"], first["turns_known"], first["sessions"], first["failed"]) == (3, 6, 0, 3, 0)
    assert [text.split()[0] for _, text in stored(run)] == ["old", "old", "middle", "middle", "new", "new"]
    assert [Path(each["path"]).stem for each in first["by_file"]] == ["old", "middle", "new"]
    before = stored(run)
    again = run.one("import", "claude-code")
    assert (again["turns_new"], again["turns_known"], again["read"], stored(run)) == (0, 6, 0, before)


def test_a_dry_run_counts_and_writes_nothing(run: CommandLine) -> None:
    path = write(run, "s1", 3)
    planned = run.one("import", "claude-code", "--dry-run")
    assert not run.home.root.exists()
    assert {name: planned[name] for name in ("files", "sessions", "turns_new", "turns_known", "bytes", "read")} == {
        "files": 1, "sessions": 1, "turns_new": 3, "turns_known": 0, "bytes": path.stat().st_size, "read": path.stat().st_size,
    }  # fmt: skip
    run.one("import", "claude-code")
    added = line("user", "one more", prompt="p9", session="s1")
    with path.open("a") as file:
        file.write(added)
    before = files(run.home.root)
    more = run.one("import", "claude-code", "--dry-run")
    assert (more["turns_new"], more["turns_known"], more["read"]) == (1, 3, len(added))
    changed = {name for name, data in files(run.home.root).items() if before.get(name) != data}
    assert {Path(name).name for name in changed} <= {"ledger.db-shm", "ledger.db-wal"}
    assert run.one("import", "claude-code")["turns_new"] == 1
    shown = run("import", "claude-code", "--dry-run").out.splitlines()
    assert shown[0].split() == ["0", "new", "4", "known", "0", "of", str(path.stat().st_size), "bytes", "to", "read", str(path)]


def test_what_a_model_would_use_is_told_before_anything_is_taken_in(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    write(run, "s1", 3)
    assert run.one("import", "claude-code", "--dry-run")["estimate"] is None
    monkeypatch.setenv("HINDBRAIN_MODEL", "openai:gpt-4o-mini")
    monkeypatch.setenv("HINDBRAIN_MODEL_URL", "http://127.0.0.1:1/v1")  # nobody is asked for an estimate
    short = run.one("import", "claude-code", "--dry-run")["estimate"]
    assert not run.home.root.exists()
    write(run, "s2", 300)
    planned = run("import", "claude-code", "--dry-run", "--json")
    told = planned.data["estimate"]
    assert short["calls"] == 2 and told["calls"] > 7  # two sessions, one of them in several stretches
    assert 0 < short["tokens"] < told["tokens"] and 0 < short["cost"] < told["cost"]
    said = (
        f"estimate: openai:gpt-4o-mini reads what is new with about {told['calls']} questions, {told['tokens']:,} tokens,"
        f" ${told['cost']:.2f}; at most 500,000 tokens and $0.50 a day, then rules read on\n"
    )
    assert planned.err == said
    (run.folder / "user/.claude/projects/-shop/broken.jsonl").write_text("{nonsense\n")
    done = run("import", "claude-code", "--json")
    assert done.err.startswith(said) and done.data["estimate"] == told
    assert (done.data["turns_new"], done.data["problems"]) == (303, 1)
    nothing = run.one("import", "claude-code")
    assert (nothing["turns_new"], nothing["estimate"]) == (0, {"calls": 0, "tokens": 0, "cost": 0.0})


def test_what_a_hook_told_is_known_to_an_import(installed: Installed) -> None:
    path = transcript(installed)
    base = {"session_id": "s1", "transcript_path": "/nonexistent/s1.jsonl", "cwd": "/nonexistent/project", "prompt_id": "p1"}
    installed.fire({**base, "hook_event_name": "UserPromptSubmit", "prompt": "find the bug"})
    installed.settled(1)
    path.write_text(line("user", "find the bug") + line("assistant", [{"type": "text", "text": "Looking."}]))
    planned = json.loads(installed.cli("import", "claude-code", "--dry-run", "--json").stdout)
    ran = installed.cli("import", "claude-code", "--json")  # the worker still runs; it is asked to leave
    assert ran.returncode == 0, ran.stderr
    done = json.loads(ran.stdout)
    assert (planned["turns_new"], planned["turns_known"]) == (done["turns_new"], done["turns_known"]) == (1, 1)
    assert texts(installed) == [("assistant", "Looking."), ("user", "find the bug")]
    assert lock_holder(installed.home.worker_lock) is None
    with Ledger.open(installed.home.ledger, SystemClock(), read_only=True) as ledger:
        found = {turn.text: turn.origins for turn in ledger.turns_of(session_id("claude-code", "s1"))}
    assert found["find the bug"] == {"hook", "transcript"}


def test_an_imported_session_has_its_project_and_can_be_followed_on(installed: Installed, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    path = transcript(installed)
    path.write_text(line("user", "where is the walrus", cwd=str(project)))
    assert installed.cli("import", "claude-code").returncode == 0
    shown = installed.cli("search", "walrus", "--project", str(project))
    assert "where is the walrus" in shown.stdout, shown.stderr
    with path.open("a") as file:
        file.write(line("user", "found it", prompt="p2", cwd=str(project)))
    installed.fire({"session_id": "s1", "transcript_path": str(path), "cwd": str(project), "hook_event_name": "SessionEnd"})
    until(lambda: len(texts(installed)) == 2, "the live session to go on behind the import")


def test_folders_and_files_may_be_named_and_one_reached_twice_counts_once(run: CommandLine) -> None:
    one, two = write(run, "one", 1, folder="elsewhere/a/b/c"), write(run, "two", 2, folder="other place")
    link = run.folder / "link"
    link.symlink_to(one.parent)
    places = [run.folder / "elsewhere", two, one, link, f"{two.parent}/../other place"]
    done = run.one("import", "claude-code", *map(str, places))
    assert (done["files"], done["turns_new"], done["failed"]) == (2, 3, 0)


def test_subagents_transcripts_are_left_to_their_parents(run: CommandLine) -> None:
    write(run, "main", 1)
    write(run, "agent-7", 1)
    write(run, "x", 1, folder="user/.claude/projects/-shop/main/subagents")
    assert run.one("import", "claude-code")["files"] == 1


def test_configured_folders_are_among_the_usual_ones(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    write(run, "one", 1, folder="mine")
    write(run, "two", 1, folder="config/projects/-x")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(run.folder / "config"))
    monkeypatch.setenv("HINDBRAIN_CAPTURE_TRANSCRIPT_ROOTS", str(run.folder / "mine"))
    assert run.one("import", "claude-code", "--dry-run")["files"] == 2


def test_files_that_cannot_be_read_are_told_of_and_the_others_go_on(run: CommandLine) -> None:
    good = write(run, "good", 1)
    os.mkfifo(good.with_name("pipe.jsonl"))
    good.with_name("link.jsonl").symlink_to(good)
    bad_name = os.fsencode(good.parent) + b"/bad\xff.jsonl"
    Path(os.fsdecode(bad_name)).write_text("{}\n")
    Path(run.folder / "notes.txt").write_text("no transcript")
    ran = run("import", "claude-code", str(good.parent), str(run.folder / "notes.txt"))
    assert ran.code == 7
    assert "imported: 1 new turns (0 known) in 1 sessions, from 1 files" in ran.out and "failed: 4 files" in ran.out
    told = sorted(text.split(": ", 2)[1].rpartition("/")[2] for text in ran.err.splitlines())
    assert told == ["bad\\udcff.jsonl", "link.jsonl", "notes.txt", "pipe.jsonl"]
    assert ran.err.replace("\n", "").isprintable()
    planned = run("import", "claude-code", "--dry-run", str(good.parent))
    assert (planned.code, planned.out.count("failed  ")) == (7, 3)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_told_of(run: CommandLine) -> None:
    write(run, "good", 1)
    write(run, "secret", 1).chmod(0)
    assert run("import", "claude-code").code == 7 and len(stored(run)) == 1


def test_lines_that_cannot_be_read_are_told_of_and_left_out(run: CommandLine) -> None:
    path = write(run, "s1", 1)
    path.write_text(path.read_text() + "not json\n" * 8 + '["a list"]\n' + line("user", "after", prompt="p9", session="s1")
                    + line("user", "half a line", session="s1")[:40])  # fmt: skip
    ran = run("import", "claude-code")
    assert (ran.code, len(stored(run))) == (0, 2)
    assert ran.err.count("left out: ") == 6 and "4 more pieces" in ran.err
    assert run.one("import", "claude-code")["read"] == 0


def test_a_transcript_that_was_replaced_is_read_again(run: CommandLine) -> None:
    path = write(run, "s1", 2)
    run("import", "claude-code")
    path.write_text(line("user", "quite another beginning", session="s1") + path.read_text())
    planned, done = run.one("import", "claude-code", "--dry-run"), run.one("import", "claude-code")
    assert [(each["turns_new"], each["turns_known"]) for each in (planned, done)] == [(1, 2), (1, 2)]
    assert planned["read"] == path.stat().st_size


def test_secrets_in_old_transcripts_do_not_reach_the_home(run: CommandLine) -> None:
    secret = "gh" + "p_" + "k9Zt" * 9
    write(run, "s1", 1).write_text(line("user", f"push with {secret}", session="s1"))
    planned, done = run.one("import", "claude-code", "--dry-run"), run.one("import", "claude-code")
    assert planned["turns_new"] == done["turns_new"] == 1
    assert [name for name, data in files(run.home.root).items() if secret.encode() in data] == []


def test_nothing_to_import_is_said(run: CommandLine) -> None:
    ran = run("import", "claude-code")
    assert (ran.code, ran.err.split("\n")[0], run.home.root.exists()) == (0, "no transcripts were found", False)


def test_the_ledger_made_anew_by_an_import_has_what_was_archived(run: CommandLine) -> None:
    path = write(run, "first", 1)
    run("import", "claude-code")
    path.unlink()
    (segment,) = run.home.journal.glob("*.log")
    run.home.archive.mkdir(mode=0o700)
    (run.home.archive / f"{segment.name}.gz").write_bytes(gzip.compress(segment.read_bytes()))
    segment.unlink()
    for path in run.home.root.glob("ledger.db*"):
        path.unlink()
    write(run, "second", 1)
    run("import", "claude-code")
    assert {text.split()[0] for _, text in stored(run)} == {"first", "second"}


def test_a_program_that_settles_its_records_is_waited_for_and_not_ended(run: CommandLine) -> None:
    write(run, "s1", 1)
    run.home.root.mkdir(mode=0o700)
    held = [sys.executable, "-c", HOLDER, str(run.home.worker_lock)]
    holder = subprocess.Popen(held, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdin is not None and holder.stdout is not None and holder.stdout.readline() == b"held\n"
    argv = [sys.executable, "-m", "hindbrain", "--home", str(run.home.root), "import", "claude-code"]
    importing = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with pytest.raises(subprocess.TimeoutExpired):
        importing.communicate(timeout=1.5)
    assert holder.poll() is None
    holder.stdin.write(b"\n")
    holder.stdin.flush()
    _, err = importing.communicate(timeout=60)
    assert (importing.returncode, holder.poll()) == (0, None), err
    holder.communicate(b"\n", timeout=60)


CUT_OFF = """
import os, sys
from hindbrain.capture import record
from hindbrain.serve.cli import main

number, moment, real, calls = int(sys.argv.pop(1)), sys.argv.pop(1), record.append_to, []

def cut_off(journal, data):
    calls.append(1)
    if len(calls) == 6 and moment == "before":
        os.kill(os.getpid(), number)
    real(journal, data)
    if len(calls) == 6:
        os.kill(os.getpid(), number)

record.append_to = cut_off
main()
"""


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_import_that_was_cut_off_goes_on_and_loses_nothing(run: CommandLine, number: int, moment: str) -> None:
    for each in range(12):
        write(run, f"s{each}", 10, age=40 - each)
    argv = [sys.executable, "-c", CUT_OFF, str(int(number)), moment, "--home", str(run.home.root), "import", "claude-code"]
    cut = subprocess.run(argv, capture_output=True, timeout=60, check=False)
    known = len(stored(run))
    assert 0 < known < 120 and cut.stdout == b""
    if number == signal.SIGINT:
        files_done = b"import stopped after 4 of 12 files; run the same command again and it goes on from there\ninterrupted\n"
        assert (cut.returncode, cut.stderr) == (130, files_done)
    assert run.one("import", "claude-code")["turns_new"] + known >= 110  # a line that was written and not taken in comes first
    found = stored(run)
    assert (len(found), len(set(found))) == (120, 120)


def test_two_imports_at_once_store_everything_once(run: CommandLine) -> None:
    for each in range(4):
        write(run, f"s{each}", 20)
    argv = [sys.executable, "-m", "hindbrain", "--home", str(run.home.root), "import", "claude-code"]
    both = [subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
    ended = [(each.communicate(timeout=120)[1], each.returncode) for each in both]
    assert [code for _, code in ended] == [0, 0], ended
    assert len(stored(run)) == 80
