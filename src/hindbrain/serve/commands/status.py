"""`hindbrain status`: what is captured, stored, behind, lost; and whether a worker runs."""

from __future__ import annotations

import click

from hindbrain.base.clock import SystemClock
from hindbrain.serve.commands.options import json_option
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json


@click.command()
@json_option
@pass_invocation
def status(invocation: Invocation, as_json: bool) -> None:
    """Show what is captured, stored, waiting, damaged and lost."""
    from hindbrain.serve.overview import look  # loads the ledger

    found = look(invocation.config, SystemClock())
    if as_json:
        say_json(found.as_data())
        return
    for name, value in found.rows:
        say(f"{name:<9} {printable(value)}")
    if found.shared is not None and found.shared.error and found.shared.hint:
        note(f"hint: {printable(found.shared.hint)}")
