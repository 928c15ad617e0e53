"""What the ledger holds -> the concept, connection and project pages it makes, each with its statements in sections.

A statement stands on its project's page and on the page of every topic it speaks of. A topic is a key that enough statements
mention (`entities`): a technology is one topic for all projects, everything else belongs to one project, because "orders" or
"tokens" are other things elsewhere. What was replaced follows what took its place; both sides of a contradiction stand together.

The plan depends on the material alone. `before` only saves work: what did not change is taken from it, and the outcome is the
same without. Titles and paths follow the earliest statement, so that what is added later renames nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from hindbrain.wiki import entities, lexicon, names
from hindbrain.wiki.entities import Mention, Sign
from hindbrain.wiki.neighbours import NONE, Neighbours
from hindbrain.wiki.page import FOLDERS, Fact, Material, Page, PageType
from hindbrain.wiki.sections import sections

Like = Callable[[str, str], float]

EVERYWHERE: Final = "All projects"
_ALIKE: Final = 0.55
_FEW: Final = 12  # a word more statements have says little of what a statement without a topic belongs to


@dataclass(frozen=True, slots=True)
class Topic:
    """A key and the statements that mention it, oldest first."""

    key: str
    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    facts: tuple[str, ...]
    rank: int
    place: int  # of the word in its first statement


@dataclass(frozen=True, slots=True)
class _Memo:
    """What the next plan need not work out again. Never changed once it is in a plan."""

    material: Material
    mentions: dict[str, dict[str, Mention]]  # fact -> key -> mention, in order of appearance
    holders: dict[str, tuple[str, ...]]  # key -> ids of facts, oldest first
    topics: dict[str, Topic]
    alike: dict[str, tuple[str, ...]]  # fact without a topic -> those that mean nearly the same
    near: Neighbours
    order: dict[str, tuple[int, tuple[str, ...]]]  # concept's key -> when it was first spoken of, and in which projects
    members: dict[str, tuple[str, ...]]  # project -> ids of facts


_NOTHING: Final = _Memo(Material({}, {}, {}, ""), {}, {}, {}, {}, NONE, {}, {})


@dataclass(frozen=True, slots=True)
class Plan:
    """The pages by id. What else it holds is of use to the next plan only."""

    pages: Mapping[str, Page]
    memo: _Memo | None = field(default=None, repr=False, compare=False)


def planned(material: Material, like: Like | None = None, before: Plan | None = None) -> Plan:
    """The plan for this material; quick where little changed since `before`, which was made with the same `like` or with none."""
    memo = before.memo if before is not None else None
    if before is None or memo is None or memo.material.projects != material.projects:
        return _Work(material, _NOTHING, {}).plan(like)
    return _Work(material, memo, before.pages).plan(like)


class _Work:
    """One planning, from changed facts to changed pages."""

    def __init__(self, material: Material, memo: _Memo, pages: Mapping[str, Page]) -> None:
        self.material = material
        self.facts = material.facts
        self.memo = memo
        self.old_pages = pages
        old = memo.material.facts
        self.touched = {key for key, fact in self.facts.items() if (was := old.get(key)) is not fact and was != fact}
        self.gone = [key for key in old if key not in self.facts]
        self.mentions, self.holders, self.topics = dict(memo.mentions), dict(memo.holders), dict(memo.topics)
        self.alike = dict(memo.alike)
        self.members: dict[str, tuple[str, ...]] = {}
        self.pages: dict[str, Page] = {}

    def plan(self, like: Like | None) -> Plan:
        for key in self._indexed():
            self._judge(key)
        kept = self._kept()
        if like is None:
            self.alike = {}
        own = self._links(kept, self._attached(kept, like) if like is not None else {})
        near, moved = self.memo.near.updated(own, {key: len(topic.facts) for key, topic in kept.items()})
        moved |= {key for fact_id in self.touched for key in near.spots.get(fact_id, ())}
        order = self._ordered(near, moved)
        self._concepts(kept, near, moved, order)
        self._connections(kept, near, order)
        self._projects(order)
        memo = _Memo(self.material, self.mentions, self.holders, self.topics, self.alike, near, order, self.members)
        return Plan(self.pages, memo)

    def _indexed(self) -> list[str]:
        """The keys whose evidence may have changed."""
        came: dict[str, set[str]] = defaultdict(set)
        went: dict[str, set[str]] = defaultdict(set)
        old = self.memo.material.facts
        for fact_id in (*self.gone, *(key for key in self.touched if key in old)):
            for key in self.mentions.pop(fact_id):
                went[key].add(fact_id)
        for fact_id in self.touched:
            fact = self.facts[fact_id]
            self.mentions[fact_id] = {_scoped(each.key, fact.project): each for each in entities.mentions(fact.text)}
            for key in self.mentions[fact_id]:
                came[key].add(fact_id)
        for key in went.keys() | came.keys():
            was = self.holders.pop(key, ())
            holders = (set(was) - went.get(key, set())) | came.get(key, set())
            if holders:
                self.holders[key] = self._sorted(holders)
            if self.alike and min(len(was), len(holders)) <= _FEW:
                for fact_id in (*was, *holders):
                    self.alike.pop(fact_id, None)
        return [*(went.keys() | came.keys())]

    def _sorted(self, ids: Iterable[str]) -> tuple[str, ...]:
        facts = self.facts
        return tuple(sorted(ids, key=lambda each: (facts[each].valid_from, each)))

    def _judge(self, key: str) -> None:
        """Whether a key is a topic now."""
        self.topics.pop(key, None)
        holders = self.holders.get(key, ())
        if len(holders) < 2:
            return
        found = [(each, self.mentions[each][key]) for each in holders]
        if key.startswith("="):
            sure = {self.facts[each].project for each, one in found if one.signs & Sign.TECHNOLOGY}
            found = [(each, one) for each, one in found if one.signs & Sign.TECHNOLOGY or self.facts[each].project in sure]
        signs = [one.signs for _, one in found]
        together = len(found) == 2 and self._together(found[0][0], found[1][0])
        if entities.worthy(signs, together=together) and not self._is_project(key):
            self.topics[key] = self._topic(key, found)

    def _together(self, one: str, other: str) -> bool:
        """Whether two statements have more than one word in common, or one speaks to the other."""
        first, second = self.facts[one], self.facts[other]
        linked = first.successor == other or second.successor == one or other in first.disputes or one in second.disputes
        return linked or len(self.mentions[one].keys() & self.mentions[other].keys()) > 1

    def _is_project(self, key: str) -> bool:
        project, _, word = key.partition("|")
        return bool(word) and entities.stem(entities.bare(self.material.projects.get(project, ""))) == word

    def _topic(self, key: str, found: list[tuple[str, Mention]]) -> Topic:
        every = Sign(0)
        for _, one in found:
            every |= one.signs
        first = found[0][1]
        title = entities.titled(first.shown, first.signs | (every & Sign.TECHNOLOGY), first.key)
        others = {one.shown for _, one in found} | ({form for form in _FORMS.get(title, ()) if len(form) > 2})
        aliases = sorted({each.lower(): each for each in sorted(others) if each.lower() != title.lower()}.values())[:5]
        tags = (lexicon.TECHNOLOGY[title.lower()][1].replace(" ", "-"),) if key.startswith("=") else ()
        place = [*self.mentions[found[0][0]]].index(key)
        return Topic(key, title, tuple(aliases), tags, tuple(each for each, _ in found), entities.rank(every), place)

    def _kept(self) -> dict[str, Topic]:
        """The topics that get a page: of those with the same statements one, and no phrase beside a word that says as much."""
        best: dict[tuple[str, ...], Topic] = {}
        for topic in self.topics.values():
            rival = best.get(topic.facts)
            if rival is None or _order(topic) < _order(rival):
                best[topic.facts] = topic
        kept = {topic.key: topic for topic in best.values()}
        return {key: topic for key, topic in kept.items() if not _within(topic, kept)}

    def _attached(self, kept: Mapping[str, Topic], like: Like) -> dict[str, list[str]]:
        """Statements without a topic -> topics of statements that share a rare word with them and mean nearly the same."""
        spots: dict[str, list[str]] = defaultdict(list)
        for key, topic in kept.items():
            for each in topic.facts:
                spots[each].append(key)
        found: dict[str, list[str]] = defaultdict(list)
        for fact_id, fact in self.facts.items():
            if fact_id in spots:
                continue
            if fact_id not in self.alike:
                near = self._neighbours(fact)
                self.alike[fact_id] = tuple(each for each in near if like(fact.text, self.facts[each].text) >= _ALIKE)
            for key in {key for each in self.alike[fact_id] for key in spots.get(each, ())}:
                found[key].append(fact_id)
        return found

    def _neighbours(self, fact: Fact) -> set[str]:
        near: set[str] = set()
        for key in self.mentions[fact.id]:
            holders = self.holders[key]
            if 1 < len(holders) <= _FEW:
                near.update(other for other in holders if self.facts[other].project == fact.project)
        return near - {fact.id}

    def _links(self, kept: Mapping[str, Topic], more: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
        """Topic -> its statements with what they replaced and what they contradict."""
        beside: dict[str, list[str]] = defaultdict(list)
        for fact_id, fact in self.facts.items():
            if fact.successor is not None and fact.successor in self.facts:
                beside[fact.successor].append(fact_id)
            if fact.disputes:
                for other in fact.disputes:
                    if other in self.facts:
                        beside[other].append(fact_id)
                        beside[fact_id].append(other)
        return {key: self._reached(topic.facts, more.get(key, ()), beside) for key, topic in kept.items()}

    def _reached(self, own: tuple[str, ...], more: Collection[str], beside: Mapping[str, list[str]]) -> tuple[str, ...]:
        if not more and beside.keys().isdisjoint(own):
            return own
        found = {*own, *more}
        ahead = [each for each in found if each in beside]
        while ahead:
            for near in beside[ahead.pop()]:
                if near not in found:
                    found.add(near)
                    if near in beside:
                        ahead.append(near)
        return own if len(found) == len(own) else self._sorted(found)

    def _ordered(self, near: Neighbours, moved: set[str]) -> dict[str, tuple[int, tuple[str, ...]]]:
        """Concepts in the order they came up, which decides who has a name first."""
        was = self.memo.order
        found = {key: was[key] if key in was and key not in moved else self._placed(ids) for key, ids in near.own.items()}
        return was if found == was else dict(sorted(found.items(), key=lambda item: (item[1][0], item[0])))

    def _placed(self, ids: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
        return self.facts[ids[0]].valid_from, tuple(sorted({self.facts[each].project or "" for each in ids}))

    def _concepts(self, kept: Mapping[str, Topic], near: Neighbours, moved: set[str],
                  order: Mapping[str, tuple[int, tuple[str, ...]]]) -> None:  # fmt: skip
        taken: set[str] = set()
        steady = order == self.memo.order and all(kept[key].title == self.old_pages[_id("c", key)].title for key in order)
        for key, (_, projects) in order.items():
            page_id, topic = _id("c", key), kept[key]
            was = self.old_pages.get(page_id)
            path = was.path if was is not None and steady else self._path(topic.title, "concept", page_id, projects, taken)
            if was is None or key in moved or topic is not self.memo.topics.get(key):
                ties = (_tie_id(tie) for tie in near.tied.get(key, ()))
                related = (*ties, *(_id("c", other) for other in near.near.get(key, ())), *(_id("p", each) for each in projects))
                page = Page(page_id, "concept", path, topic.title, topic.aliases, topic.tags, related=related)
                was = self._filled(page, near.own[key], projects)
            self.pages[page_id] = was if was.path == path else replace(was, path=path)

    def _connections(self, kept: Mapping[str, Topic], near: Neighbours, order: Mapping[str, tuple[int, tuple[str, ...]]]) -> None:
        taken: set[str] = set()
        place = {key: number for number, key in enumerate(order)}
        for tie in sorted(near.ties, key=lambda tie: (max(place[tie[0]], place[tie[1]]), tie)):
            first, second = sorted((kept[key] for key in tie), key=lambda topic: (-topic.rank, topic.title.lower(), topic.key))
            ids = self._sorted(near.ties[tie])
            projects = self._placed(ids)[1]
            title, page_id = f"{first.title} and {second.title}", _tie_id(tie)
            path = self._path(title, "connection", page_id, projects, taken)
            page = Page(page_id, "connection", path, title, related=(_id("c", first.key), _id("c", second.key)))
            self.pages[page_id] = self._filled(page, ids, projects)

    def _projects(self, order: Mapping[str, tuple[int, tuple[str, ...]]]) -> None:
        self.members = self._held()
        concepts: dict[str, list[str]] = defaultdict(list)
        for key, (_, projects) in order.items():
            for each in projects:
                concepts[each].append(_id("c", key))
        taken: set[str] = set()
        for project in sorted(self.members, key=lambda project: (self.facts[self.members[project][0]].valid_from, project)):
            title = self.material.projects.get(project, project) if project else EVERYWHERE
            page_id = _id("p", project)
            path = self._path(title, "project", page_id, (), taken)
            page = Page(page_id, "project", path, title, related=tuple(concepts.get(project, ())))
            self.pages[page_id] = self._filled(page, self.members[project], (project,))

    def _held(self) -> dict[str, tuple[str, ...]]:
        """The facts of each project in order; those of last time where none came, went or moved."""
        old, new = self.memo.material.facts, self.facts
        if not self.gone and all(each in old and _spot(old[each]) == _spot(new[each]) for each in self.touched):
            return self.memo.members
        held: dict[str, list[str]] = defaultdict(list)
        for fact_id, fact in new.items():
            held[fact.project or ""].append(fact_id)
        return {project: self._sorted(ids) for project, ids in held.items()}

    def _path(self, title: str, kind: PageType, page_id: str, projects: tuple[str, ...], taken: set[str]) -> str:
        """A path nobody has; of two topics of one name the later one's names its project."""
        name = names.slug(title)
        path = f"{FOLDERS[kind]}/{name}.md"
        if names.folded(path) in taken:
            where = self.material.projects.get(projects[0], "") if projects else ""
            path = names.free(FOLDERS[kind], names.slug(f"{title[:60]} {where}"), page_id, taken)
        taken.add(names.folded(path))
        return path

    def _filled(self, page: Page, ids: tuple[str, ...], projects: tuple[str, ...]) -> Page:
        """The page with its statements; the one that was planned last where nothing of it changed."""
        was = self.old_pages.get(page.id)
        places = tuple(each for each in projects if each)
        if was is not None and self.touched.isdisjoint(ids) and not self.gone:
            same = replace(was, sections=(), created=0, updated=0, confidence=0.0, projects=()) == page
            if same and was.projects == places and {each for section in was.sections for each in section.facts} == set(ids):
                return was
        facts = [self.facts[each] for each in ids]
        sure = [fact.confidence for fact in facts if fact.state in ("current", "disputed")]
        return replace(
            page, sections=sections(facts), created=facts[0].valid_from, updated=max(map(_updated, facts)),
            confidence=round(sum(sure) / len(sure), 2) if sure else 0.0, projects=places,
        )  # fmt: skip


def _updated(fact: Fact) -> int:
    return max(fact.valid_from, fact.valid_to or 0, *(source.at for source in fact.sources))


def _spot(fact: Fact) -> tuple[str, int]:
    """What decides where it stands on which project's page."""
    return fact.project or "", fact.valid_from


def _scoped(key: str, project: str | None) -> str:
    return key if key.startswith("=") else f"{project or ''}|{key}"


@lru_cache(maxsize=50_000)
def _id(letter: str, key: str) -> str:
    return f"{letter}-{names.hashed(key)}"


def _tie_id(tie: tuple[str, str]) -> str:
    return _id("x", "\n".join(tie))


def _order(topic: Topic) -> tuple[int, int, str]:
    return -topic.rank, topic.place, topic.key


def _within(topic: Topic, kept: Mapping[str, Topic]) -> bool:
    """Whether a phrase says little more than one of its words, which has a page: half of that page or more."""
    place, _, words = topic.key.partition("|")
    parts = [f"{place}|{word}" for word in words.split(" ")] if " " in words else []
    return any(part in kept and len(topic.facts) * 2 >= len(kept[part].facts) for part in parts)


def _forms() -> dict[str, list[str]]:
    forms: dict[str, list[str]] = defaultdict(list)
    for form, (name, _) in lexicon.TECHNOLOGY.items():
        if form != name.lower():
            forms[name].append(form)
    return forms


_FORMS: Final = _forms()
