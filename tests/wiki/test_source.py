"""What the ledger holds is what pages are made of, on every engine; and a token tells when that may be something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hindbrain.capture.event import Event, Json, session_id, stable_id, storable
from hindbrain.ledger import reasoned
from hindbrain.ledger.database import Database, Rows
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.memories import memory_event, memory_id
from hindbrain.reason import applying
from hindbrain.reason.changes import Page
from hindbrain.wiki.page import Fact, Material, Sitting, Source
from hindbrain.wiki.source import MOST_EXCHANGES, changed_token, material
from tests.conformance.reasoning import LATER, ONE, PLACE, RULES, TEXTS, TURNS, TWO, act, put, statement, tell
from tests.conformance.states import rows
from tests.ledger.making import event, place_event


def read(ledger: Evidence) -> Material:
    with ledger.reading() as database:
        return material(database)


def source_of(turn: Event, agent: str = "") -> Source:
    return Source(turn.id, session_id(turn.agent, turn.session), agent or turn.agent, turn.at, turn.role or "")


def fact(ledger: Evidence, identifier: str, **fields: Any) -> Fact:
    """A decision of the project, said in the turns given; what else it is, by name."""
    given: dict[str, Any] = {
        "level": "observation", "kind": "decision", "confidence": 0.8, "trust": "user", "scope": "project",
        "project": rows(ledger, "SELECT id FROM projects")[0][0], "valid_to": None, "successor": None, "pinned": False,
    }
    return Fact(identifier, **(given | fields))


@pytest.fixture
def told(ledger: Evidence) -> Evidence:
    tell(ledger, PLACE, *TURNS, *LATER)
    return ledger


def test_an_empty_ledger_gives_nothing(ledger: Evidence) -> None:
    assert read(ledger) == Material({}, {}, {}, "")


def test_facts_come_with_where_they_were_said_and_why(told: Evidence) -> None:
    plain = statement(TURNS[0], why="JSONB", instead_of="MySQL", turns=(TURNS[0].id, TURNS[3].id))
    everywhere = statement(TURNS[1], kind="instruction", scope="global")
    put(told, ONE, [plain, everywhere])
    tell(told, *act("pin", everywhere.id))
    assert read(told).facts == {
        plain.id: fact(told, plain.id, text=TEXTS[0], valid_from=100, why="JSONB", instead_of="MySQL",
                       sources=(source_of(TURNS[0]), source_of(TURNS[3]))),
        everywhere.id: fact(told, everywhere.id, kind="instruction", text=TEXTS[1], scope="global", project=None, valid_from=200,
                            pinned=True, sources=(source_of(TURNS[1]),)),
    }  # fmt: skip
    assert [*read(told).facts] == [plain.id, everywhere.id], "oldest first"


def test_what_is_over_is_told_as_over_and_what_waits_or_was_rejected_is_not_told(told: Evidence) -> None:
    old, waits, no, done = (statement(turn, kind="task") for turn in TURNS)
    put(told, ONE, [old, statement(TURNS[1], kind="task", quarantine="an order"), no, done])
    new = statement(LATER[2], "It is MySQL.")
    put(told, TWO, [new])
    with told.writing() as database:
        assert reasoned.supersede(database, old.id, new.id, 1_002)
    tell(told, *act("reject", no.id), *act("done", done.id, 9_500))
    found = read(told).facts
    assert waits.id not in found
    assert {each: (found[each].state, found[each].valid_to, found[each].successor) for each in found} == {
        old.id: ("superseded", 1_002, new.id), new.id: ("current", None, None), done.id: ("expired", 9_500, None),
    }  # fmt: skip


def test_what_was_concluded_was_said_where_its_grounds_were(told: Evidence) -> None:
    first, second, third = statement(TURNS[0]), statement(LATER[1]), statement(TURNS[3])
    put(told, ONE, [first, third])
    put(told, TWO, [second])
    with told.writing() as database:
        below = reasoned.put_insight(database, "insight", "It fits.", [second.id, first.id], "global", None, RULES, 2_000)
        above = reasoned.put_insight(database, "lesson", "It all fits.", [below, third.id], "global", None, RULES, 2_100)
    found = read(told).facts
    assert found[below].level == "derived"
    assert found[below].sources == (source_of(TURNS[0]), source_of(LATER[1]))
    assert found[above].sources == (source_of(TURNS[0]), source_of(TURNS[3]), source_of(LATER[1]))


def test_both_sides_of_a_contradiction_name_each_other_until_somebody_decides(told: Evidence) -> None:
    first, second, third = (statement(turn) for turn in TURNS[:3])
    put(told, ONE, [first, second, third])
    with told.writing() as database:
        one = reasoned.contradict(database, first.id, third.id, "they differ", 600)
        other = reasoned.contradict(database, second.id, third.id, "they differ too", 600)
    found = read(told).facts
    assert found[third.id].disputes == tuple(sorted((first.id, second.id)))
    assert (found[first.id].disputes, found[second.id].disputes) == ((third.id,), (third.id,))
    tell(told, *act("accept", one))
    found = read(told).facts
    assert (found[first.id].disputes, found[third.id].disputes) == ((), (second.id,)), "both are to stand"
    with told.writing() as database:
        database.execute("UPDATE memories SET valid_to = 9050 WHERE id = ?", (second.id,))  # it has faded away
    assert {each.disputes for each in read(told).facts.values()} == {()}
    with told.writing() as database:
        database.execute("UPDATE memories SET valid_to = NULL WHERE id = ?", (second.id,))
    tell(told, *act("reject", other, 9_100))
    assert {each.disputes for each in read(told).facts.values()} == {()}


def test_what_a_person_wrote_on_a_page_has_the_wiki_as_its_source_and_is_no_sitting(told: Evidence) -> None:
    said = event(agent="hindbrain", session="wiki concepts/a.md git:h/p", key="w", at=9_000, text="Use SQLite.", cwd="/p")
    kept = event(agent="hindbrain", session="kept git:h/p", key="w", at=9_001, text="Use it well.", cwd="/p")
    detail: dict[str, Json] = {"kind": "decision", "scope": "project"}
    made = [
        memory_event("remember", agent="hindbrain", session=each.session, at=each.at, text=each.text,
                     detail={**detail, "turn": each.id, **more})
        for each, more in ((said, {"trust": "human_file", "why": "one file"}), (kept, dict[str, Json]()))
    ]  # fmt: skip
    tell(told, said, kept, *made)
    found = read(told)
    ids = [memory_id(each.id) for each in made]
    assert [*found.facts.values()] == [
        fact(told, ids[0], text="Use SQLite.", confidence=1.0, trust="human_file", valid_from=9_000, why="one file",
             sources=(source_of(said, "wiki"),)),
        fact(told, ids[1], text="Use it well.", confidence=1.0, valid_from=9_001, sources=(source_of(kept),)),
    ]  # fmt: skip
    assert [*found.sittings] == [ONE, TWO]


def test_a_sitting_tells_of_its_time_place_digests_exchanges_and_findings(ledger: Evidence) -> None:
    texts = ("\n  Please look at storage. \nMore of it.", "Right.", "We use Postgres.", "Nice.")
    turns = [event(session="a", key=f"t{at}", at=at, text=text, cwd="/p", detail={"branch": "main"}) for at, text in
             zip((500, 100, 300, 400), texts, strict=True)]  # fmt: skip
    reply = event(session="a", key="r", role="assistant", at=450, text="We keep backups for a year.", cwd="/p")
    moved = event(session="a", kind="notice", key="n", at=700, detail={"gitBranch": "topic"})
    tell(ledger, PLACE, *turns, reply, moved)
    session = session_id("claude-code", "a")
    by_user, by_agent = statement(turns[2]), statement(reply, kind="fact")
    put(ledger, session, [by_user, by_agent])
    with ledger.writing() as database:
        reasoned.put_digest(database, session, "Short.", "Long\nand more.", RULES, 800)
    project = rows(ledger, "SELECT id FROM projects")[0][0]
    found = read(ledger)
    assert found.sittings == {session: Sitting(
        session, "claude-code", project, "topic", 100, 700, "Short.", "Long\nand more.",
        ((turns[1].id, "Right."), (turns[2].id, "We use Postgres.")), (by_user.id, by_agent.id),
    )}  # fmt: skip
    assert found.projects == {project: rows(ledger, "SELECT name FROM projects")[0][0]}
    with ledger.writing() as database:
        reasoned.put_digest(database, session, "Shorter.", "", RULES, 900)
    assert (read(ledger).sittings[session].short, read(ledger).sittings[session].long) == ("Shorter.", "")


def test_sittings_are_those_of_people_and_those_in_which_something_was_found(ledger: Evidence) -> None:
    child, quiet = (event(session=f"a/{name}", key="k", at=at, text=f"Do it: {name}.", cwd="/p", parent="a")
                    for name, at in (("one", 20), ("two", 30)))  # fmt: skip
    robot = event(session="b", key="k", role="assistant", at=40, text="Nobody is here.", cwd="/p")
    started = event(session="c", kind="session_start", key="k", at=50, cwd="/p")
    tell(ledger, PLACE, event(session="a", at=10, text="\n \n", cwd="/p"), child, quiet, robot, started)
    put(ledger, session_id("claude-code", "a/one"), [statement(child)])
    found = read(ledger).sittings
    assert {each.id: each.exchanges for each in found.values()} == {
        session_id("claude-code", "a"): (), session_id("claude-code", "a/one"): ((child.id, "Do it: one."),),
    }  # fmt: skip


def test_a_long_session_is_told_by_its_first_telling_exchanges(ledger: Evidence) -> None:
    turns = [event(key=f"t{number}", at=number, text=f"{'word ' * 400}{number}", cwd="/p") for number in range(40)]
    tell(ledger, PLACE, *turns)
    put(ledger, ONE, [statement(turn, text=f"Fact {number}.") for number, turn in enumerate(turns) if number % 2])
    (sitting,) = read(ledger).sittings.values()
    assert [turn for turn, _ in sitting.exchanges] == [turns[0].id, *(turns[at].id for at in range(1, 2 * MOST_EXCHANGES - 2, 2))]
    assert {len(line) for _, line in sitting.exchanges} == {len("word " * 200) - 1}


def test_a_branch_that_hostile_clients_tell_is_text(ledger: Evidence) -> None:
    told: dict[str, Json] = {"branch": "\x00\ud800](x)", "gitBranch": ["no", "text"]}
    tell(ledger, PLACE, event(cwd="/p", text="a\u2028b\x0bc", detail=told))
    (sitting,) = read(ledger).sittings.values()
    assert (sitting.branch, sitting.exchanges) == (storable("\x00\ud800](x)"), ((event().id, "a"),))


def test_the_soul_is_the_newest_page_that_stands(told: Evidence) -> None:
    found = statement(TURNS[0])
    put(told, ONE, [found])
    for at, text in ((5_000, "## Identity\n- First"), (6_000, "## Identity\n- Second")):
        with told.writing() as database:
            applying.apply(database, [Page("soul", text, (found.id,))], at)
            applying.apply(database, [Page("other", "Something else", (found.id,))], at + 1)
    assert (read(told).soul, read(told).soul_id) == (
        "## Identity\n- Second", stable_id("m", "page", "soul", "6000", "## Identity\n- Second"),
    )  # fmt: skip


class Counting:
    """A connection that counts what it is asked."""

    def __init__(self, database: Database) -> None:
        self.database, self.count = database, 0

    def execute(self, sql: str, parameters: Any = (), /) -> Rows:
        self.count += 1
        return self.database.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> Rows:
        raise AssertionError("nothing is written")


def test_the_number_of_questions_does_not_grow_with_the_ledger(ledger: Evidence) -> None:
    def asked(what: Callable[[Database], object]) -> int:
        with ledger.reading() as database:
            counting = Counting(database)
            what(counting)
        return counting.count

    before = asked(material), asked(changed_token)
    turns = [event(session=f"s{of % 9}", key=f"t{of}", at=of, text=f"Rule {of}.", cwd="/p") for of in range(90)]
    tell(ledger, PLACE, place_event("/q", "git:h/q", 4), *turns)
    for number in range(9):
        put(ledger, session_id("claude-code", f"s{number}"), [statement(turn) for turn in turns[number::9]])
    assert len(read(ledger).facts) == 90
    assert (asked(material), asked(changed_token)) == before


def token(ledger: Evidence) -> str:
    with ledger.reading() as database:
        return changed_token(database)


def test_the_token_stays_while_nothing_changes_and_is_another_after_every_change(told: Evidence) -> None:
    first, second = statement(TURNS[0], why="JSONB"), statement(TURNS[2])

    def writing(change: Callable[[Database], object]) -> Callable[[], object]:
        def write() -> object:
            with told.writing() as database:
                return change(database)

        return write

    changes: list[Callable[[], object]] = [
        lambda: put(told, ONE, [first, second]),
        lambda: put(told, ONE, [statement(TURNS[0], why="a reason"), second]),
        lambda: put(told, ONE, [first, statement(TURNS[2], turns=(TURNS[2].id, TURNS[3].id))]),
        writing(lambda database: reasoned.contradict(database, first.id, second.id, "they differ", 700)),
        writing(lambda database: reasoned.put_digest(database, ONE, "Short.", "", RULES, 800)),
        writing(lambda database: reasoned.put_digest(database, ONE, "Other.", "", RULES, 800)),
        writing(lambda database: reasoned.supersede(database, first.id, second.id, 900)),
        lambda: tell(told, *act("pin", second.id, 9_000)),
        lambda: tell(told, *act("done", second.id, 9_100)),
        lambda: tell(told, *act("edit", second.id, 9_200, text="We moved to MySQL 9.")),
        lambda: tell(told, event(session="s3", at=9_300, cwd="/p")),
        lambda: tell(told, event(session="s3", kind="notice", key="n", at=9_300, detail={"branch": "main"})),
        lambda: tell(told, place_event("/q", "git:h/q", 4)),
        lambda: tell(told, forget_event([TURNS[3].id], 9_999)),
    ]
    tokens = [token(told)]
    for change in changes:
        change()
        tokens.append(token(told))
        assert token(told) == tokens[-1]
    assert len({*tokens}) == len(changes) + 1


def test_what_was_joined_into_the_same_said_elsewhere_is_struck_out_only_where_that_was_replaced(told: Evidence) -> None:
    first, again, newer = statement(TURNS[0]), statement(LATER[0]), statement(LATER[2])
    put(told, ONE, [first])
    put(told, TWO, [again, newer])
    with told.writing() as database:
        assert reasoned.supersede(database, first.id, again.id, 5_000, joined=True)
    assert {each.id: each.state for each in read(told).facts.values()} == dict.fromkeys((first.id, again.id, newer.id), "current")
    with told.writing() as database:
        assert reasoned.supersede(database, again.id, newer.id, 1_002)
    found = read(told).facts
    assert [(found[each.id].state, found[each.id].successor) for each in (first, again)] == [("superseded", newer.id)] * 2
