"""The plugin folder, and what the doctor is told about the places hooks were installed in."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hindbrain import __version__
from hindbrain.serve.install import adding, check
from hindbrain.serve.install.agents import CLAUDE_CODE
from tests.serve.installing import EVENTS, User


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User.at(tmp_path)


def test_a_plugin_folder_has_the_same_hooks(user: User) -> None:
    folder = user.root / "my plugin"
    said = user.done("install", "claude-code", "--plugin", "my plugin")
    assert str(folder) in said
    about = json.loads((folder / ".claude-plugin" / "plugin.json").read_text())
    assert (sorted(about), about["name"], about["version"]) == (["description", "name", "version"], "hindbrain", __version__)
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())
    assert sorted(hooks) == ["description", "hooks"]
    user.install()
    assert hooks["hooks"] == json.loads(user.settings.read_text())["hooks"]
    before = user.tree(folder)
    user.done("install", "claude-code", "--plugin", str(folder))
    assert user.tree(folder) == before
    user.done("uninstall")
    assert not folder.exists() and user.tree() == {}


def test_a_folder_of_somebody_else_is_no_place_for_a_plugin(user: User) -> None:
    (user.root / "theirs").mkdir()
    (user.root / "theirs" / "README.md").write_text("mine")
    (user.root / "file").write_text("")
    for name in ("theirs", "file"):
        assert user.cli("install", "claude-code", "--plugin", name).returncode == 4
    assert user.cli("install", "claude-code", "--plugin", "x", "--project").returncode == 2
    assert user.cli("install", "nobody").returncode == 2
    assert user.tree(user.root / "theirs") == {"README.md": b"mine"} and not user.home.root.exists()


def test_a_dry_run_of_a_plugin_shows_both_files(user: User) -> None:
    shown = user.done("install", "claude-code", "--plugin", "p", "--dry-run")
    assert f"+++ {user.root}/p/.claude-plugin/plugin.json" in shown and f"+++ {user.root}/p/hooks/hooks.json" in shown
    assert user.tree(user.root) == {"user": b"/"}


def found(user: User) -> list[tuple[str, str]]:
    return [(grade, text) for grade, text, _ in check.findings(user.home, user.environ)]


def test_the_doctor_is_told_that_all_is_well_or_that_nothing_is_installed(user: User) -> None:
    assert found(user) == [("warning", "no hooks are installed for Claude Code")]
    user.install()
    assert found(user) == [("ok", f"Claude Code: 9 hooks in {user.settings}")]
    shutil.rmtree(user.home.install)
    assert found(user) == [("ok", f"Claude Code: 9 hooks in {user.settings}")]
    user.uninstall()
    user.install("project")
    assert found(user) == [("ok", f"Claude Code: 9 hooks in {user.root}/.claude/settings.json")]


def test_the_doctor_is_told_what_is_missing_broken_or_double(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    user.install()
    document = json.loads(user.settings.read_text())
    del document["hooks"]["Stop"]
    user.settings.write_text(json.dumps(document))
    assert found(user) == [("problem", f"{user.settings} has no hook of ours for Stop")]
    monkeypatch.setattr(sys, "executable", str(user.root / "gone" / "python"))
    user.install()
    (user.home.root / "hook.py").unlink()
    assert found(user) == [
        ("problem", f"{user.settings} names an interpreter that is not there: {user.root}/gone/python"),
        ("problem", f"{user.settings} names a launcher that is not there: {user.home.root}/hook.py"),
    ]
    monkeypatch.undo()
    user.install()
    other = User(user.root, type(user.home)(user.root / "other"), user.environ)
    other.install()
    assert found(user) == [
        ("warning", f"{user.settings} also has hooks of {other.home.root}"), ("ok", f"Claude Code: 9 hooks in {user.settings}"),
    ]  # fmt: skip
    user.settings.write_text('{"a": // x\n}')
    assert found(user) == [("problem", f"{user.settings} is not JSON: line 1, column 7: a comment, which JSON does not allow")]
    user.settings.unlink()
    assert found(user) == [("problem", f"{user.settings} has no hook of ours for {', '.join(EVENTS)}")]


@pytest.mark.parametrize("switch", ["disableAllHooks", "allowManagedHooksOnly"])
def test_a_switch_that_silences_hooks_is_told_wherever_it_is(user: User, switch: str) -> None:
    managed = user.root / "managed.json"
    managed.write_text(json.dumps({switch: True}))
    agent = replace(CLAUDE_CODE, managed=(managed,))
    planned = adding.plan(user.home, agent, "user", user.environ, user.root)
    assert planned.warnings == (f"{managed} says {switch}: the hooks will not run",)
    managed.write_text(json.dumps({switch: False}))
    local = user.root / ".claude" / "settings.local.json"
    local.parent.mkdir()
    local.write_text(json.dumps({"a": {switch: True}, switch: True}))
    user.has(json.dumps({switch: True}).encode())
    planned = adding.plan(user.home, agent, "project", user.environ, user.root)
    assert planned.warnings == tuple(f"{path} says {switch}: the hooks will not run" for path in (user.settings, local))
