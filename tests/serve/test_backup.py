"""Backups: what is restored equals what was backed up, and nothing unsound is put in place."""

from __future__ import annotations

import io
import json
import stat
import tarfile
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.journal.archive import archive_stored
from hindbrain.journal.read import segment_name, segments
from hindbrain.ledger.rebuild import fingerprint
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import NewJob
from hindbrain.queues.queue import Queue
from hindbrain.serve.backup import create, restore
from hindbrain.serve.memory import Memory
from tests.serve.installed import Installed, prompt


@pytest.fixture
def filled(installed: Installed) -> Installed:
    for number in range(5):
        installed.fire(prompt("s1", number, f"statement {number}"))
    installed.settled(5)
    return installed


def content(home: Home) -> dict[str, str]:
    with Ledger.open(home.ledger, SystemClock(), read_only=True) as ledger:
        return fingerprint(ledger)


def test_a_restored_home_has_the_same_content(filled: Installed, tmp_path: Path) -> None:
    made = filled.cli("backup", str(tmp_path / "b.tar.gz"), "--json")
    assert made.returncode == 0, made.stderr
    file = json.loads(made.stdout)["written"]
    assert stat.S_IMODE(Path(file).stat().st_mode) == 0o600
    other = Home(tmp_path / "other")
    restored = filled.cli("--home", str(other.root), "backup", "--restore", file)
    assert restored.returncode == 0, restored.stderr
    assert content(other) == content(filled.home)
    assert {p.name for p in other.journal.iterdir()} == {p.name for p in filled.home.journal.iterdir()}


def test_without_a_name_it_goes_to_the_backups_folder_and_verifies(filled: Installed) -> None:
    assert filled.cli("backup").returncode == 0
    (file,) = filled.home.backups.iterdir()
    checked = filled.cli("backup", "--verify", str(file), "--json")
    assert (checked.returncode, json.loads(checked.stdout)["files"] >= 2) == (0, True)
    assert [path.name for path in filled.home.root.glob(".backup-*")] == []


def test_a_restore_over_data_is_refused(filled: Installed, tmp_path: Path) -> None:
    filled.cli("backup", str(tmp_path / "b.tar.gz"))
    before = content(filled.home)
    refused = filled.cli("backup", "--restore", str(tmp_path / "b.tar.gz"))
    assert (refused.returncode, "is not empty" in refused.stderr, "hint:" in refused.stderr) == (4, True, True)
    assert content(filled.home) == before


def test_a_backup_with_any_byte_changed_is_refused_and_restores_nothing(filled: Installed, tmp_path: Path) -> None:
    filled.cli("backup", str(tmp_path / "b.tar.gz"))
    sound = (tmp_path / "b.tar.gz").read_bytes()
    for place in range(20, len(sound) - 20, max(1, len(sound) // 6)):
        bad = tmp_path / "bad.tar.gz"
        bad.write_bytes(sound[:place] + bytes([sound[place] ^ 0x10]) + sound[place + 1 :])
        assert filled.cli("backup", "--verify", str(bad)).returncode == 4
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(sound[: len(sound) // 2])
    assert filled.cli("--home", str(tmp_path / "new"), "backup", "--restore", str(cut)).returncode == 4
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/outside", "journal/../../outside", "journal/a/b", "hook.py", "journal/", ""]
)
def test_a_member_that_does_not_belong_is_refused(installed: Installed, tmp_path: Path, name: str) -> None:
    evil = tmp_path / "evil.tar.gz"
    with tarfile.open(evil, "w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.size = 4
        tar.addfile(info, io.BytesIO(b"evil"))
    ran = installed.cli("--home", str(tmp_path / "new"), "backup", "--restore", str(evil))
    assert ran.returncode == 4, ran.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "evil.tar.gz", "user"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE])
def test_a_member_that_is_no_plain_file_is_refused(installed: Installed, tmp_path: Path, kind: bytes) -> None:
    evil = tmp_path / "evil.tar.gz"
    with tarfile.open(evil, "w:gz") as tar:
        info = tarfile.TarInfo("ledger.db")
        info.type, info.linkname = kind, "/etc/passwd"
        tar.addfile(info)
    assert installed.cli("--home", str(tmp_path / "new"), "backup", "--restore", str(evil)).returncode == 4


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["backup", "--verify", "--restore", "x"], 2, "two different things"),
        (["backup", "--verify"], 2, "no backup file was named"),
        (["backup", "--verify", "/nonexistent/file"], 6, "there is no file"),
        (["--home", "/nonexistent/home", "backup"], 6, "there is no data"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(installed: Installed, arguments: list[str], code: int, said: str) -> None:
    ran = installed.cli(*arguments)
    assert (ran.returncode, said in ran.stderr, "hint:" in ran.stderr, "Traceback" in ran.stderr) == (code, True, True, False)


def test_a_segment_archived_during_a_backup_is_in_the_restored_ledger(filled: Installed, tmp_path: Path) -> None:
    """The ledger is copied before the archives: what was stored and archived in between is in no cursor of the copy."""
    home, late = filled.home, list[str]()

    def say(text: str) -> str:
        with Memory.open(home=home.root) as memory:
            said = memory.record(agent="a", session="late", role="user", text=text, project="p")
            memory.settle()
        return said

    def store_and_archive(name: str) -> None:
        if name == "ledger.db" and not late:
            late.append(say("said late"))
            max(segments(home.journal)).chmod(0o400)  # sealed: the next line goes to another segment
            late.append(say("said later"))
            stored = {segment_name(path): path.stat().st_size for path in segments(home.journal)}
            assert archive_stored(home.journal, home.archive, stored, 0) != []

    create(home, tmp_path / "backup.tar.gz", SystemClock(), store_and_archive)
    restored = Home(tmp_path / "restored")
    restore(tmp_path / "backup.tar.gz", restored, SystemClock(), lambda name: None)
    with Memory.open(home=restored.root) as memory:
        memory.settle()
        assert sorted(hit.id for hit in memory.search("said late later", k=2)) == sorted(late)


def test_a_job_that_ran_when_the_copy_was_made_is_done_in_the_restored_home_too(filled: Installed, tmp_path: Path) -> None:
    with Ledger.open(filled.home.ledger, SystemClock()) as ledger:
        queue = Queue(ledger, SystemClock())
        queue.add([NewJob("of_nobody", "a")])  # a kind that the worker of this home, which may be at work, does not take
        assert len(queue.claim("of_nobody", 1, "a worker of the first home")) == 1
    create(filled.home, tmp_path / "backup.tar.gz", SystemClock(), lambda name: None)
    restored = Home(tmp_path / "restored")
    restore(tmp_path / "backup.tar.gz", restored, SystemClock(), lambda name: None)
    for home, states in ((filled.home, ["running"]), (restored, ["ready"])):
        with Ledger.open(home.ledger, SystemClock()) as ledger:
            assert [job.state for job in Queue(ledger, SystemClock()).listing(kind="of_nobody")] == states


def test_what_a_killed_backup_left_goes_with_the_next_backup_and_with_forgetting(filled: Installed, tmp_path: Path) -> None:
    home = filled.home
    for work in ("backup", "forget"):
        leftover = home.root / ".backup-killed"
        leftover.mkdir(mode=0o700)
        (leftover / "ledger.db").write_bytes(b"a copy")
        if work == "backup":
            create(home, tmp_path / "backup.tar.gz", SystemClock(), lambda name: None)
        else:
            with Memory.open(home=home.root) as memory:
                memory.record(agent="a", session="gone", role="user", text="to be forgotten", project="p")
                memory.forget(session="gone")
        assert not leftover.exists()
