"""Pages as text and back: what is written is what is read, whatever the memories say."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, timedelta, timezone

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.wiki.page import Fact, Page, Section
from hindbrain.wiki.parse import read
from hindbrain.wiki.render import Human, rendered
from hindbrain.wiki.sections import SECTIONS, kind_of, section_of, sections
from hindbrain.wiki.text import folded
from hindbrain.wiki.topics import planned
from tests.wiki.made import START, WORDS, fact, material, said

KINDS = st.sampled_from(
    ["fact", "decision", "instruction", "preference", "lesson", "procedure", "task", "correction", "insight", "odd"]
)
STATES = st.sampled_from(["current", "expired", "superseded", "disputed"])


@st.composite
def facts(draw: st.DrawFn) -> list[Fact]:
    texts = draw(st.lists(WORDS, min_size=1, max_size=5))
    found = []
    for of, text in enumerate(texts, 1):
        each = fact(
            of, text, draw(KINDS), why=draw(st.one_of(st.just(""), WORDS)), instead_of=draw(st.one_of(st.just(""), WORDS))
        )
        state = draw(STATES)
        ends = {
            "expired": {"valid_to": START + of},
            "superseded": {"successor": f"m_{1:024x}"},
            "disputed": {"disputes": (f"m_{1:024x}",)},
        }
        found.append(replace(each, pinned=draw(st.booleans()), **ends.get(state, {})))  # type: ignore[arg-type]
    return found


@given(facts(), WORDS, st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=3))
@settings(max_examples=100, deadline=None)
def test_reading_what_was_rendered_gives_every_statement_back(
    found: list[Fact], title: str, aliases: list[str], tags: list[str]
) -> None:
    held = material(found)
    page = Page(
        "c-1",
        "concept",
        "concepts/x.md",
        title,
        tuple(aliases),
        tuple(tags),
        sections(found),
        created=START,
        projects=("p_1", "p_2"),
    )
    text = rendered(page, held, {})
    assert all(letter.isprintable() or letter in "\n\u200c\u200d" for letter in text)
    assert text == rendered(page, held, {})
    again = read(text)
    assert again.id == "c-1"
    assert again.title == folded(title)
    assert (again.aliases, again.tags) == (tuple(filter(None, map(folded, aliases))), tuple(filter(None, map(folded, tags))))
    assert again.notes == () and again.extra == {}
    assert [line.memory for line in again.lines] == [each for section in page.sections for each in section.facts]
    for line in again.lines:
        shown = held.facts[line.memory]
        assert line.text == folded(shown.text)
        assert line.struck == (
            shown.state in ("superseded", "expired")
            and not (shown.kind == "task" and shown.state == "expired")
            and line.text != ""
        )
        assert text.split("\n")[line.number - 1].startswith("- ")
        if shown.kind == "task":
            assert line.checked == {"expired": True, "current": False}.get(shown.state)


@given(st.text(max_size=300), st.lists(WORDS, max_size=12).map("\n".join))
@settings(max_examples=100, deadline=None)
def test_no_text_is_too_odd_to_be_read(some: str, more: str) -> None:
    for text in (some, more, f"---\n{more}\n---\n{some}", f"---\nid: c-1\n---\n{more}"):
        read(text)


@given(
    st.lists(
        st.sampled_from(
            [
                "A paragraph.",
                "> quoted",
                "```\n## Decisions\n- x\n```",
                "| a | b |\n|---|---|",
                "### Mine",
                "1) one",
                "- item\n  more",
                "---",
            ]
        ),
        max_size=5,
    )
)
@settings(max_examples=100, deadline=None)
def test_a_persons_notes_come_back_verbatim(notes: list[str]) -> None:
    page = planned(said("We use Redis here.", "Redis is in eu-west-1.")).pages
    concept = next(each for each in page.values() if each.type == "concept")
    text = rendered(concept, said("We use Redis here.", "Redis is in eu-west-1."), page, Human(notes=tuple(notes)))
    found = read(text)
    assert "\n\n".join(found.notes) == "\n\n".join(notes)
    assert len(found.lines) == 2


def test_a_page_looks_as_the_documents_say() -> None:
    held = material([
        fact(1, "Staging runs PostgreSQL 16.", confidence=0.9),
        fact(2, "Use MySQL for the ledger.", "decision", successor=f"m_{3:024x}", valid_to=START),
        fact(3, "Use PostgreSQL for the ledger.", "decision", why="JSONB", instead_of="MySQL"),
        fact(4, "Rotate the keys of the PostgreSQL replica.", "task"),
        fact(5, "Write the PostgreSQL runbook.", "task", valid_to=START + 10**9),
    ])  # fmt: skip
    pages = planned(held).pages
    page = next(each for each in pages.values() if each.title == "PostgreSQL")
    text = rendered(page, held, pages, Human(extra={"reviewed": "2026-03-09"}))
    ids = {of: f"^m-{of:024x}" for of in range(1, 6)}
    assert text.startswith(
        f"---\nid: {page.id}\ntitle: PostgreSQL\naliases: [postgres, psql]\ntags: [database]\nsources: 1\ncreated: 2026-03-02\n"
    )
    assert "confidence: 0.83\nreviewed: 2026-03-09\n---\n\n# PostgreSQL\n\n## Key points\n\n" in text
    assert (
        f"- Use PostgreSQL for the ledger. (because: JSONB; instead of: MySQL) {ids[3]}\n- ~~Use MySQL for the ledger.~~ ("
        in text
    )
    assert f"## Tasks\n\n- [ ] Rotate the keys of the PostgreSQL replica. {ids[4]}\n" in text
    assert re.search(
        rf"## History\n\n- \[x\] Write the PostgreSQL runbook\. \(2026-03-02 to 2026-03-\d\d\) {re.escape(ids[5])}\n", text
    )
    assert "## Related\n\n- [[concepts/ledger|Ledger]]\n- [[projects/api-server|api-server]]\n\n## Sources\n\n" in text
    assert "\n- 2026-03-02 claude-code, session 00000000: `e_0" in text
    assert yaml.safe_load(text.split("---")[1])["sources"] == 1


def test_a_reason_that_is_in_the_words_is_not_told_twice() -> None:
    held = material([fact(1, "Redis, because it is there; not Kafka.", "decision", why="It is  there", instead_of="kafka")])
    assert "(because" not in rendered(Page("c-1", "concept", "x.md", "x", sections=sections([*held.facts.values()])), held, {})


def test_on_a_page_of_several_projects_each_statement_says_its_own() -> None:
    held = material([fact(1, "Redis holds sessions."), fact(2, "Redis holds jobs.", project="p_2")], p_2="web (new)")
    pages = planned(held).pages
    page = next(each for each in pages.values() if each.title == "Redis")
    lines = read(rendered(page, held, pages)).lines
    assert [(line.text, line.tail) for line in lines] == [
        ("Redis holds sessions.", "(project: api-server)"), ("Redis holds jobs.", "(project: web (new))"),
    ]  # fmt: skip


def test_the_day_of_a_source_is_the_readers_own() -> None:
    held = material([fact(1, "a")])
    page = Page("c-1", "concept", "x.md", "x", sections=sections([*held.facts.values()]))
    texts = {rendered(page, held, {}, zone=zone) for zone in (UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12)))}
    assert len(texts) > 1
    assert rendered(replace(page, created=10**18), held, {}) != ""


def test_a_persons_title_stands_and_the_old_one_is_still_found() -> None:
    held = said("Redis holds sessions.", "Redis holds jobs.")
    pages = planned(held).pages
    page = next(each for each in pages.values() if each.title == "Redis")
    found = read(rendered(page, held, pages, Human(title="The cache", related=("[[qa/why|Why?]]",), notes=("Mine.",))))
    assert (found.title, found.heading, found.aliases) == ("The cache", "The cache", ("Redis",))
    assert found.related[-1] == "[[qa/why|Why?]]"
    assert found.notes == ("Mine.",)


EDITED = """---
id: c-1
title: Redis
mood: good
tags: cache
---

# Redis

A line above all.

## Key points

- It is fast. ^m-aa
- It was
  wrapped by an editor. ^m-bb
* A person's own, *with stress*
  - and below it

## Decisions

1. ~~Never Redis.~~ ^m-cc
- [x] done ^m-dd
- ~~part~~ of it

## My corner

- a thought

Prose of mine.

## Notes

- kept as it is
- moved here ^m-ee

## Sources

- 2026-03-02 claude-code, session 1a2b3c4d: `e_1` (m-aa)
- my own source
"""


def test_what_a_person_did_to_a_page_is_read() -> None:
    found = read(EDITED.replace("\n", "\r\n"))
    assert (found.id, found.tags, dict(found.extra)) == ("c-1", ("cache",), {"mood": "good"})
    assert [(line.memory, line.section, line.text, line.struck, line.checked) for line in found.lines] == [
        ("m_aa", "Key points", "It is fast.", False, None), ("m_bb", "Key points", "It was wrapped by an editor.", False, None),
        ("", "Key points", "A person's own, *with stress*", False, None), ("", "Key points", "and below it", False, None),
        ("m_cc", "Decisions", "Never Redis.", True, None), ("m_dd", "Decisions", "done", False, True),
        ("", "Decisions", "~~part~~ of it", False, None), ("", "My corner", "a thought", False, None),
        ("m_ee", "Notes", "moved here", False, None),
    ]  # fmt: skip
    assert found.notes == ("A line above all.", "## My corner", "Prose of mine.", "- kept as it is", "- my own source")
    assert [EDITED.split("\n")[line.number - 1][:12] for line in found.lines][:2] == ["- It is fast", "- It was"]


BOMB = "a: &a [x,x]\n" + "\n".join(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)},*{chr(97 + n)}]" for n in range(20))


@pytest.mark.parametrize(
    "hostile",
    [
        "id: !!python/object/apply:os.system ['true']", "id: !!python/name:os.system", "id: !foo x", BOMB, "- a list",
        "just words", "id: [",
        "[" * 5_000, "a: " + "[" * 50 + "]" * 50, "{" * 3_000, "x: " + "9" * 70_000, "? [a, b]\n: c", "1: x", "id: \x00",
        "a: &a b\nc: *a", "<<: *x", "\ttab: x",
    ],
)  # fmt: skip
def test_front_matter_by_hostile_hands_builds_nothing_and_is_not_lost(hostile: str) -> None:
    found = read(f"---\n{hostile}\n---\n\n# Title\n\n- a line ^m-aa\n")
    assert (found.id, found.title, len(found.lines)) == ("", "Title", 1)
    assert found.notes == (f"---\n{hostile}\n---",)


def test_front_matter_is_written_back_as_it_was() -> None:
    lines = (
        "mood: yes\nnumber: 007\nclock: 1:30\nwhen: 2026-03-02\nbig: "
        + "9" * 40
        + "\nratio: 0.50\ncount: 4\nhalf: 0.5\nquoted: '4'\nempty:\non: true\nname: Åse: no\n"
    )
    lines = lines.replace("Åse: no", "Åse")
    found = read(f"---\nid: c-1\n{lines}---\n")
    assert found.extra["when"] == "2026-03-02" and found.extra["count"] == 4 and found.extra["on"] is True
    text = rendered(Page("c-1", "concept", "x.md", "x"), material([]), {}, Human(extra=found.extra))
    assert text.split("title: x\n")[1].split("---")[0] == lines.replace("empty:\n", "empty:\n")


def test_a_page_without_front_matter_has_the_title_of_its_heading() -> None:
    assert read("# A page\n\n- x").title == "A page"
    assert read("") == read("\ufeff") == read("\n\n")
    assert read("---\nid: c-1\nno end").id == ""


@pytest.mark.parametrize(
    ("section", "kind"),
    [
        ("Key points", "fact"),
        ("Decisions", "decision"),
        ("rules", "instruction"),
        ("Lessons", "lesson"),
        ("How to", "procedure"),
        ("Tasks", "task"),
        ("Mine", "fact"),
    ],
)
def test_a_heading_decides_what_a_line_below_it_is(section: str, kind: str) -> None:
    assert kind_of(section) == kind
    assert section_of(kind) == (section if section in SECTIONS else "Rules" if kind == "instruction" else "Key points")


@given(facts())
@settings(max_examples=100, deadline=None)
def test_each_fact_is_in_one_section_of_its_page(found: list[Fact]) -> None:
    made = sections(found)
    assert sorted(each for section in made for each in section.facts) == sorted(each.id for each in found)
    assert [section.name for section in made] == [name for name in SECTIONS if name in {section.name for section in made}]


def test_generated_prose_stands_above_its_list() -> None:
    held = material([fact(1, "a")])
    page = Page("c-1", "concept", "x.md", "x", sections=(Section("Key points", (*held.facts,), "Some prose (m-1)."),))
    assert "## Key points\n\nSome prose (m-1).\n\n- a ^m-" in rendered(page, held, {})
