"""Pages as people really edit them, anywhere and anyhow: whatever was typed is on the page that is rendered next, whatever was
not touched is still there, and from then on nothing changes by itself.

The ledger is a small one of this test: it does to facts what acts say. What the real one does is tested with the real one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.wiki import daily, names
from hindbrain.wiki.edits import Act, Merged, Where, merged
from hindbrain.wiki.page import Fact, Material, Page, Sitting
from hindbrain.wiki.parse import read
from hindbrain.wiki.render import NOBODY, Human, rendered
from hindbrain.wiki.sections import sections
from hindbrain.wiki.text import folded, mark
from tests.wiki.made import HOUR, START, WORDS, fact, material, number

WHERE = Where("concepts/x.md", "p_1")
KINDS = st.sampled_from(["fact", "decision", "instruction", "lesson", "procedure", "task"])
SAID = ["PostgreSQL", "backups", "run", "at night", "`make test`", "never", "16"]
PLAIN = st.lists(st.sampled_from(SAID), min_size=2, max_size=6).map(" ".join)
TOKENS = [f"ZQX{of}QZ" for of in range(8)]
MADE = re.compile(r"(?:id|sources|created|updated|confidence): |---$|\.\.\.$")  # of front matter a person does not touch
MARK = re.compile(r"\^[a-z]-[0-9a-z]+")
OTHER = Page("x-1", "connection", "connections/both.md", "Both")


@dataclass(frozen=True)
class Ledger:
    """Facts, oldest first, and what a person settled for the page of all of them."""

    facts: tuple[Fact, ...]
    human: Human = NOBODY

    @property
    def material(self) -> Material:
        return material(self.facts)

    def page(self) -> str:
        made = Page(
            "c-1", "concept", WHERE.page, "Title", ("Other name",), ("tag",), sections(self.facts), ("x-1",), START, START + HOUR,
            0.8, ("p_1",),
        )  # fmt: skip
        return rendered(made, self.material, {"x-1": OTHER}, self.human)

    def after(self, came: Merged) -> Ledger:
        ledger = replace(self, human=came.human)
        for act in sorted(came.acts, key=lambda act: act.op != "edit"):
            ledger = replace(ledger, facts=tuple(_done(act, ledger.facts)))
        return ledger


def _done(act: Act, facts: tuple[Fact, ...]) -> Iterable[Fact]:
    at = max((each.valid_from for each in facts), default=START) + 10 * HOUR
    target = next((each for each in facts if each.id == act.memory), None)
    if act.op == "page":
        return facts
    if act.op == "remember" or target is None:
        if target is not None and folded(target.text) == act.text:
            return facts
        return (*facts, _new(act, act.kind or "fact", at, bool(act.detail.get("done"))))
    if act.op == "reject":
        left = (each for each in facts if each.id != act.memory)
        return [replace(each, successor=None, valid_to=at) if each.successor == act.memory else each for each in left]
    if act.op == "edit":
        made = _new(act, act.kind or target.kind, at, bool(act.detail.get("done")))
        reason = {name: str(act.detail.get(name, "")) for name in ("why", "instead_of")}
        return (*_with(facts, replace(target, successor=made.id, valid_to=at)), replace(made, **reason))  # type: ignore[arg-type]
    head = target if target.valid_to is not None and act.op == "undone" else _head(target, facts)
    if act.op == "done":
        return _with(facts, replace(head, valid_to=head.valid_to or at))
    return _with(facts, replace(head, valid_to=None, successor=None))


def _new(act: Act, kind: str, at: int, over: bool) -> Fact:
    made = fact(at // HOUR, act.text, kind)
    return replace(made, id=f"m_{names.hashed(f'{at} {act.text}', 24)}", valid_from=at, valid_to=at if over else None)


def _with(facts: tuple[Fact, ...], changed: Fact) -> tuple[Fact, ...]:
    return tuple(changed if each.id == changed.id else each for each in facts)


def _head(one: Fact, facts: tuple[Fact, ...]) -> Fact:
    while one.successor is not None:
        one = next(each for each in facts if each.id == one.successor)
    return one


@st.composite
def ledgers(draw: st.DrawFn, words: st.SearchStrategy[str]) -> Ledger:
    facts: list[Fact] = []
    for of, text in enumerate(draw(st.lists(words, min_size=1, max_size=5)), 1):
        made = fact(of, text, draw(KINDS), why=draw(st.sampled_from(["", "it is fast", "a; instead of: b"])))
        if draw(st.integers(0, 4)) == 0:
            made = replace(made, valid_to=made.valid_from + HOUR)
        if facts and draw(st.integers(0, 4)) == 0:
            facts[-1] = replace(facts[-1], successor=made.id, valid_to=made.valid_from)
        facts.append(made)
    notes = draw(st.lists(st.sampled_from(["Mine.", "- a\n- b", "### Own", "> said"]), max_size=2, unique=True))
    return Ledger(tuple(facts), Human(notes=tuple(notes)))


NEW = [
    "- {}", "* {}", "- [ ] {}", "- [x] {}", "  - {}", "1. {}", "{}", "> {}", "## {}", "### {}", "# {}", "```\n{}\n```", "```\n{}",
    "| {} | b |\n|---|---|", "---\n{}", "<!-- {} -->", "- ~~{}~~", "- {} ^m-12ab", "~~~\n{}\n~~~", "    {}", "[[{}]]",
    "- {}\n  more",
    "{}\n===", "## Notes\n\n- {}", "## Decisions\n\n- {}", "{} ^m-12ab", "- {} (because: it is so)", "\t- {}", "- {} ^s-1a2b3c4d",
    "- 2026-03-02 me, see: `{}`", "- - {}", "- ## {}", "- > {}",
]  # fmt: skip


@st.composite
def edited(draw: st.DrawFn, text: str, most: int = 4) -> tuple[str, list[str], bool]:
    """A text after a person had it, what was typed, and whether whole lines were deleted or moved."""
    lines = text.split("\n")
    typed: list[str] = []
    rough = False
    front = lines.index("---", 1)
    for token in TOKENS[: draw(st.integers(1, most))]:
        at = draw(st.integers(1, len(lines) - 1))
        deed = draw(st.sampled_from(["type", "type", "add", "add", "delete", "double", "move", "check", "strike"]))
        if deed == "type" and not (at <= front and MADE.match(lines[at])) and "ZQX" not in lines[at]:
            typed += _type(draw, lines, at, token)
        elif deed == "add":
            at = max(at, front + 1)
            lines[at:at] = ["", *draw(st.sampled_from(NEW)).format(token).split("\n"), *([""] if draw(st.booleans()) else [])]
            typed.append(token)
        elif at > front and "ZQX" not in lines[at]:
            rough = rough or deed in ("delete", "move")
            _change(draw, lines, at, deed, front)
    return "\n".join(lines), typed, rough


def _type(draw: st.DrawFn, lines: list[str], at: int, token: str) -> list[str]:
    """What is typed into the middle of a mark is not words, but neither may it cost the statement."""
    line = lines[at]
    place = draw(st.integers(0, len(line)))
    lines[at] = line[:place] + token + line[place:]
    return [] if any(found.start() < place < found.end() for found in MARK.finditer(line)) else [token]


def _change(draw: st.DrawFn, lines: list[str], at: int, deed: str, front: int) -> None:
    line = lines[at]
    if deed == "delete":
        del lines[at]
    elif deed == "double":
        lines.insert(at, line)
    elif deed == "move":
        del lines[at]
        lines.insert(draw(st.integers(min(front + 1, len(lines)), len(lines))), line)
    elif deed == "check":
        lines[at] = line.replace("[ ]", "[*]").replace("[x]", "[ ]").replace("[*]", "[x]")
    elif found := re.fullmatch(r"- (?!\[)(.+?)( \^m-\w+)", line):
        lines[at] = f"- ~~{found[1]}~~{found[2]}"


def _lines(text: str) -> set[tuple[str, str]]:
    return {(line.memory, line.text) for line in read(text).lines}


@pytest.mark.slow
@given(st.data(), st.booleans())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_what_was_typed_is_on_the_next_page_and_then_nothing_changes(data: st.DataObject, hostile: bool) -> None:
    ledger = data.draw(ledgers(WORDS if hostile else PLAIN))
    base = ledger.page()
    found, typed, rough = data.draw(edited(base))
    came = merged(base, found, base, ledger.human, WHERE)
    after = ledger.after(came)
    page = after.page()
    assert [token for token in typed if token not in page] == []
    gone = {act.memory for act in came.acts if act.op == "reject"}
    assert rough or gone == set()
    shown = {memory for memory, _ in _lines(page)}
    assert {each.id for each in ledger.facts} - gone <= shown
    assert all(mark(memory) not in found for memory in gone)
    # From here on: nothing, however often it is saved.
    for saved in (page, page + "\n", page.replace("\n", "\r\n")):
        again = merged(page, saved, page, after.human, WHERE)
        assert (again.acts, again.conflicts, again.human) == ((), (), after.human)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_an_edit_that_is_found_again_after_it_was_carried_out_asks_for_nothing_new(data: st.DataObject) -> None:
    ledger = data.draw(ledgers(PLAIN))
    base = ledger.page()
    found, _, _ = data.draw(edited(base, 3))
    first = merged(base, found, base, ledger.human, WHERE)
    after = ledger.after(first)
    second = merged(base, found, after.page(), after.human, WHERE)
    assert {(act.op, act.memory, act.text) for act in second.acts} <= {(act.op, act.memory, act.text) for act in first.acts}
    assert {each.memory for each in second.conflicts} <= {each.memory for each in first.conflicts}
    assert set(second.human.notes) == set(after.human.notes)


@given(st.lists(WORDS, min_size=2, max_size=4), st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_any_words_a_person_gives_a_statement_are_its_words_from_then_on(texts: list[str], data: st.DataObject) -> None:
    ledger = Ledger(tuple(fact(of, text) for of, text in enumerate(texts[:-1], 1)))
    changed = data.draw(st.sampled_from(ledger.facts))
    wanted = replace(changed, text=texts[-1])
    found = replace(ledger, facts=_with(ledger.facts, wanted)).page()
    came = merged(ledger.page(), found, ledger.page(), NOBODY, WHERE)
    words = folded(texts[-1])
    if not words:
        expected = [("reject", changed.id, "")] if folded(changed.text) else []
    else:
        expected = [("edit", changed.id, words)] if words != folded(changed.text) else []
    assert [(act.op, act.memory, act.text) for act in came.acts] == expected
    assert (came.conflicts, came.human) == ((), NOBODY)


@pytest.mark.slow
@given(st.text(max_size=200), st.lists(WORDS, max_size=8).map("\n".join), ledgers(WORDS))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_no_text_is_too_odd_to_be_merged(some: str, more: str, ledger: Ledger) -> None:
    base = ledger.page()
    for text in (some, more, base + some, base + more, some + base, more + "\n" + base, base[: len(some)] + more):
        came = merged(base, text, base, ledger.human, WHERE)
        page = ledger.after(came).page()
        again = merged(page, page, page, came.human, WHERE)
        assert (again.acts, again.conflicts, again.human) == ((), (), came.human)


def test_the_same_memory_told_of_in_two_sessions_of_a_day_is_edited_once() -> None:
    one = fact(1, "Use Redis.", "decision")
    first = Sitting(f"s_{number(1)}", "claude-code", "p_1", "main", START, START + HOUR, "", "", (), (one.id,))
    held = material([one], [first, replace(first, id=f"s_{number(2)}", began=START + HOUR)])
    (page,) = daily.days(held, UTC).values()
    base = rendered(page, held, {})
    line = "- Use Redis. ^"
    assert base.count(line) == 2
    came = merged(base, base.replace(line, "- Use Redis 7. ^", 1), base)
    assert [(act.op, act.memory, act.text) for act in came.acts] == [("edit", one.id, "Use Redis 7.")]
    assert merged(base, base.replace(line + mark(one.id)[1:], "", 1), base).acts == ()
    assert [act.op for act in merged(base, base.replace(line + mark(one.id)[1:], ""), base).acts] == ["reject"]


def test_a_related_page_that_was_taken_away_stays_away_until_it_is_put_back() -> None:
    ledger = Ledger((fact(1, "Use Redis."),))
    base, line = ledger.page(), "- [[connections/both|Both]]\n"
    assert line in base
    without = ledger.after(merged(base, base.replace(line, ""), base, ledger.human, WHERE))
    assert line not in without.page()
    again = without.after(merged(without.page(), base, without.page(), without.human, WHERE))
    assert again.page() == base
