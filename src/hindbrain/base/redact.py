"""Raw bytes -> the same bytes with every secret a rule knows replaced by `[redacted:RULE]`, and how many of each.

Input is plain text or raw JSON, whose strings may hold JSON again; nothing is parsed. Patterns never take a quote or a
lone backslash into a value, so valid JSON stays valid, and redacting twice changes nothing. Every pattern runs in time
linear in the input.

It reads no file and keeps no state but compiled patterns. The hook asks `prefilter.suspicious` first.
"""

from __future__ import annotations

import re

from hindbrain.base.redact_blocks import private_key_spans, private_spans
from hindbrain.base.redact_rules import RULES, Rule

__all__ = ["RULES", "Redaction", "Rule", "redact", "redact_text"]

Span = tuple[int, int]

_compiled: dict[str, re.Pattern[bytes]] = {}

# Names in `redact_blocks` that find what one pattern cannot: nesting, and blocks cut at either end.
_FINDERS = {"private": private_spans, "private-key": private_key_spans}

# How far to the left of a match a run of the same token may reach.
_REACH = 4096


class Redaction:
    """What is left, and how many secrets each rule removed."""

    __slots__ = ("counts", "data")

    def __init__(self, data: bytes, counts: dict[str, int]) -> None:
        self.data = data
        self.counts = counts

    def __repr__(self) -> str:
        return f"Redaction({len(self.data)} bytes, {self.counts})"


def redact(data: bytes) -> Redaction:
    """Remove every secret a rule matches. With none found, the very same bytes come back."""
    text = _without_needless_escapes(data)
    folded = text.lower()
    found: list[tuple[int, int, int]] = []
    for order, rule in enumerate(RULES):
        if _may_match(rule, folded if rule.folded else text):
            found.extend((start, end, order) for start, end in _spans(rule, text, folded))
    if not found:
        return Redaction(data, {})
    return _replace(text, _merged(found))


def redact_text(text: str) -> tuple[str, dict[str, int]]:
    """The same for text. Lone surrogates survive the round trip."""
    result = redact(text.encode("utf-8", "surrogatepass"))
    if not result.counts:
        return text, {}
    return result.data.decode("utf-8", "surrogatepass"), result.counts


def _may_match(rule: Rule, text: bytes) -> bool:
    if rule.also and rule.also not in text:
        return False
    for literal in rule.literals:  # a plain loop: any() would build a generator per rule
        if literal in text:
            return True
    return False


def _spans(rule: Rule, text: bytes, folded: bytes) -> list[Span]:
    finder = _FINDERS.get(rule.name)
    if finder is not None:
        return finder(text)
    # The last group to close is the secret; a pattern without groups is all secret.
    matches = _pattern(rule).finditer(folded if rule.folded else text)
    spans = [match.span(match.lastindex or 0) for match in matches]
    if rule.left:
        spans = [(_run_start(text, start, rule.left), end) for start, end in spans]
    if rule.longest:
        spans = [(start, end) for start, end in spans if end - start <= rule.longest]
    return [(_whole_start(text, start, end), _whole_end(text, end)) for start, end in spans]


def _pattern(rule: Rule) -> re.Pattern[bytes]:
    pattern = _compiled.get(rule.name)
    if pattern is None:
        pattern = _compiled[rule.name] = re.compile(rule.pattern)
    return pattern


def _run_start(text: bytes, start: int, allowed: bytes) -> int:
    """Where the run of allowed bytes that ends at `start` begins."""
    before = text[max(start - _REACH, 0) : start]
    return start - len(before) + len(before.rstrip(allowed))


def _whole_start(text: bytes, start: int, end: int) -> int:
    """Leave an escape whole: in `\\npm_...` the n is half of a line break, and removing it would break the JSON."""
    if text[start - 1 : start] == b"\\" and start:
        return min(start + (5 if text[start : start + 1] == b"u" else 1), end)
    for back in range(2, 6):
        if text[start - back : start - back + 2] == b"\\u" and start >= back:
            return min(start + 6 - back, end)
    return start


def _whole_end(text: bytes, end: int) -> int:
    """Leave a character whole: a length limit may fall inside a UTF-8 sequence."""
    while end < len(text) and 0x80 <= text[end] < 0xC0:
        end += 1
    return end


def _merged(found: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Overlapping finds become one, named after the rule that stands first in the list."""
    found.sort()
    merged: list[tuple[int, int, int]] = []
    last_start, last_end, last_order = found[0]
    for start, end, order in found:
        if start < last_end:
            last_end = max(last_end, end)
            last_order = min(last_order, order)
        else:
            merged.append((last_start, last_end, last_order))
            last_start, last_end, last_order = start, end, order
    merged.append((last_start, last_end, last_order))
    return merged


def _replace(text: bytes, spans: list[tuple[int, int, int]]) -> Redaction:
    counts: dict[str, int] = {}
    parts: list[bytes] = []
    position = 0
    for start, end, order in spans:
        if end <= start:
            continue
        name = RULES[order].name
        counts[name] = counts.get(name, 0) + 1
        parts.append(text[position:start])
        parts.append(b"[redacted:%s]" % name.encode())
        position = end
    parts.append(text[position:])
    return Redaction(b"".join(parts), counts)


def _without_needless_escapes(data: bytes) -> bytes:
    """Printable ASCII written as `\\u0041`, once or nested, becomes itself; quote and backslash stay escaped."""
    if b"\\u00" not in data:
        return data
    pattern = _compiled.get("")
    if pattern is None:
        source = rb"(?<!\\)\\(?:\\|\\\\\\)?u00(?!22|5[cC]|7[fF])([2-7][0-9a-fA-F])"
        pattern = _compiled[""] = re.compile(source)
    return pattern.sub(lambda match: bytes((int(match[1], 16),)), data)
