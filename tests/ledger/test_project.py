"""Which project a folder belongs to: read from what real git makes, and safe on what an attacker makes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.ledger.project import MAX_CONFIG, Place, normalise_remote, place_event, place_of, resolve

SAME = "github.com/Org/Repo"
REMOTES = [
    ("https://github.com/Org/Repo.git", SAME), ("https://github.com/Org/Repo", SAME), ("https://github.com/Org/Repo/", SAME),
    ("https://github.com/Org/Repo.git/", SAME), ("https://github.com/Org/Repo//", SAME), ("http://github.com/Org/Repo", SAME),
    ("https://GitHub.COM/Org/Repo", SAME), ("HTTPS://github.com/Org/Repo", SAME), ("https://user@github.com/Org/Repo", SAME),
    ("https://user:pass@github.com/Org/Repo", SAME), ("https://x:a@b@github.com/Org/Repo", SAME),
    ("https://github.com:443/Org/Repo", SAME), ("https://github.com./Org/Repo", SAME), ("https://github.com//Org//Repo", SAME),
    ("git@github.com:Org/Repo.git", SAME), ("git@github.com:Org/Repo", SAME), ("git@github.com:/Org/Repo.git", SAME),
    ("github.com:Org/Repo.git", SAME), ("ssh://git@github.com/Org/Repo.git", SAME), ("ssh://github.com/Org/Repo", SAME),
    ("ssh://git@github.com:22/Org/Repo.git", SAME), ("ssh://git@ssh.github.com:443/Org/Repo.git", SAME),
    ("git+ssh://git@github.com/Org/Repo", SAME), ("ssh+git://git@github.com/Org/Repo", SAME),
    ("git://github.com/Org/Repo.git", SAME), ("  https://github.com/Org/Repo  ", SAME),
    ("https://github.com/Org/./Repo", SAME),
    ("https://github.com/org/repo", "github.com/org/repo"),  # the case of a path may matter to a host
    ("https://gitlab.example.org:8443/group/sub/repo.git", "gitlab.example.org/group/sub/repo"),
    ("ssh://git@gitlab.example.org:2222/group/sub/repo.git", "gitlab.example.org/group/sub/repo"),
    ("git@gitlab.example.org:group/sub/repo.git", "gitlab.example.org/group/sub/repo"),
    ("git@host:2222/group/repo.git", "host/2222/group/repo"),  # in this form the number is part of the path
    ("git@git.sr.ht:~user/repo", "git.sr.ht/~user/repo"), ("ssh://host/~user/repo", "host/~user/repo"),
    ("https://host/a%20b/c", "host/a b/c"), ("git@host:a b/c.git", "host/a b/c"),
    ("https://[2001:DB8::1]:8443/a/b.git", "[2001:db8::1]/a/b"), ("git@[2001:db8::1]:a/b.git", "[2001:db8::1]/a/b"),
    ("https://host/r\u00e9po.git", "host/r\u00e9po"), ("https://host/.git", ""), ("https://host/a/.git", "host/a"),
    ("https://host/repo.git.git", "host/repo.git"), ("git@host:repo", "host/repo"),
    ("/srv/git/repo.git", "local:/srv/git/repo"), ("file:///srv/git/repo.git", "local:/srv/git/repo"),
    ("/srv/git/repo/.git", "local:/srv/git/repo"), ("file:///srv/a%20b", "local:/srv/a b"),
    ("", ""), ("   ", ""), ("../relative.git", ""), ("./x", ""), ("repo", ""), ("C:\\code\\repo", ""), ("c:/code/repo", ""),
    ("https://", ""), ("https:///path", ""), ("https://host", ""), ("https://host/", ""), ("host:", ""), ("@:", ""),
    ("ext::sh -c true", ""), ("codecommit::eu-west-1://repo", ""), ("https://ho\nst/x", ""), ("https://h/\x00", ""),
    ("git@host:a\x7fb", ""), ("javascript://x/y", ""), ("x" * 5000, ""), ("/", ""), ("https://[::1/a", ""),
]  # fmt: skip


@pytest.mark.parametrize(("url", "wanted"), REMOTES)
def test_a_remote_is_the_same_however_it_is_written(url: str, wanted: str) -> None:
    assert normalise_remote(url) == wanted


@given(st.text(max_size=60))
def test_no_remote_is_too_odd_and_no_password_stays(text: str) -> None:
    normalise_remote(text)
    found = normalise_remote(f"https://user:{'hunter' + '2'}@host.example/{text}")
    assert "hunter2" not in found


def git(directory: Path, *words: str) -> None:
    values = ("protocol.file.allow=always", "init.defaultBranch=trunk", "user.name=T", "user.email=t@example.org")
    settings = [word for value in values for word in ("-c", value)]
    environ = {"PATH": os.environ["PATH"], "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *settings, *words], cwd=directory, check=True, capture_output=True, env=environ)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a commit and no remote."""
    made = tmp_path / "work"
    made.mkdir()
    git(made, "init")
    git(made, "commit", "--allow-empty", "-m", "first")
    return made


def test_without_a_remote_the_repository_is_its_common_directory(repository: Path) -> None:
    below = repository / "src" / "deep"
    below.mkdir(parents=True)
    wanted = Place(str(below), f"dir:{repository}/.git", "", f"{repository}/.git", "trunk")
    assert resolve(str(below)) == wanted
    assert wanted.name == "work"


def test_with_a_remote_every_clone_is_the_same_project(repository: Path, tmp_path: Path) -> None:
    git(repository, "remote", "add", "origin", "git@github.com:Org/Repo.git")
    git(tmp_path, "clone", str(repository), "copy")
    git(tmp_path / "copy", "remote", "set-url", "origin", "https://me:pw@GITHUB.com/Org/Repo")
    one, other = resolve(str(repository)), resolve(str(tmp_path / "copy"))
    assert one.identity == other.identity == "git:github.com/Org/Repo"
    assert (one.name, one.of_project) == ("Repo", ("github.com/Org/Repo", ""))
    assert one.common_dir != other.common_dir


def test_worktrees_share_their_project_and_have_their_own_branch(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", str(tmp_path / "tree"), "-b", "feature/x")
    main, tree = resolve(str(repository)), resolve(str(tmp_path / "tree"))
    assert tree.identity == main.identity
    assert (main.branch, tree.branch) == ("trunk", "feature/x")


def test_a_submodule_is_a_project_of_its_own(repository: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init")
    git(library, "commit", "--allow-empty", "-m", "first")
    git(repository, "submodule", "add", str(library), "vendor/library")
    inner = resolve(str(repository / "vendor" / "library"))
    assert inner.identity == f"git:local:{library}"
    assert inner.common_dir == f"{repository}/.git/modules/vendor/library"
    git(repository / "vendor" / "library", "remote", "remove", "origin")
    assert resolve(str(repository / "vendor" / "library")).identity == f"dir:{repository}/.git/modules/vendor/library"


def test_a_bare_repository_is_its_own_common_directory(tmp_path: Path) -> None:
    git(tmp_path, "init", "--bare", "store.git")
    place = resolve(str(tmp_path / "store.git"))
    assert (place.identity, place.name) == (f"dir:{tmp_path}/store.git", "store")
    assert resolve(str(tmp_path / "store.git" / "refs")).identity == place.identity


def test_a_worktree_of_a_bare_repository_shares_its_project(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--bare", str(repository), "store.git")
    git(tmp_path / "store.git", "remote", "remove", "origin")
    git(tmp_path / "store.git", "worktree", "add", str(tmp_path / "tree"), "trunk")
    assert resolve(str(tmp_path / "tree")).identity == f"dir:{tmp_path}/store.git"


def test_a_git_directory_elsewhere_is_followed(tmp_path: Path) -> None:
    git(tmp_path, "init", "--separate-git-dir", str(tmp_path / "kept"), "work")
    assert resolve(str(tmp_path / "work")).identity == f"dir:{tmp_path}/kept"


@pytest.mark.parametrize("name", ["with space", "\u00fcml\u00e4ut \u65e5\u672c", "a'b\"c", "x\ny", "-dash", "semi;colon#hash"])
def test_odd_folder_names_work(tmp_path: Path, name: str) -> None:
    made = tmp_path / name
    made.mkdir()
    assert resolve(str(made)).identity == f"path:{made}"
    git(made, "init")
    assert resolve(str(made)).identity == f"dir:{made}/.git"
    git(made, "remote", "add", "origin", f"https://host/{'a b'}/c.git")
    assert resolve(str(made)).identity == "git:host/a b/c"


def test_a_folder_name_that_is_not_utf_8_works(tmp_path: Path) -> None:
    made = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(made)
    place = resolve(os.fsdecode(made))
    found = place_of(place_event(place, "claude-code", 5))
    assert found is not None
    found[0].identity.encode()


def test_folders_of_the_same_name_do_not_collide(tmp_path: Path) -> None:
    for parent in ("one", "two"):
        (tmp_path / parent / "app").mkdir(parents=True)
        git(tmp_path / parent / "app", "init")
    assert resolve(str(tmp_path / "one" / "app")).identity != resolve(str(tmp_path / "two" / "app")).identity


def test_a_folder_reached_through_a_link_is_the_same_repository(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository)
    assert resolve(str(tmp_path / "link")).identity == resolve(str(repository)).identity


def test_a_folder_that_is_gone_still_has_a_place(repository: Path) -> None:
    cwd = str(repository)
    shutil.rmtree(repository)
    assert resolve(cwd) == Place(cwd, f"path:{cwd}")


def test_a_detached_head_has_no_branch(repository: Path) -> None:
    git(repository, "checkout", "--detach")
    assert resolve(str(repository)).branch == ""


def test_the_configuration_is_read_as_git_reads_it(repository: Path) -> None:
    config = repository / ".git" / "config"
    for text, wanted in [
        ('[remote "origin"]\n\turl = https://host/a # a comment\n', "git:host/a"),
        ('[REMOTE "origin"]\nURL=https://host/a\n', "git:host/a"),
        ('[remote "origin"] url = https://host/a\n', "git:host/a"),
        ('[remote "origin"]\n url = "https://host/a;b" ; comment\n', "git:host/a;b"),
        ('[remote "origin"]\n url = https://host/\\\nlong\n', "git:host/long"),
        ("[remote.origin]\nurl = https://host/a\n", "git:host/a"),
        ('[remote "origin"]\nurl = https://host/a\nurl = https://host/b\n', "git:host/a"),
        ('[remote "Origin"]\nurl = https://host/upper\n[remote "origin"]\nurl = https://host/a\n', "git:host/a"),
        ('[remote "only"]\nurl = https://host/only\n', "git:host/only"),
        ('[remote "b"]\nurl = https://host/b\n[remote "c"]\nurl = https://host/c\n', f"dir:{repository}/.git"),
        ('[branch "origin"]\nurl = https://host/not\n', f"dir:{repository}/.git"),
        ('[remote "origin"]\nurl\n', f"dir:{repository}/.git"),
        ('\x00\xff[remote "origin"\nurl = https://host/broken\n', f"dir:{repository}/.git"),
    ]:  # fmt: skip
        config.write_text(text, "latin-1")
        assert resolve(str(repository)).identity == wanted, text


def hostile_layouts(top: Path) -> dict[str, Path]:
    """Folders whose .git is not what it should be."""
    names = ("loop", "fifo", "huge", "device", "itself", "missing", "root", "noise", "unreadable", "empty", "nul", "long")
    made = {name: top / name for name in names}
    for path in made.values():
        path.mkdir()
    (made["loop"] / ".git").symlink_to(made["loop"] / ".git")
    os.mkfifo(made["fifo"] / ".git")
    (made["huge"] / ".git").write_bytes(b"gitdir: " + b"x" * (9 << 20))
    (made["device"] / ".git").symlink_to("/dev/zero")
    (made["itself"] / ".git").write_text("gitdir: .")
    (made["missing"] / ".git").write_text("gitdir: /nonexistent/place\n")
    (made["root"] / ".git").write_text("gitdir: /proc/self")
    (made["noise"] / ".git").write_bytes(os.urandom(4096))
    (made["unreadable"] / ".git").mkdir(mode=0o000)
    (made["nul"] / ".git").write_bytes(b"gitdir: /tmp\x00/x")
    (made["long"] / ".git").write_text("gitdir: " + "a/" * 4000)
    return made


def test_a_hostile_git_entry_counts_as_no_git(tmp_path: Path) -> None:
    for name, path in hostile_layouts(tmp_path).items():
        assert resolve(str(path)) == Place(str(path), f"path:{path}"), name


@pytest.mark.parametrize("member", ["HEAD", "config", "commondir"])
def test_hostile_files_inside_a_git_directory_never_hang_or_raise(repository: Path, member: str) -> None:
    target = repository / ".git" / member
    target.unlink(missing_ok=True)
    os.mkfifo(target)
    resolve(str(repository))
    target.unlink()
    target.symlink_to(target)
    resolve(str(repository))
    target.unlink()
    target.write_bytes(b"\xff" * (MAX_CONFIG + 1))
    resolve(str(repository))
    target.write_text("../" * 2000)
    assert resolve(str(repository)).identity


ODD_CWDS = ["", ".", "relative/path", "/", "/dev/null", "/proc/self/mem", "/a\x00b", "/" + "x" * 5000, "\ud800", "~"]


@pytest.mark.parametrize("cwd", ODD_CWDS, ids=range(len(ODD_CWDS)))
def test_any_cwd_has_a_place(cwd: str) -> None:
    place = resolve(cwd)
    assert place.cwd == cwd
    assert place.identity.startswith(("path:", "dir:", "git:"))
    assert place.name


def test_a_finding_survives_its_journey_as_an_event(repository: Path) -> None:
    place = resolve(str(repository))
    assert place_of(place_event(place, "claude-code", 77)) == (place, 77)
    assert place_event(place, "claude-code", 77, after=90).at == 91
