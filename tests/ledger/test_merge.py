"""Merging deliveries is commutative, associative and idempotent, so order and repetition cannot matter."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.ledger.merge import Content, Piece, json_text, merged, traces_of

# One id; a text belongs to its place in the journal, as it does in life.
_PIECES = st.builds(
    lambda at, origin, place, source: Piece(
        "e", "s", "turn", "user", "k", at, origin, f"seg{place // 3}", place, source, Content(f"text {place}", "", "{}")
    ),
    st.integers(0, 5), st.sampled_from([1, 2, 4, 8]), st.integers(0, 5),
    st.sampled_from([None, ("/a", 1, 2), ("/a", 3, 4), ("/b", 0, 1)]),
)  # fmt: skip


@given(_PIECES, _PIECES)
def test_order_does_not_matter(one: Piece, other: Piece) -> None:
    assert merged(one, other) == merged(other, one)


@given(_PIECES, _PIECES, _PIECES)
def test_grouping_does_not_matter(one: Piece, two: Piece, three: Piece) -> None:
    assert merged(merged(one, two), three) == merged(one, merged(two, three))


@given(_PIECES, _PIECES)
def test_repetition_does_not_matter(one: Piece, other: Piece) -> None:
    once = merged(one, other)
    assert merged(once, one) == once == merged(once, other) == merged(once, once)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20,
))  # fmt: skip
def test_any_detail_becomes_json_that_every_engine_reads(value: object) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    text = json_text({"value": value})  # type: ignore[dict-item]
    text.encode()
    json.loads(text, parse_constant=refuse)


def test_traces_are_found_alone_and_in_lists_and_once_each() -> None:
    detail = {"file": "/a", "action": "read", "traces": [{"file": "/a", "action": "read"}, {"command": "ls"}, {"error": True}, 7]}
    assert list(traces_of(detail)) == [("file", "read", "/a"), ("command", "", "ls"), ("error", "", "")]  # type: ignore[arg-type]
