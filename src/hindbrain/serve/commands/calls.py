"""`hindbrain calls`: every call of a model, with what it cost and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from hindbrain.base.clock import SystemClock
from hindbrain.serve.commands.options import json_option, limit_option, one_line
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.ledger.bills import Bill

_SHOWN: Final = 3  # ids of memories on a line; `--json` has all


@click.command()
@limit_option(50, "calls")
@json_option
@pass_invocation
def calls(invocation: Invocation, limit: int, as_json: bool) -> None:
    """List the calls of models, the newest first.

    One line each: time, model, kind of job, project, tokens sent and received, cost, and what came of it.

    \b
    hindbrain calls
    hindbrain calls --limit 500 --json
    """
    from hindbrain.ledger.bills import bills
    from hindbrain.serve.overview import ledger_of_jobs

    with ledger_of_jobs(invocation.config, SystemClock()) as ledger:
        found: list[Bill] = []
        if ledger is not None:
            with ledger.reading() as database:
                found = bills(database, limit=limit)
    if as_json:
        say_json([_data(each) for each in found])
        return
    if not found:
        note("no model was asked anything\nhint: without a model everything goes by rules; see `hindbrain config show`")
    for each in found:
        say(_line(each))


def _data(bill: Bill) -> dict[str, object]:
    from hindbrain.serve.moments import when

    return {
        "at": when(bill.at), "provider": bill.provider, "model": bill.model, "kind": bill.kind, "project": bill.project,
        "input_tokens": bill.input_tokens, "output_tokens": bill.output_tokens, "cost": bill.cost_micros / 1e6,
        "outcome": bill.outcome, "complaint": bill.complaint, "memories": list(bill.produced),
    }  # fmt: skip


def _line(bill: Bill) -> str:
    from hindbrain.serve.moments import minute
    from hindbrain.serve.reasoning_state import dollars

    who = printable(f"{bill.provider}:{bill.model}")
    cost = f"{bill.input_tokens:>7,} + {bill.output_tokens:>6,} tokens  ${dollars(bill.cost_micros):<8}"
    return f"{minute(bill.at)}  {who}  {printable(bill.kind):<7}  {printable(bill.project or '-'):<16}  {cost}  {_came(bill)}"


def _came(bill: Bill) -> str:
    from hindbrain.serve.spending import OUTCOMES

    if bill.produced:
        more = len(bill.produced) - _SHOWN
        return " ".join(bill.produced[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return OUTCOMES[bill.outcome] + (f": {one_line(bill.complaint)}" if bill.complaint else "")
