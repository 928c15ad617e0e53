"""Hits -> those that may be handed to an agent: no turn in which something was quarantined, nor one that repeats it.

Holding a memory back would be in vain if the turn that says it went out instead. A turn is withheld while a memory that was found
in it waits for a person, and after the person rejected it; accepting it lets the turn go. Another turn of the same session that
repeats the very words (an agent quoting the page it read) goes with it. A memory that was never quarantined and is rejected was
only wrong: its turn is told, marked as no longer so (contradictions.py).

Imported by the hook when no worker answers: built-ins only. What is quarantined is rare, so `json` is loaded when there is some.
"""

from hindbrain.recall.short_ids import shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hindbrain.ledger.database import Database
    from hindbrain.recall.rank import Found

LEAST_REPEATED = 12  # letters: fewer are repeated by chance
NOTE = "kept from agents"

# A decision keeps beside it how the memory was found.
_QUARANTINED = """
(memories.held = 'quarantine' OR (memories.held = 'rejected' AND memories.detail LIKE '%"held":"quarantine"%'))
"""
_OF_TURNS = f"""
SELECT links.turn_id, memories.id, memories.held, memories.superseded_by FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.turn_id IN (SELECT value FROM json_each(?)) AND links.role IN ('derived_from', 'supports') AND {_QUARANTINED}
ORDER BY links.turn_id, memories.id
"""
_OF_SESSIONS = f"""
SELECT memories.session_id, memories.id, memories.held, memories.superseded_by, memories.detail FROM memories
WHERE memories.session_id IN (SELECT value FROM json_each(?)) AND {_QUARANTINED}
ORDER BY memories.session_id, memories.id
"""


def tellable(connection: "Database", hits: "list[Found]") -> "list[Found]":
    """The hits without turns in which something was quarantined."""
    held = _of_turns(connection, hits)
    return [hit for hit in hits if hit.id not in held] if held else hits


def unrepeated(connection: "Database", hits: "list[Found]") -> "list[Found]":
    """The hits without turns that repeat what was quarantined in their session; for few hits, as it looks at whole sessions."""
    held = _repeating(connection, hits)
    return [hit for hit in hits if hit.id not in held] if held else hits


def noted(connection: "Database", hits: "list[Found]") -> "list[Found]":
    """The hits, each that no agent is handed with a note which says so and names the memory to decide on. For people."""
    held = {**_repeating(connection, hits), **_of_turns(connection, hits)}
    if not held:
        return hits
    short = shortened(connection, [memory for memory, _ in held.values()])
    for hit in hits:
        if hit.id in held:
            memory, why = held[hit.id]
            hit.note = "; ".join(([hit.note] if hit.note else []) + [f"{NOTE}: {why} [{short[memory]}]"])
    return hits


def _of_turns(connection: "Database", hits: "list[Found]") -> "dict[str, tuple[str, str]]":
    """By turn the memory that withholds it, and how that one stands."""
    named = _listed(hit.id for hit in hits if hit.kind == "turn")
    rows = connection.execute(_OF_TURNS, (named,)).fetchall() if named != "[]" else []
    return {turn: (memory, _why(state, newer)) for turn, memory, state, newer in reversed(rows)}


def _repeating(connection: "Database", hits: "list[Found]") -> "dict[str, tuple[str, str]]":
    """The same for turns that hold the words of such a memory of their session."""
    turns = [hit for hit in hits if hit.kind == "turn" and hit.session_id]
    named = _listed({hit.session_id: 0 for hit in turns})
    rows = connection.execute(_OF_SESSIONS, (named,)).fetchall() if named != "[]" else []
    if not rows:
        return {}
    from json import loads

    quotes = [(row, _plain(str(loads(row[4]).get("quote") or ""))) for row in rows]
    found = {}
    for hit in turns:
        said = _plain(hit.text) if any(row[0] == hit.session_id for row in rows) else ""
        for (session, memory, state, newer, _), quote in quotes:
            if session == hit.session_id and len(quote) >= LEAST_REPEATED and quote in said:
                found[hit.id] = (memory, _why(state, newer))
                break
    return found


def _why(state: str, newer: "str | None") -> str:
    return "rejected" if state == "rejected" else "waits for review" if newer is None else "replaced"


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(" .!?")


def _listed(ids: "Iterable[str]") -> str:
    """These ids as JSON; what is no id of ours is left out."""
    return "[" + ",".join(f'"{each}"' for each in ids if each.isascii() and each.replace("_", "").isalnum()) + "]"
