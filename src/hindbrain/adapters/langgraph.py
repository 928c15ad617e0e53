"""LangGraph's long-term store -> turns of Hindbrain: one session for each namespace, one turn for each value put.

    store = HindbrainStore(memory, project="shop")
    store.put(("users", "ada"), "likes", {"colour": "turquoise"})
    graph = builder.compile(store=store)

The newest turn of a key is its value. Older ones stay as history, until the key is deleted: then all of them are forgotten. A
value is found by its words and its meaning, without an embedder of one's own. Secrets in values are removed, as everywhere.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
)

from hindbrain.adapters import items
from hindbrain.base.errors import UsageError

if TYPE_CHECKING:
    from hindbrain import Memory

Namespace = tuple[str, ...]
_MOST: Final = 1000  # hits of a search that are looked at
_SESSIONS: Final = 1 << 31
_COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "$eq": lambda one, other: bool(one == other), "$ne": lambda one, other: bool(one != other),
    "$gt": lambda one, other: bool(one > other), "$gte": lambda one, other: bool(one >= other),
    "$lt": lambda one, other: bool(one < other), "$lte": lambda one, other: bool(one <= other),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Value:
    """What a key stands for now, and every turn that ever said so."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    turns: tuple[str, ...]

    @property
    def item(self) -> Item:
        return Item(
            value=self.value, key=self.key, namespace=self.namespace, created_at=self.created_at, updated_at=self.updated_at
        )


class HindbrainStore(BaseStore):
    """LangGraph's BaseStore on a memory. What is put is on the disk when the call returns, and seen by every process."""

    __slots__ = ("_agent", "_memory", "_project")

    def __init__(self, memory: Memory, *, project: str = "langgraph", agent: str = "langgraph") -> None:
        self._memory = memory
        self._project = project
        self._agent = agent

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Each in turn: what is put is seen by what comes after it."""
        return [self._done(each) for each in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread of its own."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _done(self, op: Op) -> Result:
        match op:
            case GetOp():
                found = self._values(op.namespace).get(op.key)
                return None if found is None else found.item
            case PutOp():
                return self._put(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
        raise UsageError(f"{type(op).__name__} is no operation of a store that is known here")

    def _put(self, op: PutOp) -> None:
        if op.value is None:
            for each in found.turns if (found := self._values(op.namespace).get(op.key)) is not None else ():
                self._memory.forget(id=each)
            return
        raw: Any = {"namespace": list(op.namespace), "key": op.key, "value": dict(op.value)}
        self._of(op.namespace).add([items.Item("assistant", _words(op), raw)])

    def _of(self, namespace: Namespace) -> items.Items:
        return items.Items(self._memory, json.dumps(list(namespace)), agent=self._agent, project=self._project)

    def _values(self, namespace: Namespace) -> dict[str, _Value]:
        """What stands in a namespace, by key, those put first first."""
        items.fresh(self._memory)
        return self._standing(namespace)

    def _standing(self, namespace: Namespace) -> dict[str, _Value]:
        found: dict[str, _Value] = {}
        for each in self._memory.turns(json.dumps(list(namespace)), self._agent):
            raw = each.detail.get("item")
            if isinstance(raw, dict):
                key, value = str(raw["key"]), raw["value"]
                before = found.get(key)
                created, turns = (each.at, (each.id,)) if before is None else (before.created_at, (*before.turns, each.id))
                found[key] = _Value(namespace, key, value if isinstance(value, dict) else {}, created, each.at, turns)
        return found

    def _known(self) -> Iterator[Namespace]:
        """The namespaces in which anything stands, in order."""
        items.fresh(self._memory)
        for session in sorted(self._memory.sessions(self._project, _SESSIONS), key=lambda each: each.session):
            if session.agent == self._agent and session.turns and (namespace := _namespace(session.session)) is not None:
                yield namespace

    def _search(self, op: SearchOp) -> list[SearchItem]:
        inside = [each for each in self._known() if each[: len(op.namespace_prefix)] == op.namespace_prefix]
        found = [value for each in inside for value in self._standing(each).values() if _fits(value.value, op.filter)]
        scores: dict[str, float] = {}
        if op.query:
            hits = self._memory.search(op.query, _MOST, self._project)
            scores = {hit.id: hit.score for hit in hits if hit.text}  # one without words is found by those beside it
            found = [each for each in found if each.turns[-1] in scores]
            found.sort(key=lambda each: -scores[each.turns[-1]])
        return [
            SearchItem(
                each.namespace, each.key, each.value, each.created_at, each.updated_at, scores.get(each.turns[-1])
            )
            for each in found[op.offset : op.offset + op.limit]
        ]  # fmt: skip

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        found = [each for each in self._known() if all(_matches(each, wanted) for wanted in op.match_conditions or ())]
        short = dict.fromkeys(each if op.max_depth is None else each[: op.max_depth] for each in found)
        return sorted(short)[op.offset : op.offset + op.limit]


def _namespace(session: str) -> Namespace | None:
    """The namespace that a session's name says; None for a session that is none of ours."""
    try:
        said = json.loads(session)
    except ValueError:
        return None
    return tuple(said) if isinstance(said, list) and all(isinstance(each, str) for each in said) else None


def _words(op: PutOp) -> str:
    """What of a value is searched: the fields that are named, else all of it, or nothing."""
    if op.index is False:
        return ""
    value = dict(op.value or {})
    if op.index:
        return "\n".join(text for path in op.index for text in get_text_at_path(value, tokenize_path(path)))
    return "\n".join(_lines(value))


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            for line in _lines(each):
                yield f"{name}: {line}"
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _lines(each)
    elif value is not None:
        yield str(value)


def _fits(value: Any, wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value has what a filter asks for: equal, or as its operators say."""
    return all(_equals(value.get(name) if isinstance(value, Mapping) else None, each) for name, each in (wanted or {}).items())


def _equals(found: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return bool(found == wanted)
    if not any(name.startswith("$") for name in wanted):
        return isinstance(found, Mapping) and _fits(found, wanted)
    for name, other in wanted.items():
        if name not in _COMPARED:
            raise UsageError(f"{name!r} is no operator of a filter", hint=f"use one of {', '.join(_COMPARED)}")
        try:
            if not _COMPARED[name](found, other):
                return False
        except TypeError:  # a text is neither more nor less than a number
            return False
    return True


def _matches(namespace: Namespace, wanted: MatchCondition) -> bool:
    path = wanted.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if wanted.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(sought in ("*", found) for found, sought in zip(part, path, strict=True))
