"""The day's log, the index, the log of compiles."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta, timezone

from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.wiki.daily import days
from hindbrain.wiki.index import Entry, index, log, soul
from hindbrain.wiki.page import Material, Sitting
from hindbrain.wiki.parse import read
from hindbrain.wiki.render import rendered
from hindbrain.wiki.text import folded
from hindbrain.wiki.topics import planned
from tests.wiki.made import HOUR, START, WORDS, fact, material, number


def sitting(of: int, *facts: int, began: int = START, **other: object) -> Sitting:
    made = Sitting(
        f"s_{number(of)}",
        "claude-code",
        "p_1",
        "main",
        began,
        began + HOUR,
        "Short.",
        "",
        (),
        tuple(f"m_{number(each)}" for each in facts),
    )
    return replace(made, **other)  # type: ignore[arg-type]


def test_a_day_tells_of_its_sessions_in_order() -> None:
    held = material(
        [fact(1, "Use Redis.", "decision"), fact(2, "Write docs.", "task"), fact(3, "It leaked.", "lesson")],
        [sitting(2, 3, began=START + 2 * HOUR), sitting(1, 1, 2, 99, exchanges=((f"e_{number(7)}", "what [[now]]?\nmore"),))],
    )
    [(page_id, page)] = days(held, UTC).items()
    text = rendered(page, held, {})
    assert (page_id, page.path) == ("daily-2026-03-02", "daily/2026-03-02.md")
    assert (
        "# 2026-03-02\n\n## 08:26 claude-code in api-server (main)\n\n"
        "Session 00000000, 08:26 to 09:26. ^s-00000000\n\n### Context\n\nShort."
        in text
    )
    assert (
        f"### Key exchanges\n\n- what \\[\\[now\\]\\]? more ^e-{number(7)}\n\n### Decisions\n\n- Use Redis. ^m-{number(1)}\n"
        in text
    )
    assert f"### Action items\n\n- [ ] Write docs. ^m-{number(2)}\n\n## 10:26 claude-code" in text
    assert [line.memory for line in read(text).lines] == [f"m_{number(of)}" for of in (1, 2, 3)]


def test_sources_of_pages_lead_to_the_session_of_the_day() -> None:
    held = material([fact(1, "Redis holds jobs."), fact(2, "Redis is slow.")], [sitting(1, 1, 2, began=START - 20 * HOUR)])
    zone = timezone(timedelta(hours=5))
    pages = dict(planned(held).pages) | days(held, zone)
    page = next(each for each in pages.values() if each.title == "Redis")
    target = rendered(page, held, pages, zone=zone).split("[[daily/")[1].split("|")[0]
    date, _, part = target.partition("#")
    assert f" {part}\n" in rendered(pages[f"daily-{date}"], held, pages, zone=zone)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_no_words_of_a_session_become_anything_else(told: list[tuple[str, str, str, str]]) -> None:
    sittings = [
        sitting(of, of, branch=branch, agent=agent, long=long, exchanges=((f"e_{number(of)}", said),))
        for of, (branch, agent, long, said) in enumerate(told, 1)
    ]
    held = material([fact(of, each[2]) for of, each in enumerate(told, 1)], sittings, p_1=told[0][0])
    for page in days(held, UTC).values():
        text = rendered(page, held, {})
        assert text == rendered(days(held, UTC)[page.id], held, {})
        assert sum(line.startswith("## ") for line in text.split("\n")) == len(told)
        assert [line.text for line in read(text).lines] == [folded(each[2]) for each in told]


def test_the_index_names_every_page_once() -> None:
    held = material(
        [fact(1, "Redis holds jobs."), fact(2, "Redis is slow.", successor=f"m_{number(1)}", valid_to=START)], [sitting(1, 1)]
    )
    pages = dict(planned(held).pages) | days(held, UTC)
    text = rendered(index(pages, held), held, pages)
    assert [text.count(f"[[{page.path.removesuffix('.md')}|") for page in pages.values()] == [1] * len(pages)
    assert "- [[concepts/redis|Redis]] (1): Redis holds jobs.\n" in text
    assert "Nothing is known yet." in rendered(index({}, material([])), material([]), {})


def test_the_log_tells_the_newest_first() -> None:
    held = material([])
    text = rendered(log([Entry(START, "compile", "3 pages [[x]]", ("concepts/a.md",)), Entry(START + HOUR, "undo")]), held, {})
    assert "## 2026-03-02\n\n- 09:26 undo\n- 08:26 compile: 3 pages \\[\\[x\\]\\] ([[concepts/a]])\n" in text
    assert "Nothing was compiled yet." in log([]).body


def test_the_soul_is_shown_as_words() -> None:
    page = soul(Material({}, {}, {}, "Likes short answers.\n# not a heading\n"))
    assert page is not None and page.body == "Likes short answers.\n\n\\# not a heading"
    assert soul(material([])) is None
