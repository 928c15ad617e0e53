"""Each event has its effect once, in one transaction, whatever order and however often it is delivered."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import LedgerError
from hindbrain.capture.event import Source, session_id
from hindbrain.journal.read import Damage
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import Batch, Ingested
from hindbrain.ledger.rebuild import fingerprint
from tests.conformance.states import is_sound, refuse_events, rows
from tests.engines import NewLedger
from tests.ledger.making import (
    Delivery,
    batch,
    batch_to,
    cursor_event,
    event,
    histories,
    place_event,
    record,
    shuffled_batches,
)

FIRST = session_id("claude-code", "s1")


@given(history=histories(), seed=st.integers(0, 2**32))
@settings(max_examples=12, deadline=None)
def test_order_repeats_and_batch_sizes_leave_no_trace(new_ledger: NewLedger, history: list[Delivery], seed: int) -> None:
    shuffling_changes_nothing(new_ledger, history, seed)


@pytest.mark.slow
@given(history=histories(), seed=st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_order_repeats_and_batch_sizes_leave_no_trace_in_many_histories(
    new_ledger: NewLedger, history: list[Delivery], seed: int
) -> None:
    shuffling_changes_nothing(new_ledger, history, seed)


def shuffling_changes_nothing(new_ledger: NewLedger, history: list[Delivery], seed: int) -> None:
    straight, shuffled = new_ledger(), new_ledger()
    straight.ingest(Batch(list(history), [], {}))
    for part in shuffled_batches(history, seed):
        shuffled.ingest(part)
    assert fingerprint(shuffled) == fingerprint(straight)
    assert shuffled.counts() == straight.counts()
    assert is_sound(shuffled)


@given(history=histories())
@settings(max_examples=8, deadline=None)
def test_a_batch_taken_in_again_changes_nothing(new_ledger: NewLedger, history: list[Delivery]) -> None:
    ledger = new_ledger()
    ledger.ingest(Batch(list(history), [], {}))
    before = fingerprint(ledger)
    again = ledger.ingest(Batch(list(history), [], {}))
    assert (again.turns_new, again.events_new, again.merged, again.redactions_new) == (0, 0, 0, 0)
    assert fingerprint(ledger) == before


def test_lines_below_the_cursor_are_skipped(ledger: Evidence) -> None:
    lines = [record(0, event(key="a")), record(10, event(key="b"))]
    first = batch_to(20, *lines)
    assert ledger.ingest(first) == Ingested(records=2, turns_new=2, sessions=frozenset({FIRST}))
    wanted = Ingested(records=1, skipped=2, turns_new=1, sessions=frozenset({FIRST}))
    assert ledger.ingest(batch(*lines, record(20, event(key="c")))) == wanted
    assert ledger.cursor("segment:0000000001-a-1") == 20


def test_a_cursor_never_goes_back(ledger: Evidence) -> None:
    ledger.ingest(batch(x=50))
    ledger.ingest(batch(x=30))
    assert ledger.cursors("segment:") == {"segment:x": 50}
    assert ledger.cursor("segment:y") is None


HOOK = event(at=5_000, origin="hook", text="from the hook", tool="Bash", detail={"command": "make"})
LINE = event(at=4_000, origin="transcript", text="from the transcript", source=Source("/t/1.jsonl", 7, 99), detail={"error": "x"})


@pytest.mark.parametrize("order", [(HOOK, LINE), (LINE, HOOK)], ids=["hook first", "transcript first"])
def test_hook_and_transcript_make_one_turn_of_the_best_of_both(ledger: Evidence, order: tuple[object, object]) -> None:
    for start, each in enumerate(order):
        ledger.ingest(batch(record(10 * start, each)))  # type: ignore[arg-type]
    (turn,) = ledger.turns_of(FIRST)
    assert (turn.text, turn.tool, turn.detail) == ("from the hook", "Bash", {"command": "make"})
    assert (turn.at, turn.source) == (4_000, ("/t/1.jsonl", 7, 99))
    assert turn.origins == {"hook", "transcript"}
    assert rows(ledger, "SELECT kind, value FROM traces") == [("command", "make")]
    assert [hit.turn_id for hit in ledger.search("hook")] == [turn.id]
    assert ledger.search("transcript") == []
    assert is_sound(ledger)


def test_of_two_hook_deliveries_the_first_in_the_journal_is_kept(ledger: Evidence) -> None:
    ledger.ingest(batch(record(20, event(text="later", at=9))))
    ledger.ingest(batch(record(10, event(text="sooner", at=11))))
    (turn,) = ledger.turns_of(FIRST)
    assert (turn.text, turn.at, turn.start) == ("sooner", 9, 10)


def test_a_session_spans_its_events_and_keeps_the_first_folder_and_the_last_model(ledger: Evidence) -> None:
    ledger.ingest(batch(
        record(0, event(at=50, key="b", cwd="/later", detail={"model": "new"})),
        record(10, event(at=20, key="a", cwd="/first", detail={"model": "old", "transcript_path": "/t/1.jsonl"})),
        record(20, event(kind="session_end", at=60, key="e", detail={"reason": "clear"})),
        record(30, event(session="s1/child", parent="s1", at=30, key="c")),
    ))  # fmt: skip
    found = ledger.session(FIRST)
    assert found is not None
    assert (found.started_at, found.last_at, found.cwd, found.model) == (20, 60, "/first", "new")
    assert (found.ended_at, found.end_reason, found.facts) == (60, "clear", {"transcript_path": "/t/1.jsonl"})
    child = ledger.session(session_id("claude-code", "s1/child"))
    assert child is not None and child.parent_id == FIRST
    assert [each.id for each in ledger.sessions()] == [FIRST, child.id]
    assert ledger.session("s_none") is None


def test_sessions_follow_the_newest_finding_about_their_folder(ledger: Evidence) -> None:
    def project() -> str | None:
        found = ledger.session(FIRST)
        assert found is not None
        return found.project_id

    ledger.ingest(batch(record(0, event(cwd="/p"))))
    assert project() is None
    ledger.ingest(batch(record(10, place_event("/p", "path:/p", at=5))))
    first = project()
    ledger.ingest(batch(record(20, place_event("/p", "git:host/p", at=9))))
    second = project()
    ledger.ingest(batch(record(30, place_event("/p", "dir:/x", at=7))))
    assert first is not None and second is not None and first != second
    assert project() == second
    assert ledger.place("/p") == ("git:host/p", second, 9)
    assert ledger.place("/elsewhere") is None
    assert ledger.counts().projects == 3


def test_a_transcript_cursor_starts_again_only_with_a_later_time(ledger: Evidence) -> None:
    ledger.ingest(batch(record(0, cursor_event("transcript:/t", 900, at=10))))
    ledger.ingest(batch(record(10, cursor_event("transcript:/t", 100, at=10))))
    assert ledger.cursor("transcript:/t") == {"offset": 900}
    ledger.ingest(batch(record(20, cursor_event("transcript:/t", 100, at=11))))
    assert ledger.cursor("transcript:/t") == {"offset": 100}


def test_a_cursor_event_is_later_than_the_stored_one_even_when_the_clock_was_set_back(ledger: Evidence) -> None:
    far = 4_000_000_000_000
    ledger.ingest(batch(record(0, cursor_event("transcript:/t", 900, at=far))))
    made = ledger.cursor_event("transcript:/t", {"offset": 5}, "claude-code")
    ledger.ingest(batch(record(10, made)))
    assert made.at == far + 1
    assert ledger.cursor("transcript:/t") == {"offset": 5}


def test_what_a_place_or_cursor_event_cannot_say_is_kept_as_an_event(ledger: Evidence) -> None:
    odd = [
        event(kind="cursor", key="1", detail={"source": "segment:x", "position": {"offset": 7}}),
        event(kind="cursor", key="2", detail={"source": "transcript:x"}),
        event(kind="place", key="3", cwd="/p", detail={"identity": 5}),
        event(kind="place", key="4", cwd="", detail={"identity": "path:/p"}),
    ]
    ledger.ingest(batch(*(record(10 * number, each) for number, each in enumerate(odd))))
    assert ledger.counts().by_kind == {"cursor": 2, "place": 2}
    assert ledger.cursors() == {}


def test_secrets_taken_out_are_counted_once_by_rule(ledger: Evidence) -> None:
    line = record(0, event(), meta={"r": "github-token:2,password-assignment:1"})
    other = record(10, event(key="k2"), meta={"r": "github-token:1"})
    assert ledger.ingest(batch(line)).redactions_new == 3
    assert ledger.ingest(batch(line, other)).redactions_new == 1
    assert ledger.counts().redacted == {"github-token": 3, "password-assignment": 1}


def test_secrets_of_a_line_that_says_nothing_are_counted_too(ledger: Evidence) -> None:
    nothing = record(0, meta={"r": "github-token:2"})
    for _ in range(2):
        ledger.ingest(batch(nothing, record(10, event())))
    assert (ledger.counts().redacted, ledger.counts().turns) == ({"github-token": 2}, 1)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
def test_secrets_of_an_event_are_counted_once_however_often_it_is_delivered(ledger: Evidence, order: tuple[int, ...]) -> None:
    call = event(key="t", role="tool_call", text="curl [redacted:github-token] [redacted:github-token]")
    result = event(key="t", role="tool_result", text="[redacted:github-token], said the page")
    lines = [
        record(0, call, result, meta={"r": "github-token:3"}),  # a hook tells both
        record(10, call, meta={"r": "github-token:2"}),  # and a transcript each of them, the result twice
        record(20, result, meta={"r": "github-token:2"}),
        record(30, event(key="other", text="the end was cut off"), meta={"r": "github-token:1"}),
    ]
    for number in order:
        ledger.ingest(batch(lines[number]))
    assert ledger.counts().redacted == {"github-token": 4}


def test_damage_is_noted_once_with_its_kind(ledger: Evidence) -> None:
    bad = [Damage("x", 0, 5, "torn", "cut", b""), Damage("x", 90, 95, "damaged", "checksum", b"")]
    assert ledger.ingest(batch(damages=bad)).damages_new == 2
    assert ledger.ingest(batch(damages=bad)).damages_new == 0
    assert (ledger.counts().torn, ledger.counts().damaged) == (1, 1)


def test_a_row_that_cannot_be_written_takes_the_whole_batch_back(ledger: Evidence) -> None:
    allow = refuse_events(ledger, "poison")
    ledger.ingest(batch(record(0, event(key="old")), x=10))
    before = fingerprint(ledger)
    poison = event(kind="notice", key="n", text="poison")
    lines = [record(10, event(key="new"), meta={"r": "a:1"}), record(20, place_event("/p", "path:/p", 1)), record(30, poison)]
    with pytest.raises(LedgerError):
        ledger.ingest(batch(*lines, damages=[Damage("x", 70, 75, "torn", "cut", b"")], x=40))
    assert fingerprint(ledger) == before
    assert ledger.cursor("segment:x") == 10
    assert is_sound(ledger)
    allow()
    wanted = Ingested(records=3, turns_new=1, events_new=1, redactions_new=1, sessions=frozenset({FIRST}), acted=True)
    assert ledger.ingest(batch(*lines, x=40)) == wanted


HOSTILE = {
    "lone surrogates": event(
        session="\ud800", key="\udfff", text="\ud800", tool="\udfff", cwd="/\udc80", detail={"\ud800": "\udfff"}
    ),
    "other lone surrogates": event(session="\ud801", key="\udffe", text="x"),
    "nul": event(session="a\x00b", key="\x00", text="a\x00b", detail={"x": "\x00"}),
    "time beyond 64 bits": event(key="t", at=10**30),
    "time before 1970": event(key="u", at=-(10**30)),
    "not a number": event(key="v", detail={"x": float("nan"), "y": [float("inf")]}),
    "source beyond 64 bits": event(key="w", source=Source("/\ud800", -5, 10**30)),
    "no session": event(key="y", session=""),
    "no role": event(key="z", role=None),
    "many traces": event(key="tr", detail={"traces": [{"file": f"/f{n}"} for n in range(5_000)] + ["odd", 5, None]}),
    "traces of wrong types": event(key="ts", detail={"file": {"a": 1}, "command": 5, "error": True, "task": None, "traces": "x"}),
    "mebibyte": event(key="big", text="word " * 200_000),
}  # fmt: skip


def test_no_event_is_too_odd_to_be_stored(new_ledger: NewLedger) -> None:
    ledger = new_ledger()
    for number, (name, each) in enumerate(HOSTILE.items()):
        result = ledger.ingest(batch(record(10 * number, each, meta={"r": "\x00:1"})))
        assert result.turns_new + result.events_new == 1, name
    assert ledger.counts().unparsed == 2
    before = fingerprint(ledger)
    ledger.ingest(batch(*(record(10 * number, each) for number, each in enumerate(HOSTILE.values()))))
    assert fingerprint(ledger) == before
    assert is_sound(ledger)
