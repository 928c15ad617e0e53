"""What a model server may do to us, over a real socket: every kind of job, both protocols."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from hindbrain.base.errors import HindbrainError
from hindbrain.ledger.calls import Spent, calls, spent
from hindbrain.queues.job import BackOff, JobFailed, Retry
from hindbrain.reason.model.asked import Limits
from hindbrain.reason.model.failures import LEAST_WAIT, LIMITED_WAIT, LONGEST_WAIT
from tests.reason.model.asking import KEY, KINDS, NOON, PROTOCOLS, ROOMY, Asking, text_of
from tests.reason.model.model_server import Reply, serving

# One limit each: without it the server would have the last word, half a minute later. The first two run while the request is
# still being sent, so a busy machine needs room there.
SOON = Limits(total=2, connect=30, first_byte=60, idle=60)
FIRST_SOON = Limits(total=60, connect=30, first_byte=2, idle=60)
FLOWING = Limits(total=60, connect=30, first_byte=60, idle=0.2)
UNTAKEN = Limits(total=60, connect=0.2, first_byte=60, idle=60)
MODEL, RULES = "model", "rules"
LEAKY = json.dumps({"error": {"message": f"key {KEY} and password=hunter2hunter2 \x1b[31m", "type": "error"}}).encode()


@dataclass(frozen=True)
class Case:
    """What the server does, and what becomes of the job."""

    replies: Callable[[str], list[Reply]]
    ends: Any
    requests: int = 1
    paid: int = 0  # calls that are counted
    limits: Limits = field(default=ROOMY)
    says: str = ""


def refused(status: int, body: bytes = LEAKY, **headers: str) -> Callable[[str], list[Reply]]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda kind: [Reply(body=body, status=status, headers=named)]


def wrote(make: Callable[[str], str], **how: Any) -> Callable[[str], list[Reply]]:
    return lambda kind: [Reply(make(text_of(kind)), **how)]


def foreign(kind: str) -> list[Reply]:
    return [Reply(json.dumps(KINDS[kind].foreign))]


def doubled(text: str) -> str:
    """One name twice, its first value a harmless one."""
    name = text[1:].split(":")[0]
    return "{" + name + ": [], " + text[1:]


def mistyped(text: str) -> str:
    """The right names with a number behind each."""
    return json.dumps(dict.fromkeys(json.loads(text), 7))


CASES = {
    "429 with seconds": Case(refused(429, Retry_After="7"), BackOff("", seconds=7.0)),
    "429 with a date": Case(refused(429, Retry_After="Mon, 21 Sep 2026 12:00:40 GMT"), BackOff("", seconds=40.0)),
    "429 with a past date": Case(refused(429, Retry_After="Mon, 21 Sep 2020 12:00:40 GMT"), BackOff("", seconds=LEAST_WAIT)),
    "429 with ages": Case(refused(429, Retry_After="99999999999999"), BackOff("", seconds=LONGEST_WAIT)),
    "429 with nonsense": Case(refused(429, Retry_After="-3 minutes"), BackOff("", seconds=LIMITED_WAIT)),
    "429 without a word": Case(refused(429), BackOff("", seconds=LIMITED_WAIT)),
    "500": Case(refused(500), Retry),
    "502 with a page": Case(refused(502, b"<html><body>Bad Gateway</body></html>", Content_Type="text/html"), Retry),
    "429 with no time at all": Case(refused(429, Retry_After="0"), BackOff("", seconds=LEAST_WAIT)),
    "503 with seconds": Case(refused(503, Retry_After="8"), BackOff("", seconds=8.0)),
    "529 overloaded": Case(refused(529), Retry),
    "400": Case(refused(400), RULES),
    "401": Case(refused(401), RULES),
    "403": Case(refused(403), RULES),
    "401 with most of the key": Case(refused(401, f"Incorrect API key provided: {KEY[:30]}*****".encode()), RULES),
    "403 with the key escaped": Case(refused(403, "".join(f"\\u{ord(each):04x}" for each in KEY).encode()), RULES),
    "400 with the key on two lines": Case(refused(400, f"{KEY[:12]}\n{KEY[12:]} is wrong".encode()), RULES, says="**** is wrong"),
    "404 unknown model": Case(refused(404), RULES),
    "302 to elsewhere": Case(refused(302, b"", Location="http://127.0.0.2:9/v1/messages"), RULES),
    "nothing comes": Case(lambda kind: [Reply(hangs="head")], Retry, 1, 1, FIRST_SOON, "answer in time"),
    "half of it comes": Case(lambda kind: [Reply(text_of(kind), hangs="body")], Retry, 1, 1, FLOWING, "in full in time"),
    "a byte at times": Case(lambda kind: [Reply(body=b"{", drips=True, announced=10**6)], Retry, 1, 1, SOON, "in full in time"),
    "reset": Case(lambda kind: [Reply(text_of(kind), resets=True)], Retry, paid=1),
    "broken off": Case(lambda kind: [Reply(text_of(kind), announced=10**5)], Retry, paid=1),
    "cut JSON": Case(wrote(lambda text: text[:-9]), RULES, 2, 2),
    "cut by the limit of tokens": Case(wrote(lambda text: text[:-9], stop="length"), RULES, 2, 2),
    "wrong shape": Case(wrote(lambda text: '{"result": "ok"}'), RULES, 2, 2),
    "wrong types": Case(wrote(mistyped), RULES, 2, 2),
    "a list": Case(wrote(lambda text: f"[{text}, {text}]"), RULES, 2, 2),
    "fenced": Case(wrote(lambda text: f"```json\n{text}\n```"), MODEL, 1, 1),
    "between sentences": Case(wrote(lambda text: f"Sure! Here it is:\n{text}\nAnything else?"), MODEL, 1, 1),
    "prose": Case(wrote(lambda text: "I could not find anything."), RULES, 2, 2),
    "empty": Case(wrote(lambda text: ""), RULES, 2, 2),
    "NaN": Case(wrote(lambda text: text[:-1] + ', "score": NaN}'), RULES, 2, 2),
    "a name twice": Case(wrote(doubled), RULES, 2, 2),
    "refusal": Case(wrote(lambda text: "I cannot help with that.", stop="refusal"), RULES, 2, 2),
    "ids never offered": Case(foreign, RULES, 2, 2),
    "10 MB": Case(lambda kind: [Reply(text_of(kind) + " " * (10 << 20))], RULES, 2, 2),
    "10 MB of nothing": Case(lambda kind: [Reply(body=b"[" * (10 << 20), announced=99_999_999)], RULES, 2, 2),
    "200 with a page": Case(lambda kind: [Reply(body=b"<html>Welcome to the portal</html>")], RULES, 2, 2),
    "200 with other JSON": Case(lambda kind: [Reply(body=b'{"status": "ok"}')], RULES, 2, 2),
    "charset latin-1": Case(lambda kind: [Reply(text_of(kind), charset="iso-8859-1")], MODEL, 1, 1),
    "charset utf-16": Case(lambda kind: [Reply(text_of(kind), charset="utf-16")], MODEL, 1, 1),
    "a charset nobody reads": Case(lambda kind: [Reply(text_of(kind), charset="cp037")], RULES, 2, 2),
    "not the charset it says": Case(wrote(lambda text: f"Voilà: {text}", encoding="iso-8859-1"), RULES, 2, 2),
    "bytes that are no text": Case(lambda kind: [Reply(body=b'{"id": "\xff\xfe"}')], RULES, 2, 2),
    "wrong, then right": Case(lambda kind: [Reply("no"), Reply(text_of(kind))], MODEL, 2, 2),
    "wrong, then 500": Case(lambda kind: [Reply("no"), Reply(body=LEAKY, status=500)], Retry, 2, 1),
}  # fmt: skip


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_whatever_a_server_does_the_job_ends_in_the_right_way(
    name: str, kind: str, protocol: str, asking: Callable[..., Asking], caplog: pytest.LogCaptureFixture
) -> None:
    case, model = CASES[name], PROTOCOLS[protocol]
    caplog.set_level(logging.DEBUG)
    with serving(case.replies(kind)) as server:
        asks = asking(server.url, model, limits=case.limits)
        if case.ends in (MODEL, RULES):
            made = KINDS[kind].run(asks.reasoner())
            wanted = (KINDS[kind].by_model, f"model:{model}/1") if case.ends == MODEL else (KINDS[kind].by_rules, "rules/1")
            assert (made.value, made.made_by) == wanted
            assert bool(made.note) == (case.ends == RULES)
            said = made.note
        else:
            said = failed(KINDS[kind].run, asks, case.ends)
        assert (server.asked(case.requests), case.says in said) == (case.requests, True)
        sent = [request.headers.get("authorization") or request.headers.get("x-api-key", "") for request in server.requests]
        assert [each.removeprefix("Bearer ") for each in sent] == [KEY] * case.requests
    with asks.ledger.reading() as database:
        kept = calls(database)
    assert [each.kind for each in kept if each.output_tokens] == [kind] * case.paid
    assert {event.key for event in asks.journal} == {each.key for each in kept}
    told = said + caplog.text + "".join(each.reply for each in kept)
    assert KEY not in told and "hunter2" not in told and "\x1b" not in said
    assert [KEY[at : at + 8] for at in range(len(KEY) - 7) if KEY[at : at + 8] in "".join(told.split())] == []
    assert "port 8085" not in caplog.text and "Postgres" not in caplog.text  # what was said is not in the log either


def failed(run: Callable[..., object], asks: Asking, wanted: Any) -> str:
    """That the job fails in this way; what it says."""
    with pytest.raises(JobFailed) as raised:
        run(asks.reasoner())
    error = raised.value
    if isinstance(wanted, BackOff):
        assert isinstance(error, BackOff) and (error.seconds, error.rising) == (wanted.seconds, True)
    else:
        assert type(error) is wanted
    links: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in links:  # a log writes the whole chain down
        links.append(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "".join(f"{each}{getattr(each, 'hint', '')}" for each in links)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_is_not_there_makes_the_job_come_back(kind: str, protocol: str, asking: Callable[..., Asking]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        asks = asking(f"http://127.0.0.1:{free.getsockname()[1]}", PROTOCOLS[protocol])
        assert "cannot be reached" in failed(KINDS[kind].run, asks, Retry)
    with asks.ledger.reading() as database:
        assert spent(database, 0) == Spent(0, 0, 0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_does_not_take_the_connection_is_given_up(kind: str, protocol: str, asking: Callable[..., Asking]) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(3)]  # they fill the queue of connections nobody takes
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        asks = asking(f"http://127.0.0.1:{full.getsockname()[1]}", PROTOCOLS[protocol], limits=UNTAKEN)
        said = failed(KINDS[kind].run, asks, Retry)
        assert "cannot be reached" in said or "did not answer" in said
        for each in waiting:
            each.close()


def test_the_date_in_the_cases_is_told_by_the_clock_of_the_tests() -> None:
    assert NOON == 1_790_000_000_000 // 86_400_000 * 86_400_000 + 43_200_000


def test_a_key_that_is_missing_is_said_before_anybody_is_asked(asking: Callable[..., Asking], tmp_path: Any) -> None:
    from hindbrain.reason.model.asked import ModelName
    from hindbrain.reason.model.client import Hosted
    from hindbrain.reason.model.prompts import relate

    with serving() as server, pytest.raises(HindbrainError) as refused_without:
        asks = asking(server.url, PROTOCOLS["anthropic"])
        Hosted(ModelName.of(PROTOCOLS["anthropic"]), server.url, "", ROOMY, asks.clock).ask(relate([]))
    assert (refused_without.value.message, server.requests) == ("anthropic:claude-haiku-4-5 needs a key", [])
