"""A page that a person edited: what each edit means for the memories, and what becomes of the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hindbrain.capture.event import Json
from hindbrain.wiki.edits import Act, Conflict, Op, Where, compared, merged, settled, unsettled
from hindbrain.wiki.render import NOBODY, Human

PAGE = """---
id: c-3f2a9c10
title: PostgreSQL
aliases: [Postgres]
tags: [database]
sources: 2
created: 2026-03-02
updated: 2026-03-09
confidence: 0.82
---

# PostgreSQL

## Key points

- Staging runs PostgreSQL 16 in eu-west-1. ^m-aa01
- Backups run at 02:00 UTC. ^m-aa02

## Decisions

- Use PostgreSQL for the ledger. (because: JSONB; instead of: MySQL) ^m-aa03
- ~~Use MySQL for the ledger.~~ (2026-01-04 to 2026-03-02) ^m-aa04

## Tasks

- [ ] Rotate the keys of the replica. ^m-aa05

## History

- [x] Order the disks. (2026-01-04 to 2026-01-09) ^m-aa06

## Related

- [[connections/both|Both]]

## Sources

- 2026-03-02 claude-code, [[daily/2026-03-02#^s-1a2b3c4d|session 1a2b3c4d]]: `e_1` (m-aa01, m-aa02)
"""
WHERE = Where("concepts/postgresql.md", "p_1")
STAGING = "- Staging runs PostgreSQL 16 in eu-west-1. ^m-aa01"
BACKUPS = "- Backups run at 02:00 UTC. ^m-aa02"
KEYS = "- [ ] Rotate the keys of the replica. ^m-aa05"


def act(op: Op, memory: str = "", text: str = "", kind: str = "", **detail: Json) -> Act:
    return Act(op, memory, text, kind, WHERE.page, WHERE.project, detail)


def done_to(found: str, fresh: str = PAGE) -> tuple[Act, ...]:
    """What was done to memories; nothing else may have come of it."""
    came = merged(PAGE, found, fresh, NOBODY, WHERE)
    assert (came.conflicts, came.human, came.text) == ((), NOBODY, found)
    return came.acts


def test_a_page_that_nobody_touched_says_nothing() -> None:
    assert done_to(PAGE) == ()
    assert done_to(PAGE.replace("\n", "\r\n")) == ()
    assert done_to("\ufeff" + PAGE) == ()
    assert done_to(PAGE.replace("- ", "* ").replace("\n\n", "\n\n\n")) == ()


@pytest.mark.parametrize(
    ("old", "new", "acts"),
    [
        ("PostgreSQL 16 in", "PostgreSQL 17 in", (act("edit", "m_aa01", "Staging runs PostgreSQL 17 in eu-west-1."),)),
        ("Backups run at 02:00 UTC.", "Backups *run* at\n  03:00 UTC.", (act("edit", "m_aa02", "Backups *run* at 03:00 UTC."),)),
        (BACKUPS + "\n", "", (act("reject", "m_aa02"),)),
        (BACKUPS, "-  ^m-aa02", (act("reject", "m_aa02"),)),
        (KEYS, KEYS.replace("[ ]", "[x]"), (act("done", "m_aa05"),)),
        (KEYS, KEYS.replace("[ ]", "[X]").replace("replica", "primary"),
         (act("edit", "m_aa05", "Rotate the keys of the primary.", done=True),)),
        ("- [x] Order", "- [ ] Order", (act("undone", "m_aa06"),)),
        ("- [x] Order the disks.", "- [x] Order ten disks.", (act("edit", "m_aa06", "Order ten disks.", done=True),)),
        ("Backups run at 02:00 UTC.", "~~Backups run at 02:00 UTC.~~", (act("done", "m_aa02"),)),
        ("- ~~Use MySQL for the ledger.~~", "- Use MySQL for the ledger.", (act("undone", "m_aa04"),)),
        ("~~Use MySQL for the ledger.~~", "Use MySQL 8 for the ledger.",
         (act("edit", "m_aa04", "Use MySQL 8 for the ledger.", reopened=True),)),
        ("ledger. (because", "archive. (because",
         (act("edit", "m_aa03", "Use PostgreSQL for the archive.", why="JSONB", instead_of="MySQL"),)),
        ("Backups run at 02:00 UTC.", "~~Backups run at 02:00 UTC.~~ Backups run hourly.",
         (act("edit", "m_aa02", "Backups run hourly."),)),
        ("because: JSONB; instead of: MySQL", "because: JSONB and speed", (
            act("edit", "m_aa03", "Use PostgreSQL for the ledger.", why="JSONB and speed"),)),
        ("- [ ] Rotate", "- Rotate", ()),
    ],
)  # fmt: skip
def test_an_edited_statement_is_an_act(old: str, new: str, acts: tuple[Act, ...]) -> None:
    assert old in PAGE
    assert done_to(PAGE.replace(old, new)) == acts


@pytest.mark.parametrize(
    ("heading", "line", "kind", "text"),
    [
        ("## Key points\n\n", "- New here.", "fact", "New here."),
        ("## Decisions\n\n", "* We **chose** it.", "decision", "We **chose** it."),
        ("## Tasks\n\n", "- Do it.", "task", "Do it."), ("## Decisions\n\n", "- [ ] Do it.", "task", "Do it."),
        ("# PostgreSQL\n\n", "1. Above all.", "fact", "Above all."),
        ("# PostgreSQL\n\n", "## Rules\n\n- Never on Friday.", "instruction", "Never on Friday."),
        ("# PostgreSQL\n\n", "## how To\n\n- First this.", "procedure", "First this."),
        ("# PostgreSQL\n\n", "## Lessons\n\n- So it is.", "lesson", "So it is."),
        ("## Tasks\n\n", "- Said with ^m-ffff a mark of nobody's.", "task", "Said with ^m-ffff a mark of nobody's."),
    ],
)  # fmt: skip
def test_a_new_line_is_remembered_with_the_kind_of_its_section(heading: str, line: str, kind: str, text: str) -> None:
    assert done_to(PAGE.replace(heading, f"{heading}{line}\n\n")) == (act("remember", "", text, kind),)


def test_a_new_line_that_is_over_already_says_so() -> None:
    found = PAGE.replace("## Tasks\n\n", "## Tasks\n\n- [x] Did it.\n- ~~Was so.~~\n")
    both = [act("remember", "", words, "task", done=True) for words in ("Did it.", "Was so.")]
    assert [*done_to(found)] == both


def test_a_line_without_words_or_said_twice_is_remembered_once_or_never() -> None:
    found = PAGE.replace("## Tasks\n\n", "## Tasks\n\n- \n- [ ]\n- Twice.\n- Twice.\n")
    assert done_to(found) == (act("remember", "", "Twice.", "task"),)


@pytest.mark.parametrize(
    ("target", "kind"),
    [("## Decisions\n\n", "decision"), ("## Tasks\n\n", "task"), ("## Related\n\n", ""), ("## History\n\n", "-")],
)
def test_a_line_that_was_moved_has_the_kind_of_where_it_stands(target: str, kind: str) -> None:
    found = PAGE.replace(BACKUPS + "\n", "").replace(target, f"{target}{BACKUPS}\n")
    expected = {"": (), "-": (act("done", "m_aa02"),)}
    assert done_to(found) == expected.get(kind, (act("edit", "m_aa02", "Backups run at 02:00 UTC.", kind),))


def test_a_box_in_front_of_a_statement_makes_it_a_task() -> None:
    assert done_to(PAGE.replace("- Backups", "- [ ] Backups")) == (act("edit", "m_aa02", "Backups run at 02:00 UTC.", "task"),)


def test_moved_words_do_not_bring_old_words_back() -> None:
    fresh = PAGE.replace("02:00", "03:00")
    found = PAGE.replace(BACKUPS + "\n", "").replace("## Decisions\n\n", f"## Decisions\n\n{BACKUPS}\n")
    assert done_to(found, fresh) == (act("edit", "m_aa02", "Backups run at 03:00 UTC.", "decision"),)


@pytest.mark.parametrize(
    ("line", "acts"),
    [
        ("- Backups run at 02:00 UTC. ^m-aa02 And at noon.", (act("edit", "m_aa02", "Backups run at 02:00 UTC. And at noon."),)),
        ("- Backups run at 02:00 UTC. ^m-aa02\n  And at noon.",
         (act("edit", "m_aa02", "Backups run at 02:00 UTC. And at noon."),)),
        ("- Backups run at 02:00 UTC. ^m-aa02AND", (act("edit", "m_aa02", "Backups run at 02:00 UTC. AND"),)),
        ("- Backups run at 02:00 UTC.", ()), ("- Backups run at 02:00 UTC. ^m-aa", ()),
        ("- Backups run at 02:00 UTC. ^m", ()), ("- Backups run at 02:00 UTC. ^m-aXXa02", ()),
        ("- Backups run at 02:00 UTC. ^", ()),
        ("- Backups run at 04:00 UTC.", (act("edit", "m_aa02", "Backups run at 04:00 UTC."),)),
        ("- Nothing of the kind.", (act("reject", "m_aa02"), act("remember", "", "Nothing of the kind.", "fact"))),
        (f"{BACKUPS}\n{BACKUPS}", ()),
        (f"{BACKUPS}\n- Restores take an hour. ^m-aa02", (act("remember", "", "Restores take an hour.", "fact"),)),
        ("- One. ^m-aa02\n- Two. ^m-aa02", (act("remember", "", "Two.", "fact"), act("edit", "m_aa02", "One."))),
        ("> - Backups run at 02:00 UTC. ^m-aa02", None),
    ],
)  # fmt: skip
def test_a_line_is_known_again_when_its_mark_was_lost_moved_or_doubled(line: str, acts: tuple[Act, ...] | None) -> None:
    found = PAGE.replace(BACKUPS, line)
    if acts is not None:
        assert done_to(found) == acts
    else:  # quoted: it is not gone, and what was written is kept
        came = merged(PAGE, found, PAGE, NOBODY, WHERE)
        assert came.human == Human(notes=(line,)) and [each.op for each in came.acts] == ["page"]


def test_a_line_without_its_mark_keeps_its_reason() -> None:
    assert done_to(PAGE.replace(" ^m-aa03", "")) == done_to(PAGE.replace("^m-aa03", "^m-a")) == ()
    assert done_to(PAGE.replace("for the ledger. (because: JSONB; instead of: MySQL) ^m-aa03", "for all. (because: JSONB)")) == (
        act("edit", "m_aa03", "Use PostgreSQL for all.", why="JSONB"),
    )  # fmt: skip


def test_lines_that_were_joined_are_told_apart_by_their_marks() -> None:
    for between in (" ", "\n", " - "):
        assert done_to(PAGE.replace(f"{STAGING}\n- ", STAGING + between)) == ()
    found = PAGE.replace(f"{STAGING}\n{BACKUPS}", f"{STAGING} And {BACKUPS[2:]} So it is.")
    assert done_to(found) == (act("edit", "m_aa02", "And Backups run at 02:00 UTC. So it is."),)


def test_a_line_in_an_open_fence_was_not_deleted() -> None:
    came = merged(PAGE, PAGE.replace("## Decisions", "```\n## Decisions"), PAGE, NOBODY, WHERE)
    assert [each.op for each in came.acts] == ["page"]
    assert came.human.notes[0].startswith("```\n## Decisions\n") and came.human.notes[0].endswith("\n```")


def test_a_link_to_a_line_does_not_keep_it() -> None:
    found = PAGE.replace(BACKUPS, "- See [[concepts/postgresql#^m-aa02]] there.")
    assert act("reject", "m_aa02") in done_to(found)


# Both changed


def test_the_persons_words_win_over_other_words() -> None:
    assert done_to(PAGE.replace("02:00", "04:00"), PAGE.replace("02:00", "03:00")) == (
        act("edit", "m_aa02", "Backups run at 04:00 UTC."),
    )  # fmt: skip


def test_the_same_change_on_both_sides_is_no_act() -> None:
    assert done_to(PAGE.replace("02:00", "04:00"), PAGE.replace("02:00", "04:00")) == ()
    assert done_to(PAGE.replace(KEYS, KEYS.replace("[ ]", "[x]")), PAGE.replace(KEYS, KEYS.replace("[ ]", "[x]"))) == ()
    assert done_to(PAGE.replace(BACKUPS, f"{BACKUPS}\n- New."), PAGE.replace(BACKUPS, f"{BACKUPS}\n- New. ^m-bb01")) == ()


def test_what_only_the_memory_changed_is_no_act() -> None:
    fresh = PAGE.replace("02:00", "03:00").replace(STAGING + "\n", "").replace("title: PostgreSQL", "title: Postgres")
    assert done_to(PAGE, fresh.replace("## Tasks\n\n", "## Tasks\n\n- [ ] Another. ^m-bb01\n")) == ()


@pytest.mark.parametrize(
    ("found", "fresh", "yours", "now", "why"),
    [
        (BACKUPS.replace("02:00", "04:00"), "- ~~Backups run at 02:00 UTC.~~ (2026-01-04 to 2026-03-02) ^m-aa02",
         "Backups run at 04:00 UTC.", "Backups run at 02:00 UTC.", "the statement is over meanwhile"),
        ("", BACKUPS.replace("02:00", "03:00"), "", "Backups run at 03:00 UTC.", "the statement was changed meanwhile"),
        ("- ~~Backups run at 02:00 UTC.~~ ^m-aa02", BACKUPS.replace("02:00", "03:00"), "~~Backups run at 02:00 UTC.~~",
         "Backups run at 03:00 UTC.", "the statement was changed meanwhile"),
        ("- Backups run at 02:00 UTC. (project: web) ^m-aa02", BACKUPS, "Backups run at 02:00 UTC. (project: web)",
         "Backups run at 02:00 UTC.", "what stands behind the words is made from the memory"),
    ],
)  # fmt: skip
def test_what_cannot_be_carried_out_is_shown_in_the_page(found: str, fresh: str, yours: str, now: str, why: str) -> None:
    text = PAGE.replace(BACKUPS, found)
    came = merged(PAGE, text, PAGE.replace(BACKUPS, fresh), NOBODY, WHERE)
    conflict = Conflict(WHERE.page, "m_aa02", "Backups run at 02:00 UTC.", yours, now, why)
    assert (came.acts, came.conflicts) == ((), (conflict,))
    assert came.human == Human(notes=(conflict.block,)) and unsettled(came.human.notes) == [conflict.block]
    assert came.text == f"{text}\n{conflict.block}\n"
    again = merged(PAGE, text, PAGE.replace(BACKUPS, fresh), came.human, WHERE)
    assert again.human == came.human  # found again after a crash, it is shown once


def test_words_of_a_statement_that_is_over_are_not_changed_any_more() -> None:
    came = merged(PAGE, PAGE.replace("~~Use MySQL for", "~~Use MySQL 8 for"), PAGE, NOBODY, WHERE)
    why = "the statement is over, its words cannot be changed any more"
    yours = "~~Use MySQL 8 for the ledger.~~ (2026-01-04 to 2026-03-02)"
    was = "Use MySQL for the ledger."
    assert (came.acts, came.conflicts) == ((), (Conflict(WHERE.page, "m_aa04", was, yours, was, why),))


def test_a_line_that_was_moved_while_another_took_its_place_is_shown() -> None:
    found = PAGE.replace(BACKUPS + "\n", "").replace("## Decisions\n\n", f"## Decisions\n\n{BACKUPS}\n")
    over = "- Backups run hourly. ^m-bb01\n- ~~Backups run at 02:00 UTC.~~ (2026-01-04 to 2026-03-02) ^m-aa02"
    came = merged(PAGE, found, PAGE.replace(BACKUPS, over), NOBODY, WHERE)
    assert (came.acts, [each.why for each in came.conflicts]) == ((), ["the statement is over meanwhile"])


def test_a_shown_conflict_is_words_alone_and_goes_when_a_person_deletes_it() -> None:
    conflict = Conflict("concepts/x.md", "m_aa02", "a\n# b ^m-aa01", "<script> [[x]]", "", "because `x` changed")
    assert conflict.block == (
        "> [!conflict] because `x` changed (m-aa02)\n> Before: a \\# b \\^m-aa01\n"
        "> Yours: \\<script> \\[\\[x\\]\\]\n> Now: (gone)"
    )
    shown = PAGE.replace("## Related", f"## Notes\n\n{conflict.block}\n\nMine.\n\n## Related")
    human = Human(notes=(conflict.block, "Mine."))
    assert merged(shown, shown, shown, human, WHERE).acts == ()
    assert merged(shown, shown.replace(conflict.block, ""), shown, human, WHERE).human == Human(notes=("Mine.",))


def test_of_a_page_nobody_remembers_no_line_is_lost_and_none_is_rejected() -> None:
    found = PAGE.replace("02:00", "04:00").replace(STAGING, "- A line of mine.").replace("[database]", "[database, mine]")
    came = merged("", found, PAGE, NOBODY, WHERE)
    assert [(each.op, each.text) for each in came.acts] == [("remember", "A line of mine."), ("page", "")]
    assert [(each.memory, each.found, each.fresh) for each in came.conflicts] == [
        ("m_aa02", "Backups run at 04:00 UTC.", "Backups run at 02:00 UTC."),
    ]  # fmt: skip
    assert came.human == Human(tags=("database", "mine"), notes=(came.conflicts[0].block,))


# What is no statement


@pytest.mark.parametrize(
    ("old", "new", "human"),
    [
        ("title: PostgreSQL", "title: Postgres 16", Human(title="Postgres 16")),
        ("# PostgreSQL\n", "# The database\n", Human(title="The database")),
        ("title: PostgreSQL", "title: ''", NOBODY),
        ("[Postgres]", "[Postgres, PG]", Human(aliases=("Postgres", "PG"))),
        ("aliases: [Postgres]\n", "", Human(aliases=())),
        ("[database]", "\n  - database\n  - sql", Human(tags=("database", "sql"))),
        ("tags: [database]", "tags: one", Human(tags=("one",))),
        ("confidence: 0.82\n", "confidence: 0.82\nmood: good\ncssclasses: [wide]\n",
         Human(extra={"mood": "good", "cssclasses": ["wide"]})),
        ("## Decisions\n", "Prose of mine.\n\n## Decisions\n", Human(notes=("Prose of mine.",))),
        ("## Related\n", "## Notes\n\n- a\n  - b\n- c\n\n## Related\n", Human(notes=("- a\n  - b\n- c",))),
        ("## Decisions\n", "```\nopen\n```\n\n## Decisions\n", Human(notes=("```\nopen\n```",))),
        ("## Decisions\n", "## My corner\n\nMine.\n\n## Decisions\n", Human(notes=("## My corner", "Mine."))),
        ("- [[connections/both|Both]]", "- [[connections/both|Both]]\n- [[mine]], see there",
         Human(related=("[[mine]], see there",))),
        ("- [[connections/both|Both]]", "", Human(unlinked=("[[connections/both|Both]]",))),
        (": `e_1` (m-aa01, m-aa02)", ": `e_1` (m-aa01, m-aa02) I doubt it", Human(notes=(
            "- 2026-03-02 claude-code, [[daily/2026-03-02#^s-1a2b3c4d|session 1a2b3c4d]]: `e_1` (m-aa01, m-aa02) I doubt it",))),
    ],
)  # fmt: skip
def test_what_a_person_settles_for_a_page_is_kept(old: str, new: str, human: Human) -> None:
    assert old in PAGE
    came = merged(PAGE, PAGE.replace(old, new), PAGE, NOBODY, WHERE)
    assert (came.human, came.conflicts) == (human, ())
    assert [each.op for each in came.acts] == ([] if human == NOBODY else ["page"])


def test_what_was_settled_is_on_the_record() -> None:
    came = merged(PAGE, PAGE.replace("[database]", "[sql]"), PAGE, Human(title="PostgreSQL"), WHERE)
    assert came.acts == (act("page", settled={"tags": ["sql"]}),)


def test_title_and_heading_changed_to_two_things_are_both_kept() -> None:
    found = PAGE.replace("title: PostgreSQL", "title: Postgres 16").replace("# PostgreSQL\n", "# The database\n")
    assert merged(PAGE, found, PAGE, NOBODY, WHERE).human == Human(title="Postgres 16", aliases=("Postgres", "The database"))


def test_lists_that_both_changed_have_what_both_added_and_not_what_one_removed() -> None:
    fresh = PAGE.replace("[database]", "[database, sql]").replace("[Postgres]", "[Postgres, pg]")
    found = PAGE.replace("[database]", "[mine]")
    assert merged(PAGE, found, fresh, NOBODY, WHERE).human == Human(tags=("sql", "mine"))


def test_without_front_matter_the_settings_stay_as_they_were() -> None:
    human = Human(title="PostgreSQL", tags=("database",), extra={"a": 1})
    body = PAGE[PAGE.index("# PostgreSQL") :]
    assert merged(PAGE, body, PAGE, human, WHERE) == replace(merged(PAGE, PAGE, PAGE, human, WHERE), text=body)
    assert merged(PAGE, body.replace("# PostgreSQL", "# Mine"), PAGE, human, WHERE).human == replace(human, title="Mine")


def test_front_matter_that_cannot_be_read_is_kept_as_a_note() -> None:
    came = merged(PAGE, PAGE.replace("[database]", "[database"), PAGE, NOBODY, WHERE)
    front = PAGE[: PAGE.index("\n\n# PostgreSQL")].replace("[database]", "[database")
    assert came.human == Human(notes=(front,))
    came = merged(PAGE, PAGE.replace("[database]", "[database\n\n- a ``` ^m-aa01\n"), PAGE, NOBODY, WHERE)
    front = front.replace("[database", "[database\n\n- a ``` ^m-aa01\n")
    assert came.human == Human(notes=(f"````\n{front}\n````",))  # in a fence where it would be read as something else


def test_blocks_that_were_made_are_not_a_persons_and_changed_ones_are() -> None:
    made = PAGE.replace("## Key points\n", "## Key points\n\nMade prose. (m-aa01)\n")
    assert merged(made, made, PAGE, NOBODY, WHERE).human == NOBODY
    assert merged(made, made.replace("Made", "My"), made, NOBODY, WHERE).human == Human(notes=("My prose. (m-aa01)",))
    assert merged(made, made.replace("Made prose. (m-aa01)", ""), made, NOBODY, WHERE).human == NOBODY


def test_notes_that_no_page_has_shown_yet_are_not_taken_for_deleted() -> None:
    human = Human(notes=("Shown.", "Not yet."))
    base = PAGE.replace("## Related", "## Notes\n\nShown.\n\n## Related")
    found = base.replace("Shown.", "Shown well.")
    assert merged(base, found, base, human, WHERE).human == Human(notes=("Shown well.", "Not yet."))
    assert merged(base, base.replace("Shown.", ""), base, human, WHERE).human == Human(notes=("Not yet.",))


def test_a_line_in_a_list_that_is_made_is_a_note_and_no_memory() -> None:
    index = "---\nid: index\ntitle: Index\n---\n\n# Index\n\n## Concepts\n\n- [[concepts/postgresql|PostgreSQL]] (2)\n"
    came = merged(index, index + "- [[mine]]\n  of *mine*\n", index, NOBODY, WHERE)
    assert (came.human, [each.op for each in came.acts]) == (Human(notes=("- [[mine]]\n  of *mine*",)), ["page"])


def test_what_was_said_in_a_session_is_not_changed_by_an_edit_and_the_edit_is_kept() -> None:
    front = "---\nid: daily-2026-03-02\ntitle: 2026-03-02\n---\n\n# 2026-03-02\n\n"
    day = f"{front}## 14:05 claude-code\n\n### Key exchanges\n\n- Do it. ^e-1\n"
    came = merged(day, day.replace("Do it.", "Do it well."), day, NOBODY, WHERE)
    assert (came.human, [each.op for each in came.acts]) == (Human(notes=("- Do it well.",)), ["page"])


# Several pages


OTHER = PAGE.replace("c-3f2a9c10", "x-00000001").replace("title: PostgreSQL", "title: Both").replace("# PostgreSQL", "# Both")
THERE = Where("connections/both.md")


def both(found: str, other: str) -> list[tuple[list[tuple[str, str, str]], list[str]]]:
    """Acts and open conflicts of both pages, the first changed last."""
    pages = [compared(PAGE, found, PAGE, NOBODY, WHERE), compared(OTHER, other, OTHER, NOBODY, THERE)]
    return [
        ([(each.op, each.memory, each.text) for each in page.acts if each.op != "page"], [each.found for each in page.conflicts])
        for page in settled(pages)
    ]


def test_the_same_edit_on_two_pages_is_one_act() -> None:
    changed = ("02:00", "04:00")
    acts = [("edit", "m_aa02", "Backups run at 04:00 UTC.")]
    assert both(PAGE.replace(*changed), OTHER.replace(*changed)) == [(acts, []), ([], [])]


def test_of_two_different_edits_the_newest_is_carried_out_and_the_other_shown() -> None:
    assert both(PAGE.replace("02:00", "04:00"), OTHER.replace("02:00", "05:00")) == [
        ([("edit", "m_aa02", "Backups run at 04:00 UTC.")], []), ([], ["Backups run at 05:00 UTC."]),
    ]  # fmt: skip


def test_words_weigh_more_than_a_deleted_line() -> None:
    assert both(PAGE.replace(BACKUPS, ""), OTHER.replace("02:00", "05:00")) == [
        ([], [""]), ([("edit", "m_aa02", "Backups run at 05:00 UTC.")], []),
    ]  # fmt: skip


def test_a_line_that_was_moved_to_another_page_is_not_rejected() -> None:
    other = OTHER.replace(BACKUPS + "\n", "")
    pasted = other.replace("## Tasks\n\n", f"## Tasks\n\n{BACKUPS}\n")
    words = {"m_aa02": "Backups run at 02:00 UTC."}
    for found, acts in ((pasted, []), (pasted.replace("02:00", "04:00"), [("edit", "m_aa02", "Backups run at 04:00 UTC.")])):
        pages = [compared(PAGE, PAGE.replace(BACKUPS, ""), PAGE, NOBODY, WHERE), compared(other, found, other, NOBODY, THERE)]
        assert [(each.op, each.memory, each.text) for page in settled(pages, words.get) for each in page.acts] == acts


def test_a_line_that_was_copied_and_changed_is_another_statement() -> None:
    other = OTHER.replace(BACKUPS + "\n", "")
    found = other.replace("## Tasks\n\n", "## Tasks\n\n- Restores run at 02:00 UTC. ^m-aa02\n")
    page = settled([compared(other, found, other, NOBODY, THERE)], {"m_aa02": "Backups run at 02:00 UTC."}.get)[0]
    assert page.acts == (Act("remember", "m_aa02", "Restores run at 02:00 UTC.", "task", THERE.page),)


def test_a_line_that_is_there_again_names_its_memory() -> None:
    found = PAGE.replace(BACKUPS, f"{BACKUPS}\n- Once rejected. ^m-bb01")
    assert done_to(found) == (act("remember", "m_bb01", "Once rejected.", "fact"),)
