"""The matrix of signs: the same everywhere, as good as looking at every row, and never trusted when it is not whole."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.ledger import vectors
from hindbrain.ledger.store import Ledger
from hindbrain.recall import bitfile
from hindbrain.recall.bitfile import Signs
from hindbrain.recall.matrix import ALWAYS, Matrix, _rotation, quantised, signs
from tests.recall.vectors import DIMENSIONS, MODEL, TURNS, minute, numbers, put, spoken


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home whose turns all have vectors."""
    home = tmp_path_factory.mktemp("matrix") / "home"
    with spoken(home) as ledger:
        put(ledger, list(numbers(TURNS)))
    yield home


@pytest.fixture
def ledger(filled: Path, tmp_path: Path) -> Iterator[Ledger]:
    """A copy of it for each test."""
    from hindbrain.base.clock import SystemClock
    from hindbrain.ledger.backup import copy_to

    copy_to(filled / "ledger.db", tmp_path / "ledger.db")
    with Ledger.open(tmp_path / "ledger.db", SystemClock()) as opened:
        yield opened


def everything(ledger: Ledger, matrix: Matrix, limit: int = 10) -> list[int]:
    """What the matrix finds for one question, after it has looked for new rows."""
    with ledger.reading() as database:
        matrix.top_up(database)
    return sorted(matrix.nearest(signs(numbers(1, seed=99)).tobytes(), None, -ALWAYS, ALWAYS, limit))


def saved(ledger: Ledger, folder: Path) -> Matrix:
    matrix = Matrix.open(folder, MODEL, DIMENSIONS)
    with ledger.reading() as database:
        matrix.save(database)
    return matrix


@pytest.mark.parametrize(("dimensions", "digest"), [
    (8, "15d168d0d9e8b6e9"), (256, "8c3fbb643c757d65"), (384, "2d10738e2800f240"), (1536, "6a79c37c5a9556f6"),
])  # fmt: skip
def test_signs_are_the_same_on_every_machine(dimensions: int, digest: str) -> None:
    rows = (np.arange(40 * dimensions).reshape(40, dimensions) * 7919 % 255 - 127).astype(np.int8)
    found = signs(rows)
    assert found.shape == (40, 32)
    assert hashlib.sha256(found.tobytes()).hexdigest()[:16] == digest


@pytest.mark.parametrize("dimensions", [8, 256, 384, 1024, 1536])
def test_the_rotation_keeps_directions_apart(dimensions: int) -> None:
    turn = _rotation(dimensions)
    small = turn @ turn.T if dimensions <= 256 else turn.T @ turn
    aslant = np.abs(small / small[0, 0] - np.eye(len(small)))
    assert aslant.max() < (0.2 if dimensions in (384, 1536) else 1e-9)


def test_vectors_are_stored_as_127ths() -> None:
    found = quantised(np.array([[1.0, -1.0, 0.5, 0.0, 2.0]], np.float32))
    assert found.tolist() == [[127, -127, 64, 0, 127]]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_nearest_are_those_that_looking_at_every_row_finds(data: st.DataObject) -> None:
    count, split = data.draw(st.integers(0, 120)), data.draw(st.integers(0, 120))
    rows = numbers(count, seed=data.draw(st.integers(0, 5)))
    names = ["", "a", "b", "c"]
    codes = np.array([data.draw(st.integers(0, 3)) if count < 20 else each * 7 % 4 for each in range(count)], "<i4")
    at = np.array([each * 13 % 50 for each in range(count)], "<i8")
    whole = Signs(np.arange(count, dtype="<i8") * 3 + 1, at, np.ascontiguousarray(signs(rows).view("<u8").T), codes, names, rows)
    matrix = Matrix(Path("/nonexistent"), MODEL, DIMENSIONS)
    matrix._begin_with(_part(whole, slice(0, split)))
    matrix._now = matrix._now._replace(tail=_part(whole, slice(split, None)))
    asked = signs(numbers(1, seed=41))
    sessions = data.draw(st.none() | st.lists(st.sampled_from(["a", "b", "c", "unknown"]), unique=True))
    after, before = data.draw(st.sampled_from([(-ALWAYS, ALWAYS), (10, 30), (40, 10)]))
    limit = data.draw(st.integers(1, 130))
    found = matrix.nearest(asked.tobytes(), sessions, after, before, limit)
    distances = np.unpackbits(signs(rows) ^ asked, axis=1).sum(axis=1)
    meant = [
        (int(distances[each]), -int(whole.ids[each])) for each in range(count)
        if (sessions is None or names[codes[each]] in [*sessions, ""]) and after <= at[each] <= before
    ]  # fmt: skip
    assert sorted(found) == sorted(-number for _, number in sorted(meant)[:limit])


def _part(whole: Signs, some: slice) -> Signs:
    return Signs(whole.ids[some], whole.at[some], whole.words[:, some], whole.codes[some], whole.sessions, whole.numbers[some])


def test_only_the_sessions_and_the_time_asked_for_are_looked_at(ledger: Ledger, tmp_path: Path) -> None:
    matrix = saved(ledger, tmp_path)
    bits = signs(numbers(1)).tobytes()
    with ledger.reading() as database:
        session, when = database.execute("SELECT session_id, at FROM turns WHERE rowid = 6").fetchone()
        ids = [row[0] for row in database.execute(
            "SELECT vectors.id FROM vectors JOIN turns ON turns.rowid = turn WHERE session_id = ? ORDER BY vectors.id", (session,)
        )]  # fmt: skip
    assert when == minute(5)
    assert sorted(matrix.nearest(bits, [session], -ALWAYS, ALWAYS, 100)) == ids
    assert matrix.nearest(bits, [session], minute(5), minute(5), 100) == [6]
    assert matrix.nearest(bits, [], -ALWAYS, ALWAYS, 100) == []


def test_the_file_gives_the_same_as_the_rows_and_is_private(ledger: Ledger, tmp_path: Path) -> None:
    fresh = everything(ledger, Matrix.open(tmp_path / "none", MODEL, DIMENSIONS))
    matrix = saved(ledger, tmp_path)
    again = Matrix.open(tmp_path, MODEL, DIMENSIONS)
    assert (again.rows, again.unsaved, again.rebuilt) == (TURNS, 0, "")
    assert everything(ledger, again) == everything(ledger, matrix) == fresh
    assert stat.S_IMODE(matrix.path.stat().st_mode) == 0o600


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 5)


def _emptied(path: Path) -> None:
    os.truncate(path, 0)


def _longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"12345678")


def _version(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[8:12] = struct.pack("<I", bitfile.VERSION + 1)
    path.write_bytes(data)


def _many_rows(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[16:24] = struct.pack("<Q", 1 << 60)
    path.write_bytes(data)


def _flip(place: float) -> Callable[[Path], None]:
    def flip(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[int((len(data) - 1) * place)] ^= 0x10
        path.write_bytes(data)

    return flip


def _link(path: Path) -> None:
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def _second_name(path: Path) -> None:
    os.link(path, path.with_name("second"))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _text(path: Path) -> None:
    path.write_text("not what it should be, but long enough to hold a header of some kind")


def _another_model(path: Path) -> None:
    found = bitfile.load(path, MODEL, DIMENSIONS)
    bitfile.save(path, found, "other:8", DIMENSIONS)


def _another_dimension(path: Path) -> None:
    found = bitfile.load(path, MODEL, DIMENSIONS)
    bitfile.save(path, found, MODEL, DIMENSIONS + 1)


def _another_home(path: Path) -> None:
    found = bitfile.load(path, MODEL, DIMENSIONS)
    bitfile.save(path, found._replace(words=found.words[:, ::-1]), MODEL, DIMENSIONS)


def _of_a_later_time(path: Path) -> None:
    found = bitfile.load(path, MODEL, DIMENSIONS)
    bitfile.save(path, found._replace(ids=found.ids + 1000), MODEL, DIMENSIONS)


DAMAGE = [
    _cut, _emptied, _longer, _version, _many_rows, _flip(0.0), _flip(0.03), _flip(0.1), _flip(0.5), _flip(1.0), _link,
    _second_name, _text, _another_model, _another_dimension, _another_home, _of_a_later_time,
]  # fmt: skip


@pytest.mark.parametrize("damage", range(len(DAMAGE)))
def test_a_file_that_is_not_right_is_not_used_and_is_made_anew(damage: int, ledger: Ledger, tmp_path: Path) -> None:
    matrix = saved(ledger, tmp_path / "derived")
    right, told = everything(ledger, matrix), matrix.path.read_bytes()
    DAMAGE[damage](matrix.path)
    again = Matrix.open(tmp_path / "derived", MODEL, DIMENSIONS)
    assert everything(ledger, again) == right
    assert again.rebuilt
    with ledger.reading() as database:
        again.save(database)
    assert matrix.path.read_bytes() == told
    assert not matrix.path.is_symlink()
    last = Matrix.open(tmp_path / "derived", MODEL, DIMENSIONS)
    assert (everything(ledger, last), last.rebuilt, last.unsaved) == (right, "", 0)


def test_a_folder_in_its_place_costs_the_file_and_nothing_else(ledger: Ledger, tmp_path: Path) -> None:
    matrix = saved(ledger, tmp_path / "derived")
    right = everything(ledger, matrix)
    _folder(matrix.path)
    again = Matrix.open(tmp_path / "derived", MODEL, DIMENSIONS)
    assert (everything(ledger, again), again.rebuilt) == (right, f"{matrix.path} is not a plain file")


def test_the_target_of_a_planted_link_is_left_alone(ledger: Ledger, tmp_path: Path) -> None:
    matrix = Matrix.open(tmp_path / "derived", MODEL, DIMENSIONS)
    matrix.path.parent.mkdir()
    (tmp_path / "precious").write_text("keep")
    matrix.path.symlink_to(tmp_path / "precious")
    saved(ledger, tmp_path / "derived")
    assert ((tmp_path / "precious").read_text(), matrix.path.is_symlink()) == ("keep", False)


def test_rows_stored_after_the_file_was_written_are_found(ledger: Ledger, tmp_path: Path) -> None:
    """A crash between the rows and the file costs nothing."""
    matrix = saved(ledger, tmp_path)
    with ledger.writing() as database:
        database.execute("UPDATE turns SET text = 'said otherwise' WHERE rowid = 3")
    asked = numbers(1, seed=99)[0]
    put(ledger, [asked])
    again = Matrix.open(tmp_path, MODEL, DIMENSIONS)
    assert everything(ledger, again, 1) == everything(ledger, matrix, 1) == [TURNS + 1]
    assert again.unsaved == 1


def test_a_ledger_that_was_put_back_to_an_earlier_day_is_noticed(ledger: Ledger, tmp_path: Path) -> None:
    """Ids are given again then, and what they stood for is not what they stand for."""
    matrix = saved(ledger, tmp_path)
    with ledger.writing() as database:
        database.execute("DELETE FROM vectors WHERE id > 30")
        database.execute("UPDATE sqlite_sequence SET seq = 30 WHERE name = 'vectors'")
        database.execute("UPDATE turns SET text = 'said otherwise' WHERE rowid = 3")
    everything(ledger, matrix)
    assert matrix.rebuilt == "the ledger has given fewer ids than it holds"
    put(ledger, [numbers(1, seed=99)[0]])
    assert everything(ledger, matrix, 1) == [31]


def test_deleted_rows_leave_the_file_with_the_next_saving(ledger: Ledger, tmp_path: Path) -> None:
    matrix = saved(ledger, tmp_path)
    with ledger.writing() as database:
        database.execute("DELETE FROM vectors WHERE id % 2 = 0")
    assert matrix.rows == TURNS
    with ledger.reading() as database:
        matrix.save(database)
        assert matrix.verify(database) == (TURNS // 2, 0, 0)
    assert everything(ledger, Matrix.open(tmp_path, MODEL, DIMENSIONS), 100) == list(range(1, TURNS, 2))


def test_verifying_counts_what_is_right_wrong_and_lacking(ledger: Ledger, tmp_path: Path) -> None:
    matrix = saved(ledger, tmp_path)
    found = bitfile.load(matrix.path, MODEL, DIMENSIONS)
    words = np.array(found.words)
    words[2, 5] ^= np.uint64(1)
    bitfile.save(matrix.path, _part(found._replace(words=words), slice(0, TURNS - 3)), MODEL, DIMENSIONS)
    with ledger.reading() as database:
        assert Matrix.open(tmp_path, MODEL, DIMENSIONS).verify(database) == (TURNS - 4, 1, 3)


def test_the_file_of_another_model_goes_when_one_is_saved(ledger: Ledger, tmp_path: Path) -> None:
    old = saved(ledger, tmp_path)
    put(ledger, list(numbers(TURNS, 16)), "test:16")
    matrix = Matrix.open(tmp_path, "test:16", 16)
    with ledger.reading() as database:
        matrix.save(database)
    assert (old.path.exists(), [each.name for each in tmp_path.glob("*.bits")]) == (False, [matrix.path.name])
    assert matrix.rows == TURNS


def test_a_vector_of_another_length_is_a_row_without_meaning(ledger: Ledger, tmp_path: Path) -> None:
    with ledger.writing() as database:
        database.execute("UPDATE vectors SET vector = x'0102' WHERE id = 4")
    matrix = saved(ledger, tmp_path)
    assert matrix.rows == TURNS


def test_threads_may_ask_while_another_tops_up_and_saves(ledger: Ledger, tmp_path: Path) -> None:
    matrix = saved(ledger, tmp_path)
    bits = signs(numbers(1, seed=99)).tobytes()
    with ledger.reading() as database:
        sessions = [row[0] for row in database.execute("SELECT id FROM sessions")]
    ended, wrong = threading.Event(), []

    def ask() -> None:
        while not ended.is_set():
            found = matrix.nearest(bits, sessions, -ALWAYS, ALWAYS, 1000)
            if sorted(found) != list(range(1, TURNS + 1)):
                wrong.append(found)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    for each in threads:
        each.start()
    try:
        for _ in range(100):
            half = matrix._now.saved  # as if the second half had come just now
            matrix._now = matrix._now._replace(saved=_part(half, slice(0, 20)), tail=_part(half, slice(20, None)))
            with ledger.reading() as database:
                matrix.save(database)
                matrix.top_up(database)
    finally:
        ended.set()
        sys.setswitchinterval(before)
        for each in threads:
            each.join()
    assert wrong == []


def test_a_ledger_without_vectors_has_an_empty_matrix(tmp_path: Path) -> None:
    with spoken(tmp_path / "home", 2) as ledger:
        matrix = Matrix.open(tmp_path, MODEL, DIMENSIONS)
        assert everything(ledger, matrix) == []
        with ledger.reading() as database:
            matrix.save(database)
            assert (vectors.counts(database), matrix.rows) == ((0, 2), 0)
        assert everything(ledger, Matrix.open(tmp_path, MODEL, DIMENSIONS)) == []
