"""A prompt, or the start of a session -> what an agent should be told, and nothing it already has.

Rules that always hold come first, then what fits the prompt, or at the start of a session what happened last in this
project. Left out: what this session said itself, what it was told before, and what stands in the project's own
instruction files. A prompt that nothing fits gets nothing: noise costs more than silence.

Imported by the hook when no worker answers: built-ins only.
"""

from hindbrain.recall import block, rank
from hindbrain.recall.words import spaced, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from hindbrain.ledger.database import Database

# Of a prompt's telling words this many must be shared before something counts as fitting.
FLOOR_WORDS = 2
RECENT_TURNS = 12
MAX_FITTING = 200
MIN_LINE_TOKENS = 40  # id, day and origin alone cost more

_RECENT = """
SELECT turns.id, turns.role, turns.text, turns.at, turns.key, sessions.agent, sessions.client_id, sessions.project_id,
       sessions.id
FROM sessions JOIN turns ON turns.session_id = sessions.id
WHERE sessions.project_id = ? AND sessions.id <> ? AND sessions.agent <> 'hindbrain' AND turns.role IN ('user', 'assistant')
  AND sessions.id IN (SELECT id FROM sessions WHERE project_id = ? AND id <> ? ORDER BY last_at DESC, id LIMIT 6)
ORDER BY turns.at DESC, turns.id LIMIT ?
"""
_LAST_PROMPT = "SELECT text FROM turns WHERE session_id = ? AND role = 'user' ORDER BY at DESC, rowid DESC LIMIT 1"


class Asked:
    """What a block is wanted for."""

    __slots__ = ("already", "budget", "floor", "known_text", "prompt", "recent", "rules", "scope", "session")

    def __init__(
        self, scope: rank.Scope, *, prompt: str = "", session: str = "", budget: int = 2000, floor: int = FLOOR_WORDS,
        rules: bool = True, recent: bool = False, already: "Collection[str]" = (), known_text: str = "",
    ) -> None:  # fmt: skip
        self.scope = scope
        self.prompt = prompt
        self.session = session  # the ledger's id of the session that asks, "" for none
        self.budget = budget
        self.floor = floor
        self.rules = rules
        self.recent = recent
        self.already = already
        self.known_text = known_text


def build(connection: "Database", asked: Asked, health: str = "") -> tuple[str, list[rank.Found]]:
    """The block and what is in it; "" and nothing when there is nothing worth saying."""
    found = rank.standing(connection, asked.scope) if asked.rules else []
    rules = {each.id for each in found}
    wanted = [each for each in found if not _has_already(each, asked)]
    if asked.prompt:
        wanted += fitting(connection, asked, rules)
    elif asked.recent:
        wanted += [each for each in recent(connection, asked) if not _has_already(each, asked)]
    items = [block.Item(each.id, each.at, _origin(each), each.text, standing=each.id in rules) for each in wanted]
    text, taken = block.pack(items, asked.budget, health)
    told = {item.id for item in taken}
    return text, [each for each in wanted if each.id in told]


def fitting(connection: "Database", asked: Asked, rules: "Collection[str]" = ()) -> list[rank.Found]:
    """What shares enough words with the prompt and is not known already, best first; as many as the budget may hold."""
    stems = {stem(word) for word in words_of(asked.prompt)}
    floor = min(asked.floor, len(stems))
    fits: list[rank.Found] = []
    # What is said again and again must not crowd out the rest. Another session that was asked the same tells an agent nothing.
    prompt = spaced(asked.prompt)
    seen: set[str] = set()
    for each in rank.search(connection, asked.prompt, asked.scope, MAX_FITTING, talk_only=True):
        if len(fits) * MIN_LINE_TOKENS > asked.budget:
            break
        if each.text in seen or each.id in rules or _may_share(each.text, stems) < floor:
            continue
        words = spaced(each.text)
        if asked.session and each.kind == "turn" and words == prompt:
            continue
        if _shared(words, stems) < floor or _has_already(each, asked):
            continue
        seen.add(each.text)
        fits.append(each)
    return fits


def _may_share(text: str, stems: set[str]) -> int:
    """At least as many as _shared, without telling words apart: cheap, and enough to leave most texts out."""
    plain = text.lower()
    return sum(each in plain for each in stems)


def _shared(words: str, stems: set[str]) -> int:
    """How many of the stems some of these words begins with; a short one must be the word."""
    plain = f" {words} "
    return sum((f" {each}" if len(each) > 3 else f" {each} ") in plain for each in stems)


def stem(word: str) -> str:
    """Enough of a stem to see that two words are alike; the index does it properly."""
    for ending in ("ing", "edly", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def recent(connection: "Database", asked: Asked) -> list[rank.Found]:
    """The last things said in this project's other sessions, newest first."""
    project = asked.scope.project
    if project is None:
        return []
    values = (project, asked.session, project, asked.session, RECENT_TURNS)
    return [
        rank.Found(row[0], "turn", row[1], row[2], row[3], row[4], row[5], row[6], row[7], {"recent": 1.0}, row[8])
        for row in connection.execute(_RECENT, values).fetchall()
    ]


def last_prompt(connection: "Database", session: str) -> str:
    """What the user last asked in a session: what a subagent started there works on."""
    row = connection.execute(_LAST_PROMPT, (session,)).fetchone()
    return row[0] if row else ""


def _has_already(found: rank.Found, asked: Asked) -> bool:
    if found.id in asked.already:
        return True
    if asked.session and found.session_id == asked.session:
        return True
    if not asked.known_text:
        return False
    plain = block.defused(found.text).lower()
    return len(plain) > 12 and plain in asked.known_text


def _origin(found: rank.Found) -> str:
    if found.kind == "turn":
        return f"{found.role}, {found.agent}"
    return f"{found.kind}, {found.role}"
