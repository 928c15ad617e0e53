"""`hindbrain search`: words -> the turns and memories that fit best, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import UsageError
from hindbrain.serve.commands.options import (
    answered,
    chosen_project,
    date_option,
    json_option,
    limit_option,
    one_line,
    project_options,
)
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.ledger.evidence import Evidence
    from hindbrain.recall.rank import Found
    from hindbrain.serve.finding import Explained
    from hindbrain.serve.scoping import Chosen

_ROLES = ("user", "assistant", "tool_call", "tool_result")


@click.command()
@click.argument("words", nargs=-1, required=True)
@limit_option(10, "hits")
@project_options
@date_option("--after", "Only what was said at this time or later; a day alone is its beginning.")
@date_option("--before", "Only what was said before this time.")
@date_option("--as-of", "Answer as things stood then, replaced memories included; a day alone is its end.", end_of_day=True)
@click.option("--role", type=click.Choice(_ROLES), help="Only what this role said.")
@click.option("--explain", is_flag=True, help="Tell for each hit what its score is made of, and what was left out.")
@json_option
@pass_invocation
def search(
    invocation: Invocation, words: tuple[str, ...], limit: int, project: str | None, all_projects: bool, after: int | None,
    before: int | None, as_of: int | None, role: str | None, explain: bool, as_json: bool,
) -> None:  # fmt: skip
    """Find what fits WORDS best.

    By default in the project of the current directory. Any text is a question; operators and quotes are only words.
    Times are UTC.

    \b
    hindbrain search retry with backoff
    hindbrain search "which database" --all-projects --explain
    hindbrain search login --after 2026-11-01 --before 2026-12-01 --role user
    hindbrain search deploy --as-of 2026-10-01 --json
    """
    from hindbrain.serve.finding import Limits, find, missed
    from hindbrain.serve.recalling import Recalling

    question = " ".join(words)
    if not question.strip():
        raise UsageError("there is nothing to search for", hint="give some words")
    limits = Limits(after, before, as_of, role)
    recalling = Recalling(invocation.config, SystemClock())

    def ask(ledger: Evidence | None) -> tuple[Chosen, list[Explained], list[str]]:
        chosen = chosen_project(invocation, ledger, project, all_projects)
        if ledger is None:
            return chosen, [], []
        hits = find(ledger, question, chosen, limits, limit, recalling.search)
        return chosen, hits, missed(ledger, question, chosen, limits) if explain else []

    chosen, hits, left_out = answered(invocation, ask)
    if recalling.trouble:
        note(f"warning: found by words alone: {printable(recalling.trouble)}")
    if as_json:
        say_json([_as_data(hit.found, hit) | invocation.answered for hit in hits])
        return
    if not hits and not chosen.unknown:
        note(f"nothing fits in {printable(chosen.named)}")
    for hit in hits:
        say(_line(hit.found))
        if explain:
            say(f"    {_explanation(hit)}")
    if left_out:
        note(f"left out: {', '.join(left_out)}")


def _line(found: Found) -> str:
    from hindbrain.serve.moments import minute

    role, agent = (found.role, found.agent) if found.kind == "turn" else (found.kind, "memory")
    return f"{found.id}  {minute(found.at)}  {role:<11}  {printable(agent):<11}  {one_line(found.text)}"


def _explanation(hit: Explained) -> str:
    return f"score {hit.found.score:.2f}: {', '.join(map(printable, hit.told()))}"


def _as_data(found: Found, hit: Explained) -> dict[str, object]:
    from hindbrain.serve.moments import when

    return {
        "id": found.id, "kind": found.kind, "role": found.role, "agent": found.agent, "session": found.session,
        "session_id": found.session_id, "project": found.project, "at": when(found.at), "at_ms": found.at, "text": found.text,
        "score": found.score, "parts": hit.parts, "explanation": hit.told(), "shared_words": hit.shared,
        "passage": [found.start, found.end] if found.end else None, "note": found.note or None, "superseded": found.superseded,
        "valid_to": None if found.valid_to is None else when(found.valid_to),
    }  # fmt: skip
