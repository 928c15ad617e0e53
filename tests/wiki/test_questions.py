"""Answers that were filed become pages that rest on what the ledger says today, linked both ways."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest

from hindbrain.base.errors import StorageError
from hindbrain.wiki import lint, parse, questions
from hindbrain.wiki.page import Material
from hindbrain.wiki.questions import Asked, Quote
from hindbrain.wiki.render import rendered
from hindbrain.wiki.topics import planned
from tests.wiki.made import START, fact, material, number, said

MEMORY = f"m_{number(2)}"
TURN = f"e_{number(9)}"
FACTS = ("Orders are kept in PostgreSQL", "PostgreSQL took the place of MySQL because of JSONB", "PostgreSQL 16 runs in staging")
ASKED = Asked(
    "Why did we leave MySQL?", START, "evidence", "p_1", (), (MEMORY,),
    (Quote(TURN, "user in claude-code", START, "MySQL was slow"),), (TURN,),
)  # fmt: skip


def texts(found: Material, *asked: Asked) -> dict[str, str]:
    pages = questions.on(planned(found).pages, asked, found)
    return {page.path: rendered(page, found, pages) for page in pages.values()}


def test_an_answer_is_a_page_with_its_statement_its_quote_and_links_both_ways() -> None:
    found = said(*FACTS)
    pages = texts(found, ASKED)
    page = pages["qa/why-did-we-leave-mysql.md"]
    read = parse.read(page)
    assert (read.id, read.title, [line.memory for line in read.lines]) == (ASKED.id, "Why did we leave MySQL?", [MEMORY])
    assert "Answered on 2026-03-02, from the evidence below." in page
    assert f"- 2026-03-02 user in claude-code: MySQL was slow ^e-{number(9)}" in page
    assert "[[concepts/postgresql|PostgreSQL]]" in page
    assert "[[qa/why-did-we-leave-mysql|Why did we leave MySQL?]]" in pages["concepts/postgresql.md"]
    wrong = [each for each in lint.findings(pages) if each.code in ("broken-link", "broken-part", "missing-backlink", "orphan")]
    assert wrong == []


def test_sentences_of_a_model_link_to_what_they_cite_as_far_as_it_is_on_the_page() -> None:
    said_so = (("JSONB was missing.", (MEMORY, TURN)), ("It was slow.", ("m_77",)))
    asked = replace(ASKED, made_by="model:small/1", sentences=said_so)
    page = texts(said(*FACTS), asked)["qa/why-did-we-leave-mysql.md"]
    links = f"[[#^m-{number(2)}|m-0000]], [[#^e-{number(9)}|e-0000]]"
    assert f"JSONB was missing. ({links}) It was slow. (`m_77`)" in page and "by model:small/1." in page


def test_what_was_replaced_since_is_struck_out_below_the_answer() -> None:
    later = fact(3, "PostgreSQL was left for CockroachDB", "fact")
    old = fact(2, FACTS[1], successor=later.id, valid_to=later.valid_from)
    page = texts(material([fact(1, FACTS[0]), old, later]), ASKED)["qa/why-did-we-leave-mysql.md"]
    assert f"- ~~{FACTS[1]}~~ (2026-03-02 to 2026-03-02) ^m-{number(2)}" in page


def test_the_same_question_is_one_page_and_another_project_asks_another() -> None:
    assert replace(ASKED, question="  why did we leave  MySQL ", at=1).id == ASKED.id
    assert replace(ASKED, project=None).id != ASKED.id
    both = texts(said(*FACTS), ASKED, replace(ASKED, project=None))
    assert len([path for path in both if path.startswith("qa/")]) == 2


@pytest.mark.parametrize(
    "question", ["../../etc/passwd?", "[[x]] # <script>alert(1)</script>", "\u202e^m-12 |", "?" * 3_000, "---\nid: q-1\n---"]
)
def test_a_hostile_question_makes_an_ordinary_page(question: str) -> None:
    asked = replace(ASKED, question=question, sentences=((question, (MEMORY,)),))
    page = questions.on({}, [asked], said(*FACTS))[asked.id]
    assert page.path.startswith("qa/") and page.path.count("/") == 1 and ".." not in page.path
    text = rendered(page, said(*FACTS), {})
    assert parse.read(text).id == asked.id and [line.memory for line in parse.read(text).lines] == [MEMORY]
    assert [each for each in lint.findings({page.path: text}) if each.severity == "error"] == []


def test_answers_are_kept_read_and_dropped(tmp_path: Path) -> None:
    folder = tmp_path / "questions"
    other = replace(ASKED, question="And now?", at=START - 1)
    questions.keep(folder, ASKED)
    questions.keep(folder, other)
    questions.keep(folder, replace(ASKED, made_by="newer"))
    assert questions.kept(folder) == [other, replace(ASKED, made_by="newer")]
    questions.drop(folder, [other])
    assert questions.kept(folder) == [replace(ASKED, made_by="newer")]
    assert questions.kept(tmp_path / "none") == []


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'{"question": 1', json.dumps({"sentences": 1}).encode()])
def test_a_file_that_is_no_answer_is_told_and_not_passed_over(tmp_path: Path, data: bytes) -> None:
    folder = tmp_path / "questions"
    file = questions.keep(folder, ASKED)
    file.write_bytes(data)
    with pytest.raises(StorageError, match="does not hold an answer"):
        questions.kept(folder)


def test_the_day_is_that_of_the_zone_and_the_same_answer_gives_the_same_bytes() -> None:
    found = said(*FACTS)
    pages = questions.on(planned(found).pages, [ASKED], found, UTC)
    assert pages == questions.on(planned(found).pages, [ASKED], found, UTC)
