"""The base text, the text found and the fresh text of a page -> what a person did: acts on memories, settings, conflicts.

A page belongs to both: what a person changes in it is carried to the memories, and what the memories say now is carried to the
page when it is rendered again. Compared is statement by statement (`statements`) and setting by setting (`wishes`), page by page
first; then all pages of one sync are settled together, because a memory may stand on several. Pure: no file, no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hindbrain.wiki import parse, statements, tails, wishes
from hindbrain.wiki.acts import BLOCK as BLOCK
from hindbrain.wiki.acts import OPS as OPS
from hindbrain.wiki.acts import Act as Act
from hindbrain.wiki.acts import Conflict as Conflict
from hindbrain.wiki.acts import Op as Op
from hindbrain.wiki.acts import Where as Where
from hindbrain.wiki.acts import unsettled as unsettled
from hindbrain.wiki.page import ReadLine
from hindbrain.wiki.render import NOBODY, Human
from hindbrain.wiki.sections import kind_of

_WHERE: Final = Where()


@dataclass(frozen=True, slots=True)
class Merged:
    """What came of one page."""

    text: str  # the person's, with the conflicts shown: what the file may say until it is rendered again
    acts: tuple[Act, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    human: Human = NOBODY
    strays: tuple[ReadLine, ...] = ()  # marked lines the page did not have; none are left when settled
    where: Where = _WHERE
    before: Human = NOBODY


def merged(base: str, found: str, fresh: str, human: Human = NOBODY, where: Where = _WHERE) -> Merged:
    """One page for itself. `base` is "" where nobody knows what the person saw."""
    return settled([compared(base, found, fresh, human, where)])[0]


def compared(base: str, found: str, fresh: str, human: Human, where: Where) -> Merged:
    """One page, before others are looked at."""
    was, now, would = parse.read(base), parse.read(found), parse.read(fresh)
    made = statements.changes(was, now, would, found, where)
    after = wishes.settled(was, now, would, human, (base, found), made.notes)
    return Merged(found, tuple(made.acts), tuple(made.conflicts), after, tuple(made.strays), where, human)


def settled(pages: Sequence[Merged], words: Callable[[str], str | None] = lambda _: None) -> list[Merged]:
    """All pages of one sync, the newest edit first: of two edits of one memory that one is carried out, the other is shown.
    `words` are those of a memory on any page as it was written last; None for one that no page has."""
    rejected = {act.memory for page in pages for act in page.acts if act.op == "reject"}
    moved = {line.memory for page in pages for line in page.strays} & rejected
    placed = [_placed(page, moved, words) for page in pages]
    taken: dict[tuple[str, bool], Act] = {}
    for act in (act for page in placed for act in page.acts if act.op != "remember"):
        if _key(act) not in taken or (act.op, taken[_key(act)].op) == ("edit", "reject"):  # words weigh more than their absence
            taken[_key(act)] = act
    said: set[tuple[str, str, str | None]] = set()
    return [_shown(_agreed(page, taken, said)) for page in placed]


def _key(act: Act) -> tuple[str, bool]:
    """What is done to the words of a memory, and whether it is over, are two things."""
    return act.memory, act.op in ("done", "undone")


def _placed(page: Merged, moved: set[str], words: Callable[[str], str | None]) -> Merged:
    """With the lines that came from elsewhere. A moved one is the same statement; a copied one is another if it says another
    thing; one that no page has is there again, or was never there."""
    acts = [act for act in page.acts if not (act.op == "reject" and act.memory in moved)]
    for line in page.strays:
        if words(line.memory) == line.text:
            continue
        if line.memory in moved:
            acts.append(statements.act(page.where, "edit", line.memory, line.text, "", tails.said(line.tail)))
        else:
            acts.append(statements.act(page.where, "remember", line.memory, line.text, kind_of(line.section)))
    return replace(page, acts=tuple(acts), strays=())


def _agreed(page: Merged, taken: Mapping[tuple[str, bool], Act], said: set[tuple[str, str, str | None]]) -> Merged:
    """Each memory is changed once, and nothing is remembered twice."""
    acts: list[Act] = []
    conflicts = [*page.conflicts]
    for act in page.acts:
        if act.op == "remember":
            new = (act.text, act.kind, act.project)
            acts += [act] if new not in said else []
            said.add(new)
        elif (other := taken[_key(act)]) is act:
            acts.append(act)
        elif (act.op, act.text, act.kind) != (other.op, other.text, other.kind):
            conflicts.append(_elsewhere(act, other, page))
    return replace(page, acts=tuple(acts), conflicts=tuple(conflicts))


def _elsewhere(act: Act, other: Act, page: Merged) -> Conflict:
    """Two pages say two things of one memory."""
    words = {"done": "(over)", "undone": "(not over)"}
    found, fresh = (words.get(each.op, each.text) for each in (act, other))
    return Conflict(page.where.page, act.memory, "", found, fresh, "it was changed on another page too")


def _shown(page: Merged) -> Merged:
    """With the conflicts in its notes, each once, and what was settled on the record."""
    blocks = dict.fromkeys(conflict.block for conflict in page.conflicts)
    new = [block for block in blocks if block not in page.human.notes]
    human = replace(page.human, notes=(*page.human.notes, *new)) if new else page.human
    changed = wishes.told(page.before, page.human)
    record = (statements.act(page.where, "page", "", "", "", {"settled": changed}),) if changed else ()
    text = "\n\n".join((page.text.rstrip("\n"), *new)) + "\n" if new else page.text
    return replace(page, acts=(*page.acts, *record), human=human, text=text)
