"""Passages and sentences: places in the text that keep every word, whatever the text is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.recall.passages import MAX_PASSAGES, MAX_SENTENCES, PASSAGE_CHARS, WHOLE_CHARS, Span, passages, sentences

SENTENCE = "The billing service keeps its invoices in one table per year."
# Whatever a transcript may hold: any letters, lone surrogates and control letters included, in runs long enough to be cut.
PIECES = st.one_of(
    st.text(alphabet=st.characters(), max_size=40),
    st.sampled_from([SENTENCE, SENTENCE + " ", "\n\n", ". ", "? ", " " * 30, "x" * 450, "\0", "\ud800", "日本語の文です。"]),
    st.sampled_from(["| a | b |\n", "- one\n"]),
)
TEXTS = st.lists(PIECES, max_size=60).map("".join)


def cut(text: str, spans: list[Span]) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []), (" \n\t ", []), ("a", [(0, 1)]), ("  We use Postgres.\n", [(2, 18)]),
        ("a" * WHOLE_CHARS, [(0, WHOLE_CHARS)]), ("a" * (WHOLE_CHARS + 1), [(0, 400), (400, 501)]),
    ],
)  # fmt: skip
def test_a_short_text_is_one_passage_without_the_space_around_it(text: str, found: list[Span]) -> None:
    assert passages(text) == found


def test_a_long_text_is_cut_where_sentences_end() -> None:
    text = " ".join([SENTENCE] * 15)
    six = " ".join([SENTENCE] * 6)
    assert cut(text, passages(text)) == [six, six, " ".join([SENTENCE] * 3)]


def test_a_crumb_at_the_end_stays_with_the_passage_before_it() -> None:
    text = " ".join([*[SENTENCE] * 12, "Thanks, that will do for today."])
    six = " ".join([SENTENCE] * 6)
    assert cut(text, passages(text)) == [six, f"{six} Thanks, that will do for today."]


def test_lines_end_sentences_and_so_do_the_marks_of_scripts_without_spaces() -> None:
    text = "Ship it on Friday\nnot on Monday, please\n\n日本語の文です。次の文もあります。ok"
    assert cut(text, sentences(text)) == ["Ship it on Friday", "not on Monday, please", "日本語の文です。", "次の文もあります。"]


def test_a_sentence_too_long_for_a_passage_is_cut_between_words() -> None:
    text = "word " * 200
    assert {piece for span in cut(text, passages(text)) for piece in span.split()} == {"word"}
    assert " ".join(cut(text, passages(text))) == text.strip()


@given(TEXTS)
def test_passages_keep_every_letter_but_space_in_order_and_within_their_size(text: str) -> None:
    found = passages(text)
    assert all(start < end for start, end in found)
    assert all(before[1] <= behind[0] for before, behind in pairwise(found))
    assert all(piece == piece.strip() and len(piece) <= WHOLE_CHARS for piece in cut(text, found))
    assert "".join("".join(piece.split()) for piece in cut(text, found)) == "".join(text.split())
    assert len(found) <= 1 or len(found) <= 2 * (len(text) // PASSAGE_CHARS + 1)


@given(TEXTS)
def test_sentences_lie_in_the_text_in_order_and_within_a_passage(text: str) -> None:
    found = sentences(text)
    assert all(start < end <= start + PASSAGE_CHARS for start, end in found)
    assert all(before[1] <= behind[0] for before, behind in pairwise(found))
    assert all(piece == piece.strip() for piece in cut(text, found))


@pytest.mark.parametrize(
    ("name", "unit"),
    [("no space", "x"), ("spaces", " "), ("sentences", "a. "), ("line ends", "\n"), ("ideographs", "字"), ("ends", "。"),
     ("nul", "\0 "), ("surrogates", "\ud800"), ("marks", "?!")],
)  # fmt: skip
def test_five_million_letters_of_anything_have_at_most_so_many_passages(name: str, unit: str) -> None:
    text = unit * (5_000_000 // len(unit))
    assert len(passages(text)) <= MAX_PASSAGES
    assert len(sentences(text)) <= MAX_SENTENCES
