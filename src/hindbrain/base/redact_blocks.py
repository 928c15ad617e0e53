r"""Text -> where its private blocks are: `<private>` passages and PEM keys, closed, nested or cut at either end.

One pattern per block cannot do it: what an unclosed block takes depends on whether the payload is JSON. There a block
must end with its string, or it would swallow quotes the JSON needs. A block may run on through the next strings of an
array (a patch lists its lines so); taking it from inside one string to inside another leaves the array valid.
"""

from __future__ import annotations

import re

Span = tuple[int, int]

# The rest of a JSON string, and the rest of it with the strings that follow it in an array.
_STRING = rb'[^"\\]*+(?:\\.[^"\\]*+)*+'
_GAP = rb'"\s{0,32},\s{0,32}"'
_STRINGS = rb"%b(?:%b%b)*+" % (_STRING, _GAP, _STRING)
_TAG = rb"(?i)<(\\{0,3}/)?private(?:[ \t\r\n]|\\{1,4}[nrt]){0,8}>"

_KEY = rb"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?[ ]?-{4,5}"
_BREAK = rb"(?:\r?\n|\\{1,4}[rn])"
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
# What can stand in a key that was cut: base64, headers, line numbers, diff signs, escapes of blanks and of arrows.
_CUT = rb"(?:[A-Za-z0-9+/=:,.()@|#>*_ \t\r\n\x80-\xff-]|\\{1,8}(?:[nrt/]|u[0-9a-fA-F]{4}))*+"
# The next string of an array when it is a line of base64.
_CUT_LINES = rb"(?:%b[+ \t-]{0,8}[A-Za-z0-9+/=]{16,}+%b)*+" % (_GAP, _CUT)


def looks_like_json(text: bytes) -> bool:
    """Whether quotes in this payload may be JSON's own."""
    return text[:64].lstrip()[:1] in (b"{", b"[", b'"')


def private_spans(text: bytes) -> list[Span]:
    """Every `<private>` passage with its tags; an unclosed one reaches to the end of its JSON string, or of the text."""
    tags = [(match.start(), match.end(), match[1] is None) for match in re.finditer(_TAG, text)]
    as_json = looks_like_json(text)
    spans: list[Span] = []
    done = 0  # everything before this is taken
    run_end = 0  # where the strings of the array being looked at end
    hopeless = False  # they hold no closing tag for a passage opened in one of them
    for index, (start, end, opens) in enumerate(tags):
        if start < done or not opens:
            continue
        limit = _string_end(text, end) if as_json else len(text)
        closed = _closing(tags, index, limit)
        if closed is None and as_json:
            if limit >= run_end:
                run_end, hopeless = _match_end(_STRINGS, text, end), False
            closed = None if hopeless else _closing(tags, index, run_end)
            hopeless = closed is None
            if closed is not None and _is_key(text, closed):
                closed = None
        done = limit if closed is None else closed
        spans.append((start, done))
    return spans


def _closing(tags: list[tuple[int, int, bool]], index: int, limit: int) -> int | None:
    """Where the passage opened by this tag is closed, if that is before the limit."""
    depth = 0
    for number in range(index, len(tags)):
        start, end, opens = tags[number]
        if start >= limit:
            return None
        depth += 1 if opens else -1
        if depth == 0:
            return end
    return None


def private_key_spans(text: bytes) -> list[Span]:
    """Every PEM private key: whole, without its end, or without its beginning."""
    as_json = looks_like_json(text)
    spans = _keys_with_begin(text, as_json)
    return spans + _keys_without_begin(text, as_json, spans)


def _keys_with_begin(text: bytes, as_json: bool) -> list[Span]:
    body = rb'(?:[^"\\-]++|-++(?![ ]?(?:END|BEGIN)[ ])|\\.|%b)*+' % (_GAP if as_json else rb'"')
    closed = rb"%b-++[ ]?END[ ]%b" % (body, _KEY)
    more = _CUT_LINES if as_json else b""
    cut = rb"(?=[ \t]*+(?:%b|\Z)|[ ]*+[A-Za-z0-9+/=]{20}|%b[+ \t-]*+[A-Za-z0-9+/=]{16})%b%b" % (
        _BREAK,
        _GAP,
        _CUT,
        more,
    )
    begin = rb"(?s)BEGIN (?<=----[- ]BEGIN )%b" % _KEY
    spans: list[Span] = []
    for match in re.finditer(rb"%b(?:%b|%b)" % (begin, closed, cut), text):
        end = match.end() - len(match[0]) + len(match[0].rstrip(b" \t\r\n"))
        if as_json and _is_key(text, end):
            end = min(end, _string_end(text, match.start()))
        spans.append((match.start() - 5, end))
    return spans


def _keys_without_begin(text: bytes, as_json: bool, taken: list[Span]) -> list[Span]:
    spans: list[Span] = []
    rest = taken[::-1]  # the next one last
    done = 0
    for match in re.finditer(rb"END (?<=----[- ]END )%b" % _KEY, text):
        while rest and rest[-1][1] <= match.start():
            done = max(done, rest.pop()[1])
        if rest and rest[-1][0] < match.start():
            continue  # the end of a key that has its beginning
        start = _body_start(text, done, match.start() - 5, as_json and not _is_key(text, match.end()))
        if re.search(rb"[A-Za-z0-9+/=]{20}", text[start : match.start()]):
            spans.append((start, match.end()))
        done = match.end()
    return spans


def _body_start(text: bytes, done: int, end: int, in_array: bool) -> int:
    """Walk back over what can be the body of a key, through the earlier strings of an array too."""
    before = text[done:end]
    start = done + len(before.rstrip(_BASE64 + b" \t\r\n\\-"))
    while in_array:
        gap = re.search(rb'("\s{0,32},\s{0,32}")\Z', text[max(done, start - 70) : start])
        if gap is None:
            break
        stop = start - len(gap[1])
        opening = text.rfind(b'"', done, stop)
        line = text[opening + 1 : stop]
        if opening < 0 or len(line) < 16 or line.strip(_BASE64 + b" \t-"):
            break
        start = opening + 1
    return start + len(text[start:end]) - len(text[start:end].lstrip(b" \t\r\n"))


def _is_key(text: bytes, at: int) -> bool:
    """Whether the JSON string that goes on at this place is the name of a member."""
    return re.compile(rb'"\s{0,32}:').match(text, _string_end(text, at)) is not None


def _string_end(text: bytes, at: int) -> int:
    return _match_end(_STRING, text, at)


def _match_end(source: bytes, text: bytes, at: int) -> int:
    match = re.compile(source, re.DOTALL).match(text, at)
    return match.end() if match else at
