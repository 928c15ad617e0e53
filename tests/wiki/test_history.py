"""Versions of the wiki: one for each compile, in a repository of its own or in the state, and what taking one back does."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from hindbrain.base.errors import NotFound
from hindbrain.wiki import history
from hindbrain.wiki.history import KEPT, Kept, Undone, Version
from hindbrain.wiki.known import Restore
from tests.wiki.compiling import GIT, Wiki
from tests.wiki.made import HOUR

REDIS = "concepts/redis.md"
LINE = "- Redis runs in Docker. ^m-000000000000000000000007"


@pytest.fixture(params=[None, GIT], ids=["kept", "git"])
def wiki(request: pytest.FixtureRequest, tmp_path: Path) -> Wiki:
    return Wiki(tmp_path / "wiki", git=request.param)


@pytest.fixture
def with_git(tmp_path: Path) -> Wiki:
    return Wiki(tmp_path / "wiki", git=GIT)


def log(wiki: Wiki) -> list[Version]:
    with wiki.state() as state:
        return history.of(wiki.folder, state).log()


def diff(wiki: Wiki, version: str = "", path: str = "") -> str:
    with wiki.state() as state:
        return history.diff(history.of(wiki.folder, state), version, path)


def undo(wiki: Wiki, version: str = "") -> Undone:
    with wiki.state() as state:
        return history.undo(wiki.folder, state, version)


def run_git(where: Path, *words: str) -> str:
    assert GIT is not None
    return subprocess.run([GIT, *words], cwd=where, check=True, capture_output=True, text=True).stdout


def test_every_compile_that_changes_something_is_one_version(wiki: Wiki) -> None:
    first = wiki.compile()
    assert wiki.compile().commit == ""
    wiki.ledger.say("Redis runs in Docker.")
    second = wiki.compile()
    found = log(wiki)
    assert [(each.id, each.text) for each in found] == [(second.commit, "3 pages written"), (first.commit, "5 pages written")]
    assert [each.at for each in found] == [wiki.now // 1000 * 1000, (wiki.now - 2 * HOUR) // 1000 * 1000]
    assert [sorted(each.paths) for each in found] == [sorted(second.written), sorted(first.written)]


def test_a_version_shows_what_it_changed_and_pages_as_they_were(wiki: Wiki) -> None:
    wiki.compile()
    before = wiki.texts()
    wiki.ledger.say("Redis runs in Docker.")
    wiki.compile()
    newest, oldest = log(wiki)
    with wiki.state() as state:
        kept = history.of(wiki.folder, state)
        assert {path: kept.text(oldest.id, path) for path in before} == before
        assert {path: kept.text(newest.id, path) for path in before} == wiki.texts()
        assert kept.text(oldest.id, "concepts/none.md") is None
        assert (kept.before(newest.id), kept.before(oldest.id)) == (oldest.id, "")
    lines = [line for line in diff(wiki, path="concepts/redis").splitlines() if line.startswith(("+", "-")) and "Docker" in line]
    assert lines == [f"+{LINE}"]
    assert diff(wiki, newest.id[:12]) == diff(wiki) != diff(wiki, oldest.id)
    assert diff(wiki, oldest.id, REDIS).startswith("--- /dev/null\n+++ b/concepts/redis.md\n")


@pytest.mark.parametrize("version", ["nothing", "zzzz", "HEAD~1", "--all", "9999", "..", "HEAD:index.md", "$(touch x)", "-"])
def test_a_version_that_is_not_there_is_told(wiki: Wiki, version: str) -> None:
    with pytest.raises(NotFound):
        diff(wiki)
    wiki.compile()
    with pytest.raises(NotFound):
        diff(wiki, version)
    with pytest.raises(NotFound):
        undo(wiki, version)


def test_what_a_person_wrote_is_in_the_version_that_took_it_in(wiki: Wiki) -> None:
    wiki.compile()
    wiki.edit(REDIS, "Redis is emptied on every deploy.", "Redis is never emptied.")
    made = wiki.compile()
    assert log(wiki)[0].text.endswith("1 edit taken in") and made.commit == log(wiki)[0].id
    assert "+- Redis is never emptied." in diff(wiki, path=REDIS)


def test_taking_a_version_back_gives_pages_their_texts_and_counts_as_what_the_person_wants(wiki: Wiki) -> None:
    wiki.compile()
    before = wiki.read(REDIS)
    wiki.ledger.say("Redis runs in Docker.")
    made = wiki.compile()
    assert undo(wiki) == Undone(made.commit, (REDIS, "projects/api-server.md"), ())
    assert LINE not in wiki.read(REDIS)
    again = wiki.compile()
    assert [(act.op, act.memory) for act in again.acts] == [("reject", "m_000000000000000000000007")]
    assert wiki.read(REDIS) == before and not [path for path, text in wiki.texts().items() if "Docker" in text]
    assert wiki.compile().acts == ()


def test_taking_back_what_changed_no_statement_does_nothing_to_memories(wiki: Wiki) -> None:
    wiki.compile()
    wiki.edit("concepts/postgresql.md", "tags: [database]", "tags: [store]")
    wiki.write(REDIS, wiki.read(REDIS) + "\nAsk Mia.\n")
    wiki.compile()
    assert "Ask Mia." in wiki.read(REDIS)
    undo(wiki)
    assert {act.op for act in wiki.compile().acts} == {"page"}
    assert "tags: [database]" in wiki.read("concepts/postgresql.md") and "Ask Mia." not in wiki.read(REDIS)


def test_taking_back_the_version_a_page_came_with_leaves_it_out_and_days_stay(wiki: Wiki) -> None:
    wiki.compile()
    wiki.ledger.say("Kafka carries the orders.")
    wiki.ledger.say("Kafka keeps orders for a week.")
    assert "concepts/kafka.md" in wiki.compile().written
    undo(wiki)
    assert "concepts/kafka.md" not in wiki.texts()
    wiki.compile()
    assert "concepts/kafka.md" not in wiki.texts() and "daily/2026-03-02.md" in wiki.texts()


def test_pages_that_were_changed_since_are_left_as_they_are(wiki: Wiki) -> None:
    wiki.compile()
    wiki.ledger.say("Redis runs in Docker.")
    second = wiki.compile()
    wiki.edit(REDIS, "- Redis runs in Docker.", "- Redis runs in Podman.")
    text = wiki.read(REDIS)
    undone = undo(wiki, second.commit)
    assert undone.left == (REDIS,) and wiki.read(REDIS) == text
    assert undone.restored == ("projects/api-server.md",)


def test_an_undo_that_was_cut_short_is_finished_by_the_next_compile(wiki: Wiki) -> None:
    wiki.compile()
    before = wiki.read(REDIS)
    wiki.ledger.say("Redis runs in Docker.")
    wiki.compile()
    texts = {path: wiki.read(path) for path in (REDIS, "projects/api-server.md")}
    with wiki.state() as state:
        state.begin_restores(Restore(path, text.replace(f"{LINE}\n", ""), text, 1_000) for path, text in texts.items())
    made = wiki.compile()
    assert [act.op for act in made.acts] == ["reject"] and wiki.read(REDIS) == before
    with wiki.state() as state:
        assert state.restores() == []


def test_versions_in_the_state_are_folded_and_the_newest_stay(tmp_path: Path) -> None:
    wiki = Wiki(tmp_path / "wiki")
    for number in range(4):
        wiki.ledger.say(f"Redis has {number} replicas.")
        wiki.compile()
    before = log(wiki)
    with wiki.state() as state:
        Kept(state).fold(2)
        assert [each.id for each in Kept(state).log()] == [each.id for each in before[:2]]
        assert Kept(state).text(before[1].id, "concepts/postgresql.md") is not None
        Kept(state).fold(2)
        assert len(Kept(state).log()) == 2 and KEPT > 2


def test_a_repository_around_the_wiki_is_never_touched(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    (tmp_path / ".git" / "hooks").mkdir(exist_ok=True)
    before = sorted((str(path), path.stat().st_mtime_ns) for path in (tmp_path / ".git").rglob("*"))
    wiki = Wiki(tmp_path / "wiki", git=GIT)
    assert wiki.compile().commit
    assert sorted((str(path), path.stat().st_mtime_ns) for path in (tmp_path / ".git").rglob("*")) == before
    shared = Wiki(tmp_path / "docs")
    shared.compile()
    assert not (tmp_path / "docs" / ".git").exists()
    assert sorted((str(path), path.stat().st_mtime_ns) for path in (tmp_path / ".git").rglob("*")) == before


def test_nothing_of_the_users_git_is_used(with_git: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks, signing, variables that point elsewhere: none of it runs or leads away."""
    trap = tmp_path / "trap"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "commit-msg", "post-commit", "prepare-commit-msg", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {trap}\nexit 1\n")
        (hooks / name).chmod(0o755)
    settings = f"[core]\nhooksPath = {hooks}\nfsmonitor = {hooks}/pre-commit\n[commit]\ngpgSign = true\n"
    (tmp_path / ".gitconfig").write_text(settings)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    made = with_git.compile()
    hooked = with_git.folder.root / ".git" / "hooks"
    hooked.mkdir()
    for path in hooks.iterdir():
        (hooked / path.name).symlink_to(path)
    with_git.ledger.say("Redis runs in Docker.")
    again = with_git.compile()
    assert (made.trouble, again.trouble) == ("", "") and made.commit and again.commit
    assert not trap.exists() and not (tmp_path / "elsewhere").exists() and not (tmp_path / "index").exists()


def test_only_pages_are_in_a_commit_and_a_persons_own_index_is_kept(with_git: Wiki) -> None:
    with_git.write("notes/mine.md", "mine")
    made = with_git.compile()
    listed = run_git(with_git.folder.root, "ls-tree", "-r", "--name-only", "HEAD").split()
    assert sorted(listed) == sorted(made.written)
    assert run_git(with_git.folder.root, "status", "--short").split() == ["??", "notes/"]
    assert run_git(with_git.folder.root, "log", "--format=%an <%ae>").strip() == "Hindbrain <hindbrain@localhost>"


def test_a_repository_that_cannot_be_used_does_not_keep_pages_from_being_written(with_git: Wiki) -> None:
    with_git.compile()
    head = with_git.folder.root / ".git" / "HEAD"
    kept = head.read_text()
    head.write_text("nonsense")
    with_git.ledger.say("Redis runs in Docker.")
    made = with_git.compile()
    assert made.commit == "" and made.trouble.startswith("git ") and LINE in with_git.read(REDIS)
    head.write_text(kept)
    later = with_git.compile()
    assert later.commit == log(with_git)[0].id and later.trouble == "" and later.written == ()
    assert f"+{LINE}" in diff(with_git, path=REDIS)


def test_a_lock_that_a_dead_git_left_is_taken_away_when_it_is_old(with_git: Wiki) -> None:
    with_git.compile()
    lock = with_git.folder.root / ".git" / "index.lock"
    lock.write_text("")
    with_git.ledger.say("Redis runs in Docker.")
    assert "lock" in with_git.compile().trouble
    os.utime(lock, (0, 0))
    made = with_git.compile()
    assert made.trouble == "" and made.commit and not lock.exists()


@pytest.mark.parametrize("left", [None, b"", b"DIRC", bytes(4096)], ids=["nothing", "an empty file", "its beginning", "zeros"])
def test_a_list_of_files_that_a_power_cut_took_is_made_anew_and_no_page_goes(with_git: Wiki, left: bytes | None) -> None:
    first = with_git.compile()
    index = with_git.folder.root / ".git" / "index"
    if left is None:
        index.unlink()
    else:
        index.write_bytes(left)
    with_git.ledger.say("Redis runs in Docker.")
    made = with_git.compile()
    assert made.trouble == "" and made.commit != first.commit
    assert {*run_git(with_git.folder.root, "ls-tree", "-r", "--name-only", "HEAD").split()} >= {*first.written}
    assert run_git(with_git.folder.root, "log", "-1", "--format=", "--name-only", made.commit).split() == sorted(made.written)
    assert run_git(with_git.folder.root, "status", "--short") == ""


def test_a_compile_that_changes_nothing_makes_the_lost_list_anew_too(with_git: Wiki) -> None:
    first = with_git.compile()
    (with_git.folder.root / ".git" / "index").write_bytes(b"")
    made = with_git.compile()
    assert made.trouble == "" and first.written and not made.written
    assert run_git(with_git.folder.root, "status", "--short") == ""
    run_git(with_git.folder.root, "fsck", "--strict")


def test_a_wiki_that_gets_git_later_has_all_its_pages_in_the_first_commit(tmp_path: Path) -> None:
    wiki = Wiki(tmp_path / "wiki")
    wiki.compile()
    with_git = Wiki(tmp_path / "wiki", git=GIT, ledger=wiki.ledger)
    with_git.ledger.say("Redis runs in Docker.")
    with_git.now = wiki.now
    with_git.compile()
    assert run_git(with_git.folder.root, "ls-files").split() == with_git.folder.files()


def test_a_repository_that_is_somewhere_else_is_refused(with_git: Wiki, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run_git(elsewhere, "init", "-q")
    before = sorted(map(str, elsewhere.rglob("*")))
    with_git.folder.prepare()
    (with_git.folder.root / ".git").symlink_to(elsewhere / ".git")
    made = with_git.compile()
    assert "not a repository of the wiki's own" in made.trouble and REDIS in made.written
    assert sorted(map(str, elsewhere.rglob("*"))) == before


def test_a_renamed_and_a_deleted_page_are_so_in_the_commit(with_git: Wiki) -> None:
    with_git.compile()
    (with_git.folder.root / REDIS).rename(with_git.folder.root / "concepts/cache.md")
    (with_git.folder.root / "concepts/deploy.md").unlink()
    with_git.compile()
    assert run_git(with_git.folder.root, "status", "--short") == ""
    assert run_git(with_git.folder.root, "ls-files").split() == with_git.folder.files()


def test_a_changed_page_and_a_new_one_are_both_in_the_commit(with_git: Wiki) -> None:
    with_git.compile()
    with_git.ledger.say("Redis runs in Docker.")
    changed = with_git.compile()
    for text in ("Redis keeps sessions.", "Kafka carries the orders.", "Kafka keeps orders for a week."):
        with_git.ledger.say(text)
    both = with_git.compile()
    assert REDIS in changed.written and {REDIS, "concepts/kafka.md"} <= {*both.written}
    for made in (changed, both):
        assert run_git(with_git.folder.root, "log", "-1", "--format=", "--name-only", made.commit).split() == sorted(made.written)
    assert run_git(with_git.folder.root, "status", "--short") == "" and log(with_git)[0].id == both.commit


def test_a_history_that_has_grown_is_packed(with_git: Wiki, tmp_path: Path) -> None:
    with_git.compile()
    root = with_git.folder.root
    assert not [*root.glob(".git/objects/pack/*.pack")]
    names = [each for each in range(9000) if hashlib.sha1(b"blob %d\0%d" % (len(str(each)), each)).hexdigest().startswith("17")]
    for each in names:
        (tmp_path / str(each)).write_text(str(each))
    run_git(root, "hash-object", "-w", "--", *(str(tmp_path / str(each)) for each in names))
    with_git.ledger.say("Redis runs in Docker.")
    made = with_git.compile()
    assert [*root.glob(".git/objects/pack/*.pack")] and made.trouble == "" and log(with_git)[0].id == made.commit


def test_a_wiki_that_is_moved_takes_its_history_along(with_git: Wiki, tmp_path: Path) -> None:
    with_git.compile()
    with_git.folder.root.rename(tmp_path / "moved")
    moved = Wiki(tmp_path / "moved", git=GIT, ledger=with_git.ledger)
    moved.now = with_git.now
    moved.ledger.say("Redis runs in Docker.")
    moved.compile()
    assert run_git(moved.folder.root, "status", "--short") == "" and len(log(moved)) == 2
    assert LINE in run_git(moved.folder.root, "show", f"HEAD:{REDIS}")
    assert sorted(path.name for path in moved.folder.own.iterdir()) == [".gitignore", "lock", "state.db"]
