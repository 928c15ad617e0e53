"""The table of events -> a plugin folder of Claude Code, for those who hand out plugins rather than edit settings.

A folder of our own: it is written anew as a whole, and a folder that is somebody else's is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from hindbrain import __version__
from hindbrain.base.clock import Clock
from hindbrain.base.errors import StorageError, UsageError
from hindbrain.base.home import Home
from hindbrain.capture.launcher import install_launcher, launcher_command
from hindbrain.serve.install import manifest, settings
from hindbrain.serve.install.agents import CLAUDE_CODE, Agent, entry
from hindbrain.serve.install.hooks import Traces
from hindbrain.serve.install.manifest import Record

NAME: Final = "hindbrain"
MANIFEST: Final = Path(".claude-plugin") / "plugin.json"
HOOKS: Final = Path("hooks") / "hooks.json"
_ABOUT: Final = "Always-on memory: every prompt, reply and tool call is kept durably on this machine"


def contents(command: list[str], agent: Agent) -> dict[Path, bytes]:
    """Every file of the folder."""
    if agent is not CLAUDE_CODE:
        raise UsageError(f"{agent.title} has no plugin folders", hint=f"hindbrain install {agent.name}")
    hooks = {event.name: [{"hooks": [entry(command, agent, event)]}] for event in agent.events}
    documents: dict[Path, object] = {
        MANIFEST: {"name": NAME, "version": __version__, "description": _ABOUT},
        HOOKS: {"description": _ABOUT, "hooks": hooks},
    }
    return {path: json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n" for path, document in documents.items()}


def plan(home: Home, agent: Agent, folder: Path) -> dict[Path, bytes]:
    """What will be written where. Raises StorageError for a folder that is not ours."""
    files = {folder / path: data for path, data in contents(launcher_command(home.root), agent).items()}
    hint = "name a directory that is empty or not there yet"
    if folder.exists() and not folder.is_dir():
        raise StorageError(f"{folder} is not a directory", path=str(folder), hint=hint)
    if folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        raise StorageError(f"{folder} holds something else", path=str(folder), hint=hint)
    for path in files:
        settings.check_writable(settings.look(path))
    return files


def _is_ours(folder: Path) -> bool:
    """Empty folders are what a crash right at the beginning leaves."""
    if all(path.is_dir() or path.name.endswith(".tmp") for path in folder.rglob("*")):
        return True
    try:
        return bool(json.loads((folder / MANIFEST).read_bytes())["name"] == NAME)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def apply(home: Home, agent: Agent, folder: Path, files: dict[Path, bytes], clock: Clock) -> None:
    """Write the folder, its name file first, so that a half-written one is known as ours; call with the manifest held."""
    install_launcher(home.root)
    old = manifest.load(home)
    made = {path.parent: None for path in files} | {folder: None}
    missing = {str(directory): None for path in made for directory in settings.missing_directories(path / "x")}
    traces = Traces(("hooks", *(f"hooks/{event.name}" for event in agent.events)))
    for path, data in files.items():
        earlier = next((r for r in old if r.scope == "plugin" and r.path == str(path)), None)
        record = Record(
            agent=agent.name, scope="plugin", path=str(path), target=str(path), launcher=launcher_command(home.root)[-1],
            before=None, traces=traces, after=(*(earlier.after if earlier else ()), settings.digest(data) or ""), made_file=True,
            made_directories=earlier.made_directories if earlier else tuple(sorted(missing)),
            temporary=str(settings.temporary(path, home.root)), version=__version__, at_ms=clock.now_ms(),
        )  # fmt: skip
        old = [*(r for r in old if r is not earlier), record]
    manifest.save(home, old)
    for path, data in files.items():
        file = settings.look(path)
        if file.data != data:
            settings.write(file, data, home.root)
