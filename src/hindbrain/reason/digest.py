"""A session's turns and statements -> its digest, short and long, in the session's own words.

Nothing is put in but labels. The long one is at most twelve lines: what was asked, decided, ruled, found out and done, what
went wrong, what is open; each line holds the pieces that say most. The short one is what was asked first and what came out in
the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from hindbrain.ledger.statement import Said
from hindbrain.reason.causes import any_of, claim, is_sure
from hindbrain.reason.gist import Piece, choose, weights
from hindbrain.reason.own_words import BLANK, own
from hindbrain.reason.prose import plain, sentences
from hindbrain.reason.runs import Run, looks_only, runs
from hindbrain.reason.trust import doubt

SHORT_LETTERS: Final = 300
LONG_LETTERS: Final = 1_500
MOST_LINES: Final = 12

NEW_MEMORIES: Final = 8
NEW_TOKENS: Final = 600

_SMALLEST: Final = 600
_PART: Final = 0.45
_PIECE: Final = 150  # letters of one piece
_STATED: Final = 200
_LESSON: Final = 320  # an error, its cause and the fix
_GOALS: Final = 2  # sentences at the beginning that say what a session is about
_GOAL: Final = 2.0
_COMMAND: Final = 70
_CLEAR: Final = 3  # weight of a claim that says a cause or a fix outright
_PER_TURN: Final = 40  # sentences of one turn
_PIECES: Final = 3_000  # turns of one speaker that are considered: as many of the first and of the last
_LABELS: Final = ("Asked", "Decided", "Corrected", "Rules", "Known", "How", "Learned", "Done", "Files", "Ran", "Failed", "Open")
_LABEL_OF: Final = {
    "decision": ("Decided", 2.0), "correction": ("Corrected", 1.8), "instruction": ("Rules", 1.5), "preference": ("Rules", 1.5),
    "fact": ("Known", 1.3), "procedure": ("How", 1.3), "lesson": ("Learned", 1.7), "task": ("Open", 2.0),
    "insight": ("Known", 1.0),
}  # fmt: skip
# Noises at the beginning of a message. A "no" belongs to what follows it unless a comma stands between.
_FILLER: Final = re.compile(
    r"(?:(?:ok(?:ay)?|so|and|also|oh|ah|hi|hey|hello|hm{1,6}|well|btw|by the way|alright|thanks|thx|please|pls|sorry|morning|"
    r"evening|fyi|lol|haha|"
    r"moin|hallo|danke|und|dann|noch was|achso|übrigens|bitte|hola|buenas|gracias|pues|oye|por cierto)(?:[,.!:;)-]{1,3}\s{1,3}|"
    r"\s{1,3})|"
    r"(?:good|great|nice|cool|perfect|perf|yes|yeah|yep|no|right|sweet|gut|super|prima|passt|ja|nee|nein|vale|bien|perfecto|"
    r"genial|sí|estupendo)"
    r"[,.!:;)-]{1,3}\s{1,3}){1,6}", re.IGNORECASE)  # fmt: skip
# What an agent says it did, in the languages it says it in.
_DID: Final = any_of(
    r"\b(?:done|added|moved|removed|replaced|renamed|updated|changed|created|wrote|written|implemented|fixed|set|bumped|built|"
    r"generated|installed|applied|committed)\b",
    r"\b(?:merged|tagged|released|deployed|corrected|converted|migrated|wrapped|dropped|switched|enabled|disabled|passes|pass|"
    r"green|works?|now|there'?s a)\b",
    r"\b(?:erledigt|eingebaut|angelegt|umgestellt|eingestellt|gesetzt|ergänzt|geändert|entfernt|behoben|fertig|läuft|jetzt|nun|"
    r"steht)\b",
    r"\b(?:hecho|añadid[oa]s?|cambiad[oa]s?|corregid[oa]s?|movid[oa]s?|cread[oa]s?|quitad[oa]s?|resuelto|list[oa]|ahora|"
    r"he \w{3,20}(?:ado|ido|to|cho))\b",
)


class Kept(Protocol):
    """A memory or statement, as far as a digest needs it."""

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Digest:
    short: str
    long: str


def should_roll(new_memories: int, new_tokens: int, forced: bool) -> bool:
    """Whether a session has gone on far enough since its last digest for a new one. Being told to is enough by itself."""
    return forced or new_memories >= NEW_MEMORIES or new_tokens >= NEW_TOKENS


def digest(turns: Sequence[Said], statements: Sequence[Kept]) -> Digest:
    """Both digests; empty where nothing was said."""
    weight = weights(turns)
    asked = list(_asked(turns))
    reported = list(_reported(turns))
    stated = _stated(statements)
    pieces = [*asked, *stated, *reported, *_touched(turns)]
    return Digest(_short(asked, reported, stated, weight), _long(pieces, weight, _room(turns)))


def _room(turns: Sequence[Said]) -> int:
    """Letters of the long digest: a part of what was said, so that a short session is not simply told again."""
    said = sum(len(turn.text) for turn in turns if turn.role in ("user", "assistant"))
    return min(LONG_LETTERS, max(_SMALLEST, int(_PART * said)))


def _long(pieces: list[Piece], weight: dict[str, float], most: int) -> str:
    room = most - sum(len(label) + 3 for label in {piece.label for piece in pieces})
    chosen = choose(pieces, weight, room)
    lines = []
    for label in _LABELS:
        texts = list(dict.fromkeys(piece.text for piece in chosen if piece.label == label))
        if texts:
            lines.append(f"{label}: {'; '.join(texts)}")
    return "\n".join(lines)


def _short(asked: list[Piece], reported: list[Piece], stated: list[Piece], weight: dict[str, float]) -> str:
    """The first ask and the weightiest others; then what was decided or learned, else what was reported last."""
    half = SHORT_LETTERS // 2
    first = asked[:1]
    more = choose(asked[1:], weight, half - sum(len(piece.text) + 2 for piece in first) - 8)
    lines = ["Asked: " + "; ".join(piece.text for piece in (*first, *more))] if first else []
    room = SHORT_LETTERS - sum(map(len, lines)) - len("\nOutcome: ")
    outcome = [piece for piece in stated if piece.label in ("Decided", "Learned")] or reported[-2:]
    ended = choose([replace(piece, text=compressed(piece.text, room - 2)) for piece in outcome], weight, room)
    lines += ["Outcome: " + "; ".join(piece.text for piece in ended)] if ended else []
    return "\n".join(lines)


def _asked(turns: Sequence[Said]) -> Iterator[Piece]:
    """What the user said, sentence by sentence, without greetings. The first words say what it is all about."""
    for number, piece in enumerate(_spoken(turns, "user", "Asked", 1.0)):
        yield replace(piece, worth=_GOAL) if number < _GOALS else piece


def _reported(turns: Sequence[Said]) -> Iterator[Piece]:
    """What the agent said it did or found."""
    for piece in _spoken(turns, "assistant", "Done", 0.6):
        if is_sure(piece.text) and (_DID.search(piece.text) or claim(piece.text).weight >= _CLEAR):
            yield piece


def _spoken(turns: Sequence[Said], role: str, label: str, worth: float) -> Iterator[Piece]:
    numbers = [number for number, turn in enumerate(turns) if turn.role == role]
    half = _PIECES // 2
    for number in numbers if len(numbers) <= _PIECES else numbers[:half] + numbers[-half:]:
        text = turns[number].text
        said = own(text).replace(BLANK, "\n") if role == "user" else text
        for place, sentence in enumerate(sentences(said)[:_PER_TURN]):
            short = compressed(sentence.text)
            if len(short.split()) > 2 and not doubt(short, own=role == "user"):
                yield Piece(label, short, number * _PER_TURN + place, worth)


def compressed(text: str, most: int = _PIECE) -> str:
    """A sentence without its opening noises, cut at a clause where it is long."""
    said = plain(text)
    said = _FILLER.sub("", said, count=1) if _FILLER.match(said) else said
    said = said.strip(" .,;:!")
    if len(said) <= most:
        return said
    cut = max(said.rfind(mark, 0, most) for mark in (". ", "; ", ", ", " – "))
    return said[:cut] if cut > most // 2 else said[:max(0, most - 2)].rsplit(" ", 1)[0] + " …"


def _stated(statements: Sequence[Kept]) -> list[Piece]:
    """What was found worth keeping, as far as it may be told and nothing later in the session took its place."""
    pieces = []
    told = {getattr(statement, "id", None) for statement in statements} - {None}
    for number, statement in enumerate(statements[:_PIECES]):
        if getattr(statement, "superseded_by", None) in told:
            continue
        label, worth = _LABEL_OF.get(statement.kind, ("Known", 1.0))
        text = compressed(statement.text, _LESSON if label == "Learned" else _STATED)
        held = getattr(statement, "quarantine", "") or getattr(statement, "held", "")
        if text and not held and not doubt(statement.text, own=False):
            pieces.append(Piece(label, text, number, worth))
    return pieces


def _touched(turns: Sequence[Said]) -> Iterator[Piece]:
    """Files that were changed, and commands that did something."""
    for number, turn in enumerate(turns):
        if turn.role == "tool_call" and turn.tool in ("Edit", "Write", "MultiEdit", "NotebookEdit"):
            for file in turn.files[:3]:
                yield Piece("Files", plain(file)[-_COMMAND:], number, 0.5)
    done = [run for run in runs(turns) if run.command and not looks_only(run.command)]
    worked = {run.command for run in done if not run.failed}
    yield from (_ran(run) for run in done if not run.failed or run.command not in worked)


def _ran(run: Run) -> Piece:
    line = plain(run.command)
    short = line if len(line) <= _COMMAND else line[:_COMMAND - 2].rsplit(" ", 1)[0] + " …"
    return Piece("Failed" if run.failed else "Ran", f"`{short.replace('`', '')}`", run.call, 0.4)
