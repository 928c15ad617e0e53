"""What a compile changed -> a version that can be looked at, compared and taken back.

With git every compile is one commit in the wiki's own repository; without it, and inside somebody's repository, the texts are
kept in the state. Git is run with nothing of the user's: no configuration, no hooks, no signing, its folder named, so that it can
neither be led elsewhere nor touch a repository around the wiki. Only pages are put into a commit, never other files.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from hindbrain.base.errors import NotFound, StorageError
from hindbrain.base.files import sync
from hindbrain.wiki import parse
from hindbrain.wiki.folder import Folder
from hindbrain.wiki.known import Made, Restore
from hindbrain.wiki.sections import RELATED, SOURCES
from hindbrain.wiki.settle import restored, settled
from hindbrain.wiki.state import FOLDED, State

KEPT: Final = 100  # versions in the state; older ones are folded into the oldest of these
SHORTEST: Final = 4  # letters of a version's id
SECONDS: Final = 120
LOOSE: Final = 27  # objects in one of git's 256 folders, as many as `gc --auto` lets lie
STALE_SECONDS: Final = 600  # a lock of git's that is older was left by a git that was ended
_FOLLOWING: Final = ("daily", "soul", "index", "log")  # pages that are made as a whole
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SUMS: Final = {"sha1": 20, "sha256": 32}  # what a list of git's files may end in, and its bytes
_IDENTITY: Final = ("user.name=Hindbrain", "user.email=hindbrain@localhost")
_SETTINGS: Final = (
    *_IDENTITY, "core.hooksPath=/dev/null", "commit.gpgSign=false", "core.fsmonitor=false", "core.autocrlf=false",
    "core.quotePath=false", "core.fsync=all", "core.fsyncMethod=batch", "gc.autoDetach=false",
    "maintenance.auto=false", "log.showSignature=false", "core.excludesFile=/dev/null", "core.attributesFile=/dev/null",
)  # fmt: skip


class HistoryFailed(StorageError):
    """The wiki's history could not be used"""

    default_hint = "the pages themselves are whole; look at the repository in the wiki's folder"


@dataclass(frozen=True, slots=True)
class Version:
    """One state of the wiki."""

    id: str
    at: int  # milliseconds
    text: str  # what was done, in one line
    paths: tuple[str, ...]  # what changed


class History(Protocol):
    """Versions, the newest first."""

    def log(self, most: int = 50) -> list[Version]: ...

    def text(self, version: str, path: str) -> str | None:
        """What a page said in a version; None where there was none."""

    def before(self, version: str) -> str:
        """The version before; "" for the first."""


def of(folder: Folder, state: State) -> History:
    """The history of a wiki."""
    return Git(folder) if folder.git is not None else Kept(state)


class Kept:
    """Versions in the state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def log(self, most: int = 50) -> list[Version]:
        made = [each for each in self._state.compiles(most) if each.version not in ("", FOLDED)]
        return [Version(each.version, each.at, each.text, each.paths) for each in made]

    def text(self, version: str, path: str) -> str | None:
        return self._state.kept(_number(version), path)

    def before(self, version: str) -> str:
        older = [each for each in self._state.kept_numbers() if each < _number(version)]
        return str(max(older)) if older else ""

    def fold(self, most: int = KEPT) -> None:
        """Keep so many; what the older ones say stays as the beginning."""
        numbers = self._state.kept_numbers()
        if len(numbers) > most:
            self._state.fold_kept(sorted(numbers)[-most])


def _number(version: str) -> int:
    if not version.isascii() or not version.isdigit():
        raise NotFound(f"no version {version[:80]!r}", hint="`hindbrain wiki log` lists them")
    return int(version)


class Git:
    """Versions as commits."""

    def __init__(self, folder: Folder) -> None:
        assert folder.git is not None
        self._program, self._root, self._own = folder.git, folder.root, folder.own
        self._repository = folder.root / ".git"

    def commit(self, paths: Iterable[str], at: int, text: str) -> str:
        """These files as they are now, in one commit; its id, or that of the last one where nothing changed."""
        self._prepare()
        names = [os.fsencode(path) for path in sorted(set(paths))]
        listed = b"".join(name + b"\0" for name in names)
        moment = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{at // 1000} +0000")
        words = ["commit", "--quiet", "--no-verify", "--no-status", "--allow-empty-message", "--cleanup=verbatim"]
        words.append(f"--message={text}")
        if self._knows(names):
            words += ["--include", "--pathspec-from-file=-", "--pathspec-file-nul"]
        else:
            self._run("update-index", "--add", "--remove", "-z", "--stdin", given=listed)
        if self._run(*words, given=listed, fine=(0, 1), more=moment).returncode:  # because nothing changed, or so we hope
            self._run("diff", "--cached", "--quiet", "--no-ext-diff")
        self._tidy()
        return self._head() or self._said("rev-parse", "--verify", "HEAD").strip()

    def _knows(self, names: Sequence[bytes]) -> bool:
        """Whether git's index surely lists all these files: then `commit` takes them in itself, and one process does it all.

        An entry of the index ends in the length of its name, the name and a zero; of an index of another form nothing is sure.
        """
        try:
            index = (self._repository / "index").read_bytes()
        except FileNotFoundError:
            return False
        return all(len(name).to_bytes(2, "big") + name + b"\0" in index for name in names)

    def _head(self) -> str:
        """The newest commit's id as it lies in git's folder; "" where it does not lie there plainly."""
        try:
            name = (self._repository / "HEAD").read_text("ascii").removeprefix("ref: ").strip()
            found = (self._repository / name).read_text("ascii").strip() if name.startswith("refs/heads/") else name
        except (OSError, ValueError):
            return ""
        return found if _COMMIT.fullmatch(found) else ""

    def _tidy(self) -> None:
        """Pack what lies about once it is much, by git's own measure; told not to, `commit` does not start a process to look."""
        try:
            loose = len(os.listdir(self._repository / "objects" / "17"))
        except FileNotFoundError:
            return
        if loose > LOOSE:
            self._run("gc", "--auto", "--quiet")

    def log(self, most: int = 50) -> list[Version]:
        if not self.there():
            return []
        told = self._said("log", f"--max-count={most}", "--first-parent", "-m", "-z", "--name-only", "--no-renames",
                          "--format=%x01%H%x02%ct%x02%s%x02")  # fmt: skip
        return [_version(each) for each in told.split("\x01") if each]

    def text(self, version: str, path: str) -> str | None:
        found = self._run("cat-file", "blob", f"{self._known(version)}:{path}", fine=(0, 128))
        return found.stdout.decode("utf-8", "replace") if found.returncode == 0 else None

    def before(self, version: str) -> str:
        found = self._run("rev-parse", "--verify", "--quiet", f"{self._known(version)}^", fine=(0, 1))
        return found.stdout.decode().strip()

    def last(self, path: str) -> str | None:
        """What the newest version says; None where there is none."""
        return self.text("HEAD", path) if self.there() else None

    def _known(self, version: str) -> str:
        """A commit's whole id. Nothing else of git's language is understood."""
        plain = version == "HEAD" or (len(version) >= SHORTEST and version.isascii() and version.isalnum())
        if plain and self._repository.is_dir():
            found = self._run("rev-parse", "--verify", "--quiet", f"{version}^{{commit}}", fine=(0, 1, 128))
            if found.returncode == 0:
                return found.stdout.decode().strip()
        raise NotFound(f"no version {version[:80]!r}", hint="`hindbrain wiki log` lists them")

    def _prepare(self) -> None:
        """A repository of the wiki's own; locks that a git left which was ended are taken away."""
        if self._repository.is_symlink() or (self._repository.exists() and not self._repository.is_dir()):
            raise HistoryFailed(f"{self._repository} is not a repository of the wiki's own", path=str(self._repository))
        if self.is_new:
            self._make()
        for lock in (*self._repository.glob("*.lock"), *self._repository.glob("refs/heads/*.lock")):
            if lock.exists() and lock.stat().st_mtime < time.time() - STALE_SECONDS:
                lock.unlink(missing_ok=True)
        self._mend_index()

    def mend(self) -> None:
        """Where there is a repository, make it fit for whoever looks at it: a power cut may have left it otherwise."""
        if self._repository.is_dir() and not self._repository.is_symlink() and not self.is_new:
            self._prepare()

    def _mend_index(self) -> None:
        """Git's list of files made anew where it is lost: `commit` does not sync it, so a power cut may leave it empty.

        It says nothing that the newest commit does not say; but a commit from an empty list would take all other pages out.
        """
        index = self._repository / "index"
        if _has_its_sum(index) or not self.there():
            return
        if not index.exists() or self._run("ls-files", "-z", fine=(0, 128)).returncode:  # a person's git may leave the sum out
            index.unlink(missing_ok=True)
            self._run("read-tree", "HEAD")

    def _make(self) -> None:
        """A repository that is there as a whole or not at all: git itself does not sync what it begins with."""
        aside = self._own / "new"
        shutil.rmtree(aside, ignore_errors=True)
        self._run("init", "--quiet", "--template=", "--initial-branch=main", str(aside), without=("GIT_DIR", "GIT_WORK_TREE"))
        for path in (*aside.rglob("*"), aside):
            _synced(path)
        try:
            (aside / ".git").replace(self._repository)
            aside.rmdir()
        except OSError as error:
            raise HistoryFailed(f"{self._repository} cannot be made: {error}", path=str(self._repository)) from error
        _synced(self._root)

    @property
    def is_new(self) -> bool:
        return not (self._repository / "HEAD").exists()

    def there(self) -> bool:
        """Whether there is a commit."""
        return self._repository.is_dir() and self._run("rev-parse", "--verify", "--quiet", "HEAD", fine=(0, 1)).returncode == 0

    def _said(self, *words: str) -> str:
        return self._run(*words).stdout.decode("utf-8", "replace")

    def _run(
        self, *words: str, given: bytes = b"", fine: Sequence[int] = (0,), more: Mapping[str, str] | None = None,
        without: Sequence[str] = (),
    ) -> subprocess.CompletedProcess[bytes]:
        settings = [part for each in _SETTINGS for part in ("-c", each)]
        command = [str(self._program), *settings, *words]
        environ = {name: value for name, value in {**self._environ(), **(more or {})}.items() if name not in without}
        try:
            ran = subprocess.run(
                command, input=given, capture_output=True, env=environ, cwd=self._root,
                timeout=SECONDS, check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise HistoryFailed(f"git {words[0]} could not be run: {error}", path=str(self._root)) from error
        if ran.returncode not in fine:
            said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
            raise HistoryFailed(f"git {words[0]} failed: {said[0] if said else f'code {ran.returncode}'}", path=str(self._root))
        return ran

    def _environ(self) -> dict[str, str]:
        """Nothing of the user's: a variable or a setting meant for another repository would lead us there."""
        return {
            "GIT_DIR": str(self._repository), "GIT_WORK_TREE": str(self._root), "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1",
            "LC_ALL": "C", "HOME": str(self._root), "PATH": os.pathsep.join((str(Path(self._program).parent), os.defpath)),
        }  # fmt: skip


def _has_its_sum(index: Path) -> bool:
    """Whether git's list of files ends in the sum of what it says before."""
    try:
        found = index.read_bytes()
    except FileNotFoundError:
        return False
    return any(hashlib.new(name, found[:-size]).digest() == found[-size:] for name, size in _SUMS.items())


def _synced(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def _version(told: str) -> Version:
    commit, at, text, paths = told.split("\x02", 3)
    return Version(commit, int(at) * 1000, text, tuple(each for each in paths.strip("\n\0").split("\0") if each))


def diff(history: History, version: str = "", path: str = "") -> str:
    """What a version changed, the newest unless told, of one page or of all."""
    chosen = _chosen(history, version)
    older = history.before(chosen.id)
    parts = []
    for each in chosen.paths:
        if path in ("", each, each.removesuffix(".md")):
            was = history.text(older, each) if older else None
            parts.append(compared(each, was, history.text(chosen.id, each)))
    return "".join(parts)


def compared(path: str, was: str | None, now: str | None) -> str:
    """A unified diff of one page; nothing stands for a page that is not there."""
    names = ("/dev/null" if was is None else f"a/{path}", "/dev/null" if now is None else f"b/{path}")
    before, after = (was or "").splitlines(keepends=True), (now or "").splitlines(keepends=True)
    lines = difflib.unified_diff(before, after, *names)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _chosen(history: History, version: str) -> Version:
    """By its id or its beginning; the newest unless told."""
    if not version:
        found = history.log(1)
    else:
        every = history.log(100_000)
        found = [each for each in every if each.id == version]
        found += [each for each in every if len(version) >= SHORTEST and each.id.startswith(version)]
    if not found:
        what = f"no version {version[:80]!r}" if version else "there is no version yet"
        raise NotFound(what, hint="`hindbrain wiki log` lists them")
    return found[0]


@dataclass(frozen=True, slots=True)
class Undone:
    """What taking a version back came to."""

    version: str
    restored: tuple[str, ...]
    left: tuple[str, ...]  # changed since, or nothing of what they say is known any more


def undo(folder: Folder, state: State, version: str = "") -> Undone:
    """Give the files that a version changed the texts they had before. The next compile takes that for what a person wants.

    Written down first, so that a crash leaves the whole undone or none of it. The files bear the time of the version: they are
    not half-saved, and nobody has to wait for them. Days, lists and what links to what follow the ledger and stay as they are.
    """
    with folder.locked():
        settled(folder, state)
        history = of(folder, state)
        chosen = _chosen(history, version)
        older = history.before(chosen.id)
        rows = {row.path: row for row in state.pages() if row.base is not None}
        texts = {path: history.text(older, path) if older else None for path in chosen.paths}
        moved = {parse.read(was).id: path for path, was in texts.items() if was is not None and path not in rows}
        wanted, left, back = [], [], set[str]()
        for path, was in texts.items():
            row = rows.get(path)
            if row is None or row.base is None or row.base != history.text(chosen.id, path):
                left += [path] if row is None or row.type not in _FOLLOWING else []
            elif row.type not in _FOLLOWING and (was is None or row.type != "qa"):
                at = (chosen.at - 10_000) * 1_000_000
                text = _before(was, row.base) if was is not None else None
                wanted.append(Restore(path, text, row.base, at))
                if was is None and row.id in moved:  # it was renamed: the file goes back to where it was
                    back.add(moved[row.id])
                    wanted.append(Restore(moved[row.id], _before(texts[moved[row.id]] or "", row.base), None, at))
        left = [path for path in left if path not in back]
        state.begin_restores(wanted)
        left += restored(folder, state)
        return Undone(chosen.id, tuple(each.path for each in wanted if each.path not in left), tuple(left))


def _before(was: str, now: str) -> str:
    """An older text with the links and sources of the newer: a person changes statements, not what is made from them."""
    return was[: _tail(was)].rstrip("\n") + "\n" + ("\n" + now[_tail(now) :].lstrip("\n") if _tail(now) < len(now) else "")


def _tail(text: str) -> int:
    """Where the sections begin that are made."""
    return min((at for name in (RELATED, SOURCES) if (at := text.rfind(f"\n## {name}\n")) >= 0), default=len(text))


def record(folder: Folder, state: State, fresh: Sequence[Made]) -> str:
    """Put finished compiles into the history that are not there yet; the version's id, "" where there was nothing to do."""
    if folder.git is None:
        Kept(state).fold()
        return fresh[0].version if fresh else ""
    every = state.compiles(10_000)
    waiting = [made for made in every if made.finished and not made.version]
    git = Git(folder)
    if not waiting:
        git.mend()
        return ""
    paths = {path for made in waiting for path in made.paths}
    if git.is_new or not any(len(made.version) >= 40 for made in every):  # new also to a wiki that is not
        paths |= {row.path for row in state.pages() if row.base is not None}
    commit = git.commit(paths, waiting[0].at, waiting[0].text)
    state.versioned((made.number for made in waiting), commit)
    return commit
