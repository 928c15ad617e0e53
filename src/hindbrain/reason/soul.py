"""What stands everywhere -> one page on who works here: who they are, what they like, what was learnt, how work is done.

Every line is a memory's own words and names the memories it rests on. Only what people said or several sessions agree on is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from hindbrain.reason.changes import Insight, Page, Standing
from hindbrain.reason.vocabulary import plain

NAME: Final = "soul"
MOST_LINES: Final = 12  # in a section
MOST_CHARS: Final = 240  # of a line
SECTIONS: Final = ("Identity", "Preferences", "Technical learnings", "Working patterns")

_AGREED: Final = 9.0  # what several agree on comes first
_SECTION_OF: Final = {
    "preference": "Preferences", "lesson": "Technical learnings", "correction": "Technical learnings",
    "procedure": "Working patterns", "instruction": "Working patterns",
}  # fmt: skip
_SELF: Final = re.compile(
    r"\b(?:i am|i'm|my (?:name|role|job|team|time ?zone|background)|call me|i (?:work|live|maintain|own|lead|speak)"
    r"|ich (?:bin|heisse|arbeite|wohne|leite|betreue)|mein(?:e)? (?:name|rolle|team)"
    r"|soy|me llamo|trabajo (?:en|como)|vivo en|mi (?:nombre|equipo|rol))\b"
)


# What is told, of which kind, how much it counts, and what it rests on.
_Told = tuple[str, str, tuple[float, int, str], tuple[str, ...]]


def soul(known: Sequence[Standing], patterns: Sequence[Insight], pages: Sequence[Standing]) -> Page | None:
    """The page; None where there is nothing to tell, or it says what it said before."""
    lines: dict[str, list[tuple[tuple[float, int, str], str, tuple[str, ...]]]] = {name: [] for name in SECTIONS}
    told: set[str] = set()
    for text, kind, rank, ids in [*_patterns(patterns), *_memories(known)]:
        section, line = _section(kind, text), _line(text)
        if section and line.casefold() not in told:
            told.add(line.casefold())
            lines[section].append((rank, line, ids))
    parts, supports = [], dict[str, None]()
    for name in SECTIONS:
        best = sorted(lines[name], key=lambda each: each[0], reverse=True)[:MOST_LINES]
        if best:
            parts.append(f"## {name}\n" + "\n".join(f"- {line} [{', '.join(ids)}]" for _, line, ids in best))
            supports.update(dict.fromkeys(each for _, _, ids in best for each in ids))
    text = "# Soul\n\n" + "\n\n".join(parts)
    if not parts or any(page.text == text for page in pages):
        return None
    return Page(NAME, text, tuple(supports), tuple(sorted(page.id for page in pages)))


def _patterns(patterns: Iterable[Insight]) -> Iterable[_Told]:
    """What this dream itself found; told as it will be told once it is kept."""
    for each in patterns:
        yield each.text, each.kind, (_AGREED, 0, each.id), (each.id,)


def _memories(known: Iterable[Standing]) -> Iterable[_Told]:
    """Memories that may be told: global ones, insights, what was seen more than once, and whatever a person likes or is."""
    for each in known:
        seen = int(each.detail.get("seen", 1))
        general = each.scope == "global" or each.level == "derived" or seen > 1 or each.pinned
        own = each.trust in ("user", "human_file")
        personal = each.kind == "preference" or (each.kind == "fact" and _is_self(each.text))
        if (general and (own or each.level == "derived")) or (own and personal):
            sure = each.confidence + min(0.1 * seen, 1.0) + (0.5 if general else 0.0)
            rank = (_AGREED, 0, each.id) if each.level == "derived" else (sure, each.valid_from, each.id)
            yield each.text, each.kind, rank, (each.id,)


def _is_self(text: str) -> bool:
    return _SELF.search(plain(text)) is not None


def _section(kind: str, text: str) -> str:
    if kind == "fact":
        return "Identity" if _is_self(text) else ""
    return _SECTION_OF.get(kind, "")


def _line(text: str) -> str:
    """One line that no text can break out of: no line breaks, no brackets that look like the ids behind it."""
    flat = " ".join(text.split()).replace("[", "(").replace("]", ")").lstrip("#-*> ")
    return flat if len(flat) <= MOST_CHARS else flat[: MOST_CHARS - 1].rsplit(" ", 1)[0] + "…"
