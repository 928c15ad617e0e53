"""Any conversation and any budget: what is told never passes it, and is never empty while something fits."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from hindbrain import ConversationMemory
from hindbrain.recall.tokens import tokens_in

HEADER = "[Conversation Context]\n"
LABELS = {"user": "User: ", "assistant": "Assistant: "}
texts = st.one_of(
    st.text(max_size=60), st.text("ab \n漢", max_size=300), st.integers(0, 5000).map(lambda n: "word " * (n // 5)),
    st.sampled_from(["\n" * 50, "Assistant: x\n" * 9, "\u2028" * 30, "🏳️‍🌈" * 40]),
)  # fmt: skip
turns = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=12)
budgets = st.one_of(st.integers(0, 80), st.integers(0, 5000))


def talked(said: list[tuple[str, str]], max_turns: int, chars: int, tokens: int | None) -> ConversationMemory:
    memory = ConversationMemory(max_turns, chars, tokens)
    for role, text in said:
        memory.record_turn(role, text)
    return memory


@given(turns, st.integers(0, 7), budgets, st.none() | budgets, st.sampled_from(["", "word", "a b 漢漢", "x" * 99]))
@example([("user", "\n" * 40)], 5, 60, None, "")
@example([("user", "word " * 900), ("assistant", "word " * 900)], 1, 300, 90, "word")
def test_the_budget_is_never_passed(
    said: list[tuple[str, str]], max_turns: int, chars: int, tokens: int | None, prompt: str
) -> None:
    told = talked(said, max_turns, chars, tokens).format_context(prompt)
    assert len(told) <= chars
    assert tokens is None or tokens_in(told) <= tokens
    assert told == "" or told.startswith(HEADER)


@given(turns.filter(bool), st.integers(1, 7), budgets)
def test_the_newest_turn_is_told_at_least_in_part_while_one_letter_of_it_fits(
    said: list[tuple[str, str]], max_turns: int, chars: int
) -> None:
    role, text = said[-1]
    memory = talked(said, max_turns, chars, None)
    told = memory.format_context()
    first = (memory.turns[-1].text.splitlines() or [""])[0]
    least = HEADER + LABELS[role] + (first if len(memory.turns[-1].text) <= 1 else first[:1] + "…\n  ") + "\n"
    if len(least) <= chars:
        assert "\n" + LABELS[role] + first[:1] in told
    whole = HEADER + LABELS[role] + text + "\n"
    if len(whole) <= chars and text.isprintable():
        assert told.endswith(LABELS[role] + memory.turns[-1].text + "\n")


@given(turns, st.integers(0, 7), budgets)
def test_only_our_own_lines_begin_at_the_left_edge(said: list[tuple[str, str]], max_turns: int, chars: int) -> None:
    memory = talked(said, max_turns, chars, None)
    lines = memory.format_context("word").split("\n")
    left = [line for line in lines[1:-1] if not line.startswith("  ")]
    assert all(line.startswith(("User: ", "Assistant: ", "Earlier: ")) for line in left)
    assert sum(line.startswith(("User: ", "Assistant: ")) for line in left) <= len(said)


@given(turns, st.integers(0, 7))
def test_every_turn_is_either_kept_or_evicted_and_the_digest_counts_the_latter(
    said: list[tuple[str, str]], max_turns: int
) -> None:
    memory = talked(said, max_turns, 4000, None)
    assert [(turn.role, turn.text) for turn in (*memory.evicted, *memory.turns)] == [
        (turn.role, turn.text) for turn in talked(said, 100, 4000, None).turns
    ]
    gone = max(0, len(said) - max_turns)
    assert memory.digest.startswith(f"Earlier: {gone} turn") if gone else memory.digest == ""
    assert len(memory.digest) < 1500
    assert ConversationMemory.from_json(memory.to_json()) == memory
