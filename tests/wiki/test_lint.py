"""Lint: each fault is found where it is, nothing is found in a sound wiki, and what can be put right is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from hindbrain.wiki import index, lint
from hindbrain.wiki.finding import Knowledge, Known
from hindbrain.wiki.page import FOLDERS, Material, Page, PageType
from tests.wiki.sample import known, large, page, sound

Texts = dict[str, str]
PG = "concepts/postgresql.md"


def codes(texts: Texts, knowledge: Knowledge | None = None) -> set[tuple[str, str]]:
    return {(each.code, each.page) for each in lint.findings(texts, knowledge or Knowledge())}


def changed(path: str, old: str, new: str) -> Callable[[Texts], None]:
    def change(texts: Texts) -> None:
        assert old in texts[path]
        texts[path] = texts[path].replace(old, new, 1)

    return change


def added(path: str, text: str) -> Callable[[Texts], None]:
    return lambda texts: texts.update({path: text})


def removed(path: str) -> Callable[[Texts], None]:
    def change(texts: Texts) -> None:
        del texts[path]

    return change


def test_a_sound_wiki_has_nothing_to_report() -> None:
    texts = sound()
    found = lint.findings(texts, known(texts))
    assert (found, lint.exit_code(found), lint.as_text(found)) == ((), 0, "nothing to report\n")
    assert lint.fixed(texts) == texts


@pytest.mark.parametrize(
    ("change", "code", "severity", "where", "line"),
    [
        (changed(PG, "Staging runs", "[[nope]] runs"), "broken-link", "error", PG, 16),
        (changed(PG, "Staging runs", "[[../../x]] runs"), "outside-link", "error", PG, 16),
        (changed(PG, "#^s-1a2b3c4d", "#^s-00000000"), "broken-part", "warning", PG, 25),
        (changed(PG, "connections/both", "Connections/Both"), "link-case", "note", PG, 21),
        (changed("connections/both.md", "- [[concepts/backups|Backups]]", "- [[#Both]]"),
         "orphan", "warning", "concepts/backups.md", 0),
        (changed(PG, "- [[connections/both|Both]]", "- none"), "missing-backlink", "note", PG, 0),
        (changed("index.md", "- [[concepts/backups|Backups]]\n", ""), "index-drift", "warning", "index.md", 0),
        (changed("index.md", "|Backups]]", "|Copies]]"), "index-title", "note", "index.md", 11),
        (removed("index.md"), "index-missing", "warning", "index.md", 0),
        (changed(PG, "updated: 2026-03-09", "updated: 2026-03-01"), "stale-page", "warning", PG, 7),
        (changed(PG, "id: c-", "id: x-"), "schema", "error", PG, 2),
        (changed(PG, "id: c-concepts/postgresql.md\n", ""), "schema", "error", PG, 1),
        (changed(PG, "title: PostgreSQL\n", ""), "schema", "warning", PG, 1),
        (changed(PG, "created: 2026-03-02", "created: 2026-13-40"), "schema", "warning", PG, 6),
        (changed(PG, "created: 2026-03-02", "created: 2026-04-02"), "schema", "warning", PG, 6),
        (changed(PG, "confidence: 0.8", "confidence: 8"), "schema", "warning", PG, 8),
        (changed(PG, "confidence: 0.8", "confidence: high"), "schema", "warning", PG, 8),
        (changed(PG, "---\n\n# Post", "\n# Post"), "schema", "error", PG, 1),
        (added("elsewhere/x.md", "# X"), "foreign-page", "note", "elsewhere/x.md", 0),
        (changed(PG, "^m-77aa\n", "^m-5b1c\n"), "duplicate-mark", "error", PG, 17),
        (changed(PG, "Staging runs", "Production runs"), "differing-words", "warning", "connections/both.md", 15),
        (changed(PG, "- Staging runs PostgreSQL 16. ^", "- ~~Staging runs PostgreSQL 16.~~ ^"),
         "contradiction", "warning", PG, 16),
        (changed(PG, "## Key points", "## Disputed"), "contradiction", "warning", PG, 16),
        (changed(PG, "(m-5b1c, m-77aa)", "(m-5b1c, m-77aa, m-dead)"), "dead-source", "warning", PG, 25),
        (changed(PG, "(m-5b1c, m-77aa)", "(m-5b1c)"), "no-source", "warning", PG, 17),
        (changed(PG, "Use PostgreSQL. ^", "Staging runs PostgreSQL 16. ^"), "duplicate-words", "note", PG, 17),
        (changed("concepts/backups.md", "title: Backups", "title: postgres"), "duplicate-title", "warning", PG, 9),
        (changed("concepts/backups.md", "id: c-concepts/backups.md", f"id: c-{PG}"), "duplicate-id", "error", PG, 2),
        (added("concepts/Backups.md", "# other"), "duplicate-path", "error", "concepts/backups.md", 0),
        (added("qa/short.md", page("qa/short.md", "Short", points=("Yes. ^m-9cd1",))), "sparse", "note", "qa/short.md", 0),
        (added("concepts/same.md", page("concepts/same.md", "Same", points=("Staging runs. ^m-5b1c", "Use PostgreSQL. ^m-77aa"))),
         "duplicate-page", "warning", "concepts/same.md", 0),
    ],
)  # fmt: skip
def test_each_fault_is_found_where_it_is(
    change: Callable[[Texts], None], code: str, severity: str, where: str, line: int
) -> None:
    texts = sound()
    change(texts)
    found = lint.findings(texts)
    places = {(each.code, each.severity, each.page, each.line) for each in found}
    assert (code, severity, where, line) in places, lint.as_text(found)
    assert lint.exit_code(found) == any(each.severity == "error" for each in found)


@pytest.mark.parametrize(
    ("state", "code"), [("superseded", "stale-fact"), ("expired", "expired-fact"), ("disputed", "contradiction")]
)
def test_what_the_ledger_has_ended_is_not_shown_as_standing(state: str, code: str) -> None:
    texts = sound()
    knowledge = known(texts, m_77aa=state)  # type: ignore[arg-type]
    assert (code, PG) in codes(texts, knowledge)
    struck = "- ~~Use PostgreSQL.~~ (2026-01-04 to 2026-03-02) ^m-77aa"
    told = texts | {PG: texts[PG].replace("- Use PostgreSQL. ^m-77aa", struck)}
    if state != "disputed":
        assert (code, PG) not in codes(told, knowledge)


def test_a_memory_the_ledger_does_not_know_is_an_error() -> None:
    texts = sound()
    knowledge = known(texts)
    assert knowledge.memories is not None
    fewer = {name: Known("current") for name in knowledge.memories if name != "m_9cd1"}
    found = lint.findings(texts, replace(knowledge, memories=fewer))
    assert [(each.code, each.page, each.severity) for each in found] == [("unknown-memory", "concepts/backups.md", "error")]


def test_logs_and_pages_that_changed_since_they_were_compiled_are_told() -> None:
    texts = sound()
    knowledge = known(texts)
    first, second = "daily/2026-03-02.md", "daily/2026-03-03.md"
    later = texts | {first: texts[first] + "\n", PG: texts[PG] + "\nmine\n", second: "# 3\n"}
    assert codes(later, knowledge) == {("uncompiled-log", first), ("uncompiled-log", second), ("stale-page", PG)}


def test_a_session_the_ledger_does_not_know_is_a_dead_source() -> None:
    texts = sound()
    assert ("dead-source", PG) in codes(texts, replace(known(texts), sessions={"s-ffffffff"}))


def broken() -> Texts:
    """Everything that can be put right, with both kinds of line end."""
    texts = sound()
    backups = texts["concepts/backups.md"].replace("- [[connections/both|Both]]", "none")
    texts["concepts/backups.md"] = backups.replace("\n", "\r\n")
    texts[PG] = texts[PG].replace("connections/both|", "CONNECTIONS/both.md|").replace("title: PostgreSQL\n", "")
    texts["qa/new.md"] = "See [[concepts/backups]], [[Concepts/POSTGRESQL#^m-5b1c|this]] and `[[Concepts/POSTGRESQL]]`."
    texts["qa/empty.md"] = ""
    texts["projects/a-[b].md"] = "\ufeff# Odd\n\n[[qa/new]]"
    texts["index.md"] = texts["index.md"].replace("|Both]]", "|Neither]]") + "- [[connections/gone|Gone]]\n"
    return texts


def test_what_needs_no_decision_is_put_right_once_and_for_all() -> None:
    texts = broken()
    before = [each for each in lint.findings(texts) if each.fix]
    codes = {"link-case", "missing-backlink", "index-drift", "index-title", "broken-link", "schema"}
    assert {each.code for each in before} == codes
    done = lint.fixed(texts)
    assert [each for each in lint.findings(done) if each.fix] == []
    assert lint.fixed(done) == done
    assert texts == broken()  # what was handed in is left alone


def test_a_repair_changes_no_other_line() -> None:
    texts = broken()
    done = lint.fixed(texts)
    assert "\n" not in done["concepts/backups.md"].replace("\r\n", "")
    added = ("- [[connections/both|Both]]\r\n", "- [[qa/new|New]]\r\n")
    assert done["concepts/backups.md"].replace(added[0], "").replace(added[1], "") == texts["concepts/backups.md"]
    assert "See [[concepts/backups]], [[concepts/postgresql#^m-5b1c|this]] and `[[Concepts/POSTGRESQL]]`." in done["qa/new.md"]
    assert done["qa/new.md"].startswith("---\ntitle: New\n---\n\n# New\n\nSee")
    assert done["projects/a-[b].md"].startswith("\ufeff---\ntitle: Odd\n---\n")
    assert "- [[qa/new|New]]" in done["index.md"]
    assert "Gone" not in done["index.md"]
    assert "- [[connections/both|Both]]" in done["index.md"]


def test_a_page_that_ends_in_open_code_is_not_added_to_again_and_again() -> None:
    texts = {"concepts/a.md": "---\nid: c-1\ntitle: A\n---\n\n# A\n\n```\n"}
    texts["concepts/b.md"] = "---\nid: c-2\ntitle: B\n---\n\n# B\n\n[[a]]\n"
    assert lint.fixed(texts)["concepts/a.md"] == texts["concepts/a.md"]


def test_without_an_index_one_is_made() -> None:
    texts = sound()
    whole = texts.pop("index.md")
    made = lint.fixed(texts)["index.md"]
    assert {line for line in whole.split("\n") if line.startswith("- ")} <= set(made.split("\n"))


@pytest.mark.parametrize(
    "hostile",
    ["\0", "\ud800", "---\n" * 50, "[[" * 500, "`" * 999, "\u202e[[x]]", "---\nid: [\n---\n", "\r\r\r", "# " * 300, "^m-" * 99],
)
def test_no_text_breaks_a_check_or_a_repair(hostile: str) -> None:
    texts = sound() | {PG: hostile, "index.md": hostile, f"concepts/{hostile[:9]}.md": hostile}
    found = lint.findings(texts, known(texts))
    assert json.loads(lint.as_json(found))["findings"]
    assert all("\n" not in each.message and "\0" not in each.message for each in found)
    assert lint.fixed(lint.fixed(texts)) == lint.fixed(texts)


def test_the_report_says_the_same_to_people_and_programs() -> None:
    texts = broken()
    found = lint.findings(texts)
    report = json.loads(lint.as_json(found))
    text = lint.as_text(found)
    assert report["errors"] == sum(each.severity == "error" for each in found) > 0
    assert len(report["findings"]) == len(found) == sum(line.startswith("  ") for line in text.split("\n"))
    assert set(report["findings"][0]) == {"code", "severity", "page", "line", "message", "fix"}
    assert f"{report['errors']} error" in text


def test_sections_of_the_index_are_called_as_those_who_make_it_call_them() -> None:
    kinds: tuple[PageType, ...] = ("project", "concept", "connection", "qa")
    paths = {kind: f"{FOLDERS[kind]}/a.md" for kind in kinds}
    planned = index.index({kind: Page(kind, kind, path, kind) for kind, path in paths.items()}, Material({}, {}, {}, ""))
    fixed = lint.fixed({path: page(path, "A") for path in paths.values()})["index.md"]
    assert set(re.findall("## .*", fixed)) == set(re.findall("## .*", planned.body))


def test_a_wiki_of_many_pages_is_compared_through_tables_not_page_with_page() -> None:
    texts = large(300)
    assert lint.findings(texts) == ()
    fewer = {path: text for path, text in texts.items() if path != "concepts/topic-7.md"}
    assert {each.code for each in lint.findings(fewer)} == {"broken-link"}
    assert sum(each.code == "broken-link" for each in lint.findings(fewer)) == 5
