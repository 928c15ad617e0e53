"""`hindbrain config`: settings -> what they are and where each comes from; and one setting changed in config.toml."""

from __future__ import annotations

import os
from pathlib import Path

import click

from hindbrain.base import config_file
from hindbrain.base.config import FILE_NAME, Config, Source, checked, file_setting, from_text, load
from hindbrain.base.files import ensure_private_dir, replace_file
from hindbrain.base.settings import as_text
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json


@click.group()
def config() -> None:
    """Show and change settings."""


@config.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")
@pass_invocation
def show(invocation: Invocation, as_json: bool) -> None:
    """Show every setting with its source; secrets are masked."""
    loaded = invocation.config
    if as_json:
        say_json(_as_data(loaded))
        return
    rows = [(name, printable(as_text(loaded.shown(name))), str(loaded.source_of(name))) for name in loaded.values]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, value, source in rows:
        say(f"{name:<{widths[0]}}  {value:<{widths[1]}}  {printable(source)}".rstrip())
    for variable in loaded.unused:
        note(f"unused variable: {printable(variable)}")


def _as_data(loaded: Config) -> dict[str, object]:
    settings = []
    for name in loaded.values:
        source = loaded.source_of(name)
        settings.append({"name": name, "value": loaded.shown(name), "source": source.kind, "place": source.place})
    return {"settings": settings, "unused": list(loaded.unused)}


@config.command("set")
@click.argument("name")
@click.argument("value")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")
@pass_invocation
def set_(invocation: Invocation, name: str, value: str, as_json: bool) -> None:
    """Change one setting in config.toml.

    Several paths are separated by colons. A variable or flag that sets the same name still wins. A database is tried, and stored
    whether it answers or not.
    """
    path = invocation.home / FILE_NAME
    source = Source("command", "config set")
    setting = file_setting(name, source)
    new = checked(setting, from_text(setting, value, source), source, os.environ)
    text = config_file.with_value(path, config_file.read_text(path), name, new)
    ensure_private_dir(path.parent)
    replace_file(path, text.encode())
    note(f"{name} is now {as_text(setting.shown(new))} in {path}")
    if os.environ.get(setting.variable):
        note(f"warning: the variable {setting.variable} is set and wins over the file")
    told: dict[str, object] = {"name": name, "value": setting.shown(new), "file": str(path)}
    if name in ("database", "tenant"):
        told |= _tried(load(invocation.home_flag, {name: value}))
    elif name.startswith("model"):
        _let_go(path.parent)
    if as_json:
        say_json(told)


def _let_go(home: Path) -> None:
    """Ask a worker with the old setting to leave."""
    from hindbrain.base.errors import HindbrainError
    from hindbrain.serve.daemon import stop

    try:
        if pid := stop(home):
            note(f"worker {pid} has left; the next hook call starts one that knows of it")
    except HindbrainError as error:
        note(f"warning: the worker goes on with the old setting: {printable(error.message)}")


def _tried(loaded: Config) -> dict[str, object]:
    """Whether the shared ledger answers, told on stderr as well."""
    from hindbrain.base.clock import SystemClock
    from hindbrain.serve.engines import shared_of
    from hindbrain.serve.shared_status import look_shared

    _let_go(loaded.home)
    shared = shared_of(loaded, SystemClock())
    if shared is None:
        return {}
    seen = look_shared(shared, SystemClock())
    if not seen.answers:
        note(f"warning: it does not answer: {printable(seen.error)}\nhint: {printable(seen.hint)}")
    else:
        note(f"it answers: {printable(seen.server or seen.error)}")
    return {"answers": seen.answers, "error": None if seen.answers else seen.error, "hint": None if seen.answers else seen.hint}


@config.command()
@pass_invocation
def path(invocation: Invocation) -> None:
    """Print where the configuration file is looked for."""
    say(printable(str(invocation.home / FILE_NAME)))
