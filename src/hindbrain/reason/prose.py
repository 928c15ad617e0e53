"""A turn's text -> its sentences, where they stand, without code, quoted mail and pasted output.

What stands in a fence, behind `>` or looks like a log or a listing is not what the speaker says: it is skipped. A full stop
in `code`, a number, a file name or an abbreviation ends no sentence. Every pattern is bounded, so time grows with the text
alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MAX_SENTENCE: Final = 600  # longer than that nobody states one thing

_FENCE: Final = re.compile(r"[ \t]{0,8}(?:```|~~~)")
_BREAK: Final = re.compile(r"`[^`\n]{1,300}`|(?P<end>[.!?…]{1,4}[\"')\]*_»”]{0,4})(?=\s|$)")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|z\.\s?B|d\.\s?h|u\.\s?a|bzw|ca|vs|etc|approx|resp|evtl|ggf|inkl|Nr|No|Dr|Mr|Mrs|Sr|Sra|p\.\s?ej|incl|"
    r"max|min)"
    r"|(?:^|\s)\d{1,3})\.$")  # fmt: skip
_MARK: Final = re.compile(r"(?:[-*+•–]|#{1,6}|\(?\d{1,2}[.)]|\(?[a-hA-H]\))\s+")
_PASTED: Final = re.compile(
    r"\s{0,40}(?:"
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|"
    r"\[?\d\d:\d\d:\d\d\b|\[(?:INFO|WARN|ERROR|DEBUG|SEVERE)\b|(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL)[ :]"
    r"|(?:error|warning|fatal|Error|Warning|FAIL(?:ED)?)(?:\[\w+\])?: |Traceback \(|File \"|at [\w.$<>]+\(|[\w.]+(?:Error|"
    r"Exception)\b"
    r"|[$%] \S|(?:\d+\s?[|│])|[{}<]|(?:const|let|var|def|import|class|return|function|#include)\s\S|\S+\s?=\s?\S+;?$|[^\w\s]{3}"
    r"|(?:From|To|Subject|Von|An|Betreff|De|Para|Asunto|Sent|Date): )"
)


class Sentence(NamedTuple):
    text: str
    start: int  # in the turn's text
    end: int


def sentences(text: str) -> list[Sentence]:
    """What is said in a text, in order. `text[start:end]` is the sentence, letter by letter."""
    return [sentence for start, end in _lines(text) for sentence in _of_line(text, start, end)]


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Where the lines of prose stand."""
    fenced, start = False, 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if _FENCE.match(text, start, end):
            fenced = not fenced
        elif not fenced and text[start:start + 9].lstrip()[:1] not in ("", ">", "|") and not _PASTED.match(text, start, end):
            yield start, end
        start = end + 1


def _of_line(text: str, start: int, end: int) -> Iterator[Sentence]:
    while mark := _MARK.match(text, *_stripped(text, start, end)):
        start = mark.end()
    begin = start
    for found in _BREAK.finditer(text, start, end):
        stop = found.end("end")
        if stop < 0 or _ABBREVIATION.search(text, max(begin, stop - 8), stop):
            continue
        yield from _sentence(text, begin, stop)
        begin = stop
    yield from _sentence(text, begin, end)


def _sentence(text: str, start: int, end: int) -> Iterator[Sentence]:
    start, end = _stripped(text, start, end)
    if 2 <= end - start <= MAX_SENTENCE:
        yield Sentence(text[start:end], start, end)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and (text[start].isspace() or text[start] in "*_"):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in "*_"):
        end -= 1
    return start, end


def plain(text: str) -> str:
    """A sentence without emphasis and doubled spaces, to be read by itself."""
    return " ".join(text.replace("**", "").split())
