"""No worker -> one worker, detached, without the hook waiting for it.

Many hooks may find no worker at the same moment. One of them holds the start lock and starts it; the others leave, and a
worker that was started moments ago is given time to come up; once it is up it empties the stamp, and if it dies then the next
hook starts another at once. The agent may kill its hook's whole process tree, so the worker gets a session of its own and the
hook exits at once, after which nothing ties them together.
"""

import errno
import fcntl
import posix
import sys
import time

# A worker needs about this long to open its pipe; until then nobody else starts one. One that has died meanwhile is replaced,
# but not at once: a worker that cannot come up must not be started by every single call.
_COMING_UP_NS = 3_000_000_000
_DAMPING_NS = 1_000_000_000
# what a worker may inherit: nothing of the agent's own variables or keys
_PASSED_ON = (b"PATH", b"HOME", b"USER", b"LANG", b"TZ", b"TMPDIR", b"SSL_CERT_FILE")
_PASSED_ON_PREFIX = (b"HINDBRAIN_", b"XDG_", b"LC_")


def start_worker(home: bytes, *, asked: bool = False) -> bool:
    """Start a worker for this home unless one is coming up; True if this call started it. `asked`: a person wants it now."""
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK
    stamp = posix.open(home + b"/worker.start", flags, 0o600)
    try:
        fcntl.flock(stamp, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found = posix.fstat(stamp)
        if found.st_mode & 0o170000 != 0o100000 or found.st_nlink != 1 or found.st_uid != posix.geteuid():
            raise PermissionError(errno.EPERM, "worker.start is not a plain file of ours")
        if not asked and _coming_up(stamp):
            return False
        posix.pwrite(stamp, b"%-20d\n" % _spawn(home), 0)
        return True
    except BlockingIOError:
        return False  # another hook is starting it right now
    finally:
        posix.close(stamp)


def _coming_up(stamp: int) -> bool:
    """Whether the last worker started may still be on its way."""
    said = posix.pread(stamp, 32, 0).strip()
    age = time.time_ns() - posix.fstat(stamp).st_mtime_ns
    if not said.isdigit() or not 0 <= age < _COMING_UP_NS:
        return False
    try:
        posix.kill(int(said), 0)
    except OSError:
        return age < _DAMPING_NS
    return age < _DAMPING_NS or not _has_ended(said)


def _has_ended(pid: bytes) -> bool:
    """Whether a process is dead and only waits for somebody to ask how it ended; in a container nobody may ever do so."""
    try:
        file = posix.open(b"/proc/" + pid + b"/stat", posix.O_RDONLY | posix.O_CLOEXEC)
        try:
            return posix.read(file, 4096).rpartition(b") ")[2][:1] in (b"Z", b"X")
        finally:
            posix.close(file)
    except OSError:
        return False  # a system without such files, or a process that has gone just now


def worker_environment(environ: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """The variables a worker is started with; the guard keeps agents it may run from being observed."""
    kept = {name: value for name, value in environ.items() if name in _PASSED_ON or name.startswith(_PASSED_ON_PREFIX)}
    kept[b"HINDBRAIN_GUARD"] = b"worker"
    return kept


def _keep_descriptors_back() -> None:
    """Whatever else the agent left open in its hook: a pipe held by the worker would never come to its end."""
    try:
        names = posix.listdir("/dev/fd")
    except OSError:
        return  # a system without such a list
    for name in names:
        try:
            if int(name) > 2:
                posix.set_inheritable(int(name), False)
        except OSError:
            pass  # the descriptor the list itself was read through


def _spawn(home: bytes) -> int:
    _keep_descriptors_back()
    python = sys.executable
    argv: list[str | bytes] = [python, "-I", "-m", "hindbrain", "--home", home, "daemon", "run", "--on-demand"]
    null = [
        (posix.POSIX_SPAWN_OPEN, 0, b"/dev/null", posix.O_RDONLY, 0),
        (posix.POSIX_SPAWN_OPEN, 1, b"/dev/null", posix.O_WRONLY, 0),
        (posix.POSIX_SPAWN_OPEN, 2, b"/dev/null", posix.O_WRONLY, 0),
    ]
    return posix.posix_spawn(
        python, argv, worker_environment(posix.environ), file_actions=null, setsid=True,
        setsigmask=(), setsigdef=(1, 2, 13, 14, 15),  # HUP INT PIPE ALRM TERM: the hook's own handlers are not for the worker
    )  # fmt: skip
