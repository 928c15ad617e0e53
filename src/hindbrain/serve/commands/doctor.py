"""`hindbrain doctor`: is everything in order, and if not, what to do."""

from __future__ import annotations

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.serve import exits
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.progress import Progress
from hindbrain.serve.terminal import note, printable, say, say_json


@click.command()
@click.option("--repair", is_flag=True, help="Make the repairs that lose nothing, then look again.")
@click.option("--rebuild-index", is_flag=True, help="Make the full-text index and the search by meaning anew, then look.")
@click.option("--no-hook", is_flag=True, help="Do not send a test event through the installed hook.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")
@pass_invocation
def doctor(invocation: Invocation, repair: bool, rebuild_index: bool, no_hook: bool, as_json: bool) -> int:
    """Check home, journal, archives, ledger, embedding, hook and worker; and the shared ledger, if there is one.

    Ends with exit code 7 when there is a problem.
    """
    from hindbrain.serve.doctor import Doctor  # loads the ledger
    from hindbrain.serve.engines import shared_of

    with Progress("doctor") as progress:
        shared = shared_of(invocation.config, SystemClock())
        doctor = Doctor(Home(invocation.config.home), SystemClock(), progress.step, shared, invocation.config)
        for done in doctor.repair() if repair else []:
            note(f"repaired: {done}")
        for done in doctor.rebuild_index() if rebuild_index else []:
            note(f"made anew: {done}")
        findings = doctor.examine(fire=not no_hook)
    if as_json:
        say_json([{"check": f.check, "grade": f.grade, "found": f.found, "hint": f.hint} for f in findings])
    else:
        for found in findings:
            say(f"{found.grade:<8} {found.check:<9} {printable(found.found)}")
            if found.hint and found.grade != "ok":
                say(f"{'':<18} hint: {printable(found.hint)}")
    return exits.PROBLEMS if any(found.grade == "problem" for found in findings) else exits.DONE
