"""`hindbrain migrate`: what this home holds -> a shared database, compared row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import NotFound, UsageError
from hindbrain.serve import exits
from hindbrain.serve.commands.options import json_option
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.progress import Progress
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.serve.engines import Shared
    from hindbrain.serve.migrating import Compared, Waiting

_ENGINES = ("sqlite", "postgresql")
_SHOWN = 5


@click.command()
@click.option("--from", "source", type=click.Choice(_ENGINES), required=True, help="Where the memories are.")
@click.option("--to", "target", type=click.Choice(_ENGINES), required=True, help="Where they are to be.")
@click.option("--database", metavar="URL", help="The database to fill; by default the configured one.")
@click.option("--dry-run", is_flag=True, help="Say what would be sent and write nothing.")
@json_option
@pass_invocation
def migrate(
    invocation: Invocation, source: str, target: str, database: str | None, dry_run: bool, as_json: bool
) -> int:
    """Bring all memories of this home to a shared database.

    Journal and archives are sent from where the database stands, so what was interrupted goes on when run again, and nothing is
    stored twice. Then every row is compared; a difference ends with exit code 7. This home keeps its own ledger.

    \b
    hindbrain migrate --from sqlite --to postgresql --database postgresql://ada:secret@db/memory --dry-run
    hindbrain migrate --from sqlite --to postgresql
    """
    from hindbrain.serve import migrating
    from hindbrain.serve.status import opened

    shared = _target(invocation, source, target, database)
    home = shared.home
    if not home.journal.is_dir():
        raise NotFound(f"there is nothing to migrate in {home.root}", hint="nothing was captured yet, or --home names another")
    if dry_run:
        ledger = opened(home, SystemClock())
        if ledger is None:
            raise NotFound(f"there is no ledger in {home.root} yet", hint="the worker makes it: hindbrain daemon start")
        with ledger:
            _say_waiting(shared, migrating.waiting(home, ledger, shared), as_json)
        return exits.DONE
    lines, compared = _carry_out(shared)
    _say_compared(shared, lines, compared, as_json)
    if invocation.config.database != shared.url:
        note("to ask it from now on: hindbrain config set database URL")
    return exits.DONE if all(each.equal for each in compared) else exits.PROBLEMS


def _target(invocation: Invocation, source: str, target: str, database: str | None) -> Shared:
    from hindbrain.base.config import load
    from hindbrain.serve.engines import shared_of

    if source == target:
        raise UsageError(f"{source} is both where they are and where they are to be", hint="--from sqlite --to postgresql")
    if target == "sqlite":
        raise UsageError(
            "there is nothing to bring back: a home keeps its own SQLite ledger all the time",
            hint="hindbrain config set database sqlite",
        )
    config = invocation.config if database is None else load(invocation.home_flag, {"database": database})
    shared = shared_of(config, SystemClock())
    if shared is None:
        raise UsageError("no PostgreSQL database is named", hint="add --database postgresql://user:password@host/name")
    return shared


def _carry_out(shared: Shared) -> tuple[int, list[Compared]]:
    """Send everything and compare it, while no worker changes this home's ledger."""
    from hindbrain.ledger.store import Ledger
    from hindbrain.serve import migrating
    from hindbrain.serve.engines import machine_id
    from hindbrain.serve.importing import alone
    from hindbrain.serve.migrating import settled
    from hindbrain.serve.sharer import share_now
    from hindbrain.serve.sharing import gone

    home, clock = shared.home, SystemClock()
    with alone(home):
        settled(home, clock)
        with Ledger.open(home.ledger, clock, read_only=True) as local:
            total = migrating.waiting(home, local, shared).lines
        with Progress("migrate", total=total) as progress:
            done = share_now(shared, clock, lambda lines: progress.step("lines", lines))
        if done.missing:
            note(f"warning: {gone(done.missing).message}\nhint: {gone(done.missing).hint}")
        if done.wishes:  # what other machines want forgotten is gone there already
            settled(home, clock)
        with Ledger.open(home.ledger, clock, read_only=True) as local, shared.open() as there:
            carried = migrating.carry_over(local, there)
        with (
            Ledger.open(home.ledger, clock, read_only=True) as local, shared.open(read_only=True) as there,
            Progress("compare", total=len(migrating.TABLES)) as progress,
        ):  # fmt: skip
            made_there = carried.known > 0
            return done.lines, migrating.compare(local, there, machine_id(home), progress.step, made_there=made_there)


def _say_waiting(shared: Shared, found: Waiting, as_json: bool) -> None:
    if as_json:
        sizes = {"segments": found.segments, "lines": found.lines, "bytes": found.bytes}
        say_json({"dry_run": True, "database": shared.name, **sizes})
        return
    say(f"would be sent to {printable(shared.name)}: {found.lines} lines in {found.segments} segments, {found.bytes} bytes")


def _say_compared(shared: Shared, lines: int, compared: list[Compared], as_json: bool) -> None:
    if as_json:
        tables = [
            {"table": each.table, "here": each.here, "there": each.there, "merged": each.merged, "equal": each.equal,
             "sha256_here": each.sum_here, "sha256_there": each.sum_there, "differing": list(each.differing[:_SHOWN])}
            for each in compared
        ]  # fmt: skip
        say_json({"dry_run": False, "database": shared.name, "sent": lines, "tables": tables})
        return
    say(f"sent to {printable(shared.name)}: {lines} lines")
    say(f"{'table':<16} {'here':>9} {'there':>9} {'merged':>7}  checksums")
    for each in compared:
        sums = f"{each.sum_here[:12]} {'=' if each.sum_here == each.sum_there else '/'} {each.sum_there[:12]}"
        say(f"{each.table:<16} {each.here:>9} {each.there:>9} {each.merged:>7}  {sums}  {'equal' if each.equal else 'DIFFERENT'}")
        for key in each.differing[:_SHOWN]:
            note(f"different in {each.table}: {printable(key)}")
