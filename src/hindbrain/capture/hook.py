"""What an agent hands its hook on stdin -> one durable line in the journal, and a worker that knows of it.

This is the whole of what runs while the agent waits, so it does as little as can be done truthfully: read, look for secrets,
append with one write and one fdatasync, wake the worker, exit 0. Parsing is the worker's business. Only modules that the bare
interpreter has already loaded are imported at the top; `re` and the redaction rules come in when a secret may be there.

Nothing is printed but the answer an agent expects at some events. Whatever goes wrong, the exit code is 0 and the event is
either kept or counted as lost (P2, P3).
"""

import _signal  # type: ignore[import-not-found]  # what `signal` wraps; that one imports enum
import posix
import sys
import time

from hindbrain.base.prefilter import suspicious
from hindbrain.journal.append import NotKept, append
from hindbrain.journal.line import HOOK, frame

# Set by Hindbrain for every process it starts itself: an agent run by us must not be observed by us.
GUARD = b"HINDBRAIN_GUARD"
# A larger payload is kept in part. The worker gets the rest from the transcript, where there is one.
KEEP_BYTES = 1 << 20
# Which version of ids the events of a line have (capture/event.py, which would cost too much to load). Without it: the first.
VERSION = b"2"
# No token is longer than this, so cutting back to a space within it never leaves half a secret behind.
_TOKEN = 4096
# Seconds after which reading stops with what has come, and after which the process ends whatever it is doing. The agent is
# promised one second; starting the interpreter takes its share. Time in which the machine let others run does not count, or
# a busy machine would make the hook give up events it has in hand. An append that has begun is not given up either: its line
# would be counted as lost and yet be there. LAST_SECONDS end even these.
READ_SECONDS = 0.6
STOP_SECONDS = 0.9
LAST_SECONDS = 8.0


class _TooSlow(Exception):
    """Raised by the timer into the reading of stdin."""


class _State:
    """What the timer needs to know when it fires."""

    home = b""
    began = 0.0
    starved = 0.0
    reading = False
    appending = False
    late = False
    kept = False


def main(home: bytes, answers: str = "") -> None:
    """Handle one hook call and end the process with exit code 0.

    `answers` names the module that has something to say to the agent at some events; the launcher puts it in, so that this
    stage knows nothing of recall. It is loaded after the event is durable.
    """
    environ = posix.environ
    _State.home = _home(environ, home)
    if GUARD in environ:
        posix._exit(0)
    _State.began = time.monotonic()
    try:
        _signal.signal(_signal.SIGALRM, _on_timer)
        _signal.setitimer(_signal.ITIMER_REAL, READ_SECONDS)
        agent = sys.argv[1] if len(sys.argv) > 1 else "unknown"
        data = _keep(agent, environ)
        if answers and len(sys.argv) > 2:
            _answer(answers, agent, sys.argv[2], data)
        wake(_State.home)
    except BaseException as error:  # noqa: BLE001 - the process boundary: the agent must not notice, and the loss is counted
        _lost(error)
    posix._exit(0)


def _home(environ: dict[bytes, bytes], home: bytes) -> bytes:
    """Where events go. A relative path would be another home in every project, so the installed one is used instead."""
    named = environ.get(b"HINDBRAIN_HOME", b"")
    if named == b"~" or named[:2] == b"~/":
        named = environ.get(b"HOME", b"") + named[1:]
    return named if named[:1] == b"/" else home


def _keep(agent: str, environ: dict[bytes, bytes]) -> bytes:
    """Make the event durable; what was kept of the payload."""
    data, meta = _read_stdin()
    meta["v"] = VERSION
    if config := environ.get(b"CLAUDE_CONFIG_DIR"):
        meta["d"] = config
    if suspicious(data):
        data = _redacted(data, meta)
    name = agent.encode("utf-8", "surrogateescape")[:64]
    line = frame(HOOK, name, time.time_ns(), data, meta)
    _State.appending = True
    try:
        append(_State.home, line, lambda: not _State.late)
        _State.kept = True
    finally:
        _State.appending = False
    return data


def _answer(module: str, agent: str, event: str, data: bytes) -> None:
    """Print what the agent is to be told, if anything. The event is kept already, so nothing here can lose it."""
    found = __import__(module, fromlist=("answer",)).answer(_State.home, agent, event, data)
    while found:
        found = found[posix.write(1, found) :]


def _read_stdin() -> tuple[bytes, dict[str, bytes]]:
    """All of stdin, or its beginning when it is too large or too slow; what is missing is said in the line's meta."""
    blocks: list[bytes] = []
    size = dropped = 0
    tail = b""
    meta: dict[str, bytes] = {}
    _State.reading = True
    try:
        while block := posix.read(0, 1 << 20):
            if size <= KEEP_BYTES:
                blocks.append(block)
                size += len(block)
            else:
                dropped += len(block)
                tail = (tail + block)[-_TOKEN:]
        _State.reading = False
    except _TooSlow:
        meta["slow"] = b"1"
    _signal.setitimer(_signal.ITIMER_REAL, STOP_SECONDS - READ_SECONDS)
    data = b"".join(blocks).rstrip(b"\r\n")
    if len(data) > KEEP_BYTES or dropped:
        tail = (data[-_TOKEN:] + tail)[-_TOKEN:]
        whole = len(data) + dropped
        data = _cut(data, KEEP_BYTES)
        meta["cut"] = b"%d" % (whole - len(data))
        meta.update(_tail_ids(tail))
    elif "slow" in meta and not data.endswith(b"}"):
        data = _cut(data, len(data))
    return data, meta


def _cut(data: bytes, size: int) -> bytes:
    """The beginning, back to the last space or quote so that no token is left in half, where no rule would know it."""
    edge = max(data.rfind(sign, max(size - _TOKEN, 0), size) for sign in (b" ", b'"', b"\\n"))
    return data[: edge if edge > 0 else size]


def _tail_ids(tail: bytes) -> dict[str, bytes]:
    """Ids that agents write behind a long text; without them the call could not be told from others."""
    found: dict[str, bytes] = {}
    for name, short in ((b"tool_use_id", "t"), (b"hook_event_name", "e")):
        _, sign, after = tail.rpartition(b'"%s"' % name)
        value = after.split(b'"', 2)[1:2] if sign else []
        if value and value[0].replace(b"_", b"").replace(b"-", b"").isalnum() and len(value[0]) <= 128:
            found[short] = value[0]
    return found


def _redacted(data: bytes, meta: dict[str, bytes]) -> bytes:
    from hindbrain.base.redact import redact

    result = redact(data)
    if result.counts:
        meta["r"] = b",".join(b"%s:%d" % (rule.encode(), number) for rule, number in sorted(result.counts.items()))
    return result.data


def wake(home: bytes) -> None:
    """Tell the worker, or start one. A pipe nobody reads cannot be opened for writing: that is how its absence shows."""
    flags = posix.O_WRONLY | posix.O_NONBLOCK | posix.O_NOFOLLOW | posix.O_CLOEXEC
    try:
        pipe = posix.open(home + b"/wake", flags)
    except OSError:
        _start(home)
        return
    try:
        if posix.fstat(pipe).st_mode & 0o170000 != 0o010000:
            _start(home)  # a copy of a home may hold a plain file here; the worker puts a pipe in its place
        else:
            posix.write(pipe, b"\n")
    except BrokenPipeError:
        _start(home)  # the worker left between the two calls
    except BlockingIOError:
        pass  # the pipe is full of earlier calls: the worker has plenty of reason to look
    finally:
        posix.close(pipe)


def _start(home: bytes) -> None:
    from hindbrain.capture.start import start_worker

    start_worker(home)


def _on_timer(signal: int, stack: object) -> None:
    if _goes_on():
        return
    if _State.reading:
        _State.reading = False
        raise _TooSlow
    # out of time: end at once, saying that the event is lost unless it is already on the disk
    _signal.signal(_signal.SIGALRM, _give_up)
    _signal.setitimer(_signal.ITIMER_REAL, 0.05)
    _lost(NotKept("timeout", "the hook ran out of time"))
    posix._exit(0)


def _goes_on() -> bool:
    """Whether there is a reason to be late, and the timer set for when to ask again."""
    left = _State.began + LAST_SECONDS - time.monotonic()
    more = left
    if _State.appending:
        _State.late = True  # no second try if this one fails
    else:
        starved = _starved()
        more, _State.starved = starved - _State.starved, starved
    if left <= 0 or more < 0.01:
        return False
    _signal.setitimer(_signal.ITIMER_REAL, min(more, left))
    return True


def _starved() -> float:
    """Seconds in which this process was ready to run and was not let; 0 where the system does not tell."""
    try:
        file = posix.open(b"/proc/self/schedstat", posix.O_RDONLY | posix.O_CLOEXEC)
        try:
            return int(posix.read(file, 128).split()[1]) / 1e9
        finally:
            posix.close(file)
    except (OSError, ValueError, IndexError):
        return 0.0


def _give_up(signal: int, stack: object) -> None:
    """Even the counting does not come to an end."""
    if not _State.kept:
        _say_lost("timeout")
    posix._exit(0)


def _lost(error: BaseException) -> None:
    """Count an event that was not kept; a failure after it was kept (waking the worker) loses nothing."""
    if _State.kept:
        return
    reason = error.reason if isinstance(error, NotKept) else type(error).__name__
    try:
        from hindbrain.journal import losses

        counted = losses.count(_State.home, reason, posix.environ)
    except BaseException:  # noqa: BLE001 - no descriptor or no memory left to load the counter with
        counted = False
    if not counted:
        _say_lost(reason)


def _say_lost(reason: str) -> None:
    """The last resort: agents show stderr only in their debug logs."""
    try:
        posix.write(2, f"hindbrain: an event was not kept and could not be counted: {reason}\n".encode("utf-8", "replace"))
    except OSError:
        pass
