"""One flipped bit anywhere in the ledger's files is found, refused or without effect, or lies in content that a rebuild restores.

What is promised: the ledger's structure, its references, its indexes and full-text indexes are checked against each other, so a
flip there never leads to a wrong answer that the doctor calls sound. What is not: SQLite keeps no checksums of rows. A letter
changed inside a stored text, or a number inside a row that no index repeats, is a sound database that says something else; it
is told only by comparing with a rebuild, which the journal always allows. Commits in the write-ahead log carry checksums.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Literal

import pytest

from hindbrain.base.errors import HindbrainError
from hindbrain.base.home import Home
from hindbrain.capture.decode import events_of
from hindbrain.ledger.check import problems
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.rebuild import rebuild, swap_in
from hindbrain.ledger.store import Ledger, suspect_mark
from hindbrain.serve.doctor import Doctor
from tests.faults.homes import CLOCK, NOW, chosen, content, content_of, draining, full_history, store, turn, write
from tests.faults.pages import CONTENT, FRAME, KINDS, WAL_HEADER, flip, kinds_of

Outcome = Literal["refused", "reported", "harmless", "silent"]
Content = dict[str, object]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with every kind of page; what was forgotten left free ones."""
    home = Home(tmp_path_factory.mktemp("original") / "home")
    gone = [turn(number, session="gone", text="soon forgotten " * 400) for number in range(2000, 2030)]
    write(home, [*full_history(600), *gone])
    store(home)
    write(home, [forget_event([event.id for event in gone], NOW + 9_000)])
    store(home)
    return home


@pytest.fixture(scope="module")
def wanted(original: Home, tmp_path_factory: pytest.TempPathFactory) -> Content:
    path = tmp_path_factory.mktemp("wanted") / "ledger.db"
    rebuild(original.archive, original.journal, events_of, path, CLOCK)
    assert content_of(path) == content_of(original.ledger)
    return content_of(path)


def copied(original: Home, root: Path) -> Home:
    """The same home again, without what an earlier case left."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(original.root, root)
    return Home(root)


def outcome(home: Home, wanted: Content) -> Outcome:
    """What a user learns. Any error but one of ours is a fault of its own."""
    try:
        with Ledger.open(home.ledger, CLOCK) as ledger:
            if problems(ledger, home.journal, home.archive):
                return "reported"
            return "harmless" if content(ledger) == wanted else "silent"
    except HindbrainError as error:
        assert error.message
        return "refused"


def repaired(home: Home) -> None:
    """What `doctor --repair` does; a file that is no ledger by its look is moved away first, as the refusal asks."""
    doctor = Doctor(home, CLOCK, lambda step: None)
    try:
        doctor.repair()
    except HindbrainError:
        home.ledger.rename(home.ledger.with_name("moved away"))
        suspect_mark(home.ledger).unlink(missing_ok=True)
        store(home)


def flipped_at(original: Home, root: Path, wanted: Content, kind: str, number: int) -> tuple[Outcome, str]:
    stretches = kinds_of(original.ledger)[kind]
    home, source = copied(original, root), chosen(number)
    what = flip(home.ledger, *stretches[number % len(stretches)], source)
    found = outcome(home, wanted)
    if found != "harmless":
        if found == "silent":
            rebuild(home.archive, home.journal, events_of, home.root / "new.db", CLOCK)
            swap_in(home.root / "new.db", home.ledger, CLOCK)
        else:
            repaired(home)
        assert outcome(home, wanted) == "harmless", f"not repaired: {what}"
    return found, what


def judged(original: Home, root: Path, wanted: Content, kind: str, numbers: range) -> Counter[Outcome]:
    found = [flipped_at(original, root, wanted, kind, number) for number in numbers]
    silent = [what for outcome, what in found if outcome == "silent"]
    assert not silent or kind in CONTENT, f"{kind}: wrong answers and no word about it: {silent}"
    return Counter(outcome for outcome, _ in found)


@pytest.mark.parametrize("kind", ["header", "table internal", "index leaf", "full text"])
def test_a_flipped_bit_in_the_ledger_is_found_or_means_nothing(
    original: Home, tmp_path: Path, wanted: Content, kind: str
) -> None:
    assert judged(original, tmp_path / "home", wanted, kind, range(3)).total() == 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_in_any_kind_of_page_is_found_or_means_nothing_or_is_content_a_rebuild_restores(
    original: Home, tmp_path: Path, wanted: Content, kind: str
) -> None:
    found = judged(original, tmp_path / "home", wanted, kind, range(3, 30))
    assert found.total() == 27
    assert kind == "free" or found["harmless"] < 27, "no flip was ever noticed: they do not reach the file"


def test_the_check_notices_content_that_was_changed_in_silence(original: Home, tmp_path: Path, wanted: Content) -> None:
    home = copied(original, tmp_path / "home")
    with Ledger.open(home.ledger, CLOCK) as ledger:
        ledger.connection.execute("UPDATE sessions SET model = 'another' WHERE client_id = 's1'")
    assert outcome(home, wanted) == "silent"


@pytest.fixture(scope="module")
def with_log(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home as a crash leaves it: several commits in the write-ahead log, none of them in the main file."""
    home = Home(tmp_path_factory.mktemp("log") / "home")
    write(home, full_history(60))
    store(home)
    live = Ledger.open(home.ledger, CLOCK)
    live.connection.execute("PRAGMA wal_autocheckpoint = 0")
    for step in range(4):
        write(home, [turn(number) for number in range(60 + 10 * step, 70 + 10 * step)])
        with draining(home, live) as drain:
            drain.run()
    left = Home(home.root.with_name("left"))
    shutil.copytree(home.root, left.root)
    live.close()
    assert left.ledger.with_name("ledger.db-wal").stat().st_size > 4 * FRAME
    return left


def in_log(path: Path, number: int) -> tuple[int, int]:
    """A stretch of the write-ahead log: its header, a frame's header, or a frame's page, in turn."""
    frames = (path.stat().st_size - WAL_HEADER) // FRAME
    frame = WAL_HEADER + FRAME * (number * 7 % frames)
    return [(0, WAL_HEADER), (frame, frame + 24), (frame + 24, frame + FRAME)][number % 3]


def log_flips_cost_no_more_than_a_second_reading(with_log: Home, root: Path, numbers: range) -> int:
    """How many flips took commits away; the journal brings them back."""
    whole = Home(root.with_name("whole"))
    shutil.copytree(with_log.root, whole.root, dirs_exist_ok=True)
    wanted, lost = content_of(whole.ledger), 0
    for number in numbers:
        home = copied(with_log, root)
        log = home.ledger.with_name("ledger.db-wal")
        what = flip(log, *in_log(log, number), chosen(number))
        with Ledger.open(home.ledger, CLOCK) as ledger:
            assert problems(ledger, home.journal, home.archive) == [], what
            lost += content(ledger) != wanted
        store(home)
        assert content_of(home.ledger) == wanted, what
    return lost


def test_a_flipped_bit_in_the_write_ahead_log_takes_whole_commits_which_the_journal_brings_back(
    with_log: Home, tmp_path: Path
) -> None:
    assert log_flips_cost_no_more_than_a_second_reading(with_log, tmp_path / "home", range(6)) > 0


@pytest.mark.slow
def test_flipped_bits_at_many_places_of_the_write_ahead_log(with_log: Home, tmp_path: Path) -> None:
    assert log_flips_cost_no_more_than_a_second_reading(with_log, tmp_path / "home", range(6, 66)) > 20


def test_commits_lost_from_the_log_whose_lines_are_archived_already_are_found_and_come_back(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    write(home, full_history(60))
    store(home)
    with Ledger.open(home.ledger, CLOCK) as live, draining(home, live) as drain:
        live.connection.execute("PRAGMA wal_autocheckpoint = 0")
        write(home, [turn(number) for number in range(60, 90)])
        write(home, [turn(90)], new_segment=True)
        drain.run()
        assert drain.archive(0) != []
        wanted = content(live)
        left = copied(home, tmp_path / "left")
    flip(left.ledger.with_name("ledger.db-wal"), WAL_HEADER + 24, WAL_HEADER + FRAME, chosen(1))
    assert outcome(left, wanted) == "reported"
    repaired(left)
    assert outcome(left, wanted) == "harmless"


@pytest.mark.parametrize(("harm", "where"), [
    ("UPDATE turns SET text = CAST(x'68e46c6c6f' AS TEXT) WHERE rowid = 3", "table turns"),
    ("UPDATE sessions SET detail = '{half' WHERE client_id = 's1'", "table sessions"),
    ("UPDATE memories_fts_content SET c1 = 'something else' WHERE c0 IN (SELECT max(id) FROM memories)", "memories_fts"),
])  # fmt: skip
def test_what_only_a_reader_would_stumble_over_is_found(original: Home, tmp_path: Path, harm: str, where: str) -> None:
    home = copied(original, tmp_path / "home")
    with Ledger.open(home.ledger, CLOCK) as ledger:
        ledger.connection.execute(harm)
        found = problems(ledger)
    assert where in {problem.where for problem in found}
    assert {problem.repair for problem in found} == {"rebuild"}
