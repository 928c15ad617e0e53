"""remember, correct, pin, forget: what a person says should stay or go, done when the command returns."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.event import session_id
from hindbrain.ledger import memories
from hindbrain.ledger.store import Ledger
from hindbrain.serve.commands.remember import KINDS
from hindbrain.serve.memory import Memory
from tests.serve.commands import CommandLine, Ran, fill
from tests.serve.installed import Installed, prompt
from tests.serve.test_transcripts import line


def repository(folder: Path, remote: str) -> None:
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n')


def holding(home: Home, text: str) -> list[str]:
    return [str(path) for path in home.root.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_the_kinds_offered_are_those_of_the_ledger() -> None:
    assert KINDS == memories.KINDS


def test_what_is_remembered_is_found_at_once_and_in_its_project_alone(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run.one("remember", "the", "walrus", "deploys", "on", "Friday", "--kind", "decision", "--pin")
    assert (made["kind"], made["project"], made["pinned"]) == ("decision", "shop", True)
    assert made["text"] == "the walrus deploys on Friday"
    assert made["id"] in {each["id"] for each in run.one("search", "walrus")}
    assert f"[{made['id'][:6]}]" in run("context").out
    monkeypatch.chdir(run.folder.parent)
    assert run.one("search", "walrus") == []


def test_a_global_memory_holds_in_every_project(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run.one("remember", "--global", "--kind", "preference", "answer in British English")
    assert (made["scope"], made["project"]) == ("global", None)
    monkeypatch.chdir(run.folder.parent)
    assert made["id"] in {each["id"] for each in run.one("search", "British")}
    assert f"[{made['id'][:6]}]" in run("context").out


def test_a_projects_name_means_the_project_that_has_it(run: CommandLine) -> None:
    repository(run.folder, "git@example.com:team/shop.git")
    here = run.one("remember", "said in its folder")
    named = run("remember", "said by its name", "--project", "shop", "--json")
    assert named.data["project_id"] == here["project_id"] and named.err == ""
    new = run("remember", "a beginning", "--project", "garden", "--json")
    assert (new.data["project"], new.err) == ("garden", "a new project begins: garden\n")
    assert run("remember", "more", "--project", "garden", "--json").data["project_id"] == new.data["project_id"]
    assert run.one("remember", "by folder", "--project", ".")["project_id"] == here["project_id"]


def test_a_correction_stays_where_the_old_statement_was(run: CommandLine) -> None:
    old = run.one("remember", "staging is read-only")
    new = run.one("correct", old["id"][:10], "staging", "takes", "writes")
    assert (new["scope"], new["project_id"], new["supersedes"]) == ("project", old["project_id"], [old["id"]])
    again = run("correct", old["id"], "no")
    said = f"error: {old['id']} was replaced by {new['id']}\nhint: name {new['id']} instead\n"
    assert again == Ran(2, "", said)


def test_a_pin_goes_on_and_off(run: CommandLine) -> None:
    made = run.one("remember", "the cellar floods")["id"]
    assert made[:6] not in run("context").out
    assert run.one("pin", made)["pinned"] is True and made[:6] in run("context").out
    assert run.one("pin", made, "--off")["pinned"] is False and made[:6] not in run("context").out


def test_only_a_memory_can_be_corrected_or_pinned(run: CommandLine) -> None:
    turn = fill(run.home, run.folder)["prompt"]
    for command in (("correct", turn, "x"), ("pin", turn)):
        ran = run(*command)
        assert (ran.code, ran.err.split("\n")[0]) == (2, f"error: {turn} is a turn, not a memory")
        assert run(command[0], "m_doesnotexist", *command[2:]).code == 6


def test_a_secret_in_what_is_remembered_is_taken_out(run: CommandLine) -> None:
    secret = "gh" + "p_" + "k9Zt" * 9
    made = run.one("remember", f"the deploy token is {secret}")
    assert secret not in made["text"] and holding(run.home, secret) == []


def test_a_preview_changes_nothing_and_names_what_is_not_changed(run: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "talk"
    folder.mkdir()
    (folder / "s1.jsonl").write_text(line("user", "about the walrus") + line("user", "about the seal", prompt="p2"))
    run("import", "claude-code", str(folder))
    backup = run.one("backup")["written"]
    turn = run.one("search", "walrus", "--all-projects")[0]["id"]
    ran = run("forget", turn, "--dry-run")
    assert ran == Ran(0, "", "\n".join([
        "to be forgotten: 1 turns, 0 memories, 0 sessions",
        "  about the walrus",
        f"not changed, and may still hold it: transcript {folder}/s1.jsonl",
        f"not changed, and may still hold it: backup {backup}", "",
    ]))  # fmt: skip
    data = run.one("forget", "--session", "s1", "--dry-run")
    assert (data["turns"], data["sessions"], data["forgotten"]) == (2, 1, None)
    assert (data["transcripts"], data["backups"]) == ([f"{folder}/s1.jsonl"], [backup])
    assert run("show", turn).code == 0


def test_what_is_forgotten_is_gone_from_every_file_and_does_not_come_back(run: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "talk"
    folder.mkdir()
    (folder / "s1.jsonl").write_text(line("user", "about the walrus") + line("user", "about the seal", prompt="p2"))
    run("import", "claude-code", str(folder))
    turn = run.one("search", "walrus", "--all-projects")[0]["id"]
    assert holding(run.home, "walrus")
    gone = run.one("forget", turn[:14], "--yes")["forgotten"]
    assert (gone["turns"], gone["lines"]) == (1, 1)
    assert holding(run.home, "walrus") == []
    (folder / "s1.jsonl").rename(folder / "s2.jsonl")  # the same turns under another name
    assert run.one("import", "claude-code", str(folder), "--dry-run")["turns_new"] == 0
    assert run("import", "claude-code", str(folder)).code == 0
    assert (run("show", turn).code, holding(run.home, "walrus")) == (6, [])
    assert len(run.one("search", "seal", "--all-projects")) == 1


@pytest.mark.parametrize("what", [["--session", "talk-1"], ["--project", "."], ["--project", "shop"]])
def test_a_session_or_project_is_forgotten_as_a_whole(run: CommandLine, what: list[str]) -> None:
    ids = fill(run.home, run.folder)
    assert run("forget", *what, "--yes").code == 0
    left = {name for name, each in ids.items() if run("show", each).code == 0}
    assert left == ({"second", "foreign"} if "--session" in what else {"foreign"})


def test_a_session_may_be_named_as_the_id(run: CommandLine) -> None:
    fill(run.home, run.folder)
    session = run.one("show", "talk-1")["id"]
    assert run.one("forget", session, "--yes")["forgotten"]["turns"] == 3


def test_what_still_waits_in_the_journal_is_forgotten_too(run: CommandLine) -> None:
    with Memory(run.home.root) as memory:
        turn = memory.record(agent="a", session="s", role="user", text="about the walrus", project=str(run.folder))
    assert run("forget", turn, "--yes").code == 0
    assert holding(run.home, "walrus") == []


def test_without_a_terminal_nothing_is_forgotten_unasked(run: CommandLine) -> None:
    ids = fill(run.home, run.folder)
    argv = [sys.executable, "-m", "hindbrain", "--home", str(run.home.root), "forget", ids["prompt"]]
    ran = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, run("show", ids["prompt"]).code) == (2, "", 0)
    assert ran.stderr.endswith("error: forgetting asks first, and there is nobody to ask\n"
                               "hint: add --yes, or look with --dry-run\n")  # fmt: skip


@pytest.mark.parametrize(("answer", "code", "left"), [("n", 130, 0), ("y", 0, 6)])
def test_on_a_terminal_it_asks(run: CommandLine, answer: str, code: int, left: int) -> None:
    ids = fill(run.home, run.folder)
    ours, theirs = pty.openpty()
    try:
        os.write(ours, f"{answer}\n".encode())
        argv = [sys.executable, "-m", "hindbrain", "--home", str(run.home.root), "forget", ids["prompt"]]
        ran = subprocess.run(argv, stdin=theirs, capture_output=True, text=True, timeout=60, check=False)
    finally:
        os.close(ours)
        os.close(theirs)
    assert "forget it for good? [y/N]" in ran.stderr
    assert (ran.returncode, run("show", ids["prompt"]).code) == (code, left)


def test_with_a_worker_at_work_the_effect_is_there_as_well(installed: Installed) -> None:
    installed.fire(prompt("s1", 1, "about the walrus"))
    installed.settled(1)
    made = installed.cli("remember", "--global", "the seal is grey")
    assert made.returncode == 0, made.stderr
    assert "the seal is grey" in installed.cli("search", "seal", "--all-projects").stdout
    assert installed.cli("forget", "--session", "s1", "--yes").returncode == 0
    assert (installed.cli("show", "s1").returncode, holding(installed.home, "walrus")) == (6, [])


def test_damage_met_on_the_way_is_not_logged_to_the_terminal(run: CommandLine) -> None:
    fill(run.home, run.folder)
    (segment,) = run.home.journal.glob("*.log")
    with segment.open("ab") as file:
        file.write(b"\nH1 \x1b[2J no line of ours\n")
    argv = [sys.executable, "-m", "hindbrain", "--home", str(run.home.root), "remember", "the seal is grey"]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert run.one("status")["damaged"] == 1


def dropped(run: CommandLine, name: str, text: str, codec: str = "utf-8") -> str:
    """A file that the inbox took in; the id of the turn it became."""
    run.home.inbox.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = run.home.inbox / name
    path.write_bytes(text.encode(codec))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    with Memory.open(run.home.root) as memory:
        memory.settle_here()
    with Ledger.open(run.home.ledger, SystemClock()) as ledger:
        turns = ledger.turns_of(session_id("inbox", name))
    return next((turn.id for turn in turns if turn.text == text), "")


@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
@pytest.mark.parametrize("how", ["turn", "session"])
def test_a_file_of_the_inbox_goes_with_what_it_said(run: CommandLine, how: str, codec: str) -> None:
    dropped(run, "dup.md", "About the seal.")
    turn = dropped(run, "dup.md", "About the walrus.", codec)
    other = dropped(run, "other.md", "About the otter.")
    put_away = sorted((run.home.inbox / "done").iterdir())
    (doomed,) = [path for path in put_away if path.name.startswith("dup.") and path.name != "dup.md"]
    what = [turn] if how == "turn" else ["--session", session_id("inbox", "dup.md")]
    ran = run("forget", *what, "--dry-run")
    assert f"goes too: {doomed}\n" in ran.err and "not changed" not in ran.err and doomed.exists()
    assert run("forget", *what, "--yes").code == 0
    assert holding(run.home, "walrus") == []
    wanted = [path for path in put_away if path != doomed and (how == "turn" or path.name != "dup.md")]
    assert sorted((run.home.inbox / "done").iterdir()) == wanted
    assert run("show", other).code == 0


def test_what_a_person_wrote_into_a_file_since_stays_unless_it_still_says_it(run: CommandLine) -> None:
    first, second = dropped(run, "one.md", "About the walrus."), dropped(run, "two.md", "About the walrus, too.")
    done = run.home.inbox / "done"
    (done / "one.md").write_text("Now about the seal.")
    (done / "two.md").write_text("It began: About the walrus, too.")
    (done / "three.md").symlink_to(run.home.root / "elsewhere")
    os.mkfifo(done / "four.md")
    for turn in (first, second):
        assert run("forget", turn, "--yes").code == 0
    assert sorted(path.name for path in done.iterdir()) == ["four.md", "one.md", "three.md"]


def test_a_wish_that_was_cut_off_takes_the_file_later(run: CommandLine) -> None:
    turn = dropped(run, "one.md", "About the walrus.")
    path = run.home.inbox / "done" / "one.md"
    copy = path.read_bytes()
    assert run("forget", turn, "--yes").code == 0
    path.write_bytes(copy)  # as if all had stopped before it was removed
    os.utime(path, (1_700_000_000, 1_700_000_000))
    run.home.forgetting.write_bytes(b"1\n")
    with Memory.open(run.home.root) as memory:
        memory.settle_here()
    assert (path.exists(), run.home.forgetting.exists()) == (False, False)


def test_secrets_are_counted_once_whichever_way_they_came(run: CommandLine, tmp_path: Path) -> None:
    secret = "gh" + "p_" + "k9Zt" * 9
    dropped(run, "one.md", f"The token is {secret}.")
    run("remember", f"the deploy token is {secret}")
    folder = tmp_path / "talk"
    folder.mkdir()
    (folder / "s1.jsonl").write_text(line("user", f"push with {secret} or {secret}"))
    run("import", "claude-code", str(folder))
    with Memory.open(run.home.root) as memory:
        for _ in range(2):
            memory.record(agent="bot", session="s", role="user", text=f"use {secret}", key="k")
        memory.settle_here()
    assert run.one("status")["redacted"]["by_rule"] == {"github-token": 5}


def test_what_is_kept_is_compared_with_what_was_kept_before(run: CommandLine) -> None:
    with Memory(run.home.root) as memory:
        for text in ("always squash merge", "never squash merge", "the build needs make"):
            memory.remember(text, kind="instruction", project=str(run.folder))
            memory.settle()
        (waiting,) = memory.review()
        assert {each.text for each in waiting.sides} == {"always squash merge", "never squash merge"}
