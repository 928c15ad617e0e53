"""`hindbrain migrate`: a home's memories in a shared database, however often it is interrupted, and proof of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.record import Recorder
from hindbrain.journal.archive import archive_stored
from hindbrain.journal.read import segments
from hindbrain.ledger import reasoned
from hindbrain.ledger.reasoned import Statement
from hindbrain.ledger.store import Ledger
from hindbrain.serve.engines import known_machine, machine_id
from hindbrain.serve.memory import Memory
from hindbrain.serve.migrating import TABLES, compare
from hindbrain.serve.sharing import positions
from tests.conformance.states import is_sound
from tests.postgres import Cluster
from tests.serve.installed import prompt, until
from tests.serve.sharing import Machine, machine, shared_ledger, there

PAID = reasoned.Call("k1", 50, "openai", "small", "extract", "a reply", None, 100, 20, 7)
MIGRATE = ("migrate", "--from", "sqlite", "--to", "postgresql")


@pytest.fixture
def laptop(tmp_path: Path, pg_url: str) -> Iterator[Machine]:
    with machine(tmp_path / "laptop", pg_url) as made:
        yield made


def fill(laptop: Machine, lines: int = 20, segments_of: int = 10, *, forgetting: bool = False) -> None:
    """Turns, memories, perhaps something forgotten, archives and an open segment; nothing of it shared."""
    with Memory(laptop.home.root) as memory:
        for number in range(lines):
            memory.record(agent="claude-code", session=f"s{number % 3}", role="user", text=f"statement {number}", project="shop")
            if number % segments_of == segments_of - 1:
                segments(laptop.home.journal)[-1].chmod(0o400)
        made = memory.remember("staging is read-only", project="shop", pinned=True)
        memory.settle_here()
        memory.correct(made, "staging takes writes")
        memory.settle_here()
        if forgetting:
            memory.forget(id=memory.search("statement 1")[0].id)
    with laptop.local() as ledger:
        archive_stored(laptop.home.journal, laptop.home.archive, positions(ledger), 1)


def test_everything_is_sent_and_every_table_is_equal(laptop: Machine, pg_url: str) -> None:
    fill(laptop, forgetting=True)
    with laptop.local() as ledger:
        lines = laptop.one(*MIGRATE, "--dry-run")
        assert lines == {
            "dry_run": True, "database": laptop.shared.name, "segments": len(positions(ledger)), "lines": 26,
            "bytes": sum(positions(ledger).values()),
        }  # fmt: skip
    with shared_ledger(pg_url) as ledger:
        assert ledger.counts().turns == 0
    done = laptop.one(*MIGRATE)
    assert (done["sent"], [each["table"] for each in done["tables"]]) == (26, list(TABLES))
    assert all(each["equal"] and each["sha256_here"] == each["sha256_there"] for each in done["tables"]), done
    counts = {each["table"]: (each["here"], each["there"], each["merged"]) for each in done["tables"]}
    assert (counts["turns"], counts["memories"], counts["forgotten"]) == ((21, 21, 0), (2, 2, 0), (2, 2, 0))  # both versions
    assert {**laptop.own(), "sessions": ""} == {**there(pg_url), "sessions": ""}
    assert [laptop.one(*MIGRATE)["sent"], laptop.one(*MIGRATE, "--dry-run")["lines"]] == [0, 0]
    table = laptop.cli(*MIGRATE).stdout
    assert table.count("  equal\n") == len(TABLES) and "DIFFERENT" not in table and "secret" not in table


def reason(laptop: Machine) -> None:
    """Memories of every level, in the home's own ledger alone: the journal does not hold them."""
    with Ledger.open(laptop.home.ledger, SystemClock()) as ledger, ledger.writing() as database:
        session = database.execute("SELECT id FROM sessions WHERE client_id = 's1'").fetchone()[0]
        said = reasoned.said(database, session)[:3]
        found = [Statement("fact", f"found {turn.text}", (turn.id,), turn.text, 0.8) for turn in said]
        reasoned.put(database, session, "rules/1", found, 5)
        one, two, three = (each.id for each in found)
        assert reasoned.supersede(database, one, two, 10) and reasoned.reinforce(database, two, three, 10)
        made = reasoned.put_insight(database, "insight", "all of them", [two, three], "global", None, "rules/1", 10)
        assert reasoned.contradict(database, two, three, "they differ", 10)
        reasoned.put_digest(database, session, "short", "long", "rules/1", 10)
        reasoned.mark_reflected(database, [one, two, three, *(row[0] for row in database.execute("SELECT id FROM memories"))])
        reasoned.set_reading(database, session, read_to=3)
        reasoned.note_change(database, "nap", made)
        reasoned.put_call(database, PAID)
        reasoned.note_produced(database, PAID.key, [one, two])


def test_what_reasoning_made_is_carried_over(laptop: Machine, pg_url: str) -> None:
    fill(laptop, 12, forgetting=True)
    Recorder(laptop.home.root).record([reasoned.call_event(PAID)], 5)
    reason(laptop)
    done = laptop.one(*MIGRATE)
    counts = {each["table"]: (each["here"], each["there"], each["merged"], each["equal"]) for each in done["tables"]}
    assert all(equal for *_, equal in counts.values()), done
    wanted = {"memories": 9, "readings": 1, "calls": 1, "changes": 1}
    assert {name: counts[name] for name in wanted} == {name: (count, count, 0, True) for name, count in wanted.items()}
    with shared_ledger(pg_url) as ledger:
        assert is_sound(ledger)
    assert all(each["equal"] for each in laptop.one(*MIGRATE)["tables"])


@pytest.mark.parametrize(("table", "statement"), [
    ("memories", "UPDATE hindbrain.memories SET text = text || '!' WHERE made_by <> 'person'"),
    ("links", "DELETE FROM hindbrain.links WHERE role = 'reinforces'"),
    ("calls", "DELETE FROM hindbrain.calls"), ("readings", "DELETE FROM hindbrain.readings"),
])  # fmt: skip
def test_a_difference_in_what_reasoning_made_is_found(
    laptop: Machine, pg_url: str, table: str, statement: str
) -> None:
    fill(laptop, 12)
    Recorder(laptop.home.root).record([reasoned.call_event(PAID)], 5)
    reason(laptop)
    laptop.one(*MIGRATE)
    with psycopg.connect(pg_url, autocommit=True) as admin:
        admin.execute(statement.encode())
    with laptop.local() as local, shared_ledger(pg_url) as there:
        found = compare(local, there, machine_id(laptop.home), lambda step: None, made_there=True)
    assert [each.table for each in found if not each.equal] == [table]


def test_the_target_may_be_named_and_may_be_without_tables(laptop: Machine, cluster: Cluster) -> None:
    fill(laptop, 3)
    url = cluster.create(f"named_{laptop.url.rpartition('/')[2]}")
    alone = Machine(laptop.home, "sqlite")
    assert alone.cli(*MIGRATE).returncode == 2
    assert alone.one(*MIGRATE, "--database", url, "--dry-run")["lines"] == 9
    with psycopg.connect(url) as admin:  # a dry run makes no tables
        assert admin.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'hindbrain'").fetchone() == (0,)
    ran = alone.cli(*MIGRATE, "--database", url)
    assert (ran.returncode, ran.stderr) == (0, "to ask it from now on: hindbrain config set database URL\n")
    assert laptop.own() == there(url)


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("UPDATE hindbrain.turns SET text = 'changed' WHERE text = 'statement 5'", "turns"),
        ("DELETE FROM hindbrain.project_aliases", "project_aliases"),
        ("UPDATE hindbrain.sessions SET last_at = last_at + 1 WHERE client_id = 's1'", "sessions"),
        ("UPDATE hindbrain.memories SET pinned = 1 - pinned", "memories"),
        ("DELETE FROM hindbrain.forgotten", "forgotten"),
        ("INSERT INTO hindbrain.forgotten (tenant, id, at) VALUES ('main', 'e_more', 1)", "forgotten"),
    ],
    ids=["text", "missing", "time", "flag", "no wish", "a wish too many"],
)
def test_a_difference_is_named_and_ends_with_its_own_code(laptop: Machine, pg_url: str, statement: str, table: str) -> None:
    fill(laptop, forgetting=table == "forgotten")
    laptop.one(*MIGRATE)
    with psycopg.connect(pg_url, autocommit=True) as admin:
        admin.execute("ALTER TABLE hindbrain.places DROP CONSTRAINT IF EXISTS places_tenant_project_id_fkey")
        admin.execute(statement.encode())
    ran = laptop.cli(*MIGRATE)
    assert ran.returncode == 7
    different = [line.split()[0] for line in ran.stdout.splitlines() if line.endswith("DIFFERENT")]
    assert different == [table]
    assert (f"different in {table}: " in ran.stderr) == ("INSERT" not in statement)  # a row too many has no key here


def test_rows_that_another_machine_added_to_are_compared_by_what_cannot_differ(
    laptop: Machine, tmp_path: Path, pg_url: str
) -> None:
    with machine(tmp_path / "desktop", pg_url) as desktop:
        for each in (desktop, laptop):  # the same turns of the same session, told at different times
            with Memory(each.home.root) as memory:
                for number in range(3):
                    text = f"statement {number}"
                    memory.record(agent="claude-code", session="s1", role="user", text=text, project="shop", key=str(number))
                memory.settle_here()
        desktop.tell("only here", session="s2")
        done = laptop.one(*MIGRATE)
        found = {each["table"]: (each["here"], each["there"], each["equal"]) for each in done["tables"]}
        assert found["turns"] == (3, 3, True) and all(equal for _, _, equal in found.values())
        assert sum(each["merged"] for each in done["tables"]) > 0
        with psycopg.connect(pg_url, autocommit=True) as admin:
            admin.execute("UPDATE hindbrain.turns SET role = 'assistant' WHERE text = 'statement 1'")
        assert laptop.cli(*MIGRATE).returncode == 7


@pytest.mark.slow
def test_a_migration_killed_at_any_time_is_completed_by_the_next(laptop: Machine, pg_url: str) -> None:
    fill(laptop, 200, 20)
    argv = [sys.executable, "-m", "hindbrain", "--home", str(laptop.home.root), *MIGRATE]
    environ = {**os.environ, **laptop.environ}
    seen = 0
    for _ in range(6):
        process = subprocess.Popen(argv, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def moved(known: int = seen, run: subprocess.Popen[bytes] = process) -> bool:
            with shared_ledger(pg_url) as ledger:
                return ledger.counts().lines > known or run.poll() is not None

        until(moved, "some lines to arrive")
        process.send_signal(signal.SIGKILL)
        process.wait()
        with shared_ledger(pg_url) as ledger:
            seen = ledger.counts().lines
    done = laptop.one(*MIGRATE)
    assert all(each["equal"] for each in done["tables"])
    assert laptop.own() == there(pg_url)
    with shared_ledger(pg_url) as ledger:
        assert ledger.counts().lines == seen + done["sent"]


@pytest.mark.slow
def test_a_migration_beside_a_worker_and_its_hooks_is_whole(laptop: Machine, pg_url: str) -> None:
    hook = Machine(laptop.home, "sqlite").installed()  # its worker knows of no database
    for number in range(3):
        hook.fire(prompt("s1", number, f"statement {number}"))
    hook.settled(3)
    assert all(each["equal"] for each in laptop.one(*MIGRATE)["tables"])
    hook.fire(prompt("s1", 3, "after the migration"))
    hook.cli("daemon", "start")  # the migration asked the worker to leave
    hook.settled(4)
    assert laptop.one(*MIGRATE)["sent"] >= 1
    assert laptop.own() == there(pg_url)


def test_what_cannot_be_migrated_is_refused_with_a_hint(tmp_path: Path, laptop: Machine) -> None:
    for arguments, sentence in (
        (("migrate", "--from", "postgresql", "--to", "sqlite"), "a home keeps its own SQLite ledger all the time"),
        (("migrate", "--from", "sqlite", "--to", "sqlite"), "both where they are and where they are to be"),
        (("migrate", "--from", "sqlite", "--to", "postgresql", "--database", "mysql://db/x"), "bad value for database"),
        (("migrate", "--from", "sqlite", "--to", "oracle"), "is not one of"),
        (("migrate", "--from", "sqlite"), "Missing option"),
    ):
        ran = laptop.cli(*arguments)
        assert (ran.returncode, ran.stdout) == (2, "") and sentence in ran.stderr and "hint: " in ran.stderr, arguments
    ran = laptop.cli(*MIGRATE)
    assert ran.returncode == 6 and "there is nothing to migrate" in ran.stderr
    fill(laptop, 1)
    away = Machine(laptop.home, "postgresql://ada:hunter2x@127.0.0.1:1/memory")
    ran = away.cli(*MIGRATE)
    assert ran.returncode == 5 and "hunter2x" not in ran.stderr and "hint: " in ran.stderr


def test_the_machine_keeps_its_id_in_a_backup_and_a_restored_segment_is_not_continued(
    laptop: Machine, tmp_path: Path, pg_url: str
) -> None:
    laptop.tell("before the backup")
    made = laptop.cli("backup", str(tmp_path / "b.tar.gz"))
    assert made.returncode == 0 and "the shared database is not in it" in made.stderr
    other = Machine(Home(tmp_path / "restored"), pg_url)
    assert other.cli("backup", "--restore", str(tmp_path / "b.tar.gz")).returncode == 0
    assert known_machine(other.home) == known_machine(laptop.home)
    # both go on: what each says is in the shared ledger, although they began with the same journal
    laptop.tell("said in the first home", session="s2")
    other.tell("said in the restored home", session="s3")
    laptop.tell("and again in the first", session="s2")
    assert set(other.found("said again before")) == {
        "before the backup", "said in the first home", "said in the restored home", "and again in the first",
    }  # fmt: skip


def test_setting_a_database_says_whether_it_answers(tmp_path: Path, pg_url: str) -> None:
    alone = Machine(Home(tmp_path / "home"), "")
    set_it = ("config", "set", "database")
    told = alone.cli(*set_it, pg_url, "--json")
    assert told.returncode == 0 and json.loads(told.stdout)["answers"] is True and "it answers: PostgreSQL " in told.stderr
    assert (alone.home.root / "config.toml").stat().st_mode & 0o777 == 0o600
    away = alone.cli(*set_it, "postgresql://ada:hunter2x@127.0.0.1:1/memory", "--json")
    data = json.loads(away.stdout)
    assert (away.returncode, data["answers"], data["value"]) == (0, False, "postgresql://ada:****@127.0.0.1:1/memory")
    assert data["error"] and data["hint"] and "warning: it does not answer" in away.stderr and "hunter2x" not in away.stderr
    assert "hunter2x" in (alone.home.root / "config.toml").read_text()
    assert alone.cli(*set_it, "sqlite").returncode == 0
