"""Front matter as text -> values -> the same text again. Read with suspicion: a page may have been written by anyone.

Of YAML only what a page needs is understood: strings, whole and short decimal numbers, true and false, lists and mappings of
these. Whatever else a person writes (dates, `yes`, `007`, `1:30`) is a string and is written back letter for letter. Anchors,
tags of any kind, depth and size beyond reason are refused, so that nothing is built, unfolded or run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

MOST_LETTERS: Final = 65_536
MOST_DEPTH: Final = 8
_PLAIN_TAGS: Final = frozenset({None, "!"})


class BadFront(ValueError):
    """Front matter that is not what a page has."""


class _Reader(yaml.SafeLoader):
    """Without anchors and tags, and with far fewer ideas of what a word could mean."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        tag = getattr(event, "tag", None)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None or tag not in _PLAIN_TAGS:
            raise BadFront("anchors and tags are not understood")
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise BadFront("too deep")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Writer(yaml.SafeDumper):
    """Writes what _Reader reads."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_RESOLVED: Final = (
    ("tag:yaml.org,2002:bool", r"true|false", "tf"),
    ("tag:yaml.org,2002:null", r"~|null|", ["~", "n", ""]),
    ("tag:yaml.org,2002:int", r"0|-?[1-9][0-9]{0,14}", "-0123456789"),
    ("tag:yaml.org,2002:float", r"-?(?:0|[1-9][0-9]{0,9})\.[0-9]{0,3}[1-9]", "-0123456789"),
)
for _class in (_Reader, _Writer):
    _class.yaml_implicit_resolvers = {}
    for _tag, _pattern, _first in _RESOLVED:
        _class.add_implicit_resolver(_tag, re.compile(rf"^(?:{_pattern})$"), list(_first))


def _number(writer: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    """As a number where the reader takes it for one, else as the bare word it looks like."""
    shown = repr(value)
    known = next((tag for tag, pattern, _ in _RESOLVED if re.fullmatch(pattern, shown)), "tag:yaml.org,2002:str")
    return writer.represent_scalar(known, shown)


_Writer.add_representer(int, _number)
_Writer.add_representer(float, _number)
_Writer.add_representer(type(None), lambda writer, _: writer.represent_scalar("tag:yaml.org,2002:null", ""))


def read(text: str) -> dict[str, object]:
    """The values; raises BadFront for anything that is no flat, harmless mapping."""
    if len(text) > MOST_LETTERS:
        raise BadFront("too long")
    try:
        found = yaml.load(text, Loader=_Reader)  # a SafeLoader, and less
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        raise BadFront(str(error)[:200]) from error
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise BadFront("no mapping")
    return found


def written(values: Mapping[str, object]) -> str:
    """One line a key where it fits, lists in brackets."""
    return "".join(_written(key, value) for key, value in values.items())


def _written(key: str, value: object) -> str:
    flow = None if isinstance(value, (list, dict, tuple)) else False  # None: brackets for the innermost, lines for the rest
    shown = ""
    for letters in (True, False):  # as they are, unless some of them are unseen or turn the direction of others
        shown = yaml.dump(
            {key: value}, Dumper=_Writer, default_flow_style=flow, allow_unicode=letters, width=1_000_000, sort_keys=False,
        )  # fmt: skip
        if all(letter.isprintable() or letter == "\n" for letter in shown):
            break
    return shown
