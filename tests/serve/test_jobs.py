"""`hindbrain jobs`: jobs are listed and shown, tried again, called off; status and doctor tell of those that are parked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import NewJob, Park
from hindbrain.queues.queue import Queue
from hindbrain.serve.commands.jobs import STATES
from tests.serve.commands import CommandLine, Ran

HOSTILE = "\x1b[2J\u202etxt.\x07\U000e0041"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setattr("hindbrain.serve.commands.jobs._wake", lambda invocation: None)  # no worker is to come and do them
    home = Home(tmp_path / "data")
    home.root.mkdir(mode=0o700)
    return CommandLine(home, tmp_path, capsys)


@contextmanager
def queue_of(run: CommandLine) -> Iterator[Queue]:
    with Ledger.open(run.home.ledger, SystemClock()) as ledger:
        yield Queue(ledger, SystemClock())


def fill(run: CommandLine) -> dict[str, int]:
    """A job in every state; their ids."""
    with queue_of(run) as queue:
        ids = {}
        for key in ("parked", "done", "cancelled", "running"):
            (ids[key],) = queue.add([NewJob("note", key, {"about": key, "by": HOSTILE}, group="g" if key == "running" else "")])
            (job,) = queue.claim("note", 1, "worker 7") if key != "cancelled" else [None]
            if key == "parked" and job is not None:
                queue.fail([job], Park(f"no use: {HOSTILE}\nsecond line"))
            elif key == "done" and job is not None:
                queue.finish([job])
            elif key == "cancelled":
                queue.cancel([ids[key]])
        (ids["ready"],) = queue.add([NewJob("other", "ready", priority=3, forced=True)])
        (ids["waiting"],) = queue.add([NewJob("note", "waiting", delay_seconds=3_600)])
    return ids


def states(run: CommandLine) -> dict[str, str]:
    return {job["key"]: job["state"] for job in run.one("jobs", "list")}


def test_the_states_offered_are_those_of_the_queue() -> None:
    from hindbrain.queues import job

    assert job.STATES == STATES


def test_every_job_is_listed_and_can_be_picked_by_state_and_kind(run: CommandLine) -> None:
    ids = fill(run)
    listed = run.one("jobs", "list")
    assert {job["key"]: (job["id"], job["state"]) for job in listed} == {key: (number, key) for key, number in ids.items()}
    assert [job["key"] for job in run.one("jobs", "list", "--state", "parked")] == ["parked"]
    assert [job["key"] for job in run.one("jobs", "list", "--kind", "other")] == ["ready"]
    assert len(run.one("jobs", "list", "--limit", "2")) == 2
    assert run("jobs").out == run("jobs", "list").out
    assert len(run("jobs").out.splitlines()) == 6


def test_nothing_stored_in_a_job_reaches_the_terminal_but_to_be_seen(run: CommandLine) -> None:
    ids = fill(run)
    with queue_of(run) as queue:
        (hostile,) = queue.add([NewJob(f"kind{HOSTILE}", f"key{HOSTILE}", group=HOSTILE)])
    for command in (["jobs"], ["jobs", "show", str(ids["parked"])], ["jobs", "show", str(hostile)],
                    ["jobs", "retry", str(ids["parked"]), "--dry-run"]):  # fmt: skip
        ran = run(*command)
        assert ran.code == 0 and ran.out.replace("\n", "").isprintable() and "\\x1b[2J" in ran.out, command
    assert run.one("jobs", "show", str(ids["parked"]))["payload"] == {"about": "parked", "by": HOSTILE}


def test_a_job_is_shown_with_its_payload_its_tries_and_its_error(run: CommandLine) -> None:
    ids = fill(run)
    shown = run.one("jobs", "show", str(ids["parked"]))
    names = ("kind", "key", "state", "attempts", "max_attempts", "crashes", "claims", "owner")
    assert [shown[name] for name in names] == ["note", "parked", "parked", 1, 5, 0, 1, ""]
    assert shown["error"].startswith("no use: ") and shown["error"].endswith("second line")
    text = run("jobs", "show", str(ids["parked"])).out.splitlines()
    assert [line.split()[0] for line in text] == [
        "job", "state", "priority", "added", "changed", "tries", "error", "second", "payload",
    ]  # fmt: skip
    assert "1 of 5, claimed 1 times in all" in "\n".join(text)
    running = run("jobs", "show", str(ids["running"])).out
    assert "running, owned by worker 7" in running and "group     g" in running
    assert "not before 20" in run("jobs", "show", str(ids["waiting"])).out
    assert "3, forced" in run("jobs", "show", str(ids["ready"])).out


def test_parked_and_cancelled_jobs_are_tried_again_and_nothing_else_changes(run: CommandLine) -> None:
    ids = fill(run)
    before = states(run)
    dry = run("jobs", "retry", str(ids["parked"]), str(ids["cancelled"]), "--dry-run")
    assert dry.code == 0 and dry.out.splitlines()[-1] == "2 jobs would be tried again"
    assert states(run) == before
    assert run("jobs", "retry", str(ids["parked"]), str(ids["parked"])).out == "1 job is tried again\n"
    assert states(run) == {**before, "parked": "ready"}
    assert run.one("jobs", "retry", str(ids["cancelled"])) == {"dry_run": False, "changed": 1, "jobs": [ids["cancelled"]]}


def test_all_parked_jobs_are_tried_again_or_those_of_one_kind(run: CommandLine) -> None:
    ids = fill(run)
    assert run.one("jobs", "retry", "--all-parked", "--kind", "other") == {"dry_run": False, "changed": 0, "jobs": []}
    assert run.one("jobs", "retry", "--all-parked", "--dry-run") == {"dry_run": True, "changed": 0, "jobs": [ids["parked"]]}
    assert states(run)["parked"] == "parked"
    assert run.one("jobs", "retry", "--all-parked", "--kind", "note") == {"dry_run": False, "changed": 1, "jobs": [ids["parked"]]}
    assert states(run)["parked"] == "ready"


def test_a_retry_beside_a_live_job_of_the_same_key_is_left_alone_and_said(run: CommandLine) -> None:
    ids = fill(run)
    with queue_of(run) as queue:
        queue.add([NewJob("note", "parked")])
    ran = run("jobs", "retry", str(ids["parked"]))
    assert (ran.code, ran.out) == (0, "0 jobs are tried again\n") and "1 were left alone" in ran.err


def test_live_and_parked_jobs_are_cancelled(run: CommandLine) -> None:
    ids = fill(run)
    before = states(run)
    wanted = [str(ids[key]) for key in ("waiting", "ready", "running", "parked")]
    assert run("jobs", "cancel", *wanted, "--dry-run").code == 0 and states(run) == before
    assert run("jobs", "cancel", *wanted).out == "4 jobs are cancelled\n"
    assert states(run) == {**dict.fromkeys(before, "cancelled"), "done": "done"}


def test_an_id_that_cannot_be_changed_keeps_all_others_from_being_changed(run: CommandLine) -> None:
    ids = fill(run)
    before = states(run)
    for command, good in (("retry", ids["parked"]), ("cancel", ids["ready"])):
        for bad, code in ((ids["done"], 2), (99, 6)):
            ran = run("jobs", command, str(good), str(bad))
            assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 2), (command, bad)
    assert states(run) == before


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["frob"], 2), (["list", "extra"], 2), (["list", "--state", "asleep"], 2), (["list", "--limit", "0"], 2),
        (["list", "--limit", "many"], 2), (["list", "--limit", "99999999999999999999"], 2), (["list", "--frob"], 2),
        (["show"], 2), (["show", ""], 2), (["show", "x"], 2), (["show", "-1"], 2), (["show", "1.5"], 2), (["show", "٣"], 2),
        (["show", "0"], 6), (["show", "99"], 6), (["show", "9223372036854775807"], 6), (["show", "9223372036854775808"], 6),
        (["show", "9" * 30], 2), (["show", "\udcff"], 2), (["show", "\x1b[2J"], 2), (["show", "1", "2"], 2),
        (["show", "1 OR 1=1"], 2), (["show", "1" * 100_000], 2),
        (["retry"], 2), (["retry", "99"], 6), (["retry", "1", "--all-parked"], 2), (["retry", "1", "--kind", "note"], 2),
        (["retry", "--all"], 2), (["retry", "x"], 2), (["cancel"], 2), (["cancel", "99"], 6), (["cancel", "all"], 2),
    ],
    ids=lambda value: None if isinstance(value, int) else ascii(" ".join(value))[:40],
)  # fmt: skip
@pytest.mark.parametrize("filled", [True, False], ids=["filled", "empty"])
def test_bad_input_is_two_lines_and_the_right_code(run: CommandLine, filled: bool, arguments: list[str], code: int) -> None:
    if filled:
        fill(run)
    ran = run("jobs", *arguments)
    assert (ran.code, ran.out) == (code, ""), ran
    assert [text.split(":")[0] for text in ran.err.splitlines()] == ["error", "hint"], ran.err
    assert ran.err.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "kind", ["\udcff", "\x00", "' OR 1=1 --", "x" * 100_000, "%", "\x1b[2J", ""],
    ids=["no text", "zero", "quote", "long", "percent", "escape", "empty"],
)  # fmt: skip
def test_any_text_is_a_kind_that_no_job_has(run: CommandLine, kind: str) -> None:
    fill(run)
    assert run("jobs", "list", "--kind", kind) == Ran(0, "", "there are no such jobs\n")
    assert run.one("jobs", "retry", "--all-parked", "--kind", kind)["jobs"] == []


def test_a_home_without_a_ledger_has_no_jobs_and_gets_no_ledger(run: CommandLine) -> None:
    assert run("jobs") == Ran(0, "", "there are no jobs\n")
    assert run.one("jobs", "list") == []
    assert run.one("jobs", "retry", "--all-parked") == {"dry_run": False, "changed": 0, "jobs": []}
    assert not run.home.ledger.exists()


def test_a_ledger_that_is_no_database_ends_with_its_own_code(run: CommandLine) -> None:
    run.home.ledger.write_bytes(b"garbage" * 1000)
    run.home.ledger.chmod(0o600)
    for command in (["list"], ["show", "1"], ["retry", "1"], ["retry", "--all-parked"], ["cancel", "1"]):
        ran = run("jobs", *command)
        assert (ran.code, ran.out, ran.err.count("\n")) == (5, "", 2), (command, ran)


def test_a_shared_database_that_is_away_ends_with_its_own_code(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDBRAIN_DATABASE", "postgresql://somebody:secretive@127.0.0.1:9/memory")
    for command in (["list"], ["show", "1"], ["retry", "--all-parked"], ["cancel", "1"]):
        ran = run("jobs", *command)
        assert (ran.code, ran.out, ran.err.count("\n")) == (5, "", 2), (command, ran)
        assert "secretive" not in ran.err


@pytest.mark.parametrize("command", [["list"], ["show", "1", "--json"]])
def test_a_reader_that_leaves_is_no_error_of_ours(run: CommandLine, command: list[str]) -> None:
    fill(run)
    argv = [sys.executable, "-m", "hindbrain", "--home", str(run.home.root), "jobs", *command]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ran = subprocess.run(argv, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    finally:
        os.close(writer)
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_status_counts_jobs_and_doctor_names_the_parked_ones(run: CommandLine) -> None:
    assert run.one("status")["jobs"] == dict.fromkeys(STATES, 0)
    assert "jobs      none to do\n" in run("status").out
    ids = fill(run)
    assert run.one("status")["jobs"] == dict.fromkeys(STATES, 1)
    line = "jobs      1 running, 1 ready, 1 waiting, 1 parked; see `hindbrain jobs list --state parked`\n"
    assert line in run("status").out
    found = {each["check"]: each for each in run("doctor", "--no-hook", "--json").data}["jobs"]
    assert (found["grade"], found["found"]) == ("warning", "1 parked: they failed for good, or too often")
    assert run("jobs", "cancel", str(ids["parked"])).code == 0
    found = {each["check"]: each for each in run("doctor", "--no-hook", "--json").data}["jobs"]
    assert (found["grade"], found["found"]) == ("ok", "none is parked")
