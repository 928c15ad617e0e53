"""`hindbrain install` and `uninstall` on real files, most of them through the real command line."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from hindbrain.capture.launcher import BOOT
from hindbrain.journal.read import Record, read_segment, segments
from hindbrain.serve import daemon
from hindbrain.serve.install import manifest
from tests.serve.installed import until
from tests.serve.installing import EVENTS, User
from tests.serve.settings_styles import REFUSED, STYLES
from tests.serve.test_install_text import texts

PLAIN = b'{\n  "model": "opus"\n}\n'
OTHER = b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "other"}]}]}}\n'


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User.at(tmp_path)


def fire(user: User, command: list[str], payload: bytes) -> list[bytes]:
    """Run a hook as the agent does; what is in the journal then."""
    # says that a worker is on its way, so that none is started
    (user.home.root / "worker.start").write_text(f"{os.getpid()}\n")
    (user.home.root / "worker.start").chmod(0o600)
    ran = subprocess.run(command, input=payload, env={}, capture_output=True, timeout=60, check=False)
    daemon.stop(user.home.root)  # on a machine so slow that it is started all the same
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    items = [item for path in segments(user.home.journal) for item in read_segment(path)]
    return [item.line.payload for item in items if isinstance(item, Record)]


def ours(user: User, event: str, python: str = sys.executable) -> list[str]:
    return [python, "-I", "-S", "-c", BOOT, str(user.home.root / "hook.py"), "claude-code", event]


def test_each_event_gets_one_hook_that_runs_without_a_shell(user: User) -> None:
    user.has(PLAIN)
    said = user.done("install", "claude-code")
    found = json.loads(user.settings.read_text())
    timeouts = {"SessionEnd": 15}
    assert found == {"model": "opus", "hooks": {event: [{"hooks": [{
        "type": "command", "command": sys.executable, "args": ours(user, event)[1:], "timeout": timeouts.get(event, 10),
    }]}] for event in EVENTS}}  # fmt: skip
    [backup] = (user.home.install / "backup").iterdir()
    assert backup.read_bytes() == PLAIN
    assert str(user.settings) in said and str(backup) in said and "hindbrain uninstall claude-code" in said
    modes = {stat.S_IMODE(path.stat().st_mode) for path in user.home.install.rglob("*") if path.is_file()}
    assert modes == {0o600}


def test_what_was_installed_captures_when_the_agent_runs_it(user: User) -> None:
    user.done("install", "claude-code")
    [command] = user.commands()["Stop"]
    payload = json.dumps({"session_id": "s", "hook_event_name": "Stop", "last_assistant_message": "m"}).encode()
    assert fire(user, command, payload) == [payload]


# Every style is tried on its text elsewhere; with files, which have to be synced, these are enough for every day.
SOME = ["tabs and CRLF", "byte order mark", "minified", "no final newline", "empty file", "repeated keys", "escapes"]
FILES = [pytest.param(name, marks=() if name in SOME else pytest.mark.slow) for name in STYLES]


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_any_style_comes_back_byte_by_byte(user: User, name: str) -> None:
    user.has(STYLES[name])
    before = user.tree()
    assert user.install().changes
    assert user.settings.read_bytes() != STYLES[name]
    assert user.uninstall() == ["restored"]
    assert user.tree() == before


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_any_style_that_was_touched_since_loses_our_hooks_alone(user: User, name: str) -> None:
    user.has(STYLES[name])
    user.install()
    user.settings.write_bytes(user.settings.read_bytes() + b" ")
    user.uninstall()
    left = user.settings.read_bytes()
    assert left == STYLES[name] + b" " or (not STYLES[name].strip(b"\xef\xbb\xbf \r\n\t") and left == STYLES[name])


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts())
def test_installing_and_uninstalling_any_document_is_the_identity(user: User, text: str) -> None:
    user.has(text.encode())
    user.install()
    user.uninstall()
    assert user.settings.read_bytes() == text.encode()


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_edited_is_left_alone_and_nothing_is_made(user: User, name: str) -> None:
    data, message = REFUSED[name]
    user.has(data)
    before = user.tree(user.root)
    with pytest.raises(Exception) as caught:
        user.install()
    assert message in str(caught.value)
    assert user.tree(user.root) == before


def test_a_comment_ends_the_command_with_a_sentence_and_exit_code_4(user: User) -> None:
    user.has(b'{\n  // mine\n}\n')
    before = user.tree(user.root)
    for command in (["install", "claude-code"], ["install", "claude-code", "--dry-run"]):
        ran = user.cli(*command)
        assert (ran.returncode, ran.stdout) == (4, "")
        assert ran.stderr == (
            f"error: cannot edit {user.settings}: line 2, column 3: a comment, which JSON does not allow\n"
            "hint: correct the file and try again; it was left as it is\n"
        )
    assert user.tree(user.root) == before


def test_where_there_was_nothing_there_is_nothing_again(user: User) -> None:
    user.done("install", "claude-code")
    assert list(user.commands()) == EVENTS
    said = user.done("uninstall", "claude-code")
    assert "verified: no hook of ours is left; 9 were removed" in said
    assert user.tree() == {}


def test_a_folder_of_ours_that_is_used_by_others_stays(user: User) -> None:
    user.install()
    (user.folder / "CLAUDE.md").write_text("mine")
    user.uninstall()
    assert user.tree() == {".claude": b"/", ".claude/CLAUDE.md": b"mine"}


def test_installing_twice_changes_no_byte(user: User) -> None:
    user.has(OTHER)
    user.done("install", "claude-code")
    first, at = user.settings.read_bytes(), user.settings.stat().st_mtime_ns
    assert user.done("install", "claude-code") == f"already installed for Claude Code: {user.settings}\n"
    assert (user.settings.read_bytes(), user.settings.stat().st_mtime_ns) == (first, at)
    user.done("uninstall", "claude-code")
    assert user.settings.read_bytes() == OTHER


def test_uninstalling_what_is_not_installed_says_so(user: User) -> None:
    assert user.done("uninstall", "claude-code") == f"not installed for Claude Code: {user.settings}\n"
    user.has(OTHER)
    assert user.done("uninstall") == f"not installed for Claude Code: {user.settings}\n"
    assert user.tree(user.root) == {"user": b"/", "user/.claude": b"/", "user/.claude/settings.json": OTHER}


def test_a_dry_run_shows_the_change_and_makes_nothing(user: User) -> None:
    user.has(PLAIN)
    before = user.tree(user.root)
    shown = user.done("install", "claude-code", "--dry-run")
    assert shown.startswith(f'--- {user.settings}\n+++ {user.settings}\n@@ -1,3 +1,')
    assert '-  "model": "opus"\n+  "model": "opus",\n+  "hooks": {\n' in shown
    told = json.loads(user.done("install", "claude-code", "--dry-run", "--json"))
    assert (told["changed"], told["dry_run"], told["added"], told["diff"]) == (True, True, EVENTS, shown)
    assert user.tree(user.root) == before
    user.install()
    after = user.tree(user.root)
    gone = user.done("uninstall", "claude-code", "--dry-run")
    assert '+  "model": "opus"\n' in gone and '-  "hooks": {\n' in gone
    assert user.tree(user.root) == after


def test_json_tells_a_program_what_was_done(user: User) -> None:
    user.has(b'{"disableAllHooks": true}')
    ran = user.cli("install", "claude-code", "--json")
    warning = f"{user.settings} says disableAllHooks: the hooks will not run"
    assert ran.stderr == f"warning: {warning}\n"
    [backup] = (user.home.install / "backup").iterdir()
    assert json.loads(ran.stdout) == {
        "agent": "claude-code", "scope": "user", "path": str(user.settings), "dry_run": False, "changed": True, "added": EVENTS,
        "updated": [], "command": ours(user, "x")[:-2], "backup": str(backup), "warnings": [warning],
    }  # fmt: skip
    told = json.loads(user.done("uninstall", "claude-code", "--json"))
    file = {"path": str(user.settings), "scope": "user", "how": "restored", "hooks": 9, "verified": True}
    assert told == {"agent": "claude-code", "dry_run": False, "files": [file], "purged": None}


def test_edits_between_install_and_uninstall_are_kept(user: User) -> None:
    user.has(PLAIN)
    user.install()
    document = json.loads(user.settings.read_text())
    document["theme"] = "dark"
    document["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "new"}]})
    document["hooks"]["PreToolUse"] = []
    user.settings.write_text(json.dumps(document, indent=4))
    assert user.uninstall() == ["edited"]
    assert json.loads(user.settings.read_text()) == {
        "model": "opus", "theme": "dark",
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "new"}]}], "PreToolUse": []},
    }  # fmt: skip


def test_edits_are_kept_when_an_update_came_in_between(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    user.has(PLAIN)
    user.install()
    user.settings.write_bytes(user.settings.read_bytes().replace(b"opus", b"haiku"))
    monkeypatch.setattr(sys, "executable", "/opt/new/python")
    assert user.install().change.updated == tuple(EVENTS)
    assert user.uninstall() == ["edited"]
    assert user.settings.read_bytes() == PLAIN.replace(b"opus", b"haiku")


def test_hooks_removed_by_hand_are_not_missed(user: User) -> None:
    user.has(PLAIN)
    user.install()
    user.settings.write_bytes(PLAIN)
    assert user.uninstall() == ["untouched"]
    user.install()
    user.settings.unlink()
    assert user.uninstall() == ["untouched"]
    assert user.tree() == {".claude": b"/"}


def test_another_interpreter_updates_the_hooks_and_the_way_back_stays_open(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    user.has(OTHER)
    user.install()
    first = user.settings.read_bytes()
    monkeypatch.setattr(sys, "executable", "/opt/new/python")
    assert (user.install().change.updated, user.install().changes) == (tuple(EVENTS), False)
    assert user.settings.read_bytes() == first.replace(os.fsencode(json.dumps(ours(user, "")[0])), b'"/opt/new/python"')
    assert user.uninstall() == ["restored"]
    assert user.settings.read_bytes() == OTHER


def moved(user: User, name: str) -> User:
    return User(user.root, type(user.home)(user.root / name), {**user.environ, "HINDBRAIN_HOME": str(user.root / name)})


@pytest.mark.parametrize("reinstall", [True, False])
def test_a_moved_home_still_owns_its_hooks(user: User, reinstall: bool) -> None:
    user.has(OTHER)
    user.install()
    later = moved(user, "elsewhere")
    user.home.root.rename(later.home.root)
    if reinstall:
        planned = later.install()
        assert (planned.change.updated, planned.warnings) == (tuple(EVENTS), ())
        assert later.commands()["SessionEnd"] == [ours(later, "SessionEnd")]
    assert later.uninstall() == ["restored"]
    assert user.settings.read_bytes() == OTHER


def test_hooks_of_another_home_are_named_and_left(user: User) -> None:
    user.has(OTHER)
    user.install()
    first = user.settings.read_bytes()
    copy = moved(user, "copy")
    shutil.copytree(user.home.root, copy.home.root)
    assert copy.install().warnings == (f"hooks of another home were left in place: {user.home.root}",)
    assert user.commands()["PreCompact"] == [ours(user, "PreCompact"), ours(copy, "PreCompact")]
    assert copy.uninstall() == ["restored"]
    assert user.settings.read_bytes() == first
    copy.install()
    assert (user.uninstall(), copy.uninstall()) == (["edited"], ["edited"])
    assert user.settings.read_bytes() == OTHER


def test_without_a_manifest_hooks_are_known_by_their_launcher(user: User) -> None:
    user.has(PLAIN)
    user.install()
    shutil.rmtree(user.home.root)
    assert "only our hooks were removed" in user.done("uninstall", "claude-code")
    assert user.settings.read_bytes() == PLAIN
    assert not user.home.root.exists()
    user.install()
    shutil.rmtree(user.home.install)
    assert user.install().changes is False
    assert user.uninstall() == ["edited"]
    assert user.settings.read_bytes() == PLAIN


def test_a_link_stays_a_link_and_its_target_is_changed(user: User) -> None:
    dotfiles = user.root / "dot files"
    dotfiles.mkdir()
    (dotfiles / "claude.json").write_bytes(OTHER)
    user.folder.mkdir()
    user.settings.symlink_to("../../dot files/claude.json")
    user.done("install", "claude-code")
    assert user.settings.is_symlink() and sorted(user.commands(dotfiles / "claude.json")) == sorted(EVENTS)
    user.done("uninstall", "claude-code")
    assert user.settings.is_symlink() and (dotfiles / "claude.json").read_bytes() == OTHER
    assert [path.name for path in dotfiles.iterdir()] == ["claude.json"]
    (dotfiles / "claude.json").unlink()
    user.install()
    user.uninstall()
    assert user.settings.is_symlink() and list(dotfiles.iterdir()) == []


def test_mode_and_owner_are_kept(user: User) -> None:
    user.has(PLAIN)
    user.settings.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(user.settings, 12345, 23456)
    found = user.settings.stat()
    for step in (user.install, user.uninstall):
        step()
        now = user.settings.stat()
        assert (now.st_mode, now.st_uid, now.st_gid) == (found.st_mode, found.st_uid, found.st_gid)


def ordinary() -> tuple[str, ...]:
    """Root may write anywhere; without this right it is an owner like any other."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("not run: root, and setpriv is not installed")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_is_read_only_is_left_alone(user: User, what: str) -> None:
    user.has(PLAIN)
    for step in ("install", "uninstall"):
        before = user.tree(user.root)
        if what != "folder":
            user.settings.chmod(0o400)
        if what != "file":
            user.folder.chmod(0o500)
        ran = user.cli(step, "claude-code", before=ordinary())
        assert ran.returncode == 4, ran.stdout
        assert "read-only for you\nhint: make it writable for you" in ran.stderr
        user.folder.chmod(0o700)
        user.settings.chmod(0o600)
        now = user.tree(user.root)
        assert {name: now[name] for name in now if not name.startswith("data/install/lock")} == \
            {name: before[name] for name in before if not name.startswith("data/install/lock")}  # fmt: skip
        user.install()


def test_no_folder_can_be_made_in_a_read_only_place(user: User) -> None:
    (user.root / "user").chmod(0o500)
    ran = user.cli("install", "claude-code", before=ordinary())
    (user.root / "user").chmod(0o700)
    assert ran.returncode == 4 and "read-only" in ran.stderr
    assert user.tree(user.root) == {"user": b"/"}


def test_a_settings_file_that_is_no_file_is_refused(user: User) -> None:
    user.settings.mkdir(parents=True)
    assert user.cli("install", "claude-code").returncode == 4
    user.settings.rmdir()
    os.mkfifo(user.settings)
    ran = user.cli("install", "claude-code")
    assert ran.returncode == 4 and "is not a plain file" in ran.stderr


def test_spaces_and_letters_of_all_kinds_in_every_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = User.at(tmp_path / "a b" / "ünï 日本 'q\" $(x)")
    python = tmp_path / "py thon é" / "python"
    python.parent.mkdir()
    python.symlink_to(os.path.realpath(sys.executable))
    monkeypatch.setattr(sys, "executable", str(python))
    user.install("project")
    [command] = user.commands(user.root / ".claude" / "settings.json")["SessionStart"]
    assert command == ours(user, "SessionStart", str(python))
    assert fire(user, command, b'{"session_id":"s"}') == [b'{"session_id":"s"}']
    assert user.uninstall("project") == ["deleted"]
    assert not (user.root / ".claude").exists()


def test_a_path_that_is_no_text_is_refused(tmp_path: Path) -> None:
    user = User.at(tmp_path)
    odd = User(user.root, type(user.home)(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))), user.environ)
    with pytest.raises(Exception, match="it is not UTF-8"):
        odd.install()
    assert user.tree(user.root) == {"user": b"/"}


def test_project_and_user_settings_are_two_places(user: User) -> None:
    project = user.root / "my project"
    project.mkdir()
    user.install()
    said = user.done("install", "claude-code", "--project", cwd=project)
    assert "think twice before committing it" in said
    assert list(user.commands(project / ".claude" / "settings.json")) == EVENTS
    ran = user.cli("uninstall", "claude-code")
    assert ran.stderr == f"note: hooks remain in {project / '.claude' / 'settings.json'} (project)\n"
    assert user.tree() == {} and (project / ".claude").exists()
    user.done("uninstall", "claude-code", "--project", cwd=project)
    assert list(project.iterdir()) == []


def test_the_agents_own_variable_names_the_folder(user: User) -> None:
    user.done("install", "claude-code", CLAUDE_CONFIG_DIR=str(user.root / "config"))
    assert list(user.commands(user.root / "config" / "settings.json")) == EVENTS
    assert user.tree() == {}
    user.done("uninstall", "claude-code")  # the manifest knows the place without the variable
    assert not (user.root / "config").exists()


def test_several_installers_at_once_leave_one_hook_per_event(user: User) -> None:
    user.has(OTHER)
    homes = [user, user, user, moved(user, "second"), moved(user, "third")]
    running = [subprocess.Popen(one.argv("install", "claude-code"), env=dict(one.environ)) for one in homes]
    assert [process.wait(timeout=60) for process in running] == [0] * len(homes)
    wanted = {tuple(ours(one, "Stop")) for one in homes} | {("other",)}
    found = [tuple(command) for command in user.commands()["Stop"]]
    assert len(found) == 4 and set(found) == wanted
    for one in homes[2:]:
        one.uninstall()
    assert user.settings.read_bytes() == OTHER


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_an_installer_waits_for_another_one_of_the_same_home(user: User) -> None:
    with manifest.held(user.home):
        process = subprocess.Popen(user.argv("install", "claude-code"), env=dict(user.environ), stdout=subprocess.DEVNULL)

        def at_the_lock() -> bool:
            assert process.poll() is None, "it did not wait"
            return str(user.home.install / "lock") in map(os.path.realpath, Path(f"/proc/{process.pid}/fd").iterdir())

        until(at_the_lock, "the installer to come to the lock")
        assert user.tree() == {}
    assert process.wait(timeout=60) == 0
    assert list(user.commands()) == EVENTS


def test_a_file_changed_between_reading_and_writing_is_not_overwritten(user: User) -> None:
    from hindbrain.serve.install import settings as files

    user.has(PLAIN)
    seen = files.look(user.settings)
    user.settings.write_bytes(OTHER)
    with pytest.raises(files.ChangedMeanwhile):
        files.write(seen, b"{}", user.home.root)
    assert user.tree() == {".claude": b"/", ".claude/settings.json": OTHER}


def test_a_damaged_manifest_is_told_not_guessed_at(user: User) -> None:
    user.has(PLAIN)
    user.install()
    before = user.settings.read_bytes()
    (user.home.install / "manifest.json").write_text('{"format": 99}')
    ran = user.cli("uninstall", "claude-code")
    assert ran.returncode == 4 and "its format is 99" in ran.stderr
    assert user.settings.read_bytes() == before
    (user.home.install / "manifest.json").unlink()
    user.done("uninstall", "claude-code")
    assert user.settings.read_bytes() == PLAIN
