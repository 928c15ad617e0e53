"""The ledger's SQL becomes PostgreSQL's by a few mechanical steps, and everything else stays as it is."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from hindbrain.ledger.postgres.connect import _LONG, to_postgres


@pytest.mark.parametrize(("ours", "theirs"), [
    ("SELECT ? + ?", "SELECT %s + %s"),
    ("WHERE a = :name AND b = :other_1", "WHERE a = %(name)s AND b = %(other_1)s"),
    ("SELECT a::text, :b::bigint", "SELECT a::text, %(b)s::bigint"),
    ("SELECT '?', ':x', 'it''s ?', \"odd ?:x\"", "SELECT '?', ':x', 'it''s ?', \"odd ?:x\""),
    ("SELECT 7 % 2, '100%', ?", "SELECT 7 %% 2, '100%%', %s"),
    ("SELECT 1 -- why ? :x\n, ?", "SELECT 1 -- why ? :x\n, %s"),
    ("SELECT 1 /* why ? \n :x */, ?", "SELECT 1 /* why ? \n :x */, %s"),
    ("SELECT '$.source', a[1:2]", "SELECT '$.source', a[1:2]"),
    ("ON CONFLICT (id) DO NOTHING", "ON CONFLICT (tenant, id) DO NOTHING"),
    ("on conflict\n (segment, start) DO UPDATE", "on conflict\n (tenant, segment, start) DO UPDATE"),
    ("ON CONFLICT (machine, cwd) DO UPDATE", "ON CONFLICT (tenant, machine, key_of(cwd)) DO UPDATE"),
    ("ON CONFLICT DO NOTHING", "ON CONFLICT DO NOTHING"),
    ("SELECT 'ON CONFLICT (id)'", "SELECT 'ON CONFLICT (id)'"),
    ("id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))", "id IN (SELECT value FROM json_numbers(%s))"),
    ("id IN (SELECT value FROM json_each(?))", "id IN (SELECT value FROM json_each(%s))"),
])  # fmt: skip
def test_what_differs_is_rewritten_and_nothing_else(ours: str, theirs: str) -> None:
    assert to_postgres(ours) == theirs


def test_every_index_of_a_long_text_is_one_the_translation_names() -> None:
    """A conflict with a text of any length is found through key_of(): both sides must list the same columns."""
    first = (files("hindbrain.ledger.postgres") / "migrations" / "0001_first.sql").read_text("utf-8")
    unique = re.findall(r"CREATE UNIQUE INDEX \w+ ON \w+ \(.*key_of\((\w+)\)", first)
    assert set(unique) == {*_LONG, "rule"}, "a rule's conflict is told without naming columns"


def test_numbers_of_a_list_are_asked_for_in_words_the_translation_knows() -> None:
    """Said otherwise, the lookup would still work, and read whole tables."""
    texts = {str(path): path.read_text("utf-8") for path in Path(str(files("hindbrain"))).rglob("*.py")}
    casts = {name: re.findall(r".*CAST\(value AS \w+\).*", text) for name, text in texts.items() if "/postgres/" not in name}
    known = ("SELECT CAST(value AS BIGINT) FROM json_each(", '"value": "CAST(value AS BIGINT)"')
    assert [line for found in casts.values() for line in found if not any(each in line for each in known)] == []
