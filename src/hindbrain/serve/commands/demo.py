"""`hindbrain demo`: see it work, on a home that is thrown away afterwards."""

from __future__ import annotations

import click

from hindbrain.serve.terminal import say


@click.command()
def demo() -> None:
    """Play three sessions: one decides, one changes the decision, one is told how it stands; the worker is killed meanwhile.

    Runs in a temporary directory and leaves nothing behind.
    """
    from hindbrain.serve.demo import run  # loads the ledger

    run(say)
