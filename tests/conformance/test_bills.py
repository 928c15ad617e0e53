"""The list of calls says of each what it cost and what came of it; on every engine."""

from __future__ import annotations

from hindbrain.ledger.bills import Bill, bills
from hindbrain.ledger.calls import Call, note_produced, put_call
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from tests.conformance.reasoning import ONE, tell
from tests.conformance.states import rows

HOUR = 3_600_000
WHO = ("openai", "small", "extract")


def bill(question: str, attempt: int, at: int, tokens: tuple[int, int] = (100, 20), cost: int = 7) -> Call:
    return Call(f"{question}/{attempt:012x}", at, *WHO, "", None, *tokens, cost)


def listed(ledger: Evidence, *told: Call, limit: int = 100) -> list[Bill]:
    with ledger.writing() as database:
        for each in told:
            put_call(database, each)
    with ledger.reading() as database:
        return bills(database, limit=limit)


def test_each_call_says_what_came_of_it(ledger: Evidence) -> None:
    void_at = 5 * HOUR - 1  # the complaint is kept under the next hour
    found = listed(
        ledger,
        bill("q1", 1, 10), Call("q1", 10, *WHO, "{}"),
        bill("q2", 1, 20), bill("q2", 2, 30), Call("q2", 30, *WHO, "{}"),
        bill("q3", 1, void_at), Call("q3/void 5", void_at, *WHO, "it is empty"),
        bill("q4", 1, 40, (0, 0), 0),
        Call("q5", 50, *WHO, "{}", None, 90, 10, 3),
    )  # fmt: skip
    with ledger.writing() as database:
        note_produced(database, "q1", ["m_b", "m_a"])
    told = [(each.key.partition("/")[0], each.at, each.outcome, each.complaint) for each in found]
    assert told == [
        ("q3", void_at, "unusable", "it is empty"), ("q5", 50, "answered", ""), ("q4", 40, "free", ""),
        ("q2", 30, "answered", ""), ("q2", 20, "unknown", ""), ("q1", 10, "answered", ""),
    ]  # fmt: skip
    with ledger.reading() as database:
        newest, *_, first = bills(database)
    assert (first.produced, newest.produced) == (("m_a", "m_b"), ())
    assert first == Bill(f"q1/{1:012x}", 10, *WHO, None, 100, 20, 7, "answered", "", ("m_a", "m_b"))


def test_the_list_goes_on_behind_any_place_and_leaves_none_out(ledger: Evidence) -> None:
    all_of_them = listed(ledger, *(bill(f"q{number}", 1, number // 3) for number in range(20)))
    pages: list[Bill] = []
    with ledger.reading() as database:
        page = bills(database, limit=4)
        while page:
            pages += page
            page = bills(database, page[-1].place, limit=4)
    assert len(all_of_them) == 20 and pages == all_of_them
    assert [each.at for each in pages] == sorted((each.at for each in pages), reverse=True)


def test_a_forgotten_session_leaves_what_was_paid_and_no_reply(told: Evidence) -> None:
    ((project, name),) = rows(told, "SELECT id, name FROM projects")
    paid = Call(f"q1/{1:012x}", 10, *WHO, "", project, 100, 20, 7)
    (before,) = listed(told, paid, Call("q1", 10, *WHO, "{}", project, sessions=(ONE,), produced=("m_a",)))
    assert (before.outcome, before.produced, before.project) == ("answered", ("m_a",), name)
    tell(told, forget_event([ONE], 99_999_999))
    (after,) = listed(told)
    assert after == Bill(paid.key, 10, *WHO, name, 100, 20, 7, "unknown")
