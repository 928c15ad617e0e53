"""What the wiki knows of its files: kept whole, or told to be unusable."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from hindbrain.base.errors import NotFound
from hindbrain.wiki.edits import Conflict
from hindbrain.wiki.folder import Folder
from hindbrain.wiki.known import Made, Restore, Row, Taken
from hindbrain.wiki.render import NOBODY, Human
from hindbrain.wiki.state import State, StateUnusable

HUMAN = Human("Mine", ("a",), (), {"n": 1, "l": [1, {"x": None}]}, ("> note\n\ud7ff",), ("[[x]]",))
MADE = Made(1, 1000, "compile", "2 pages written", ("c-1",), ("concepts/a.md", "concepts/b.md"), finished=False)
ROW = Row("c-1", "concept", "A", "concepts/a.md", pending="one", inputs="i1")
OTHER = Row("c-2", "concept", "B", "concepts/b.md", pending="two", inputs="i2")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "wiki")


def written(state: State) -> None:
    state.begin([ROW, OTHER], MADE)
    state.finish(MADE, [], None)


def test_a_text_is_pending_before_it_is_what_a_person_saw(folder: Folder) -> None:
    with State.open(folder) as state:
        state.begin([ROW, OTHER], MADE)
    with State.open(folder) as state:
        assert state.pages() == [ROW, OTHER] == state.cut_short()
        assert state.compiles() == [MADE]
        state.finish(MADE, ["concepts/b.md"], None)
    with State.open(folder) as state:
        assert state.pages() == [replace(ROW, base="one", pending=None, written_at=1000), replace(OTHER, pending=None, inputs="")]
        assert state.compiles() == [replace(MADE, finished=True)]
        assert (state.base("c-1"), state.base("c-2"), state.base("c-3")) == ("one", None, None)


def test_what_a_person_did_is_kept_whole(folder: Folder) -> None:
    conflict = Conflict("concepts/a.md", "m_1", "base", "found", "fresh")
    with State.open(folder) as state:
        written(state)
        state.take(Taken({"c-1": "edited"}, (), {"c-1": HUMAN}, {"c-1": "concepts/mine.md"}, ["c-2"], (), [conflict]), 2000)
    with State.open(folder) as state:
        assert state.pages() == [
            Row("c-1", "concept", "A", "concepts/mine.md", "edited", human=HUMAN, written_at=2000),
            Row("c-2", "concept", "B", "concepts/b.md", left_out=True, written_at=2000),
        ]
        assert state.human("c-1") == HUMAN and state.human("c-3") == NOBODY
        assert state.conflicts() == [conflict]
        assert state.touched() == {"concepts/a.md": "c-1", "concepts/b.md": "c-2", "concepts/mine.md": "c-1"}
        state.begin([], replace(MADE, number=2))
        assert state.touched() == {}
        state.settle_conflicts([("concepts/a.md", "m_1")])
        assert state.conflicts() == []


def test_a_deleted_page_comes_back_by_any_of_its_names_and_no_other_does(folder: Folder) -> None:
    with State.open(folder) as state:
        written(state)
        for name in ("c-2", "concepts/b.md", "concepts/b", "B"):
            state.take(Taken(removed=["c-2"]), 2000)
            assert state.restore(name).id == "c-2"
            assert not [row for row in state.pages() if row.left_out]
        for name in ("c-1", "nothing"):
            with pytest.raises(NotFound):
                state.restore(name)


def test_a_compile_that_was_never_finished_gives_way_to_the_next(folder: Folder) -> None:
    with State.open(folder) as state:
        state.begin([ROW], MADE)
        state.begin([OTHER], replace(MADE, number=2))
        assert [made.number for made in state.compiles()] == [2]


def test_older_versions_are_folded_into_the_oldest_that_is_kept(folder: Folder) -> None:
    with State.open(folder) as state:
        for number in range(1, 6):
            made = replace(MADE, number=number)
            state.begin([], made)
            state.finish(made, [], {"a.md": f"a{number}", **({"b.md": "b1", "c.md": "c1"} if number == 1 else {})}
                         | ({"c.md": None} if number == 2 else {}))  # fmt: skip
        state.fold_kept(3)
        assert state.kept_numbers() == [3, 4, 5]
        assert [state.kept(3, path) for path in ("a.md", "b.md", "c.md")] == ["a3", "b1", None]
        assert state.kept(5, "b.md") == "b1"


def test_texts_that_are_to_come_back_are_known_until_they_have(folder: Folder) -> None:
    wanted = [Restore("a.md", "old", "new", 5), Restore("b.md", None, "new", 5)]
    with State.open(folder) as state:
        state.begin_restores(wanted)
    with State.open(folder) as state:
        assert state.restores() == wanted
        state.finish_restores()
        assert state.restores() == []


def test_looking_at_a_wiki_that_is_not_there_makes_no_file(folder: Folder) -> None:
    with State.open(folder, look=True) as state:
        assert state.pages() == [] and state.is_new()
    assert not folder.root.exists()


def test_a_transaction_that_fails_changes_nothing(folder: Folder) -> None:
    with State.open(folder) as state:
        written(state)
        before = state.pages()
        with pytest.raises(StateUnusable):
            state.begin([replace(ROW, title="C", pending="x"), replace(ROW, id=None)], replace(MADE, number=2))  # type: ignore[arg-type]
        assert state.pages() == before and len(state.compiles()) == 1


def test_pages_are_read_again_where_this_or_another_connection_changed_them(folder: Folder) -> None:
    third = replace(ROW, id="b-3", path="concepts/c.md")
    changes: tuple[Callable[[State, Made], None], ...] = (
        lambda state, made: state.begin([ROW, third], made),
        lambda state, made: state.finish(made, [], None),
        lambda state, made: state.take(Taken({"b-3": "edited"}, (), {"b-3": HUMAN}, {"b-3": "concepts/mine.md"}), 2000),
        lambda state, made: state.adopt([replace(ROW, base="found", pending=None)]),
        lambda state, made: state.note({"b-3": "i9"}),
        lambda state, made: state.settle({}, [], ["c-1", "b-3"]),
    )
    with State.open(folder) as one, State.open(folder) as two:
        for number, writer in enumerate((one, two, one), 1):
            for change in changes:
                before = one.pages()
                assert two.pages() == before
                change(writer, replace(MADE, number=number))
                with State.open(folder) as fresh:
                    assert one.pages() == two.pages() == fresh.pages() != before


def test_what_was_read_inside_a_transaction_that_fails_is_not_believed(folder: Folder) -> None:
    with State.open(folder) as state:
        state.begin([ROW, OTHER], MADE)
        before = state.pages()
        with pytest.raises(StateUnusable):
            state.finish(MADE, ["concepts/a.md"], {"concepts/a.md": object()})  # type: ignore[dict-item]
        assert state.pages() == before == state.cut_short()


def test_a_state_that_is_damaged_or_newer_is_told_and_left_as_it_is(folder: Folder) -> None:
    State.open(folder).close()
    path = folder.own / "state.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StateUnusable, match="newer"):
        State.open(folder)
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(StateUnusable, match="cannot be used"):
        State.open(folder)
    assert path.read_bytes() == b"no database at all" * 1000


def test_halves_of_letters_in_a_title_do_no_harm(folder: Folder) -> None:
    with State.open(folder) as state:
        state.begin([replace(ROW, title="a\ud800b")], MADE)
        assert [row.title for row in state.pages()] == ["a?b"]
