"""`hindbrain backup`: all data of this home in one checked file, and back."""

from __future__ import annotations

from pathlib import Path

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import UsageError
from hindbrain.base.home import Home
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.progress import Progress
from hindbrain.serve.terminal import note, say, say_json


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--verify", is_flag=True, help="Check FILE instead of writing one.")
@click.option("--restore", is_flag=True, help="Make this home from FILE; refused where data already is.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")
@pass_invocation
def backup(invocation: Invocation, file: Path | None, verify: bool, restore: bool, as_json: bool) -> None:
    """Write all data of this home to one file and read it back.

    FILE defaults to a new file in the home's backups folder. The worker may go on meanwhile.

    \b
    hindbrain backup ~/safe/
    hindbrain backup --verify ~/safe/hindbrain-20261115T200000Z.tar.gz
    hindbrain --home ~/other backup --restore ~/safe/hindbrain-20261115T200000Z.tar.gz
    """
    from hindbrain.serve import backup as backups  # loads the ledger

    if verify and restore:
        raise UsageError("--verify and --restore are two different things", hint="give one of them")
    if (verify or restore) and file is None:
        raise UsageError("no backup file was named", hint="hindbrain backup --verify FILE")
    home, clock = Home(invocation.config.home), SystemClock()
    with Progress("backup") as progress:
        if restore and file is not None:
            result: dict[str, object] = {"restored": str(home.root), "files": backups.restore(file, home, clock, progress.step)}
        elif verify and file is not None:
            count, size = backups.verify(file, progress.step)
            result = {"sound": str(file), "files": count, "bytes": size}
        else:
            written = backups.create(home, file, clock, progress.step)
            result = {"written": str(written.path), "files": written.files, "bytes": written.bytes}
    if invocation.config.is_shared and not verify:
        note("the shared database is not in it: its administrator backs it up (docs/operations.md)")
    if as_json:
        say_json(result)
    else:
        say(", ".join(f"{name} {value}" for name, value in result.items()))
