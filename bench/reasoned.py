"""A labelled story -> a home that was told it, and what stands there once everything is settled.

What people and agents say is recorded through the public library. What tools did is written as the hook of an agent would have it
written, with the command, the file and whether it failed, and so is the end of a session: the library's own `record` has no room
for these.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench.homes import in_memory
from bench.judging import Found, Judged, coverage, judge
from bench.labels import Item, Pair, Session, Story
from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.event import Event, Json
from hindbrain.capture.record import Recorder
from hindbrain.capture.tool_text import call_text, trace
from hindbrain.ledger.database import Database
from hindbrain.ledger.statement import Said
from hindbrain.ledger.store import Ledger

SETTLE_SECONDS = 600.0

_MEMORIES = """
SELECT memories.id, memories.level, memories.kind, memories.text, memories.held, memories.superseded_by, sessions.client_id
FROM memories LEFT JOIN sessions ON sessions.id = memories.session_id ORDER BY memories.id
"""
_EVIDENCE = """
SELECT links.memory_id, turns.key FROM links JOIN turns ON turns.id = links.turn_id
WHERE links.role = 'derived_from' ORDER BY links.memory_id, links.number
"""
_TIES = """
SELECT memory_id, role, target_memory_id FROM links
WHERE role IN ('contradicts', 'reinforces') AND target_memory_id IS NOT NULL
"""


@dataclass
class Kept:
    """What a home holds after a story."""

    found: dict[str, list[Found]] = field(default_factory=dict)  # by session
    digests: dict[str, str] = field(default_factory=dict)
    superseded_by: dict[str, str] = field(default_factory=dict)
    opposed: set[frozenset[str]] = field(default_factory=set)
    reinforced: set[frozenset[str]] = field(default_factory=set)

    def same_turn(self, memory: str, others: Sequence[str]) -> bool:
        """Whether one of the others was said where this memory was."""
        said = {each.id: each.turns[:1] for found in self.found.values() for each in found}
        return any(said.get(other) == said[memory] for other in others)

    def replaced(self, memory: str) -> list[str]:
        """What stands in a memory's place, nearest first."""
        chain: list[str] = []
        while (memory := self.superseded_by.get(memory, "")) and memory not in chain:
            chain.append(memory)
        return chain


@contextmanager
def told(story: Story) -> Iterator[tuple[Memory, Path]]:
    """A home in which every session of the story was said, one after the other."""
    with tempfile.TemporaryDirectory(prefix="hindbrain-reason-", dir=in_memory()) as folder:
        home = Path(folder) / "home"
        with Memory.open(home=home) as memory:
            recorder = Recorder(home)
            try:
                for session in story.sessions:
                    record(memory, recorder, story.project, session)
            finally:
                recorder.close()
            memory.settle(timeout=SETTLE_SECONDS)
            yield memory, home


def record(memory: Memory, recorder: Recorder, project: str, session: Session) -> None:
    for turn in session.turns:
        if turn.role in ("user", "assistant"):
            moment = datetime.fromtimestamp(turn.at / 1000, UTC)
            memory.record(
                agent=session.agent, session=session.name, role=turn.role, text=turn.text, at=moment, project=project, key=turn.id
            )
        else:
            recorder.record([tool_event(session, turn, project)], turn.at)
    end = session.turns[-1].at + 1000
    ended = Event(
        kind="session_end", agent=session.agent, session=session.name, at=end, key=f"SessionEnd:{end}", origin="hook",
        cwd=f"project:{project}", detail={"reason": "prompt_input_exit"},
    )  # fmt: skip
    recorder.record([ended], end)


def tool_event(session: Session, turn: Said, project: str) -> Event:
    """As a hook writes it: a call's text names the tool, its detail what was run or touched."""
    call = turn.role == "tool_call"
    field_name = "command" if turn.command else "file_path" if turn.files else "url" if turn.tool == "WebFetch" else "query"
    given: dict[str, Json] = {field_name: turn.text}
    return Event(
        kind="turn", agent=session.agent, session=session.name, at=turn.at, key=turn.id, origin="hook",
        role="tool_call" if call else "tool_result", tool=turn.tool, cwd=f"project:{project}",
        text=call_text(turn.tool, given) if call else turn.text,
        detail=trace(turn.tool, given) if call else ({"error": True} if turn.error else {}),
    )  # fmt: skip


def kept(home: Path) -> Kept:
    """Read from the ledger what reasoning left there."""
    with Ledger.open(Home(home).ledger, SystemClock()) as ledger, ledger.reading() as database:
        return _read(database)


def _read(database: Database) -> Kept:
    evidence: dict[str, list[str]] = {}
    for memory, turn in database.execute(_EVIDENCE):
        evidence.setdefault(str(memory), []).append(str(turn))
    read = Kept()
    for memory, level, kind, text, held, newer, session in database.execute(_MEMORIES):
        if newer:
            read.superseded_by[memory] = newer
        if level == "observation" and session:
            found = Found(memory, kind, text, tuple(evidence.get(memory, ())), bool(held))
            read.found.setdefault(session, []).append(found)
        elif str(level).startswith("digest") and session:
            read.digests[session] = f"{read.digests.get(session, '')}\n{text}"
    sides: dict[str, list[str]] = {}
    for memory, role, other in database.execute(_TIES):
        if role == "reinforces":
            read.reinforced.add(frozenset((memory, other)))
        else:  # a contradiction is a memory of its own, tied to both sides
            sides.setdefault(memory, []).append(other)
    read.opposed = {frozenset(each) for each in sides.values()}
    return read


def judged(story: Story, read: Kept) -> tuple[Judged, list[tuple[Pair, str]], list[tuple[int, int]]]:
    """The story's findings, its pairs of which both sides were found, and how much of each session the digest mentions."""
    total, digests = Judged(), []
    for session in story.sessions:
        total.add(judge(session, read.found.get(session.name, ())))
        digests.append(coverage(session.digest, read.digests.get(session.name, "")))
    return total, list(standing(story.pairs, total.matched, read)), digests


def standing(pairs: Iterable[Pair], matched: Sequence[tuple[Item, Found]], read: Kept) -> Iterator[tuple[Pair, str]]:
    known = {item.id: found.id for item, found in matched}
    for pair in pairs:
        if pair.new.id in known and pair.old.id in known:
            yield pair, relation_of(known[pair.new.id], known[pair.old.id], pair.type, read)


def strange(story: Story, read: Kept) -> list[tuple[Found, Found]]:
    """Older and newer of what was replaced although no label says so of the two, nor of what was said in the same turns."""
    by_id = {each.id: each for found in read.found.values() for each in found}
    labelled = {(turn, other) for pair in story.pairs if pair.type in ("supersedes", "reinforces")
                for turn in pair.old.turns for other in pair.new.turns}  # fmt: skip
    replaced = [(by_id[old], by_id[new]) for old, new in read.superseded_by.items() if old in by_id and new in by_id]
    return [(old, new) for old, new in replaced if labelled.isdisjoint((a, b) for a in old.turns for b in new.turns)]


def relation_of(new: str, old: str, wanted: str, read: Kept) -> str:
    """What the ledger says of two memories.

    Where both gave way to a third, or the older one to another half of the sentence, it is as stale as it should be.
    """
    after_old, after_new = read.replaced(old), read.replaced(new)
    if new in after_old:
        return "supersedes"
    if wanted == "supersedes" and after_old and (after_old[-1] in after_new or read.same_turn(new, after_old)):
        return "supersedes"
    both = frozenset((new, old))
    return "contradicts" if both in read.opposed else "reinforces" if both in read.reinforced else ""
