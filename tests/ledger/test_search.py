"""Every turn is found at once by its words, and no text is taken for query syntax."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hindbrain.ledger.query import MAX_HITS
from hindbrain.ledger.store import Ledger
from tests.ledger.conftest import NewLedger
from tests.ledger.making import batch, event, record

TEXTS = {
    "a": "The migration failed because of a missing index", "b": "Indexes were added and the migrations ran",
    "c": "Na\u00efve caf\u00e9 r\u00e9sum\u00e9", "d": "src/hindbrain/ledger/store.py line 40",
    "e": "\u65e5\u672c\u8a9e text", "f": "AND OR NOT NEAR",
}  # fmt: skip


@pytest.fixture(scope="module")
def filled(new_ledger: NewLedger) -> Ledger:
    ledger = new_ledger()
    # a session each: the words of a turn's neighbours count for it too
    turns = [event(session=key, key=key, text=text) for key, text in TEXTS.items()]
    ledger.ingest(batch(*(record(10 * number, turn) for number, turn in enumerate(turns))))
    return ledger


@pytest.mark.parametrize(("words", "wanted"), [
    ("migrating", "ab"), ("INDEX", "ab"), ("cafe", "c"), ("resume", "c"), ("store.py", "d"), ("hindbrain/ledger", "d"),
    ("and", "bf"), ("NEAR", "f"), ("failed because", "a"),
    ("", ""), ("   ", ""), ("?!,;", ""), ('"', ""), ("nothinglikeit", ""), ("text", "e"),
])  # fmt: skip
def test_words_find_the_turns_that_hold_them(filled: Ledger, words: str, wanted: str) -> None:
    found = {hit.text for hit in filled.search(words)}
    assert found == {TEXTS[key] for key in wanted}


def test_the_better_fit_comes_first(filled: Ledger) -> None:
    hits = filled.search("missing index migration")
    assert [hit.text for hit in hits] == [TEXTS["a"], TEXTS["b"]]
    assert hits[0].score > hits[1].score > 0


def test_no_more_than_asked_for(filled: Ledger) -> None:
    assert len(filled.search("migration index", k=1)) == 1
    assert filled.search("migration", k=0) == [] == filled.search("migration", k=-5)
    assert len(filled.search("migration", k=10**30)) == 2 <= MAX_HITS


@given(st.text(max_size=200))
@example('" OR 1=1 --')
@example("text: x NEAR(a b, 3) ^a* {text}: - + ( ) AND")
@example("'; DROP TABLE turns; --")
@example("\ud800\x00\u202e")
@example("word " * 10_000)
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_safe_question(filled: Ledger, words: str) -> None:
    for hit in filled.search(words):
        assert hit.text in TEXTS.values()


@given(st.text(alphabet=st.characters(categories=["L", "N"]), min_size=1, max_size=30))
@settings(max_examples=50, deadline=None)
def test_quoting_and_operators_around_a_word_change_nothing(filled: Ledger, word: str) -> None:
    assert filled.search(f'"{word}" (*) ^') == filled.search(word)
