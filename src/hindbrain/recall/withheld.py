"""Hits -> those that may be handed to an agent: no turn in which something was quarantined, nor one that repeats it.

Holding a memory back would be in vain if the turn that says it went out instead. A turn is withheld while a memory that was found
in it waits for a person, and after the person rejected it; accepting it lets the turn go. Another turn of the same session that
repeats the very words (an agent quoting the page it read) goes with it. What else was found in such a turn is told by its own
words, unless they are among those that were quarantined in that session. A memory that was never quarantined and is rejected was
only wrong: its turn is told, marked as no longer so (contradictions.py).

Imported by the hook when no worker answers: built-ins only. What is quarantined is rare, so `json` is loaded when there is some.
"""

from hindbrain.recall.short_ids import shortened
from hindbrain.recall.words import spaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hindbrain.ledger.database import Database
    from hindbrain.recall.rank import Found

LEAST_REPEATED = 12  # letters: fewer are repeated by chance
RUN = 4  # words in a row that two texts share, which make one a repetition of the other
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
# Of memories what is quarantined in their session, and whether in their own turn.
_BESIDE = f"""
SELECT mine.id, mine.text, mine.detail, memories.text, memories.detail, (
    SELECT count(*) FROM links AS mine_in JOIN links AS theirs_in ON theirs_in.turn_id = mine_in.turn_id
    WHERE mine_in.memory_id = mine.id AND theirs_in.memory_id = memories.id
)
FROM memories AS mine JOIN memories ON memories.session_id = mine.session_id AND memories.id <> mine.id
WHERE mine.id IN (SELECT value FROM json_each(?)) AND {_QUARANTINED}
ORDER BY mine.id, memories.id
"""


def beside(connection: "Database", memories: "Iterable[str]") -> "dict[str, bool]":
    """Of memories that were found those in whose session something is quarantined: True for one that repeats none of it and whose
    own turn is withheld, so that it has to speak for itself; False for one that repeats it or was quarantined itself, and must
    not."""
    named = _listed(memories)
    rows = connection.execute(_BESIDE, (named,)).fetchall() if named != "[]" else []
    if not rows:
        return {}
    from json import loads

    repeats: dict[str, bool] = {}
    withheld: dict[str, bool] = {}
    for mine, text, detail, their_text, their_detail, shared in rows:
        own = (text, str(loads(detail).get("quote") or ""))
        theirs = (their_text, str(loads(their_detail).get("quote") or ""))
        said_again = any(_repeats(each, other) for each in own for other in theirs)
        repeats[mine] = repeats.get(mine, False) or '"held":"quarantine"' in detail or said_again
        withheld[mine] = withheld.get(mine, False) or bool(shared)
    return {each: not repeats[each] for each in repeats if repeats[each] or withheld[each]}


def _repeats(text: str, quarantined: str) -> bool:
    """Whether a text holds words of another, several in a row or all there are."""
    said, other = spaced(text).split(), spaced(quarantined).split()
    if not said or not other:
        return False
    length = min(RUN, len(other), len(said))
    runs = {tuple(other[start : start + length]) for start in range(len(other) - length + 1)}
    return any(tuple(said[start : start + length]) in runs for start in range(len(said) - length + 1))


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
