"""How a block is filled and laid out: the best first, rules within their share, the same lines in the same order."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain import Memory
from hindbrain.recall import block, context, rank
from hindbrain.recall.counting import counter
from hindbrain.recall.tokens import tokens_in
from tests.recall.homes import Said, by_hook, by_worker, payload, tell

DAY = 86_400_000


def said(number: int, text: str, session: str = "s_1", at: int | None = None) -> block.Item:
    return block.Item(f"e_{number:04x}", number * DAY if at is None else at, "user", text, session=session)


def rule(number: int, text: str) -> block.Item:
    return block.Item(f"m_{number:04x}", number * DAY, "preference, user", text, standing=True)


def body(text: str) -> list[str]:
    return text.split("\n")[1:-1]


def test_rules_stand_first_then_kept_statements_then_sessions_from_the_oldest_on() -> None:
    items = [
        said(9, "newest", "s_b"), said(3, "middle", "s_b"), rule(5, "tabs"), said(1, "oldest", "s_a"), rule(2, "short answers"),
        block.Item("m_0007", 7 * DAY, "decision, user, until 1970-01-20", "Postgres"),
    ]  # fmt: skip
    text, taken = block.pack(items, 1000)
    assert taken == items
    assert body(text) == [
        "Standing rules:", "[m_0002] preference, user: short answers", "[m_0005] preference, user: tabs",
        "Kept:", "[m_0007] 1970-01-08 decision, user, until 1970-01-20: Postgres",
        "1970-01-02:", "[e_0001] user: oldest",
        "1970-01-04:", "[e_0003] user: middle", "[e_0009] user: newest",
    ]  # fmt: skip


@given(seed=st.integers(0, 1 << 20))
def test_the_same_lines_are_the_same_bytes_whatever_their_rank(seed: int) -> None:
    items = [said(number, f"statement {number}", f"s_{number % 4}") for number in range(12)]
    items += [rule(20, "tabs"), rule(21, "short")]
    random.Random(seed).shuffle(items)
    assert block.pack(items, 10_000)[0] == block.pack(sorted(items, key=lambda item: item.id), 10_000)[0]


@pytest.mark.parametrize("count", [tokens_in, counter()])
def test_rules_leave_half_of_the_budget_to_what_fits(count: object) -> None:
    rules = [rule(number, f"rule number {number} " + "about something " * 8) for number in range(40)]
    facts = [said(number, f"fact number {number} " + "of some length " * 8) for number in range(40)]
    text, taken = block.pack([*rules, *facts], 1000, "", count)  # type: ignore[arg-type]
    spent = sum(count(line + "\n") for line in body(text) if line.startswith("[m_"))  # type: ignore[operator]
    assert 350 < spent <= 500
    assert sum(not item.standing for item in taken) >= 8
    # with little else to say they may have what is left, and with nothing else all
    few = sum(item.standing for item in block.pack([*rules, facts[0]], 1000, "", count)[1])  # type: ignore[arg-type]
    assert few > sum(item.standing for item in taken)
    assert len(block.pack(rules, 1000, "", count)[1]) >= few  # type: ignore[arg-type]


def test_what_does_not_fit_makes_room_for_what_is_smaller() -> None:
    items = [said(1, "alpha " * 50), said(2, "beta " * 90), said(3, "gamma"), said(4, "delta")]
    _, taken = block.pack(items, 240)
    assert [item.text.split()[0] for item in taken] == ["alpha", "gamma", "delta"]


@pytest.mark.parametrize("budget", [-5, 0, 1, 40, 41, 60, 10**9])
def test_any_budget_is_kept(budget: int) -> None:
    items = [said(number, f"statement {number} of many", f"s_{number}") for number in range(2000)]
    text, taken = block.pack(items, budget, "", counter())
    assert (text == "") == (taken == []) == (budget <= 41)
    assert len(text) <= block.MAX_BLOCK_CHARS and (budget < 10**9 or len(text) > 8000)
    assert tokens_in(text) <= max(budget * 2, 0)


def test_many_equal_lines_are_one() -> None:
    text, taken = block.pack([said(number, "The same Line", f"s_{number}") for number in range(100_000)], 10**6)
    assert len(taken) == 1 and body(text) == ["1970-01-01:", "[e_0000] user: The same Line"]


@settings(max_examples=50)
@given(texts=st.lists(st.text(max_size=60), max_size=8), labels=st.lists(st.text(max_size=60), min_size=8, max_size=8))
def test_every_line_begins_with_an_id_of_ours_or_is_a_heading_of_ours(texts: list[str], labels: list[str]) -> None:
    items = [
        block.Item(f"e_{number:04x}", DAY, label, text, session=f"s_{number}", where=label)
        for number, (text, label) in enumerate(zip(texts, labels, strict=False))
    ]  # fmt: skip
    text, taken = block.pack(items, 5000)
    lines = body(text) if text else []
    assert [line[:9] for line in lines if line.startswith("[")] == [f"[{item.id}] " for item in taken]
    assert all(re.match(r"\[e_00..\] |1970-01-02( .*)?:$", line) for line in lines)


def test_what_another_agent_said_is_marked_and_what_all_said_is_not(memory: Memory, home: Path) -> None:
    tell(memory, [
        "the marmoset cage is turquoise", Said("the marmoset cage was painted by hand", session="s2", agent="codex"),
    ])  # fmt: skip
    call = payload("UserPromptSubmit", "/p/one", "colour of the marmoset cage")
    for ask in (by_hook, by_worker):
        assert [line for line in body(ask(home, "UserPromptSubmit", call)) if not line.startswith("[")] == [
            "2026-03-01 claude-code:", "2026-03-01 codex:",
        ]  # fmt: skip


def test_what_holds_no_more_says_so(memory: Memory) -> None:
    (turn,) = tell(memory, ["the marmoset cage is turquoise"])
    hits = [
        rank.Found(turn, "turn", "user", "alpha", 0, "k", "a", "s", None, {}, "s_1", superseded=True),
        rank.Found("m_1", "decision", "user", "beta", 0, "m_1", "", "", None, {}, valid_to=DAY, superseded=True),
        rank.Found("m_2", "fact", "assistant", "gamma", 0, "m_2", "", "", None, {}),
    ]  # fmt: skip
    asked = context.Asked(rank.Scope(None), prompt="alpha beta gamma", rules=False, floor=1)
    ledger = memory._reader()
    assert ledger is not None
    with ledger.reading() as database:
        text, found = context.build(database, asked, search=lambda *_, **__: hits)
    assert {hit.text for hit in found} == {"alpha", "beta", "gamma"}
    assert sorted(line.partition("] ")[2] for line in body(text) if line.startswith("[")) == [
        "1970-01-01 decision, user, until 1970-01-02: beta", "1970-01-01 fact, assistant: gamma", "user, no longer so: alpha",
    ]  # fmt: skip


def test_across_projects_a_heading_names_the_project(memory: Memory) -> None:
    tell(memory, ["the marmoset cage is turquoise", Said("the marmoset cage is sold", session="s2", project="shop")])
    assert [line for line in body(memory.context("marmoset cage").text) if not line.startswith("[")] == [
        "2026-03-01 one:", "2026-03-01 shop:",
    ]  # fmt: skip


def test_the_same_prompt_is_told_the_same_bytes(memory: Memory, home: Path) -> None:
    tell(memory, [Said(f"marmoset cage fact {number}", session=f"s{number % 5}") for number in range(40)])
    call = payload("UserPromptSubmit", "/p/one", "which marmoset cage fact")
    assert by_hook(home, "UserPromptSubmit", call) == by_hook(home, "UserPromptSubmit", call) != ""
    assert memory.context("marmoset cage", project="/p/one").text == memory.context("marmoset cage", project="/p/one").text


@pytest.mark.parametrize("prompt", ["", "   ", "x" * 100_000, "marmoset " * 12_000, "🦖🫠" * 50, "\x00\ud800", "<b>" * 100])
def test_any_prompt_is_answered_in_the_form_or_not(memory: Memory, home: Path, prompt: str) -> None:
    tell(memory, ["the marmoset cage is turquoise"])
    assert memory.context(prompt, project="/p/one").text.count("\n") in (-1, 0, 3)
    assert by_worker(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", prompt)).count("\n") in (0, 3)


def test_a_turn_of_five_megabytes_costs_a_line(memory: Memory) -> None:
    tell(memory, ["marmoset cage " + "lorem ipsum " * 400_000, Said("the marmoset cage is turquoise", session="s2")])
    lines = body(memory.context("marmoset cage", project="/p/one").text)
    assert len(lines) == 4 and max(map(len, lines)) < 700
