"""Acts on pages, and how the memories stand -> the events to be written.

The id of an act follows from what is done to what, and how many times that was done before; what is in force already is left
alone. So the same edit told twice is the same event, whatever of it had reached the disk before.

An act means what the page shows. So what a deleted line had replaced does not come back to life: the page still shows it struck
out. What a person settled for a page as a whole, such as its title, is written down as well, and makes no memory.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from hindbrain.base.errors import NotFound
from hindbrain.base.prefilter import suspicious
from hindbrain.base.redact import redact_text
from hindbrain.capture.event import Event, Json, bounded, stable_id, storable
from hindbrain.ledger import known as knowing
from hindbrain.ledger import memories
from hindbrain.ledger.database import Database
from hindbrain.ledger.known import Known
from hindbrain.serve.memory import folder_of
from hindbrain.wiki.edits import Act
from hindbrain.wiki.source import OWN_AGENT, SESSION_OF

# Words first: what else is done to a line is then done to the words it has now.
ORDER: Final = ("edit", "remember", "reject", "done", "undone", "page")
_LEVELS: Final = ("observation", "derived")
_MEMORY: Final = re.compile("m_[0-9a-z]{1,64}")  # another text names no memory, and not every engine could look for it
_BESIDE: Final = ("why", "instead_of")
_LONGEST: Final = 64_000  # letters of what was settled for a page
_INSIDE: Final = "(SELECT value FROM json_each(?))"
_REPLACED: Final = f"SELECT id FROM memories WHERE held = '' AND superseded_by IN {_INSIDE}"
_LAST: Final = f"""
SELECT json_extract(events.detail, '$.target'), max(events.at) FROM events
WHERE events.kind = 'memory' AND json_extract(events.detail, '$.target') IN {_INSIDE}
GROUP BY json_extract(events.detail, '$.target')
"""
_USED: Final = "SELECT 1 FROM events WHERE id = ? UNION ALL SELECT 1 FROM forgotten WHERE id = ?"


class _Said(NamedTuple):
    """What a statement says: its words, its kind, and its reason and what was not taken."""

    words: str
    kind: str
    beside: dict[str, Json]


class Telling:
    """Acts, and how things stand -> the events to be written, and the projects they name."""

    def __init__(self, database: Database, acts: Sequence[Act], now_ms: int) -> None:
        self.events: list[Event] = []
        self.projects: list[str] = []
        self.now = now_ms
        self._database = database
        self._told: set[str] = set()  # ids of the events
        self._made: dict[str, str] = {}  # what acts among these replace -> what they make
        self._said: dict[str, _Said] = {}  # what they make says
        self._rejected = {act.memory for act in acts if act.op == "reject"}
        self._known = _chains(database, {act.memory for act in acts if _MEMORY.fullmatch(act.memory)})
        there = json.dumps(sorted(self._rejected & self._known.keys()))
        gone = [row[0] for row in database.execute(_REPLACED, (there,)).fetchall()]
        self._replaced = knowing.known(database, gone)
        named = json.dumps(sorted({*self._known, *gone}))
        self._last: dict[str, int] = dict(database.execute(_LAST, (named,)).fetchall())
        self._identities: dict[str, str] = dict(database.execute("SELECT id, identity FROM projects").fetchall())
        ways: Mapping[str, Callable[[Act], None]] = {
            "edit": self._edit, "remember": self._remember, "reject": self._reject, "done": self._done, "undone": self._undone,
            "page": self._page,
        }  # fmt: skip
        for act in acts:
            ways[act.op](act)

    def _edit(self, act: Act) -> None:
        """Other words, or another kind, for what stands now in the place of the statement on the page."""
        words, before = _clean(act.text), self._find(act.memory)
        if not words.strip():
            self._reject(act)
        elif before is None:  # it is gone, the person's words are not
            self._say("remember", act, words, act.kind, act.project)
        else:  # a line of the past that holds again says nothing about what took its place
            self._reword(act, words, before if act.detail.get("reopened") else self._head(before))

    def _reword(self, act: Act, words: str, target: Known) -> None:
        latest = self._made.get(target.id, target.id)
        now = self._said.get(latest, _said(target))
        wanted = _Said(_folded(words), act.kind if act.kind in memories.KINDS else now.kind, _beside(act, target))
        if wanted != now:
            more: dict[str, Json] = {"target": latest, "pinned": target.pinned, **wanted.beside}
            more |= {"as": wanted.kind} if wanted.kind != now.kind else {}
            latest = self._say("edit", act, words, wanted.kind, target.project_id, more)
            self._said[latest] = wanted
        elif act.detail.get("done") and latest in self._known and self._known[latest].stands:
            self._tell("done", latest, act)
        self._made |= {act.memory: latest, target.id: latest}

    def _remember(self, act: Act) -> None:
        words, before = _clean(act.text), self._find(act.memory)
        if before is not None and _folded(before.text) == _folded(words):
            self._undone(act)  # a line that was taken away is there again
        elif words.strip():
            self._say("remember", act, words, act.kind, act.project, _beside(act))

    def _reject(self, act: Act) -> None:
        target = self._find(act.memory)
        if target is None or target.held:
            return
        for older in self._replaced.values():
            if older.superseded_by == target.id and older.id not in self._rejected and not older.detail.get("done", [None])[0]:
                self._tell("done", older.id, act)  # first, for it follows from the line that is about to go
        self._tell("reject", target.id, act)

    def _done(self, act: Act) -> None:
        target = self._find(act.memory)
        if target is None:
            return
        latest = self._made.get(act.memory, self._head(target).id)
        if latest not in self._known or self._known[latest].stands:
            self._tell("done", latest, act)

    def _undone(self, act: Act) -> None:
        """It holds, says the page: what was rejected is accepted, what was replaced is said anew, what has ended has not."""
        target = self._find(act.memory)
        if target is None or target.stands or act.memory in self._made:
            return
        if target.held:
            self._tell("accept", target.id, act)
        elif target.superseded_by is None:
            self._tell("undone", target.id, act)
        elif _folded(self._head(target).text) != _folded(target.text):
            self._say("remember", act, target.text, target.kind, target.project_id)

    def _page(self, act: Act) -> None:
        """What was settled for a page: a record of it, for whoever wants to know where it came from."""
        settled = bounded(json.dumps(dict(act.detail), ensure_ascii=False, sort_keys=True), _LONGEST)
        detail: dict[str, Json] = {"trust": memories.FILE, "page": _clean(act.page), "settled": _clean(settled)}
        key = stable_id("k", "page", act.page, settled)
        event = memories.memory_event("page", agent=OWN_AGENT, session="", at=self._moment(""), detail=detail, key=key)
        if not self._is_used(event.id):
            self._add(event)

    def _find(self, memory: str) -> Known | None:
        """A memory that may stand on a page."""
        found = self._known.get(memory)
        return found if found is not None and found.level in _LEVELS else None

    def _head(self, memory: Known) -> Known:
        """What stands in its place now."""
        while memory.superseded_by is not None and memory.superseded_by in self._known:
            memory = self._known[memory.superseded_by]
        return memory

    def _tell(self, op: str, target: str, act: Act) -> None:
        """An act without words, for the first time that it is not told yet."""
        at = self._moment(target)
        detail: dict[str, Json] = {"target": target, "trust": memories.FILE, "page": _clean(act.page)}
        for times in itertools.count():
            key = stable_id("k", op, target, str(times))
            event = memories.memory_event(op, agent=OWN_AGENT, session="", at=at, detail=detail, key=key)
            if not self._is_used(event.id):
                return self._add(event)
            if event.id in self._told or target not in self._known:
                return None  # nothing came between

    def _say(
        self, op: str, act: Act, words: str, kind: str, project: str | None, more: Mapping[str, Json] | None = None
    ) -> str:
        """An act that makes a memory, with the turn that is its evidence; the memory's id. What came of it before may stand."""
        identity, over = self._identity(project), bool(act.detail.get("done"))
        detail: dict[str, Json] = {
            "kind": kind if kind in memories.KINDS else "fact", "scope": "global" if identity is None else "project",
            **(more or {}), "trust": memories.FILE, "page": _clean(act.page),
        }  # fmt: skip
        for said, event in self._times(op, words, identity, detail):
            made = memories.memory_id(event.id)
            if not self._is_used(event.id):
                if over:  # before its words: then whatever reaches the disk of this, the rest is told from the page again
                    self._tell("done", made, act)
                self._add(said, event, project=identity)
                return made
            if self._holds(event.id, made, over=over):
                return made
        raise AssertionError("numbers do not end")

    def _times(self, op: str, words: str, identity: str | None, detail: dict[str, Json]) -> Iterator[tuple[Event, Event]]:
        """The turn and the act for the first time that this is said, for the second, and so on."""
        session = f"{SESSION_OF}{detail['page']} {identity or ''}".strip()
        target = str(detail.get("target", ""))
        at = self._moment(target)
        for times in itertools.count():
            key = stable_id("k", op, target, words, *(str(detail.get(name, "")) for name in ("kind", *_BESIDE)), str(times))
            said = Event(
                kind="turn", agent=OWN_AGENT, session=session, at=at, key=key, origin="api", role="user", text=words,
                cwd="" if identity is None else folder_of(identity),
                detail={"origin": "human file", "trust": memories.FILE, "page": detail["page"]},
            )  # fmt: skip
            yield said, memories.memory_event(
                op, agent=OWN_AGENT, session=session, at=at, text=words, detail={**detail, "turn": said.id}, key=key
            )

    def _add(self, *events: Event, project: str | None = None) -> None:
        self.events += events
        self._told.update(event.id for event in events)
        if project is not None and project not in self.projects:
            self.projects.append(project)

    def _is_used(self, event: str) -> bool:
        return event in self._told or self._database.execute(_USED, (event, event)).fetchone() is not None

    def _holds(self, event: str, made: str, *, over: bool) -> bool:
        """Whether what an earlier act made is still there to be seen as the page shows it: then this is that act."""
        if event in self._told:
            return True
        chain = _chains(self._database, [made])
        if made not in chain:  # its project may not be known yet; unless it was forgotten
            return self._database.execute("SELECT 1 FROM forgotten WHERE id = ?", (event,)).fetchone() is None
        self._known |= chain
        head = self._head(chain[made])
        if head.held or (head.id != made and head.made_by == "person"):
            return False
        return head.valid_to is not None if over else head.stands

    def _identity(self, project: str | None) -> str | None:
        if project is None:
            return None
        if project not in self._identities:
            raise NotFound(f"a page names a project that is not there: {project}", hint="take the line away, or move it")
        return self._identities[project]

    def _moment(self, target: str) -> int:
        """Later than all that is told here and all that was done to the target, whatever the clock says."""
        self.now += 1
        return max(self.now, self._last.get(target, -1) + 1)


def _chains(database: Database, ids: Iterable[str]) -> dict[str, Known]:
    """These memories, and what stands in their place."""
    found: dict[str, Known] = {}
    waiting = {*ids}
    while waiting:
        found |= knowing.known(database, sorted(waiting))
        waiting = {each.superseded_by for each in found.values() if each.superseded_by is not None} - found.keys()
    return found


def _clean(text: str) -> str:
    """Text as it may be kept."""
    return bounded(storable(redact_text(text)[0] if suspicious(text.encode("utf-8", "surrogatepass")) else text))


def _said(memory: Known) -> _Said:
    return _Said(_folded(memory.text), memory.kind, {name: memory.detail[name] for name in _BESIDE if memory.detail.get(name)})


def _beside(act: Act, target: Known | None = None) -> dict[str, Json]:
    """What the line says behind its words; and what it need not say, because its words did (wiki/render.py)."""
    told = {name: _clean(str(act.detail[name])) for name in _BESIDE if act.detail.get(name)}
    for name, words in _said(target).beside.items() if target is not None else ():
        if name not in told and target is not None and _folded(str(words)).casefold() in _folded(target.text).casefold():
            told[name] = str(words)
    return {name: told[name] for name in _BESIDE if name in told}


def _folded(text: str) -> str:
    return " ".join(text.split())
