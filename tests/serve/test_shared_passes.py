"""One pass of sharing: all of a home, once, from wherever it lies, whatever came in between."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import HindbrainError
from hindbrain.base.home import Home
from hindbrain.capture.event import Event
from hindbrain.capture.record import Recorder
from hindbrain.journal.archive import archive_stored
from hindbrain.journal.read import segment_name, segments
from hindbrain.serve import shared_state
from hindbrain.serve.engines import known_machine, machine_id
from hindbrain.serve.memory import Memory
from hindbrain.serve.sharer import share_now
from hindbrain.serve.sharing import positions
from tests.serve.sharing import Machine, machine, shared_ledger, there


@pytest.fixture
def laptop(tmp_path: Path, pg_url: str) -> Iterator[Machine]:
    with machine(tmp_path / "laptop", pg_url) as made:
        yield made


def tell_here(laptop: Machine, *texts: str) -> None:
    """Recorded and in the home's own ledger, but not shared."""
    with laptop.memory() as memory:
        for text in texts:
            memory.record(agent="claude-code", session="s1", role="user", text=text, project="shop")
        memory.settle_here()


def seal(home: Home) -> None:
    """The next line begins another segment."""
    segments(home.journal)[-1].chmod(0o400)


def archive(laptop: Machine) -> None:
    with laptop.local() as ledger:
        assert archive_stored(laptop.home.journal, laptop.home.archive, positions(ledger), 0)


def share(laptop: Machine) -> int:
    return share_now(laptop.shared, SystemClock()).lines


def test_a_home_is_in_the_shared_ledger_once_however_often_it_is_shared(laptop: Machine, pg_url: str) -> None:
    tell_here(laptop, "use tabs", "use spaces after all")
    assert [share(laptop), share(laptop)] == [3, 0]  # two turns and the project
    assert laptop.own() == there(pg_url)
    tell_here(laptop, "never mind")
    assert share(laptop) == 2
    assert laptop.own() == there(pg_url)
    with shared_ledger(pg_url) as ledger, ledger.reading() as connection:
        rows = connection.execute("SELECT DISTINCT machine FROM places UNION SELECT machine FROM sessions").fetchall()
    assert rows == [(known_machine(laptop.home),)]


def test_segments_are_shared_from_the_journal_and_from_archives(laptop: Machine, pg_url: str) -> None:
    for number in range(4):
        tell_here(laptop, f"statement {number}")
        seal(laptop.home)
    archive(laptop)
    tell_here(laptop, "the last one")
    assert len(segments(laptop.home.journal)) == 2
    assert share(laptop) == 10  # each Memory tells of the project
    assert laptop.own() == there(pg_url)
    seal(laptop.home)
    tell_here(laptop, "one more")
    archive(laptop)  # what was shared from the journal lies in an archive now
    assert share(laptop) == 2
    assert laptop.own() == there(pg_url)


@pytest.mark.parametrize("stop_at", [1, 2, 3])
def test_a_pass_that_is_cut_off_goes_on_where_it_stood(laptop: Machine, pg_url: str, stop_at: int) -> None:
    for number in range(4):
        tell_here(laptop, f"statement {number}")
        seal(laptop.home)
    calls: list[int] = []

    def stop(lines: int) -> None:
        calls.append(lines)
        if len(calls) == stop_at:
            raise HindbrainError("cut off")

    with pytest.raises(HindbrainError, match="cut off"):
        share_now(laptop.shared, SystemClock(), stop)
    assert share(laptop) == 8 - sum(calls)
    assert laptop.own() == there(pg_url)


def test_several_who_share_the_same_home_at_once_store_nothing_twice(laptop: Machine, pg_url: str) -> None:
    for number in range(6):
        tell_here(laptop, *[f"statement {number} {each}" for each in range(20)])
        seal(laptop.home)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: share(laptop), range(4)))
    assert laptop.own() == there(pg_url)
    with shared_ledger(pg_url) as ledger, ledger.reading() as connection:
        assert connection.execute("SELECT count(*) FROM turns").fetchone() == (120,)
        assert ledger.counts().lines == 126


def test_damage_is_told_and_costs_no_other_line(laptop: Machine, pg_url: str) -> None:
    tell_here(laptop, "before")
    path = segments(laptop.home.journal)[-1]
    with path.open("ab") as file:
        file.write(b"\nH1 nonsense that no writer of ours wrote\n")
    tell_here(laptop, "after")
    with path.open("ab") as file:
        file.write(b"\nH1 cut off in the mid")  # a writer that was killed
    seal(laptop.home)
    tell_here(laptop, "at last")
    share(laptop)
    assert laptop.own() == there(pg_url)
    with laptop.local() as ledger:
        assert (ledger.counts().damaged, ledger.counts().torn) != (0, 0)
    with laptop.local() as local, shared_ledger(pg_url) as ledger:
        assert positions(ledger, positions(local)) == positions(local)


def test_what_was_forgotten_before_it_was_shared_never_gets_there(laptop: Machine, pg_url: str) -> None:
    tell_here(laptop, "keep this", "the zanzibar plan")
    seal(laptop.home)  # a segment that ends with what will be void
    tell_here(laptop, "and this")
    with Memory(laptop.home.root) as memory:
        memory.forget(id=memory.search("zanzibar")[0].id)
    share(laptop)
    assert laptop.own() == there(pg_url)
    with laptop.local() as local, shared_ledger(pg_url) as ledger:
        assert positions(ledger, positions(local)) == positions(local)  # past lines that are void
        assert ledger.search("zanzibar keep")[0].text == "keep this"
        assert ledger.search("zanzibar") == []


def test_how_far_transcripts_were_read_stays_at_home(laptop: Machine, pg_url: str) -> None:
    recorder = Recorder(laptop.home.root)
    detail = {"source": "transcript:/home/ada/a.jsonl", "position": {"offset": 7}}
    moved = Event(kind="cursor", agent="claude-code", session="", at=5, key="k", origin="worker", detail=detail)  # type: ignore[arg-type]
    recorder.record([moved], 5)
    recorder.close()
    tell_here(laptop, "hello")
    assert share(laptop) == 3
    with laptop.local() as local, shared_ledger(pg_url) as ledger:
        assert (list(local.cursors("transcript:")), list(ledger.cursors("transcript:"))) == (["transcript:/home/ada/a.jsonl"], [])


def test_a_line_the_shared_ledger_cannot_take_keeps_no_other_from_it(laptop: Machine, pg_url: str) -> None:
    with psycopg.connect(pg_url, autocommit=True) as admin:
        admin.execute("ALTER TABLE hindbrain.turns ADD CONSTRAINT no_poison CHECK (text <> 'poison')")
    tell_here(laptop, "before", "poison", "after")
    assert share(laptop) == 4
    with shared_ledger(pg_url) as ledger, ledger.reading() as connection:
        turns = connection.execute("SELECT text FROM turns ORDER BY at").fetchall()
        kept = connection.execute("SELECT text, detail FROM events WHERE kind = 'unparsed'").fetchall()
    assert turns == [("before",), ("after",)]
    assert len(kept) == 1 and "poison" in kept[0][0] and "sharing failed" in kept[0][1]
    assert share(laptop) == 0


def test_a_segment_that_is_gone_is_named_and_the_rest_of_the_home_is_not_touched(laptop: Machine, pg_url: str) -> None:
    tell_here(laptop, "lost")
    lost = segments(laptop.home.journal)[-1]
    seal(laptop.home)
    tell_here(laptop, "still there")
    lost.rename(lost.with_name("elsewhere"))
    done = share_now(laptop.shared, SystemClock())
    assert (done.lines, done.missing) == (2, [segment_name(lost)])  # what came later is shared all the same
    told = laptop.one("status")["shared"]
    assert f"segment {segment_name(lost)} is neither in the journal nor in an archive" in told["last_error"] and told["hint"]
    lost.with_name("elsewhere").rename(lost)
    assert share(laptop) == 2
    assert laptop.own() == there(pg_url)
    assert laptop.one("status")["shared"]["last_error"] is None


def test_what_is_known_of_one_database_says_nothing_of_another(laptop: Machine) -> None:
    tell_here(laptop, "hello")
    share(laptop)
    state = shared_state.read(laptop.home, laptop.shared.name)
    assert (state.complete, state.error) == (True, "")
    assert shared_state.read(laptop.home, "postgresql://other/db (main)") == shared_state.State("postgresql://other/db (main)")
    laptop.home.sharing.write_bytes(b"garbage")
    assert shared_state.read(laptop.home, laptop.shared.name) == shared_state.State(laptop.shared.name)


def test_many_processes_agree_on_one_machine_id(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    code = "import sys; from pathlib import Path; from hindbrain.base.home import Home\n"
    code += "from hindbrain.serve.engines import machine_id; print(machine_id(Home(Path(sys.argv[1]))))"
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(home.root)], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    said = {each.communicate()[0].strip() for each in started}
    assert said == {machine_id(home)} and len(known_machine(home)) == 16
    home.machine.write_text("not an id")
    with pytest.raises(HindbrainError, match="does not hold a machine id"):
        machine_id(home)
