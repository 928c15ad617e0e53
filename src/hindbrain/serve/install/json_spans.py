"""JSON text -> where each value in it begins and ends.

Values stay text: whoever changes one of them can leave every other character as it was, spellings of numbers,
escapes, key order and repeated keys included. The grammar is that of RFC 8259 and nothing more, because what the
agent's own parser would refuse must not be taken for settings. Pure: no files, no clock.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, Literal

BOM: Final = "\ufeff"
MAX_DEPTH: Final = 200

Kind = Literal["object", "array", "string", "number", "word"]

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_STRING: Final = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD: Final = re.compile(r"true|false|null")


class JsonSyntaxError(ValueError):
    """The text is not JSON; says where and what is wrong there."""

    def __init__(self, text: str, at: int, problem: str) -> None:
        before = text[:at].removeprefix(BOM)
        self.line = before.count("\n") + 1
        self.column = len(before) - (before.rfind("\n") + 1) + 1
        self.problem = problem
        super().__init__(f"line {self.line}, column {self.column}: {problem}")


@dataclass(frozen=True, slots=True)
class Member:
    """One `"key": value` of an object."""

    key: str
    key_start: int
    key_end: int
    value: Node


@dataclass(frozen=True, slots=True)
class Node:
    """One value; its text is text[start:end]."""

    kind: Kind
    start: int
    end: int
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()

    def spans(self) -> list[tuple[int, int]]:
        """Where each member or element is, without the commas between them."""
        if self.kind == "object":
            return [(member.key_start, member.value.end) for member in self.members]
        return [(item.start, item.end) for item in self.items]

    def index(self, key: str) -> int | None:
        """Which member counts under this key: the last one, as every JSON parser has it."""
        places = [place for place, member in enumerate(self.members) if member.key == key]
        return places[-1] if places else None

    def get(self, key: str) -> Node | None:
        place = self.index(key)
        return None if place is None else self.members[place].value

    def value(self, text: str) -> Any:
        """What it means."""
        return json.loads(text[self.start : self.end])


def parse(text: str) -> Node:
    """The whole document. Raises JsonSyntaxError."""
    reader = _Reader(text)
    start = reader.skip(len(BOM) if text.startswith(BOM) else 0)
    root = reader.read(start, 0)
    end = reader.skip(root.end)
    if end != len(text):
        raise reader.wrong(end, "something follows the end of the document")
    return root


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def wrong(self, at: int, problem: str) -> JsonSyntaxError:
        if at >= len(self.text):
            problem = "the text ends too early"
        elif self.text.startswith(("//", "/*", "#"), at):
            problem = "a comment, which JSON does not allow"
        return JsonSyntaxError(self.text, at, problem)

    def read(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise JsonSyntaxError(self.text, at, f"nested more than {MAX_DEPTH} deep")
        first = self.text[at : at + 1]
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._array(at, depth)
        if first == '"':
            return Node("string", at, self._string_end(at))
        for kind, pattern in (("number", _NUMBER), ("word", _WORD)):
            if found := pattern.match(self.text, at):
                return Node("number" if kind == "number" else "word", at, found.end())
        raise self.wrong(at, "a value is missing" if first in ("", ",", "]", "}", ":") else "not a JSON value")

    def _string_end(self, at: int) -> int:
        found = _STRING.match(self.text, at)
        if found is None:
            raise JsonSyntaxError(self.text, at, "a string that does not end, or holds a raw control character or bad escape")
        return found.end()

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        at = self.skip(start + 1)
        if self.text[at : at + 1] == "}":
            return Node("object", start, at + 1)
        while True:
            if self.text[at : at + 1] != '"':
                raise self.wrong(at, "a comma with nothing behind it" if members else "a key in double quotes is missing")
            key_end = self._string_end(at)
            colon = self.skip(key_end)
            if self.text[colon : colon + 1] != ":":
                raise self.wrong(colon, "a colon is missing")
            value = self.read(self.skip(colon + 1), depth + 1)
            members.append(Member(json.loads(self.text[at:key_end]), at, key_end, value))
            at, done = self._next(value.end, "}")
            if done:
                return Node("object", start, at, members=tuple(members))

    def _array(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        at = self.skip(start + 1)
        if self.text[at : at + 1] == "]":
            return Node("array", start, at + 1)
        while True:
            if items and self.text[at : at + 1] == "]":
                raise self.wrong(at, "a comma with nothing behind it")
            items.append(self.read(at, depth + 1))
            at, done = self._next(items[-1].end, "]")
            if done:
                return Node("array", start, at, items=tuple(items))

    def _next(self, at: int, close: str) -> tuple[int, bool]:
        """Behind a member: where the next one begins, or where the container ends."""
        at = self.skip(at)
        if self.text[at : at + 1] == close:
            return at + 1, True
        if self.text[at : at + 1] != ",":
            raise self.wrong(at, f"a comma or {close} is missing")
        return self.skip(at + 1), False
