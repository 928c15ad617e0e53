"""A working directory -> the project it belongs to, read from git's files without running git.

A remote names a project wherever it is cloned; without one the repository's common directory does, which worktrees
share and submodules do not; without git the folder itself. The directory is looked at once, while it exists, and the
finding goes through the journal, so a rebuild knows the project of a folder that is long gone.

Nothing found on the way is trusted: reads are bounded, only plain files are read, what is odd counts as "no git".
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from hindbrain.capture.event import Event, stable_id
from hindbrain.ledger.merge import clean, whole

MAX_LEVELS: Final = 256
MAX_PATH: Final = 4096  # no system opens a longer one, and resolving its parts one by one takes seconds
MAX_POINTER: Final = 8 << 10  # .git files, commondir, HEAD
MAX_CONFIG: Final = 1 << 20
MAX_REMOTE: Final = 2048

_SCHEME: Final = re.compile(r"(?:https?|ssh|git|git\+ssh|ssh\+git|ftps?)://", re.IGNORECASE)
# user@host:path, host may be an address in brackets; a slash before the colon makes it a local path
_SCP: Final = re.compile(r"(?:[^/:@]+@)?(\[[0-9a-fA-F:.%]+\]|[^/:@\s]{2,}):(?!:)(.+)", re.DOTALL)
_SECTION: Final = re.compile(r'\[\s*([-.\w]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
# The same service under the name it uses for ssh through a web port.
_ALSO_KNOWN: Final = {
    "ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """What a working directory was found to be."""

    cwd: str
    identity: str
    remote: str = ""
    common_dir: str = ""
    branch: str = ""

    @property
    def name(self) -> str:
        """A short name for people: the last part of the identity."""
        path = self.identity.partition(":")[2].rstrip("/")
        return os.path.basename(path.removesuffix("/.git").removesuffix(".git")) or path or "/"

    @property
    def of_project(self) -> tuple[str, str]:
        """Remote and common directory as far as the identity itself says them, the same for every clone."""
        kind, _, value = self.identity.partition(":")
        return (value if kind == "git" else "", value if kind == "dir" else "")


def resolve(cwd: str) -> Place:
    """The place of a directory. Never raises and never waits, whatever lies there."""
    try:
        found = _repository(cwd)
    except (OSError, ValueError):  # gone, unreadable, a loop of links, a NUL in the path
        found = None
    if found is None:
        return Place(cwd, f"path:{os.path.normpath(cwd) if cwd else ''}")
    git_dir, common_dir = found
    remote = normalise_remote(_origin(_read(os.path.join(common_dir, "config"), MAX_CONFIG)))
    identity = f"git:{remote}" if remote else f"dir:{common_dir}"
    return Place(cwd, identity, remote, common_dir, _branch(_read(os.path.join(git_dir, "HEAD"), MAX_POINTER)))


def place_event(place: Place, agent: str, at: int, *, after: int = -1) -> Event:
    """The finding as an event for the journal. `after`: when the finding it replaces was made; the clock may lag."""
    return Event(
        kind="place", agent=agent, session="", at=max(at, after + 1), key=stable_id("k", place.cwd, place.identity),
        origin="worker", cwd=place.cwd,
        detail={
            "identity": place.identity, "remote": place.remote, "common_dir": place.common_dir, "branch": place.branch,
        },
    )  # fmt: skip


def place_of(event: Event) -> tuple[Place, int] | None:
    """The finding in a place event and its time; None when it does not hold one."""
    fields = [event.detail.get(name, "") for name in ("identity", "remote", "common_dir", "branch")]
    texts = [clean(value) for value in fields if isinstance(value, str)]
    if len(texts) != len(fields) or not event.cwd or not texts[0]:
        return None
    return Place(clean(event.cwd), *texts), whole(event.at)


def _repository(cwd: str) -> tuple[str, str] | None:
    """The git directory and the common directory of the repository around a directory."""
    if len(cwd) > MAX_PATH:
        return None
    directory = os.path.realpath(cwd)
    if not os.path.isabs(cwd) or not stat.S_ISDIR(os.stat(directory).st_mode):
        return None
    for _ in range(MAX_LEVELS):
        git_dir = _git_dir(directory)
        if git_dir is not None:
            return git_dir, _common_dir(git_dir)
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent
    return None


def _git_dir(directory: str) -> str | None:
    dot_git = os.path.join(directory, ".git")
    if _is_git_dir(dot_git):
        return os.path.realpath(dot_git)
    told = _read(dot_git, MAX_POINTER)
    if told.startswith("gitdir:"):
        target = os.path.realpath(os.path.join(directory, told.removeprefix("gitdir:").strip()))
        return target if _is_git_dir(target) else None
    # a bare repository is its own git directory
    if _is_git_dir(directory) and _is_dir(os.path.join(directory, "refs")):
        return directory
    return None


def _common_dir(git_dir: str) -> str:
    told = _read(os.path.join(git_dir, "commondir"), MAX_POINTER).strip()
    common = os.path.realpath(os.path.join(git_dir, told)) if told else git_dir
    return common if _is_dir(common) else git_dir


def _is_git_dir(path: str) -> bool:
    """A HEAD, and objects of its own or a common directory that has them."""
    has_objects = _is_dir(os.path.join(path, "objects")) or _is_file(os.path.join(path, "commondir"))
    return has_objects and _is_file(os.path.join(path, "HEAD"))


def _is_dir(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _read(path: str, limit: int) -> str:
    """The text of a plain file, or nothing: a larger one, a pipe, a device or an unreadable file says nothing to us."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        data = os.read(descriptor, limit + 1)
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return "" if len(data) > limit else os.fsdecode(data)


def _branch(head: str) -> str:
    """The branch a HEAD file names, nothing when it names a commit."""
    first = head.split("\n", 1)[0]
    return clean(first.removeprefix("ref:").strip().removeprefix("refs/heads/")) if first.startswith("ref:") else ""


def _origin(config: str) -> str:
    """The url of the remote `origin`, else of the only remote there is."""
    urls: dict[str, str] = {}
    remote = ""
    for line in re.sub(r"\\\r?\n", "", config).splitlines():
        text = line.strip()
        if section := _SECTION.match(text):
            remote, text = _remote_name(section), text[section.end() :].strip()
        key, equals, value = text.partition("=")
        if remote and equals and key.strip().lower() == "url":
            urls.setdefault(remote, _value(value))
    return urls.get("origin") or (next(iter(urls.values())) if len(urls) == 1 else "")


def _remote_name(section: re.Match[str]) -> str:
    name, subsection = section[1], section[2]
    if subsection is None:  # the old form [remote.origin]
        name, _, subsection = name.partition(".")
    return re.sub(r"\\(.)", r"\1", subsection) if name.lower() == "remote" else ""


def _value(raw: str) -> str:
    """A configuration value without its quotes and comment."""
    value, quoted = "", False
    for part in re.findall(r'\\.|"|[#;]|[^\\"#;]+', raw):
        if part == '"':
            quoted = not quoted
        elif part in "#;" and not quoted:
            break
        else:
            value += part[1:] if part.startswith("\\") else part
    return value.strip()


def normalise_remote(url: str) -> str:
    """`host/path` for a remote however it is written, `local:/path` for one on this disk, nothing if it is neither."""
    url = url.strip()
    if not url or len(url) > MAX_REMOTE or any(ord(character) < 32 or ord(character) == 127 for character in url):
        return ""
    if url.startswith("/") or url.lower().startswith("file:///"):
        path = _repository_path(unquote(url[7:]) if url.lower().startswith("file:") else url)
        return f"local:/{path}" if path else ""
    if scheme := _SCHEME.match(url):
        authority, _, path = url[scheme.end() :].partition("/")
        host, path = _host(authority), unquote(path)
    elif "://" not in url and (scp := _SCP.fullmatch(url)):
        host, path = scp[1], scp[2]
    else:
        return ""
    host, path = host.lower().rstrip("."), _repository_path(path)
    return clean(f"{_ALSO_KNOWN.get(host, host)}/{path}") if host and path else ""


def _host(authority: str) -> str:
    """The host alone: who logs in, with which password and at which port does not make another project."""
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        return host[: host.find("]") + 1]
    return host.partition(":")[0]


def _repository_path(path: str) -> str:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if parts:
        parts[-1] = parts[-1].removesuffix(".git") or parts[-1]
    if parts and parts[-1] == ".git":  # a checkout given by its git directory
        parts.pop()
    return "/".join(parts)
