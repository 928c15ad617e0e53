"""A long text and the words of a question -> the stretch of it that is worth a line.

A short text stands for itself. Of a long one the search has said which passage fits best; where it has not, the stretch
that holds most of the question's words is taken, from the beginning of a sentence to the end of one where they are near
enough. A mark says where something was cut off.

Imported by the hook when no worker answers: built-ins only.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

MAX_CHARS = 590  # of the line a block has for a text, which leaves room for the marks
WINDOW_CHARS = 450  # of a stretch before it is widened to whole sentences
LOOKED_AT = 60_000  # letters of a text; what comes behind is found by the search's own passages
_MAX_PLACES = 200  # of one word
_ENDS = (". ", "! ", "? ", "\n", "。")


def excerpt(text: str, start: int = 0, end: int = 0, stems: "Collection[str]" = ()) -> str:
    """The text, or the passage from start to end, or the stretch that holds most of the stems; with … where it was cut."""
    if len(text) <= MAX_CHARS:
        return text
    if not 0 <= start < end <= len(text):
        start, end = _stretch(text, stems)
    end = min(end, start + MAX_CHARS)
    body = text[start:end].strip()
    return ("…" if text[:start].strip() else "") + body + ("…" if text[end : end + 1000].strip() else "")


def _stretch(text: str, stems: "Collection[str]") -> "tuple[int, int]":
    places = _places(text[:LOOKED_AT].lower(), stems)
    if not places:
        return 0, _end(text, 0, WINDOW_CHARS)
    best = first = most = 0
    inside: dict[str, int] = {}
    for place, stem in places:
        inside[stem] = inside.get(stem, 0) + 1
        while place - places[first][0] > WINDOW_CHARS - 100:
            inside[places[first][1]] -= 1
            if not inside[places[first][1]]:
                del inside[places[first][1]]
            first += 1
        if len(inside) > most:
            most, best = len(inside), places[first][0]
    start = _start(text, best)
    return start, _end(text, start, WINDOW_CHARS)


def _places(text: str, stems: "Collection[str]") -> "list[tuple[int, str]]":
    """Where each stem stands, in order."""
    found: list[tuple[int, str]] = []
    for stem in stems:
        at, count = text.find(stem), 0
        while at >= 0 and count < _MAX_PLACES:
            found.append((at, stem))
            at, count = text.find(stem, at + len(stem)), count + 1
    found.sort()
    return found


def _start(text: str, at: int) -> int:
    """The beginning of the sentence at a place, if that is near; else of the word."""
    at = min(at, len(text))
    lowest = max(0, at - 150)
    ends = [found + len(mark) for mark in _ENDS if (found := text.rfind(mark, lowest, at)) >= 0]
    if ends:
        return max(ends)
    if lowest == 0:
        return 0
    space = text.rfind(" ", max(0, at - 40), at)
    return space + 1 if space >= 0 else at


def _end(text: str, start: int, chars: int) -> int:
    """The first end of a sentence behind so many letters, if it is near enough; else of a word."""
    least, most = start + chars, start + MAX_CHARS
    if most >= len(text):
        return len(text)
    ends = [found + len(mark.rstrip()) for mark in _ENDS if (found := text.find(mark, least, most)) >= 0]
    if ends:
        return min(ends)
    space = text.rfind(" ", least, most)
    return space if space >= 0 else most
