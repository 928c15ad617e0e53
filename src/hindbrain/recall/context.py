"""A prompt, or the start of a session -> what an agent should be told, and nothing it already has.

Rules that always hold come first, in a part of their own, then what fits the prompt, or at the start of a session what
happened last in this project. Left out: what this session said itself, what it was told before, what stands in the
project's own instruction files, and turns in which something is quarantined. While a session stays with its topic it gets half
as much at a prompt: it was told the best already.

Imported by the hook when no worker answers: built-ins only.
"""

from hindbrain.recall import block, fitting, rank
from hindbrain.recall.contradictions import marked_turns
from hindbrain.recall.excerpt import excerpt
from hindbrain.recall.short_ids import shortened
from hindbrain.recall.tokens import tokens_in
from hindbrain.recall.withheld import tellable, unrepeated
from hindbrain.recall.words import spaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

    from hindbrain.ledger.database import Database

FLOOR_WORDS = fitting.FLOOR_WORDS
RECENT_TURNS = 12
RECENT_LOOKED_AT = 48  # some may be withheld
MAX_FITTING = 200
ENOUGH = 2  # times what the budget holds: long lines that find no room make room for short ones
DRIFT_PROMPTS = 3  # so many earlier prompts say what a session is about
EASED = 0.5  # of the budget, while the topic is the same

_RECENT = """
SELECT turns.id, turns.role, turns.text, turns.at, turns.key, sessions.agent, sessions.client_id, sessions.project_id,
       sessions.id
FROM sessions JOIN turns ON turns.session_id = sessions.id
WHERE sessions.project_id = ? AND sessions.id <> ? AND sessions.agent <> 'hindbrain' AND turns.role IN ('user', 'assistant')
  AND sessions.id IN (SELECT id FROM sessions WHERE project_id = ? AND id <> ? ORDER BY last_at DESC, id LIMIT 6)
ORDER BY turns.at DESC, turns.id LIMIT ?
"""
_LAST_PROMPTS = "SELECT text FROM turns WHERE session_id = ? AND role = 'user' ORDER BY at DESC, rowid DESC LIMIT ?"
_OBSERVERS = """
SELECT id, observer FROM memories WHERE observer NOT IN ('user', 'hindbrain') AND id IN (SELECT value FROM json_each(?))
"""
_PROJECTS = "SELECT id, name FROM projects WHERE id IN (SELECT value FROM json_each(?))"


class Asked:
    """What a block is wanted for."""

    __slots__ = (
        "agent", "already", "budget", "chars", "eases", "floor", "known_text", "prompt", "recent", "rules", "scope", "session",
    )  # fmt: skip

    def __init__(
        self, scope: rank.Scope, *, prompt: str = "", session: str = "", budget: int = 2000, floor: int = FLOOR_WORDS,
        rules: bool = True, recent: bool = False, already: "Collection[str]" = (), known_text: str = "", agent: str = "",
        eases: bool = False, chars: int = block.MAX_BLOCK_CHARS,
    ) -> None:  # fmt: skip
        self.scope = scope
        self.prompt = prompt
        self.session = session  # the ledger's id of the session that asks, "" for none
        self.agent = agent  # that asks; what others said is marked
        self.budget = budget  # in tokens
        self.chars = chars  # and never more letters than this
        self.floor = floor
        self.rules = rules
        self.recent = recent
        self.already = already
        self.known_text = known_text  # the words of what the agent reads anyway, as words.spaced() has them
        self.eases = eases  # less is told while the session stays with its topic


def build(
    connection: "Database", asked: Asked, health: str = "", search: "Callable[..., list[rank.Found]]" = rank.search,
    count: "Callable[[str], int]" = tokens_in,
) -> "tuple[str, list[rank.Found]]":  # fmt: skip
    """The block and what is in it; "" and nothing when there is nothing worth saying."""
    found = rank.standing(connection, asked.scope) if asked.rules else []
    rules = {each.id for each in found}
    wanted = [each for each in found if not _has_already(each, asked)]
    budget = asked.budget
    if asked.prompt:
        fits = fitting.Fitting(asked.prompt, asked.floor)
        stems: Collection[str] = fits.stems
        wanted += _fitting(connection, asked, rules, fits, search)
        if asked.eases and not drifted(connection, asked.session, asked.prompt):
            budget = int(budget * EASED)
    else:
        stems = ()
        wanted += [each for each in recent(connection, asked) if not _has_already(each, asked)] if asked.recent else []
    items = _items(connection, asked, marked_turns(connection, wanted, asked.scope.before), rules, stems)
    text, taken = block.pack(items, budget, health, count, asked.chars)
    told = {id(item) for item in taken}
    return text, [each for each, item in zip(wanted, items, strict=True) if id(item) in told]


def _fitting(
    connection: "Database", asked: Asked, rules: "Collection[str]", fits: fitting.Fitting,
    search: "Callable[..., list[rank.Found]]",
) -> "list[rank.Found]":  # fmt: skip
    """What fits and is not known already, best first; as many as the budget may hold."""
    if not fits.says_something():
        return []
    for each in tellable(connection, search(connection, asked.prompt, asked.scope, MAX_FITTING, talk_only=True)):
        if fits.tokens > ENOUGH * asked.budget:
            break
        if each.id not in rules and not _has_already(each, asked):
            # another session that was asked the same tells an agent nothing
            fits.look_at(each, asked_before=bool(asked.session) and each.kind == "turn")
    return unrepeated(connection, fits.kept)


def recent(connection: "Database", asked: Asked) -> "list[rank.Found]":
    """The last things said in this project's other sessions, newest first."""
    project = asked.scope.project
    if project is None:
        return []
    values = (project, asked.session, project, asked.session, RECENT_LOOKED_AT)
    found = [
        rank.Found(row[0], "turn", row[1], row[2], row[3], row[4], row[5], row[6], row[7], {"recent": 1.0}, row[8])
        for row in connection.execute(_RECENT, values).fetchall()
    ]
    return unrepeated(connection, tellable(connection, found))[:RECENT_TURNS]


def last_prompt(connection: "Database", session: str) -> str:
    """What the user last asked in a session: what a subagent started there works on."""
    rows = connection.execute(_LAST_PROMPTS, (session, 1)).fetchall()
    return rows[0][0] if rows else ""


def drifted(connection: "Database", session: str, prompt: str) -> bool:
    """Whether a prompt speaks of something else than the last ones of its session; yes where there are none.

    The prompt itself may be stored by now, so what is equal to it is left out.
    """
    rows = connection.execute(_LAST_PROMPTS, (session, DRIFT_PROMPTS + 1)).fetchall() if session else []
    earlier = [row[0] for row in rows if row[0].strip() != prompt.strip()][:DRIFT_PROMPTS]
    topic, _ = fitting.topic_of(prompt)
    if not earlier or not topic:
        return True
    before = " ".join(spaced(text) for text in earlier)
    return fitting.shared(before, topic) * 3 < len(topic)


def _has_already(found: rank.Found, asked: Asked) -> bool:
    if found.id in asked.already:
        return True
    if asked.session and found.session_id == asked.session:
        return True
    if not asked.known_text or len(found.text) > len(asked.known_text) * 2:
        return False
    words = spaced(found.text)
    return len(words) > 12 and f" {words} " in f" {asked.known_text} "


def _items(
    connection: "Database", asked: Asked, wanted: "list[rank.Found]", rules: "Collection[str]", stems: "Collection[str]"
) -> list[block.Item]:
    short = shortened(connection, [each.id for each in wanted])
    agents = {each.agent for each in wanted if each.kind == "turn"} | ({asked.agent} if asked.agent else set())
    projects = {each.project for each in wanted if each.kind == "turn"}
    names = _names(connection, projects) if len(projects) > 1 else {}
    name_observers(connection, wanted)
    return [
        block.Item(
            short[each.id], each.at, _label(each), excerpt(each.text, each.start, each.end, stems), standing=each.id in rules,
            found=each.found, session=each.session_id if each.kind == "turn" else "",
            where=" ".join(([each.agent] if len(agents) > 1 else []) + ([names[each.project]] if each.project in names else [])),
        )
        for each in wanted
    ]  # fmt: skip


def _names(connection: "Database", projects: "Collection[str | None]") -> "dict[Any, str]":
    """What people call these projects."""
    listed = "[" + ",".join(f'"{each}"' for each in projects if each) + "]"  # ids are plain letters and digits
    return dict(connection.execute(_PROJECTS, (listed,)).fetchall())


def name_observers(connection: "Database", found: "list[rank.Found]") -> None:
    """Say of the memories that agents keep under their own names which agents these are."""
    memories = {each.id: each for each in found if each.kind != "turn"}
    if memories:
        listed = "[" + ",".join(f'"{each}"' for each in memories) + "]"  # ids are plain letters and digits
        for identifier, observer in connection.execute(_OBSERVERS, (listed,)).fetchall():
            memories[identifier].agent = observer


def _label(found: rank.Found) -> str:
    """Who said a turn; of a memory its kind, how far it is trusted and which agent keeps it; of either whether it holds no more,
    or is contradicted."""
    said = found.role if found.kind == "turn" else f"{found.kind}, {found.role} {found.agent}".rstrip()
    if found.disputed:
        return f"{said}, {found.disputed}"
    if found.valid_to is not None:
        return f"{said}, until {block.day_of(found.valid_to)}"
    return f"{said}, no longer so" if found.superseded else said
