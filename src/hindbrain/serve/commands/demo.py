"""`hindbrain demo`: see it work, on a home that is thrown away afterwards."""

from __future__ import annotations

import click

from hindbrain.serve.terminal import say


@click.command()
def demo() -> None:
    """Play two sessions: what the first one says, the second one is told, though the worker is killed in between.

    Runs in a temporary directory and leaves nothing behind.
    """
    from hindbrain.serve.demo import run  # loads the ledger

    run(say)
