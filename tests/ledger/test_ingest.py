"""How a batch is put together: where it is cut, and what a line's header says was taken out of it."""

from __future__ import annotations

import pytest

from hindbrain.journal.read import Damage
from hindbrain.ledger.ingest import batches, redactions
from tests.ledger.making import record


@pytest.mark.parametrize(("told", "found"), [
    ("a:1,b:2", {"a": 1, "b": 2}), ("a:1,a:2", {"a": 3}), ("a:b:2", {"a:b": 2}), ("a", {"unreadable": 1}),
    ("a:0", {"unreadable": 1}), (":3", {"unreadable": 1}), ("a:99999999999999999999", {"unreadable": 1}),
    ("a:\u0664", {"unreadable": 1}), (",", {}),
])  # fmt: skip
def test_a_redaction_field_is_read_or_counted_as_unreadable(told: str, found: dict[str, int]) -> None:
    assert redactions(told) == found


def test_batches_are_cut_by_number_and_by_size_and_move_the_cursor_behind_their_last_item() -> None:
    items = [record(10 * number)[0] for number in range(5)]
    bad = Damage("0000000001-a-1", 50, 60, "torn", "cut", b"")
    cut = list(batches([*items, bad], lambda line: [], max_records=4))
    assert [(len(each.records), len(each.damages)) for each in cut] == [(4, 0), (1, 1)]
    assert [each.cursors for each in cut] == [{"segment:0000000001-a-1": 40}, {"segment:0000000001-a-1": 60}]
    assert len(list(batches(items, lambda line: [], max_bytes=20))) == 3
    assert list(batches([], lambda line: [])) == []
