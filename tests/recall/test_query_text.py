"""Any text is a safe question: it finds what its plain words find, and is never an error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain import Memory
from hindbrain.recall.words import MAX_CHARS, MAX_WORDS, STOP_WORDS, match_expression, words_of
from tests.recall.homes import Said, told

WORDS = ["marmoset", "cage", "turquoise", "near", "and", "text", "rowid", "café", "数据库", "x1"]
# Pieces that mean something to FTS5, to SQL or to a terminal.
SYNTAX = [
    '"', "'", "(", ")", "*", "^", ":", "+", "-", "{", "}", ";", "--", "/*", "%", "_", "\\", "\n", "\x00", "\t", "🦖", "\u200b",
    "\ud800", "‮", " AND ", " OR ", " NOT ", " NEAR ", "NEAR(", "text:", "near:", "{text near}:", "rank", "turns_fts",
    '" OR "', "') DROP TABLE turns; --", "\x1b[31m", "''", '""', "?", "?1", ":name", "@x", "$y", "é", "ß",
]  # fmt: skip
HOSTILE = [
    "", "*", '"', '""', '"unbalanced', "marmoset*", "^marmoset", "text:marmoset", "near:marmoset", "{text near}: marmoset",
    "NEAR(marmoset cage, 2)", "marmoset NEAR cage", "marmoset AND", "AND", "OR OR", "NOT marmoset", "(marmoset", "marmoset)",
    "marmoset + cage", "-marmoset", "a:b:c", "rank MATCH 'bm25'", "'; DROP TABLE turns; --", "marmoset\x00cage", "\x00",
    "\ud800marmoset\udfff", "🦖 marmoset 👩‍👩‍👧", "marmoset" * 20_000, "x " * 50_000, "marmoset " + "?" * 100_000, "%", "_",
    "\\",
    "marmoset -- cage", "/* marmoset */", "‮tesomram", "\u200bmarmoset\u200b", "１２３", "ﬁ marmoset", "İstanbul marmoset",
    "\x1b[31mmarmoset\x1b[0m", "<b>marmoset</b>", "{}", "[]", "|", "&&", "||", "!!", "~", "`marmoset`", "$(marmoset)",
    "marmoset\r\ncage", "marmoset\u2028cage", "column:filter", "- near : cage", "turns_fts:marmoset", "marmoset^2",
    "\ufeffmarmoset", "'' AND ') DROP TABLE turns; --",
]  # fmt: skip


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    sayings = [Said(f"{one} {two} and text", session=f"s{number % 3}", minute=number + 1)
               for number, (one, two) in enumerate(zip(WORDS, WORDS[3:] + WORDS[:3], strict=True))]  # fmt: skip
    with told(Path(tmp_path_factory.mktemp("words")) / "home", sayings) as opened:
        yield opened


def plain(question: str) -> str:
    """The words of a question as a careful person would type them: nothing but letters, digits and single spaces."""
    return " ".join(re.findall(r"[^\W_]+", question[:MAX_CHARS]))


def answers_as_plain_words(memory: Memory, question: str) -> None:
    # not always in the same order: what stands in quotes, or is a path, is looked for letter for letter
    found = {hit.id for hit in memory.search(question, k=50, project="/p/one")}
    assert found == {hit.id for hit in memory.search(plain(question), k=50, project="/p/one")}
    asked = {word.lower() for word in plain(question).split()}
    if found:
        assert asked
    block = memory.context(question, project="/p/one")
    assert block.text == "" or block.text.endswith("</hindbrain-memory>")


@pytest.mark.parametrize("question", HOSTILE, ids=lambda text: ascii(text)[:24])
def test_syntax_in_a_question_is_only_text(memory: Memory, question: str) -> None:
    answers_as_plain_words(memory, question)


QUESTIONS = st.one_of(
    st.lists(st.sampled_from(WORDS + SYNTAX), max_size=12).map("".join),
    st.lists(st.sampled_from(WORDS + SYNTAX), max_size=12).map(" ".join),
    st.text(st.characters(), max_size=60),  # surrogates too
)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(question=QUESTIONS)
def test_any_text_is_a_safe_question(memory: Memory, question: str) -> None:
    answers_as_plain_words(memory, question)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(question=QUESTIONS)
def test_any_text_is_a_safe_question_many_times_over(memory: Memory, question: str) -> None:
    answers_as_plain_words(memory, question)


@given(text=st.text(st.characters(), max_size=200))
def test_words_can_be_quoted_and_are_bounded(text: str) -> None:
    words = words_of(text)
    assert len(words) <= MAX_WORDS
    assert all('"' not in word and "\x00" not in word and word.split() == [word] for word in words)
    assert match_expression(words).count('"') == 2 * len(words)
    assert len(set(words)) == len(words)


def test_stop_words_are_left_out_only_where_others_remain() -> None:
    assert words_of("What is the marmoset?") == ["marmoset"]
    assert words_of("What is the?") == ["what", "is", "the"]
    assert all(word == word.lower() for word in STOP_WORDS)
