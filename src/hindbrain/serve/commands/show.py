"""`hindbrain show`: an id -> the thing itself, where it comes from, what stands beside it, and what rests on it.

The second of three steps: a line of a block names an id, `show` tells so much of it that one can go on, `show --full` everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindbrain.base.home import Home
from hindbrain.serve.commands.options import answered, json_option, limit_option, one_line, reading
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.ledger.evidence import Evidence
    from hindbrain.serve.reading import Beside, Kept, Piece

Rows = list[tuple[str, str]]

EXCERPT_CHARS = 2_000  # of a text, unless --full is given
WHOLE = 1 << 30
_BESIDE = 2  # turns before, and as many after
_BESIDE_CHARS = 160

_STANDING = {
    "there": "still there", "changed": "the file has changed there", "gone": "the file is gone", "unreadable": "cannot be read",
}  # fmt: skip


@click.command()
@click.argument("id")
@click.option("--full", is_flag=True, help="Show the whole text, and that of the turns beside it.")
@click.option("--why", is_flag=True, help="Follow the evidence down to the transcript, and tell who was told of it.")
@limit_option(50, "turns of a session")
@json_option
@pass_invocation
def show(invocation: Invocation, id: str, full: bool, why: bool, limit: int, as_json: bool) -> None:
    """Show the turn, session or memory ID.

    Its first 6 characters are enough where they are unique. A long text is shown in part, and of the turns beside a turn only
    the beginning; --full shows all of it.

    \b
    hindbrain show e_1f00ba5193c2
    hindbrain show e_1f00ba5193c2 --full
    hindbrain show m_c0ffee11 --why
    hindbrain show s_5e551044 --limit 200
    """
    from hindbrain.serve.lookup import look_up

    def ask(ledger: Evidence | None) -> None:  # each reads all it needs before it says anything
        named = look_up(ledger, id)
        assert ledger is not None  # nothing can be found in none
        if named.kind == "session":
            _session(invocation, ledger, named.id, limit, as_json)
        elif named.kind == "memory":
            _memory(invocation, ledger, named.id, why, full, as_json)
        else:
            _piece(invocation, ledger, named.id, why, full, as_json)

    answered(invocation, ask)


def _session(invocation: Invocation, ledger: Evidence, identifier: str, limit: int, as_json: bool) -> None:
    from hindbrain.serve import lists
    from hindbrain.serve.moments import minute, when

    found, turns = lists.session(ledger, identifier, limit)
    if as_json:
        said = [{"id": each.id, "role": each.role, "tool": each.tool, "at": when(each.at), "text": each.text} for each in turns]
        say_json({
            "kind": "session", "id": found.id, "agent": found.agent, "session": found.client_id, "project": found.project,
            "project_id": found.project_id, "cwd": found.cwd, "parent": found.parent_id, "started_at": when(found.started_at),
            "last_at": when(found.last_at), "turns_total": found.turns, "turns": said,
            **invocation.answered,
        })  # fmt: skip
        return
    _say_rows([
        ("session", found.id), ("agent", f"{found.agent}, {found.client_id}"), ("project", found.project or "none"),
        ("folder", found.cwd or "unknown"), ("started", when(found.started_at)), ("last", when(found.last_at)),
        ("parent", found.parent_id or ""), ("turns", str(found.turns)),
    ])  # fmt: skip
    say()
    for each in turns:
        say(f"{each.id}  {minute(each.at)}  {each.role:<11}  {one_line(each.text)}")
    if found.turns > len(turns):
        note(f"{found.turns - len(turns)} more turns; --limit {found.turns} shows all")


def _piece(invocation: Invocation, ledger: Evidence, identifier: str, why: bool, full: bool, as_json: bool) -> None:
    from hindbrain.serve import reading as stored

    home = Home(invocation.config.home)
    found = stored.piece(ledger, identifier)
    chars = WHOLE if full else _BESIDE_CHARS
    before, after = stored.beside(ledger, found, _BESIDE, chars) if found.kind == "turn" else ([], [])
    resting = stored.resting_on(ledger, identifier) if why else []
    told = _told(invocation, identifier) if why else []
    if as_json:
        more = {"memories": resting, "told_to": _told_data(told)} if why else {}
        near = {"before": [_beside_data(each) for each in before], "after": [_beside_data(each) for each in after]}
        say_json(_piece_data(home, found) | _text_data(found.text, full) | near | more | invocation.answered)
        return
    _say_rows(_piece_rows(home, found) + (_why_rows(resting, told) if why else []))
    _say_beside("before", before, full)
    _say_text(found.text, full)
    if after and not full:
        say()
    _say_beside("after", after, full)


def _memory(invocation: Invocation, ledger: Evidence, identifier: str, why: bool, full: bool, as_json: bool) -> None:
    from hindbrain.serve import reading as stored

    found = stored.memory(ledger, identifier)
    turns = stored.evidence(ledger, found)
    if why:
        _memory_and_why(invocation, ledger, found, turns, full, as_json)
        return
    if as_json:
        proof = {"evidence": [{"id": each.id, "text": each.text} for each in turns]}
        say_json(_memory_data(found) | _text_data(found.text, full) | proof | invocation.answered)
        return
    _say_rows(_memory_rows(found) + [("evidence", each.id) for each in turns])
    _say_text(found.text, full)


def _memory_and_why(
    invocation: Invocation, ledger: Evidence, found: Kept, turns: list[Piece], full: bool, as_json: bool
) -> None:
    from hindbrain.ledger.lineage import why as lineage_of
    from hindbrain.serve import reading as stored
    from hindbrain.serve.commands import lineage

    home = Home(invocation.config.home)
    resting, told = stored.resting_on(ledger, found.id), _told(invocation, found.id)
    with ledger.reading() as database:
        tree = lineage_of(database, found.id)
    if as_json:
        proof = {"evidence": [_piece_data(home, each) for each in turns], "lineage": lineage.data(tree)}
        more = {"memories": resting, "told_to": _told_data(told)}
        say_json(_memory_data(found) | _text_data(found.text, full) | proof | more | invocation.answered)
        return
    rows = _memory_rows(found) + lineage.told(tree.memory)
    _say_rows(rows + [("evidence", each.id) for each in turns] + _why_rows(resting, told))
    _say_text(found.text, full)
    say()
    for line in lineage.lines(tree, {each.id: _state(each) for each in turns}):
        say(line)


def _state(found: Piece) -> str:
    from hindbrain.serve import reading as stored

    state = stored.standing(found)
    return "" if state is None else _STANDING[state]


def _told(invocation: Invocation, identifier: str) -> list[tuple[str, int]]:
    """Who was told of it: only the ledger of the machine where the agent ran knows."""
    from hindbrain.serve.reading import told_to

    with reading(invocation) as own:
        return [] if own is None else told_to(own, identifier)


def _piece_rows(home: Home, found: Piece) -> Rows:
    from hindbrain.serve import reading as stored
    from hindbrain.serve.moments import when

    file = stored.journal_file(home, found.segment)
    rows = [
        (found.kind if found.kind == "turn" else "event", found.id),
        ("kind", "" if found.kind == "turn" else found.kind),
        ("role", found.role + (f", {found.tool}" if found.tool else "")),
        ("when", when(found.at)),
        ("session", f"{found.session_id} ({found.session})" if found.session_id else "none"),
        ("agent", found.agent),
        ("project", found.project or "none"),
        ("told by", ", ".join(found.origins)),
        ("journal", f"{file or found.segment} at byte {found.start}" + ("" if file else "; the segment is gone")),
    ]
    if found.source is not None:
        path, start, end = found.source
        rows.append(("source", f"{path} bytes {start} to {end}; {_state(found)}"))
    return rows


def _piece_data(home: Home, found: Piece) -> dict[str, object]:
    from hindbrain.serve import reading as stored
    from hindbrain.serve.moments import when

    source = None
    if found.source is not None:
        path, start, end = found.source
        source = {"path": path, "start": start, "end": end, "state": stored.standing(found)}
    return {
        "kind": found.kind, "id": found.id, "role": found.role, "tool": found.tool, "at": when(found.at), "text": found.text,
        "session_id": found.session_id, "session": found.session, "agent": found.agent, "project_id": found.project_id,
        "project": found.project, "origins": list(found.origins),
        "journal": {"segment": found.segment, "start": found.start, "file": stored.journal_file(home, found.segment)},
        "source": source,
    }  # fmt: skip


def _memory_rows(found: Kept) -> Rows:
    from hindbrain.serve.moments import when

    until = "now" if found.valid_to is None else when(found.valid_to)
    joined = f"with {found.superseded_by} at {until}, which says the same and stands for it" if found.joined else ""
    return [
        ("memory", found.id),
        ("kind", f"{found.kind}{', pinned' if found.pinned else ''}"),
        ("scope", "everywhere" if found.scope == "global" else f"project {found.project}"),
        ("trust", f"{found.trust}, confidence {found.confidence:.2f}, {found.level}"),
        ("kept by", "" if found.observer in ("user", "hindbrain") else f"{found.observer}, about {found.subject}"),
        ("held back", found.held),
        ("valid", f"since {when(found.valid_from)}" if joined else f"{when(found.valid_from)} until {until}"),
        ("replaces", ", ".join(found.supersedes)),
        ("joins", ", ".join(found.stands_for)),
        ("joined", joined),
        ("replaced", f"by {found.superseded_by}" if found.superseded_by and not joined else ""),
    ]  # fmt: skip


def _memory_data(found: Kept) -> dict[str, object]:
    from hindbrain.serve.moments import when

    return {
        "kind": "memory", "id": found.id, "memory_kind": found.kind, "level": found.level, "text": found.text,
        "scope": found.scope, "project_id": found.project_id, "project": found.project, "trust": found.trust,
        "confidence": found.confidence, "pinned": found.pinned, "valid_from": when(found.valid_from),
        "valid_to": None if found.valid_to is None else when(found.valid_to), "supersedes": list(found.supersedes),
        "stands_for": list(found.stands_for), "superseded_by": found.superseded_by, "joined": found.joined,
        "held": found.held, "made_by": found.made_by, "observer": found.observer, "subject": found.subject,
        "links": [{"role": link.role, "turn": link.turn, "memory": link.memory} for link in found.links],
    }  # fmt: skip


def _why_rows(resting: list[str], told: list[tuple[str, int]]) -> Rows:
    from hindbrain.serve.moments import when

    return [*[("basis of", each) for each in resting], *[("told to", f"{session} at {when(at)}") for session, at in told]]


def _told_data(told: list[tuple[str, int]]) -> list[dict[str, str]]:
    from hindbrain.serve.moments import when

    return [{"session_id": session, "at": when(at)} for session, at in told]


def _say_rows(rows: Rows) -> None:
    for name, value in rows:
        if value:
            say(f"{name:<9} {printable(value)}")


def _say_text(text: str, full: bool) -> None:
    say()
    shown = _part(text, full)
    say(shown.expandtabs(4).rstrip("\n"))
    if len(shown) < len(text):
        note(f"{len(text) - len(shown)} more letters; --full shows all")


def _part(text: str, full: bool) -> str:
    """All of a text, or its beginning up to the end of a line or word."""
    if full or len(text) <= EXCERPT_CHARS + EXCERPT_CHARS // 4:
        return text
    end = max(text.rfind(mark, EXCERPT_CHARS // 2, EXCERPT_CHARS) for mark in "\n ")
    return text[: end if end > 0 else EXCERPT_CHARS]


def _text_data(text: str, full: bool) -> dict[str, object]:
    return {"text": _part(text, full), "chars": len(text)}


def _say_beside(where: str, turns: list[Beside], full: bool) -> None:
    for each in turns:
        if full:
            say()
            _say_rows([(where, f"{each.id}, {each.role}")])
            _say_text(each.text, full)
        else:
            say(f"{where:<9} {each.id}  {each.role:<11}  {one_line(each.text, _BESIDE_CHARS - 1)}")


def _beside_data(each: Beside) -> dict[str, object]:
    return {"id": each.id, "role": each.role, "tool": each.tool, "text": each.text, "chars": each.chars}
