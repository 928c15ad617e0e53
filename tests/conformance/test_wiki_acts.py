"""What a person does to pages reaches the memories once, as their word, whether the ledger is a home's own or shared."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hindbrain.base.clock import ManualClock, SystemClock
from hindbrain.base.config import load
from hindbrain.base.errors import LedgerUnreachable, NotFound, UsageError
from hindbrain.capture.event import Json
from hindbrain.ledger import reasoned
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.known import Known
from hindbrain.ledger.statement import Statement
from hindbrain.serve.memory import Memory
from hindbrain.serve.wiki_acts import WikiActs
from hindbrain.serve.work import opener
from hindbrain.wiki.edits import Act
from hindbrain.wiki.source import material

START, MINUTE = datetime(2026, 3, 1, 9, 0, tzinfo=UTC), timedelta(minutes=1)
PAGE = "concepts/storage.md"
SAID = ("we use Postgres for orders", "rotate the replica's keys", "never push to main", "orders moved to MySQL")


@dataclass
class Wiki:
    """A home in which something was found, and its pages' acts."""

    memory: Memory
    acts: WikiActs
    clock: ManualClock
    path: Path
    database: str
    ids: tuple[str, ...] = ()  # of what was found: a decision with a reason, a task, an instruction, a decision

    def open(self) -> Evidence:
        return opener(load(str(self.path), {"database": self.database}), SystemClock())()

    def do(self, *acts: Act) -> None:
        self.acts.apply(acts)
        self.acts.drained()

    def known(self) -> dict[str, Known]:
        """All statements by their words, the newest where there are several."""
        with self.open() as ledger, ledger.reading() as database:
            ids = [row[0] for row in database.execute("SELECT id FROM memories WHERE level = 'observation'").fetchall()]
            found = sorted(reasoned.known(database, ids).values(), key=lambda each: (each.valid_from, each.id))
        return {each.text: each for each in found}

    def standing(self) -> list[str]:
        return [text for text, each in self.known().items() if each.stands]

    def rows(self, query: str) -> list[Any]:
        with self.open() as ledger, ledger.reading() as database:
            return database.execute(query).fetchall()

    def told(self) -> list[str]:
        """The acts in the ledger, in order."""
        query = "SELECT json_extract(detail, '$.op') FROM events WHERE kind = 'memory' ORDER BY at, id"
        return [row[0] for row in self.rows(query)]


@pytest.fixture(params=["sqlite", "postgresql"])
def wiki(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Wiki]:
    yield from opened(tmp_path, request.getfixturevalue("pg_url") if request.param == "postgresql" else "sqlite")


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Wiki]:
    """A home that keeps to itself."""
    yield from opened(tmp_path, "sqlite")


@pytest.fixture
def shared(tmp_path: Path, pg_url: str) -> Iterator[Wiki]:
    yield from opened(tmp_path, pg_url)


def opened(folder: Path, database: str) -> Iterator[Wiki]:
    clock = ManualClock(1_773_000_000_000)
    with Memory.open(folder / "home", database) as memory:
        turns = [memory.record(agent="claude-code", session="s1", role="user", text=text, at=START + number * MINUTE,
                               project="/p/shop", key=text) for number, text in enumerate(SAID)]  # fmt: skip
        memory.settle_here()
        assert memory.share() == ""
        made = Wiki(memory, WikiActs(memory, clock), clock, folder / "home", database)
        with made.open() as ledger, ledger.writing() as connection:
            session = connection.execute("SELECT session_id FROM turns").fetchone()[0]
            kinds = ("decision", "task", "instruction", "decision")
            found = [Statement(kind, text, (turn,), text, 0.8, why="JSONB" if text == SAID[0] else "")
                     for kind, text, turn in zip(kinds, SAID, turns, strict=True)]  # fmt: skip
            reasoned.put(connection, session, "rules/1", found, 1)
        made.ids = tuple(each.id for each in found)
        yield made


def act(op: Any, memory: str = "", text: str = "", kind: str = "", project: str | None = None, **detail: Json) -> Act:
    return Act(op, memory, text, kind, PAGE, project, detail)


def project_of(wiki: Wiki) -> str:
    return str(wiki.rows("SELECT id FROM projects")[0][0])


def test_other_words_take_the_place_of_what_was_found(wiki: Wiki) -> None:
    wiki.do(act("edit", wiki.ids[0], "We use Postgres 16 for orders.", why="JSONB"))
    new, old = wiki.known()["We use Postgres 16 for orders."], wiki.known()[SAID[0]]
    assert (new.kind, new.trust, new.confidence, new.scope, new.project_id, new.made_by, new.detail) == (
        "decision", "human_file", 1.0, "project", old.project_id, "person", {"why": "JSONB"},
    )  # fmt: skip
    assert (old.superseded_by, old.stands) == (new.id, False)
    (turn,) = wiki.memory.why(new.id).turns
    assert (turn.text, turn.role) == ("We use Postgres 16 for orders.", "user")
    query = "SELECT turns.detail, client_id FROM turns JOIN sessions ON sessions.id = session_id WHERE agent = 'hindbrain'"
    ((detail, session),) = wiki.rows(query)
    assert detail == f'{{"origin":"human file","page":"{PAGE}","trust":"human_file"}}'
    assert session.startswith(f"wiki {PAGE} path:/p/shop")
    with wiki.open() as ledger, ledger.reading() as database:
        assert [each.agent for each in material(database).facts[new.id].sources] == ["wiki"]


def test_a_page_is_not_searched_beside_the_memory_that_it_made(wiki: Wiki) -> None:
    wiki.do(act("remember", "", "The walrus backups live in Zurich.", "fact"))
    assert [(hit.kind, hit.text) for hit in wiki.memory.search("walrus Zurich")][:1] == [
        ("fact", "The walrus backups live in Zurich."),
    ]  # fmt: skip
    assert [hit for hit in wiki.memory.search("walrus") if hit.kind == "turn" and "walrus" in hit.text] == []


def test_a_reason_that_was_taken_out_of_a_line_is_gone_and_one_the_words_said_stays(wiki: Wiki) -> None:
    wiki.do(act("edit", wiki.ids[0], SAID[0]))
    assert wiki.known()[SAID[0]].detail == {}
    wiki.do(act("edit", wiki.known()[SAID[0]].id, "Postgres for its JSONB", why="jsonb", instead_of="MySQL"))
    made = wiki.known()["Postgres for its JSONB"]
    assert made.detail == {"why": "jsonb", "instead_of": "MySQL"}
    wiki.do(act("edit", made.id, "Postgres it is", instead_of="MySQL"))
    assert wiki.known()["Postgres it is"].detail == {"why": "jsonb", "instead_of": "MySQL"}


def test_a_line_moved_to_another_section_is_of_that_kind(wiki: Wiki) -> None:
    wiki.do(act("edit", wiki.ids[1], SAID[1], "procedure"))
    moved = wiki.known()[SAID[1]]
    assert (moved.id != wiki.ids[1], moved.kind, moved.stands) == (True, "procedure", True)
    wiki.do(act("edit", moved.id, "Rotate keys monthly.", "lesson"))
    assert wiki.known()["Rotate keys monthly."].kind == "lesson", "of a person's own statement too"


def test_new_lines_are_remembered_where_they_were_written(wiki: Wiki) -> None:
    wiki.do(
        act("remember", "", "The port is 5433.", "fact", project_of(wiki)), act("remember", "", "Be brief.", "instruction"),
        act("remember", "", "An odd one.", "gossip"), act("remember", "", "Bought milk.", "task", done=True),
        act("remember", "", " \n "),
    )  # fmt: skip
    found = {text: each for text, each in wiki.known().items() if text not in SAID}
    assert {text: (each.kind, each.scope, each.project_id, each.trust, each.stands) for text, each in found.items()} == {
        "The port is 5433.": ("fact", "project", project_of(wiki), "human_file", True),
        "Be brief.": ("instruction", "global", None, "human_file", True),
        "An odd one.": ("fact", "global", None, "human_file", True),
        "Bought milk.": ("task", "global", None, "human_file", False),
    }  # fmt: skip


def test_a_deleted_line_is_rejected_also_where_a_person_had_written_it(wiki: Wiki) -> None:
    wiki.do(act("reject", wiki.ids[2]), act("remember", "", "The port is 5433.", "fact"))
    wiki.do(act("reject", wiki.known()["The port is 5433."].id))
    assert {text: wiki.known()[text].held for text in (SAID[2], "The port is 5433.")} == dict.fromkeys(
        (SAID[2], "The port is 5433."), "rejected"
    )


def test_what_a_deleted_line_had_replaced_stays_over_until_somebody_says_otherwise(wiki: Wiki) -> None:
    wiki.do(act("edit", wiki.ids[0], "We use MySQL for orders."))
    wiki.do(act("reject", wiki.known()["We use MySQL for orders."].id))
    old = wiki.known()[SAID[0]]
    assert (old.stands, old.superseded_by, old.held) == (False, None, "")
    assert wiki.told() == ["edit", "done", "reject"]
    wiki.do(act("undone", wiki.ids[0]))
    assert SAID[0] in wiki.standing()


def test_both_lines_deleted_are_both_rejected(wiki: Wiki) -> None:
    wiki.do(act("edit", wiki.ids[0], "We use MySQL for orders."))
    wiki.do(act("reject", wiki.ids[0]), act("reject", wiki.known()["We use MySQL for orders."].id))
    assert sorted(wiki.told()) == ["edit", "reject", "reject"]
    assert {wiki.known()[text].held for text in (SAID[0], "We use MySQL for orders.")} == {"rejected"}


def test_a_box_can_be_checked_and_unchecked_any_number_of_times(wiki: Wiki) -> None:
    for op, stands in [("done", False), ("undone", True)] * 3:
        wiki.do(act(op, wiki.ids[1]))
        wiki.do(act(op, wiki.ids[1]))
        assert (SAID[1] in wiki.standing()) == stands
    assert wiki.told() == ["done", "undone"] * 3


def test_acts_that_follow_each_other_quickly_are_all_told(wiki: Wiki) -> None:
    for op in ("done", "undone", "done", "undone"):
        wiki.acts.apply([act(op, wiki.ids[1])])
    wiki.acts.drained()
    assert (wiki.told(), SAID[1] in wiki.standing()) == (["done", "undone"] * 2, True)


def test_a_clock_that_was_set_back_does_not_turn_the_order_of_acts_around(wiki: Wiki) -> None:
    wiki.do(act("done", wiki.ids[1]))
    acts = WikiActs(wiki.memory, ManualClock(1_600_000_000_000))
    acts.apply([act("undone", wiki.ids[1])])
    acts.drained()
    assert SAID[1] in wiki.standing()


def everything(wiki: Wiki) -> list[Act]:
    return [
        act("edit", wiki.ids[0], "We use Postgres 16.", "fact", why="JSONB"), act("reject", wiki.ids[2]),
        act("done", wiki.ids[1]), act("edit", wiki.ids[3], "Orders were moved to MySQL.", done=True),
        act("remember", "", "The port is 5433.", "fact", project_of(wiki)),
        act("remember", "", "Bought milk.", "task", done=True), act("page", settled={"title": "Storage"}),
        replace(act("remember", "", "The port is 5433.", "fact"), page="other.md"),
    ]  # fmt: skip


def test_the_same_edits_told_twice_are_the_same_events(wiki: Wiki) -> None:
    acts = everything(wiki)
    wiki.do(*acts)
    known, told = wiki.known(), wiki.rows("SELECT id, at FROM events ORDER BY id")
    assert sorted(wiki.told()) == sorted([*("edit",) * 2, "reject", *("done",) * 3, *("remember",) * 3, "page"])
    assert wiki.standing() == ["We use Postgres 16.", "The port is 5433."]
    lines = journal(wiki.path).read_bytes()
    for again in (acts, acts[::-1], *([each] for each in acts)):
        wiki.do(*again)
    assert journal(wiki.path).read_bytes() == lines
    assert (wiki.known(), wiki.rows("SELECT id, at FROM events ORDER BY id")) == (known, told)


@pytest.mark.slow
def test_edits_of_which_only_some_reached_the_disk_are_completed(alone: Wiki, tmp_path: Path) -> None:
    """Cut behind any line and inside it: telling the same edits again comes to the same events."""
    acts = everything(alone)
    before = len(journal(alone.path).read_bytes())
    alone.acts.apply(acts)
    written = journal(alone.path).read_bytes()
    ends = [before, *(at + 1 for at in range(before, len(written)) if written[at : at + 1] == b"\n")]
    copies = [cut(alone, tmp_path / f"cut {place}", place) for place in ends]
    alone.acts.drained()
    wanted = sorted(row[0] for row in alone.rows("SELECT id FROM events WHERE kind = 'memory'"))
    assert (len(ends), len(wanted)) == (1 + 2 * 16, 10), "a line ends behind its header, too"
    for copy in copies:
        with Memory.open(copy.path) as memory:
            copy.acts = WikiActs(memory, copy.clock)
            copy.do(*acts)
            copy.do(*acts)
        assert sorted(row[0] for row in copy.rows("SELECT id FROM events WHERE kind = 'memory'")) == wanted
        assert copy.standing() == ["We use Postgres 16.", "The port is 5433."]


def journal(home: Path) -> Path:
    """The segment that is written to."""
    return max((home / "journal").glob("*.log"), key=lambda path: path.stat().st_mtime_ns)


def cut(wiki: Wiki, path: Path, end: int) -> Wiki:
    """The home as it would be had the power gone after so many bytes."""
    shutil.copytree(wiki.path, path)
    with journal(path).open("rb+") as segment:
        segment.truncate(end)
    return replace(wiki, path=path)


def test_a_line_that_was_taken_away_and_written_again_is_another_statement(wiki: Wiki) -> None:
    new = act("remember", "", "The port is 5433.", "fact")
    wiki.do(new)
    first = wiki.known()["The port is 5433."].id
    wiki.do(act("reject", first))
    wiki.do(new)
    wiki.do(new)
    second = wiki.known()["The port is 5433."]
    assert (second.id != first, second.stands) == (True, True)
    wiki.memory.forget(id=second.id)
    wiki.do(new)
    assert wiki.known()["The port is 5433."].stands, "a person may say again what they had forgotten"
    assert wiki.told() == ["remember", "reject", "remember"]


def test_a_line_that_was_taken_away_and_put_back_with_its_mark_is_the_same_statement(wiki: Wiki) -> None:
    wiki.do(act("reject", wiki.ids[2]))
    wiki.do(act("remember", wiki.ids[2], SAID[2], "instruction"))
    assert (wiki.known()[SAID[2]].id, wiki.known()[SAID[2]].stands) == (wiki.ids[2], True)


def test_the_words_of_a_line_that_was_replaced_meanwhile_take_the_place_of_what_replaced_it(wiki: Wiki) -> None:
    with wiki.open() as ledger, ledger.writing() as database:
        assert reasoned.supersede(database, wiki.ids[0], wiki.ids[3], 1_772_900_000_000)
    wiki.do(act("edit", wiki.ids[0], "Orders are in both.", why="JSONB"))
    known = wiki.known()
    assert (known[SAID[0]].superseded_by, known[SAID[3]].superseded_by) == (wiki.ids[3], known["Orders are in both."].id)
    wiki.do(act("edit", wiki.ids[0], "We used Postgres.", reopened=True))
    known = wiki.known()
    assert (known[SAID[0]].superseded_by, known["Orders are in both."].stands) == (known["We used Postgres."].id, True)


def test_a_replaced_line_that_a_person_frees_is_said_anew(wiki: Wiki) -> None:
    with wiki.open() as ledger, ledger.writing() as database:
        assert reasoned.supersede(database, wiki.ids[0], wiki.ids[3], 1_772_900_000_000)
    wiki.do(act("undone", wiki.ids[0]))
    wiki.do(act("undone", wiki.ids[0]))
    assert wiki.told() == ["remember"]
    assert (wiki.known()[SAID[0]].made_by, SAID[0] in wiki.standing(), SAID[3] in wiki.standing()) == ("person", True, True)


def test_words_for_a_memory_that_is_gone_are_kept_and_other_acts_on_it_do_nothing(wiki: Wiki) -> None:
    wiki.memory.forget(id=wiki.ids[0])
    gone = [wiki.ids[0], "m_nothing", "'; DROP TABLE memories; --", "m_\x00\ud800"]
    wiki.do(*(act(op, memory) for op in ("reject", "done", "undone") for memory in gone))
    assert wiki.told() == []
    wiki.do(*(act("edit", memory, f"Words {number}.", "lesson") for number, memory in enumerate(gone)))
    wiki.do(act("edit", wiki.ids[1], "  "))
    assert wiki.standing() == [SAID[2], SAID[3], *(f"Words {number}." for number in range(4))]


def test_digests_and_contradictions_are_no_lines_of_a_page(wiki: Wiki) -> None:
    with wiki.open() as ledger, ledger.writing() as database:
        session = database.execute("SELECT session_id FROM turns").fetchone()[0]
        digest = reasoned.put_digest(database, session, "Short.", "", "rules/1", 5)[0]
        contradiction = reasoned.contradict(database, wiki.ids[0], wiki.ids[3], "they differ", 5)
    wiki.do(*(act(op, each) for op in ("reject", "done") for each in (digest, contradiction)))
    assert wiki.told() == []
    for each in (digest, contradiction):
        with pytest.raises(UsageError):
            wiki.memory.done(each)


def test_secrets_in_a_page_are_taken_out_before_anything_is_written(wiki: Wiki) -> None:
    secret = "ghp_" + "a1B2" * 9
    page = f"concepts/{secret}.md"
    wiki.do(
        Act("remember", "", f"The token is {secret}.", "fact", page), Act("page", page=page, detail={"title": secret}),
        Act("done", wiki.ids[1], page=page), Act("edit", wiki.ids[0], "Postgres.", "", page, None, {"why": secret}),
    )  # fmt: skip
    assert all(secret.encode() not in path.read_bytes() for path in wiki.path.rglob("*") if path.is_file())
    assert [text for text in wiki.standing() if text.startswith("The token is ")] != []
    assert len(wiki.told()) == 4
    for made in (each for each in wiki.known().values() if each.made_by == "person"):
        assert len(wiki.memory.why(made.id).turns) == 1


def test_text_that_nobody_could_store_is_stored_as_far_as_it_can_be(wiki: Wiki) -> None:
    texts = ["nul \x00 inside", "lone \ud800 surrogate", "\u202etxet", "x" * 300_000]
    for text in texts:
        wiki.do(act("remember", "", text, "fact"), act("edit", wiki.ids[0], f"edited {text}"), act("page", note=text))
    assert len([text for text in wiki.standing() if text not in SAID]) == len(texts) + 1


def test_a_project_that_is_not_there_is_refused_and_nothing_is_written(wiki: Wiki) -> None:
    with pytest.raises(NotFound, match="p_none"):
        wiki.do(act("done", wiki.ids[1]), act("remember", "", "Told to nobody else.", "fact", "p_none"))
    assert wiki.told() == []


def test_acts_outlive_a_ledger_that_is_made_anew(alone: Wiki) -> None:
    def by_people() -> dict[str, tuple[object, ...]]:
        return {text: (each.id, each.trust, each.valid_to) for text, each in alone.known().items() if each.made_by == "person"}

    alone.do(*everything(alone))
    before = by_people()
    alone.memory.close()
    for path in alone.path.glob("ledger.db*"):
        path.unlink()
    with Memory.open(alone.path) as memory:
        memory.settle_here()
    assert (by_people(), len(before)) == (before, 4)


def test_a_memory_is_done_by_its_id_and_undone(wiki: Wiki) -> None:
    wiki.memory.done(wiki.ids[1])
    wiki.acts.drained()
    assert SAID[1] not in wiki.standing()
    wiki.memory.done(wiki.ids[1], False)
    wiki.acts.drained()
    assert SAID[1] in wiki.standing()
    with pytest.raises(NotFound):
        wiki.memory.done("m_nothing")


def test_while_a_shared_ledger_does_not_answer_nothing_is_told(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home") as memory:
        memory.record(agent="claude-code", session="s1", role="user", text="we use Postgres")
        memory.settle_here()
    with Memory.open(tmp_path / "home", "postgresql://ada@127.0.0.1:1/none") as memory:
        acts = WikiActs(memory, SystemClock())
        before = sorted((tmp_path / "home" / "journal").iterdir())[-1].read_bytes()
        acts.apply([])
        with pytest.raises(LedgerUnreachable):
            acts.apply([act("edit", "m_found_elsewhere", "New words.")])
        assert sorted((tmp_path / "home" / "journal").iterdir())[-1].read_bytes() == before


def test_what_is_done_on_pages_of_two_machines_is_done_in_turn(shared: Wiki, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "other", shared.database) as memory:
        other = WikiActs(memory, SystemClock())
        turns = [(shared.acts, "done"), (shared.acts, "undone"), (other, "done"), (shared.acts, "done"), (other, "undone")]
        for acts, op in turns:
            acts.apply([act(op, shared.ids[1])])
            acts.drained()
            assert (SAID[1] in shared.standing()) == (op == "undone")
    assert shared.told() == ["done", "undone", "done", "undone"]
