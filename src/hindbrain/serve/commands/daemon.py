"""`hindbrain daemon`: the worker of this home, run here, started in the background, or stopped."""

from __future__ import annotations

import os
import time

import click

from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import ensure_private_dir, lock_holder
from hindbrain.base.home import Home
from hindbrain.capture.start import start_worker
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note

_UP_SECONDS = 20.0


@click.group()
def daemon() -> None:
    """Run, start or stop the worker.

    Hooks start it when it is needed and it leaves when it is idle, so these are for looking closer.
    """


@daemon.command()
@click.option("--on-demand", is_flag=True, help="Wait for a worker that is just leaving; used by hooks.")
@pass_invocation
def run(invocation: Invocation, on_demand: bool) -> None:
    """Be the worker, in the foreground, until idle or stopped."""
    from hindbrain.serve import daemon as worker  # loads the ledger

    seconds = worker.TAKE_OVER_SECONDS if on_demand else worker.LOOK_SECONDS
    worker.Worker(invocation.config).run(wait_for_lock=seconds)


@daemon.command()
@pass_invocation
def start(invocation: Invocation) -> None:
    """Start the worker in the background."""
    home = Home(invocation.config.home)
    ensure_private_dir(home.root)
    if (pid := lock_holder(home.worker_lock)) is not None:
        note(f"worker {pid} already serves {home.root}")
        return
    start_worker(os.fsencode(home.root), asked=True)
    deadline = time.monotonic() + _UP_SECONDS
    while not (lock_holder(home.worker_lock) and home.wake.exists()):
        if time.monotonic() > deadline:
            raise HindbrainError("the worker did not come up", hint=f"see why in {home.log / 'worker.log'}")
        time.sleep(0.02)
    note(f"worker {lock_holder(home.worker_lock)} serves {home.root}")


@daemon.command()
@pass_invocation
def stop(invocation: Invocation) -> None:
    """Stop the worker; what it has not stored yet stays in the journal."""
    from hindbrain.serve.daemon import stop as stop_worker

    home = invocation.config.home
    pid = stop_worker(home)
    note(f"worker {pid} has left" if pid else f"no worker serves {home}")
