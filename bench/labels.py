"""The labelled sessions of tests/reason/corpus -> stories as reasoning sees them, with what should be found in each.

Two thirds are there to be looked at (`tune`, `more`); the last third (`held`) is run, never read. Beside these there are stories
written later, in which people talk beside the point much more (`wide`): weights are learnt from them and from those that may be
looked at; `fresh` is of the same sort and was kept back. Ids of turns are `story/session/key`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from hindbrain.ledger.statement import Said

CORPUS: Final = Path(__file__).resolve().parents[1] / "tests" / "reason" / "corpus"
THIRDS: Final = {"tune": ("tune_a", "tune_b"), "more": ("tune_c", "tune_d"), "held": ("held", "held_b")}
LATER: Final = (*"efghijklmnopqrstuvwxyz", *(f"a{letter}" for letter in "abcdefghijklmnopqr"))
PARTS: Final = {**THIRDS, "wide": tuple(f"tune_{name}" for name in LATER), "fresh": ("held_c", "held_d")}
SECONDS_APART: Final = 30


@dataclass(frozen=True)
class Item:
    """Something a session says that is worth keeping."""

    id: str
    kind: str
    turns: frozenset[str]  # where it is said, and where it is agreed to
    quote: str
    must: tuple[str, ...]
    why: tuple[str, ...]
    instead_of: tuple[str, ...]
    optional: bool
    at: int
    said: str  # all that is said in its turn
    trust: str  # of whom it comes from: what a user agreed to is the user's


@dataclass(frozen=True)
class Session:
    """Turns in order, and the labels."""

    name: str
    agent: str
    turns: tuple[Said, ...]
    items: tuple[Item, ...]
    digest: tuple[str, ...]
    untrusted: tuple[tuple[str, str], ...]  # turn and quote


@dataclass(frozen=True)
class Pair:
    """Two items and how the newer stands to the older; "" where they only look alike."""

    new: Item
    old: Item
    type: str


@dataclass(frozen=True)
class Story:
    """One made-up project over some weeks."""

    name: str
    project: str
    language: str
    sessions: tuple[Session, ...]
    pairs: tuple[Pair, ...]


def stories(part: str) -> list[Story]:
    """Of one part of the corpus, by name: of `PARTS`, or of a folder."""
    return [story(json.loads(path.read_text("utf-8"))) for path in paths(part)]


def paths(part: str) -> Sequence[Path]:
    return sorted(path for folder in PARTS.get(part, (part,)) for path in (CORPUS / folder).glob("*.json"))


def story(read: dict[str, Any]) -> Story:
    name = str(read["story"])
    sessions = tuple(_session(name, each) for each in read["sessions"])
    items = {item.id: item for session in sessions for item in session.items}
    return Story(name, str(read["project"]), str(read["language"]), sessions, tuple(_pairs(name, read, items)))


def _session(name: str, read: dict[str, Any]) -> Session:
    place = f"{name}/{read['session']}"
    start = round(datetime.fromisoformat(read["started"]).timestamp() * 1000)
    turns = tuple(_said(place, each, start + 1000 * SECONDS_APART * number) for number, each in enumerate(read["turns"]))
    untrusted = tuple((f"{place}/{each['turn']}", str(each["quote"])) for each in read.get("untrusted", ()))
    said = {turn.id: turn for turn in turns}
    items = tuple(_item(place, each, said) for each in read["items"])
    return Session(place, str(read["agent"]), turns, items, tuple(read.get("digest", ())), untrusted)


def _said(place: str, read: dict[str, Any], at: int) -> Said:
    """A tool call's text is what it runs or the file it works on."""
    role, tool, text = str(read["role"]), str(read.get("tool", "")), str(read["text"])
    runs, on_file = role == "tool_call" and tool == "Bash", role == "tool_call" and tool in ("Read", "Edit", "Write", "MultiEdit")
    return Said(
        f"{place}/{read['key']}", role, text, tool=tool, at=at, error=bool(read.get("error")), command=text if runs else "",
        files=(text,) if on_file else (),
    )  # fmt: skip


def _item(place: str, read: dict[str, Any], said: dict[str, Said]) -> Item:
    turns = frozenset(f"{place}/{read[name]}" for name in ("turn", "agreed_in") if read.get(name))
    first = said[f"{place}/{read['turn']}"]
    trust = "user" if read.get("agreed_in") or first.role == "user" else "assistant" if first.role == "assistant" else "tool"
    return Item(
        f"{place}/{read['id']}", str(read["kind"]), turns, str(read["quote"]), tuple(read["must"]), tuple(read.get("why", ())),
        tuple(read.get("instead_of", ())), bool(read.get("optional")), first.at, first.text, trust,
    )  # fmt: skip


def _pairs(name: str, read: dict[str, Any], items: dict[str, Item]) -> Iterator[Pair]:
    for each in read.get("relations", ()):
        yield Pair(items[f"{name}/{each['new']}"], items[f"{name}/{each['old']}"], str(each["type"]))
    for each in read.get("unrelated", ()):
        one, other = items[f"{name}/{each['a']}"], items[f"{name}/{each['b']}"]
        older, newer = sorted((one, other), key=lambda item: item.at)
        yield Pair(newer, older, "")
