"""A dream is dreamt when asked for, says what it changed, and can be taken back as a whole; status tells what there is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.ledger import reasoned
from hindbrain.ledger.calls import Call, put_call
from hindbrain.ledger.statement import Statement
from hindbrain.ledger.store import Ledger
from hindbrain.serve.memory import Memory
from hindbrain.serve.reasoning_state import Meter, Reasoning, dollars
from tests.serve.commands import CommandLine, Ran, at
from tests.serve.reasoned_home import Found, fill


def say_twice(run: CommandLine) -> list[str]:
    """Two memories of two sessions that say the same."""
    turns = []
    with Memory(run.home.root) as memory:
        for number, text in enumerate(("Always run ruff before you commit", "always run ruff before you commit.")):
            turns.append(memory.record(
                agent="claude-code", session=f"s{number}", role="user", text=text, at=at(1 + number), project=str(run.folder)
            ))  # fmt: skip
        memory.settle_here()
    made = []
    with Ledger.open(run.home.ledger, SystemClock()) as ledger, ledger.writing() as database:
        database.execute("DELETE FROM jobs")
        for turn in turns:
            session, text = database.execute("SELECT session_id, text FROM turns WHERE id = ?", (turn,)).fetchone()
            found = Statement("instruction", text.rstrip("."), (turn,), text.rstrip("."), 0.9)
            reasoned.put(database, session, "rules/1", [found], 1)
            made.append(found.id)
    return made


def standing(run: CommandLine) -> set[str]:
    with Memory(run.home.root) as memory:
        return {each.id for each in memory.memories()}


def test_a_dream_joins_what_says_the_same_and_is_taken_back_as_a_whole(run: CommandLine) -> None:
    made = say_twice(run)
    (thought,) = run.one("dream", "--dry-run")
    assert thought["memories"] == 1 and "says the same" in thought["changes"][0] and standing(run) == set(made)
    (dreamt,) = run.one("dream")
    (left,) = standing(run)
    (gone,) = set(made) - {left}
    assert run.one("show", gone)["superseded_by"] == left
    assert [each["dream"] for each in run.one("dream", "--list")] == [dreamt["dream"]]
    ran = run("dream", "--undo", dreamt["dream"])
    assert ran.code == 0 and ran.out.endswith(f" before {dreamt['dream']}\n")
    assert standing(run) == set(made) and run.one("dream", "--list") == []
    assert run("dream", "--undo", dreamt["dream"]).code == 6


def test_a_dream_asked_for_again_finds_nothing_to_change(run: CommandLine) -> None:
    say_twice(run)
    assert run("dream").code == 0
    assert run("dream") == Ran(0, "", "nothing was to be changed\n")
    assert run("dream", "--dry-run") == Ran(0, "", "nothing would be changed\n")


def test_a_deep_dream_need_not_wait_for_an_idle_hour_when_a_person_asks(run: CommandLine) -> None:
    say_twice(run)
    run.one("remember", "I prefer answers in British English", "--kind", "preference", "--global")
    (dreamt,) = run.one("dream", "--deep")
    assert dreamt["dream"].startswith("deep@")
    done = [job for job in run.one("jobs", "list", "--kind", "dream") if job["key"] == "deep"]
    assert [job["state"] for job in done] == ["done"]


def test_a_project_nobody_knows_has_no_dreams(run: CommandLine, tmp_path: Path) -> None:
    say_twice(run)
    ran = run("dream", "--project", str(tmp_path / "elsewhere"))
    assert (ran.code, ran.out) == (0, "") and "nothing is stored of the project" in ran.err


def test_a_dream_that_cannot_be_dreamt_is_an_error_and_changes_nothing(run: CommandLine) -> None:
    made = say_twice(run)
    with Ledger.open(run.home.ledger, SystemClock()) as ledger, ledger.writing() as database:
        database.execute("UPDATE memories SET detail = 'no json' WHERE id = ?", (made[0],))
    ran = run("dream", "--deep")
    assert (ran.code, ran.out) == (5, "") and ran.err.startswith("error: the dream failed: ")
    assert ran.err.endswith("hint: nothing was changed; the worker tries it again\n")


def test_status_counts_what_stands_what_waits_and_what_was_replaced(run: CommandLine, found: Found) -> None:
    lines = {line[:9].rstrip(): line[10:] for line in run("status").out.splitlines()}
    assert lines["memories"] == "6 stand: contradiction 1, decision 2, instruction 2, task 1; 1 replaced"
    assert lines["reasoning"] == "3 wait for `hindbrain review`, 0 sessions wait to be read"
    assert lines["model"] == "none configured: everything goes by rules"
    data = run.one("status")["reasoning"]
    assert (data["memories"], data["replaced"], data["review"], data["sessions_waiting"]) == (
        {"contradiction": 1, "decision": 2, "instruction": 2, "task": 1}, 1, 3, 0,
    )  # fmt: skip
    assert (data["model"]["on"], data["model"]["at_the_cap"]) == (False, False)


def test_status_says_how_many_sessions_wait_to_be_read(run: CommandLine) -> None:
    with Memory(run.home.root) as memory:
        memory.record(agent="claude-code", session="s", role="user", text="always use uv", project=str(run.folder))
        memory.settle_here()
    assert run.one("status")["reasoning"]["sessions_waiting"] == 1
    with Memory(run.home.root) as memory:
        memory.settle()
    assert run.one("status")["reasoning"]["sessions_waiting"] == 0


def test_the_meter_tells_tokens_and_money_of_today_by_kind_and_the_cap(
    run: CommandLine, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = SystemClock().now_ms()
    with Ledger.open(run.home.ledger, SystemClock()) as ledger, ledger.writing() as database:
        put_call(database, Call("k1", now, "openai", "small", "extract", "{}", None, 1_000, 200, 30_000))
        put_call(database, Call("k2", now, "openai", "small", "ask", "{}", None, 300, 100, 10_000))
        put_call(database, Call("old", now - 2 * 86_400_000, "openai", "small", "ask", "{}", None, 9_000, 9_000, 900_000))
    monkeypatch.setenv("HINDBRAIN_MODEL", "openai:small,ollama:tiny")
    monkeypatch.setenv("HINDBRAIN_MODEL_NIGHT", "true")  # the line is the same at every hour
    (line,) = [line for line in run("status").out.splitlines() if line.startswith("model ")]
    assert line == (
        "model     openai:small, then ollama:tiny; today 1,600 of 500,000 tokens, $0.04 of $0.50 (ask 400, extract 1,200)"
    )
    monkeypatch.setenv("HINDBRAIN_MODEL_DAILY_COST", "0.04")
    assert "; at the cap, working without the model: the day's money is used up: " in run("status").out
    monkeypatch.setenv("HINDBRAIN_MODEL_DAILY_TOKENS", "1600")
    data = run.one("status")["reasoning"]["model"]
    assert data["at_the_cap"] and data["today"] == {"tokens": 1_600, "cost": 0.04, "calls": 2}
    assert "; at the cap, working without the model: the day's tokens are used up: 1,600 of 1,600" in run("status").out


@pytest.mark.parametrize(
    ("micros", "shown"), [(0, "0.00"), (40_000, "0.04"), (123, "0.000123"), (9_000, "0.009"), (1_500_000, "1.50")]
)
def test_less_than_a_cent_is_told_too(micros: int, shown: str) -> None:
    assert dollars(micros) == shown


def test_an_empty_look_is_told_in_plain_words() -> None:
    nothing = Reasoning(meter=Meter())
    assert (nothing.memories, nothing.waiting) == ("none yet", "nothing to review, 0 sessions wait to be read")
    assert json.dumps(nothing.as_data())


@pytest.fixture
def found(run: CommandLine) -> Found:
    return fill(run.home, str(run.folder))


def test_what_a_dream_joined_is_told_as_what_holds(run: CommandLine) -> None:
    made = say_twice(run)
    run.one("dream")
    (left,) = standing(run)
    (gone,) = set(made) - {left}
    shown = run("show", gone, "--why").out
    assert f"joined    with {left} at " in shown and "no longer holds" not in shown and "replaced" not in shown
    assert (run.one("show", gone)["joined"], run.one("show", left)["joined"]) == (True, False)
    assert (run.one("show", left)["stands_for"], run.one("show", left)["supersedes"]) == ([gone], [])
    tree = run("show", left, "--why").out
    assert f"joined    [{gone}]" in tree and ", until " not in tree
    with Memory(run.home.root) as memory:
        found = memory.search("run ruff before you commit", project=str(run.folder))
        assert found and not any(hit.superseded for hit in found)
        assert "no longer" not in memory.ask("what do I run before I commit?", project=str(run.folder)).text
    assert "no longer so" not in run("context", "what do I run before I commit, ruff?").out
