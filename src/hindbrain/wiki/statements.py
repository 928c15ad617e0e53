"""The statements of a page as it was written, as it was found and as it would be now -> acts, conflicts, and lines left over.

Which line is which statement is told by `matching`. Only what a person changed since the page was written is an act; what the
memory changed meanwhile comes with the next rendering. Where both changed, the person's words win over other words, but not over
the end of a statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from hindbrain.capture.event import Json
from hindbrain.wiki import tails
from hindbrain.wiki.acts import Act, Conflict, Op, Where
from hindbrain.wiki.matching import MARK, Matching
from hindbrain.wiki.page import Read, ReadLine
from hindbrain.wiki.sections import HISTORY, KEY_POINTS, kind_of
from hindbrain.wiki.text import folded

_LISTED: Final = frozenset({"index", "log", "soul"})  # pages whose lists are made, and whose lines are no statements
_KINDED: Final = frozenset({KEY_POINTS.casefold(), "decisions", "rules", "lessons", "how to", "tasks", "action items"})
_MADE: Final = "what stands behind the words is made from the memory"


@dataclass(slots=True)
class Changes:
    """What a person did to the statements of one page."""

    acts: list[Act] = field(default_factory=list[Act])
    conflicts: list[Conflict] = field(default_factory=list[Conflict])
    strays: list[ReadLine] = field(default_factory=list[ReadLine])  # marked lines that the page did not have
    notes: list[str] = field(default_factory=list[str])  # lines that can be no statement here, verbatim


@dataclass(frozen=True, slots=True)
class _Deed:
    """What a person did to one line."""

    words: bool  # other words
    replaced: bool  # other words, another kind or another reason
    ended: bool
    reopened: bool


def changes(base: Read, found: Read, fresh: Read, text: str, where: Where) -> Changes:
    """`text` is what `found` was read from."""
    return _Comparison(base, found, fresh, text, where).made()


class _Comparison:
    def __init__(self, base: Read, found: Read, fresh: Read, text: str, where: Where) -> None:
        self.base, self.fresh, self.where = base, fresh, where
        self.match = Matching(base, found, text)
        self.now = {line.memory: line for line in reversed(fresh.lines) if line.memory}
        self.learned = {line.text for line in fresh.lines if line.memory not in self.match.held}  # what the page did not say yet
        self.out = Changes()

    def made(self) -> Changes:
        match = self.match
        for memory, lines in match.held.items():
            if memory in match.seen:
                self._take(lines, match.seen[memory], self.now.get(memory))
        for memory in match.gone:
            self._deleted(match.held[memory][0], self.now.get(memory))
        for line in match.added:
            self._new(line)
        for line in match.strays:
            self._stray(line)
        return self.out

    def _take(self, before: Sequence[ReadLine], found: Sequence[ReadLine], now: ReadLine | None) -> None:
        """A statement that is still there: its words, its kind, whether it is over."""
        was = before[0]
        lines = [_meant(line, was) for line in found]
        changed = [line for line in lines if line.text != was.text]
        spare = max(0, len(lines) - len(before))
        copies = changed[max(0, len(changed) - spare) :] if spare else []  # a line that was doubled to make another of it
        mine = [line for line in changed if line not in copies]
        for line in (*mine[1:], *copies):
            if line.text and line.text != (mine[0].text if mine else was.text):
                self._new(line)
        kept = [line for line in lines if line not in copies]
        self._edited(was, mine[0] if mine else _moved(was, kept), now, kept)

    def _edited(self, was: ReadLine, line: ReadLine, now: ReadLine | None, kept: Sequence[ReadLine]) -> None:
        if not line.text and was.text:
            return self._deleted(was, now)
        ended, reopened = any(_ends(was, each) for each in kept), any(_reopens(was, each) for each in kept)
        # Found again after it was carried out, the page would say so already.
        told = line.text in self.learned and (line.text != was.text or (now is not None and _over(now) and not _over(was)))
        words = not told and line.text not in (was.text, now.text if now is not None else was.text)
        kind = "" if told else _kind(was, line)
        replaced = words or bool(kind) or (not told and tails.said(line.tail) != tails.said(was.tail))
        if why := _refusal(was, line, now, _Deed(words, replaced, ended, reopened)):
            self._conflict(was, _as_typed(line), now, why)
        elif replaced:
            marks: dict[str, Json] = {"done": True} if ended or (_over(was) and not reopened) else {}
            marks |= {"reopened": True} if reopened else {}
            text = line.text if words or now is None else now.text
            self._act("edit", was.memory, text, kind, {**tails.said(line.tail), **marks})
        elif not told and ended != reopened and (now is None or _over(now) != ended):
            self._act("done" if ended else "undone", was.memory)
        return None

    def _deleted(self, was: ReadLine, now: ReadLine | None) -> None:
        if now is not None and now.text != was.text:
            return self._conflict(was, "", now, "the statement was changed meanwhile")
        return self._act("reject", was.memory)

    def _new(self, line: ReadLine) -> None:
        if (self.base.id or self.fresh.id) in _LISTED:
            self.out.notes.append(MARK.sub("", self.match.raw(line)).rstrip())
        elif line.text not in self.learned:
            kind = "task" if line.checked is not None else kind_of(line.section)
            over = line.struck or line.checked is True
            self._act("remember", "", line.text, kind, {"done": True} if over else {})

    def _stray(self, line: ReadLine) -> None:
        """A marked line that the page did not have: from another page, of a lost state, or made up."""
        now = self.now.get(line.memory)
        if now is None or self.base.lines:
            if line.text and (now is None or now.text != line.text):
                self.out.strays.append(line)
        elif now.text != line.text:
            self._conflict(replace(now, text=""), line.text, now, "nobody knows who changed this")

    def _act(self, op: Op, memory: str, text: str = "", kind: str = "", detail: Mapping[str, Json] | None = None) -> None:
        self.out.acts.append(act(self.where, op, memory, text, kind, detail))

    def _conflict(self, was: ReadLine, found: str, now: ReadLine | None, why: str) -> None:
        fresh = now.text if now is not None else ""
        self.out.conflicts.append(Conflict(self.where.page, was.memory, was.text, found, fresh, why))


def act(where: Where, op: Op, memory: str, text: str = "", kind: str = "", detail: Mapping[str, Json] | None = None) -> Act:
    """An act done by editing a page."""
    return Act(op, memory, text, kind, where.page, where.project, detail or {})


def _meant(line: ReadLine, was: ReadLine) -> ReadLine:
    """What was struck out and said anew behind it says the new."""
    anew = tails.free(line.tail)
    if line.struck and not was.struck and anew:
        line = replace(line, text=anew, struck=False, tail=tails.made(line.tail))
    return line


def _over(line: ReadLine) -> bool:
    return line.struck or line.checked is True


def _ends(was: ReadLine, line: ReadLine) -> bool:
    """Whether a person struck it out, checked it off, or put it among what is over."""
    return not _over(was) and was.section != HISTORY and (_over(line) or line.section == HISTORY)


def _reopens(was: ReadLine, line: ReadLine) -> bool:
    return (was.struck and not _over(line)) or (was.checked is True and line.checked is False)


def _moved(was: ReadLine, lines: Sequence[ReadLine]) -> ReadLine:
    """The line that stands elsewhere or says something else behind the words, if there is one."""
    return next((line for line in lines if (line.section, line.tail) != (was.section, was.tail)), lines[0])


def _kind(was: ReadLine, line: ReadLine) -> str:
    """What it became by where it stands now; "" for what it was."""
    if _over(was):
        return ""
    sections = {was.section.casefold(), line.section.casefold()}
    if len(sections) == 2 and sections <= _KINDED and kind_of(was.section) != kind_of(line.section):
        return kind_of(line.section)
    boxed = was.checked is None and line.checked is not None and not was.struck and was.section != HISTORY
    return "task" if boxed else ""


def _refusal(was: ReadLine, line: ReadLine, now: ReadLine | None, deed: _Deed) -> str:
    """Why a change cannot be carried out; "" if it can."""
    dated = deed.ended or deed.reopened
    if tails.free(line.tail) != tails.free(was.tail) or (tails.fixed(line.tail) != tails.fixed(was.tail) and not dated):
        return _MADE
    if deed.replaced and was.struck and not deed.reopened:
        return "the statement is over, its words cannot be changed any more"
    if now is None:
        return ""
    if deed.replaced and _over(now) != _over(was) and not deed.reopened:
        return "the statement is over meanwhile" if _over(now) else "the statement holds again meanwhile"
    struck = deed.ended and not deed.words and line.checked is not True
    return "the statement was changed meanwhile" if struck and now.text != was.text else ""


def _as_typed(line: ReadLine) -> str:
    words = f"~~{line.text}~~" if line.struck else line.text
    return folded(f"{words} {line.tail}")
