"""What an agent is told: rules first, then what fits, nothing it has already, and nothing at all where nothing fits."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.event import session_id
from hindbrain.journal import losses
from hindbrain.ledger.store import Ledger
from hindbrain.serve.answer import known_text
from hindbrain.serve.asking import Asking
from tests.recall.homes import START, Said, by_hook, by_worker, context_of, payload, tell

Ask = Callable[[Path, str, dict[str, str]], str]
BOTH = pytest.mark.parametrize("ask", [by_hook, by_worker])
QUESTION = "which colour has the marmoset cage"
_ID = re.compile(r"^\[([em]_)[0-9a-f]{4,24}\]")


def lines_of(block: str) -> list[str]:
    """What stands inside the fence, ids without what differs from run to run."""
    return [_ID.sub(r"[\1]", line) for line in block.split("\n")[1:-1]]


@BOTH
def test_a_prompt_is_told_what_fits_it(memory: Memory, home: Path, ask: Ask) -> None:
    tell(memory, ["the marmoset cage is turquoise, a fine colour", Said("lunch is at noon", session="s2")])
    said = ask(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", QUESTION))
    assert lines_of(said) == ["2026-03-01:", "[e_] user: the marmoset cage is turquoise, a fine colour"]
    assert "lunch" not in said


@BOTH
@pytest.mark.parametrize("prompt", ["the weather in Lisbon", "marmoset feeding times", "", "go on", "?", "yes please do it now"])
def test_a_prompt_that_nothing_fits_is_told_nothing(memory: Memory, home: Path, ask: Ask, prompt: str) -> None:
    tell(memory, ["the marmoset cage is turquoise"])
    assert ask(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", prompt)) == ""


@BOTH
def test_a_prompt_of_one_word_needs_only_that_word(memory: Memory, home: Path, ask: Ask) -> None:
    tell(memory, ["the marmoset cage is turquoise"])
    assert "turquoise" in ask(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", "marmosets?"))


@BOTH
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_a_session_is_not_told_what_it_said_itself(memory: Memory, home: Path, ask: Ask, event: str) -> None:
    tell(memory, [Said("the marmoset cage is turquoise, a colour", session="mine")])
    assert ask(home, event, payload(event, "/p/one", QUESTION, session="mine")) == ""
    assert "turquoise" in ask(home, event, payload(event, "/p/one", QUESTION, session="yours"))


@BOTH
def test_what_tools_said_is_not_told(memory: Memory, home: Path, ask: Ask) -> None:
    tell(memory, [Said("marmoset cage colour turquoise", role="tool_result"), Said("marmoset cage colour red", role="tool_call")])
    assert ask(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", QUESTION)) == ""


@BOTH
def test_what_was_noted_as_told_is_not_told_again(memory: Memory, home: Path, ask: Ask) -> None:
    ids = tell(memory, ["the marmoset cage is turquoise, a colour", Said("hello", session="x")])
    with Ledger.open(Home(home).ledger, SystemClock()) as ledger:
        ledger.note_injections(session_id("claude-code", "x"), ids[:1], 1)
    assert ask(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", QUESTION, session="x")) == ""
    assert "turquoise" in ask(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", QUESTION, session="y"))


@BOTH
def test_rules_come_first_and_at_every_event_once(memory: Memory, home: Path, ask: Ask) -> None:
    tell(memory, ["the marmoset cage is turquoise, a colour"])
    memory.remember("answer in short sentences", kind="preference", project="/p/one")
    memory.remember("the marmoset cage colour was agreed on", kind="decision", project="/p/one")
    memory.settle()
    today = time.strftime("%Y-%m-%d", time.gmtime())
    assert lines_of(ask(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", QUESTION))) == [
        "Standing rules:",
        "[m_] preference, user: answer in short sentences",
        "Kept:",
        f"[m_] {today} decision, user: the marmoset cage colour was agreed on",
        "2026-03-01:",
        "[e_] user: the marmoset cage is turquoise, a colour",
    ]


@BOTH
def test_a_session_start_is_told_what_was_said_last_session_by_session(memory: Memory, home: Path, ask: Ask) -> None:
    tell(memory, [Said(f"saying number {number}", session=f"s{number % 3}", minute=number + 1) for number in range(30)])
    lines = lines_of(ask(home, "SessionStart", payload("SessionStart", "/p/one")))
    assert [line.rpartition(" ")[2] for line in lines] == [
        each for first in (18, 19, 20) for each in ("2026-03-01:", *(str(number) for number in range(first, 30, 3)))
    ]  # fmt: skip


@BOTH
def test_a_subagent_is_told_what_fits_its_parents_prompt(memory: Memory, home: Path, ask: Ask) -> None:
    tell(memory, ["the marmoset cage is turquoise, a colour"])
    memory.record(agent="claude-code", session="x", role="user", text=QUESTION, project="/p/one", at=START + timedelta(days=1))
    memory.settle()
    assert "turquoise" in ask(home, "SubagentStart", payload("SubagentStart", "/p/one", session="x", agent_id="a1"))


@BOTH
def test_equal_texts_are_told_once(memory: Memory, home: Path, ask: Ask) -> None:
    tell(memory, [Said("The marmoset cage colour is turquoise", session=f"s{number}", minute=number + 1) for number in range(4)])
    assert ask(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", QUESTION)).count("turquoise") == 1


@BOTH
def test_what_is_said_again_and_again_does_not_crowd_out_the_rest(memory: Memory, home: Path, ask: Ask) -> None:
    again = [Said(QUESTION, session=f"s{number}", minute=number + 1) for number in range(250)]
    tell(memory, [*again, Said("the marmoset cage is turquoise", session="answer", minute=99)])
    assert "turquoise" in ask(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", QUESTION))


def worker_asked(home: Path, asking: Asking, event: str, call: dict[str, str]) -> str:
    with Ledger.open(Home(home).ledger, SystemClock(), read_only=True) as ledger:
        return context_of(asking.answer(ledger, event, dict(call)), event)


def test_the_worker_tells_nothing_twice_until_the_session_is_compacted(memory: Memory, home: Path) -> None:
    ids = tell(memory, ["the marmoset cage is turquoise, a colour"])
    asking = Asking(Home(home), SystemClock())
    call = payload("UserPromptSubmit", "/p/one", QUESTION)
    assert "turquoise" in worker_asked(home, asking, "UserPromptSubmit", call)
    assert worker_asked(home, asking, "UserPromptSubmit", call) == ""
    hearer, told, _ = asking.told.get_nowait()
    assert (hearer, told) == (session_id("claude-code", call["session_id"]), ids)
    assert "turquoise" in worker_asked(home, asking, "SessionStart", payload("SessionStart", "/p/one", source="compact"))


@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md"])
def test_what_stands_in_the_projects_own_instructions_is_not_told(memory: Memory, home: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "repository"
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text("# House rules\n\n- The marmoset cage\n  is turquoise, a colour <b>\n")
    tell(memory, [
        Said("the marmoset   cage is TURQUOISE, a colour <b>", project=str(folder)),
        Said("the marmoset cage colour is green, not", project=str(folder)),
    ])  # fmt: skip
    for ask in (by_worker, by_hook):
        said = ask(home, "UserPromptSubmit", payload("UserPromptSubmit", str(folder), QUESTION))
        assert "green" in said and "TURQUOISE" not in said


def test_odd_things_in_place_of_instruction_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").mkdir()
    (tmp_path / "AGENTS.md").symlink_to("/dev/zero")
    (tmp_path / ".claude").symlink_to(tmp_path)
    before = len(list(Path("/dev/fd").iterdir()))
    assert [known_text(str(tmp_path)) for _ in range(20)] == [""] * 20
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_recent_loss_is_told_at_the_start_of_a_session(memory: Memory, home: Path) -> None:
    tell(memory, ["hello there"])
    losses.prepare(str(home).encode())
    assert losses.count(str(home).encode(), "enospc", {})
    said = by_worker(home, "SessionStart", payload("SessionStart", "/p/other"))
    assert "could not keep 1 events (enospc)" in said
    assert "could not keep" not in by_worker(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", QUESTION))


@pytest.mark.parametrize("budget", [0, 50, 120, 300, 1000])
def test_the_library_keeps_to_the_budget_and_says_what_is_in_the_block(memory: Memory, budget: int) -> None:
    ids = tell(memory, [f"marmoset number {number} " + "lives in the cage " * 5 for number in range(30)])
    block = memory.context("marmoset cage", project="/p/one", budget_tokens=budget)
    assert {hit.id for hit in block.hits} <= set(ids)
    told = re.findall(r"^\[(e_[0-9a-f]+)\]", block.text, re.MULTILINE)
    assert sorted(next(hit.id for hit in block.hits if hit.id.startswith(each)) for each in told) == sorted(
        hit.id for hit in block.hits
    )  # fmt: skip
    assert (block.text == "") == (budget <= 50)
