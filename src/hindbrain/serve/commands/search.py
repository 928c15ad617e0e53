"""`hindbrain search`: words -> the turns that hold them."""

from __future__ import annotations

import time

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import NotFound
from hindbrain.base.home import Home
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import printable, say, say_json


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("-k", "--limit", default=10, show_default=True, type=click.IntRange(1, 1000), help="How many hits at most.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")
@pass_invocation
def search(invocation: Invocation, words: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Find turns that hold any of WORDS, best first.

    \b
    hindbrain search "retry with backoff"
    """
    from hindbrain.serve.status import opened  # loads the ledger

    ledger = opened(Home(invocation.config.home), SystemClock())
    if ledger is None:
        raise NotFound("there is no ledger yet", hint="let an agent run with the hook installed, then `hindbrain status`")
    with ledger:
        hits = ledger.search(" ".join(words), k=limit)
    if as_json:
        fields = ("turn_id", "session_id", "role", "text", "tool", "at", "score")
        say_json([{name: getattr(hit, name) for name in fields} for hit in hits])
        return
    for hit in hits:
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(hit.at / 1000))
        say(f"{hit.score:6.2f}  {when}  {hit.role:<11}  {printable(' '.join(hit.text.split()))[:160]}")
        say(f"        {hit.turn_id}")
