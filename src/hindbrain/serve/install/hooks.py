"""A settings text and the hooks wanted in it -> the text with them; and the text without them again.

A hook is ours when it runs our launcher for this agent, whether spelled as program and arguments or as one shell
line. Nothing else is looked at or moved: other tools' hooks in the same arrays, repeated keys and unknown keys stay
where they are. What is added is told (`Traces`), so that removing it can tell containers we made from containers we
found. Pure.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from hindbrain.capture.launcher import LAUNCHER
from hindbrain.serve.install import json_edit
from hindbrain.serve.install.agents import Agent, entry
from hindbrain.serve.install.json_spans import BOM, Node, parse

HOOKS: Final = "hooks"

Ours = Callable[[str], bool]  # is this launcher ours


class WrongShape(ValueError):
    """The text is JSON, but not of the shape that the agent's settings have."""


@dataclass(frozen=True, slots=True)
class Found:
    """A hook of Hindbrain, of this home or another."""

    event: str
    argv: tuple[str, ...]
    launcher: str
    place: tuple[int, int, int, int]  # member of the document, member of `hooks`, group, hook in the group


@dataclass(frozen=True, slots=True)
class Traces:
    """What has to be known to take the additions away again: containers that were made, and white space that was displaced."""

    made: tuple[str, ...] = ()  # "hooks" or "hooks/<event>"
    interiors: Mapping[str, str] = field(default_factory=dict)  # "", "hooks" or "hooks/<event>" -> what was inside

    def joined(self, later: Traces) -> Traces:
        """Of two installations one after the other. What the first one found is what was there."""
        made = (*self.made, *(name for name in later.made if name not in self.made))
        return Traces(made, {**later.interiors, **self.interiors})


@dataclass(frozen=True, slots=True)
class Added:
    """The text with our hooks, and what was done to it."""

    text: str
    added: tuple[str, ...]
    updated: tuple[str, ...]
    traces: Traces
    found_ours: bool  # there were some already


def is_blank(text: str) -> bool:
    return not text.removeprefix(BOM).strip(" \t\r\n")


def find(text: str, root: Node, agent: Agent) -> list[Found]:
    """Every hook that runs a launcher of Hindbrain for this agent."""
    return [found for place, member in enumerate(root.members) if member.key == HOOKS
            for found in _in_hooks(text, member.value, agent, place)]  # fmt: skip


def _in_hooks(text: str, hooks: Node, agent: Agent, first: int) -> Iterator[Found]:
    for second, member in enumerate(hooks.members):
        for third, group in enumerate(member.value.items):
            listed = group.get(HOOKS)
            for fourth, hook in enumerate(listed.items if listed is not None else ()):
                argv = _argv(hook.value(text)) if hook.kind == "object" else ()
                if launcher := launcher_in(argv, agent):
                    yield Found(member.key, argv, launcher, (first, second, third, fourth))


def _argv(hook: dict[str, Any]) -> tuple[str, ...]:
    command, args = hook.get("command"), hook.get("args")
    if not isinstance(command, str):
        return ()
    if isinstance(args, list) and args:
        return (command, *(arg if isinstance(arg, str) else "" for arg in args))
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()  # no shell would run it either


def launcher_in(argv: tuple[str, ...], agent: Agent) -> str:
    """The launcher that a command runs for this agent; empty when it runs none."""
    for launcher, name in pairwise(argv):
        if name == agent.name and launcher.startswith("/") and launcher.endswith("/" + LAUNCHER) and "-I" in argv:
            return launcher
    return ""


def with_hooks(text: str, command: list[str], agent: Agent, ours: Ours) -> Added:
    """One hook of ours for each event of the agent. Raises JsonSyntaxError or WrongShape."""
    if is_blank(text):
        return _document(text, command, agent)
    added: list[str] = []
    updated: list[str] = []
    every = find(text, parse(text), agent)
    found_ours = any(ours(found.launcher) for found in every)
    traces = Traces(_for_us_alone(parse(text), every))
    for event in agent.events:
        wanted = entry(command, agent, event)
        root = parse(text)
        _check_shape(root, event.name)
        here = [found for found in find(text, root, agent)
                if found.event == event.name and ours(found.launcher) and _counts(root, found)]  # fmt: skip
        if not here:
            text, new = _add(text, root, event.name, {HOOKS: [wanted]})
            traces = traces.joined(new)
            added.append(event.name)
            continue
        fresh = _set_command(text, root, here[0], wanted)
        for extra in reversed(here[1:]):  # the same call twice is one event told twice
            fresh = _drop(fresh, parse(fresh), extra.place, None)
        if fresh != text:
            updated.append(event.name)
            text = fresh
    return Added(text, tuple(added), tuple(updated), traces, found_ours)


def _for_us_alone(root: Node, every: list[Found]) -> tuple[str, ...]:
    """Containers that hold hooks of Hindbrain and nothing else: whichever home made them, the last to leave takes them along."""
    hooks = root.get(HOOKS)
    made: list[str] = []
    for event in dict.fromkeys(found.event for found in every) if hooks is not None else ():
        here = [found for found in every if found.event == event and _counts(root, found)]
        groups = hooks.get(event) if hooks is not None else None
        listed = [group.get(HOOKS) for group in groups.items] if groups is not None else []
        if len(here) == sum(len(node.items) if node is not None else 1 for node in listed):
            made.append(f"{HOOKS}/{event}")
    whole = hooks is not None and bool(made) and len(made) == len(hooks.members)
    return (HOOKS, *made) if whole else tuple(made)


def _document(text: str, command: list[str], agent: Agent) -> Added:
    style = json_edit.Style(newline="\r\n" if "\r\n" in text else "\n")
    hooks = {event.name: [{HOOKS: [entry(command, agent, event)]}] for event in agent.events}
    bom = BOM if text.startswith(BOM) else ""
    fresh = bom + json_edit.render({HOOKS: hooks}, style, "", lines=True) + style.newline
    return Added(fresh, tuple(hooks), (), Traces((HOOKS, *(f"{HOOKS}/{name}" for name in hooks))), found_ours=False)


def _check_shape(root: Node, event: str) -> None:
    if root.kind != "object":
        raise WrongShape(f"the document is of type {root.kind}, not an object")
    hooks = root.get(HOOKS)
    if hooks is not None and hooks.kind != "object":
        raise WrongShape(f'"{HOOKS}" is of type {hooks.kind}, not an object')
    groups = None if hooks is None else hooks.get(event)
    if groups is not None and groups.kind != "array":
        raise WrongShape(f'"{HOOKS}" / "{event}" is of type {groups.kind}, not an array')


def _counts(root: Node, found: Found) -> bool:
    """Of repeated keys only the last one counts."""
    first, second, *_ = found.place
    return root.index(HOOKS) == first and root.members[first].value.index(found.event) == second


def _add(text: str, root: Node, event: str, group: dict[str, object]) -> tuple[str, Traces]:
    style = json_edit.style_of(text, root)
    hooks = root.get(HOOKS)
    groups = None if hooks is None else hooks.get(event)
    name = f"{HOOKS}/{event}"
    if hooks is None:
        return json_edit.append(text, root, style, HOOKS, {event: [group]}), _traces(text, root, "", HOOKS, name)
    if groups is None:
        return json_edit.append(text, hooks, style, event, [group]), _traces(text, hooks, HOOKS, name)
    return json_edit.append(text, groups, style, None, group), _traces(text, groups, name)


def _traces(text: str, node: Node, name: str, *made: str) -> Traces:
    return Traces(made, {} if node.spans() else {name: json_edit.interior(text, node)})


def _set_command(text: str, root: Node, found: Found, wanted: dict[str, object]) -> str:
    """Let a hook of ours run what is wanted; its other members are the user's business."""
    if _hook(root, found).get("args") is not None and found.argv == _argv(wanted):
        return text
    for key in ("command", "args"):
        root = parse(text)
        hook, style = _hook(root, found), json_edit.style_of(text, root)
        old = hook.get(key)
        text = json_edit.append(text, hook, style, key, wanted[key]) if old is None \
            else json_edit.replace(text, old, style, wanted[key])  # fmt: skip
    return text


def _hook(root: Node, found: Found) -> Node:
    first, second, third, fourth = found.place
    listed = root.members[first].value.members[second].value.items[third].get(HOOKS)
    assert listed is not None  # it was found there
    return listed.items[fourth]


def without_hooks(text: str, agent: Agent, ours: Ours, traces: Traces | None) -> tuple[str, int]:
    """The text without our hooks, and how many there were. Without traces every container left empty by it goes too."""
    count = 0
    while not is_blank(text):
        root = parse(text)
        here = [found for found in find(text, root, agent) if ours(found.launcher)]
        if not here:
            break
        text = _drop(text, root, here[-1].place, traces)
        count += 1
    return text, count


def _drop(text: str, root: Node, place: tuple[int, int, int, int], traces: Traces | None) -> str:
    """Take away the hook and whatever it alone was holding up."""
    first, second, third, fourth = place
    hooks = root.members[first].value
    event = hooks.members[second]
    listed = event.value.items[third].get(HOOKS)
    assert listed is not None  # it was found there
    node, at, name = listed, fourth, ""
    outward = [(event.value, third, f"{HOOKS}/{event.key}"), (hooks, second, HOOKS), (root, first, "")]
    for outer, index, outer_name in outward:
        kept = traces is not None and name != "" and name not in traces.made
        if len(node.spans()) > 1 or kept:
            break
        node, at, name = outer, index, outer_name
    inside = "" if traces is None else traces.interiors.get(name, "")
    return json_edit.remove(text, node, at, inside)
