"""`hindbrain context`: a prompt, or the start of a session -> the block an agent would be handed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindbrain.base.clock import SystemClock
from hindbrain.serve.commands.options import answered, chosen_project, json_option, project_options
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.ledger.evidence import Evidence
    from hindbrain.recall.rank import Found
    from hindbrain.serve.scoping import Chosen


@click.command()
@click.argument("prompt", required=False, default="")
@project_options
@click.option("--budget", type=click.IntRange(1, 100_000), help="Tokens it may take; by default what the hook allows.")
@json_option
@pass_invocation
def context(
    invocation: Invocation, prompt: str, project: str | None, all_projects: bool, budget: int | None, as_json: bool
) -> None:
    """Print what an agent would be told at PROMPT.

    Without a prompt: at the start of a session.

    \b
    hindbrain context
    hindbrain context "fix the login test" --budget 400
    hindbrain context "which database" --project shop --json
    """
    from hindbrain.recall.counting import counter
    from hindbrain.serve.answer import BUDGETS, known_text, question
    from hindbrain.serve.recalling import Recalling

    event = "UserPromptSubmit" if prompt.strip() else "SessionStart"
    recalling = Recalling(invocation.config, SystemClock())

    def ask(ledger: Evidence | None) -> tuple[Chosen, str, list[Found]]:
        chosen = chosen_project(invocation, ledger, project, all_projects)
        if ledger is None:
            return chosen, "", []
        asked = question(event, chosen.scope(), "", prompt, frozenset())
        asked.budget = budget or BUDGETS[event]
        asked.known_text = known_text(chosen.folder) if chosen.folder else ""
        with ledger.reading() as connection:
            return chosen, *recalling.build(connection, asked)

    chosen, text, found = answered(invocation, ask)
    if as_json:
        fields = ("id", "kind", "role", "project", "text")
        items = [{name: getattr(each, name) for name in fields} for each in found]
        tokens = sum(counter()(line + "\n") for line in text.split("\n")) if text else 0
        say_json({"event": event, "text": text, "tokens": tokens, "items": items} | invocation.answered)
    elif text:
        say(text)
    elif not chosen.unknown:
        note(f"an agent would be told nothing: nothing fits in {printable(chosen.named)}")
