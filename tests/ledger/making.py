"""Records and events for ledger tests: by hand, and as hypothesis strategies over a universe small enough to collide."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from hindbrain.capture.event import Event, Source, encode
from hindbrain.capture.event import decode as decode_event
from hindbrain.journal.line import EVENT, Line, frame
from hindbrain.journal.read import Damage, Record
from hindbrain.ledger.calls import Call, call_event
from hindbrain.ledger.ingest import Batch

Delivery = tuple[Record, list[Event]]


def event(**fields: Any) -> Event:
    """A user turn of one session, with whatever a test wants to be different."""
    given: dict[str, Any] = {
        "kind": "turn", "agent": "claude-code", "session": "s1", "at": 1_000, "key": "k1", "origin": "hook", "role": "user",
        "text": "hello",
    }  # fmt: skip
    if fields.get("kind", "turn") != "turn":
        given["role"] = None
    return Event(**(given | fields))


def record(start: int, *events: Event, segment: str = "0000000001-a-1", meta: dict[str, str] | None = None) -> Delivery:
    """A journal line that holds the events; lines are taken to be ten bytes long."""
    return Record(segment, start, start + 10, Line(EVENT, "claude-code", 0, meta or {}, b"")), list(events)


def batch(*deliveries: Delivery, damages: Sequence[Damage] = (), **cursors: int) -> Batch:
    """A batch; `s1=30` puts the cursor of `segment:s1` to 30."""
    return Batch(list(deliveries), list(damages), {f"segment:{name}": offset for name, offset in cursors.items()})


def batch_to(offset: int, *deliveries: Delivery) -> Batch:
    """A batch that puts the cursor of the segment record() uses to an offset."""
    return Batch(list(deliveries), [], {"segment:0000000001-a-1": offset})


def place_event(cwd: str, identity: str, at: int) -> Event:
    """What was found about a directory."""
    detail: dict[str, Any] = {"identity": identity, "remote": "", "common_dir": "", "branch": "main"}
    return event(kind="place", session="", cwd=cwd, at=at, key=f"{cwd}{identity}", origin="worker", detail=detail)


def cursor_event(source: str, offset: int, at: int) -> Event:
    """How far a transcript was read."""
    detail: dict[str, Any] = {"source": source, "position": {"offset": offset}}
    return event(kind="cursor", session="", at=at, key=f"{source}{offset}", origin="worker", detail=detail)


_TIMES = st.integers(0, 60)
_DETAILS = st.sampled_from([
    {}, {"file": "/p/a.py", "action": "read"}, {"traces": [{"command": "make"}, {"error": "boom"}]}, {"model": "m1"},
    {"model": "m2", "transcript_path": "/t/1.jsonl"}, {"reason": "clear", "version": "2.1"}, {"reason": "exit"},
])  # fmt: skip
_CONTENT = st.builds(
    event, kind=st.sampled_from(["turn", "session_start", "session_end", "notice", "decision", "unparsed"]),
    session=st.sampled_from(["s1", "s2", "s1/child", ""]), at=_TIMES, key=st.sampled_from(["k1", "k2", "k3"]),
    origin=st.sampled_from(["hook", "transcript", "api", "worker"]),
    text=st.sampled_from(["", "alpha beta", "beta gamma", "naïve café", "\ud800 lone", "nul \x00 inside"]),
    cwd=st.sampled_from(["", "/p", "/q"]), tool=st.sampled_from(["", "Bash"]), parent=st.sampled_from(["", "s1"]),
    source=st.sampled_from([None, Source("/t/1.jsonl", 0, 9), Source("/t/1.jsonl", 9, 20), Source("/t/0.jsonl", 5, 8)]),
    detail=_DETAILS, version=st.sampled_from([2, 2, 1]),
)  # fmt: skip
_PLACES = st.builds(place_event, st.sampled_from(["/p", "/q"]), st.sampled_from(["git:h/a", "dir:/a/.git", "path:/p"]), _TIMES)
_CURSORS = st.builds(cursor_event, st.sampled_from(["transcript:/t/1", "transcript:/t/2"]), st.integers(0, 9), _TIMES)
_CALLS = st.builds(
    Call, st.sampled_from(["k1", "k2"]), _TIMES, st.just("p"), st.sampled_from(["m1", "m2"]), st.just("extract"),
    st.sampled_from(["a reply", "nul \x00 inside"]), st.sampled_from([None, "p_x"]), st.integers(0, 2), st.integers(0, 2),
).map(call_event)  # fmt: skip
EVENTS = st.one_of(_CONTENT, _CONTENT, _CONTENT, _PLACES, _CURSORS, _CALLS)
_METAS = st.sampled_from([{}, {}, {"r": "github-token:2"}, {"r": "github-token:1,password:3"}, {"r": "odd"}])


@st.composite
def histories(draw: st.DrawFn) -> list[Delivery]:
    """What three segments may hold, in journal order."""
    found: list[Delivery] = []
    for segment in ("0000000001-a-1", "0000000002-b-1", "0000000003-c-1"):
        lines = draw(st.lists(st.tuples(st.lists(EVENTS, min_size=1, max_size=2), _METAS), max_size=6))
        found += [record(number * 10, *events, segment=segment, meta=meta) for number, (events, meta) in enumerate(lines)]
    return found


def random_history(seed: int, lines: int = 40) -> list[Delivery]:
    """A history of some size that a seed stands for: made from the same universe, without hypothesis."""
    choose = random.Random(seed)
    found: list[Delivery] = []
    for number in range(lines):
        meta = choose.choice([{}, {}, {"r": "github-token:2"}, {"r": "github-token:1,password:3"}])
        segment = choose.choice(["0000000001-a-1", "0000000002-b-1", "0000000003-c-1"])
        found.append(record(10 * number, _random_event(choose), segment=segment, meta=meta))
    return found


def _random_event(choose: random.Random) -> Event:
    kinds = ["turn"] * 6 + ["notice", "session_end", "decision", "place", "cursor", "call"]
    at, kind = choose.randrange(60), choose.choice(kinds)
    if kind == "place":
        return place_event(choose.choice(["/p", "/q"]), choose.choice(["git:h/a", "dir:/a/.git", "path:/p"]), at)
    if kind == "call":
        return call_event(Call(choose.choice(["k1", "k2"]), at, "p", "m", "extract", f"reply {choose.randrange(3)}"))
    if kind == "cursor":
        return cursor_event(choose.choice(["transcript:/t/1", "transcript:/t/2"]), choose.randrange(9), at)
    return event(
        kind=kind, session=choose.choice(["s1", "s2", "s1/child", ""]), at=at, key=choose.choice("abcdef"),
        role=choose.choice(["user", "assistant", "tool_result"]) if kind == "turn" else None,
        origin=choose.choice(["hook", "transcript", "api", "worker"]), text=f"alpha beta {choose.randrange(5)}",
        cwd=choose.choice(["", "/p", "/q"]), parent=choose.choice(["", "s1"]),
        source=choose.choice([None, Source("/t/1.jsonl", 0, 9), Source("/t/0.jsonl", 5, 8)]),
        detail=choose.choice([{}, {"file": "/p/a.py", "action": "read"}, {"model": "m1"}, {"reason": "clear"}]),
        version=choose.choice([2, 2, 1]),
    )  # fmt: skip


def shuffled_batches(history: Sequence[Delivery], seed: int) -> list[Batch]:
    """The same lines in any order, some of them twice, in batches of any size. No cursors: those would skip."""
    choose = random.Random(seed)
    lines = [*history, *(line for line in history if choose.random() < 0.4)]
    choose.shuffle(lines)
    cut: list[Batch] = []
    while lines:
        size = choose.randint(1, 5)
        cut.append(Batch(lines[:size], [], {}))
        del lines[:size]
    return cut


def write_segments(journal: Path, history: Iterable[Delivery]) -> None:
    """The events of a history as real lines in real segments, one event to a line."""
    journal.mkdir(mode=0o700, exist_ok=True)
    for held, events in history:
        meta = {name: value.encode() for name, value in held.line.meta.items()}
        with (journal / f"{held.segment}.log").open("ab") as file:
            for number, each in enumerate(events):
                file.write(frame(EVENT, b"claude-code", number, encode(each), meta))


def events_of(line: Record) -> list[Event]:
    """The event in a line that write_segments wrote."""
    return [decode_event(line.line.payload)]
