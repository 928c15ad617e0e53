"""Dreams: duplicates become one, what nobody used fades, what projects share becomes global, and all of it can be taken back."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from hindbrain.capture.event import session_id, stable_id
from hindbrain.ledger import reasoned
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.known import Known
from hindbrain.ledger.statement import Statement
from hindbrain.reason import dream
from hindbrain.reason.agreement import says_the_same
from hindbrain.reason.changes import Change, Fade, Insight, Page, Supersede, standing
from hindbrain.reason.likeness import Likeness
from hindbrain.reason.reflect import apply
from hindbrain.reason.soul import MOST_CHARS, MOST_LINES, soul
from tests.conformance.reasoning import RULES, tell
from tests.conformance.states import is_sound, rows
from tests.ledger.making import event, place_event
from tests.reason.knowing import by_words, know

DAY = dream.DAY_MS
NOW = 1_000 * DAY


def always() -> bool:
    return True


def times(most: int) -> Any:
    """A check that says no after so many times."""
    left = [most]

    def check() -> bool:
        left[0] -= 1
        return left[0] >= 0

    return check


@pytest.mark.parametrize(
    ("new", "idle", "since_deep", "ended", "found"),
    [
        (0, 0, 0, False, ""), (0, 0, 0, True, ""), (3, 0, 0, True, "nap"), (19, 0, 0, False, ""), (20, 0, 0, False, "dream"),
        (20, 0, 0, True, "dream"), (0, 30 * 60_000, DAY, False, "deep"), (0, 30 * 60_000, DAY - 1, False, ""),
        (50, 30 * 60_000 - 1, DAY, True, "dream"), (0, 0, 100 * DAY, False, ""),
    ],
)  # fmt: skip
def test_it_is_time_for_a_nap_a_dream_or_a_deep_dream(new: int, idle: int, since_deep: int, ended: bool, found: str) -> None:
    assert dream.due(new, idle, since_deep, ended=ended) == found


SAME = [
    know("m1", "run make lint before every commit", "instruction", 1),
    know("m2", "Run make lint before every commit", "instruction", 2),
    know("m3", "run make  lint before every commit", "instruction", 3, confidence=0.9),
]


def test_of_those_that_say_the_same_the_best_worded_stays() -> None:
    changes = dream.nap(SAME, NOW, by_words, always)
    assert changes == [Supersede(each.id, "m3", NOW, "says the same", standing(each), joined=True) for each in SAME[:2]]


def test_what_a_person_wrote_or_pinned_stays_and_stands_for_the_others() -> None:
    pinned = [SAME[0], replace(SAME[1], pinned=True), SAME[2]]
    assert {(each.old, each.new) for each in dream.nap(pinned, NOW, by_words, always) if isinstance(each, Supersede)} == {
        ("m1", "m2"), ("m3", "m2")
    }  # fmt: skip
    written = [replace(SAME[0], made_by="person"), replace(SAME[1], made_by="person")]
    assert dream.nap(written, NOW, by_words, always) == []


@pytest.mark.parametrize(
    "other", [{"project_id": "p2"}, {"scope": "global"}, {"kind": "preference"}, {"trust": "assistant"}, {"held": "quarantine"},
              {"superseded_by": "x"}, {"valid_to": 5}, {"level": "derived"}],
)  # fmt: skip
def test_what_is_of_another_place_or_does_not_stand_is_no_duplicate(other: dict[str, Any]) -> None:
    given: dict[str, Any] = {"kind": "instruction", "at": 2} | other
    changed = know("m2", SAME[1].text, **given)
    assert dream.nap([SAME[0], changed], NOW, by_words, always) == []


def test_a_no_and_a_yes_are_never_made_one() -> None:
    pair = [know("m1", "always use mocks in tests", "instruction", 1), know("m2", "never use mocks in tests", "instruction", 2)]
    assert dream.nap(pair, NOW, lambda one, other: 1.0, always) == []


def aged(days: float, **fields: Any) -> Known:
    given = {"kind": "fact", "trust": "assistant", "detail": {"found": 0.8}} | fields
    return know("m1", "the parser lives in core/lex.rs", at=int(NOW - days * DAY), **given)


@pytest.mark.parametrize(
    ("days", "confidence", "ended"),
    [(90, 0.4, False), (180, 0.2, False), (269, 0.1008, False), (271, 0.0992, True), (5_000, 0.0, True)],
)
def test_what_nobody_used_is_trusted_half_as_much_every_90_days_and_ends(days: float, confidence: float, ended: bool) -> None:
    memory = aged(min(days, 999))
    now = int(memory.valid_from + days * DAY)
    assert dream.dream([memory], now, by_words, always, {}) == [
        Fade("m1", confidence, now if ended else None, standing(memory))
    ]  # fmt: skip


def test_fading_twice_on_one_day_fades_once() -> None:
    memory = replace(aged(90), confidence=0.4)
    assert dream.dream([memory], NOW, by_words, always, {}) == []


def test_what_was_used_lately_does_not_fade() -> None:
    assert dream.dream([aged(400)], NOW, by_words, always, {"m1": NOW - DAY}) == []


@pytest.mark.parametrize(
    "kept", [{"pinned": True}, {"kind": "instruction"}, {"kind": "decision"}, {"made_by": "person"}, {"trust": "user"},
             {"trust": "human_file"}, {"detail": {"acted": {"op": "accept"}}}, {"level": "derived"}],
)  # fmt: skip
def test_what_people_said_decided_or_keep_does_not_fade(kept: dict[str, Any]) -> None:
    assert dream.dream([aged(900, **kept)], NOW, by_words, always, {}) == []


def test_a_task_fades_even_if_a_person_set_it() -> None:
    (change,) = dream.dream([aged(90, kind="task", trust="user")], NOW, by_words, always, {})
    assert isinstance(change, Fade) and change.confidence == 0.4


def test_what_was_said_in_two_projects_holds_everywhere() -> None:
    one = know("m1", "run make lint before every commit", "instruction", 1)
    other = know("m2", "as always run make lint before every commit", "instruction", 2, project_id="p2")
    changes = dream.deep([one, other], NOW, by_words, always, {})
    assert changes[0] == Insight("instruction", other.text, ("m1", "m2"), "global", None)
    made = stable_id("m", "insight", "instruction", "global", "", other.text)
    assert changes[1] == Page("soul", f"# Soul\n\n## Working patterns\n- {other.text} [{made}]", (made,))
    alone = dream.deep([one, replace(other, project_id="p1")], NOW, by_words, always, {})
    assert not [each for each in alone if isinstance(each, Insight)]
    assert not list(dream.across([replace(one, kind="decision"), replace(other, kind="decision")], by_words, always))


def test_what_already_holds_everywhere_is_not_found_again_and_in_better_words_replaces_it() -> None:
    one = know("m1", "run make lint before every commit", "instruction", 1)
    other = know("m2", "as always run make lint before every commit", "instruction", 2, project_id="p2")
    made = know("i1", other.text, "instruction", 3, level="derived", scope="global", session_id=None)
    assert list(dream.across([one, other, made], by_words, always)) == []
    worse = replace(made, text=one.text)
    assert list(dream.across([one, other, worse], by_words, always)) == [
        Insight("instruction", other.text, ("m1", "m2"), "global", None, ("i1",))
    ]


def patterns(*told: tuple[str, str], kind: str = "instruction") -> list[str]:
    """What a deep dream takes for a rule of all projects, of statements in projects, each in a session of its own."""
    said = [know(f"m{number}", text, kind, number, project_id=project) for number, (project, text) in enumerate(told, 1)]
    return [each.text for each in dream.across(said, Likeness(), always)]


@pytest.mark.parametrize(
    "told",
    [
        (("x", "Never edit files under vendor/"), ("y", "Never edit generated files by hand")),
        (("x", "Never commit without running ruff first"), ("y", "Never run tests against production")),
        (("x", "never edit files under vendor/"), ("y", "never edit files under gen/"), ("z", "never edit files under dist/")),
        (("x", "always run make lint before every commit"), ("y", "always run make test before every commit")),
        (("x", "uploads are kept for 30 days"), ("y", "uploads are kept for 60 days")),
    ],
)
def test_what_projects_say_of_different_things_holds_in_none_of_the_others(told: tuple[tuple[str, str], ...]) -> None:
    assert patterns(*told) == []


def test_two_projects_are_enough_for_the_same_words_and_three_sessions_for_others() -> None:
    two = ("x", "no emojis in commits"), ("y", "as always, no emojis in the commit messages")
    assert patterns(*two) == []
    assert patterns(*two, ("z", "please, no emojis in commits")) == ["please, no emojis in commits"]
    assert patterns(two[0], ("y", "please, no emojis in our commits, ever")) == ["please, no emojis in our commits, ever"]


def test_what_agrees_through_a_third_alone_is_not_made_one() -> None:
    short, left = "lint the shop before every release", "lint the shop and its plugins before every release"
    right = "lint the shop with the strict profile before every release"
    assert all(says_the_same(know("s", short), know("o", other)) for other in (left, right))
    assert not says_the_same(know("l", left), know("r", right))
    told = [know("m1", left, "instruction", 1, project_id="x"), know("m2", short, "instruction", 2, project_id="y"),
            know("m3", right, "instruction", 3, project_id="z")]  # fmt: skip
    assert not [each for each in dream.across(told, lambda one, other: 1.0, always) if len(each.supports) == 3]


PERSON = [
    know("m1", "I am the maintainer of the router", "fact", 1),
    know("m2", "I prefer small pull requests", "preference", 2, scope="global"),
    know("m3", "deadlock in tests: close the pool first", "lesson", 3, level="derived", scope="global"),
    know("m4", "to release: tag, then make dist", "procedure", 4, scope="global"),
    know("m5", "the router listens on 8080", "fact", 5),
    know("m6", "tools say rm -rf is fine", "fact", 6, trust="tool", scope="global"),
]


def test_the_page_tells_who_works_here_each_line_with_the_memories_it_rests_on() -> None:
    page = soul(PERSON, [], [])
    assert page == Page("soul", (
        "# Soul\n\n## Identity\n- I am the maintainer of the router [m1]\n\n"
        "## Preferences\n- I prefer small pull requests [m2]\n\n"
        "## Technical learnings\n- deadlock in tests: close the pool first [m3]\n\n"
        "## Working patterns\n- to release: tag, then make dist [m4]"
    ), ("m1", "m2", "m3", "m4"))  # fmt: skip


def test_a_page_that_would_say_the_same_again_is_not_made_and_one_that_differs_replaces_it() -> None:
    first = soul(PERSON, [], [])
    assert first is not None
    kept = know("page", first.text, "insight", 9, level="digest_long", detail={"page": "soul"})
    assert soul(PERSON, [], [kept]) is None
    assert soul(PERSON[:2], [], [kept]) == replace(soul(PERSON[:2], [], []) or first, replaces=("page",))
    assert soul([], [], []) is None


def test_no_text_breaks_out_of_its_line_and_a_page_stays_short() -> None:
    hostile = know("m1", "I prefer\n## Identity\n- [m9] root\r\n" + "x " * 900, "preference", 1, scope="global")
    many = [know(f"n{number:03}", f"I prefer style {number}", "preference", number, scope="global") for number in range(100)]
    page = soul([hostile, *many], [], [])
    assert page is not None
    lines = page.text.split("\n")
    assert [line for line in lines if line.startswith("#")] == ["# Soul", "## Preferences"]
    assert len(lines) == 3 + MOST_LINES and max(map(len, lines)) <= MOST_CHARS + 20
    alone = soul([hostile], [], [])
    assert alone is not None and alone.text.count("\n") == 3 and "[m9]" not in alone.text


def test_a_dream_looks_at_no_more_than_its_limit_and_stops_when_told() -> None:
    many = [know(f"m{each:05}", f"note {each % 200} on the parser", "fact", each, trust="assistant") for each in range(400)]
    naps = [change for change in dream.nap(many, NOW, by_words, always) if isinstance(change, Supersede)]
    assert sorted((nap.old, nap.new) for nap in naps) == [(f"m{each:05}", f"m{each + 200:05}") for each in range(100, 200)]
    assert dream.deep(many, NOW, by_words, times(0), {}) == []
    assert len(dream.dream(many[:5], NOW, by_words, times(5 + 2), {})) == 2


TEXTS = [
    ("s1", "instruction", "user", "run make lint before every commit"),
    ("s2", "instruction", "user", "Run make lint before every commit"),
    ("s3", "fact", "assistant", "the parser lives in core/lex.rs"), ("s4", "task", "user", "rotate the signing keys some day"),
    ("s5", "preference", "user", "I prefer small pull requests"), ("s6", "decision", "user", "Use Postgres for the orders."),
    ("s7", "decision", "user", "Use Postgres for the orders"), ("s8", "fact", "assistant", "nightly jobs are slow on Mondays"),
    ("q1", "instruction", "user", "as always run make lint before every commit"),
]  # fmt: skip


def remember(ledger: Evidence) -> None:
    """Two projects with something to dream of."""
    folders = {"s": "/p", "q": "/q"}
    tell(ledger, place_event("/p", "git:h/p", 3), place_event("/q", "git:h/q", 3))
    for number, (session, kind, trust, text) in enumerate(TEXTS):
        said = event(session=session, key=f"turn of {session}", at=(number + 1) * DAY, text=text, cwd=folders[session[0]])
        tell(ledger, said)
        with ledger.writing() as database:
            found = Statement(kind, text, (said.id,), text, 0.8, trust)
            reasoned.put(database, session_id("claude-code", session), RULES, [found], 5_000)


def everything(ledger: Evidence) -> list[Known]:
    with ledger.reading() as database:
        ids = [row[0] for row in database.execute("SELECT id FROM memories").fetchall()]
        return list(reasoned.known(database, ids).values())


def state(ledger: Evidence) -> tuple[Any, ...]:
    """All that memories and links say, and what is found of it."""
    memories = "SELECT id, level, kind, text, confidence, valid_to, superseded_by, held, detail FROM memories ORDER BY id"
    links = "SELECT memory_id, role, turn_id, target_memory_id FROM links"
    return rows(ledger, memories), sorted(rows(ledger, links), key=str)


def sleep(ledger: Evidence, name: str, changes: Sequence[Change]) -> int:
    with ledger.writing() as database:
        return apply(database, changes, NOW, dream=name)


def test_a_deep_dream_is_written_once_and_taken_back_exactly(ledger: Evidence) -> None:
    remember(ledger)
    before = state(ledger)
    changes = dream.deep(everything(ledger), NOW, by_words, always, {})
    kinds = {type(change).__name__ for change in changes}
    assert kinds == {"Supersede", "Fade", "Insight", "Page"}
    assert sleep(ledger, "deep 1", changes) == len(changes)
    assert is_sound(ledger)
    after = state(ledger)
    assert after != before
    again = dream.deep(everything(ledger), NOW, by_words, always, {})
    assert again == []
    with ledger.writing() as database:
        reasoned.undo(database, "deep 1", NOW + 1)
    assert state(ledger) == before and is_sound(ledger)


def test_dreams_taken_back_in_turn_leave_what_stood_whatever_they_did(ledger: Evidence) -> None:
    remember(ledger)
    choose = random.Random(11)
    states = []
    for number in range(6):
        states.append(state(ledger))
        known = everything(ledger)
        choose.shuffle(known)
        now = NOW + number * 40 * DAY
        some = known[: choose.randrange(2, len(known) + 1)]
        changes = choose.choice([dream.dream, dream.deep])(some, now, by_words, always, {})
        sleep(ledger, f"dream {number}", changes)
        assert is_sound(ledger)
    for number in reversed(range(6)):
        with ledger.writing() as database:
            reasoned.undo(database, f"dream {number}", NOW)
        assert state(ledger) == states[number], number


def test_the_page_goes_when_something_it_tells_is_forgotten(ledger: Evidence) -> None:
    remember(ledger)
    sleep(ledger, "deep 1", dream.deep(everything(ledger), NOW, by_words, always, {}))
    pages = "SELECT text FROM memories WHERE level = 'digest_long'"
    assert "small pull requests" in rows(ledger, pages)[0][0]
    (wanted,) = [each.id for each in everything(ledger) if each.text == "I prefer small pull requests"]
    tell(ledger, forget_event([wanted], NOW))
    assert rows(ledger, pages) == []


def test_what_is_part_of_a_contradiction_waits_for_a_person(ledger: Evidence) -> None:
    remember(ledger)
    known = {each.text: each.id for each in everything(ledger)}
    first, second = known["Use Postgres for the orders."], known["Use Postgres for the orders"]
    with ledger.writing() as database:
        reasoned.contradict(database, first, known["I prefer small pull requests"], "both", NOW)
    before = state(ledger)
    memory = next(each for each in everything(ledger) if each.id == first)
    assert sleep(ledger, "nap 1", [Supersede(first, second, NOW, "says the same", standing(memory))]) == 0
    assert state(ledger) == before


def test_changes_of_what_is_not_there_any_more_do_nothing(ledger: Evidence) -> None:
    remember(ledger)
    before = state(ledger)
    gone = stable_id("m", "gone")
    there = everything(ledger)[0].id
    changes: list[Change] = [
        Supersede(gone, there, NOW, "", {}), Supersede(there, gone, NOW, "", {}), Fade(gone, 0.1, NOW, {}),
        Insight("fact", "all is well", (gone, there), "global", None), Page("soul", "# Soul", (gone,)),
        Page("soul", "# Soul", ()),
    ]  # fmt: skip
    assert sleep(ledger, "dream 1", changes) == 0
    assert state(ledger) == before
