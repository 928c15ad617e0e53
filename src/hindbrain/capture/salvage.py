"""JSON bytes, whole, dirty or cut off at their end -> the values they hold.

Clients hand us whatever their tools printed: broken UTF-8, NUL, numbers of 5,000 digits, brackets without end. Every
way in which such bytes cannot be read is one error here, Unreadable, whose message never quotes the bytes. What was cut
at a size limit is closed where it stops, so that all that came before the cut is kept; a value that may be incomplete
without showing it (a number, a key) is left out, a string is kept as far as it goes.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Final, cast

from hindbrain.capture.event import Json

# Deeper nesting in a cut text is refused: no client nests like that, and the parser behind us recurses.
MAX_DEPTH: Final = 200

_EDGES: Final = "\ufeff\x00 \t\r\n"
_TOKEN: Final = re.compile(r"[ \t\r\n]*(?:([\"{}\[\],:])|([^ \t\r\n\"{}\[\],:]++))")
_STRING_BODY: Final = re.compile(r'(?:[^"\\]++|\\[^u]|\\u[0-9a-fA-F]{4})*+', re.DOTALL)
_HALF_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_HIGH_SURROGATE: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")


class Unreadable(ValueError):
    """Bytes that hold no JSON we can read; says why and where, never what."""


def loads(data: bytes) -> Json:
    """The value of one JSON text. Invalid UTF-8 becomes U+FFFD, lone surrogates stay. Raises Unreadable."""
    return _parsed(data.decode("utf-8", "replace").strip(_EDGES))


def loads_cut(data: bytes) -> Json:
    """The value of a JSON text whose end may be missing, as far as it can be known. Raises Unreadable. Linear."""
    try:
        return loads(data)
    except Unreadable:
        # The incremental decoder holds back a half UTF-8 sequence at the end, which is just what we want dropped.
        text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=False)
        return _parsed(_Cut(text.lstrip(_EDGES)).closed())


def _parsed(text: str) -> Json:
    try:
        return cast(Json, json.loads(text, strict=False))
    except json.JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise Unreadable("not readable JSON: nested too deeply") from None
    except ValueError:
        raise Unreadable("not readable JSON: a number has too many digits") from None


class _Cut:
    """Walks a cut text once. At any time text[:keep] plus the closers is valid JSON."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.closers: list[str] = []
        self.keep = 0
        self.key_next = False  # the next string names a field

    def closed(self) -> str:
        """The text with everything open closed where it stops."""
        at = 0
        while (token := _TOKEN.match(self.text, at)) is not None:
            mark, scalar = token.groups()
            if scalar is not None:
                at = token.end()
                if at == len(self.text):
                    break  # 12 may have been 123
                self.keep = at
            elif mark == '"':
                end = self._string(token.end())
                if isinstance(end, str):
                    return end
                at = end
            else:
                at = token.end()
                self._structure(mark, at)
        if self.keep == 0:
            raise Unreadable("not readable JSON: cut before its first value")
        return self._with_closers(self.text[: self.keep])

    def _string(self, start: int) -> int | str:
        """Where the string that begins here ends; or, if it was cut, the whole result."""
        body = _STRING_BODY.match(self.text, start)
        end = body.end() if body is not None else start
        if self.text.startswith('"', end):
            if not self.key_next:
                self.keep = end + 1
            return end + 1
        if _HALF_ESCAPE.match(self.text, end) is None and end < len(self.text):
            raise Unreadable(f"not JSON: a bad escape at character {end}")
        if self.key_next:
            return self._with_closers(self.text[: self.keep])
        return self._with_closers(self.text[: self._before_half_pair(start, end)] + '"')

    def _before_half_pair(self, start: int, end: int) -> int:
        """Half of a surrogate pair at the end is half a character."""
        half = _HIGH_SURROGATE.search(self.text, max(start, end - 6), end)
        if half is None:
            return end
        before = self.text[start : half.start()]
        escaped_backslash = (len(before) - len(before.rstrip("\\"))) % 2
        return end if escaped_backslash else half.start()

    def _structure(self, mark: str, end: int) -> None:
        if mark in "{[":
            self.closers.append("}" if mark == "{" else "]")
            if len(self.closers) > MAX_DEPTH:
                raise Unreadable("not readable JSON: nested too deeply")
            self.keep, self.key_next = end, mark == "{"
        elif mark in "}]":
            if not self.closers or self.closers.pop() != mark:
                raise Unreadable(f"not JSON: an unexpected bracket at character {end - 1}")
            self.keep, self.key_next = end, False
        else:
            self.key_next = mark == "," and self.closers[-1:] == ["}"]

    def _with_closers(self, kept: str) -> str:
        if not kept:
            raise Unreadable("not readable JSON: cut before its first value")
        return kept + "".join(reversed(self.closers))
