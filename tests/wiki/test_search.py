"""Search in pages: the page that is about the words comes first, with the lines and the ids of what it says."""

from __future__ import annotations

import pytest

from hindbrain.wiki.search import Shelf, found
from tests.wiki.sample import page, sound


def test_the_page_with_the_words_in_its_title_comes_before_those_that_mention_them() -> None:
    hits = found(sound(), "postgresql")
    assert hits[0].path == "concepts/postgresql.md"
    assert hits[0].title == "PostgreSQL"
    assert "connections/both.md" in [hit.path for hit in hits]


def test_lines_carry_the_ids_of_their_memories_best_first() -> None:
    hit = found(sound(), "when do backups run at night")[0]
    assert hit.path == "concepts/backups.md"
    assert (hit.lines[0].memory, hit.lines[0].section, hit.lines[0].text) == ("m_9cd0", "Key points", "Backups run at night.")
    text = sound()[hit.path].split("\n")
    assert all(line.text[:10] in text[line.number - 1] for line in hit.lines)


@pytest.mark.parametrize("asked", ["postgres", "POSTGRES", "postgre", "Póstgres"])
def test_an_alias_a_beginning_and_other_spellings_find_the_page(asked: str) -> None:
    assert found(sound(), asked)[0].path == "concepts/postgresql.md"


def test_accents_need_not_be_typed() -> None:
    texts = {"concepts/a.md": "# Déploiement\n\n- À Zürich. ^m-1\n", "concepts/b.md": "# Other\n\n- In Berlin. ^m-2\n"}
    assert [hit.path for hit in found(texts, "zurich deploiement")] == ["concepts/a.md"]


def test_what_held_once_stands_behind_what_holds() -> None:
    points = ("~~The port is 5432.~~ (2026-01-04 to 2026-03-02) ^m-1", "The port is 6432. ^m-2")
    hit = found({"concepts/a.md": page("concepts/a.md", "Port", points=points)}, "port")[0]
    assert [line.memory for line in hit.lines][:2] == ["m_2", "m_1"]


@pytest.mark.parametrize("asked", ["", "   ", "zzzz", "\x00", "\ud800", '" OR *', "[[", "a" * 50_000])
def test_no_question_breaks_it_and_none_finds_what_is_not_there(asked: str) -> None:
    assert found(sound(), asked) == []


def test_an_empty_wiki_and_odd_limits_are_answered() -> None:
    assert found({}, "x") == []
    assert Shelf(sound()).search("postgresql", 0) == []
    assert Shelf(sound()).search("postgresql", -1) == []
    assert Shelf(sound()).search("postgresql", 1, 0)[0].lines == ()


def test_the_same_question_gives_the_same_answer_in_any_order_of_pages() -> None:
    texts = sound()
    assert found(texts, "postgresql backups") == found(dict(reversed(texts.items())), "postgresql backups")
