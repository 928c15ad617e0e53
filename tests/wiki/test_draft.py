"""The pages that the ledger makes: what is kept from last time is never what was true last time only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, timedelta, timezone

import pytest

from hindbrain.wiki.draft import Draft, How, drawn
from hindbrain.wiki.known import Row
from hindbrain.wiki.page import Material, Sitting
from hindbrain.wiki.render import Human
from tests.wiki.made import HOUR, START, fact, material

FACTS = [
    fact(1, "Redis holds the sessions.", "decision"), fact(2, "Redis is emptied on deploy."), fact(3, "Kafka feeds Redis."),
    fact(4, "Kafka keeps a week.", session=2), fact(5, "Kafka runs on three nodes.", session=2),
]  # fmt: skip


def sitting(of: int, began: int, *facts: int) -> Sitting:
    ids = tuple(FACTS[each - 1].id for each in facts)
    said = (began, began + HOUR, "Work on the cache.", "")
    return Sitting(f"s_{of:024x}", "claude-code", "p_1", "main", *said, ((f"e_{of:024x}", "Why so slow?"),), ids)


HELD = material(FACTS, [sitting(1, START, 1, 2, 3), sitting(2, START + HOUR, 4, 5), sitting(3, START + 30 * HOUR)])
FIRST, SECOND, _ = HELD.sittings.values()


def with_fact(number: int, **other: object) -> Material:
    changed = replace(FACTS[number - 1], **other)  # type: ignore[arg-type]
    return replace(HELD, facts={**HELD.facts, changed.id: changed})


def with_sitting(which: Sitting, **other: object) -> Material:
    return replace(HELD, sittings={**HELD.sittings, which.id: replace(which, **other)})  # type: ignore[arg-type]


CHANGED = {
    "a fact's words": with_fact(1, text="Redis holds no sessions."),
    "its reason": with_fact(1, why="of its speed"),
    "its end": with_fact(2, valid_to=START + 9 * HOUR),
    "its kind": with_fact(2, kind="task"),
    "its project": with_fact(4, project="p_2"),
    "a fact is gone": replace(HELD, facts={key: each for key, each in HELD.facts.items() if key != FACTS[3].id}),
    "a project's name": replace(HELD, projects={"p_1": "backend"}),
    "a session's branch": with_sitting(FIRST, branch="cache"),
    "its end of the day": with_sitting(FIRST, ended=START + 20 * HOUR),
    "its digest": with_sitting(FIRST, long="Redis was slow.\nNow it is not."),
    "what was said": with_sitting(SECOND, exchanges=((f"e_{9:024x}", "And Kafka?"),)),
    "what was found in it": with_sitting(SECOND, facts=(FACTS[4].id,)),
    "its day": with_sitting(SECOND, began=START + 31 * HOUR, ended=START + 32 * HOUR),
    "a session is gone": replace(HELD, sittings={FIRST.id: FIRST}),
}


@pytest.mark.parametrize("now", CHANGED.values(), ids=CHANGED)
def test_what_is_drawn_with_last_time_at_hand_is_what_is_drawn_without(now: Material) -> None:
    before = drawn(HELD, How())
    made, anew = drawn(now, How(), before), drawn(now, How())
    assert (made.pages, made.page_prints) == (anew.pages, anew.page_prints) != (before.pages, before.page_prints)
    back = drawn(HELD, How(), made)
    assert (back.pages, back.page_prints) == (before.pages, before.page_prints)


def test_days_are_told_anew_in_another_time_zone() -> None:
    east = How(timezone(timedelta(hours=9)))
    before = drawn(HELD, How())
    assert drawn(HELD, east, before).pages == drawn(HELD, east).pages != before.pages


def test_of_a_day_only_the_session_that_changed_is_told_anew() -> None:
    before = drawn(HELD, How())
    made = drawn(CHANGED["a session's branch"], How(), before)
    (was, _), (now, _) = before.days["2026-03-02"], made.days["2026-03-02"]
    assert now[0] != was[0] and now[1] is was[1]
    assert made.pages["daily-2026-03-03"] is before.pages["daily-2026-03-03"]


def _as_they_are(row: Row) -> Row:
    return row


ROWS: dict[str, Callable[[Row], Row]] = {
    "renamed": lambda row: replace(row, path=row.path.replace("concepts/redis", "concepts/cache")),
    "retitled": lambda row: replace(row, human=Human(title="Cache")) if row.path == "concepts/redis.md" else row,
    "noted on": lambda row: replace(row, human=Human(notes=("Ask Mia.",))) if row.path == "concepts/redis.md" else row,
    "left out": lambda row: replace(row, base=None, left_out=True) if row.path == "concepts/redis.md" else row,
    "as they are": _as_they_are,
}


@pytest.mark.parametrize("change", ROWS.values(), ids=ROWS)
def test_what_a_page_is_made_from_tells_whenever_its_text_is_another(change: Callable[[Row], Row]) -> None:
    """A page that others link to was changed by a person: theirs are other texts too. Asked again and again of one `Drawn`."""
    made = drawn(HELD, How())
    rows = [Row(page.id, page.type, page.title, page.path, base="") for page in made.pages.values()]
    told: list[dict[str, tuple[str, str]]] = []
    for some in (rows, [*map(change, rows)], rows):
        kept, fresh = Draft(made, some, UTC), Draft(drawn(HELD, How()), some, UTC)
        told.append({page.id: (kept.inputs(page), kept.text(page)) for page in kept.pages.values()})
        assert told[-1] == {page.id: (fresh.inputs(page), fresh.text(page)) for page in fresh.pages.values()}
    first, other, last = told
    assert last == first
    both = first.keys() & other.keys()
    assert {key for key in both if first[key][1] != other[key][1]} <= {key for key in both if first[key][0] != other[key][0]}
    assert (first == other) is (change is _as_they_are)


def test_what_a_page_was_made_from_is_known_for_the_links_it_had_then_only() -> None:
    """A draft that asked of one page alone leaves nothing behind that the next one takes for its own."""
    made = drawn(HELD, How())
    pages = Draft(made, (), UTC).pages
    linking, linked = next((page, pages[other]) for page in pages.values() for other in page.related if other in pages)
    rows = [Row(page.id, page.type, page.title, page.path, base="x") for page in pages.values()]
    renamed = [replace(row, human=Human(title="Another")) if row.id == linked.id else row for row in rows]
    before = Draft(made, rows, UTC).inputs(linking)
    Draft(made, renamed, UTC).inputs(linked)
    after = Draft(made, renamed, UTC).inputs(linking)
    assert before != after == Draft(drawn(HELD, How()), renamed, UTC).inputs(linking)
    assert Draft(made, rows, UTC).inputs(linking) == before
