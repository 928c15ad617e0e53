"""`hindbrain ask`: a question -> an answer with its sources, the evidence itself, or that nothing is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import UsageError
from hindbrain.serve import exits
from hindbrain.serve.commands.options import answered, chosen_project, date_option, json_option, one_line, project_options
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.ledger.evidence import Evidence
    from hindbrain.serve.answering import Answer, Proof, Weighed

_QUOTE_CHARS = 400


@click.command()
@click.argument("question", nargs=-1, required=True)
@project_options
@date_option("--as-of", "Answer as things stood then; a day alone is its end.", end_of_day=True)
@click.option("--no-model", is_flag=True, help="Show the evidence itself, whatever model is configured.")
@click.option("--explain", is_flag=True, help="Tell what was searched for, and how far the evidence goes.")
@click.option("--file-back", is_flag=True, help="File an answer that is known as a page of the wiki.")
@json_option
@pass_invocation
def ask(
    invocation: Invocation, question: tuple[str, ...], project: str | None, all_projects: bool, as_of: int | None, no_model: bool,
    explain: bool, file_back: bool, as_json: bool,
) -> int:  # fmt: skip
    """Answer QUESTION from what was said and kept.

    With a model (see `hindbrain config show`) in words, each sentence with the ids it rests on; without one the best evidence
    itself. Where nothing stored speaks of what is asked: "I do not know", and exit code 9.

    \b
    hindbrain ask which database do we use for orders
    hindbrain ask "why was Redis dropped?" --project shop --explain
    hindbrain ask "who owns billing?" --no-model --json
    hindbrain ask "why was Redis dropped?" --file-back
    """
    from hindbrain.serve import answering, asking_model
    from hindbrain.serve.recalling import Recalling

    words = " ".join(question)
    if not words.strip():
        raise UsageError("there is nothing to ask", hint="give a question")
    clock = SystemClock()
    recalling = Recalling(invocation.config, clock)

    about: list[str | None] = []  # the project that was asked about, for the page

    def look(ledger: Evidence | None) -> Weighed:
        chosen = chosen_project(invocation, ledger, project, all_projects)
        about[:] = [chosen.project]
        if ledger is None:
            return answering.nothing(words)
        return answering.look(ledger, words, chosen.scope(before=answering.until(as_of)), recalling.search)

    weighed = answered(invocation, look)
    if recalling.trouble:
        note(f"warning: found by words alone: {printable(recalling.trouble)}")
    found = answering.by_evidence(weighed, "--no-model") if no_model else asking_model.answer(invocation.config, weighed, clock)
    page = _filed(invocation, found, about[0]) if file_back and found.known else ""
    if as_json:
        say_json(as_data(found) | ({"page": page or None} if file_back else {}) | invocation.answered)
    else:
        _say(found, explain)
    if file_back:
        note(f"filed as {printable(page)}" if page else "nothing is filed: there is no answer")
    return exits.DONE if found.known else exits.UNKNOWN


def _filed(invocation: Invocation, found: Answer, project: str | None) -> str:
    """The path of the page the answer became."""
    from hindbrain.serve.commands.wiki_options import of_invocation

    return str(of_invocation(invocation, None).file_back(found, project))


def _say(found: Answer, explain: bool) -> None:
    if not found.known:
        say("I do not know.")
    for sentence in found.sentences:
        say(f"{' '.join(sentence.text.split())} [{', '.join(sentence.ids)}]")
    if found.sentences and found.known:
        say()
    for proof in found.evidence if found.known else ():
        say(_line(proof))
    for proof in () if found.known else found.evidence:
        note(f"nearest: {_line(proof)}")
    if found.missing:
        note(f"nothing {'here ' if found.known else ''}speaks of: {printable(', '.join(found.missing))}")
    if found.without_model:
        note(f"without a model: {printable(found.without_model)}")
    if explain:
        note(f"searched for: {one_line(found.question)}")
        if found.refined:
            note(f"then for: {one_line(found.refined)}")
        for proof in found.evidence:
            note(f"{proof.found.id} speaks of {proof.share:.0%} of what is asked")


def _line(proof: Proof) -> str:
    """Quoted, with day, origin and id."""
    from hindbrain.serve.moments import day

    found = proof.found
    who = f"{found.role} in {found.agent}" if found.kind == "turn" else f"{found.kind}, from {found.role}"
    said = f"[{found.id}] {day(found.at)}, {printable(who)}: {one_line(proof.text, _QUOTE_CHARS)}"
    return said + (f" ({printable(found.note)})" if found.note else "") + (" (no longer holds)" if found.superseded else "")


def as_data(found: Answer) -> dict[str, object]:
    """The same for programs."""
    from hindbrain.serve.moments import when

    return {
        "question": found.question, "known": found.known, "answer": found.text,
        "sentences": [{"text": each.text, "ids": list(each.ids)} for each in found.sentences],
        "evidence": [
            {
                "id": each.found.id, "kind": each.found.kind, "role": each.found.role, "agent": each.found.agent,
                "session": each.found.session, "at": when(each.found.at), "quote": each.text, "share": each.share,
                "superseded": each.found.superseded, "note": each.found.note or None,
            }
            for each in found.evidence
        ],
        "missing": list(found.missing), "refined": found.refined or None, "made_by": found.made_by,
        "without_model": found.without_model or None,
    }  # fmt: skip
