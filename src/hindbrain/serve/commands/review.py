"""`hindbrain review`: what reasoning is not sure of -> a person's decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindbrain.base.errors import UsageError
from hindbrain.serve.commands.options import answered, chosen_project, json_option, limit_option, one_line, project_options
from hindbrain.serve.commands.remember import named, opened, settle
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.ledger.evidence import Evidence
    from hindbrain.serve.reviewing import Quoted, Waiting

_TOLD = {"quarantine": "quarantined", "contradiction": "contradiction", "confidence": "low confidence"}


@click.group(invoke_without_command=True)
@project_options
@limit_option(50, "memories")
@json_option
@click.pass_context
@pass_invocation
def review(
    invocation: Invocation, context: click.Context, project: str | None, all_projects: bool, limit: int, as_json: bool
) -> None:
    """List what waits for a decision: quarantined, contradictory, of low confidence.

    Quarantined memories are told to no session before they are accepted. Each is listed with the reason and the evidence.

    \b
    hindbrain review
    hindbrain review accept m_c0ffee11
    hindbrain review reject m_c0ffee11 m_c0ffee22
    hindbrain review edit m_c0ffee11 "deploys happen on Tuesdays"
    """
    if context.invoked_subcommand is not None:
        return
    from hindbrain.serve import reviewing

    def look(ledger: Evidence | None) -> list[Waiting]:
        everywhere = all_projects or project is None
        chosen = chosen_project(invocation, ledger, project, everywhere)
        return [] if ledger is None else reviewing.waiting(ledger, chosen.project, everything=chosen.everything)

    found = answered(invocation, look)
    if as_json:
        say_json([_as_data(each) | invocation.answered for each in found[:limit]])
        return
    if not found:
        note("nothing waits for a decision")
    for each in found[:limit]:
        _say(each)
    if len(found) > limit:
        note(f"{len(found) - limit} more; --limit {len(found)} shows all")


@review.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@json_option
@pass_invocation
def accept(invocation: Invocation, ids: tuple[str, ...], as_json: bool) -> None:
    """Let the memories ID hold: they are told like any other.

    Of two statements that contradict each other the one accepted replaces the other; accept the contradiction itself where both
    stand. A memory that was replaced by mistake holds again, and so does what replaced it. Where one id is wrong, nothing is
    changed.

    \b
    hindbrain review accept m_c0ffee11 m_c0ffee22
    """
    with opened(invocation, there=True) as memory:
        memory.settle_here()
        wanted = [named(invocation, each, replaced=True) for each in ids]
        memory.accept(*wanted)
        settle(memory)
    _report("accepted", wanted, as_json)


@review.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@json_option
@pass_invocation
def reject(invocation: Invocation, ids: tuple[str, ...], as_json: bool) -> None:
    """Have the memories ID never told, nor found again.

    What they were made from stays. A contradiction that is rejected is none: both sides hold.

    \b
    hindbrain review reject m_c0ffee11
    """
    with opened(invocation, there=True) as memory:
        memory.settle_here()
        wanted = [named(invocation, each) for each in ids]
        memory.reject(*wanted)
        settle(memory)
    _report("rejected", wanted, as_json)


@review.command()
@click.argument("id", metavar="ID")
@click.argument("text", nargs=-1, required=True)
@json_option
@pass_invocation
def edit(invocation: Invocation, id: str, text: tuple[str, ...], as_json: bool) -> None:
    """Let the memory ID hold in other words, TEXT, and print the new id.

    What was found stays as history.

    \b
    hindbrain review edit m_c0ffee11 deploys happen on Tuesdays, in the morning
    """
    words = " ".join(text)
    if not words.strip():
        raise UsageError("there is nothing to put in its place", hint="use `hindbrain review reject` to take it away")
    with opened(invocation, there=True) as memory:
        memory.settle_here()
        old = named(invocation, id)
        made = memory.edit(old, words)
        settle(memory)
    _report(f"holds in place of {old}", [made], as_json)


def _report(done: str, ids: list[str], as_json: bool) -> None:
    if as_json:
        say_json({"done": done, "ids": ids})
        return
    for each in ids:
        say(f"{each}  {done}")


def _say(found: Waiting) -> None:
    memory = found.memory
    where = "everywhere" if memory.scope == "global" else f"project {found.project}"
    say(f"{memory.id}  {_TOLD[found.reason]}  {memory.kind}, {printable(where)}  {one_line(memory.text)}")
    say(f"    {printable(found.why)}")
    for side in found.sides:
        say(f"    {side.id}  {_day(side.valid_from)}, {side.trust}, confidence {side.confidence:.2f}: {one_line(side.text)}")
    for quote in found.evidence:
        say(f"    [{quote.id}] {_day(quote.at)}, {_who(quote)}: {one_line(quote.text, 160)}")


def _day(at: int) -> str:
    from hindbrain.serve.moments import day

    return day(at)


def _who(quote: Quoted) -> str:
    return printable(quote.role + (f" of {quote.tool}" if quote.tool else ""))


def _as_data(found: Waiting) -> dict[str, object]:
    from hindbrain.serve.moments import when

    memory = found.memory
    return {
        "id": memory.id, "reason": found.reason, "why": found.why, "kind": memory.kind, "level": memory.level,
        "text": memory.text, "confidence": memory.confidence, "trust": memory.trust, "made_by": memory.made_by,
        "scope": memory.scope, "project_id": memory.project_id, "project": found.project, "valid_from": when(memory.valid_from),
        "sides": [{"id": each.id, "text": each.text, "valid_from": when(each.valid_from)} for each in found.sides],
        "evidence": [
            {"id": each.id, "at": when(each.at), "role": each.role, "tool": each.tool, "text": each.text}
            for each in found.evidence
        ],
    }  # fmt: skip
