"""`hindbrain demo`: see it work, on a home that is thrown away afterwards."""

from __future__ import annotations

import click

from hindbrain.serve.terminal import say


@click.command()
def demo() -> None:
    """Send events through the hook, kill the worker half-way, and show that all are there.

    Runs in a temporary directory and leaves nothing behind.
    """
    from hindbrain.serve.demo import run  # loads the ledger

    run(say)
