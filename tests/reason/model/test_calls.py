"""Replies are paid for once, kept before they are used, and never beyond the caps."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock, SystemClock
from hindbrain.capture.event import Event
from hindbrain.ledger.calls import Call, Spent, calls, of_event, put_call, spent
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import Wish, apply
from hindbrain.ledger.statement import Said, Statement
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import BackOff, JobFailed, Retry
from hindbrain.reason.model.asked import ModelName, Question
from hindbrain.reason.model.budget import UNKNOWN, Budget, Price, for_nothing, is_night, midnight, price_of
from hindbrain.reason.model.calls import LedgerBook
from hindbrain.reason.model.failures import NotAllowed
from hindbrain.reason.model.reasoner import Made, Reasoner, calls_of, estimate
from hindbrain.recall.tokens import tokens_in
from tests.reason.model.asking import KINDS, NOON, TURNS, Asking, Standing, configured, text_of
from tests.reason.model.model_server import Reply, serving

Asks = Callable[..., Asking]
MODEL = "openai:small-model"


AT_NIGHT = "no model is used at night"


class Died(BaseException):
    """Stands for the end of the process."""


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Noon is noon here."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_question_is_paid_for_once(kind: str, asking: Asks) -> None:
    with serving([Reply(text_of(kind), tokens=(1_000, 200))]) as server:
        asks = asking(server.url, MODEL)
        first = KINDS[kind].run(asks.reasoner())
        again = KINDS[kind].run(asks.reasoner())
        assert len(server.requests) == 1
    assert first == again == Made(KINDS[kind].by_model, f"model:{MODEL}/1", "", first.keys)
    with asks.ledger.reading() as database:
        kept, bill = calls(database)
    key, price = first.keys[0], UNKNOWN.micros(1_000, 200)
    assert kept == Call(key, NOON, "openai", "small-model", kind, text_of(kind), "p_1", sessions=("s_1",))
    assert bill == Call(bill.key, NOON, "openai", "small-model", kind, "", "p_1", 1_000, 200, price)
    assert bill.key.startswith(f"{key}/")


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_that_dies_after_the_reply_was_kept_does_not_pay_again(kind: str, asking: Asks) -> None:
    with serving([Reply(text_of(kind))]) as server:
        asks = asking(server.url, MODEL)
        with pytest.raises(Died):
            KINDS[kind].run(dying(asks, after_the_row=True))
        assert KINDS[kind].run(asks.reasoner()).value == KINDS[kind].by_model
        assert len(server.requests) == 1


def test_the_reply_is_in_the_journal_before_it_is_in_the_ledger(asking: Asks) -> None:
    with serving([Reply(text_of("digest"))]) as server:
        asks = asking(server.url, MODEL)
        with pytest.raises(Died):
            KINDS["digest"].run(dying(asks, after_the_row=False))
        with asks.ledger.reading() as database:
            assert [each.reply for each in calls(database)] == [""]  # what it may have cost, before it was asked
    assert [(event.kind, event.text) for event in asks.journal] == [("call", ""), ("call", text_of("digest"))]


def dying(asks: Asking, *, after_the_row: bool) -> Reasoner:
    """A reasoner whose process ends right after a reply was kept, or between journal and ledger."""

    class Book(LedgerBook):
        def keep(self, *told: Call) -> None:
            super().keep(*told)
            raise Died

    def journal(event: Event) -> None:
        asks.journal.append(event)
        if event.text and not after_the_row:
            raise Died

    return Reasoner(asks.reasoner().calls, Book(asks.ledger, journal), "p_1", ("s_1",))


def test_a_wrong_reply_is_kept_too_and_not_paid_for_again(asking: Asks) -> None:
    with serving([Reply("no")]) as server:
        asks = asking(server.url, MODEL)
        first, again = (KINDS["digest"].run(asks.reasoner()) for _ in range(2))
        assert len(server.requests) == 2
        assert "Your last reply cannot be used: the reply holds no JSON object." in server.requests[1].text
    assert first == again
    assert first.note == f"{MODEL} gave no reply of use: the reply holds no JSON object"


def long_turns(count: int) -> list[Said]:
    text = "we keep going on about it " * 60
    return [Said(f"t_{number}", "user", f"Statement {number}: {text}", at=number) for number in range(count)]


def test_what_was_said_before_is_not_asked_again_when_a_session_goes_on(asking: Asks) -> None:
    turns = long_turns(30)
    with serving([Reply('{"statements": []}')]) as server:
        asks = asking(server.url, MODEL)
        asks.reasoner().extract(turns[:-3], list)
        before = len(server.requests)
        asks.reasoner().extract(turns, list)
        assert 2 < before <= len(server.requests) <= before + 2
        first = {request.text for request in server.requests[: before - 1]}
        assert all(request.text not in first for request in server.requests[before:])
        assert {request.system for request in server.requests} == {server.requests[0].system}


def test_where_one_stretch_fails_only_that_one_goes_by_rules(asking: Asks) -> None:
    turns = long_turns(12)
    ruled = [Statement("fact", f"Found by rules in {turn.id}", (turn.id,), "Statement", 0.7) for turn in turns]
    with serving([Reply('{"statements": []}'), Reply("no"), Reply("no"), Reply('{"statements": []}')]) as server:
        asks = asking(server.url, MODEL)
        made = asks.reasoner().extract(turns, lambda: ruled)
        assert len(server.requests) >= 4
    kept = [each.turns[0] for each in made.value]
    assert kept and kept == [f"t_{number}" for number in range(int(kept[0][2:]), int(kept[-1][2:]) + 1)] and "t_0" not in kept
    assert (made.made_by, bool(made.note)) == (f"model:{MODEL}/1", True)


NO_TOKENS = "3,000 of 4,000 used, and this question may take 1,"
NO_MONEY = "0.018 of 0.02 US dollars used, and this question may take 0.0"
CAPS = {
    "tokens": ({"model_daily_tokens": "4000"}, f"the day's tokens have no room: {NO_TOKENS}"),
    "money": ({"model_daily_cost": "0.02"}, f"the day's money has no room: {NO_MONEY}"),
    "tokens of the project": ({"model_project_daily_tokens": "4000"},
                              f"the day's tokens of this project have no room: {NO_TOKENS}"),
    "money of the project": ({"model_project_daily_cost": "0.02"}, f"the day's money of this project has no room: {NO_MONEY}"),
    "tokens of the kind": ({"model_kind_daily_tokens": "4000"}, f"the day's tokens of the kind digest have no room: {NO_TOKENS}"),
    "money of the kind": ({"model_kind_daily_cost": "0.02"}, f"the day's money of the kind digest has no room: {NO_MONEY}"),
}  # fmt: skip


def pay(ledger: Evidence, at: int, project: str = "p_1", kind: str = "digest") -> None:
    with ledger.writing() as database:
        put_call(database, Call(f"k{at}{project}{kind}", at, "openai", "m", kind, "", project, 2_500, 500, 18_000))


@pytest.mark.parametrize("name", CAPS)
def test_at_a_cap_nobody_is_asked_and_the_result_says_so(name: str, asking: Asks) -> None:
    settings, note = CAPS[name]
    with serving([Reply(text_of("digest"))]) as server:
        asks = asking(server.url, MODEL, **settings)
        pay(asks.ledger, NOON - 1)
        made = KINDS["digest"].run(asks.reasoner())
        assert made == Made(KINDS["digest"].by_rules, note=made.note, later=True) and made.note.startswith(note)
        assert server.requests == []
        asks.clock.advance(86_400)  # tomorrow
        assert KINDS["digest"].run(asks.reasoner()).made_by == f"model:{MODEL}/1"


@pytest.mark.parametrize(("name", "cap", "note"), [
    ("model_daily_tokens", "3000", "the day's tokens are used up: 3,000 of 3,000"),
    ("model_daily_cost", "0.015", "the day's money is used up: 0.018 of 0.015 US dollars"),
])  # fmt: skip
def test_where_nothing_is_left_of_a_cap_it_is_used_up(name: str, cap: str, note: str, asking: Asks) -> None:
    asks = asking("http://127.0.0.1:9", MODEL, **{name: cap})
    pay(asks.ledger, NOON - 1)
    assert KINDS["digest"].run(asks.reasoner()).note == note


def test_what_others_spent_does_not_count_for_a_project_or_a_kind(asking: Asks) -> None:
    with serving([Reply(text_of("digest"))]) as server:
        asks = asking(server.url, MODEL, model_project_daily_tokens="4000", model_kind_daily_tokens="4000")
        pay(asks.ledger, NOON - 1, "p_2", "extract")
        assert KINDS["digest"].run(asks.reasoner()).made_by == f"model:{MODEL}/1"


def test_what_was_kept_is_used_at_the_cap_too(asking: Asks) -> None:
    with serving([Reply(text_of("digest"))]) as server:
        asks = asking(server.url, MODEL, model_daily_tokens="4000")
        first = KINDS["digest"].run(asks.reasoner())
        pay(asks.ledger, NOON)
        assert KINDS["digest"].run(asks.reasoner()) == first


def admitted(asks: Asking, kind: str = "digest", asked: bool = False) -> Call:
    question = Question(kind, "1", "s", "t", {}, 2_000, "p_1")
    return Budget(asks.config, asks.clock).admit(asks.book, ModelName.of(MODEL), question, asked=asked)


def test_what_is_under_way_counts_whichever_process_it_is_of(asking: Asks) -> None:
    asks = asking("http://127.0.0.1:9", MODEL, model_daily_tokens="3000")
    bill = admitted(asks)
    assert (bill.input_tokens + bill.output_tokens, bill.cost_micros) == (2_002, UNKNOWN.micros(2, 2_000))
    with pytest.raises(NotAllowed, match="2,002 of 3,000 used, and this question may take 2,002"):
        admitted(asks)
    asks.book.keep(for_nothing(bill))
    assert admitted(asks).input_tokens == 2


def test_two_that_ask_at_once_do_not_pass_a_cap_together(asking: Asks, ledger: Evidence, tmp_path: Path) -> None:
    asks = asking("http://127.0.0.1:9", MODEL, model_daily_tokens="10000")

    def one(_: int) -> bool:
        with Ledger.open(tmp_path / "ledger.db", SystemClock()) as own:
            try:
                admitted(replace(asks, ledger=own))
            except NotAllowed:
                return False
            return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, range(16))) == 4


def test_what_a_call_came_to_stands_whatever_the_order_in_which_the_journal_is_read(asking: Asks) -> None:
    with serving([Reply(text_of("digest"), tokens=(5_000, 4_000))]) as server:  # more than was thought possible
        asks = asking(server.url, MODEL, model_daily_cost="10")
        KINDS["digest"].run(asks.reasoner())
    for events in (asks.journal, asks.journal[::-1]):
        with asks.ledger.writing() as database:
            database.execute("DELETE FROM calls")
            for event in events:
                told = of_event(event)
                assert told is not None
                put_call(database, told)
            assert spent(database, 0) == Spent(9_000, UNKNOWN.micros(5_000, 4_000), 1)


WRITTEN = {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "x"}}]}
LOST = {
    "broken off": (Reply(text_of("digest"), announced=10**5), JobFailed),
    "a cut completion": (Reply(body=json.dumps(WRITTEN).encode()[:-9]), None),
    "in pieces": (Reply(body=b'data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n'), None),
    "a list of completions": (Reply(body=json.dumps([WRITTEN, WRITTEN]).encode()), None),
    "a completion without a choice": (Reply(body=b'{"choices": [], "usage": null}'), None),
    "of another protocol": (Reply(body=b'{"candidates": [{"content": {"parts": [{"text": "x"}]}}]}'), None),
    "a charset nobody reads": (Reply(text_of("digest"), charset="cp037"), None),
    "too long": (Reply(body=b" " * (3 << 20)), None),
}  # fmt: skip
NO_MODEL_S = {
    "a page": b"<html>sign in</html>", "other JSON": b'{"status": "ok"}', "an error": b'{"error": {"message": "overloaded"}}',
    "a word": b"ok", "a number": b"7", "nothing": b"", "a long page": b"<p>" + b"word " * 20_000,
}


@pytest.mark.parametrize("name", NO_MODEL_S)
def test_what_no_model_wrote_costs_what_was_sent_and_what_came(name: str, asking: Asks) -> None:
    with serving([Reply(body=NO_MODEL_S[name])]) as server:
        asks = asking(server.url, MODEL, model_daily_cost="10")
        assert KINDS["digest"].run(asks.reasoner()).made_by == "rules/1"
        asked = len(server.requests)
    with asks.ledger.reading() as database:
        bills = [each for each in calls(database) if "/" in each.key and not each.reply]
    size = min(tokens_in(NO_MODEL_S[name].decode()), 1_200)
    assert [each.output_tokens for each in bills] == [size] * asked and asked == 2
    assert all(each.input_tokens > 100 and each.cost_micros == UNKNOWN.micros(each.input_tokens, size) for each in bills)


@pytest.mark.parametrize("name", LOST)
def test_a_call_that_may_have_been_paid_for_counts_at_its_worst_though_nothing_came_of_it(name: str, asking: Asks) -> None:
    reply, raised = LOST[name]
    with serving([reply]) as server:
        asks = asking(server.url, MODEL, model_daily_cost="10")
        with pytest.raises(raised) if raised else nullcontext():
            KINDS["digest"].run(asks.reasoner())
        asked = len(server.requests)
    with asks.ledger.reading() as database:
        total, bills = spent(database, 0), [each for each in calls(database) if "/" in each.key and not each.reply]
    assert total.calls == asked == len(bills) > 0 and all(each.output_tokens >= 1_000 for each in bills)


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_call_that_was_refused_costs_nothing(status: int, asking: Asks) -> None:
    with serving([Reply(status=status)]) as server:
        asks = asking(server.url, MODEL)
        made = KINDS["digest"].run(asks.reasoner(give_way=True))
        assert made.made_by == "rules/1"
    with asks.ledger.reading() as database:
        assert spent(database, 0) == Spent(0, 0, 0)


COUNTED = {"none": (0, 0), "far too few": (1, 1), "far too many": (10**12, 10**12)}


@pytest.mark.parametrize("name", COUNTED)
def test_a_server_that_counts_what_cannot_be_true_is_counted_for(name: str, asking: Asks) -> None:
    with serving([Reply(text_of("digest"), tokens=COUNTED[name])]) as server:
        asks = asking(server.url, MODEL)
        KINDS["digest"].run(asks.reasoner())
    with asks.ledger.reading() as database:
        total = spent(database, 0)
    assert 100 < total.tokens < 20_000


def test_what_is_no_reply_at_all_is_asked_for_again_after_an_hour(asking: Asks) -> None:
    with serving([Reply(body=b"<html>sign in</html>"), Reply(body=b"<html>sign in</html>"), Reply(text_of("digest"))]) as server:
        asks = asking(server.url, MODEL)
        first, again = (KINDS["digest"].run(asks.reasoner()) for _ in range(2))
        assert first == again and first.made_by == "rules/1" and len(server.requests) == 2
        asks.clock.advance(3_600)
        assert KINDS["digest"].run(asks.reasoner()).made_by == f"model:{MODEL}/1"


def test_what_was_spent_stays_spent_when_a_session_is_forgotten(asking: Asks) -> None:
    with serving([Reply(text_of("digest"), tokens=(1_000, 200))]) as server:
        asks = asking(server.url, MODEL)
        KINDS["digest"].run(asks.reasoner())
    with asks.ledger.writing() as database:
        apply(database, [Wish(NOON + 1, ["s_1"])])
        assert spent(database, 0) == Spent(1_200, UNKNOWN.micros(1_000, 200), 1)
        assert [each.reply for each in calls(database)] == [""]
    for event in asks.journal:  # nor does it come back
        told = of_event(event)
        assert told is not None
        with asks.ledger.writing() as database:
            put_call(database, told)
    with asks.ledger.reading() as database:
        assert [each.reply for each in calls(database)] == [""] and spent(database, 0).tokens == 1_200


def test_at_night_nobody_is_asked_unless_a_person_wants_it(asking: Asks) -> None:
    night = NOON + 11 * 3_600_000
    assert [hour for hour in range(24) if is_night(NOON + (hour - 12) * 3_600_000)] == [0, 1, 2, 3, 4, 5, 6, 23]
    with serving([Reply(text_of("digest"))]) as server:
        asks = asking(server.url, MODEL)
        asks.clock.set_wall(night)
        assert KINDS["digest"].run(asks.reasoner()) == Made(KINDS["digest"].by_rules, note=AT_NIGHT, later=True)
        assert server.requests == []
        assert KINDS["digest"].run(asks.reasoner(asked=True)).made_by == f"model:{MODEL}/1"
        allowed = asking(server.url, MODEL, model_night="true")
        allowed.clock.set_wall(night)
        assert KINDS["ask"].run(allowed.reasoner()).note.startswith(MODEL)  # it was asked


def test_the_day_begins_at_midnight_here() -> None:
    assert midnight(NOON) == midnight(NOON + 11 * 3_600_000) == NOON - 12 * 3_600_000


DOWN = {"500": Reply(status=500), "429": Reply(status=429), "401": Reply(status=401), "not there": None}


@pytest.mark.parametrize("name", DOWN)
def test_the_next_of_the_chain_is_asked_when_one_is_down(name: str, ledger: Evidence, tmp_path: Path) -> None:
    down = DOWN[name]
    with serving([down or Reply()]) as first, serving([Reply(text_of("digest"))]) as second:
        url = first.url if down else "http://127.0.0.1:1"
        config = configured(tmp_path, model=f"anthropic:a,{MODEL}", model_url=f"{url},{second.url}", model_key="k1,k2")
        asks = Asking(ledger, config, "", ())
        asks.calls = calls_of(config, asks.clock, {})
        made = [KINDS["digest"].run(Reasoner(asks.calls, asks.book, f"p_{number}")) for number in range(2)]
        assert KINDS["ask"].run(Reasoner(asks.calls, asks.book)).note.startswith(MODEL)
        assert [each.made_by for each in made] == [f"model:{MODEL}/1"] * 2
        assert len(first.requests) == bool(down)  # it is left alone for a while
        assert {request.headers["authorization"] for request in second.requests} == {"Bearer k2"}
        assert all(request.headers["x-api-key"] == "k1" for request in first.requests)
        asks.clock.advance(3_600)
        KINDS["reflect"].run(Reasoner(asks.calls, asks.book))
        assert len(first.requests) == 2 * bool(down)


def test_when_all_are_down_the_job_comes_back_when_the_first_may_answer(ledger: Evidence, tmp_path: Path) -> None:
    with serving([Reply(status=401)]) as one, serving([Reply(status=429, headers={"Retry-After": "90"})]) as two:
        config = configured(tmp_path, model="openai:a,openai:b,openai:c", model_url=f"{one.url},{two.url},{two.url}")
        asks = Asking(ledger, config, "", ())
        asks.calls = calls_of(config, asks.clock, {})
        with pytest.raises(BackOff) as first:
            KINDS["digest"].run(Reasoner(asks.calls, asks.book))
        asks.clock.advance(60)
        with pytest.raises(BackOff) as later:
            KINDS["digest"].run(Reasoner(asks.calls, asks.book))
        assert (first.value.seconds, later.value.seconds, len(one.requests), len(two.requests)) == (90.0, 30.0, 1, 2)


def test_a_caller_that_cannot_wait_gets_what_rules_make(asking: Asks) -> None:
    with serving([Reply(status=500)]) as server:
        asks = asking(server.url, MODEL)
        made = KINDS["digest"].run(asks.reasoner(give_way=True))
        assert (made.value, made.made_by, made.note) == (KINDS["digest"].by_rules, "rules/1", f"{MODEL} refused with status 500")
        with pytest.raises(Retry):
            KINDS["digest"].run(asks.reasoner())


RANKED = [
    ("tool", "user", "contradicts"), ("assistant", "human_file", "contradicts"), ("user", "tool", "supersedes"),
    ("assistant", "tool", "supersedes"),
]  # fmt: skip


@pytest.mark.parametrize(("newer", "older", "wanted"), RANKED)
def test_what_no_person_said_does_not_take_the_place_of_what_one_said(newer: str, older: str, wanted: str, asking: Asks) -> None:
    pair = Standing("m2", "We moved to MySQL", trust=newer), Standing("m1", "We use Postgres", trust=older)
    with serving([Reply('{"pairs": [{"id": "p1", "relation": "supersedes"}]}')]) as server:
        assert asking(server.url, MODEL).reasoner().relation([pair], list).value == [wanted]


def test_without_a_model_rules_decide_and_nothing_is_noted(tmp_path: Path) -> None:
    assert calls_of(configured(tmp_path), ManualClock(), {}) is None
    for kind in KINDS.values():
        assert kind.run(Reasoner(None)) == Made(kind.by_rules)


PRICED = {
    "anthropic:claude-haiku-4-5-20251001": Price(1.0, 5.0), "openai:gpt-4o-mini": Price(0.15, 0.6),
    "openai:org/gpt-5-mini": Price(0.25, 2.0),
    "gemini:gemini-2.5-flash-lite": Price(0.1, 0.4), "gemini:gemini-2.5-flash": Price(0.3, 2.5), "openai:something-new": UNKNOWN,
    "ollama:gpt-4o-mini": Price(0, 0), "claude-cli:haiku": Price(0, 0), "codex-cli:gpt-5-mini": Price(0, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", PRICED)
def test_a_model_has_the_price_of_the_table_or_the_one_that_is_set(name: str, tmp_path: Path) -> None:
    assert price_of(ModelName.of(name), configured(tmp_path)) == PRICED[name]
    set_here = configured(tmp_path, model=name, model_price_input="7", model_price_output="0")
    assert price_of(ModelName.of(name), set_here) == Price(7, 0)


def test_a_price_is_that_of_the_model_whose_place_it_stands_in(tmp_path: Path) -> None:
    chain = "openai:my-own,anthropic:claude-sonnet-4-5,openai:gpt-4o-mini"
    config = configured(tmp_path, model=chain, model_price_input="0", model_price_output="0,,9")
    told = [price_of(ModelName.of(each), config) for each in chain.split(",")]
    assert told == [Price(0, 0), Price(3, 15), Price(0.15, 9)]


def test_an_estimate_is_more_than_what_reading_takes(asking: Asks, tmp_path: Path) -> None:
    assert estimate(TURNS, configured(tmp_path)) == (0, 0, 0.0)
    config = configured(tmp_path, model="openai:gpt-4o-mini")
    one, two = estimate(TURNS, config), estimate(TURNS * 400, config)
    assert (one.calls, two.calls > 10) == (2, True)
    assert 0 < one.dollars < 0.01 < two.dollars
    assert one.tokens > 1_500
    assert estimate([], config) == (0, 0, 0.0)
