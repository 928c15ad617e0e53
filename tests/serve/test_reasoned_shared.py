"""Asking, reviewing, showing why, dreaming and the meter say the same where the ledger is shared."""

from __future__ import annotations

import pytest

from hindbrain.ledger.calls import Call, put_call
from hindbrain.ledger.postgres.store import PostgresLedger
from tests.serve.commands import CommandLine
from tests.serve.reasoned_home import Found, fill
from tests.serve.web_pages import CLOCK, config_of, served


@pytest.fixture
def found(run: CommandLine, pg_url: str, monkeypatch: pytest.MonkeyPatch) -> Found:
    monkeypatch.setenv("HINDBRAIN_DATABASE", pg_url)
    return fill(run.home, str(run.folder), pg_url)


def test_a_question_is_answered_or_not_known(run: CommandLine, found: Found) -> None:
    answer = run.one("ask", "which database for orders?")
    assert answer["known"] and answer["ledger"] == "shared"
    assert found.turns["new"] in [each["id"] for each in answer["evidence"]][:2]
    assert run("ask", "what is the wifi password?").code == 9


def test_what_waits_is_listed_and_decided_on(run: CommandLine, found: Found) -> None:
    ids = found.memories
    assert {each["id"]: each["reason"] for each in run.one("review")} == {
        ids["maybe"]: "confidence", ids["evil"]: "quarantine", ids["contradiction"]: "contradiction",
    }  # fmt: skip
    assert run("review", "accept", ids["tabs"], ids["evil"]).code == 0
    (made,) = run.one("review", "edit", ids["maybe"], "Deploy on Thursday")["ids"]
    assert run.one("review") == []
    assert run.one("show", ids["never"])["superseded_by"] == ids["tabs"]
    assert run.one("show", made)["supersedes"] == [ids["maybe"]]


def test_a_memory_tells_why_it_stands(run: CommandLine, found: Found) -> None:
    tree = run.one("show", found.memories["new"], "--why")["lineage"]
    assert ([each["id"] for each in tree["turns"]], [each["id"] for each in tree["memories"]], tree["seen"]) == (
        [found.turns["new"]], [found.memories["old"]], 2,
    )  # fmt: skip


def test_a_dream_is_dreamt_and_taken_back(run: CommandLine, found: Found) -> None:
    (dreamt,) = run.one("dream", "--deep")
    assert [each["dream"] for each in run.one("dream", "--list")] == [dreamt["dream"]]
    assert run("dream", "--undo", dreamt["dream"]).code == 0 and run.one("dream", "--list") == []


def test_status_tells_of_the_ledger_that_keeps_the_memories(
    run: CommandLine, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasoning = run.one("status")["reasoning"]
    assert (reasoning["memories"], reasoning["review"]) == ({"contradiction": 1, "decision": 2, "instruction": 2, "task": 1}, 3)
    monkeypatch.setenv("HINDBRAIN_DATABASE", "postgresql://ada@127.0.0.1:1/none")
    assert run.one("status")["reasoning"] is None
    assert "memories  unknown: the shared ledger does not answer\n" in run("status").out


def test_the_calls_of_all_machines_are_listed_and_shown(run: CommandLine, found: Found, pg_url: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK) as ledger, ledger.writing() as database:
        put_call(database, Call("q1/000000000001", CLOCK.now_ms(), "openai", "small", "extract", "", None, 1_000, 50, 2_500))
    assert [(each["model"], each["outcome"]) for each in run.one("calls")] == [("small", "unknown")]
    with served(config_of(run.home.root, {"DATABASE": pg_url, "MODEL": "openai:small", "MODEL_KEY": "sk-x"})) as server:
        pages = [server.ask(path, Cookie=server.cookie()) for path in ("/", "/calls")]
    assert [each.status for each in pages] == [200, 200]
    assert "1,050 of 500,000" in pages[0].body and "openai:small" in pages[1].body


def test_while_the_shared_ledger_is_away_the_page_says_so(run: CommandLine, found: Found) -> None:
    with served(config_of(run.home.root, {"DATABASE": "postgresql://ada@127.0.0.1:1/none"})) as server:
        first, second = (server.ask(path, Cookie=server.cookie()) for path in ("/", "/calls"))
    assert (first.status, second.status) == (200, 503)
    assert "Not known: the shared ledger does not answer." in first.body and "captured" in first.body
