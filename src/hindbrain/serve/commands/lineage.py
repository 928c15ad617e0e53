"""The lineage of a memory -> a tree to read: each link with what it leads to, down to turns and the lines they were taken from.

What is met a second time is named and not opened again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from hindbrain.serve.commands.options import one_line
from hindbrain.serve.moments import day, when
from hindbrain.serve.terminal import printable

if TYPE_CHECKING:
    from hindbrain.ledger.known import Known
    from hindbrain.ledger.lineage import Ground, Lineage

_CHARS: Final = 160
_MOST_TURNS: Final = 50  # of one memory; a digest may rest on a whole session
_LINKS: Final = {
    "derived_from": "said in", "digested_from": "sums up", "reinforces": "confirms", "contradicts": "one side",
    "supersedes": "replaced", "supports": "rests on",
}  # fmt: skip


def maker(made_by: str) -> str:
    """Who made a memory, in plain words."""
    if made_by == "person":
        return "a person"
    name, _, version = made_by.rpartition("/")
    if name == "rules":
        return f"rules, version {version}"
    return f"the model {name.removeprefix('model:')}, version {version}" if name.startswith("model:") else made_by


def told(memory: Known) -> list[tuple[str, str]]:
    """What is known of how a memory came to be, and what became of it."""
    detail = memory.detail
    seen = detail.get("seen", 1)
    since = "" if memory.valid_to is None else f" since {when(memory.valid_to)}"
    ended = f"no longer holds{since}" + (f", replaced by {memory.superseded_by}" if memory.superseded_by else "")
    return [
        ("made by", maker(memory.made_by)),
        ("seen", f"{seen} times" if isinstance(seen, int) and seen > 1 else ""),
        ("reason", str(detail.get("reason") or "") if memory.held else ""),
        ("because", str(detail.get("why") or "")),
        ("not", str(detail.get("instead_of") or "")),
        ("quote", str(detail.get("quote") or "")),
        ("ended", ended if (memory.valid_to is not None or memory.superseded_by) and not memory.joined else ""),
    ]


def lines(tree: Lineage, states: Mapping[str, str]) -> Iterator[str]:
    """The tree below a memory, one link a line; `states` tells of turns whether the transcript still has them."""
    return _lines(tree, states, "", {tree.memory.id})


def _lines(tree: Lineage, states: Mapping[str, str], indent: str, seen: set[str]) -> Iterator[str]:
    for ground in tree.turns[:_MOST_TURNS]:
        yield f"{indent}{_LINKS.get(ground.link, ground.link):<9} {_ground(ground)}"
        yield f"{indent}{'':<9} {_place(ground, states)}"
    if len(tree.turns) > _MOST_TURNS:
        yield f"{indent}{'':<9} and {len(tree.turns) - _MOST_TURNS} more turns"
    for each in tree.below:
        memory = each.memory
        again = memory.id in seen
        link = "joined" if each.link == "supersedes" and memory.joined else _LINKS.get(each.link, each.link)
        yield f"{indent}{link:<9} {_memory(memory)}{' (see above)' if again else ''}"
        if not again:
            seen.add(memory.id)
            yield from _lines(each, states, indent + "    ", seen)


def _ground(ground: Ground) -> str:
    return f"[{ground.turn_id}] {when(ground.at)}, {printable(ground.role)}: {one_line(ground.text, _CHARS)}"


def _place(ground: Ground, states: Mapping[str, str]) -> str:
    if ground.source is None:
        where = f"written into {ground.page} of the wiki" if ground.page else "no transcript line"
        return printable(f"{where}; journal {ground.segment} at byte {ground.start}")
    path, start, end = ground.source
    state = states.get(ground.turn_id)
    return printable(f"{path}:{start}, bytes {start} to {end}" + (f"; {state}" if state else ""))


def _memory(memory: Known) -> str:
    said = f"[{memory.id}] {day(memory.valid_from)}, {memory.kind} by {maker(memory.made_by)}, confidence {memory.confidence:.2f}"
    ended = "" if memory.valid_to is None or memory.joined else f", until {day(memory.valid_to)}"
    return f"{printable(said + ended)}: {one_line(memory.text, _CHARS)}"


def data(tree: Lineage, seen: set[str] | None = None) -> dict[str, object]:
    """The same for programs."""
    known = {tree.memory.id} if seen is None else seen
    memory = tree.memory
    below = []
    for each in tree.below:
        again = each.memory.id in known
        known.add(each.memory.id)
        below.append({"link": each.link, "id": each.memory.id, "again": True} if again else data(each, known))
    return {
        "link": tree.link, "id": memory.id, "level": memory.level, "kind": memory.kind, "text": memory.text,
        "made_by": memory.made_by, "confidence": memory.confidence, "trust": memory.trust, "held": memory.held,
        "seen": memory.detail.get("seen", 1), "valid_from": when(memory.valid_from),
        "valid_to": None if memory.valid_to is None else when(memory.valid_to), "superseded_by": memory.superseded_by,
        "joined": memory.joined,
        "quote": memory.detail.get("quote"), "why": memory.detail.get("why"), "instead_of": memory.detail.get("instead_of"),
        "turns": [_ground_data(each) for each in tree.turns], "memories": below,
    }  # fmt: skip


def _ground_data(ground: Ground) -> dict[str, object]:
    path, start, end = ground.source or (None, None, None)
    return {
        "link": ground.link, "id": ground.turn_id, "session_id": ground.session_id, "role": ground.role, "at": when(ground.at),
        "text": ground.text, "source": None if path is None else {"path": path, "start": start, "end": end},
        "journal": {"segment": ground.segment, "start": ground.start}, **({"page": ground.page} if ground.page else {}),
    }  # fmt: skip
