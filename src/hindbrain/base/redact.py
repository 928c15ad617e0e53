"""Raw bytes -> the same bytes with every secret a rule knows replaced by `[redacted:RULE]`, and how many of each.

Input is plain text or raw JSON, whose strings may hold JSON again; nothing is parsed. Patterns never take a quote or a
lone backslash into a value, so valid JSON stays valid, and redacting twice changes nothing. Every pattern runs in time
linear in the input.

It reads no file and keeps no state but compiled patterns. The hook asks `prefilter.suspicious` first.
"""

from __future__ import annotations

import re

from hindbrain.base.redact_rules import RULES, Rule

__all__ = ["RULES", "Redaction", "Rule", "redact", "redact_text"]

Span = tuple[int, int]

_MARK = b"[redacted:"

_compiled: dict[str, re.Pattern[bytes]] = {}

# A mark is an edge that the secret it replaced was not, so what stood next to that secret may now be found. No rule can
# uncover its own neighbour; the limit is a fence, not a budget.
_MOST_PASSES = 8

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
    total: dict[str, int] = {}
    for _ in range(_MOST_PASSES):
        text, counts = _pass(text, total)
        if not counts:
            break
        for name, count in counts.items():
            total[name] = total.get(name, 0) + count
    return Redaction(text if total else data, total)


def redact_text(text: str) -> tuple[str, dict[str, int]]:
    """The same for text. Lone surrogates survive the round trip."""
    result = redact(text.encode("utf-8", "surrogatepass"))
    if not result.counts:
        return text, {}
    return result.data.decode("utf-8", "surrogatepass"), result.counts


def _pass(text: bytes, removed: dict[str, int]) -> tuple[bytes, dict[str, int]]:
    folded = text.lower()
    unmarked = text  # a mark holds words such as "secret": they must not call for patterns that are not compiled yet
    for name in removed:
        unmarked = unmarked.replace(_mark(name), b"")
    unmarked_folded = unmarked.lower() if removed else folded
    found: list[tuple[int, int, int]] = []
    for order, rule in enumerate(RULES):
        if _may_match(rule, unmarked_folded if rule.folded else unmarked):
            found.extend((start, end, order) for start, end in _spans(rule, text, folded))
    if found and _MARK in text:
        found = _outside_marks(found, text)
    if not found:
        return text, {}
    return _replace(text, _merged(found))


def _may_match(rule: Rule, text: bytes) -> bool:
    if rule.also and rule.also not in text:
        return False
    return any(literal in text for literal in rule.literals)


def _spans(rule: Rule, text: bytes, folded: bytes) -> list[Span]:
    if not rule.pattern:
        return _block_spans(rule, text)
    # The last group to close is the secret; a pattern without groups is all secret.
    matches = _pattern(rule).finditer(folded if rule.folded else text)
    spans = [match.span(match.lastindex or 0) for match in matches]
    if rule.left:
        spans = [(_run_start(text, start, rule.left), end) for start, end in spans]
    if rule.longest:
        spans = [(start, end) for start, end in spans if end - start <= rule.longest]
    if spans and b"\\" in text:
        spans = [(_whole_start(text, start, end), end) for start, end in spans]
    if spans and not text.isascii():
        spans = [(start, _whole_end(text, end)) for start, end in spans]
    return spans


def _block_spans(rule: Rule, text: bytes) -> list[Span]:
    """What one pattern cannot find: nesting, and blocks cut at either end."""
    from hindbrain.base import redact_blocks  # here, because most payloads have none and the hook pays for each import

    return redact_blocks.private_spans(text) if rule.name == "private" else redact_blocks.private_key_spans(text)


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
    before = text[max(start - 5, 0) : start]
    backslash = before.rfind(b"\\")
    if backslash < 0:
        return start
    escape = start - len(before) + backslash
    length = 6 if text[escape + 1 : escape + 2] == b"u" else 2
    return min(max(start, escape + length), end)


def _whole_end(text: bytes, end: int) -> int:
    """Leave a character whole: a length limit may fall inside a UTF-8 sequence."""
    while end < len(text) and 0x80 <= text[end] < 0xC0:
        end += 1
    return end


def _outside_marks(found: list[tuple[int, int, int]], text: bytes) -> list[tuple[int, int, int]]:
    """Cut away what reaches into the mark of an earlier redaction, so that a second one finds nothing to do."""
    marks = [match.span() for match in re.finditer(rb"\[redacted:[a-z0-9-]{1,40}\]", text)]
    found.sort()
    kept: list[tuple[int, int, int]] = []
    first = 0  # marks before this one end before every find still to come
    for start, end, order in found:
        while first < len(marks) and marks[first][1] <= start:
            first += 1
        if first < len(marks) and marks[first][0] <= start:
            start = marks[first][1]
        if start < end:
            kept.append((start, end, order))
    return kept


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


def _replace(text: bytes, spans: list[tuple[int, int, int]]) -> tuple[bytes, dict[str, int]]:
    counts: dict[str, int] = {}
    parts: list[bytes] = []
    position = 0
    for start, end, order in spans:
        if end <= start:
            continue
        name = RULES[order].name
        counts[name] = counts.get(name, 0) + 1
        parts.append(text[position:start])
        parts.append(_mark(name))
        position = end
    parts.append(text[position:])
    return b"".join(parts), counts


def _mark(name: str) -> bytes:
    return b"%b%b]" % (_MARK, name.encode())


def _without_needless_escapes(data: bytes) -> bytes:
    """Printable ASCII written as `\\u0041`, once or nested, becomes itself; quote and backslash stay escaped."""
    if b"\\u00" not in data:
        return data
    pattern = _compiled.get("")
    if pattern is None:
        source = rb"(?<!\\)\\(?:\\|\\\\\\)?u00(?!22|5[cC]|7[fF])([2-7][0-9a-fA-F])"
        pattern = _compiled[""] = re.compile(source)
    return pattern.sub(lambda match: bytes((int(match[1], 16),)), data)
