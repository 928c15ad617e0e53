"""A memory's words in Markdown: they show as they are, and nothing but them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from hindbrain.base.errors import UsageError
from hindbrain.wiki.text import escaped, folded, mark, memory_of, parted, plain, tailed
from tests.wiki.made import WORDS

MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})
ITEM = [
    "bullet_list_open",
    "list_item_open",
    "paragraph_open",
    "inline",
    "paragraph_close",
    "list_item_close",
    "bullet_list_close",
]
MANY = settings(max_examples=200, deadline=None)


@given(WORDS)
@MANY
def test_any_words_come_back_letter_for_letter(words: str) -> None:
    assert plain(escaped(words)) == folded(words)
    assert "\n" not in escaped(words)
    escaped(words).encode("utf-8")


@given(WORDS)
@MANY
def test_any_words_stay_the_text_of_their_list_item(words: str) -> None:
    tokens = MARKDOWN.parse(f"- {escaped(words)} end\n")
    assert [token.type for token in tokens] == ITEM
    assert {child.type for child in tokens[3].children or ()} <= {"text", "text_special", "code_inline"}


@given(WORDS)
@MANY
def test_any_struck_words_stay_the_text_of_their_list_item(words: str) -> None:
    tokens = MARKDOWN.parse(f"- ~~x{escaped(words)}~~ end\n")
    assert [token.type for token in tokens] == ITEM
    assert {child.type for child in tokens[3].children or ()} <= {"text", "text_special", "code_inline", "s_open", "s_close"}


@given(WORDS)
@MANY
def test_no_words_are_a_mark_a_link_or_a_tail(words: str) -> None:
    shown = escaped(words)
    assert parted(shown) == (shown, "")
    live = re.sub(r"\\.|`[^`]+`", "x", shown)  # what is left out stands between its neighbours
    assert [each for each in ("[", "]", "^", "<", "`", "$", "*", "|", "%%", "==", "://") if each in live] == []
    assert all(letter.isprintable() or letter in "\u200c\u200d" for letter in shown)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("`uv sync --python 3.12` rebuilds it", "`uv sync --python 3.12` rebuilds it"),
        ("call `x[[y]]`", r"call \`x\[\[y\]\]\`"),
        ("hotfix/<version>", r"hotfix/\<version>"), ("snake_case and __init__", r"snake_case and \_\_init\_\_"),
        ("# no heading", r"\# no heading"), ("- no list", r"\- no list"), ("1. no list", r"1\. no list"),
        ("> no quote", r"\> no quote"),
        ("see [[soul]]", r"see \[\[soul\]\]"), ("C:\\Users\\me", "C:\\Users\\me"), ("C# and #tag", r"C# and \#tag"),
        ("~/bin and R&D", r"\~/bin and R&D"), ("a\u202eb", r"a\u{202e}b"), ("one\n\ntwo", "one two"), ("", ""),
        ("done ^m-12ab", r"done \^m-12ab"), ("it is (because: x)", r"it is \(because: x)"),
    ],
)  # fmt: skip
def test_only_what_would_do_something_is_escaped(words: str, shown: str) -> None:
    assert escaped(words) == shown


def test_what_a_person_types_without_escaping_is_taken_as_it_stands() -> None:
    assert plain("use *all* of `a\\_b` [[x]] & C:\\new") == "use *all* of `a\\_b` [[x]] & C:\\new"
    assert plain(r"\u{41} and \u{110000} and \u{202e}") == "\\u{41} and \\u{110000} and \u202e"


@given(WORDS, WORDS)
@MANY
def test_a_tail_comes_off_whatever_words_stand_before_and_in_it(words: str, why: str) -> None:
    shown = tailed(escaped(words), [f"because: {escaped(why)}"])
    before, tail = parted(shown)
    assert plain(before) == folded(words)
    assert plain(tail) == folded(f"(because: {folded(why)})")


def test_a_mark_stands_for_one_memory() -> None:
    assert mark("m_5b1c") == "^m-5b1c"
    assert memory_of("^m-5b1c") == memory_of("m-5b1c") == "m_5b1c"


@pytest.mark.parametrize("bad", ["", "m_", "m_5 b", "m_5\n", "../m_5", "m-5", "M_5", "m_" + "5" * 65])
def test_what_is_no_id_gets_no_mark(bad: str) -> None:
    with pytest.raises(UsageError):
        mark(bad)
    with pytest.raises(UsageError):
        memory_of(bad.replace("_", "-") if "-" not in bad else bad.replace("-", "_"))
